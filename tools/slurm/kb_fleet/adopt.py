"""Takes over results that other nodes wrote, if they belong to what this build folder holds."""

from __future__ import annotations

import dataclasses
import json
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kb_fleet.shards import harness_sha256
from kb_report import load, merge, pending, write
from kb_report.model import BAD_RESULT, JUDGED, SOURCE_CHANGED, STALE, Suite


@dataclass
class Adopted:
    """names: taken over. refused: why not, one sentence each."""

    names: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


def adopt(build_dir: Path, folders: list[Path], allow_mixed: bool) -> Adopted:
    """Copy results into the build folder, each at most once.

    folders: what nodes have left, each with env.json and results/ as in a build folder. A result
    counts if its module, task, harness, source and contract are those of this build folder; what is
    fresh here already is never replaced. Of several folders the first counts. Raises ReportError
    with status REFUSED, and copies nothing, where times of different machines would meet.
    """
    harness = harness_sha256(build_dir)
    here = load.load_build_dir(build_dir)
    env_is_ours = here.harness["sha256"] == harness
    done = {c["name"] for c in here.candidates if env_is_ours and not pending.is_pending(c)}
    manifest = load.read_json(build_dir / "manifest.json")
    found = Adopted()
    with tempfile.TemporaryDirectory(prefix="kb-adopt-") as temporary:
        taken: dict[Path, tuple[Suite, list[dict[str, Any]]]] = {}
        for number, folder in enumerate(folders):
            view = Path(temporary, str(number))
            if not _look(build_dir, folder, view, manifest):
                continue
            suite = load.load_build_dir(view)
            if suite.harness["sha256"] != harness:
                found.refused.append(f"{folder}: judged by another build of the harness")
                continue
            records = []
            for record in suite.candidates:
                why = _unfit(record)
                if why:
                    found.refused.append(f"{record['name']} in {folder}: {why}")
                elif not pending.is_pending(record) and record["name"] not in done:
                    records.append(record)
            done |= {record["name"] for record in records}
            if records:
                taken[view] = (suite, records)
        if not allow_mixed:
            _refuse_mixed([*taken.values(), *_same_runs(here, env_is_ours, taken)])
        by_name = {entry["name"]: entry for entry in manifest["candidates"]}
        for view, (_, records) in taken.items():
            for record in records:
                _copy(view, build_dir, by_name[record["name"]]["result"])
                found.names.append(record["name"])
        sources = load.sha256_file(build_dir / "sources.sha256")
        if taken and not (env_is_ours and here.harness["sources"] == sources):
            # A machine that only builds, without a GPU, cannot write its own.
            write.write_atomic(
                build_dir / "env.json", (next(iter(taken)) / "env.json").read_bytes()
            )
    return found


def _unfit(record: dict[str, Any]) -> str | None:
    """Why a result that a node has written does not belong here, or None."""
    if record["state"] in (STALE, BAD_RESULT):
        return record["reason"]
    if record["source_changed"]:
        return SOURCE_CHANGED
    # Here one without a hash may be of an earlier version; of a node it is of nobody knows what.
    hashes = (record["result"] or {}).get("hashes", {})
    needed = ("module", "source", "task", "harness") if record["state"] == JUDGED else ()
    missing = [key for key in needed if not hashes.get(key)]
    return f"it names no hash of its {missing[0]}" if missing else None


def _look(build_dir: Path, folder: Path, view: Path, manifest: dict[str, Any]) -> bool:
    """Make a build folder of this one's files and the node's results, which may still change.

    Returns whether there are any.
    """
    if not (folder / "env.json").is_file():
        return False
    there = [entry for entry in manifest["candidates"] if (folder / entry["result"]).is_file()]
    if not there:
        return False
    view.mkdir()
    for path in build_dir.iterdir():
        if path.name not in ("env.json", "manifest.json", "results", "validity"):
            (view / path.name).symlink_to(path.absolute())
    shutil.copyfile(folder / "env.json", view / "env.json")
    # A shard has a few of thousands of candidates.
    (view / "manifest.json").write_text(json.dumps(manifest | {"candidates": there}))
    for entry in there:
        _copy(folder, view, entry["result"], durable=False)
    return True


def _copy(source: Path, target: Path, result: str, durable: bool = True) -> None:
    """Copy a result and Google Benchmark's output beside it."""
    benchmarks = str(Path(result).with_suffix(".bench.json"))
    for path in (benchmarks, result):
        if (source / path).is_file():
            write.write_atomic(target / path, (source / path).read_bytes(), durable)


def _same_runs(
    here: Suite, env_is_ours: bool, taken: dict[Path, tuple[Suite, list[dict[str, Any]]]]
) -> list[tuple[Suite, list[dict[str, Any]]]]:
    """This build folder with its judged kernels of the runs that come in, if there are any."""
    runs = {record["run"] for _, records in taken.values() for record in records}
    judged = [c for c in here.candidates if c["run"] in runs and c["state"] == JUDGED]
    return [(here, judged)] if judged and env_is_ours else []


def _refuse_mixed(sides: list[tuple[Suite, list[dict[str, Any]]]]) -> None:
    """The rules of `kb-report merge` for results that will stand in one table."""
    suites = [
        dataclasses.replace(
            suite,
            candidates=records,
            # All are of the same programs; env.json may be older than the list of sources.
            harness={"sources": "the same"},
            machines={r["machine"]: suite.machines[r["machine"]] for r in records},
        )
        for suite, records in sides
    ]
    labels = [", ".join(sorted(suite.machines)) for suite in suites]
    mixed = merge.differences(suites, labels, same_machine=True) if suites else []
    if mixed:
        raise merge.refusal(mixed)
