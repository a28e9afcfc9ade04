"""dataset: pairs of task and kernel, from invented results."""

import json
import sys

import pytest

from kb_report import dataset, tree
from kb_report.cli import main
from synthetic import KERNEL, BuildDir, sha, tasks_of


class Tree:
    """A build directory whose source tree holds the tasks' texts, too."""

    def __init__(self, root, **options):
        self.build = BuildDir(root, levels={1: tasks_of(1, 6)}, **options)
        for task in self.build.levels[1]:
            for file in (tree.HEADER, tree.REFERENCE):
                path = self.file(task, file)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(f"// {file} of {task}\n")

    def file(self, task, file):
        return self.build.source_dir / "level1" / task / file

    def add(self, i, verdict="pass", speedup=None, **options):
        changes = {k: options.pop(k) for k in ("evidence",) if k in options}
        entry = self.build.add(self.build.levels[1][i], **{"run": "m", **options})
        self.build.result(entry, verdict, speedup, **changes)
        return entry

    def keep_hashes(self):
        """sources.sha256 as the build writes it, and its hash in env.json."""
        lines = [
            f"{sha(self.file(task, file).read_bytes())}  level1/{task}/{file}\n"
            for task in self.build.levels[1]
            for file in (tree.HEADER, tree.REFERENCE)
        ]
        path = self.build.write("sources.sha256", "".join(lines))
        env = json.loads(self.build.path("env.json").read_text())
        self.build.write("env.json", env | {"sources_sha256": sha(path.read_bytes())})

    def finish(self):
        self.build.finish()
        return str(self.build.root)


def rows_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_row_per_candidate_with_a_fresh_verdict(tmp_path, capsys):
    t = Tree(tmp_path / "h200")
    fast = t.add(0, "pass", 2.0)
    t.add(1, "incorrect")
    t.add(2, "compile_error")
    stale = t.add(3, "pass", 2.0)
    t.build.path(stale["module"]).write_text("rebuilt")
    changed = t.add(4, "pass", 2.0)
    (t.build.source_dir / changed["source"]).write_text("// later\n")
    t.add(5, None)
    t.build.runs = {"m": {"model": "Some Model", "library": "cublas"}}
    root, out = t.finish(), tmp_path / "pairs.jsonl"
    assert main(["dataset", root, "--out", str(out)]) == 0
    rows = rows_of(out)
    assert [r["verdict"] for r in rows] == ["pass", "incorrect", "compile_error"]
    said = capsys.readouterr().out
    assert "3 pair(s)" in said and "1 not judged (stale)" in said and "1 source changed" in said
    row = rows[0]
    assert row["name"] == fast["name"] and row["kind"] == dataset.KIND
    assert row["task_h"] == f"// task.h of {fast['task']}\n"
    assert row["reference_cpp"] == f"// reference.cpp of {fast['task']}\n"
    assert row["kernel"] == (t.build.source_dir / fast["source"]).read_text()
    assert row["hashes"]["kernel"] == sha(row["kernel"])
    assert row["gpu"]["name"] == "NVIDIA H200" and row["contract"] == "fp32"
    assert (row["model"], row["library"]) == ("Some Model", "cublas")
    (lane,) = row["lanes"]
    assert (lane["lane"], lane["speedup"], lane["confidence"]) == ("eager", 2.0, 0.99)
    assert lane["ci_lo"] < 2 < lane["ci_hi"]
    assert rows[1]["lanes"] == [] and rows[1]["evidence"].startswith("Output y differs")
    assert "__shfl_down_synch" in rows[2]["diagnostics"]
    text = out.read_text()
    assert "rng_seed" not in text and str(tmp_path) not in text


def test_the_text_of_a_task_is_that_of_the_build(tmp_path, capsys):
    t = Tree(tmp_path / "h200")
    a, b = t.add(0), t.add(1)
    root, out = t.finish(), tmp_path / "pairs.jsonl"
    assert main(["dataset", root, "--out", str(out)]) == 0
    assert [r["task_verified"] for r in rows_of(out)] == [False, False]
    t.keep_hashes()
    t.file(b["task"], "task.h").write_text("// another task\n")
    capsys.readouterr()
    assert main(["dataset", root, "--out", str(out)]) == 0
    assert [(r["name"], r["task_verified"]) for r in rows_of(out)] == [(a["name"], True)]
    assert "task changed" in capsys.readouterr().out
    t.file(a["task"], "reference.cpp").unlink()
    assert main(["dataset", root, "--out", str(out)]) == 2
    assert len(rows_of(out)) == 1, "the earlier file stays"
    assert "task missing" in capsys.readouterr().err


