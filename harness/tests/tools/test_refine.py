"""tools/refine with scripted generators; kernels are judged by the real judge."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import pytest
from checkout import PRESET, SOURCE_DIR, Checkout
from processes import alive, descendants, wait_until

RELU, SOFTMAX = "level1/019_relu", "level1/023_softmax"
BOTH = r"level1/0(19_relu|23_softmax)"
NONE = "#error the generator gave no kernel: "
RIGHT = f'cat "{SOURCE_DIR}/$KB_TASK/candidate.cu"'


class Refinery(Checkout):
    """A checkout with a generator, a shell script that notes what it was asked for."""

    def __init__(self, root: pathlib.Path) -> None:
        super().__init__(root)
        (root / "tools/judge").rename(root / "tools/judge.real")
        shutil.copy(SOURCE_DIR / "harness/tests/tools/judge_stand_in.py", root / "tools")
        judge = root / "tools/judge"
        judge.write_text(
            f'#!/bin/sh\nexec {sys.executable} "$(dirname "$0")/judge_stand_in.py" "$@"\n'
        )
        judge.chmod(0o755)

    def generator(self, script: str) -> str:
        """A command line for this script, which may read "$KB_TASK" and the others."""
        file = self.root / "generator.sh"
        note = f'echo "$KB_SAMPLE $KB_TASK" >>{self.root}/asked'
        file.write_text(f"{note}\n{script}\n")
        return f"bash {file}"

    def words(self, script: str, *options: str, tasks: str = RELU, run: str = "m") -> list[str]:
        command = ["--tasks", tasks, "--headers", "kb", "--generator", self.generator(script)]
        return [*options, *command, PRESET, run]

    def refine(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.judge(*arguments, tool="refine")

    def asked(self) -> list[str]:
        """Sample and task of every start of the generator, in order of their names."""
        file = self.root / "asked"
        return sorted(file.read_text().splitlines()) if file.exists() else []

    def kernel(self, where: str, task: str = RELU, run: str = "m") -> pathlib.Path:
        return self.root / f"candidates/{run}/{where}/{task}.cu"

    def verdicts(self, run: str = "m") -> dict[str, str]:
        """Sample and task -> verdict."""
        there = self.build / "results" / run
        return {
            str(p.relative_to(there).with_suffix("")): json.loads(p.read_text())["verdict"]
            for p in there.rglob("*.json")
        }


@pytest.fixture(name="refinery")
def fixture_refinery(tmp_path: pathlib.Path) -> Refinery:
    return Refinery(tmp_path)


def test_turns_go_on_until_a_kernel_passes(refinery: Refinery) -> None:
    """A failure of the generator is a turn; what passed is not asked for again."""
    script = f"""cat >{refinery.root}/prompt.$KB_TURN.$(basename $KB_TASK)
