"""A Slurm cluster of three virtual nodes, and the checkout of the tests of tools/ to submit from."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterator

import pytest
from checkout import PRESET, SOURCE_DIR, Checkout
from processes import alive, wait_until

_PATH = f"{os.environ['PATH']}:/usr/sbin:/sbin"  # where Debian has the daemons
_NEEDED = ("munged", "slurmctld", "slurmd", "sbatch")


def pytest_sessionstart() -> None:
    """Skips all of it, with the status that CTest knows."""
    missing = [name for name in _NEEDED if not shutil.which(name, path=_PATH)]
    if missing:
        pytest.exit(
            f"skipped: {', '.join(missing)} not installed (apt-get install --no-install-recommends "
            "slurmctld slurmd slurm-client munge slurm-wlm-basic-plugins)",
            returncode=77,
        )


class Cluster:
    """What tools/slurm-on-one-machine starts."""

    def __init__(self, folder: pathlib.Path) -> None:
        """Starts it."""
        self.folder = folder
        self.environment = {**os.environ, "PATH": _PATH, "SLURM_CONF": f"{folder}/slurm.conf"}
        done = self._tool("start")
        assert done.returncode == 0, done.stderr
        assert done.stdout == f"export SLURM_CONF={folder}/slurm.conf\n"

    def _tool(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        program = SOURCE_DIR / "tools/slurm-on-one-machine"
        return self._run(str(program), *arguments, str(self.folder))

    def _run(self, *command: str) -> subprocess.CompletedProcess[str]:
        # Not through a pipe: the daemons keep it open.
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            done = subprocess.run(
                command, env=self.environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                check=False,
            )  # fmt: skip
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(command, done.returncode, out.read(), err.read())

    def ask(self, *command: str) -> str:
        """What a program of Slurm prints."""
        done = self._run(*command)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def slurmd_pid(self, node: str) -> int:
        """The process of a node."""
        return int((self.folder / f"slurmd-{node}.pid").read_text())

    def repair(self) -> None:
        """All jobs gone, all nodes up."""
        self._run("scancel", "-u", "root" if os.getuid() == 0 else str(os.getuid()))
        self._run("scontrol", "update", "PartitionName=all", "State=UP")
        for node in ("node1", "node2", "node3"):
            if not alive(self.slurmd_pid(node)):
                self._tool("slurmd", node)
            self._run("scontrol", "update", f"NodeName={node}", "State=RESUME")
        wait_until(lambda: self.ask("squeue", "-h") == "")
        idle = ("sinfo", "-h", "-N", "-t", "idle", "-o", "%N")
        wait_until(lambda: len(self.ask(*idle).split()) == 3)

    def stop(self) -> None:
        """Ends it; nothing may stay."""
        assert self._tool("stop").returncode == 0
        assert not self.folder.exists()


@pytest.fixture(scope="session", name="one_cluster")
def fixture_one_cluster() -> Iterator[Cluster]:
    """Started once; its folder has a short name, since a socket lies in it."""
    root = pathlib.Path(tempfile.mkdtemp(prefix="kb-slurm-"))
    made = Cluster(root / "s")
    yield made
    made.stop()
    root.rmdir()


@pytest.fixture
def cluster(one_cluster: Cluster) -> Iterator[Cluster]:
    """The cluster, with all nodes."""
    one_cluster.repair()
    yield one_cluster
    one_cluster.repair()


class Fleet(Checkout):
    """A checkout whose tools/fleet submits to the cluster."""

    def __init__(self, root: pathlib.Path, cluster: Cluster) -> None:
        """Nothing is judged; two kernels are to be."""
        super().__init__(root)
        self.cluster = cluster
        manifest = json.loads((self.build / "manifest.json").read_text())
        manifest["source_dir"] = str(root)
        (self.build / "manifest.json").write_text(json.dumps(manifest))

    def write_tests(self, text: str) -> None:
        """The tests of the two kernels, with all their paths in this checkout."""
        super().write_tests(text)
        file = self.build / "CTestTestfile.cmake"
        file.write_text(file.read_text().replace(f"{SOURCE_DIR}/", f"{self.root}/"))

    def fleet(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs tools/fleet to its end."""
        path = f"{self.stand_ins}:{_PATH}"
        environment = {"SLURM_CONF": self.cluster.environment["SLURM_CONF"], "PATH": path}
        process = self.start(*arguments, tool="fleet", environment=environment)
        out, err = process.communicate()
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def submit(self, *options: str) -> str:
        """Submits the run; what it said."""
        done = self.fleet("submit", "--cpus-per-task", "1", *options, PRESET, "examples")
        assert done.returncode == 0, done.stderr
        return done.stderr.splitlines()[-1]

    def hang_first(self, task: str) -> None:
        """The first attempt of a shard never ends with this kernel; later ones judge it."""
        program = self.build / f"bin/level1.{task}.test"
        script = self.root / "hang_first"
        script.write_text(
            f'#!/bin/sh\n[ -n "$SLURM_RESTART_COUNT" ] || exec sleep 10000\nexec "{program}" "$@"\n'
        )
        script.chmod(0o755)
        name = f"examples.level1.{task}"
        manifest = str(self.build / "manifest.json")
        self.judge_with(task, str(script), "--manifest", manifest, "--candidate", name)

    def place(self, number: int = 1) -> pathlib.Path:
        """The folder of a submission."""
        return (self.build / f"fleet/{number}").resolve()

    def left(self, attempt: str, task: str, number: int = 1) -> dict | None:
        """The result that an attempt has left, once it has a verdict."""
        path = f"attempts/{attempt}/results/examples/level1/{task}.json"
        try:
            result = json.loads((self.place(number) / path).read_text())
        except FileNotFoundError:
            return None
        return result if result["verdict"] else None

    def verdicts(self) -> dict[str, str]:
        """What the table says, from the report that collecting writes; each kernel once."""
        report = json.loads((self.build / "runs/examples/results.json").read_text())
        names = [c["task"] for c in report["candidates"]]
        assert len(names) == len(set(names))
        return {c["task"]: c["result"]["verdict"] for c in report["candidates"] if c["result"]}


@pytest.fixture
def fleet(tmp_path: pathlib.Path, cluster: Cluster) -> Fleet:
    """A checkout in which nothing was judged, and a cluster that does nothing."""
    return Fleet(tmp_path, cluster)
