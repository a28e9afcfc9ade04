"""A matrix as text and CSV, and the columns of its tables, which the page shares."""

from __future__ import annotations

from typing import Any

from kb_report import columns, spreadsheet
from kb_report.columns import Column, Row, number

_ROWS_SHOWN = 10


def of_ranks(doc: dict[str, Any]) -> list[Column]:
    """Columns of the table of runs: on each GPU rank, share and geo-mean."""

    def on(i: int, name: str) -> Column:
        return Column(
            name,
            lambda r: f"{r['cells'][i]['rank']} of {r['cells'][i]['of']}" if r["cells"][i] else "-",
            lambda r: _share(r["cells"][i]),
            lambda r: _geo_mean(r["cells"][i]),
        )

    gpus = [on(i, g["name"]) for i, g in enumerate(doc["gpus"])]
    moves = Column("", lambda r: "moves" if r["moves"] else "", left=True)
    return [Column("run", lambda r: r["run"], left=True), *gpus, moves]


def _share(cell: dict[str, Any] | None) -> str:
    return f"({cell['metric']} {number(cell['share'])})" if cell else ""


def _geo_mean(cell: dict[str, Any] | None) -> str:
    return f"geo-mean {number(cell['geo_mean'])}" if cell and cell["geo_mean"] else ""


def of_tasks(doc: dict[str, Any]) -> list[Column]:
    """Columns of the table of tasks: a kernel's speed-up, or else its verdict, on each GPU."""

    def on(i: int, name: str) -> Column:
        return Column(
            name,
            lambda r: _cell(r["cells"][i]),
            lambda r: _milliseconds(r["cells"][i]),
            lambda r: _about(r["cells"][i]),
        )

    gpus = [on(i, g["name"]) for i, g in enumerate(doc["gpus"])]
    spread = Column("spread", lambda r: f"{r['spread']:.2f}" if r["spread"] else "-")
    return [
        Column("task", lambda r: r["task"], left=True, shared=True),
        Column("run", lambda r: r["run"], left=True),
        *gpus,
        spread,
    ]


def _cell(cell: dict[str, Any] | None) -> str:
    if cell is None:
        return "-"
    if cell["speedup"] is not None:
        return f"{cell['speedup']:.3f}×"
    return (cell["verdict"] or "not judged").replace("_", " ")


def _milliseconds(cell: dict[str, Any] | None) -> str:
    return f"{cell['candidate_ms']:.3g} ms" if cell and cell["candidate_ms"] else ""


def _about(cell: dict[str, Any] | None) -> str:
    if cell is None or cell["speedup"] is None:
        return ""
    high = number(cell["ci_hi"]) if cell["ci_hi"] else "∞"
    return f"[{number(cell['ci_lo'])}, {high}] {cell['at_1']}"


def of_orders(doc: dict[str, Any]) -> list[Column]:
    """Columns of the table of pairs of kernels whose order changes."""
    names = _names(doc)
    return [
        Column("task", lambda r: r["task"], left=True),
        Column("faster", lambda r: r["a"], lambda r: f"on {names[r['a_first_on']]}", left=True),
        Column("by", lambda r: f"{r['a_ahead']:.3f}×"),
        Column("faster", lambda r: r["b"], lambda r: f"on {names[r['b_first_on']]}", left=True),
        Column("by", lambda r: f"{r['b_ahead']:.3f}×"),
    ]


def of_agreement(doc: dict[str, Any]) -> list[Column]:
    """Columns of the table of runs on two GPUs each."""
    names = _names(doc)
    return [
        Column("run", lambda r: r["run"], left=True),
        Column("from", lambda r: names[r["a"]], left=True),
        Column("to", lambda r: names[r["b"]], left=True),
        Column("tasks", lambda r: str(r["tasks"])),
        Column("tau", lambda r: number(r["kendall_tau"], 2)),
        Column("geo-mean ratio", lambda r: number(r["geo_mean_ratio"])),
        Column("of times", lambda r: number(r["geo_mean_time_ratio"])),
        Column("largest", lambda r: number(r["largest"]["ratio"]), lambda r: r["largest"]["task"]),
    ]


def _names(doc: dict[str, Any]) -> dict[str, str]:
    return {g["machine"]: g["name"] for g in doc["gpus"]}


def by_task(rows: list[Row]) -> list[list[Row]]:
    """The rows of a level, those of one task together."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["task"], []).append(row)
    return list(groups.values())


def rows(table: list[Row]) -> list[list[Row]]:
    """Rows as groups of one."""
    return [[row] for row in table]


def order_text(orders: dict[str, Any]) -> str:
    """The sentence about pairs of kernels."""
    if not orders["compared"]:
        return "No two kernels of a task have times on two GPUs, so there is no order to compare"
    return (
        f"Of {orders['compared']} pairs of kernels of a task on two GPUs each, "
        f"{len(orders['changed'])} change their order, and {orders['open']} may"
    )


def text(doc: dict[str, Any]) -> str:
    """What `kb-report matrix` prints."""
    lines = [f"MIXED: {reason}" for reason in doc["mixed"]]
    lines += [f"note: {note}" for note in doc["notes"]]
    lines += [f"  {g['name']}: {g['runs']} run(s), judged until {g['judged']}" for g in doc["gpus"]]
    for level in doc["levels"]:
        lines += ["", f"level {level['level']}, N {level['n']}: ranks"]
        lines.append(columns.text(of_ranks(doc), rows(level["ranks"])))
        if level["agreement"]:
            lines += ["", columns.text(of_agreement(doc), rows(level["agreement"]))]
        if not level["untimed"]:
            lines += ["", order_text(level["orders"])]
        changed = level["orders"]["changed"]
        if changed:
            lines.append(columns.text(of_orders(doc), rows(changed[:_ROWS_SHOWN])))
        if level["unlike"]:
            lines += ["", "kernels that pass, or are faster than the baseline, on some GPUs only"]
            lines.append(columns.text(of_tasks(doc), rows(level["unlike"][:_ROWS_SHOWN])))
    return "\n".join(lines)


CELL = ("verdict", "speedup", "ci_lo", "ci_hi", "at_1", "candidate_ms")


def csv(doc: dict[str, Any]) -> str:
    """A row per level, task, run and GPU that has the kernel."""
    names = ("level", "task", "run", "gpu", "machine", *CELL)
    table = (
        {"level": level["level"], "task": row["task"], "run": row["run"], "gpu": gpu["name"],
         "machine": gpu["machine"], **cell}
        for level in doc["levels"]
        for row in level["tasks"]
        for gpu, cell in zip(doc["gpus"], row["cells"])
        if cell
    )  # fmt: skip
    return spreadsheet.text({name: lambda row, name=name: row[name] for name in names}, table)
