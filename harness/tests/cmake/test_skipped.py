"""What tools/selftest says of tests that were skipped."""

import os
import pathlib
import subprocess
import sys

PROGRAM = pathlib.Path(os.environ["KB_SOURCE_DIR"]) / "tools/lib/skipped.py"


def case(name: str, output: str, message: str = "SKIP_REGULAR_EXPRESSION_MATCHED") -> str:
    """A test as CTest writes it down; with no message one that ran."""
    skipped = f'<skipped message="{message}"/>' if message else ""
    return f'<testcase name="{name}">{skipped}<system-out>{output}</system-out></testcase>'


CASES = (
    case(
        "harness.build.headers.Headers.RealNvcc",
        "[ RUN      ] Headers.RealNvcc\n/a/b.cpp:9: Skipped\nnvcc was not found at configure time\n",
    ),
    case("kb.test.fleet.test_fleet", "!!! _pytest.outcomes.Exit: skipped: sbatch not installed !!!", "SKIP_RETURN_CODE=77"),
    case("seed.level1.001_a.correct", "seed.level1.001_a: degenerate: a constant passes\n", "SKIP_RETURN_CODE=77"),
    case(
        "seed.level1.001_a.bench",
        'seed.level1.001_a is not timed: its verdict is "degenerate"\n',
        "SKIP_RETURN_CODE=77",
    ),
    case("kb.report.test_page", "30 passed\nSKIPPED [4] tests/test_page.py:5: no chromium on this machine\n", ""),
    case("kb.test.timing.Suite.Test", "[  PASSED  ] 1 test.\n", ""),
    # CTest's own words for a test that it could not start, which fails the run.
    case("kb.test.x.Suite.Test", "", "Fixture dependency failed"),
)  # fmt: skip


def skipped(tmp_path: pathlib.Path, *cases: str, lacks: str | None = None):
    """Runs the program on these."""
    file = tmp_path / "selftest.xml"
    file.write_text(f"<testsuite>{''.join(cases)}</testsuite>")
    environment = {k: v for k, v in os.environ.items() if k != "KB_MAY_LACK"}
    if lacks is not None:
        environment["KB_MAY_LACK"] = lacks
    return subprocess.run(
        [sys.executable, PROGRAM, file],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_each_skip_is_listed_with_its_reason(tmp_path: pathlib.Path) -> None:
    done = skipped(tmp_path, *CASES)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[1:-1] == [
        "skipped: 5",
        "  harness.build.headers.Headers.RealNvcc: nvcc was not found at configure time",
        "  kb.report.test_page: no chromium on this machine",
        "  kb.test.fleet.test_fleet: skipped: sbatch not installed",
        '  seed.level1.001_a.bench: is not timed: its verdict is "degenerate"',
        "  seed.level1.001_a.correct: degenerate: a constant passes",
    ]


def test_what_may_lack_decides_which_skips_fail(tmp_path: pathlib.Path) -> None:
    assert skipped(tmp_path, *CASES, lacks="nvcc slurm chromium").returncode == 0
    done = skipped(tmp_path, *CASES, lacks="slurm chromium")
    assert done.returncode == 1
    assert "UNEXPECTED harness.build.headers" in done.stdout
    assert done.stdout.count("UNEXPECTED") == 1


def test_a_degenerate_task_lacks_nothing(tmp_path: pathlib.Path) -> None:
    assert skipped(tmp_path, *CASES[2:4], lacks="").returncode == 0


def test_a_word_that_the_list_does_not_have(tmp_path: pathlib.Path) -> None:
    done = skipped(tmp_path, lacks="nvc")
    assert done.returncode == 1
    assert "nvc" in done.stderr
