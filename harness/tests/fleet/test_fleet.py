"""tools/fleet: nothing is lost, nothing is judged or counted twice, whatever becomes of nodes."""

import json
import os
import pathlib
import signal
import subprocess
from collections.abc import Iterator

import pytest
from checkout import PRESET, RIGHT, WRONG
from conftest import Cluster, Fleet
from processes import wait_until

BOTH = {RIGHT: "pass", WRONG: "incorrect"}


@pytest.mark.parametrize("ship", ["folder", "tarball"])
def test_a_run_is_judged_once_on_the_nodes(fleet: Fleet, ship: str, tmp_path: pathlib.Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    fleet.cluster.ask("scontrol", "update", "PartitionName=all", "State=DOWN")
    where = ["--share", str(shared)] if ship == "tarball" else []
    said = fleet.submit("--ship", ship, *where, "--shards", "2", "--gres", "gpu:1")
    assert "2 kernel(s) in 2 shard(s)" in said
    assert fleet.submit() == "fleet: nothing to submit: 2 already with a job"
    assert fleet.place().is_relative_to(shared if ship == "tarball" else fleet.build)
    status = fleet.fleet("status", PRESET).stdout
    assert status.count("PENDING") == 2 and "0 of 2 kernels are judged" in status

    elsewhere = fleet.root / "elsewhere"
    if ship == "tarball":  # nodes need nothing of the checkout
        hidden = [fleet.build / name for name in ("bin", "lib", "modules", "CMakeFiles")]
        hidden += [fleet.root / name for name in ("reports", "tools", "candidates")]
        elsewhere.mkdir()
        for path in hidden:
            path.rename(elsewhere / path.name)
    fleet.cluster.ask("scontrol", "update", "PartitionName=all", "State=UP")
    wait_until(lambda: fleet.cluster.ask("squeue", "-h") == "")
    if ship == "tarball":
        for path in hidden:
            (elsewhere / path.name).rename(path)

    assert fleet.fleet("status", PRESET).stdout.count(" done") == 2
    done = fleet.fleet("collect", "--wait", PRESET)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "examples: 1 of 2 submitted kernels is right"
    assert fleet.verdicts() == BOTH
    before = {task: fleet.result(task).stat().st_mtime_ns for task in BOTH}
    # Whoever asks again, here or there, judges nothing.
    assert fleet.submit() == "fleet: nothing to submit: 2 with a fresh result"
    assert "nothing to judge" in fleet.judge(PRESET, "examples").stderr
    assert "fleet: 0 result(s) taken over" in fleet.fleet("collect", PRESET).stderr
    assert {task: fleet.result(task).stat().st_mtime_ns for task in BOTH} == before


def _lose(cluster: Cluster, how: str, node: str) -> None:
    if how == "down":
        cluster.ask("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=test")
    else:
        os.kill(cluster.slurmd_pid(node), signal.SIGKILL)


@pytest.mark.parametrize("how", ["down", "kill"])
def test_a_node_is_lost_in_the_middle(fleet: Fleet, how: str) -> None:
    fleet.hang_first(RIGHT)
    fleet.submit("--shards", "1")
    wait_until(lambda: fleet.left("1.0", WRONG))
    node = fleet.cluster.ask("squeue", "-h", "-o", "%N").strip()
    _lose(fleet.cluster, how, node)
    wait_until(lambda: (fleet.place() / "attempts/1.1/ended").exists())
    assert (fleet.place() / "attempts/1.1/ended").read_text() == "done\n"
    # What the lost node had finished was believed, and not judged again.
    assert "judging 1 kernel(s)" in (fleet.place() / "log/1").read_text().rsplit("attempt 1", 1)[1]
    assert fleet.left("1.1", WRONG) == fleet.left("1.0", WRONG)
    done = fleet.fleet("collect", "--wait", PRESET)
    assert done.returncode == 0, done.stderr
    assert "fleet: 2 result(s) taken over" in done.stderr
    assert fleet.verdicts() == BOTH


def test_a_time_limit_is_hit(fleet: Fleet) -> None:
    fleet.hang_first(RIGHT)
    fleet.submit("--shards", "1", "--time", "1")
    done = fleet.fleet("collect", "--wait", PRESET)
    assert done.returncode == 1
    assert "fleet: 1 kernel(s) are not judged: tools/fleet status" in done.stderr
    assert fleet.verdicts() == {WRONG: BOTH[WRONG]}
    assert "ended without a word: its time limit" in fleet.fleet("status", PRESET).stdout
    before = fleet.result(WRONG).stat().st_mtime_ns

    fleet.write_tests(fleet.tests)
    assert "1 kernel(s) in 1 shard(s)" in fleet.submit()
    assert fleet.fleet("collect", "--wait", PRESET).returncode == 0
    assert fleet.verdicts() == BOTH
    assert fleet.result(WRONG).stat().st_mtime_ns == before


def test_a_cancelled_job_leaves_what_it_has_finished(fleet: Fleet) -> None:
    fleet.hang_first(RIGHT)
    fleet.submit("--shards", "1")
    wait_until(lambda: fleet.left("1.0", WRONG))
    assert fleet.fleet("cancel", PRESET).returncode == 0
    assert fleet.fleet("collect", "--wait", PRESET).returncode == 1
    assert fleet.verdicts() == {WRONG: BOTH[WRONG]}
    done = fleet.fleet("cancel", PRESET)
    assert (done.returncode, done.stdout) == (2, "")
    assert "fleet: no job of the preset" in done.stderr


@pytest.fixture(name="small_disk")
def fixture_small_disk(tmp_path: pathlib.Path) -> Iterator[pathlib.Path]:
    """A file system on which there is no room for a build folder."""
    folder = tmp_path / "disk-node1"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=400k", "none", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("this user may not mount a small file system")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


def test_a_full_disk_on_one_node(fleet: Fleet, small_disk: pathlib.Path) -> None:
    for node in ("node2", "node3"):
        (fleet.root / f"disk-{node}").mkdir()
    (small_disk / "full").write_bytes(bytes(396 << 10))
    fleet.submit("--shards", "1", "--scratch", f"{fleet.root}/disk-%n")
    done = fleet.fleet("collect", "--wait", PRESET)
    assert done.returncode == 0, done.stderr
    assert fleet.verdicts() == BOTH
    ended = {p.parent.name: p.read_text() for p in fleet.place().glob("attempts/*/ended")}
    assert "requeued: no room in" in ended["1.0"] and "(node1)" in ended["1.0"]
    assert ended["1.1"] == "done\n"
    # And nothing stays on the nodes' disks.
    assert [p.name for p in fleet.root.glob("disk-*/*")] == ["full"]


def test_a_full_shared_folder(fleet: Fleet, small_disk: pathlib.Path) -> None:
    fleet.cluster.ask("scontrol", "update", "PartitionName=all", "State=DOWN")
    fleet.submit("--shards", "1", "--share", str(small_disk))
    filler = small_disk / "full"
    with filler.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space left"):
        while True:
            file.write(bytes(4096))
    fleet.cluster.ask("scontrol", "update", "PartitionName=all", "State=UP")
    wait_until(lambda: fleet.cluster.ask("squeue", "-h") == "", 300)
    assert fleet.fleet("collect", "--wait", PRESET).returncode == 1
    assert fleet.verdicts() == {}

    filler.unlink()
    assert "2 kernel(s) in 1 shard(s)" in fleet.submit()
    done = fleet.fleet("collect", "--wait", PRESET)
    assert done.returncode == 0, done.stderr
    assert fleet.verdicts() == BOTH


def test_a_result_with_other_hashes_is_refused(fleet: Fleet) -> None:
    fleet.submit("--shards", "1")
    wait_until(lambda: fleet.cluster.ask("squeue", "-h") == "")
    results = fleet.place() / "attempts/1.0/results/examples/level1"
    forged = json.loads((results / f"{WRONG}.json").read_text())
    forged["hashes"]["module"] = "0" * 64
    forged["verdict"] = "pass"
    (results / f"{WRONG}.json").write_text(json.dumps(forged))
    done = fleet.fleet("collect", PRESET)
    assert done.returncode == 1
    assert f"not taken: examples.level1.{WRONG} in " in done.stderr
    assert fleet.verdicts() == {RIGHT: "pass"}
    assert "1 kernel(s) in 1 shard(s)" in fleet.submit()


def test_programs_that_are_not_those_submitted_judge_nothing(fleet: Fleet) -> None:
    fleet.cluster.ask("scontrol", "update", "PartitionName=all", "State=DOWN")
    fleet.submit("--shards", "1")
    fleet.cluster.ask("scontrol", "update", "PartitionName=all", "State=DOWN")
    library = fleet.build / "lib"
    real = library.resolve()
    library.unlink()
    library.mkdir()
    for path in real.iterdir():
        (library / path.name).symlink_to(path)
    (library / "libkb_judge.so").unlink()
    (library / "libkb_judge.so").write_bytes((real / "libkb_judge.so").read_bytes() + b"\n")
    fleet.cluster.ask("scontrol", "update", "PartitionName=all", "State=UP")
    wait_until(lambda: fleet.cluster.ask("squeue", "-h") == "")
    status = fleet.fleet("status", PRESET).stdout
    assert "is not what was submitted: submit again" in status
    assert "libkb_judge.so: FAILED" in status
    assert not list(fleet.place().glob("attempts/*/results/**/*.json"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "usage"),
        (("judge", PRESET), "usage"),
        (("submit",), "name a preset"),
        (("submit", PRESET), "name the runs to judge after the preset"),
        (("submit", "l4000", "examples"), "the preset l4000 is not set up here: configure it"),
        (("submit", PRESET, "nobody"), "there is no folder candidates/nobody"),
        (("submit", PRESET, "a b"), "'a b' is no name of a run"),
        (("submit", "--shards", "0", PRESET, "examples"), "--shards must be a number from 1 on"),
        (("submit", "--ship=mail", PRESET, "examples"), "--ship must be folder or tarball"),
        (("submit", "--share=/nowhere", PRESET, "examples"), "there is no folder /nowhere"),
        (("submit", "--partition=none", PRESET, "examples"), "sbatch refused: sbatch: error:"),
        (("submit", "--mail", PRESET, "examples"), "there is no option --mail"),
        (("status", PRESET), "nothing was submitted for the preset"),
        (("collect", PRESET), "nothing was submitted for the preset"),
    ],
)
def test_bad_arguments_are_one_sentence(
    fleet: Fleet, arguments: tuple[str, ...], message: str
) -> None:
    done = fleet.fleet(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    if message == "usage":
        assert done.stderr == fleet.fleet("--help").stdout
    else:
        assert message in done.stderr.splitlines()[-1]
    assert not list(fleet.build.glob("fleet/*"))
