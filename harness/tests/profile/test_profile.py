"""kb_profile with a stand-in for ncu, on a kernel that the real judge has passed."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

BUILD_DIR = Path(os.environ["KB_BUILD_DIR"])
CANDIDATE = "seed.level1.019_relu"

# Writes a table of one launch where it is told to, and runs what it is told to watch.
WATCHES = """#!/bin/sh
while [ $# -gt 0 ]; do
  case $1 in --log-file) table=$2; shift ;; --manifest) break ;; esac
  last=$1; shift
done
printf '%s\\n' '"ID","Kernel Name","gpu__time_duration.sum"' '"","","ns"' '"0","relu(float*)","2000"' > "$table"
exec "$last" "$@"
"""
MAY_NOT = """#!/bin/sh
echo '==ERROR== ERR_NVGPUCTRPERM - The user does not have permission'
exit 1
"""


class Tree:
    """A build folder with one candidate, whose programs are those of the real one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("bin", "lib", "env.json", "sources.sha256"):
            (folder / name).symlink_to(BUILD_DIR / name)
        manifest = json.loads((BUILD_DIR / "manifest.json").read_text())
        entry = next(c for c in manifest["candidates"] if c["name"] == CANDIDATE)
        entry["module"] = str(BUILD_DIR / entry["module"])
        entry["build_json"] = str(BUILD_DIR / entry["build_json"])
        entry["result"] = "result.json"
        manifest["candidates"] = [entry]
        (folder / "manifest.json").write_text(json.dumps(manifest))

    def run(self, program: str, *more: str) -> subprocess.CompletedProcess[str]:
        words = [self.folder / "bin" / program, "--manifest", self.folder / "manifest.json"]
        return subprocess.run(
            [*words, "--candidate", CANDIDATE, *more], capture_output=True, text=True, check=False
        )

    def profile(self, ncu: str) -> subprocess.CompletedProcess[str]:
        program = self.folder / "ncu"
        program.write_text(ncu)
        program.chmod(0o755)
        return self.run("kb_profile", "--ncu", str(program))

    def result(self) -> dict:
        return json.loads((self.folder / "result.json").read_text())


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    tree = Tree(tmp_path)
    for program in ("kb_check_build", "level1.019_relu.test"):
        done = tree.run(program)
        assert done.returncode == 0, done.stdout + done.stderr
    return tree


def test_what_the_profiler_saw_stands_in_the_result(tree: Tree) -> None:
    before = tree.result()
    done = tree.profile(WATCHES)
    assert done.returncode == 0, done.stdout + done.stderr
    after = tree.result()
    assert after["profile"]["reason"] is None
    assert [k["name"] for k in after["profile"]["kernels"]] == ["relu(float*)"]
    assert {k: after[k] for k in ("verdict", "stage", "evidence", "hashes")} == {
        k: before[k] for k in ("verdict", "stage", "evidence", "hashes")
    }
    assert "1 kernels" in done.stdout


def test_without_the_right_the_result_says_why(tree: Tree) -> None:
    done = tree.profile(MAY_NOT)
    assert done.returncode == 77, done.stdout + done.stderr
    assert "performance counters" in tree.result()["profile"]["reason"]
    assert tree.result()["verdict"] == "pass"


def test_a_profiler_that_is_not_there_is_told(tree: Tree) -> None:
    done = tree.run("kb_profile", "--ncu", str(tree.folder / "nothing"))
    assert done.returncode == 77
    assert tree.result()["profile"]["reason"]


def test_only_what_has_passed_is_watched(tree: Tree) -> None:
    result = tree.result()
    result["verdict"] = "incorrect"
    (tree.folder / "result.json").write_text(json.dumps(result))
    done = tree.profile(WATCHES)
    assert done.returncode == 77 and "not profiled" in done.stdout
    assert "profile" not in tree.result()
