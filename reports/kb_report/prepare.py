"""What `prepare` took, which no speed-up counts, and how much of a task it may take over."""

from __future__ import annotations

from typing import Any

from kb_report import columns

MARK = (
    "More than half of what this task counts depends on its weights alone, so prepare() may do it "
    "untimed."
)
_SHARES = {
    "flops": "FLOPs",
    "bytes": "bytes of its tensors",
    "operator_bytes": "bytes that its operators read and write",
}


def sentence(taken: dict[str, Any]) -> str:
    """About `timing.prepare` of a result."""
    return (
        f"prepare() took {taken['ms']:.4g} ms, untimed and once for given weights, and holds "
        f"{columns.size(taken['bytes'])} of device memory."
    )


def most_depends_on_weights(timing: dict[str, Any]) -> bool:
    """Whether the judge has marked the task of this `timing`."""
    return bool(((timing.get("work") or {}).get("weights_alone") or {}).get("most"))


def shares(timing: dict[str, Any]) -> str:
    """How much of the task depends on weights alone, of each thing that counts."""
    alone = (timing.get("work") or {}).get("weights_alone") or {}
    found = [f"{100 * alone[k]:.0f} % of the {words}" for k, words in _SHARES.items() if k in alone]
    return f"It is {', '.join(found)}." if found else ""