def test_kernels_are_exact_and_steer_no_terminal(tmp_path):
    t = Tree(tmp_path / "h200")
    evil = KERNEL + '// \x1b[2J \u202e \x9b "\\ é\r\n\u2028</script>'
    entry = t.add(0, "incorrect", source=evil, evidence="\x1b[2Jwrong\u202e")
    path = t.build.source_dir / entry["source"]
    path.write_bytes(evil.encode())
    t.build.result(entry, "incorrect", evidence="\x1b[2Jwrong\u202e")
    out = tmp_path / "pairs.jsonl"
    assert main(["dataset", t.finish(), "--out", str(out)]) == 0
    assert set(out.read_bytes()) <= {0x0A, *range(0x20, 0x7F)}
    (row,) = rows_of(out)
    assert row["kernel"] == evil and row["evidence"] == "wrong\ufffd"


def test_a_source_outside_of_the_tree_is_left_out(tmp_path, capsys):
    t = Tree(tmp_path / "h200")
    t.add(0)
    entry = t.add(1)
    secret = tmp_path / "secret.cu"
    secret.write_bytes((t.build.source_dir / entry["source"]).read_bytes())
    entry["source"] = "../secret.cu"
    link = t.add(2)
    path = t.build.source_dir / link["source"]
    path.unlink()
    path.symlink_to(secret)
    out = tmp_path / "pairs.jsonl"
    assert main(["dataset", t.finish(), "--out", str(out)]) == 0
    assert len(rows_of(out)) == 1
    assert "2 source missing" in capsys.readouterr().out


def test_the_same_verdict_is_one_row(tmp_path, capsys):
    t = Tree(tmp_path / "h200")
    t.add(0, "pass", 2.0)
    root, out = t.finish(), tmp_path / "pairs.jsonl"
    assert main(["dataset", root, f"{root}/.", "--out", str(out)]) == 0
    assert len(rows_of(out)) == 1


def test_times_without_a_gpu_are_no_speedups(tmp_path):
    t = Tree(tmp_path / "cpu", backend="cpu")
    t.add(0, "pass", 3.0)
    out = tmp_path / "pairs.jsonl"
    assert main(["dataset", t.finish(), "--out", str(out)]) == 0
    (row,) = rows_of(out)
    assert row["lanes"] == [] and row["sizes"] is None and row["gpu"] is None
    assert row["backend"] == "cpu" and row["verdict"] == "pass"


def test_bad_input_is_named_and_the_rest_written(tmp_path, capsys):
    t = Tree(tmp_path / "h200")
    t.add(0, "pass", 2.0)
    bad = t.add(1)
    t.build.path(bad["result"]).write_text("{")
    out = tmp_path / "pairs.jsonl"
    assert main(["dataset", t.finish(), str(tmp_path / "nobody"), "--out", str(out)]) == 1
    assert len(rows_of(out)) == 1
    err = capsys.readouterr().err
    assert "truncated" in err and "nobody" in err


@pytest.mark.parametrize("name", ["pairs.csv", "pairs", "pairs.json"])
def test_an_unknown_form_is_refused(tmp_path, capsys, name):
    t = Tree(tmp_path / "h200")
    t.add(0)
    assert main(["dataset", t.finish(), "--out", str(tmp_path / name)]) == 2
    assert ".jsonl" in capsys.readouterr().err and not (tmp_path / name).exists()


def test_parquet_needs_pyarrow(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    t = Tree(tmp_path / "h200")
    t.add(0)
    out = tmp_path / "pairs.parquet"
    assert main(["dataset", t.finish(), "--out", str(out)]) == 2
    assert "pyarrow" in capsys.readouterr().err and not out.exists()


def test_parquet_holds_the_same_rows(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    t = Tree(tmp_path / "h200")
    t.add(0, "pass", 2.0)
    t.add(1, "incorrect")
    root = t.finish()
    for suffix in ("jsonl", "parquet"):
        assert main(["dataset", root, "--out", str(tmp_path / f"pairs.{suffix}")]) == 0
    table = parquet.read_table(tmp_path / "pairs.parquet")
    assert table.to_pylist() == rows_of(tmp_path / "pairs.jsonl")
