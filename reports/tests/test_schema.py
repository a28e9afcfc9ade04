"""Our schema checker agrees with the jsonschema package, where that is installed."""

import json

import pytest

from kb_report import rollup, schema
from kb_report.load import load_build_dir
from kb_report.model import task_facts
from synthetic import FACTS, BuildDir, full_suite

SCHEMAS = ("manifest", "env", "result", "results", "validity", "measurement")

MEASUREMENT = {
    "candidate": "seed.level1.019_relu",
    "identical": False,
    "reference": True,
    "gpu": "GPU-0",
    "lanes": {"eager": {"speedup": 1.0, "ci_lo": 0.9, "ci_hi": 1.1, "verdict": "UNDECIDED"}},
    "wall_seconds": {"start": 0.5},
}


def validator(name):
    jsonschema = pytest.importorskip("jsonschema", reason="test-only dependency not installed")
    cls = jsonschema.Draft202012Validator
    cls.check_schema(schema.load(name))
    return cls(schema.load(name))


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    """Valid documents of each kind."""
    build = full_suite(tmp_path_factory.mktemp("b") / "h200", ("seed", "mymodel"))
    build.finish()
    results = [json.loads(p.read_text()) for p in build.path("results").rglob("*.json")]
    return {
        "manifest": [json.loads(build.path("manifest.json").read_text())],
        "env": [json.loads(build.path("env.json").read_text())],
        "result": results,
        "results": [json.loads(json.dumps(rollup.document(load_build_dir(build.root))))],
        "validity": [json.loads(p.read_text()) for p in build.path("validity").glob("*.json")],
        "measurement": [MEASUREMENT],
    }


@pytest.mark.parametrize("name", SCHEMAS)
def test_written_documents_are_valid(documents, name):
    for value in documents[name]:
        assert schema.check(value, name) == []


@pytest.mark.parametrize("name", SCHEMAS)
def test_jsonschema_agrees(documents, name, tmp_path):
    check = validator(name)
    for value in documents[name][:20]:
        assert not list(check.iter_errors(value))
    names = ("manifest", "env", "result", "validity", "results")
    small = dict(zip(names, small_documents(tmp_path))) | {"measurement": MEASUREMENT}
    values = documents["result"][:3] if name == "result" else [small[name]]
    for value in values:
        for broken in mutations(value):
            ours, theirs = schema.check(broken, name), list(check.iter_errors(broken))
            assert bool(ours) == bool(theirs), (ours, theirs)


def small_documents(tmp_path):
    """A manifest, an environment, a result, a validity record, a report of three candidates."""
    build = BuildDir(tmp_path / "h200")
    for task, verdict in zip(build.levels[1], ("pass", "incorrect", "compile_error")):
        build.result(build.add(task), verdict, 2.0)
    build.validity(build.levels[1][0], canary=["a", "b"])
    build.finish()
    doc = json.loads(json.dumps(rollup.document(load_build_dir(build.root))))
    record = f"validity/level1.{build.levels[1][0]}.json"
    paths = ("manifest.json", "env.json", build.candidates[0]["result"], record)
    return *(json.loads(build.path(p).read_text()) for p in paths), doc


def mutations(value, depth=0):
    """The value with one member at a time dropped or replaced by something else."""
    if isinstance(value, dict) and depth < 4:
        for key in list(value)[:12]:
            yield {k: v for k, v in value.items() if k != key}
            for other in (None, -1, 1.5, "x", True, [], {}):
                yield value | {key: other}
            for inner in mutations(value[key], depth + 1):
                yield value | {key: inner}
    elif isinstance(value, list) and value and depth < 4:
        for inner in mutations(value[0], depth + 1):
            yield [inner, *value[1:]]


def test_unknown_keywords_are_refused(monkeypatch):
    monkeypatch.setattr(schema, "load", lambda name: {"type": "object", "maxProperties": 1})
    with pytest.raises(ValueError, match="maxProperties"):
        schema.check({}, "any")


def test_table_of_tasks_is_that_of_the_suite():
    assert [sum(f["level"] == lv for f in FACTS) for lv in (1, 2, 3, 4)] == [100, 100, 50, 20]
    assert len({(f["level"], f["task"]) for f in FACTS}) == 270
    root = schema.SCHEMA_DIR.parent.parent
    for level in (1, 2, 3, 4):
        for path in sorted((root / f"level{level}").glob("[0-9][0-9][0-9]_*")):
            assert task_facts(level, path.name), f"{path.name} is not in data/tasks.json"


def test_build_dir_fixture_is_minimal(tmp_path):
    assert load_build_dir(BuildDir(tmp_path / "h200").finish()).problems == []
