"""Makes build directories with invented results for tests; never a source of published numbers."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import math
import random
import re
import zlib
from pathlib import Path
from typing import Any

from kb_report import metrics, schema, write
from kb_report.cli import main


def read_json(path: Path) -> Any:
    return json.loads(path.read_text())


FACTS = read_json(Path(__file__).resolve().parent.parent / "kb_report/data/tasks.json")
HARNESS = hashlib.sha256(b"harness").hexdigest()

KERNEL = """// {title}: one thread per element, grid-stride loop.
#include "task.h"

namespace {{

__global__ void {name}_kernel(const float* __restrict__ x, float* __restrict__ y, int64_t n) {{
  int64_t stride = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {{
    float v = x[i];
{body}
    y[i] = v;
  }}
}}

}}  // namespace

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {{
  int64_t n = s.batch_size * s.dim;
  int blocks = int((n + 255) / 256 < 4096 ? (n + 255) / 256 : 4096);
  {name}_kernel<<<blocks, 256, 0, stream>>>(x, y, n);
}}
"""

GPUS = {
    "h200": ("NVIDIA H200", 1.0, "9.0"),
    "l40s": ("NVIDIA L40S", 0.35, "8.9"),
}

EVIDENCE = {
    "incorrect": "Output y differs at set odd, index [3, 1021]: expected 0.731059, got 0.698112, "
    "allowed error 2.1e-06. 412 of 24591 elements are outside.",
    "compile_error": 'candidate.cu(14): error: identifier "__shfl_down_synch" is undefined',
    "runtime_error": "CUDA error 700 (an illegal memory access was encountered) in softmax_kernel "
    "at set smoke.",
    "timeout": "No answer within 10 s at set smoke, iteration 1; the runner was killed.",
    "cheat": "The output of call 7 of unit 12 was not written: the result of an earlier call was "
    "left in place.",
    "policy_violation": "The module needs cublasSgemm_v2, which a candidate may not call.",
    "skipped": "Needs 31.2 GiB of device memory, the GPU has 22.0 GiB.",
    "degenerate": "All-zero output is accepted at set full.",
}

DIAGNOSTICS = """candidate.cu(14): error: identifier "__shfl_down_synch" is undefined
      for (int o = 16; o > 0; o >>= 1) v += __shfl_down_synch(~0u, v, o);
                                            ^

candidate.cu(3): warning #177-D: variable "unused" was declared but never referenced
  int unused = 0;
      ^

Remark: The warnings can be suppressed with "-diag-suppress <warning-number>"

