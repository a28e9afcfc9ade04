"""What a source tree holds of the tasks: contract, reference and shipped kernel, as text."""

from __future__ import annotations

import difflib
import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path

from kb_report.model import ReportError

PROJECT = Path(__file__).resolve().parent.parent.parent

HEADER, REFERENCE = "task.h", "reference.cpp"
CONTRACT = "harness/contract/include/kb/contract.h"  # all that a kernel shares with its task

_RULES = re.compile(r"^//\n// Rules for a kernel:\n((?:// .+\n)+)", re.MULTILINE)
_NAME = re.compile(r"level(\d+)/(\d{3}_[a-z0-9_]+)")
_INCLUDE = re.compile(r'^#include "(\.\./[^"]+|[a-z0-9_]+\.h)"', re.MULTILINE)
_HASH_LINE = re.compile(r"([0-9a-f]{64})  (.+)")


@dataclass(frozen=True)
class Contract:
    """What `kb/contract.h` says: the rules for a kernel as a Markdown list, and the rest of it."""

    rules: str
    header: str


@dataclass(frozen=True)
class Task:
    """A task's place, and its files that a generator may see."""

    level: int
    slug: str
    header: str
    reference: str
    shared: dict[str, str] = field(default_factory=dict)
    """What the reference includes beside `task.h`: texts by path in the tree, in reading order."""

    @property
    def name(self) -> str:
        """`levelN/NNN_slug`, which is also its folder."""
        return f"level{self.level}/{self.slug}"


def contract(tree: Path = PROJECT) -> Contract:
    """The contract of the tree. Raises ReportError where its header lacks the rules."""
    header = text(tree / CONTRACT)
    if header is None:
        raise ReportError(f"{tree / CONTRACT} is missing: restore it")
    match = _RULES.search(header)
    if match is None:
        raise ReportError(f"{tree / CONTRACT} lacks its comment 'Rules for a kernel:': restore it")
    rules = re.sub("^// ", "", match[1], flags=re.MULTILINE)
    return Contract(rules.rstrip("\n"), header[: match.start()] + header[match.end() :])


def split(name: str) -> tuple[int, str]:
    """Level and slug of `levelN/NNN_slug`. Raises ReportError."""
    match = _NAME.fullmatch(name.rstrip("/"))
    if match is None:
        raise ReportError(f"{name} is no name of a task: give it as levelN/NNN_slug")
    return int(match[1]), match[2]


def tasks(tree: Path = PROJECT) -> list[str]:
    """Names of all tasks of the tree, in their order."""
    found = [f"{p.parent.parent.name}/{p.parent.name}" for p in tree.glob(f"level*/*/{HEADER}")]
    return sorted(name for name in found if _NAME.fullmatch(name))


def task(name: str, tree: Path = PROJECT) -> Task:
    """The task `levelN/NNN_slug` of the tree.

    Raises ReportError for a name that there is not, with those that are most like it.
    """
    level, slug = split(name)
    files = [tree / f"level{level}" / slug / file for file in (HEADER, REFERENCE)]
    texts = [text(path) for path in files]
    if None in texts:
        known = tasks(tree)
        like = [n for n in known if n.endswith(f"/{slug}")]
        like = like or difflib.get_close_matches(f"level{level}/{slug}", known)
        hint = f"; did you mean {', '.join(like[:3])}?" if like else ""
        raise ReportError(f"there is no task level{level}/{slug}{hint}")
    return Task(level, slug, *texts, shared=_included(files[1], texts[1], tree))


def _included(file: Path, content: str, tree: Path) -> dict[str, str]:
    """Sources that tasks share, which a file includes: those that others need come first."""
    found: dict[str, str] = {}
    for name in _INCLUDE.findall(content):
        path = (file.parent / name).resolve()
        included = text(path)
        if path.name == HEADER or included is None or not path.is_relative_to(tree.resolve()):
            continue
        found |= _included(path, included, tree)
        found[path.relative_to(tree.resolve()).as_posix()] = included
    return found


def text(path: Path) -> str | None:
    """A whole text file exactly as it is; None if it is none, or not UTF-8."""
    try:
        return path.read_bytes().decode() if path.is_file() else None
    except (OSError, UnicodeDecodeError):
        return None


def sha256(content: str) -> str:
    """Hex digest of a text as a file in UTF-8 has it."""
    return hashlib.sha256(content.encode()).hexdigest()


def judged_sources(build_dir: Path) -> dict[str, str]:
    """sources.sha256 of a build tree: file -> hash of what the last build saw; {} without it."""
    lines = (text(build_dir / "sources.sha256") or "").splitlines()
    return {m[2]: m[1] for line in lines if (m := _HASH_LINE.fullmatch(line))}
