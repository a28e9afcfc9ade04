"""Reads a build directory: manifest, environment and every result, naming whatever is bad."""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import stat
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kb_report import schema
from kb_report.model import (
    BAD_RESULT,
    BUILT_ONLY,
    JUDGED,
    NO_RESULT,
    SOURCE_CHANGED,
    STALE,
    VALIDITY_KEYS,
    BadReport,
    Problem,
    Suite,
    candidate_key,
    candidate_name,
    category,
    cut,
    machine_key,
)

SCHEMA_VERSION = 1
# Results are written where candidates run. A report has 13.5 kB for each of up to 100,000 kernels.
MAX_JSON_BYTES = 64 << 20
MAX_REPORT_BYTES = 4 << 30
# Where an interval has no width, its limits and the estimate may differ by what rounding leaves.
ROUNDING = 1e-9


class BadFile(Exception):
    """A JSON file that cannot be used. kind is one of those of `Problem`."""

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.kind = kind


def _finite(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None


def parse(text: str) -> Any:
    """The value of a JSON text. Raises ValueError and RecursionError.

    NaN and Infinity are no JSON; as null they meet the schema's rules. So do numbers that no double
    holds.
    """
    return json.loads(
        text,
        parse_constant=lambda _: None,
        parse_float=_finite,
        parse_int=lambda s: int(s) if len(s) <= 20 else _finite(s),
    )


def read_json(path: Path, limit: int = MAX_JSON_BYTES) -> Any:
    """Parse a JSON file of at most `limit` bytes, compressed if its name ends in .gz.

    Raises BadFile (empty, truncated, not_json, unreadable) and FileNotFoundError.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            # Opening a pipe would wait for its other end.
            raise BadFile("unreadable", "is no regular file")
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as f:
            data = bytearray()
            # In parts: one read of the limit would ask for that much memory.
            while len(data) <= limit and (part := f.read(1 << 24)):
                data += part
        if len(data) > limit:
            raise BadFile("unreadable", f"is larger than {limit >> 20} MiB")
        text = data.decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(path) from None
    except UnicodeDecodeError:
        raise BadFile("not_json", "is not UTF-8 text") from None
    except (EOFError, zlib.error):
        raise BadFile("truncated", "ends in the middle (truncated)") from None
    except gzip.BadGzipFile:
        raise BadFile("not_json", "is not compressed, as its name says") from None
    except OSError as e:
        raise BadFile("unreadable", f"cannot be read: {e.strerror}") from None
    if not text.strip():
        raise BadFile("empty", "is empty")
    try:
        return parse(text)
    except json.JSONDecodeError as e:
        if e.pos >= len(text.rstrip()) or e.msg.startswith("Unterminated string"):
            raise BadFile("truncated", "ends in the middle (truncated)") from None
        raise BadFile("not_json", f"is not JSON: {e.msg} in line {e.lineno}") from None
    except (RecursionError, ValueError):
        raise BadFile("not_json", "is nested too deeply or has a number too long") from None


def checked(value: Any, schema_name: str, what: str) -> dict[str, Any]:
    """Check a parsed file against `reports/schema/<schema_name>.schema.json` and return it.

    Raises BadFile; `what` names the kind of file in messages.
    """
    if not isinstance(value, dict) or "schema" not in value:
        raise BadFile("foreign", f"is not {what}: it names no schema version")
    version = value["schema"]
    if isinstance(version, bool) or not isinstance(version, int):
        raise BadFile("foreign", f"is not {what}: its schema version is no number")
    if version != SCHEMA_VERSION:
        age = "older" if version < SCHEMA_VERSION else "newer"
        raise BadFile(
            "schema",
            f"has schema {version}, {age} than the {SCHEMA_VERSION} that this program reads",
        )
    errors = schema.check(value, schema_name)
    if errors:
        kind = "invalid"
        if schema_name == "result" and ("name" not in value or "verdict" not in value):
            kind = "foreign"
        raise BadFile(kind, f"is not {what}: {errors[0]}")
    return value


def read_checked(path: Path, schema_name: str, what: str) -> dict[str, Any]:
    """read_json() and checked() in one. Raises BadFile and FileNotFoundError."""
    return checked(read_json(path), schema_name, what)


def sha256_file(path: Path) -> str | None:
    """Hex digest of a file; None if it is missing or unreadable."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as f:
            while block := f.read(1 << 20):
                digest.update(block)
        return digest.hexdigest()
    except OSError:
        return None


@dataclass(frozen=True)
class Current:
    """What the build directory holds now: a result that was made from anything else is stale.

    harness: hash of the programs that judge here; None if unknown.
    contract, sizes: precision contract and full sizes that are configured; None if the manifest does
    not say.
    """

    build_dir: Path
    source_dir: Path | None
    harness: str | None
    contract: str | None = None
    sizes: str | None = None
    _libraries: dict[str, str | None] = field(default_factory=dict)

    def source(self, entry: dict[str, Any]) -> Path | None:
        """The candidate's source file, where sources are at hand."""
        return self.source_dir / entry["source"] if self.source_dir else None

    def library(self, level: int, task: str) -> str | None:
        """Hash of a task's library; None if it is missing."""
        name = f"level{level}.{task}"
        if name not in self._libraries:
            self._libraries[name] = sha256_file(self.build_dir / f"lib/tasks/{name}.so")
        return self._libraries[name]

    def why_stale(self, value: Any, entry: dict[str, Any]) -> str | None:
        """Why a result may not enter a table, or None if it is fresh.

        Asked before anything else about the file but its name, so that whatever an older version
        of the programs wrote is stale and no bad input. A value without hashes is not stale.
        """
        hashes = value.get("hashes") if isinstance(value, dict) else None
        if not isinstance(hashes, dict):
            return None
        module = sha256_file(self.build_dir / entry["module"])
        if module is None:
            return "module missing: rebuild"
        if hashes.get("module", module) is None:
            # Nothing was loaded (a compile error, for example): the source stands for the module.
            source = self.source(entry)
            now = sha256_file(source) if source else None
            if now and hashes.get("source") not in (None, now):
                return SOURCE_CHANGED
        elif hashes.get("module", module) != module:
            return "rebuilt: judge again"
        if self._failed_again(value.get("build"), entry):
            return "rebuilt: judge again"
        if hashes.get("task") not in (None, self.library(entry["level"], entry["task"])):
            return "task changed: judge again"
        if self.harness is None:
            return "env.json is missing: run the test kb.env"
        if hashes.get("harness", self.harness) != self.harness:
            return "harness changed: judge again"
        correctness = value.get("correctness")
        contract = correctness.get("contract") if isinstance(correctness, dict) else None
        if contract and self.contract and contract != self.contract:
            return f"judged under the contract {contract}, not {self.contract}: judge again"
        scaled = _scaled_to(value)
        if self.sizes and scaled - {self.sizes}:
            return f"judged at sizes for {max(scaled)}, not {self.sizes}: judge again"
        return None

    def _failed_again(self, judged: Any, entry: dict[str, Any]) -> bool:
        """Whether a build that failed was repeated since; every failure has the same stub as module.

        Told by what it took: in texts a result has shorter paths.
        """
        if not isinstance(judged, dict) or judged.get("status") in (None, "ok"):
            return False
        try:
            now = read_json(self.build_dir / entry["build_json"])
        except (KeyError, FileNotFoundError, BadFile):
            return False
        keys = ("status", "seconds", "cpu_seconds", "peak_bytes")
        return isinstance(now, dict) and any(judged.get(k) != now.get(k) for k in keys)


def _scaled_to(result: dict[str, Any]) -> set[str]:
    """The KB_SIZES that scaled sizes of a result down: what follows the @ of full@24g."""
    correctness, timing = result.get("correctness"), result.get("timing")
    sets = correctness.get("sets") if isinstance(correctness, dict) else None
    names = [s.get("set") for s in sets if isinstance(s, dict)] if isinstance(sets, list) else []
    names.append(timing.get("sizes") if isinstance(timing, dict) else None)
    return {name.partition("@")[2] for name in names if isinstance(name, str)} - {""}


def load_build_dir(build_dir: Path) -> Suite:
    """Read everything that a build directory holds.

    Raises BadReport when there is no usable manifest.json; every other bad file becomes an
    entry of `problems` and its candidate stays in the tables as not judged.
    """
    manifest = _load_manifest(build_dir)
    problems: list[Problem] = []
    env = _load_env(build_dir, manifest["backend"], problems)
    current = Current(
        build_dir,
        _source_dir(manifest, build_dir),
        env["harness_sha256"] if env else None,
        manifest.get("contract"),
        manifest.get("sizes"),
    )
    suite = Suite(
        backend=manifest["backend"],
        preset=manifest["preset"],
        levels=_levels(manifest, problems),
        candidates=[],
        runs_info=manifest.get("runs", {}),
        harness=_harness_of_env(env),
        machine=_machine_of_env(env),
        problems=problems,
        tree=current.source_dir,
        build_dir=build_dir,
    )
    entries = _entries(manifest, suite)
    suite.candidates = [_load_candidate(entry, current, suite) for entry in entries]
    suite.candidates.sort(key=candidate_key)
    _note_choice(manifest, suite)
    _check_leftovers(build_dir, manifest, suite, {entry["name"] for entry in entries})
    _note_changes(suite)
    _load_validity(current, suite)
    _note_machines(suite)
    return suite


def _load_manifest(build_dir: Path) -> dict[str, Any]:
    path = build_dir / "manifest.json"
    try:
        return read_checked(path, "manifest", "a manifest")
    except FileNotFoundError:
        why = (
            "is missing: name a folder build/<preset>, or configure first (cmake --preset <preset>)"
        )
        raise BadReport("unreadable", path, why) from None
    except BadFile as e:
        raise BadReport(e.kind, path, f"{e}; configure again") from None


def _levels(manifest: dict[str, Any], problems: list[Problem]) -> dict[int, list[str]]:
    """The tasks of each level; one that is named twice is a problem and counts once."""
    levels: dict[int, list[str]] = {}
    for key, level in manifest["levels"].items():
        levels[int(key)] = tasks = sorted(set(level["tasks"]))
        if len(tasks) != len(level["tasks"]):
            message = f"names a task of level {key} twice"
            problems.append(Problem("duplicate", "manifest.json", message))
    return dict(sorted(levels.items()))


def _entries(manifest: dict[str, Any], suite: Suite) -> list[dict[str, Any]]:
    """The candidates of the manifest that can be; the others become problems."""
    found: dict[str, dict[str, Any]] = {}
    slots: set[tuple[Any, ...]] = set()
    for entry in manifest["candidates"]:
        slot = (entry["run"], entry["sample"], entry["level"], entry["task"])
        name, right = entry["name"], candidate_name(entry)
        problem = None
        if name in found or slot in slots:
            problem = ("duplicate", f"names the candidate {name} twice")
        elif name != right:
            problem = ("invalid", f"names a candidate {name} that should be {right}")
        elif entry["task"] not in suite.levels.get(entry["level"], []):
            problem = ("foreign", f"candidate {name} belongs to no task of level {entry['level']}")
        if problem:
            suite.problems.append(Problem(problem[0], "manifest.json", problem[1]))
            continue
        found[name] = entry
        slots.add(slot)
    return list(found.values())


def _note_choice(manifest: dict[str, Any], suite: Suite) -> None:
    chosen = manifest.get("chosen_tasks", "*")
    if chosen != "*":
        suite.notes.append(
            f"only the tasks of -DKB_TASKS='{chosen}' are configured: N counts these, not the "
            "whole of a level"
        )


def _note_changes(suite: Suite) -> None:
    changed = [c["name"] for c in suite.candidates if c["source_changed"]]
    if changed:
        suite.named[
            "the source of {} candidate(s) is no longer the one that was judged (build and judge again)"
        ] = changed


def _note_machines(suite: Suite) -> None:
    if len(suite.machines) > 1:
        suite.notes.append(
            "results of different machines are in these tables: "
            + "; ".join(sorted(suite.machines))
        )


def _load_env(build_dir: Path, backend: str, problems: list[Problem]) -> dict[str, Any] | None:
    """env.json; None, and a problem, where it is of no use: then every result is stale."""

    def bad(kind: str, message: str) -> None:
        problems.append(Problem(kind, "env.json", message))

    try:
        env = read_checked(build_dir / "env.json", "env", "an environment file")
    except FileNotFoundError:
        bad(
            "unreadable",
            "is missing, so no result can be shown to belong to this harness; run the test kb.env",
        )
        return None
    except BadFile as e:
        bad(e.kind, f"{e}; run the test kb.env again")
        return None
    if env["backend"] != backend:
        bad(
            "foreign",
            f"was written for backend {env['backend']}, the manifest says {backend}; its results "
            "count as stale",
        )
        return None
    return env


def _harness_of_env(env: dict[str, Any] | None) -> dict[str, Any]:
    env = env or {}
    return {
        "version": env.get("harness_version"),
        "sha256": env.get("harness_sha256"),
        "sources": env.get("sources_sha256"),
    }


def _machine_of_env(env: dict[str, Any] | None) -> dict[str, Any]:
    env = env or {}
    return {"host": env.get("host"), "gpu": env.get("gpu"), "torch": env.get("torch")}


def _source_dir(manifest: dict[str, Any], build_dir: Path) -> Path | None:
    """Where sources are: as configured, or two above a build tree that was moved."""
    for path in (manifest.get("source_dir"), build_dir.resolve().parent.parent):
        if path and any((Path(path) / c["source"]).is_file() for c in manifest["candidates"][:20]):
            return Path(path)
    return None


def _load_candidate(entry: dict[str, Any], current: Current, suite: Suite) -> dict[str, Any]:
    source = current.source(entry)
    record: dict[str, Any] = {
        **{k: entry[k] for k in ("name", "run", "sample", "level", "task")},
        "category": category(entry),
        "source": entry["source"],
        "state": NO_RESULT,
        "reason": None,
        "machine": None,
        "result": None,
        "source_text": read_text(source) if source else None,
        "source_changed": False,
    }
    try:
        value = read_json(current.build_dir / entry["result"])
        _check_name(value, entry)
        stale = current.why_stale(value, entry)
        if stale:
            return record | {"state": STALE, "reason": stale}
        result = checked(value, "result", "a result")
        _check_claims(result, entry, suite.backend)
    except FileNotFoundError:
        return record | {"reason": "no result file"}
    except BadFile as e:
        suite.problems.append(Problem(e.kind, entry["result"], str(e)))
        return record | {"state": BAD_RESULT, "reason": f"the result file {e}"}

    _shorten_samples(result)
    machine = {**(result.pop("machine", None) or {}), "torch": suite.machine.get("torch")}
    key = machine_key(machine)
    suite.machines.setdefault(key, machine)
    said = result["hashes"].get("source")
    record |= {
        "category": result.get("category") or record["category"],
        "state": JUDGED,
        "machine": key,
        "result": result,
        "source_changed": bool(source and said and sha256_file(source) not in (None, said)),
    }
    if result["verdict"] is None:
        record |= {"state": BUILT_ONLY, "reason": "it compiled; its outputs were not checked yet"}
    return record


def _shorten_samples(result: dict[str, Any]) -> None:
    """Six digits of each sample: more are noise, and there are hundreds in a result."""
    for lane in ((result["timing"] or {}).get("lanes") or {}).values():
        for key in ("block_speedups", "pair_speedups"):
            if lane.get(key):
                lane[key] = [float(f"{v:.6g}") for v in lane[key]]


def read_text(path: Path, limit: int = 1 << 20) -> str | None:
    """The start of a text file; None if it cannot be read."""
    try:
        with path.open("rb") as f:
            return f.read(limit).decode("utf-8", "replace")
    except OSError:
        return None


def _check_name(value: Any, entry: dict[str, Any]) -> None:
    """Raise BadFile if a result names another candidate than the one whose place it has.

    Asked before its age: such a file was put there, and a stale one would not be noticed. What has
    another schema may name candidates in another way.
    """
    if not isinstance(value, dict) or value.get("schema") != SCHEMA_VERSION:
        return
    name = value.get("name")
    if isinstance(name, str) and name != entry["name"]:
        raise BadFile("foreign", f"belongs to another candidate: name is {json.dumps(name)}")


def _check_claims(result: dict[str, Any], entry: dict[str, Any], backend: str) -> None:
    """Raise BadFile if the result speaks about another candidate, or contradicts itself."""
    for key in ("run", "sample", "level", "task"):
        if result[key] != entry[key]:
            raise BadFile(
                "foreign", f"belongs to another candidate: {key} is {json.dumps(result[key])}"
            )
    if result["backend"] != backend:
        raise BadFile("foreign", f"was written by backend {result['backend']}")
    wrong = contradiction(result)
    if wrong:
        raise BadFile("invalid", wrong)


def contradiction(result: dict[str, Any]) -> str | None:
    """What cannot be true of a result that its schema accepts, as a part of a sentence."""
    if result["stage"] == "build" and result["verdict"] == "pass":
        return "says pass although its outputs were not checked"
    if result["stage"] != "build" and result["verdict"] is None:
        return f"has no verdict although its stage is {result['stage']}"
    for lane, t in ((result["timing"] or {}).get("lanes") or {}).items():
        speedup, lo, hi = t["speedup"], t["ci_lo"], t["ci_hi"]
        # Too few blocks leave the interval open on both sides, as 0 and null.
        if hi is None and lo == 0:
            continue
        if lo <= 0:
            return f"has an interval from {lo:g} in lane {lane}"
        if hi is not None and lo > hi:
            return f"has an interval that ends before it begins in lane {lane}"
        if lo > speedup * (1 + ROUNDING) or (hi is not None and hi < speedup * (1 - ROUNDING)):
            return f"has a speed-up outside its interval in lane {lane}"
    return None


def _load_validity(current: Current, suite: Suite) -> None:
    """Read what kb_validity says about the tasks; a task without a record is no problem."""
    program = sha256_file(current.build_dir / "bin/kb_validity")
    stale = []
    for level, tasks in suite.levels.items():
        for task in tasks:
            shown = f"validity/level{level}.{task}.json"
            try:
                record = read_checked(
                    current.build_dir / shown, "validity", "a record of task validity"
                )
                if (record["level"], record["task"]) != (level, task):
                    raise BadFile("foreign", "belongs to another task")
                if record["killed"] + len(record["survivors"]) != record["applicable"]:
                    raise BadFile("invalid", "contradicts itself: its numbers do not add up")
            except FileNotFoundError:
                continue
            except BadFile as e:
                suite.problems.append(Problem(e.kind, shown, str(e)))
                continue
            if record["hashes"] == {"task": current.library(level, task), "program": program}:
                suite.validity.append({k: record[k] for k in VALIDITY_KEYS})
            else:
                stale.append(task)
    if stale:
        suite.notes.append(
            f"the validity of {len(stale)} task(s) was assessed before they or the rule changed "
            f"and is left out (ctest -L validity assesses it): {cut(stale)}"
        )


def _check_leftovers(
    build_dir: Path, manifest: dict[str, Any], suite: Suite, names: set[str]
) -> None:
    """Name the JSON files below results/ that no candidate of the manifest owns."""
    owned = {(build_dir / c["result"]).resolve() for c in manifest["candidates"]}
    leftovers = []
    for path in sorted((build_dir / "results").rglob("*.json")):
        # Google Benchmark's output lies next to the results; nothing here is made from it.
        if path.resolve() in owned or path.name.endswith(".bench.json"):
            continue
        shown = str(path.relative_to(build_dir))
        try:
            value = read_checked(path, "result", "a result")
        except FileNotFoundError:
            continue  # replaced while we looked
        except BadFile as e:
            suite.problems.append(Problem(e.kind, shown, str(e)))
            continue
        if value["name"] in names:
            suite.problems.append(
                Problem("duplicate", shown, f"is a second result of {value['name']}; not used")
            )
        else:
            leftovers.append(value["name"])
    if leftovers:
        suite.named["{} result(s) of candidates that are not configured were left out"] = leftovers
