"""Shards of what is to be judged, and results that come back from nodes, for tools/fleet."""

import json
import subprocess

import pytest

from kb_fleet import adopt, shards
from kb_fleet.__main__ import main
from kb_report import cli, load
from synthetic import HARNESS, BuildDir, read_json, sha, tasks_of

TASKS = tasks_of(1, 6)


@pytest.fixture(autouse=True)
def _harness(monkeypatch):
    """The invented results name an invented harness."""
    for module in (adopt, shards):
        monkeypatch.setattr(module, "harness_sha256", lambda _: HARNESS)


def build_in(root, **options):
    """A build folder at its usual place below the sources."""
    build = BuildDir(root / "build/h200", levels={1: TASKS}, **options)
    build.source_dir = root
    for name in ("lib/libkb_judge.so", "bin/kb_runner", "bin/kb_env", "sources.sha256"):
        build.write(name, f"text of {name}")
    return build


def kernel(build, task, sample=None, **options):
    """A candidate of the run m with everything that judging it reads."""
    entry = build.add(task, run="m", sample=sample, **options)
    build.write(entry["build_json"], "{}")
    for kind in ("test", "bench"):
        build.write(f"bin/level1.{task}.{kind}", f"{kind} of {task}")
    return entry


def plan(root, capsys, *arguments):
    """Runs `kb-fleet shards`: the names of each shard, and the sentence."""
    out = root / "shards"
    command = ["shards", "--build-dir", str(root / "build/h200"), "--out", str(out), *arguments]
    assert main(command) == 0
    printed = capsys.readouterr()
    files = [out / f"{k}.names" for k in range(1, int(printed.out) + 1)]
    return [[line.split()[0] for line in f.read_text().splitlines()] for f in files], printed.err


def test_shards_have_the_same_work_and_keep_a_task_together(tmp_path, capsys):
    build = build_in(tmp_path)
    for sample in ("s0", "s1", "s2"):
        for task in TASKS[:4]:
            kernel(build, task, sample)
    # Judged once before, in another build: the verdict is stale, the seconds hold.
    for task, seconds in zip(TASKS[:4], (60, 30, 20, 10), strict=True):
        entry = kernel(build, task, "s3")
        build.result(entry, "incorrect", correctness={"sets": [{"set": "odd", "seconds": seconds}]})
        build.path(entry["module"]).write_text("built again")
    build.finish()
    found, said = plan(tmp_path, capsys, "--shards", "2", "m")
    tasks = [{name.rsplit(".", 1)[1] for name in names} for names in found]
    assert tasks == [{TASKS[0]}, set(TASKS[1:4])]
    assert said == "16 kernel(s) in 2 shard(s) of about 4 min at most\n"
    assert sum(map(len, found)) == len({name for names in found for name in names}) == 16
    for number, names in enumerate(found, 1):
        manifest = load.read_checked(tmp_path / f"shards/{number}.json", "manifest", "a manifest")
        assert [entry["name"] for entry in manifest["candidates"]] == names


def test_a_task_that_is_more_than_a_shard_is_cut(tmp_path, capsys):
    build = build_in(tmp_path)
    for i in range(9):
        kernel(build, TASKS[0], f"s{i}")
    build.finish()
    found, _ = plan(tmp_path, capsys, "--shards", "3", "m")
    assert [len(names) for names in found] == [3, 3, 3]


@pytest.mark.parametrize(("known", "expected"), [([], 5.0), ([8, 4, 60], 8), ([2], 2)])
def test_a_task_without_a_record_takes_what_others_take(known, expected):
    seconds = shards.Seconds()
    for i, value in enumerate(known):
        sets = {"sets": [{"set": "odd", "seconds": value}]}
        seconds.add({"level": 1, "task": TASKS[i], "correctness": sets, "timing": None})
    for nothing in (None, [], {"level": 1}, {"level": 1, "task": "x", "correctness": 3}):
        seconds.add(nothing)
    assert seconds.of(1, TASKS[5]) == seconds.of(2, "001_other") == expected