1 error detected in the compilation of "candidate.cu".
"""


def sha(text: str | bytes) -> str:
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def capability_digits(gpu: dict[str, Any] | None) -> str:
    return gpu["capability"].replace(".", "") if gpu else "90"


def tasks_of(level: int, count: int | None = None) -> list[str]:
    return [f["task"] for f in FACTS if f["level"] == level][:count]


class BuildDir:
    """A build directory on disk, written step by step.

    backend: cpu or cuda; gpu: a key of GPUS; levels: level -> task names.
    """

    def __init__(
        self,
        root: Path,
        backend: str = "cuda",
        gpu: str = "h200",
        levels: dict[int, list[str]] | None = None,
    ):
        self.root = root
        self.source_dir = root.parent / f"{root.name}-src"
        self.backend = backend
        self.levels = levels if levels is not None else {1: tasks_of(1, 4)}
        self.candidates: list[dict[str, Any]] = []
        self.runs: dict[str, dict[str, Any]] = {}
        name, self.scale, capability = GPUS[gpu]
        self.gpu = None
        if backend == "cuda":
            self.gpu = {
                "name": name, "uuid": "GPU-0", "capability": capability, "driver": "580.1",
                "cuda_runtime": "13.0", "sm_count": 132, "l2_bytes": 50 << 20,
                "memory_bytes": 141 << 30,
            }  # fmt: skip
        self.host = {
            "os": "Debian GNU/Linux 12", "kernel": "6.1", "cpu": "AMD EPYC 9654", "cores": 16,
            "memory_bytes": 128 << 30,
        }  # fmt: skip
        self.preset = root.name
        self.env: dict[str, Any] = {}  # what env.json is to say besides
        self.manifest: dict[str, Any] = {}  # and manifest.json

    def __str__(self) -> str:
        return str(self.root)

    def path(self, relative: str) -> Path:
        return self.root / relative

    def text(self, name: str = "index.html") -> str:
        """A file of the report."""
        return self.path(f"reports/{name}").read_text()

    def rows(self, name: str = "results.csv") -> list[dict[str, str]]:
        """A table of the report."""
        return list(csv.DictReader(io.StringIO(self.text(name))))

    def feedback(self, entry: dict[str, Any]) -> str:
        """What the report tells a generator about a candidate without samples."""
        return self.text(f"feedback/{entry['run']}/level{entry['level']}/{entry['task']}.md")

    def details(self, entry: dict[str, Any]) -> str:
        """The section of a candidate on the page."""
        packed = re.search(r'id="details">([^<]+)<', self.text()).group(1)
        return json.loads(zlib.decompress(base64.b64decode(packed)))[entry["name"]]

    def write(self, relative: str, value: Any) -> Path:
        path = self.path(relative)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value if isinstance(value, str) else json.dumps(value))
        return path

    def add(
        self, task: str, level: int = 1, run: str = "seed", sample: str | None = None, source=None
    ) -> dict[str, Any]:
        """Add a candidate with a module and a source, without a result."""
        parts = [p for p in (run, sample) if p]
        where = f"{'/'.join(parts)}/level{level}/{task}"
        entry = {
            "name": ".".join([*parts, f"level{level}", task]), "run": run, "sample": sample,
            "level": level, "task": task,
            "source": f"level{level}/{task}/candidate.cu" if run == "seed"
            else f"candidates/{where}.cu",
            "module": f"modules/{'/'.join(parts)}/level{level}.{task}.so",
            "build_json": f"obj/{where}.build.json", "result": f"results/{where}.json",
        }  # fmt: skip
        self.candidates.append(entry)
        self.write(entry["module"], f"module of {entry['name']}")
        self.library(task, level)
        text = source or KERNEL.format(title=task, name="k" + task[4:], body="    v = v * 2.0f;")
        path = self.source_dir / entry["source"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return entry

    def judged(
        self,
        task: str | int,
        verdict: str | None = "pass",
        speedup: float | None = None,
        changes: dict[str, Any] | None = None,
        **options: Any,
    ) -> dict[str, Any]:
        """Add a candidate with its result; a number is that of a task of level 1.

        changes: see change(); options: those of add() and result().
        """
        name = self.levels[1][task] if isinstance(task, int) else task
        of_add = {k: options.pop(k) for k in ("level", "run", "sample", "source") if k in options}
        entry = self.add(name, **of_add)
        self.result(entry, verdict, speedup, **options)
        self.change(entry, changes or {})
        return entry

    def fill(self, values: dict[int, Any], half: float = 0.02, **options: Any) -> BuildDir:
        """Add candidates of level 1: number of the task -> speed-up, verdict or None (no result)."""
        for i, value in values.items():
            if value is None:
                self.add(self.levels[1][i], **options)
            elif isinstance(value, str):
                self.judged(i, value, **options)
            else:
                self.judged(i, "pass", value, half=half, **options)
        return self

    def read(self, entry: dict[str, Any]) -> dict[str, Any]:
        """The result of a candidate."""
        return read_json(self.path(entry["result"]))

    def change(self, entry: dict[str, Any], changes: dict[str, Any]) -> None:
        """Change members of a result: path with dots -> value; objects get further members."""
        result = self.read(entry)
        for path, value in changes.items():
            *steps, name = (int(s) if s.isdecimal() else s for s in path.split("."))
            node = result
            for step in steps:
                node = node[step]
            old = node[name] if isinstance(node, list) else node.get(name)
            both = isinstance(value, dict) and isinstance(old, dict)
            node[name] = old | value if both else value
        self.write(entry["result"], result)

    def library(self, task: str, level: int) -> Path:
        return self.write(f"lib/tasks/level{level}.{task}.so", f"library of {task}")

    def result(
        self,
        entry: dict[str, Any],
        verdict: str | None = "pass",
        speedup: float | None = None,
        half: float = 0.02,
        stage: str | None = None,
        reference_ms: float = 1.0,
        **changes: Any,
    ) -> dict[str, Any]:
        """Write a result; verdict None: only built.

        `half`: half width of the interval as a share of the speed-up.
        """
        stage = stage or {
            None: "build", "pass": "bench" if speedup else "correct", "compile_error": "build",
            "policy_violation": "build", "cheat": "bench",
        }.get(verdict, "correct")  # fmt: skip
        ok = verdict != "compile_error"
        where = (entry["level"], entry["task"])
        categories = (f["category"] for f in FACTS if (f["level"], f["task"]) == where)
        hashes = {
            "module": sha(f"module of {entry['name']}") if ok else None,
            "source": sha((self.source_dir / entry["source"]).read_bytes()),
            "task": sha(f"library of {entry['task']}"),
            "harness": HARNESS,
        }
        kernel = {
            "kernel": f"k{entry['task'][4:]}_kernel(const float*, float*, long)",
            "arch": "sm_" + capability_digits(self.gpu), "registers": 32, "spill_stores_bytes": 0,
            "spill_loads_bytes": 0, "shared_bytes": 0, "stack_bytes": 0,
        }  # fmt: skip
        built = {
            "schema": 1, "status": "ok" if ok else "compile_error", "exit_code": 0 if ok else 1,
            "signal": None, "seconds": 1.31, "cpu_seconds": 1.2, "peak_bytes": 200 << 20,
            "diagnostics": "" if ok else DIAGNOSTICS, "object_bytes": 20_000,
            "cuda_syntax": "ok" if ok else "failed", "resources": [kernel] if ok else [],
        }  # fmt: skip
        value: dict[str, Any] = {
            "schema": 1,
            **{k: entry[k] for k in ("name", "run", "sample", "level", "task")},
            "category": next(categories, "Activation"), "backend": self.backend,
            "verdict": verdict, "stage": stage,
            "evidence": EVIDENCE.get(verdict, "All outputs are within their bounds."),
            "time": "2026-01-02T03:04:05Z", "hashes": hashes,
            "machine": {"host": self.host, "gpu": self.gpu}, "isolation": "basic",
            "build": built, "correctness": None, "timing": None,
        }  # fmt: skip
        if stage != "build":
            value["correctness"] = self._correctness(verdict)
        if speedup and verdict == "pass":
            value["timing"] = self._timing(entry["task"], speedup, half, reference_ms)
        value.update(changes)
        self.write(entry["result"], value)
        return value

    def _correctness(self, verdict: str | None) -> dict[str, Any]:
        output = {
            "name": "y", "shape": [16, 1536], "dtype": "float32", "error": 1.2e-7,
            "bound": 2.1e-6, "library_error": 2.4e-7, "max_abs_error": 1.2e-7, "elements": 24576,
        }  # fmt: skip
        checked = {
            "sizes": {"batch_size": 16, "dim": 1536}, "iterations": 5, "outputs": [output],
            "seconds": 0.2,
        }  # fmt: skip
        worst = {
            "set": "odd", "output": "y", "index": [3, 1021], "expected": 0.731059,
            "got": 0.698112, "bound": 2.1e-6, "reason": "value",
        }  # fmt: skip
        return {
            "contract": "fp32", "inputs": "default", "rng_seed": "1f",
            "sets": [{"set": name} | checked for name in ("smoke", "odd", "full")],
            "worst": worst if verdict == "incorrect" else None,
        }  # fmt: skip

    def _timing(self, task: str, speedup: float, half: float, ms: float) -> dict[str, Any]:
        lo, hi = speedup * (1 - half), speedup * (1 + half)
        outcome = metrics.Outcome(task, True, True, True, "pass", speedup, lo, hi)
        thresholds = (0.5, 0.8, 1, 1.5, 2)
        eager = {
            "reference_ms": ms, "candidate_ms": ms / speedup, "speedup": speedup, "ci_lo": lo,
            "ci_hi": hi, "confidence": 0.99, "blocks": 40, "mode": "graph",
            "verdict": {str(p): write.verdict_at(outcome, p) for p in thresholds},
        }  # fmt: skip
        seconds = {
            "start": 0.75, "inputs": 0.5, "reference": 1.0, "candidate": 0.25, "checks": 0.25
        }  # fmt: skip
        on_gpu = self.backend == "cuda"
        return {
            "functional": not on_gpu, "sizes": "full" if on_gpu else "smoke",
            "lanes": {"eager": eager}, "wall_seconds": seconds,
        }  # fmt: skip

    def validity(self, task: str, level: int = 1, **changes: Any) -> dict[str, Any]:
        """Write a task's record of kb_validity; by default it rejects everything."""
        program = self.write("bin/kb_validity", "the program")
        library = self.library(task, level)
        killed = {"name": "zeros", "fate": "killed", "error": 1.0, "bound": 1.9e-6}
        value = {
            "schema": 1, "level": level, "task": task, "category": "Activation", "set": "smoke",
            "inputs": "default", "rng_seed": "1", "killed": 19, "applicable": 19, "survivors": [],
            "equivalent": [], "degenerate": None, "canary": [], "mutants": [killed],
            "hashes": {"task": sha(library.read_bytes()), "program": sha(program.read_bytes())},
        } | changes  # fmt: skip
        self.write(f"validity/level{level}.{task}.json", value)
        return value

    def finish(self) -> Path:
        """Write manifest.json and env.json."""
        manifest = {
            "schema": 1, "preset": self.preset, "backend": self.backend,
            "source_dir": str(self.source_dir), "build_dir": str(self.root),
            "levels": {str(k): {"tasks": v} for k, v in self.levels.items()},
            "candidates": self.candidates, "runs": self.runs,
            "harness": ["bin/kb_runner", "lib/libkb_judge.so"],
        }  # fmt: skip
        env = {
            "schema": 1, "backend": self.backend, "time": "2026-01-02T03:00:00Z",
            "harness_version": "0.2.0", "harness_sha256": HARNESS, "torch": "2.11.0",
            "host": self.host, "gpu": self.gpu,
        }  # fmt: skip
        self.write("manifest.json", manifest | self.manifest)
        self.write("env.json", env | self.env)
        return self.root

    def report(self, *arguments: object, status: int = 0) -> dict[str, Any]:
        """Finish it and roll it up: what results.json says then."""
        command = ["rollup", "--build-dir", self.finish(), *arguments]
        assert main([str(a) for a in command]) == status
        doc = read_json(self.path("reports/results.json"))
        assert schema.check(doc, "results") == []
        return doc


