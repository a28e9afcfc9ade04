"""Which kernels of a run are still to be judged, for tools/judge."""

import pytest

from synthetic import EVIDENCE, BuildDir, tasks_of


def test_what_a_table_would_not_count_is_pending(tmp_path, kb):
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
    build.fill({0: 1.5}, run="m", sample="s1").fill({0: None}, run="other").finish()

    wanted = [e["name"] for e in (untimed, rebuilt, none, edited, compiled)]
    names, said = kb("pending", "--build-dir", build, "m")
    assert sorted(names.split()) == sorted(wanted)
    *failed, sentence = said.splitlines()
    assert [line.split()[:2] for line in failed] == [
        ["compile_error", f"s0/level1/{tasks[2]}"],
        ["incorrect", f"s0/level1/{tasks[7]}"],
    ]
    assert EVIDENCE["incorrect"][:90] in failed[1]
    assert sentence == (
        "2 of 9 submitted kernels are right, 1 of 9 does not compile, 5 of 9 are not judged"
    )
    assert kb("pending", "--build-dir", build, "m/s1") == (
        "",
        "1 of 1 submitted kernel is right\n",
    )

    fresh = {timed["name"]: "pass", broken["name"]: "compile_error", wrong["name"]: "incorrect"}
    said = kb("verdicts", "--build-dir", build, "m/s0").out
    assert dict(line.split() for line in said.splitlines()) == fresh


def test_of_many_failures_ten_are_shown_and_the_others_counted(build, kb):
    verdicts = [*["timeout"] * 12, "degenerate", "skipped"]
    build.levels[1] = tasks_of(1, len(verdicts))
    root = build.fill(dict(enumerate(verdicts)), run="m").finish()
    *failed, more, sentence = kb("pending", "--build-dir", root, "m").err.splitlines()
    assert [line.split()[0] for line in failed] == ["timeout"] * 10
    assert more == "  and 2 more"
    assert sentence == (
        "0 of 14 submitted kernels are right, 1 of 14 is degenerate, 1 of 14 is skipped"
    )


@pytest.mark.parametrize("run", ["n", "m/s1"])
def test_a_run_that_is_not_configured_is_named(build, refused, run):
    root = build.fill({0: None}, run="m", sample="s0").finish()
    said = refused("pending", "--build-dir", root, run)
    assert f"no kernel of {run} is configured here; the runs that are: m" in said
