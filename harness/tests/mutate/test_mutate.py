"""kb_mutate from end to end: mutants of one small kernel, judged by the real judge."""

import csv
import json
import os
import subprocess
from pathlib import Path

BUILD_DIR = Path(os.environ["KB_BUILD_DIR"])
TASK = "level1/019_relu"
KERNEL = f"{TASK}/candidate.cu"


def mutate(*arguments: str, task: str = TASK) -> subprocess.CompletedProcess[str]:
    program = [BUILD_DIR / "bin/kb_mutate", "--task", task, *arguments]
    return subprocess.run(program, capture_output=True, text=True, check=False)


def test_mutants_of_a_kernel_are_judged_and_counted(tmp_path: Path) -> None:
    arguments = ("--sample", "5", "--rng-seed", "3", "-j", "2", "--out", str(tmp_path))
    done = mutate(*arguments)
    assert done.returncode in (0, 1), done.stderr
    mutants = json.loads((tmp_path / "mutants.json").read_text())
    assert len(mutants) == 5 and len({m["id"] for m in mutants}) == 5
    for mutant in mutants:
        assert mutant["task"] == TASK and mutant["before"] != mutant["after"]
        assert mutant["fate"] in ("killed", "equivalent", "survived", "invalid")
        if mutant["fate"] == "killed":
            assert mutant["evidence"]
    killed = sum(m["fate"] == "killed" for m in mutants)
    assert killed >= 1
    with open(tmp_path / "score.csv", newline="") as file:
        assert sum(int(row["killed"]) for row in csv.DictReader(file)) == killed
    assert TASK in (tmp_path / "score.md").read_text()

    # A second call asks the judge for nothing.
    verdicts = (tmp_path / "verdicts.jsonl").read_text()
    again = mutate(*arguments)
    assert (tmp_path / "verdicts.jsonl").read_text() == verdicts
    assert again.stdout.splitlines()[-1] == done.stdout.splitlines()[-1]


def test_the_source_of_a_mutant_can_be_had() -> None:
    listed = mutate("--list").stdout.splitlines()
    place = next(i for i, line in enumerate(listed) if f" omission {KERNEL}" in line
                 or f" extremum {KERNEL}" in line)  # fmt: skip
    identity, after = listed[place].split()[0], listed[place + 2].strip()
    assert after in mutate("--show", identity).stdout


def test_only_lines_that_become_code_have_mutants() -> None:
    every = mutate("--list", "--all-lines").stdout
    assert "kb::clamp" not in mutate("--list").stdout
    assert len(mutate("--list").stdout) < len(every)


def test_bad_input_is_one_sentence(tmp_path: Path) -> None:
    done = mutate("--list", task="level1/nothing")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("kb_mutate: no task of ") and done.stderr.count("\n") == 1
    done = mutate("--show", "nothing")
    assert done.returncode == 2 and "there is no mutant nothing" in done.stderr