def full_suite(
    root: Path,
    runs: tuple[str, ...] = ("seed",),
    gpu: str = "h200",
    backend: str = "cuda",
    rng_seed: int = 7,
    samples: tuple[str | None, ...] = (None,),
    every: int = 1,
) -> BuildDir:
    """All 270 tasks with plausible verdicts, times, resources and sources of realistic length.

    every: take only each n-th task.
    """
    facts = FACTS[::every]
    levels = {lv: [f["task"] for f in facts if f["level"] == lv] for lv in (1, 2, 3, 4)}
    build = BuildDir(root, backend, gpu, levels)
    for fact in facts:
        build.validity(fact["task"], fact["level"])
    for run in runs:
        skill = random.Random(f"{run}").uniform(-0.1, 0.25)
        for sample in samples:
            for fact in facts:
                rng = random.Random(f"{rng_seed}{run}{sample}{fact['task']}")
                if run != "seed" and rng.random() < 0.05 * fact["level"]:
                    continue
                _one(build, fact, run, sample, skill, rng)
    return build


def _samples(middle: float, half: float, count: int, rng: random.Random) -> list[float]:
    return [middle * math.exp(rng.gauss(0, half * 2)) for _ in range(count)]


def _one(build: BuildDir, fact: dict, run: str, sample: str | None, skill: float, rng) -> None:
    level, task = fact["level"], fact["task"]
    lines = rng.randint(6, 30) * (1 + 2 * (level > 2))
    body = "\n".join(
        f"    v = fmaf(v, {rng.uniform(0.5, 2):.6f}f, __expf(-v * {rng.uniform(0, 1):.4f}f));"
        for _ in range(lines)
    )
    source = KERNEL.format(title=task.replace("_", " "), name="k" + task[4:], body=body)
    entry = build.add(task, level, run, sample, source)
    roll = rng.random()
    bad = 0.0 if run == "seed" and roll > 0.04 else 0.12 + 0.08 * level
    if roll < bad:
        verdict = rng.choice(
            ["incorrect"] * 6 + ["compile_error"] * 5 + ["runtime_error"] * 3
            + ["timeout", "cheat", "policy_violation", "skipped", "degenerate"]
        )  # fmt: skip
        build.result(entry, verdict)
        return
    speedup = math.exp(rng.gauss(-0.35 + skill + 0.2 * (level == 2), 0.5))
    half = rng.choice([0.004, 0.008, 0.015, 0.04])
    noise = random.Random(f"{build.scale}{task}{run}").gauss(0, 0.1 if build.scale != 1 else 0.0)
    reference = math.exp(rng.gauss(0.3 + 0.3 * level, 0.9)) / build.scale
    value = build.result(entry, "pass", speedup * math.exp(noise), half, reference_ms=reference)
    lane = value["timing"]["lanes"]["eager"]
    lane["block_speedups"] = _samples(lane["speedup"], half, 40, rng)
    lane["pair_speedups"] = _samples(lane["speedup"], half, 5, rng)
    slower = lane["speedup"] * rng.uniform(0.6, 1.0)
    value["timing"]["lanes"]["graph"] = {
        **{k: v for k, v in lane.items() if k != "pair_speedups"},
        "block_speedups": _samples(slower, half, 40, rng),
        "reference_ms": lane["candidate_ms"] * slower,
        "speedup": slower,
        "ci_lo": slower * (1 - half),
        "ci_hi": slower * (1 + half),
        "verdict": None,
    }
    value["timing"]["speed_of_light"] = {
        "floor_ms": lane["candidate_ms"] * rng.uniform(0.2, 0.95),
        "bound": rng.choice(["memory", "memory", "compute"]),
        "fraction": 0.0,
    }
    sol = value["timing"]["speed_of_light"]
    sol["fraction"] = sol["floor_ms"] / lane["candidate_ms"]
    for r in value["build"]["resources"]:
        r["registers"] = rng.choice([16, 24, 32, 40, 64, 96, 128, 255])
        r["spill_stores_bytes"] = r["spill_loads_bytes"] = 48 if r["registers"] == 255 else 0
        r["shared_bytes"] = rng.choice([0, 0, 4096, 16384, 49152])
        r["tensor_core_instructions"] = rng.choice([0, 0, 0, 64])
        r["vector_load_instructions"] = rng.choice([0, 4, 8])
    value["build"]["seconds"] = round(rng.uniform(0.7, 2.9), 2)
    build.write(entry["result"], value)
