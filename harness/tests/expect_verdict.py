"""Judges one candidate step by step and checks its verdict against what its source expects.

The expectation stands in the source as `// Expected: <verdict>`, or one for each backend:
`// Expected: skipped on cpu, pass on cuda`. Several verdicts that are equally right: `a or b`.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys


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


def main() -> None:
    """Runs build check, judge and timer as far as they go, then compares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--manifest", type=pathlib.Path, required=True)
    parser.add_argument("--candidate", required=True)
    args = parser.parse_args()

    manifest = json.loads(args.manifest.read_text())
    entry = next(c for c in manifest["candidates"] if c["name"] == args.candidate)
    source = pathlib.Path(manifest["source_dir"]) / entry["source"]
    expected = expected_verdicts(source, manifest["backend"])

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
    print(f"{args.candidate}: {result['verdict']} (expected {' or '.join(expected)})")
    print(result["evidence"])
    if result["verdict"] not in expected:
        sys.exit(1)
    if not result["evidence"]:
        sys.exit("the verdict comes without evidence")


if __name__ == "__main__":
    main()
