"""Facts about a GPU for a prompt: what kb.env and kb.peaks measured, or a data sheet says, and what follows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kb_report import load, occupancy, schema
from kb_report.load import BadFile
from kb_report.model import ReportError, one_line
from kb_report.tree import PROJECT

RECORDS = PROJECT / "reports" / "hardware"
# More shared memory than this has to be asked for, on every architecture.
SHARED_WITHOUT_ASKING = 48 << 10


def facts(choice: str) -> dict[str, Any]:
    """What templates know as `gpu`, of a preset, a build directory, a facts.json or the name of a record.

    What was measured here comes before what reports/hardware says of such a GPU. Raises ReportError with what to do where facts are missing or wrong.
    """
    path = Path(choice)
    if path.is_file():
        return described(_read(path, "facts.json has the form of reports/schema/facts.schema.json"))
    for folder in (path, PROJECT / "build" / choice):
        if (folder / "env.json").is_file():
            return described(of_build(folder))
    recorded = {p.parent.name: p for p in sorted(RECORDS.glob("*/facts.json"))}
    if choice.lower() in recorded:
        return facts(str(recorded[choice.lower()]))
    raise ReportError(
        f"there are no facts about {choice}: name a file facts.json, a preset that was judged on its "
        f"GPU (build/<preset>), or one of {', '.join(recorded)}"
    )


def measured(folder: Path) -> dict[str, Any]:
    """What a build directory measured, as a facts.json that says nothing else of its machine."""
    found = of_build(folder)
    kept = {key: schema.load("facts")["properties"][key]["properties"] for key in ("gpu", "peaks")}
    return {"schema": 1} | {
        key: {k: v for k, v in found[key].items() if k in names} for key, names in kept.items()
    }


def of_build(folder: Path) -> dict[str, Any]:
    """env.json and peaks/<UUID>.json of a build directory, in the form of facts.json."""
    run = f"run ctest --preset {folder.name} -R '^kb.(env|peaks)$' on the machine with the GPU"
    env = _json(folder / "env.json", run)
    gpu = env.get("gpu") if isinstance(env, dict) else None
    if not isinstance(gpu, dict):
        raise ReportError(f"{folder / 'env.json'} names no GPU: {run}, or give a facts.json")
    uuid = str(gpu.get("uuid"))
    path = folder / "peaks" / f"{Path(uuid).name}.json"
    kept = _json(path, run)
    if not isinstance(kept, dict) or kept.get("gpu") != {k: gpu.get(k) for k in ("uuid", "driver")}:
        raise ReportError(f"{path} belongs to another GPU or driver than env.json: {run}")
    return _checked({"schema": 1, "gpu": gpu, "peaks": kept.get("peaks")}, path, run)


def _read(path: Path, remedy: str) -> dict[str, Any]:
    return _checked(_json(path, remedy), path, remedy)


def _json(path: Path, remedy: str) -> Any:
    try:
        return load.read_json(path)
    except FileNotFoundError:
        raise ReportError(f"{path} is missing: {remedy}") from None
    except BadFile as e:
        raise ReportError(f"{path} {e}: {remedy}") from None


def _checked(value: Any, path: Path, remedy: str) -> dict[str, Any]:
    errors = schema.check(value, "facts")
    if errors:
        raise ReportError(f"{path} does not hold the facts about a GPU ({errors[0]}): {remedy}")
    return value


def described(value: dict[str, Any]) -> dict[str, Any]:
    """The facts with what follows from them; limits of an unknown architecture are None."""
    gpu, peaks = value["gpu"], value["peaks"]
    arch = "sm_" + gpu["capability"].replace(".", "")
    sm = occupancy.multiprocessor(arch)
    moved = max(peaks[f"{how}_bytes_per_s"] for how in ("copy", "read", "write"))
    return {
        "name": one_line(gpu["name"]),
        "source": one_line(value["source"]) if "source" in value else None,
        "capability": gpu["capability"],
        "arch": arch,
        "sm_count": gpu["sm_count"],
        "l2_bytes": gpu["l2_bytes"],
        "memory_bytes": gpu["memory_bytes"],
        "read_bytes_per_s": peaks["read_bytes_per_s"],
        "write_bytes_per_s": peaks["write_bytes_per_s"],
        "copy_bytes_per_s": peaks["copy_bytes_per_s"],
        "fp32_flops_per_s": peaks["fp32_flops_per_s"],
        "tf32_flops_per_s": peaks.get("tf32_flops_per_s"),
        "flops_per_byte": peaks["fp32_flops_per_s"] / moved,
        "ms_per_gib": 1e3 * (1 << 30) / moved,
        "sm": sm and _limits(sm),
    }


def _limits(sm: occupancy.Multiprocessor) -> dict[str, Any]:
    """What one multiprocessor holds, and what a kernel may use to fill it."""
    threads = sm.warps * occupancy.WARP
    overhead = sm.shared_bytes - sm.shared_bytes_per_block
    return {
        "warps": sm.warps,
        "threads": threads,
        "blocks": sm.blocks,
        "registers": sm.registers,
        "shared_bytes": sm.shared_bytes,
        "shared_bytes_per_block": sm.shared_bytes_per_block,
        "shared_bytes_of_two_blocks": sm.shared_bytes // 2 - overhead,
        "shared_bytes_without_asking": SHARED_WITHOUT_ASKING,
        "registers_at_full_occupancy": sm.registers // threads,
    }
