"""Lets the tests import the package and the generator of invented results."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from command_line import fixture_refused, fixture_run
from kb_report import page
from kb_report.cli import main
from synthetic import BuildDir, read_json

kb = fixture_run(main)
refused = fixture_refused()


@pytest.fixture
def build(tmp_path):
    """An empty build directory of an H200 with four tasks of level 1."""
    return BuildDir(tmp_path / "h200")


@pytest.fixture
def compared(tmp_path, kb):
    """Compares: compare.json, and what was printed."""

    def run(*arguments):
        printed = kb("compare", *arguments, "--out", tmp_path / "out").out
        return read_json(tmp_path / "out/compare.json"), printed

    return run


@pytest.fixture
def no_jinja2(monkeypatch):
    """Jinja2 is not installed."""

    def missing():
        raise ImportError("jinja2")

    monkeypatch.setattr(page, "environment", missing)


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch):
    for name in ("GITHUB_STEP_SUMMARY", "DASHBOARD_TEST_FROM_CTEST"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767323045")
    monkeypatch.setenv("KB_PYTHON", sys.executable)  # of reports/kb-report