case $KB_TURN-$KB_TASK in
0-*softmax) echo 'int x = ;' ;;
1-*softmax) echo 'no quota left' >&2; exit 7 ;;
*) echo 'Here it is:'; echo '```cuda'; {RIGHT}; echo '```' ;;
esac"""
    words = refinery.words(script, "--turns", "4", "--model", "a name", tasks=BOTH)
    done = refinery.refine(*words)
    assert done.returncode == 0, done.stderr
    assert refinery.verdicts() == {
        f"t0/{RELU}": "pass",
        f"t0/{SOFTMAX}": "compile_error",
        f"t1/{SOFTMAX}": "compile_error",
        f"t2/{SOFTMAX}": "pass",
    }
    assert refinery.asked() == [f"t0 {RELU}", f"t0 {SOFTMAX}", f"t1 {SOFTMAX}", f"t2 {SOFTMAX}"]
    why = NONE + "it ended with exit code 7, saying: no quota left\n"
    assert refinery.kernel("t1", SOFTMAX).read_text() == why
    evidence = refinery.build / f"results/m/t1/{SOFTMAX}.json"
    assert "it ended with exit code 7" in json.loads(evidence.read_text())["evidence"]
    about = json.loads((refinery.root / "candidates/m/run.json").read_text())
    assert about == {"model": "a name", "samples_are": "turns", "headers": ["kb"]}
    assert done.stdout == "the table of m\n"

    first = (refinery.root / "prompt.0.023_softmax").read_text()
    assert "softmax" in first and "int x = ;" not in first
    for turn in (1, 2):  # the last kernel that there is, not the turn without one
        assert "int x = ;" in (refinery.root / f"prompt.{turn}.023_softmax").read_text()
    kept = refinery.root / "candidates/m/generation/t1/level1.023_softmax.prompt.md"
    assert kept.read_text() == (refinery.root / "prompt.1.023_softmax").read_text()


def test_samples_are_independent(refinery: Refinery) -> None:
    script = f"grep -q 'last kernel' && exit 1; [ $KB_SAMPLE = s0 ] && {RIGHT} || echo 'int x = ;'"
    done = refinery.refine(*refinery.words(script, "--samples", "2"))
    assert done.returncode == 0, done.stderr
    assert refinery.verdicts() == {f"s0/{RELU}": "pass", f"s1/{RELU}": "compile_error"}
    assert json.loads((refinery.root / "candidates/m/run.json").read_text()) == {"headers": ["kb"]}


def test_samples_of_turns_are_runs(refinery: Refinery) -> None:
    script = 'echo "int $KB_SAMPLE = ;"'
    done = refinery.refine(*refinery.words(script, "--samples", "2", "--turns", "2"))
    assert done.returncode == 0, done.stderr
    assert refinery.asked() == [f"t{t} {RELU}" for t in (0, 0, 1, 1)]
    for run in ("m-s0", "m-s1"):
        assert set(refinery.verdicts(run)) == {f"t0/{RELU}", f"t1/{RELU}"}


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("yes", "it printed more than 4 MiB"),
        ("true", "its answer holds none"),
        ("echo '```'; echo '```'", "its answer holds none"),
        ("sleep 1000 & sleep 1000", "it was stopped after 1 s"),
        ("exit 3", "it ended with exit code 3"),
        ("kill -9 $$", "it ended with exit code 137"),
    ],
)
def test_a_generator_that_fails_is_a_row(refinery: Refinery, script: str, reason: str) -> None:
    """Only the one that never ends is given a second; the others may take as long as they do."""
    limit = ("--timeout", "1") if "stopped" in reason else ()
    done = refinery.refine(*refinery.words(script, *limit))
    assert done.returncode == 0, done.stderr
    assert refinery.kernel("s0").read_text().startswith(NONE + reason)
    assert refinery.verdicts() == {f"s0/{RELU}": "compile_error"}
    assert f"[1/1] m/s0/level1.019_relu gave no kernel: {reason}" in done.stderr
    again = refinery.refine(*refinery.words(f"{RIGHT}"))
    assert (again.returncode, len(refinery.asked())) == (0, 1), "it is asked again on demand only"
    refinery.refine(*refinery.words(f"{RIGHT}", "--again"))
    assert refinery.kernel("s0").read_bytes() == (SOURCE_DIR / RELU / "candidate.cu").read_bytes()


def test_nonsense_is_judged(refinery: Refinery) -> None:
    done = refinery.refine(*refinery.words(r"printf 'a\0b\377\n'"))
    assert done.returncode == 0, done.stderr
    assert refinery.verdicts() == {f"s0/{RELU}": "compile_error"}


@pytest.mark.parametrize("key", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_killed_and_started_again_it_continues(refinery: Refinery, key: signal.Signals) -> None:
    hangs = f"[ $KB_TASK = {RELU} ] && {{ echo 'int x = ;'; exit; }}; sleep 10000"
    command = refinery.words(hangs, tasks=BOTH)
    call = refinery.start(*command, tool="refine", start_new_session=True)
    seen: set[int] = set()

    def hangs_in_one() -> bool:
        seen.update(descendants(call.pid))
        return refinery.kernel("s0").exists() and len(refinery.asked()) == 2

    wait_until(hangs_in_one)
    seen.update(descendants(call.pid))
    os.killpg(call.pid, key)
    _, said = call.communicate()
    if key != signal.SIGKILL:
        assert call.returncode == 128 + key
        assert "stopped" in said.splitlines()[-1]
    else:  # nothing is left that could end what the generator itself has started
        for process in filter(alive, seen):
            os.kill(process, signal.SIGKILL)
    wait_until(lambda: not any(alive(p) for p in seen))
    assert not refinery.kernel("s0", SOFTMAX).exists()

    done = refinery.refine(*refinery.words("echo 'int y = ;'", tasks=BOTH))
    assert done.returncode == 0, done.stderr
    assert refinery.asked() == [f"s0 {RELU}", f"s0 {SOFTMAX}", f"s0 {SOFTMAX}"]
    assert refinery.kernel("s0").read_text() == "int x = ;\n"
    assert set(refinery.verdicts()) == {f"s0/{RELU}", f"s0/{SOFTMAX}"}


def test_two_calls_for_one_run(refinery: Refinery) -> None:
    call = refinery.start(*refinery.words("sleep 10000"), tool="refine", start_new_session=True)
    wait_until(lambda: refinery.asked())
    done = refinery.refine(*refinery.words("echo 'int x = ;'"))
    os.killpg(call.pid, signal.SIGTERM)
    call.communicate()
    assert done.returncode == 2
    assert "another tools/refine" in done.stderr


def test_no_more_starts_a_minute_than_allowed(refinery: Refinery) -> None:
    """Nobody waits here: the stand-in for sleep notes what it was asked for."""
    real = shutil.which("sleep")
    note = f'case $1 in 0.*) exec {real} "$1" ;; *) echo "$1" >>{refinery.root}/slept ;; esac'
    refinery.say("sleep", note)
    words = refinery.words("echo 'int x = ;'", "--rate", "1", tasks=BOTH)
    assert refinery.refine(*words).returncode == 0
    slept = (refinery.root / "slept").read_text().split()
    assert len(slept) == 1 and 0 < int(slept[0]) <= 60


def test_a_command_that_cannot_be_started_ends_it(refinery: Refinery) -> None:
    words = ["--tasks", RELU, "--generator", "no-such-program --now", PRESET, "m"]
    done = refinery.refine(*words)
    assert done.returncode == 2
    last = done.stderr.splitlines()[-1]
    assert last.startswith("refine: the generator") and "no-such-program" in last
    assert not refinery.kernel("s0").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((PRESET,), "name a preset and a run"),
        ((PRESET, "m"), "--generator is missing"),
        ((PRESET, "../m", "--generator", "x"), "'../m' is no name of a run"),
        (("nothing", "m", "--generator", "x"), "the preset nothing is not set up"),
        ((PRESET, "m", "--generator", "x", "--samples", "0"), "--samples must be a number from 1"),
        ((PRESET, "m", "--generator", "x", "--turns", "two"), "--turns must be a number from 1 on"),
        ((PRESET, "m", "--generator", "x", "--rate", "0"), "--rate must be a number of starts"),
        ((PRESET, "m", "--generator", "x", "--rate", "08"), "--rate must be a number of starts"),
        ((PRESET, "m", "--generator", "x", "--tasks", "level9/.*"), "no task that is built in"),
        ((PRESET, "m", "--generator", "x", "--tasks", "("), "no task that is built in"),
        ((PRESET, "m", "--generator", "x", "--style", "odd"), "--style must be zero-shot,"),
        ((PRESET, "m", "--generator", "x", "--model", 'a "b"'), "--model must hold no quotes"),
        ((PRESET, "m", "--generator"), "--generator needs a value"),
        ((PRESET, "m", "--frobnicate"), "there is no option --frobnicate"),
        ((PRESET, "examples", "--generator", "x", "--turns", "2"), 'does not say "samples_are"'),
    ],
)
def test_bad_arguments_are_one_sentence(
    refinery: Refinery, arguments: tuple[str, ...], message: str
) -> None:
    (refinery.root / "candidates/examples/run.json").write_text("{}")
    before = sorted((refinery.root / "candidates").rglob("*"))
    done = refinery.refine(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr and len(done.stderr.splitlines()) == 1
    assert sorted((refinery.root / "candidates").rglob("*")) == before
