#!/usr/bin/env python3
"""Pictures of a report's page for documents: screenshot.py PAGE.html PICTURE.png [CANDIDATE].

The top of the page, or the opened section of a candidate, in a window of 1280 x 1000: in light as
PICTURE.png, in dark as PICTURE-dark.png. Needs Chromium.
"""

import sys
import tempfile
from pathlib import Path

from chromium import Browser, find


def main(page: Path, picture: Path, candidate: str = "") -> None:
    for dark in (False, True):
        with tempfile.TemporaryDirectory() as profile, Browser(Path(profile), dark) as b:
            b.size(1280, 1000)
            b.open(page, candidate and f"#{candidate}")
            if candidate:
                b.wait("document.querySelector('.detail section') !== null")
            b.screenshot(picture.with_name(f"{picture.stem}{'-dark' * dark}{picture.suffix}"))


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or find() is None:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