def test_seconds_of_another_report_count(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    build = build_in(tmp_path)
    entries = [kernel(build, task) for task in TASKS[:3]]
    long = {"sets": [{"set": "full", "seconds": 1500}]}
    build.result(entries[0], "incorrect", correctness=long)
    out = ["--out", str(tmp_path / "old")]
    assert cli.main(["rollup", "--build-dir", str(build.finish()), *out]) in (0, 77)
    build.path(entries[0]["result"]).unlink()
    capsys.readouterr()
    found, said = plan(tmp_path, capsys, "--seconds", str(tmp_path / "old"), "m")
    # 1500 s each, since there is nothing else to go by: one shard is to take ten minutes.
    assert [len(names) for names in found] == [1, 1, 1]
    assert "3 kernel(s) in 3 shard(s) of about 25 min" in said


def test_only_what_nobody_judges_is_in_a_shard(tmp_path, capsys):
    build = build_in(tmp_path)
    fresh, taken, rebuilt, new = (kernel(build, task) for task in TASKS[:4])
    build.result(fresh, "incorrect")
    build.finish()
    plan(tmp_path, capsys, "m")
    with_job = tmp_path / "taken"
    names = (tmp_path / "shards/1.names").read_text().splitlines()
    lines = [n for n in names if n.split()[0] in (taken["name"], rebuilt["name"])]
    with_job.write_text("\n".join(lines) + "\n")
    # Whoever judges this one judges what it was.
    build.path(rebuilt["module"]).write_text("built again")
    found, said = plan(tmp_path, capsys, "--taken", str(with_job), "m")
    assert found == [[rebuilt["name"], new["name"]]]
    assert said.endswith("at most, 1 already with a job, 1 with a fresh result\n")


def test_a_list_of_what_is_taken_that_cannot_be_read(tmp_path, refused):
    kernel(build_in(tmp_path), TASKS[0])
    for name, why in (("nope", "No such file or directory"), ("binary", "it is not UTF-8")):
        (tmp_path / "binary").write_bytes(b"\xff\n")
        err = refused("shards", "--build-dir", tmp_path / "build/h200", "--out", tmp_path / "shards",
                      "--taken", tmp_path / name, "m")  # fmt: skip
        assert f"cannot read {tmp_path / name}: {why}; give lines of the .names" in err


def test_results_of_an_earlier_harness_are_not_fresh(tmp_path, capsys, monkeypatch):
    build = build_in(tmp_path)
    build.result(kernel(build, TASKS[0]), "incorrect")
    build.finish()
    assert plan(tmp_path, capsys, "m") == ([], "1 with a fresh result\n")
    # As after a build: env.json still is that of the programs before it.
    monkeypatch.setattr(shards, "harness_sha256", lambda _: "0" * 64)
    assert len(plan(tmp_path, capsys, "m")[0]) == 1


def test_hashes_are_those_that_sha256sum_checks(tmp_path, capsys):
    build = build_in(tmp_path)
    entry = kernel(build, TASKS[0])
    build.finish()
    plan(tmp_path, capsys, "m")
    sums = tmp_path / "shards/1.sha256"
    check = ["sha256sum", "--strict", "--quiet", "-c", sums]
    assert subprocess.run(check, cwd=tmp_path, check=False).returncode == 0
    checked = {line[66:] for line in sums.read_text().splitlines()}
    own = {entry["build_json"], entry["module"], f"bin/level1.{TASKS[0]}.bench", "bin/kb_runner"}
    assert checked >= {f"build/h200/{name}" for name in own} | {entry["source"]}
    build.path(entry["module"]).write_text("another")
    done = subprocess.run(check, cwd=tmp_path, check=False, capture_output=True)
    assert done.returncode == 1


def test_the_harness_is_hashed_as_results_name_it(tmp_path, monkeypatch):
    monkeypatch.undo()
    names = ("bin/kb_cc", "lib/libkb_judge.so")
    for name in names:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(name)
    (tmp_path / "manifest.json").write_text(json.dumps({"harness": names}))
    assert shards.harness_sha256(tmp_path) == sha("".join(map(sha, names)))


def test_a_kernel_that_is_not_built_is_named(tmp_path, kb):
    build = build_in(tmp_path)
    entry = kernel(build, TASKS[0])
    build.path(entry["build_json"]).unlink()
    command = ("shards", "--build-dir", build.finish(), "--out", tmp_path / "x", "m")
    assert f"{entry['build_json']} is missing: build first" in kb(*command, status=2).err


def node_of(build, name="1.0", gpu="h200"):
    """What a node leaves: results and env.json, of modules like those that were submitted."""
    node = BuildDir(build.source_dir.parent / name, gpu=gpu, levels={1: TASKS})
    node.source_dir, node.candidates = build.source_dir, build.candidates
    (node.finish() / "manifest.json").unlink()
    return node


def take(build, capsys, *nodes, mixed=False):
    """Runs `kb-fleet adopt`."""
    option = ["--allow-mixed"] if mixed else []
    folders = [str(node) for node in nodes]
    status = main(["adopt", "--build-dir", str(build), *option, *folders])
    return (status, *capsys.readouterr())


def built(tmp_path, count):
    """A build folder with so many kernels, one for a task."""
    build = build_in(tmp_path / "src")
    entries = [kernel(build, task) for task in TASKS[:count]]
    build.finish()
    return build, entries


def test_each_result_is_taken_over_once(tmp_path, capsys):
    build, (here, there, both, unfinished, compiled) = built(tmp_path, 5)
    build.result(here, "incorrect", evidence="judged here")
    first, second = node_of(build), node_of(build, "1.1")
    first.result(here, "incorrect", evidence="judged there")
    first.result(there, speedup=1.5)
    first.result(both, "incorrect", evidence="first")
    first.result(unfinished)  # right, and not timed yet
    first.result(compiled, None)
    second.result(both, "incorrect", evidence="second")
    assert take(build, capsys, first, second) == (0, "2 result(s) taken over\n", "")
    assert build.read(here)["evidence"] == "judged here"
    assert build.read(both)["evidence"] == "first"
    assert build.read(there)["timing"]["lanes"]["eager"]["speedup"] == 1.5
    assert not build.path(unfinished["result"]).exists()
    assert take(build, capsys, first, second) == (0, "0 result(s) taken over\n", "")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"module": "0" * 64}, "rebuilt: judge again"),
        ({"task": "0" * 64}, "task changed: judge again"),
        ({"harness": "0" * 64}, "harness changed: judge again"),
        ({"source": "0" * 64}, "source changed: rebuild"),
        ({"module": None}, "it names no hash of its module"),
        ({"source": None}, "it names no hash of its source"),
        ({"task": None}, "it names no hash of its task"),
    ],
)
def test_a_result_of_other_files_is_refused(tmp_path, capsys, change, why):
    build, (entry, right) = built(tmp_path, 2)
    node = node_of(build)
    node.result(entry, "incorrect")
    node.change(entry, {"hashes": change})
    node.result(right, "incorrect")
    status, said, err = take(build, capsys, node)
    assert (status, said) == (1, "1 result(s) taken over\n")
    assert err == f"not taken: {entry['name']} in {node}: {why}\n"
    assert not build.path(entry["result"]).exists()


