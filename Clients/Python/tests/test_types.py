"""The generated types say what the document says."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
import generate_types
import yaml

from meter_gateway import api, errors
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
