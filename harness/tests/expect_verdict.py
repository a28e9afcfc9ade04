"""Judges one candidate step by step and checks its verdict against what its source expects.

The expectation stands in the source as `// Expected: <verdict>`, or one for each backend:
`// Expected: skipped on cpu, pass on cuda`. Several verdicts that are equally right: `a or b`.
A line `// Prints: <text>` asks for that text in the log that the judge keeps; on the CPU backend
`// Warns: <text>` asks for a warning with it in the result, `// Says: <text>` for evidence with it,
`// Holds: <bytes>` for a record of a prepare() that holds as many, or more for alignment.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import time


def expected_verdicts(source: pathlib.Path, backend: str) -> list[str]:
    """Returns the verdicts that `source` allows on `backend`."""
    found = re.search(r"^// Expected: (.+?)\.?$", source.read_text(), re.MULTILINE)
    if not found:
        sys.exit(f"{source} has no line '// Expected: <verdict>'")
    for clause in found[1].split(","):
        verdicts, _, where = clause.strip().partition(" on ")
        if where in ("", backend):
            return verdicts.split(" or ")
    sys.exit(f"{source} expects nothing on backend {backend}")


def check_log(source: pathlib.Path, result: pathlib.Path) -> None:
    """Ends this program if what the candidate is known to print did not reach its log."""
    text = re.search(r"^// Prints: (.+)$", source.read_text(), re.MULTILINE)
    if not text:
        return
    log = result.with_suffix(".correct.log")
    if not log.exists() or text[1] not in log.read_text(errors="replace"):
        sys.exit(f"{log} does not show what the candidate printed: {text[1]}")


def check_warning(source: pathlib.Path, result: dict) -> None:
    """Ends this program if the warning that the candidate deserves is missing."""
    text = re.search(r"^// Warns: (.+)$", source.read_text(), re.MULTILINE)
    if not text or result["backend"] != "cpu":
        return
    if not any(text[1] in warning for warning in result["correctness"]["warnings"]):
        sys.exit(f"{result['name']}: no warning says: {text[1]}")


def check_evidence(source: pathlib.Path, result: dict) -> None:
    """Ends this program if the verdict comes without evidence, or without what it must say."""
    if not result["evidence"]:
        sys.exit("the verdict comes without evidence")
    text = re.search(r"^// Says: (.+)$", source.read_text(), re.MULTILINE)
    if text and result["backend"] == "cpu" and text[1] not in result["evidence"]:
        sys.exit(f"{result['name']}: the evidence does not say: {text[1]}")


def check_preparing(source: pathlib.Path, result: dict) -> None:
    """Ends this program if the record of what prepare() took and holds is missing or wrong."""
    if result["backend"] != "cpu" or not result["timing"]:
        return
    holds = re.search(r"^// Holds: (\d+)$", source.read_text(), re.MULTILINE)
    found = result["timing"]["prepare"]
    if not holds:
        return
    if found is None or found["ms"] <= 0:
        sys.exit(f"{result['name']}: no time of prepare() was recorded: {found}")
    if not int(holds[1]) <= found["bytes"] <= int(holds[1]) + 8192:
        sys.exit(f"{result['name']}: prepare() is said to hold {found['bytes']} bytes")


def append(log: pathlib.Path, result: dict, expected: list[str], seconds: float) -> None:
    """Adds a line of JSON; tests that run side by side write to the same file."""
    gpu = (result["machine"] or {}).get("gpu") or {}
    line = {
        "candidate": result["name"],
        "expected": expected,
        "verdict": result["verdict"],
        "stage": result["stage"],
        "evidence": result["evidence"][:200],
        "isolation": result["isolation"],
        "seconds": round(seconds, 2),
        "gpu": gpu.get("name"),
        "time": result["time"],
    }
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def main() -> None:
    """Runs build check, judge and timer as far as they go, then compares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--manifest", type=pathlib.Path, required=True)
    parser.add_argument("--candidate", required=True)
    parser.add_argument("--log", type=pathlib.Path, help="append the outcome to this file")
    args = parser.parse_args()

    manifest = json.loads(args.manifest.read_text())
    entry = next(c for c in manifest["candidates"] if c["name"] == args.candidate)
    source = pathlib.Path(manifest["source_dir"]) / entry["source"]
    expected = expected_verdicts(source, manifest["backend"])

    started = time.monotonic()
    bin_dir = args.manifest.parent / "bin"
    task = f"level{entry['level']}.{entry['task']}"
    for program in ("kb_check_build", f"{task}.test", f"{task}.bench"):
        command = [bin_dir / program, "--manifest", args.manifest, "--candidate", args.candidate]
        done = subprocess.run(command, check=False)
        if done.returncode not in (0, 1, 77):
            sys.exit(f"{program} ended with {done.returncode}: a fault of the harness")
        if done.returncode != 0:
            break

    result = json.loads((args.manifest.parent / entry["result"]).read_text())
    if args.log:
        append(args.log, result, expected, time.monotonic() - started)
    print(f"{args.candidate}: {result['verdict']} (expected {' or '.join(expected)})")
    print(result["evidence"])
    if result["verdict"] not in expected:
        sys.exit(1)
    check_log(source, args.manifest.parent / entry["result"])
    check_warning(source, result)
    check_evidence(source, result)
    check_preparing(source, result)


if __name__ == "__main__":
    main()
