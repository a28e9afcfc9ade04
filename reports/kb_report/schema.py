"""Checks a JSON value against the subset of JSON Schema that the files in reports/schema use."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

SCHEMA_DIR = Path(__file__).resolve().parent.parent / "schema"

_TYPES: dict[str, Any] = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
    "integer": lambda v: (
        (isinstance(v, int) and not isinstance(v, bool))
        or (isinstance(v, float) and v.is_integer())
    ),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
}

# Keywords understood by check(); a schema that uses another one is refused, so that no rule in a
# schema file can be silently ignored.
_KEYWORDS = {
    "$schema", "$id", "$defs", "$ref", "$comment", "title", "description", "type", "enum", "const",
    "properties", "required", "additionalProperties", "items", "minItems", "uniqueItems",
    "minimum", "exclusiveMinimum", "maximum", "minLength", "pattern",
    "propertyNames", "anyOf",
}  # fmt: skip


@cache
def load(name: str) -> dict[str, Any]:
    """Return the schema `reports/schema/<name>.schema.json` as a dictionary."""
    return json.loads((SCHEMA_DIR / f"{name}.schema.json").read_text(encoding="utf-8"))


def check(value: Any, schema_name: str) -> list[str]:
    """Return one sentence for each rule of the schema that `value` breaks; empty if it is valid."""
    root = load(schema_name)
    errors: list[str] = []
    _check(value, root, root, "$", errors)
    return errors


def _equal(a: Any, b: Any) -> bool:
    """JSON equality: unlike Python's, true is not 1."""
    return (type(a) is type(b) and a == b) or (
        _TYPES["number"](a) and _TYPES["number"](b) and a == b
    )


def _check(value: Any, schema: Any, root: dict[str, Any], path: str, errors: list[str]) -> None:
    unknown = set(schema) - _KEYWORDS
    if unknown:
        raise ValueError(f"schema keyword not supported: {sorted(unknown)}")
    if "$ref" in schema:
        target: Any = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        _check(value, target, root, path, errors)
    if "type" in schema:
        types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if not any(_TYPES[t](value) for t in types):
            errors.append(f"{path}: expected {' or '.join(types)}, got {_kind(value)}")
            return
    if "enum" in schema and not any(_equal(value, e) for e in schema["enum"]):
        errors.append(f"{path}: {_short(value)} is not one of {schema['enum']}")
    if "const" in schema and not _equal(value, schema["const"]):
        errors.append(f"{path}: expected {_short(schema['const'])}, got {_short(value)}")
    if "anyOf" in schema:
        attempts: list[list[str]] = []
        for option in schema["anyOf"]:
            tried: list[str] = []
            _check(value, option, root, path, tried)
            attempts.append(tried)
        if all(attempts):
            errors.extend(min(attempts, key=len))
    if isinstance(value, dict):
        _check_object(value, schema, root, path, errors)
    elif isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            errors.append(f"{path}: has {len(value)} items, needs {schema['minItems']}")
        if schema.get("uniqueItems") and any(
            _equal(a, b) for i, a in enumerate(value) for b in value[:i]
        ):
            errors.append(f"{path}: has an item twice")
        if "items" in schema:
            for i, item in enumerate(value):
                _check(item, schema["items"], root, f"{path}[{i}]", errors)
    elif isinstance(value, str):
        if len(value) < schema.get("minLength", 0):
            errors.append(f"{path}: is too short")
        if "pattern" in schema and not _matches(schema["pattern"], value):
            errors.append(f"{path}: {_short(value)} does not match {schema['pattern']}")
    elif _TYPES["number"](value):
        if "minimum" in schema and value < schema["minimum"]:
            errors.append(f"{path}: {value} is below {schema['minimum']}")
        if "maximum" in schema and value > schema["maximum"]:
            errors.append(f"{path}: {value} is above {schema['maximum']}")
        if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
            errors.append(f"{path}: {value} is not above {schema['exclusiveMinimum']}")


def _matches(pattern: str, text: str) -> bool:
    """JSON Schema's rule: $ is the end of the text; Python's matches before a last newline, too."""
    if pattern.endswith("$"):
        pattern = pattern[:-1] + r"\Z"
    return re.search(pattern, text) is not None


def _check_object(
    value: dict[str, Any], schema: Any, root: dict[str, Any], path: str, errors: list[str]
) -> None:
    for key in schema.get("required", []):
        if key not in value:
            errors.append(f"{path}: {key} is missing")
    properties = schema.get("properties", {})
    rest = schema.get("additionalProperties", True)
    for key, item in value.items():
        if "propertyNames" in schema:
            _check(key, schema["propertyNames"], root, path, errors)
        if key in properties:
            _check(item, properties[key], root, f"{path}.{key}", errors)
        elif rest is False:
            errors.append(f"{path}: {key} is not known here")
        elif isinstance(rest, dict):
            _check(item, rest, root, f"{path}.{key}", errors)


def _kind(value: Any) -> str:
    return next((name for name, test in _TYPES.items() if test(value)), type(value).__name__)


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
