"""What is written fits its schema, and no schema has a rule that nobody checks."""

import json
import sys

import pytest

from kb_report import rollup, schema
from kb_report.load import load_build_dir
from kb_report.model import ReportError, task_facts
from synthetic import FACTS, full_suite, read_json

SCHEMAS = ("manifest", "env", "result", "results", "validity", "measurement")

MEASUREMENT = {
    "candidate": "seed.level1.019_relu",
    "identical": False,
    "reference": True,
    "gpu": "GPU-0",
    "lanes": {"eager": {"speedup": 1.0, "ci_lo": 0.9, "ci_hi": 1.1, "verdict": "UNDECIDED"}},
    "wall_seconds": {"start": 0.5},
}


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    """Valid documents of each kind."""
    build = full_suite(tmp_path_factory.mktemp("b") / "h200", ("seed", "mymodel"))
    build.finish()
    results = [read_json(p) for p in build.path("results").rglob("*.json")]
    return {
        "manifest": [read_json(build.path("manifest.json"))],
        "env": [read_json(build.path("env.json"))],
        "result": results,
        "results": [json.loads(json.dumps(rollup.document(load_build_dir(build.root))))],
        "validity": [read_json(p) for p in build.path("validity").glob("*.json")],
        "measurement": [MEASUREMENT],
    }


@pytest.mark.parametrize("name", SCHEMAS)
def test_written_documents_are_valid(documents, name):
    for value in documents[name]:
        assert schema.check(value, name) == []


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({}, None),
        ({"level": 0}, "level"),
        ({"level": True}, "level"),
        ({"module": 1}, "module"),
        ({"run": "m\n"}, "run"),
        ({"sample": 1}, "sample"),
    ],
)
def test_a_broken_rule_is_named(change, word):
    entry = {"run": "m", "sample": None, "level": 1, "task": "019_relu"}
    entry |= dict.fromkeys(("name", "source", "module", "result"), "x") | change
    whole = {"schema": 1, "preset": "p", "backend": "cpu", "source_dir": "/x", "levels": {}}
    found = schema.check(whole | {"candidates": [entry]}, "manifest")
    assert word in found[0] if word else found == []


def test_without_the_library_it_says_what_to_do(monkeypatch):
    schema._validator.cache_clear()
    monkeypatch.setitem(sys.modules, "fastjsonschema", None)
    with pytest.raises(ReportError, match="fastjsonschema"):
        schema.check({}, "env")


@pytest.mark.parametrize("path", sorted(schema.SCHEMA_DIR.glob("*.json")), ids=lambda p: p.stem)
def test_no_rule_of_a_schema_is_ignored(path):
    """The library passes over keywords that draft 7 does not have, and over what is beside a $ref."""
    known = {
        "$schema", "$id", "$defs", "$ref", "$comment", "title", "description", "type", "enum", "const",
        "properties", "required", "additionalProperties", "items", "minItems", "uniqueItems", "allOf",
        "minimum", "exclusiveMinimum", "maximum", "minLength", "pattern", "propertyNames", "anyOf",
    }  # fmt: skip

    def look(rules):
        assert set(rules) <= known and ("$ref" not in rules or set(rules) <= {"$ref", "$comment"})
        parts = [*rules.get("properties", {}).values(), *rules.get("$defs", {}).values()]
        parts += [*rules.get("anyOf", []), *rules.get("allOf", [])]
        parts += [
            rules[k] for k in ("items", "additionalProperties", "propertyNames") if k in rules
        ]
        for part in parts:
            if isinstance(part, dict):
                look(part)

    look(schema.load(path.name.removesuffix(".schema.json")))


def test_table_of_tasks_is_that_of_the_suite():
    assert [sum(f["level"] == lv for f in FACTS) for lv in (1, 2, 3, 4)] == [100, 100, 50, 20]
    assert len({(f["level"], f["task"]) for f in FACTS}) == 270
    root = schema.SCHEMA_DIR.parent.parent
    for level in (1, 2, 3, 4):
        for path in sorted((root / f"level{level}").glob("[0-9][0-9][0-9]_*")):
            assert task_facts(level, path.name), f"{path.name} is not in data/tasks.json"
