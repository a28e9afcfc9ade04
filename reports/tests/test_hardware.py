"""Recorded results of real GPUs (reports/hardware/<gpu>/results.json, or .json.gz) stay readable and publishable."""

import json
import re
from pathlib import Path

import pytest

from kb_report import feedback, load, merge, page, rollup, schema, tables, write
from kb_report.cli import main

HARDWARE = Path(__file__).resolve().parent.parent / "hardware"
RECORDED = sorted(HARDWARE.glob("*/results.json*"))
MACHINE_PATH = re.compile(
    r"(?<![\w.])/(?:home|root|Users|tmp|work|workspace|mnt|data|build)/[\w.-]"
)

if not RECORDED:
    pytest.skip("no results are recorded", allow_module_level=True)


@pytest.fixture(params=RECORDED, ids=lambda path: path.parent.name)
def recorded(request):
    return request.param


def test_they_are_valid_and_small_enough_to_keep(recorded):
    suite = merge.read_suite(recorded)  # checks the report and every result in it
    assert suite.backend == "cuda" and suite.machine["gpu"]["name"]
    assert recorded.stat().st_size < 1_000_000
    assert not suite.problems, "a record of a machine holds no bad input"


def test_their_numbers_follow_from_their_results(recorded):
    """Whoever edits a number by hand, or changes a definition, meets this."""
    doc = rollup.document(merge.read_suite(recorded))
    assert schema.check(doc, "results") == []
    kept = load.read_json(recorded)
    for run, again in zip(kept["runs"], doc["runs"], strict=True):
        for level, level_again in zip(run["levels"], again["levels"], strict=True):
            for row, row_again in zip(level["samples"], level_again["samples"], strict=True):
                for key in ("n", "judged", "compiled", "correct", "verdicts", "fast_0"):
                    assert row[key] == row_again[key]
                for name, lane in row["lanes"].items():
                    assert lane["fast_p"] == row_again["lanes"][name]["fast_p"]


def test_every_form_of_report_comes_out_of_them(recorded, tmp_path):
    pytest.importorskip("jinja2")
    suite = merge.read_suite(recorded)
    doc = rollup.document(suite)
    html = page.render(suite, doc)
    assert len(html.encode()) < 1_000_000
    for text in (html, tables.text(doc), write.summary_md(doc), write.junit_xml(doc)):
        assert suite.machine["gpu"]["name"] in text or "<testsuites" in text
    for c in suite.candidates:
        assert len(feedback.markdown(feedback.document(c))) < 12_000, c["name"]
    assert main(["gate", str(recorded), "--against", str(recorded)]) == 0
    assert main(["export", "kernelbench", str(recorded), "--out", str(tmp_path)]) == 0


def test_no_place_of_the_machine_is_in_them(recorded):
    texts = {p.name: p.read_text(encoding="utf-8") for p in recorded.parent.glob("*.md")}
    texts[recorded.name] = json.dumps(load.read_json(recorded))
    for name, text in texts.items():
        found = MACHINE_PATH.search(text)
        assert found is None, f"{name}: {found[0]}"
