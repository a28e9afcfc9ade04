"""docs/runs.md: its files are there, its shards make the whole, and its tables are what is printed."""

import re
import shutil
from pathlib import Path

from kb_report import model
from kb_report.cli import main
from synthetic import FACTS, BuildDir, full_suite, read_json

PROJECT = Path(__file__).resolve().parents[2]
PAGE = (PROJECT / "docs/runs.md").read_text()
COMMANDS = "\n".join(re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)).replace("\\\n", " ")
SHARDS = re.findall(r"ctest .*-R '([^']+)' +# on", COMMANDS)


def copies():
    """What the page copies: source -> target, with its two variables in place."""
    words = dict(re.findall(r"^(\w+)=(\S+)$", COMMANDS, re.MULTILINE))
    text = re.sub(r"\$(\w+)", lambda m: words[m[1]], COMMANDS)
    for line in re.findall(r"^cp (.*)$", text, re.MULTILINE):
        *sources, target = line.split()
        for source in sources:
            yield source, f"{target}{Path(source).name}" if target.endswith("/") else target


def test_every_kernel_of_the_page_is_in_the_repository():
    found = list(copies())
    assert len(found) >= 10
    for source, target in found:
        assert (PROJECT / source).is_file(), source
        task = Path(target).stem
        assert f"level1/{task}" in COMMANDS.split("examples=")[0], f"{task} is not configured"


def test_every_kernel_that_is_judged_alone_is_of_a_chosen_task():
    chosen = re.search(r'-DKB_TASKS="([^"]+)"', COMMANDS)[1].replace(" ", "").split(";")
    lines = re.findall(r"^.*\btools/judge .*$", COMMANDS, re.MULTILINE)
    found = {task for line in lines for task in re.findall(r"\blevel\d/\d{3}_\w+", line)}
    assert found and found <= set(chosen)


def test_the_tables_of_the_page_are_what_is_printed(tmp_path, capsys):
    """With the verdicts that the judge gives these kernels (see candidates/examples/README.md)."""
    build = BuildDir(
        tmp_path / "cpu", backend="cpu", levels={1: sorted({Path(t).stem for _, t in copies()})}
    )
    build.runs["turns"] = {"samples_are": "turns"}
    for source, target in copies():
        _, run, sample, *_ = Path(target).parts
        right = not source.startswith("candidates/examples") or "040" in source
        entry = build.add(Path(target).stem, run=run, sample=sample)
        build.result(entry, "pass" if right else "incorrect")
    build.finish()
    out = ["--out", str(tmp_path / "out")]
    for run in ("draws", "turns"):
        assert main(["rollup", "--build-dir", str(build.root), "--run", run, *out]) == 0
        printed = capsys.readouterr().out.splitlines()
        for line in re.findall(rf"^  {run} .*$", PAGE, re.MULTILINE):
            assert line in printed
        for line in re.findall(r"^ *(?:N=1|fast_0@N) .*$", PAGE, re.MULTILINE):
            assert run != "turns" or line in printed


def test_a_shard_has_every_test_of_a_kernel_and_no_kernel_is_in_two():
    assert len(SHARDS) == 2
    for f in FACTS:
        for step in ("build", "correct", "bench"):
            name = f"draws.s0.level{f['level']}.{f['task']}.{step}"
            hits = [bool(re.search(shard, name)) for shard in SHARDS]
            assert sum(hits) == 1, name
            assert hits[0] == bool(re.search(SHARDS[0], name.replace(step, "build")))


def test_merged_shards_are_the_report_of_one_machine(tmp_path):
    whole = full_suite(tmp_path / "whole/cpu", ("m",), samples=("s0", "s1"), every=5)
    whole.report()
    copied = []
    for i, shard in enumerate(SHARDS):
        other = tmp_path / f"shard{i}/cpu"
        shutil.copytree(whole.root, other, ignore=shutil.ignore_patterns("reports"))
        for entry in whole.candidates:
            if not re.search(shard, entry["name"]):
                (other / entry["result"]).unlink(missing_ok=True)
        assert main(["rollup", "--build-dir", str(other)]) == 0
        copied.append(shutil.copy(other / "reports/results.json", tmp_path / f"shard{i}.json"))
    out = tmp_path / "merged"
    assert main(["merge", *map(str, copied), "--out", str(out)]) == model.OK
    merged, want = (read_json(folder / "results.json") for folder in (out, whole.root / "reports"))
    for key in ("runs", "candidates", "levels", "machines"):
        assert merged[key] == want[key]
    assert main(["merge", str(out), str(copied[0]), "--out", str(tmp_path / "again")]) == model.OK
    assert read_json(tmp_path / "again/results.json")["runs"] == want["runs"]
