"""Tables whose columns are defined once, and become text, Markdown or a page."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kb_report.model import clean

Row = dict[str, Any]
Groups = Sequence[Sequence[Row]]  # rows that belong together, such as the lanes of one run

_INDEX = re.compile(r"\bfast_([\d.]+|p\b)")


def _nothing(row: Row) -> str:
    return ""


@dataclass(frozen=True)
class Column:
    """A column in every form of its table.

    head: its heading; fast_1 gets an index where there is markup.
    cell: what a row says there. aside: what follows it, in brackets of its own.
    small: what only a page adds, in small print.
    left: it holds words. shared: all rows of a group say the same, which is shown once.
    page_only: text and Markdown do without it. chart: a page draws the row's `bar` with it.
    """

    head: str
    cell: Callable[[Row], str]
    aside: Callable[[Row], str] = _nothing
    small: Callable[[Row], str] = _nothing
    left: bool = False
    shared: bool = False
    page_only: bool = False
    chart: bool = False


def number(value: float | None, digits: int = 3) -> str:
    """A share or a speed-up with fixed digits; '-' where there is none."""
    return "-" if value is None else f"{value:.{digits}f}"


def size(value: float | None) -> str:
    """Bytes in a unit that leaves few digits; '-' where there are none."""
    if value is None:
        return "-"
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            return f"{value:.3g} {unit}"
        value /= 1024
    return str(value)


def text(columns: Sequence[Column], groups: Groups, indent: str = "  ") -> str:
    """The table as aligned columns: words to the left, numbers to the right."""
    columns = [c for c in columns if not c.page_only]
    rows = [[c.head for c in columns], *_cells(columns, groups)]
    return aligned(rows, "".join("l" if c.left else "r" for c in columns), indent)


def markdown(
    columns: Sequence[Column], groups: Groups, escape: Callable[[str], str] = str
) -> list[str]:
    """The table as lines of Markdown; `escape` takes the markup out of what heads and cells say."""
    columns = [c for c in columns if not c.page_only]
    heads = [_indexed(c.head, escape) for c in columns]
    rows = [heads, *([escape(cell) for cell in row] for row in _cells(columns, groups))]
    return pipes(rows, "".join("l" if c.left else "r" for c in columns))


def aligned(rows: Sequence[Sequence[str]], sides: str, indent: str = "  ") -> str:
    """Rows of cells as text; sides: `l` or `r` for each column, to which side it goes."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if side == "l" else cell.rjust(width)
            for cell, width, side in zip(row, widths, sides)
        ]
        lines.append((indent + "  ".join(cells)).rstrip())
    return "\n".join(lines)


def pipes(rows: Sequence[Sequence[str]], sides: str) -> list[str]:
    """The same as lines of Markdown; the first row is the heading."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, f"|{'|'.join(':--' if side == 'l' else '--:' for side in sides)}|")
    return lines


def markup(head: str) -> Any:
    """A heading as markup for a page, with indices. Raises ImportError without Jinja2."""
    import markupsafe

    return markupsafe.Markup(_indexed(clean(head), lambda part: str(markupsafe.escape(part))))


def _indexed(head: str, escape: Callable[[str], str]) -> str:
    """A heading with indices as markup; `escape` is for all the rest of it."""
    parts = _INDEX.split(head)  # every other one is an index
    return "".join(f"fast<sub>{p}</sub>" if i % 2 else escape(p) for i, p in enumerate(parts))


def _cells(columns: Sequence[Column], groups: Groups) -> list[list[str]]:
    return [
        ["" if c.shared and i else " ".join(filter(None, (c.cell(row), c.aside(row))))
         for c in columns]
        for group in groups
        for i, row in enumerate(group)
    ]  # fmt: skip
