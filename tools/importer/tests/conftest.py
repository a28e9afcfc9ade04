"""Lets the tests import the packages."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "reports"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from kb_import.__main__ import main


@pytest.fixture
def kb(capsys):
    """Runs the import and checks its exit status: what it prints."""

    def run(*arguments, status=0):
        capsys.readouterr()
        assert main([str(a) for a in arguments]) == status, arguments
        return capsys.readouterr()

    return run
