"""Lets the tests import the package and the generator of invented results."""

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch):
    for name in ("GITHUB_STEP_SUMMARY", "DASHBOARD_TEST_FROM_CTEST"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767323045")
    monkeypatch.setenv("KB_PYTHON", sys.executable)  # of reports/kb-report