@pytest.mark.parametrize("text", ["", "{", '{"schema": 1}', "[]"])
def test_a_damaged_result_is_refused(tmp_path, capsys, text):
    build, (entry,) = built(tmp_path, 1)
    node = node_of(build)
    node.write(entry["result"], text)
    status, said, err = take(build, capsys, node)
    assert (status, said) == (1, "0 result(s) taken over\n")
    assert f"not taken: {entry['name']} in {node}: the result file" in err


def test_another_build_of_the_harness_is_refused(tmp_path, capsys):
    build, (entry,) = built(tmp_path, 1)
    node = node_of(build)
    node.result(entry, "incorrect")
    node.env = {"harness_sha256": "0" * 64}
    (node.finish() / "manifest.json").unlink()
    status, _, err = take(build, capsys, node)
    assert status == 1
    assert err == f"not taken: {node}: judged by another build of the harness\n"


def test_different_machines_are_refused_as_in_merge(tmp_path, capsys):
    build, entries = built(tmp_path, 2)
    nodes = [node_of(build), node_of(build, "2.0", gpu="l40s")]
    for node, entry in zip(nodes, entries, strict=True):
        node.result(entry, speedup=1.5)
    status, said, err = take(build, capsys, *nodes)
    assert (status, said) == (3, "")
    assert "refused to merge: different machines (NVIDIA H200" in err
    assert not build.path(entries[0]["result"]).exists()
    assert take(build, capsys, *nodes, mixed=True)[0] == 0
    # What is here already stands in the same table.
    build.path(entries[1]["result"]).unlink()
    assert take(build, capsys, nodes[1])[0] == 3


def test_a_machine_that_only_builds_gets_the_environment_of_the_nodes(tmp_path, capsys):
    build, (entry,) = built(tmp_path, 1)
    build.path("env.json").unlink()
    node = node_of(build)
    node.result(entry, "incorrect")
    assert take(build, capsys, node)[0] == 0
    assert cli.main(["pending", "--build-dir", str(build), "m"]) == 0
    assert capsys.readouterr().out == ""


def test_an_environment_older_than_the_choice_of_tasks_refuses_nothing(tmp_path, capsys):
    """The list of sources follows KB_TASKS, the programs do not."""
    build, (here, there) = built(tmp_path, 2)
    build.result(here, "incorrect")
    node = node_of(build)
    node.result(there, "incorrect")
    sources = sha(build.path("sources.sha256").read_bytes())
    build.env, node.env = {"sources_sha256": "0" * 64}, {"sources_sha256": sources}
    build.finish()
    (node.finish() / "manifest.json").unlink()
    assert take(build, capsys, node) == (0, "1 result(s) taken over\n", "")
    assert read_json(build.path("env.json"))["sources_sha256"] == sources


def test_folders_without_results_are_passed_over(tmp_path, capsys):
    build, _ = built(tmp_path, 1)
    (tmp_path / "1.1").mkdir()
    folders = (node_of(build), tmp_path / "1.1", tmp_path / "1.2")
    assert take(build, capsys, *folders) == (0, "0 result(s) taken over\n", "")
