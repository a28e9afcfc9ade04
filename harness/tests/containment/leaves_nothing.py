"""Judges a misbehaving candidate, looks for what it left behind, then judges a good one.

Takes the place of the process that adopts orphans, so that none of them can hide.
"""

import argparse
import ctypes
import json
import os
import pathlib
import subprocess
import sys

from processes import descendants, program

PR_SET_CHILD_SUBREAPER = 36
# Where programs leave files; candidates that try use this prefix.
FOLDERS = ("/tmp", "/var/tmp", "/dev/shm", "/")
PREFIX = "kb_adversary"


def programs() -> list[str]:
    """Returns the names of all programs below this process."""
    return sorted(name for pid in descendants(os.getpid()) if (name := program(pid)))


def files() -> list[str]:
    """Returns the files that candidates left in the usual places."""
    return [str(f) for folder in FOLDERS for f in pathlib.Path(folder).glob(PREFIX + "*")]


def states(manifest: pathlib.Path) -> dict[str, tuple[int, ...]]:
    """Returns mode, owner, size and time of what other candidates are built from and judged with."""
    build, source = manifest.parent, pathlib.Path(json.loads(manifest.read_text())["source_dir"])
    folders = [build / "bin", build / "lib", build / "modules", source / "candidates"]
    folders += [*source.glob("level*"), source / "harness"]
    found = {}
    for path in (p for folder in folders for p in folder.rglob("*") if p.suffix != ".pyc"):
        state = path.lstat()
        if path.is_file():
            found[str(path)] = (state.st_mode, state.st_uid, state.st_size, state.st_mtime_ns)
    return found


def shared_memory() -> set[str]:
    """Returns the System V segments of this machine."""
    return set(pathlib.Path("/proc/sysvipc/shm").read_text().splitlines())


def gpu_processes() -> set[str]:
    """Returns the processes that hold a GPU; none where there is no GPU."""
    try:
        done = subprocess.run(
            ["nvidia-smi", "--query-compute-apps=pid", "--format=csv,noheader"],
            check=False,
            capture_output=True,
            text=True,
        )
    except FileNotFoundError:
        return set()
    return set(done.stdout.split())


def judge(manifest: pathlib.Path, candidate: str) -> None:
    """Ends this program if the candidate's verdict is not the announced one."""
    script = pathlib.Path(__file__).parent.parent / "expect_verdict.py"
    command = [sys.executable, script, "--manifest", manifest, "--candidate", candidate]
    if subprocess.run(command, check=False).returncode != 0:
        sys.exit(f"{candidate} was not judged as announced")


def main() -> None:
    """Judges the first candidate, checks, judges the second."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--manifest", type=pathlib.Path, required=True)
    parser.add_argument("bad")
    parser.add_argument("good")
    args = parser.parse_args()

    if ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        sys.exit("cannot adopt orphans")
    segments, on_gpu, before = shared_memory(), gpu_processes(), states(args.manifest)
    judge(args.manifest, args.bad)
    after = states(args.manifest)
    for what, left in (
        ("changed files", [p for p in after | before if after.get(p) != before.get(p)]),
        ("processes", programs()),
        ("files", files()),
        ("shared memory", sorted(shared_memory() - segments)),
        ("GPU processes", sorted(gpu_processes() - on_gpu)),
    ):
        if left:
            sys.exit(f"{args.bad} left {what} behind: {', '.join(left)}")
    judge(args.manifest, args.good)


if __name__ == "__main__":
    main()
