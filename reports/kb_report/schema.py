"""Checks JSON values against the schemas in reports/schema."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from kb_report.model import ReportError

SCHEMA_DIR = Path(__file__).resolve().parent.parent / "schema"


@cache
def load(name: str) -> dict[str, Any]:
    """Return the schema `reports/schema/<name>.schema.json` as a dictionary."""
    return json.loads((SCHEMA_DIR / f"{name}.schema.json").read_text(encoding="utf-8"))


def check(value: Any, schema_name: str) -> list[str]:
    """Return a sentence about a rule of the schema that `value` breaks; an empty list if it is valid.

    Raises ReportError without fastjsonschema.
    """
    validate = _validator(schema_name)
    try:
        validate(value, name_prefix="$")
    except ValueError as e:  # as the library's exceptions are
        return [str(e)]
    return []


@cache
def _validator(name: str) -> Callable[..., Any]:
    try:
        import fastjsonschema
    except ImportError:
        raise ReportError(
            "this Python lacks fastjsonschema: run tools/quickstart, or python3 -m pip install -r "
            "tools/report-requirements.txt"
        ) from None
    return fastjsonschema.compile(load(name), use_default=False, use_formats=False)
