"""harness/lab/measure-timing with benches that only pretend."""

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[3]
BENCH = """#!/usr/bin/env bash
while [ $# -gt 1 ]; do
  case $1 in --report) report=$2 ;; --candidate) candidate=$2 ;; esac
  shift
done
echo "{\\"candidate\\": \\"$candidate\\", \\"identical\\": true, \\"lanes\\": {}}" >>"$report"
"""


@pytest.fixture
def project(tmp_path):
    """A built preset `fake` with two tasks, and two GPUs."""
    (tmp_path / "harness/lab").mkdir(parents=True)
    shutil.copy(REPOSITORY / "harness/lab/measure-timing", tmp_path / "harness/lab")
    (tmp_path / "reports").symlink_to(REPOSITORY / "reports")
    build = tmp_path / "build/fake"
    for folder in ("bin", "modules/seed"):
        (build / folder).mkdir(parents=True)
    for task in ("level1.019_relu", "level1.021_sigmoid"):
        (build / f"modules/seed/{task}.so").touch()
        bench = build / f"bin/{task}.bench"
        bench.write_text(BENCH)
        bench.chmod(0o755)
    gpus = [{"id": "a", "slots": 1}, {"id": "b", "slots": 1}]
    (build / "gpus.json").write_text(json.dumps({"local": [{"gpus": gpus}]}))
    return tmp_path


def lines(project):
    return (project / "out.jsonl").read_text().splitlines()


def measure(project, processes):
    tool = [project / "harness/lab/measure-timing", "fake", "out.jsonl", str(processes)]
    subprocess.run(tool, check=True, capture_output=True)


def test_every_pair_is_timed_and_what_is_there_counts(project):
    names = ["seed.level1.019_relu", "seed.level1.021_sigmoid"]
    for processes in (2, 2, 3):
        measure(project, processes)
        found = [json.loads(line)["candidate"] for line in lines(project)]
        assert sorted(found) == sorted(names * processes)


def test_a_run_may_be_called_like_a_level(project):
    (project / "build/fake/modules/nextlevel").mkdir()
    (project / "build/fake/modules/nextlevel/level1.019_relu.so").touch()
    tool = [project / "harness/lab/measure-timing", "fake", "out.jsonl", "1", "nextlevel"]
    subprocess.run(tool, check=True, capture_output=True)
    found = [json.loads(line)["candidate"] for line in lines(project)]
    assert found == ["nextlevel.level1.019_relu"]


def test_ctrl_c_leaves_nothing_behind(project):
    tool = subprocess.Popen(
        [project / "harness/lab/measure-timing", "fake", "out.jsonl", "100000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        # What a shell has started in the background ignores it, and so would the tool.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while not (project / "out.jsonl").exists() or len(lines(project)) < 4:
        assert tool.poll() is None
    os.killpg(tool.pid, signal.SIGINT)
    tool.communicate()
    timed = len(lines(project))
    deadline = time.monotonic() + 60  # what lists the pairs ends when it finds nobody to read them
    while is_alive(tool.pid):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert len(lines(project)) == timed


def is_alive(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
