"""The generated types say what the document says, and the package has what it needs."""

import subprocess
import sys
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
import generate_types
import pytest
import yaml

from meter_gateway import NoProgram, api, errors, tables
from meter_gateway.errors import MeterError


def test_types_are_those_of_the_document() -> None:
    assert generate_types.MODULE.read_text() == generate_types.module(), "run tools/generate_types.py"


def test_each_schema_has_its_keys() -> None:
    # Beside the text: the classes as Python sees them.
    schemas = yaml.safe_load(generate_types.DOCUMENT.read_text())["components"]["schemas"]
    for name, schema in schemas.items():
        if "properties" in schema:
            kind = getattr(api, name)
            assert set(kind.__annotations__) == set(schema["properties"]), name
            assert set(kind.__required_keys__) == set(schema.get("required", ())), name


def test_each_code_has_an_error_that_keeps_it() -> None:
    codes = api.ErrorBody.__annotations__["code"].__args__
    assert len(codes) > 10
    for code in codes:
        error = MeterError.of(code, "what", "next")
        assert (error.code, str(error)) == (code, "what\nnext")
    known = {code for kind in MeterError.__subclasses__() for code in kind.codes}
    assert known - set(codes) == {"unreachable", "bad-answer", "no-program", "limit-broken", "limit-undecided"}
    assert isinstance(MeterError.of("held", "", ""), errors.Held)


def test_the_core_needs_the_standard_library_alone() -> None:
    core = "meter_gateway, meter_gateway.tables, meter_gateway.api"
    command = f"import sys; sys.path.insert(0, {str(generate_types.FOLDER)!r}); import {core}"
    subprocess.run([sys.executable, "-I", "-S", "-c", command], check=True, timeout=60)


@pytest.mark.parametrize(("module", "extra"), [("pandas", "pandas"), ("pyarrow", "arrow")])
def test_an_extra_that_is_missing_is_named(module: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(NoProgram, match=f"meter-gateway.{extra}."):
        {"pandas": tables.to_pandas, "pyarrow": tables.to_arrow}[module]([])


def test_the_wheel_has_the_package_and_its_types(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=generate_types.FOLDER, check=True, capture_output=True, timeout=120)
    names = zipfile.ZipFile(next(tmp_path.glob("meter_gateway-*.whl"))).namelist()
    modules = {path.name for path in generate_types.MODULE.parent.glob("*.py")} | {"py.typed"}
    assert {name.removeprefix("meter_gateway/") for name in names if ".dist-info/" not in name} == modules
