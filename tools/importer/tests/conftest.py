"""Lets the tests import the packages."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "reports"))
sys.path.insert(0, str(ROOT / "tools/importer"))

from kb_import.__main__ import main


@pytest.fixture
def kb(capsys):
    """Runs the import and checks its exit status: what it prints."""

    def run(*arguments, status=0):
        capsys.readouterr()
        assert main([str(a) for a in arguments]) == status, arguments
        return capsys.readouterr()

    return run
