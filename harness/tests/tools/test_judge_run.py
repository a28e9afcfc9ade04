"""tools/judge with a run: what is judged, what is passed over, what is said."""

import json
import os
import signal
import subprocess

import pytest
from checkout import PRESET, RIGHT, WRONG, Checkout
from processes import alive, descendants, wait_until


def test_a_run_is_judged_once(checkout: Checkout) -> None:
    done = checkout.judge(PRESET, "examples")
    assert done.returncode == 0, done.stderr
    verdicts = {t: json.loads(checkout.result(t).read_text())["verdict"] for t in (RIGHT, WRONG)}
    assert verdicts == {RIGHT: "pass", WRONG: "incorrect"}
    assert done.stderr.startswith("building the kernels of examples\n")
    assert "[2/2] examples.level1." in done.stderr
    feedback = f"build/{PRESET}/runs/examples/feedback"
    assert done.stderr.splitlines()[-1] == f"what each kernel lacks: {feedback}"
    assert any((checkout.root / feedback).iterdir())
    *_, failure, sentence = done.stdout.splitlines()
    assert failure.split()[:2] == ["incorrect", f"level1/{WRONG}"]
    assert json.loads(checkout.result(WRONG).read_text())["evidence"][:60] in failure
    assert sentence == "examples: 1 of 2 submitted kernels is right"
    assert "tests failed" not in done.stdout + done.stderr
    assert (checkout.build / "runs/examples/results.json").exists()

    before = {t: checkout.result(t).stat().st_mtime_ns for t in (RIGHT, WRONG)}
    done = checkout.judge(PRESET, "candidates/examples/")
    assert done.returncode == 0
    assert "every result of examples is fresh: nothing to judge" in done.stderr
    assert "examples" in done.stdout
    assert {t: checkout.result(t).stat().st_mtime_ns for t in (RIGHT, WRONG)} == before


@pytest.mark.parametrize(
    "change",
    [
        {"hashes": {"module": "0" * 64, "source": None, "task": None, "harness": None}},
        {"verdict": None, "stage": "build", "correctness": None, "timing": None},
        {"timing": None},  # stopped before it was timed
        "{",
    ],
)
def test_only_what_is_not_fresh_is_judged_again(checkout: Checkout, change: dict | str) -> None:
    assert checkout.judge(PRESET, "examples").returncode == 0
    before = checkout.result(WRONG).stat().st_mtime_ns
    file = checkout.result(RIGHT)
    text = change if isinstance(change, str) else None
    file.write_text(text or json.dumps(json.loads(file.read_text()) | change))
    done = checkout.judge(PRESET, "examples")
    assert done.returncode == 0, done.stderr
    assert f"[1/1] examples.level1.{RIGHT} passes, 1 pass so far" in done.stderr
    assert json.loads(file.read_text())["timing"] is not None
    assert checkout.result(WRONG).stat().st_mtime_ns == before


def test_kernels_that_do_not_compile_are_counted(checkout: Checkout) -> None:
    assert checkout.judge(PRESET, "examples").returncode == 0
    file = checkout.result(WRONG)
    result = json.loads(file.read_text())
    result |= {"verdict": "compile_error", "stage": "build", "correctness": None}
    result["hashes"] |= {"module": None}
    file.write_text(json.dumps(result))
    done = checkout.judge(PRESET, "examples")
    assert done.stdout.splitlines()[-1] == (
        "examples: 1 of 2 submitted kernels is right, 1 of 2 does not compile"
    )


# What ctest says of six kernels: one is wrong, the others are timed.
TOLD = [
    *(f"{i}/18 Test #{i}: m.{i}.build ....   Passed    0.01 sec" for i in range(1, 7)),
    *(f"{6 + i}/18 Test #{6 + i}: m.{i}.correct ...   Passed    1.00 sec" for i in range(1, 6)),
    "12/18 Test #12: m.6.correct ...***Failed    1.00 sec",
    "13/18 Test #18: m.6.bench .....***Not Run   0.00 sec",
    *(f"{13 + i}/18 Test #{12 + i}: m.{i}.bench ....   Passed    2.00 sec" for i in range(1, 6)),
]


def test_the_time_left_is_that_of_the_tests_that_are_left(checkout: Checkout) -> None:
    """Of the first kernel that is done, the time of all checks is no part."""
    script = r"""
      source tools/lib/judge-run.sh
      kb_pending=(1 2 3 4 5 6) kb_done=0 kb_passed=0 kb_started=0
      declare -A kb_right=() kb_ended=([correct]=0 [bench]=0) kb_spent=([correct]=0 [bench]=0)
      spent=0  # hundredths of a second; one test at a time
      while read -r line; do
        [[ ! $line =~ (Passed|Failed)\ +([0-9]+)\.([0-9]+) ]] ||
          spent=$((spent + 10#${BASH_REMATCH[2]}${BASH_REMATCH[3]}))
        SECONDS=$((spent / 100))
        kb_test_line "$line"
      done"""
    given = "\n".join(TOLD) + "\n"
    command = ["bash", "-uc", script]
    done = subprocess.run(
        command, input=given, cwd=checkout.root, capture_output=True, text=True, check=True
    )
    assert [line.partition("so far")[2] for line in done.stderr.splitlines()] == [
        "", "", "", ", 4 s left", ", 2 s left", "",
    ]  # fmt: skip
    assert "[1/6] m.6 does not pass, 0 pass so far\n" in done.stderr


