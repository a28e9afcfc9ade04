"""Lets the tests import the packages."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "reports"))
sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "reports/tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from command_line import fixture_run
from kb_import.__main__ import main

kb = fixture_run(main)
