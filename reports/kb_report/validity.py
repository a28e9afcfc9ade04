"""What the tasks themselves accept: merging and adding up the records of kb_validity."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any


def merged(groups: Iterable[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """One record per task; of several the one with the most survivors."""
    best: dict[tuple[int, str], dict[str, Any]] = {}
    for records in groups:
        for r in records:
            key = (r["level"], r["task"])
            best[key] = max(best.get(key, r), r, key=_gravity)
    return [best[key] for key in sorted(best)]


def _gravity(record: dict[str, Any]) -> tuple[int, int, str]:
    return (
        len(record["survivors"]),
        record["degenerate"] is not None,
        json.dumps(record, sort_keys=True),
    )


def by_level(doc: dict[str, Any]) -> list[dict[str, Any]]:
    """Sums over the assessed tasks of each level of a results document, if it has any."""
    found = []
    for level, about in doc["levels"].items():
        rows = [r for r in doc.get("validity", []) if r["level"] == int(level)]
        if rows:
            found.append(
                {
                    "level": int(level),
                    "n": len(about["tasks"]),
                    "assessed": len(rows),
                    "killed": sum(r["killed"] for r in rows),
                    "applicable": sum(r["applicable"] for r in rows),
                    "accepting": [r for r in rows if r["survivors"] and not r["degenerate"]],
                    "degenerate": [r for r in rows if r["degenerate"]],
                    "rows": rows,
                }
            )
    return found