@pytest.mark.parametrize("key", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_stopped_and_started_again_it_continues(checkout: Checkout, key: signal.Signals) -> None:
    checkout.judge_with(WRONG, "/bin/sleep", "10000")
    call = checkout.start("-j", "2", PRESET, "examples", start_new_session=True)
    seen: set[int] = set()

    def hangs_in_the_last_one() -> bool:
        seen.update(descendants(call.pid))
        timed = checkout.result(RIGHT).exists() and json.loads(checkout.result(RIGHT).read_text())
        begun = checkout.result(WRONG).exists()
        return begun and bool(timed) and timed["timing"] is not None

    wait_until(hangs_in_the_last_one)
    os.killpg(call.pid, key)
    _, said = call.communicate()
    assert call.returncode == 128 + key
    assert said.splitlines()[-1].startswith("judge: stopped")
    ours = ("building ", "judging ", "[", "judge: ")
    assert all(line.startswith(ours) for line in said.splitlines()), "the shell says nothing itself"
    wait_until(lambda: not any(alive(p) for p in seen))

    before = checkout.result(RIGHT).stat().st_mtime_ns
    checkout.write_tests(checkout.tests)
    done = checkout.judge(PRESET, "examples")
    assert done.returncode == 0, done.stderr
    assert f"[1/1] examples.level1.{WRONG} does not pass" in done.stderr
    assert checkout.result(RIGHT).stat().st_mtime_ns == before


def test_a_kernel_that_cannot_be_judged_is_named(checkout: Checkout) -> None:
    """A program that fails gives no verdict; the others are judged all the same."""
    checkout.judge_with(WRONG, "/bin/false")
    done = checkout.judge(PRESET, "examples")
    assert done.returncode == 1
    assert f"judge: examples.level1.{WRONG} could not be judged" in done.stderr
    assert done.stdout.splitlines()[-1] == (
        "examples: 1 of 2 submitted kernels is right, 1 of 2 is not judged"
    )


def test_a_build_that_fails_says_why_and_judges_nothing(checkout: Checkout) -> None:
    checkout.say("cmake", "echo '[1/2] Building x'; echo 'x.cpp: error: this is why'; exit 1")
    done = checkout.judge(PRESET, "examples")
    assert (done.returncode, done.stdout) == (2, "")
    assert "x.cpp: error: this is why" in done.stderr and "Building" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("judge: the build failed")
    assert not checkout.result(RIGHT).exists()
    checkout.say("cmake", "echo \"ninja: error: unknown target 'kb_run.examples'\"; exit 1")
    done = checkout.judge(PRESET, "examples")
    assert "candidates/examples" in done.stderr and "configured" in done.stderr


def test_a_run_that_is_refused_says_why(checkout: Checkout) -> None:
    checkout.say("cmake", "echo \"ninja: error: unknown target 'kb_run.examples.s0'\"; exit 1")
    (checkout.root / "candidates/examples/s0").mkdir()
    about = checkout.build / "refused/examples.txt"
    about.parent.mkdir()
    about.write_text("candidates/examples/x.cu is not where a candidate belongs\n")
    for run in ("examples", "examples/s0"):
        done = checkout.judge(PRESET, run)
        assert (done.returncode, done.stdout) == (2, "")
        _, first, last = done.stderr.splitlines()
        assert first == about.read_text().strip()
        assert last.startswith("judge: no kernel of candidates/examples")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "usage"),
        ((PRESET,), "usage"),
        ((PRESET, "nobody"), "there is no folder candidates/nobody: the runs are examples;"),
        ((PRESET, "examples/s7"), "there is no folder candidates/examples/s7"),
        ((PRESET, "a/b/c"), "'a/b/c' is no name of a run: give <run> or <run>/<sample>"),
        ((PRESET, "examples", "x.cu"), "'examples' is no task (levelN/NNN_slug), and a run takes"),
        ((PRESET, "examples", "--no-timing"), "--no-timing is for single kernels"),
        (("-j", "0", PRESET, "examples"), "-j needs a number of kernels"),
    ],
)
def test_bad_arguments_are_one_sentence(
    checkout: Checkout, arguments: tuple[str, ...], message: str
) -> None:
    done = checkout.judge(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    if message == "usage":
        assert done.stderr == checkout.judge("--help").stdout
    else:
        assert message in done.stderr and len(done.stderr.splitlines()) == 1


def test_names_of_folders_order_the_terminal_nothing(checkout: Checkout) -> None:
    (checkout.root / "candidates/\x1b[2J").mkdir()
    done = checkout.judge(PRESET, "nobody")
    assert done.returncode == 2
    assert "\x1b" not in done.stderr and "?[2J" in done.stderr
