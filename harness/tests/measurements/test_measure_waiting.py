"""harness/lab/measure-waiting with a build and a ctest that only pretend."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[3]
CTEST = """#!/usr/bin/env bash
[ "$4" = '^seed\\.level1\\.019_relu\\.' ] || exit 3
echo '<testsuite><testcase name="seed.level1.019_relu.bench" time="2.00049"/></testsuite>' >"$6"
exit "${CTEST_STATUS:-0}"
"""


@pytest.fixture
def project(tmp_path):
    """A built preset `fake` with one task, and programs that stand in for CMake's."""
    (tmp_path / "harness/lab").mkdir(parents=True)
    shutil.copy(REPOSITORY / "harness/lab/measure-waiting", tmp_path / "harness/lab")
    for file in ("build/fake/manifest.json", "level1/019_relu/candidate.cu"):
        (tmp_path / file).parent.mkdir(parents=True)
        (tmp_path / file).touch()
    for name, text in (("cmake", "#!/bin/sh\n"), ("ctest", CTEST)):
        (tmp_path / "bin" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    return tmp_path


def measure(project, *arguments, **environment):
    return subprocess.run(
        [project / "harness/lab/measure-waiting", *arguments],
        cwd=project,
        env=os.environ | {"PATH": f"{project / 'bin'}:{os.environ['PATH']}"} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_line_for_each_task(project):
    os.utime(project / "level1/019_relu/candidate.cu", (0, 0))
    assert measure(project, "fake", "out.jsonl", "level1/019_relu").returncode == 0
    assert (project / "level1/019_relu/candidate.cu").stat().st_mtime > 0
    line = json.loads((project / "out.jsonl").read_text())
    assert line["task"] == "level1/019_relu" and line["status"] == 0
    assert line["tests"] == {"seed.level1.019_relu.bench": 2.0}
    assert line["build_s"] >= 0 and line["ctest_s"] >= 0


def test_a_kernel_that_does_not_pass_is_told(project):
    done = measure(project, "fake", "out.jsonl", "level1/019_relu", CTEST_STATUS="8")
    assert done.returncode == 1
    assert json.loads((project / "out.jsonl").read_text())["status"] == 8


def test_a_build_that_fails_says_why(project):
    said = "seq 50; echo 'x.cu: error: this is why'"
    (project / "bin/cmake").write_text(f"#!/bin/sh\n{said}\nexit 1\n")
    done = measure(project, "fake", "out.jsonl", "level1/019_relu")
    assert done.returncode == 1
    *first, why, last = done.stderr.splitlines()
    assert why == "x.cu: error: this is why" and len(first) == 39
    assert last == "seed.level1.019_relu does not build; its message is above"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fake", "out.jsonl"], "<levelN/NNN_slug>"),
        (["other", "out.jsonl", "level1/019_relu"], "build/other is not configured"),
        (["fake", "out.jsonl", "level1/999_none"], "there is no level1/999_none/candidate.cu"),
    ],
)
def test_what_is_not_there_is_named(project, arguments, message):
    done = measure(project, *arguments)
    assert done.returncode != 0 and message in done.stderr
