"""Entry point of `python3 -m kb_report`."""

import sys

from kb_report.cli import main

sys.exit(main())
