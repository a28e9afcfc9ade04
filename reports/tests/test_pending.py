"""Which kernels of a run are still to be judged, for tools/judge."""

from kb_report.cli import main
from synthetic import BuildDir, tasks_of


def pending(root, run, capsys):
    status = main(["pending", "--build-dir", str(root), run])
    out, err = capsys.readouterr()
    return status, out.split(), err


def test_what_a_table_would_not_count_is_pending(tmp_path, capsys):
    tasks = tasks_of(1, 8)
    build = BuildDir(tmp_path / "h200", levels={1: tasks})
    entries = [build.add(task, run="m", sample="s0") for task in tasks]
    timed, untimed, broken, rebuilt, none, edited, compiled, wrong = entries
    build.result(timed, speedup=1.5)
    build.result(untimed)
    build.result(broken, "compile_error")
    build.result(rebuilt, speedup=1.5)
    build.path(rebuilt["module"]).write_text("another module")
    build.result(edited, speedup=1.5)
    (build.source_dir / edited["source"]).write_text("// another source")
    build.result(compiled, None)
    build.result(wrong, "incorrect")
    build.result(build.add(tasks[0], run="m", sample="s1"), speedup=1.5)
    build.add(tasks[0], run="other")
    root = build.finish()

    wanted = [e["name"] for e in (untimed, rebuilt, none, edited, compiled)]
    status, names, said = pending(root, "m", capsys)
    assert (status, sorted(names)) == (0, sorted(wanted))
    assert said == "2 of 9 pass, 1 of 9 does not compile, 5 of 9 are not judged\n"
    assert pending(root, "m/s1", capsys)[1:] == ([], "1 of 1 pass\n")

    assert main(["verdicts", "--build-dir", str(root), "m/s0"]) == 0
    fresh = {timed["name"]: "pass", broken["name"]: "compile_error", wrong["name"]: "incorrect"}
    assert dict(line.split() for line in capsys.readouterr().out.splitlines()) == fresh


def test_a_run_that_is_not_configured_is_named(tmp_path, capsys):
    build = BuildDir(tmp_path / "cpu", backend="cpu")
    build.add(tasks_of(1, 1)[0], run="m", sample="s0")
    root = build.finish()
    for run in ("n", "m/s1"):
        status, names, said = pending(root, run, capsys)
        assert (status, names) == (2, [])
        assert f"no kernel of {run} is configured here; the runs that are: m" in said
