"""Pictures of the page for documents, taken with a headless Chromium."""

from __future__ import annotations

import tempfile
from pathlib import Path

from kb_report import chromium, page, rollup
from kb_report.model import ReportError, Suite

SECTION_OPEN = "document.querySelector('.detail section') !== null"


def take(
    suite: Suite, out: Path, size: tuple[int, int] = (1280, 1000), candidate: str | None = None
) -> list[Path]:
    """Save the top of the page, or the opened section of a candidate, as it looks in light and dark.

    Writes `out` and `<stem>-dark<suffix>` beside it and returns both paths. Raises ReportError
    without Jinja2, without a Chromium, for an unknown candidate, or where the browser fails.
    """
    browser = chromium.find()
    if browser is None:
        raise ReportError(
            "a screenshot needs Chromium (apt-get install chromium, or KB_CHROMIUM=<path>)"
        )
    if candidate:
        suite.candidate(candidate)  # raises if it is unknown
    pictures = [out, out.with_name(f"{out.stem}-dark{out.suffix}")]
    with tempfile.TemporaryDirectory() as folder:
        html = Path(folder) / "index.html"
        if not page.write_page(html, suite, rollup.document(suite)):
            raise ReportError("a screenshot needs Jinja2 (pip install jinja2)")
        for picture, dark in zip(pictures, (False, True)):
            try:
                with chromium.Browser(browser, Path(folder) / f"profile-{dark}", dark) as b:
                    b.size(*size)
                    b.open(html, f"#{candidate}" if candidate else "")
                    if candidate:
                        b.wait(SECTION_OPEN)
                    picture.parent.mkdir(parents=True, exist_ok=True)
                    b.screenshot(picture)
            except OSError as e:  # TimeoutError, too
                raise ReportError(f"cannot write {picture}: {e.strerror or e}") from None
            except (RuntimeError, EOFError) as e:
                raise ReportError(f"the browser failed: {e}") from None
    return pictures
