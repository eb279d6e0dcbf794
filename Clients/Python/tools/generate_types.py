#!/usr/bin/env python3
"""Writes meter_gateway/api.py, the types of meterd's HTTP interface, from Docs/meterd-openapi.yaml.

usage: tools/generate_types.py [--check]
  --check  write nothing; end with 1 where the module is not what the document says
"""

import keyword
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).resolve().parents[1]
DOCUMENT = FOLDER.parents[1] / "Docs" / "meterd-openapi.yaml"
MODULE = FOLDER / "meter_gateway" / "api.py"
SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
HEAD = '''"""Types of meterd's HTTP interface.

Written by tools/generate_types.py from Docs/meterd-openapi.yaml: do not edit.
"""

from typing import Literal, NotRequired, TypedDict
'''

Schema = dict[str, Any]


def python_type(schema: Schema) -> str:
    """Returns the type of a value, with None for null."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " | ".join(dict.fromkeys(python_type(one) for one in schema[several]))
    kinds = schema.get("type", [])
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if "enum" in schema:
        values = ", ".join(repr(value).replace("'", '"') for value in schema["enum"] if value is not None)
        return f"Literal[{values}]" + (" | None" if "null" in kinds else "")
    return " | ".join(dict.fromkeys(one_type(kind, schema) for kind in kinds)) or "Any"


def one_type(kind: str, schema: Schema) -> str:
    """Returns the type of one kind of value."""
    if kind == "array":
        return f"list[{python_type(schema['items'])}]"
    if kind == "object":
        return f"dict[str, {python_type(schema.get('additionalProperties', {}))}]"
    return SCALARS[kind]


def referred(schema: Any) -> Iterator[str]:
    """Yields the names of all schemas inside a schema."""
    if isinstance(schema, dict):
        if "$ref" in schema:
            yield schema["$ref"].rpartition("/")[2]
        for value in schema.values():
            yield from referred(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from referred(value)


def ordered(schemas: dict[str, Schema]) -> list[str]:
    """Returns the names so that each comes behind those that it refers to."""
    done: list[str] = []

    def visit(name: str, above: tuple[str, ...]) -> None:
        if name in above:
            raise SystemExit(f"{name} contains itself, which this script cannot write")
        if name not in done:
            for other in referred(schemas[name]):
                visit(other, (*above, name))
            done.append(name)

    for name in schemas:
        visit(name, ())
    return done


def declaration(name: str, schema: Schema) -> str:
    """Returns a TypedDict, or the name of another type."""
    words = " ".join(str(schema.get("description", "")).split()) or f"{name}."
    words = words if words.endswith(".") else f"{words}."
    if "properties" not in schema:
        return f'{name} = {python_type(schema)}\n"""{words}"""\n'
    required = set(schema.get("required", []))
    fields = {
        key: python_type(value) if key in required else f"NotRequired[{python_type(value)}]"
        for key, value in schema["properties"].items()
    }
    if any(keyword.iskeyword(key) for key in fields):
        inside = "".join(f'        "{key}": {kind},\n' for key, kind in fields.items())
        return f'{name} = TypedDict(\n    "{name}",\n    {{\n{inside}    }},\n)\n"""{words}"""\n'
    return f'class {name}(TypedDict):\n    """{words}"""\n\n' + "".join(
        f"    {key}: {kind}\n" for key, kind in fields.items()
    )


def module() -> str:
    """Returns the text of the whole module."""
    schemas = yaml.safe_load(DOCUMENT.read_text(encoding="utf-8"))["components"]["schemas"]
    return "\n\n".join([HEAD, *(declaration(name, schemas[name]) for name in ordered(schemas))])


def main() -> int:
    """Writes the module, or compares it."""
    text = module()
    if sys.argv[1:] == ["--check"]:
        if MODULE.read_text(encoding="utf-8") != text:
            print(f"{MODULE.name} is not what {DOCUMENT.name} says: run tools/generate_types.py")
            return 1
        return 0
    if sys.argv[1:]:
        print(__doc__)
        return 2
    MODULE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
