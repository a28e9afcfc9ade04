"""dataset: pairs of task and kernel, from invented results."""

import json
import sys

import pytest

from kb_report import dataset, tree
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
        return self.build.judged(i, verdict, speedup, run="m", **options)

    def keep_hashes(self):
        """sources.sha256 as the build writes it, and its hash in env.json."""
        root = self.build.source_dir
        files = [*root.glob("level1/*/task.h"), *root.glob("level1/*/reference.cpp"),
                 *root.glob("harness/**/*.h")]  # fmt: skip
        lines = [f"{sha(f.read_bytes())}  {f.relative_to(root)}\n" for f in files]
        path = self.build.write("sources.sha256", "".join(lines))
        self.build.env = {"sources_sha256": sha(path.read_bytes())}

    def finish(self):
        return self.build.finish()


@pytest.fixture
def t(tmp_path):
    return Tree(tmp_path / "h200")


@pytest.fixture
def pairs(tmp_path, kb):
    """Runs the command: the rows that it writes, and what is printed."""

    def run(*roots, status=0):
        out = tmp_path / "pairs.jsonl"
        printed = kb("dataset", *roots, "--out", out, status=status)
        return [json.loads(line) for line in out.read_text().splitlines()], printed

    return run


def test_a_row_per_candidate_with_a_fresh_verdict(t, tmp_path, pairs):
    fast = t.add(0, "pass", 2.0)
    t.add(1, "incorrect")
    t.add(2, "compile_error")
    stale = t.add(3, "pass", 2.0)
    t.build.path(stale["module"]).write_text("rebuilt")
    changed = t.add(4, "pass", 2.0)
    (t.build.source_dir / changed["source"]).write_text("// later\n")
    t.add(5, None)
    t.build.runs = {"m": {"model": "Some Model", "library": "cublas"}}
    rows, printed = pairs(t.finish())
    assert [r["verdict"] for r in rows] == ["pass", "incorrect", "compile_error"]
    for words in ("3 pair(s)", "1 not judged (stale)", "1 source changed"):
        assert words in printed.out
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
    text = (tmp_path / "pairs.jsonl").read_text()
    assert "rng_seed" not in text and str(tmp_path) not in text


def test_the_text_of_a_task_is_that_of_the_build(t, pairs):
    a, b = t.add(0), t.add(1)
    assert [r["task_verified"] for r in pairs(t.finish())[0]] == [False, False]
    t.keep_hashes()
    t.file(b["task"], "task.h").write_text("// another task\n")
    rows, printed = pairs(t.finish())
    assert [(r["name"], r["task_verified"]) for r in rows] == [(a["name"], True)]
    assert "task changed" in printed.out
    t.file(a["task"], "reference.cpp").unlink()
    rows, printed = pairs(t.finish(), status=2)
    assert len(rows) == 1, "the earlier file stays"
    assert "task missing" in printed.err


def test_what_tasks_share_is_part_of_them(t, pairs):
    a, b = t.add(0), t.add(1)
    shared = t.build.source_dir / "harness/shared/net.h"
    shared.parent.mkdir(parents=True)
    shared.write_text("// as judged\n")
    t.file(b["task"], "reference.cpp").write_text('#include "../../harness/shared/net.h"\n')
    t.keep_hashes()
    rows, _ = pairs(t.finish())
    assert [(r["reference_includes"], r["task_verified"]) for r in rows] == [
        ("", True), ("// as judged\n", True),
    ]  # fmt: skip
    shared.write_text("// another\n")
    rows, printed = pairs(t.finish())
    assert [r["name"] for r in rows] == [a["name"]] and "task changed" in printed.out


def test_kernels_are_exact_and_steer_no_terminal(t, tmp_path, pairs):
    evil = KERNEL + '// \x1b[2J \u202e \x9b "\\ é\r\n\u2028</script>'
    entry = t.add(0, "incorrect", source=evil)
    (t.build.source_dir / entry["source"]).write_bytes(evil.encode())
    t.build.result(entry, "incorrect", evidence="\x1b[2Jwrong\u202e")
    (row,), _ = pairs(t.finish())
    assert set((tmp_path / "pairs.jsonl").read_bytes()) <= {0x0A, *range(0x20, 0x7F)}
    assert row["kernel"] == evil and row["evidence"] == "wrong\ufffd"


def test_a_source_outside_of_the_tree_is_left_out(t, tmp_path, pairs):
    t.add(0)
    entry = t.add(1)
    secret = tmp_path / "secret.cu"
    secret.write_bytes((t.build.source_dir / entry["source"]).read_bytes())
    entry["source"] = "../secret.cu"
    link = t.add(2)
    path = t.build.source_dir / link["source"]
    path.unlink()
    path.symlink_to(secret)
    rows, printed = pairs(t.finish())
    assert len(rows) == 1 and "2 source missing" in printed.out


def test_the_same_verdict_is_one_row(t, pairs):
    t.add(0, "pass", 2.0)
    root = t.finish()
    assert len(pairs(root, f"{root}/.")[0]) == 1


def test_times_without_a_gpu_are_no_speedups(tmp_path, pairs):
    t = Tree(tmp_path / "cpu", backend="cpu")
    t.add(0, "pass", 3.0)
    (row,), _ = pairs(t.finish())
    assert row["lanes"] == [] and row["sizes"] is None and row["gpu"] is None
    assert row["backend"] == "cpu" and row["verdict"] == "pass"


def test_bad_input_is_named_and_the_rest_written(t, tmp_path, pairs):
    t.add(0, "pass", 2.0)
    t.build.path(t.add(1)["result"]).write_text("{")
    rows, printed = pairs(t.finish(), tmp_path / "nobody", status=1)
    assert len(rows) == 1
    assert "truncated" in printed.err and "nobody" in printed.err


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("pairs.csv", ".jsonl"),
        ("pairs", ".jsonl"),
        ("pairs.json", ".jsonl"),
        ("pairs.parquet", "pyarrow"),
    ],
)
def test_a_form_that_cannot_be_written_is_refused(t, tmp_path, kb, monkeypatch, name, word):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    t.add(0)
    assert word in kb("dataset", t.finish(), "--out", tmp_path / name, status=2).err
    assert not (tmp_path / name).exists()


def test_parquet_holds_the_same_rows(t, tmp_path, kb, pairs):
    parquet = pytest.importorskip("pyarrow.parquet")
    t.add(0, "pass", 2.0)
    t.add(1, "incorrect")
    kb("dataset", t.finish(), "--out", tmp_path / "pairs.parquet")
    rows, _ = pairs(t.finish())
    assert parquet.read_table(tmp_path / "pairs.parquet").to_pylist() == rows
