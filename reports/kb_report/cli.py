"""The command line of `kb-report`: one function per command."""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
from pathlib import Path
from typing import Any, TextIO

from kb_report import (
    __version__,
    compare,
    compare_tables,
    dataset,
    feedback,
    gate,
    hardware,
    leaderboard,
    load,
    matrix,
    matrix_tables,
    merge,
    metrics,
    model,
    overview,
    page,
    pending,
    prompt,
    rollup,
    spreadsheet,
    tables,
    timer,
    upstream,
    write,
)
from kb_report.model import PRIMARY_LANE, Problem, ReportError, Suite


def main(argv: list[str] | None = None) -> int:
    """Run a command and return the exit status (see `model`)."""
    return run(_parser(), argv)


def run(parser: argparse.ArgumentParser, argv: list[str] | None = None) -> int:
    """Run what the parser sets as `run`; every error becomes a sentence after the program's name."""
    args = parser.parse_args(argv)
    for stream in (sys.stdout, sys.stderr):
        # A terminal without UTF-8 must not turn a report into a traceback.
        stream.reconfigure(errors="replace")
    try:
        status = args.run(args)
        sys.stdout.flush()  # here, where an error can still be told
        return status
    except ReportError as e:
        say(f"{parser.prog}: {e}", sys.stderr)
        return e.status
    except BrokenPipeError:
        _forget_output()
        return model.OK
    except OSError as e:
        _forget_output()
        what = f"read or write {e.filename}" if e.filename else "write standard output"
        say(f"{parser.prog}: cannot {what}: {e.strerror or e}", sys.stderr)
        return model.USAGE
    except KeyboardInterrupt:
        return 130


def _forget_output() -> None:
    """Keep Python from writing at its end what could not be written before."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(text: str, stream: TextIO | None = None, end: str = "\n") -> None:
    """Print what may hold text of other people's reports, without what steers a terminal."""
    print(model.clean(text), file=stream, end=end)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="kb-report", description="Tables, pages and comparisons from KernelBench results."
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    source = "a build directory, a report directory or a results.json"

    p = commands.add_parser("rollup", help="report on everything a build directory judged")
    p.add_argument("--build-dir", type=Path, required=True, metavar="DIR")
    p.add_argument("--out", type=Path, metavar="DIR", help="default: <build-dir>/reports")
    p.add_argument(
        "--run", dest="runs", action="append", default=[], metavar="GLOB",
        help="only these runs, written to --out (may be repeated)",
    )  # fmt: skip
    p.add_argument(
        "--tasks", action="append", default=[], metavar="GLOB",
        help="only these tasks, such as 'level1/*', written to --out: N counts them alone (may be "
        "repeated)",
    )  # fmt: skip
    _add_baseline(p)
    p.set_defaults(run=_rollup)

    p = commands.add_parser("pending", help="list the kernels of a run that are still to be judged")
    p.add_argument("--build-dir", type=Path, required=True, metavar="DIR")
    p.add_argument("run_name", metavar="RUN[/SAMPLE]")
    p.set_defaults(run=_pending)

    p = commands.add_parser("verdicts", help="list the fresh verdicts of a run's kernels")
    p.add_argument("--build-dir", type=Path, required=True, metavar="DIR")
    p.add_argument("run_name", metavar="RUN[/SAMPLE]")
    p.set_defaults(run=_verdicts)

    p = commands.add_parser("compare", help="compare runs with runs, or GPUs with GPUs")
    p.add_argument(
        "sides", nargs="+", metavar="PATH[#RUN[/SAMPLE]]",
        help=f"{source}; without #RUN all runs of it; the first is the base, of runs on further "
        "machines the same run on an earlier one",
    )  # fmt: skip
    p.add_argument("--lane", default=PRIMARY_LANE, help="baseline to use (default: %(default)s)")
    p.add_argument(
        "--out", type=Path, metavar="DIR", help="write compare.json, .md and .html there"
    )
    _add_tasks(p)
    p.add_argument("--allow-mixed", action="store_true", help="compare what differs, saying so")
    p.set_defaults(run=_compare)

    p = commands.add_parser("merge", help="make one report of the reports of several shards")
    p.add_argument("inputs", nargs="+", type=Path, metavar="PATH", help=source)
    p.add_argument("--out", type=Path, required=True, metavar="DIR")
    p.add_argument("--allow-mixed", action="store_true", help="merge what differs, saying so")
    _add_baseline(p)
    p.set_defaults(run=_merge)

    p = commands.add_parser("gate", help="fail if something is significantly worse than before")
    p.add_argument("current", type=Path, metavar="PATH", help=source)
    p.add_argument("--against", type=Path, required=True, metavar="BASE", help=source)
    p.add_argument("--lane", default=PRIMARY_LANE, help="baseline to use (default: %(default)s)")
    p.add_argument(
        "--tolerance", type=_share, default=0.02, metavar="SHARE",
        help="loss of speed-up that is no regression (default: %(default)s)",
    )  # fmt: skip
    p.add_argument(
        "--alpha", type=_share, default=0.01, metavar="P",
        help="probability of a false alarm over all candidates (default: %(default)s)",
    )  # fmt: skip
    p.add_argument(
        "--partial", action="store_true", help="ignore candidates that were not judged or timed now"
    )
    p.add_argument("--allow-mixed", action="store_true", help="gate across what differs")
    p.add_argument(
        "--out", type=Path, metavar="FILE",
        help=f"write all of it there; printed are at most {gate.SHOWN} lines of each kind",
    )  # fmt: skip
    p.set_defaults(run=_gate)

    p = commands.add_parser("feedback", help="print what helps to improve one candidate")
    p.add_argument("source", type=Path, metavar="PATH", help=source)
    p.add_argument("name", help="name of the candidate, for example mymodel.level1.019_relu")
    p.add_argument("--json", action="store_true", help="print JSON instead of Markdown")
    p.set_defaults(run=_feedback)

    p = commands.add_parser("prompt", help="print the complete text for a generator of kernels")
    p.add_argument("task", nargs="?", metavar="levelN/NNN_slug", help="the task; or else --all")
    p.add_argument("--style", choices=prompt.STYLES, default="zero-shot", help="%(default)s")
    p.add_argument(
        "--gpu", metavar="PRESET|FILE",
        help="facts about the GPU: a preset that was judged on it, a file facts.json, or a name such as "
        "l40s of reports/hardware",
    )  # fmt: skip
    p.add_argument(
        "--results", metavar="PATH[#RUN[/SAMPLE]]",
        help=f"for style refine, where the last kernel was judged: {source}, or its result",
    )  # fmt: skip
    p.add_argument(
        "--contract", choices=prompt.CONTRACTS,
        help="precision (default: that of the last kernel, or else kernelbench)",
    )  # fmt: skip
    p.add_argument(
        "--library", choices=prompt.LIBRARIES,
        help="what the kernel may call (default: what its run.json says, or else none)",
    )  # fmt: skip
    p.add_argument(
        "--templates", type=Path, metavar="DIR",
        help="templates that replace those of reports/templates/prompt with the same names",
    )  # fmt: skip
    p.add_argument("--all", action="store_true", help="every task; needs --format jsonl or files")
    p.add_argument(
        "--format", choices=("text", "jsonl", "files"), default="text",
        help="%(default)s; files: of --all, one for each task in the folder --out",
    )  # fmt: skip
    p.add_argument("--out", type=Path, metavar="FILE", help="write there instead of printing")
    p.set_defaults(run=_prompt)

    p = commands.add_parser("facts", help="write what a build directory measured of its GPU")
    p.add_argument("folder", type=Path, metavar="DIR", help="build directory, such as build/l40s")
    p.add_argument("--out", type=Path, metavar="FILE", required=True, help="the facts.json")
    p.set_defaults(run=_facts)

    p = commands.add_parser("dataset", help="write tasks, kernels and verdicts, one per line")
    p.add_argument("inputs", nargs="+", type=Path, metavar="PATH", help=source)
    p.add_argument("--out", type=Path, required=True, metavar="FILE.jsonl|FILE.parquet")
    p.set_defaults(run=_dataset)

    p = commands.add_parser("leaderboard", help="rank runs by fast_1 on one page")
    _add_runs(p, source)
    p.add_argument("--out", type=Path, required=True, metavar="FILE.html")
    p.add_argument("--lane", default=PRIMARY_LANE, help="baseline to use (default: %(default)s)")
    _add_tasks(p)
    p.add_argument("--allow-mixed", action="store_true", help="rank what differs, saying so")
    p.set_defaults(run=_leaderboard)

    p = commands.add_parser("matrix", help="put runs on several GPUs side by side, task by task")
    _add_runs(p, source)
    p.add_argument(
        "--out", type=_web_page, required=True, metavar="FILE.html", help="FILE.csv goes beside it"
    )
    p.add_argument("--lane", default=PRIMARY_LANE, help="baseline to use (default: %(default)s)")
    _add_tasks(p)
    p.add_argument("--allow-mixed", action="store_true", help="show what differs, saying so")
    p.set_defaults(run=_matrix)

    p = commands.add_parser("export", help="write the files of other tools")
    p.add_argument("format", choices=("kernelbench", "google-benchmark"))
    p.add_argument("source", type=Path, metavar="PATH", help=source)
    p.add_argument("--out", type=Path, required=True, metavar="DIR")
    p.set_defaults(run=_export)

    p = commands.add_parser("timer", help="show how good the timer is")
    p.add_argument(
        "source", type=Path, metavar="PATH",
        help="a file of harness/lab/measure-timing, FILE.jsonl or .jsonl.gz: FILE.json and .md go "
        f"beside it; or {source}: what befalls the reference or the candidate only",
    )  # fmt: skip
    p.set_defaults(run=_timer)
    return parser


def _add_baseline(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--baseline", type=Path, action="append", default=[], metavar="FILE",
        help="a timing file of KernelBench to compare with, too (may be repeated)",
    )  # fmt: skip


def _add_runs(p: argparse.ArgumentParser, source: str) -> None:
    help_ = f"{source}; without #RUN all runs of it"
    p.add_argument("inputs", nargs="+", metavar="PATH[#RUN[/SAMPLE]]", help=help_)


def _add_tasks(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--tasks", action="append", default=[], metavar="GLOB",
        help="only these tasks of all runs, such as 'level1/*': N counts them alone (may be "
        "repeated)",
    )  # fmt: skip


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError("must lie between 0 and 1")
    return value


def _read(path: Path) -> Suite:
    """The suite of a path; what is bad in it is told on standard error. Raises ReportError."""
    suite = merge.read_suite(path)
    _tell(suite.problems)
    return suite


def _status(*suites: Suite) -> int:
    return model.BAD_INPUT if any(suite.problems for suite in suites) else model.OK


def _rollup(args: argparse.Namespace) -> int:
    if (args.runs or args.tasks) and not args.out:
        raise ReportError("--run and --tasks make a part of the report: say where with --out DIR")
    suite = load.load_build_dir(args.build_dir)
    suite.narrow(args.runs, args.tasks)
    upstream.add_baselines(suite, args.baseline)
    return publish(suite, args.out or args.build_dir / "reports")


def _records(args: argparse.Namespace) -> list[dict[str, Any]]:
    run, _, sample = args.run_name.partition("/")
    return pending.records_of(load.load_build_dir(args.build_dir), run, sample or None)


def _verdicts(args: argparse.Namespace) -> int:
    """Fresh verdicts alone, one per line after the name, for tools/refine."""
    for record in _records(args):
        if not pending.is_pending(record):
            print(record["name"], record["result"]["verdict"])
    return model.OK


def _pending(args: argparse.Namespace) -> int:
    """Names on standard output, for tools/judge; failures and a sentence on standard error."""
    records = _records(args)
    for record in records:
        if pending.is_pending(record):
            print(record["name"])
    sys.stdout.flush()
    if failed := pending.failures(records):
        say(failed, sys.stderr)
    print(pending.summary(records), file=sys.stderr)
    return model.OK


def _merge(args: argparse.Namespace) -> int:
    suites, problems = merge.read_suites(args.inputs)
    merged = merge.merge(list(suites.values()), list(suites), args.allow_mixed)
    merged.problems += problems
    upstream.add_baselines(merged, args.baseline)
    return publish(merged, args.out)


def _compare(args: argparse.Namespace) -> int:
    sides, problems = compare.sides_of(args.sides, args.tasks)
    doc = compare.compare(sides, args.lane, args.allow_mixed, problems)
    say(compare_tables.text(doc))
    _tell(problems)
    if args.out:
        write.write_atomic(args.out / "compare.json", write.as_json(doc))
        write.write_atomic(args.out / "compare.md", compare_tables.markdown(doc))
        has_page = page.write_comparison(args.out / "compare.html", doc)
        print(f"\nreport: {args.out / ('compare.html' if has_page else 'compare.md')}")
    return model.BAD_INPUT if problems else model.OK


def _gate(args: argparse.Namespace) -> int:
    base, current = _read(args.against), _read(args.current)
    found = gate.gate(
        base, current, args.tolerance, args.alpha, args.lane, args.allow_mixed, args.partial
    )
    if args.out:
        write.write_atomic(args.out, model.clean(gate.text(found, None)) + "\n")
    say(gate.text(found))
    return model.BAD_INPUT if found["regressions"] else _status(base, current)


def _feedback(args: argparse.Namespace) -> int:
    suite = _read(args.source)
    found = feedback.document(suite.candidate(args.name))
    say(write.as_json(found) if args.json else feedback.markdown(found), end="")
    return _status(suite)


def _prompt(args: argparse.Namespace) -> int:
    """Make everything first, then print it, so that an error leaves nothing half."""
    if (args.task is None) != args.all:
        raise ReportError("name one task as levelN/NNN_slug, or give --all instead")
    if args.all and args.format == "text":
        raise ReportError("--all gives many prompts: add --format jsonl or --format files")
    if args.format == "files" and not (args.all and args.out):
        raise ReportError("--format files needs --all, and the folder for them: --out DIR")
    choices = prompt.Choices(
        args.style, args.contract, args.library, args.gpu, args.results, args.templates
    )
    if args.all:
        rows, left_out = prompt.make_all(choices)
    else:
        rows, left_out = [prompt.make(args.task, choices)], []
    text = rows[0]["prompt"] if args.format == "text" else write.json_lines(rows)
    if args.format == "files":
        for row in rows:
            path = args.out / f"{row['task'].replace('/', '.')}.md"
            write.write_atomic(path, row["prompt"], durable=False)
        print(f"{len(rows)} prompt(s) in {args.out}")
    elif args.out:
        write.write_atomic(args.out, text)
        print(f"{len(rows)} prompt(s) in {args.out}")
    else:
        say(text, end="")
    sys.stdout.flush()
    for reason in left_out:
        say(f"left out: {reason}", sys.stderr)
    return model.BAD_INPUT if left_out else model.OK


def _facts(args: argparse.Namespace) -> int:
    write.write_atomic(args.out, write.as_json(hardware.measured(args.folder)))
    return model.OK


def _dataset(args: argparse.Namespace) -> int:
    save = dataset.writer(args.out)
    suites, problems = merge.read_suites(args.inputs)
    problems += dict.fromkeys(p for suite in suites.values() for p in suite.problems)
    pairs, left_out = dataset.pairs(list(suites.values()))
    _tell(problems)
    if not pairs:
        raise ReportError(f"there is nothing to write: {dataset.counts_text(left_out)}")
    save(pairs)
    say(f"{len(pairs)} pair(s) in {args.out}")
    if left_out:
        say(dataset.counts_text(left_out))
    return model.BAD_INPUT if problems else model.OK


def _leaderboard(args: argparse.Namespace) -> int:
    sides, problems = leaderboard.sides_of(args.inputs, args.tasks)
    doc = leaderboard.document(sides, args.lane, args.allow_mixed, problems)
    page.write_leaderboard(args.out, doc)
    say(leaderboard.text(doc))
    _tell(problems)
    say(f"\npage: {args.out}")
    return model.BAD_INPUT if problems else model.OK


def _web_page(text: str) -> Path:
    path = Path(text)
    if path.suffix != ".html":
        raise argparse.ArgumentTypeError(f"{text} must end in .html")
    return path


def _matrix(args: argparse.Namespace) -> int:
    sides, problems = leaderboard.sides_of(args.inputs, args.tasks)
    doc = matrix.document(sides, args.lane, args.allow_mixed, problems)
    write.write_atomic(args.out.with_suffix(".csv"), matrix_tables.csv(doc))
    has_page = page.write_matrix(args.out, doc)
    say(matrix_tables.text(doc))
    _tell(problems)
    print(
        f"\n{'page' if has_page else 'table'}: {args.out if has_page else args.out.with_suffix('.csv')}"
    )
    if problems:
        return model.BAD_INPUT
    return model.OK if has_page else model.NO_PAGE


def _timer(args: argparse.Namespace) -> int:
    if ".jsonl" not in args.source.suffixes:
        suite = _read(args.source)
        say(timer.results_markdown(timer.of_results(suite)), end="")
        return _status(suite)
    lines = args.source.with_suffix("") if args.source.suffix == ".gz" else args.source
    as_json, as_markdown = lines.with_suffix(".json"), lines.with_suffix(".md")
    for path in (as_json, as_markdown):
        if path.exists() and not timer.is_summary(path):
            raise ReportError(
                f"{path} is no summary of kb-report timer and would be replaced: move it, or "
                f"rename {args.source.name}"
            )
    found = timer.summary(timer.read(args.source))
    say(timer.markdown(found), end="")
    write.write_atomic(as_json, write.as_json(found))
    write.write_atomic(as_markdown, timer.markdown(found))
    return model.OK


def _export(args: argparse.Namespace) -> int:
    suite = _read(args.source)
    if args.format == "kernelbench":
        files = write_kernelbench(suite, args.out)
        scaled = upstream.timed_at_other_sizes(suite.candidates)
        if scaled:
            print(
                f"not in timing/, timed at other sizes than upstream's: {len(scaled)} "
                f"candidate(s): {tables.names(scaled)}"
            )
    else:
        files = 0
        for c in suite.candidates:
            value = upstream.google_benchmark(c, suite)
            if value:
                write.write_atomic(args.out / f"{c['name']}.json", write.as_json(value))
                files += 1
        if not files:
            raise ReportError(
                f"nothing to export: no candidate in {args.source} was timed on a GPU"
            )
    print(f"{files} file(s) in {args.out}")
    return _status(suite)


def write_kernelbench(suite: Suite, out: Path) -> int:
    """Write eval_results.json and analysis.json per run and level, and our baselines' times.

    Upstream's files know no levels and one machine, so each level of a run becomes a run of its own,
    and so does what each of several machines judged of it. Returns the number of files.
    """
    files: dict[Path, Any] = {}
    for run in suite.runs():
        for level in suite.levels:
            tasks, records = suite.tasks_of(run, level), suite.of(run, level)
            if not records:
                continue
            used = {upstream.hardware_of(c) for c in records if c["machine"]}
            for gpu in used or {"unknown"}:
                parts = [run, f"level{level}", *([_file_name(gpu)] if len(used) > 1 else [])]
                there = out / "runs" / "_".join(parts)
                files[there / "eval_results.json"] = upstream.eval_results(gpu, records)
                analysis = upstream.analysis(run, level, gpu, tasks, records)
                files[there / "analysis.json"] = analysis
    timed: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for c in suite.candidates:
        if metrics.outcome(c).judged:
            for lane in (c["result"].get("timing") or {}).get("lanes") or {}:
                timed.setdefault((upstream.hardware_of(c), lane), []).append(c)
    for (gpu, lane), records in sorted(timed.items()):
        if timing := upstream.baseline_timing(records, lane):
            name = _file_name(gpu)
            files[out / "timing" / name / f"baseline_time_{lane}.json"] = timing
    for path, value in files.items():
        write.write_atomic(path, write.as_json(value), durable=False)
    return len(files)


def _file_name(gpu: str) -> str:
    return re.sub(r"[^\w+-]", "_", gpu)


def write_feedback(suite: Suite, out: Path) -> None:
    """Write feedback/<run>/[<sample>/]levelN/<task>.json and .md for every candidate."""
    for c in suite.candidates:
        parts = [p for p in (c["run"], c["sample"], f"level{c['level']}") if p]
        found = feedback.document(c)
        path = out.joinpath(*parts) / c["task"]
        write.write_atomic(path.with_name(path.name + ".json"), write.as_json(found), durable=False)
        write.write_atomic(
            path.with_name(path.name + ".md"), feedback.markdown(found), durable=False
        )


def publish(suite: Suite, out: Path) -> int:
    """Write all files of a report, print its tables and path, and return the exit status.

    Raises ReportError, also where folders that it would replace belong to no earlier report.
    """
    _check_replaceable([out / "kernelbench", out / "feedback"], out / "results.json")
    doc = rollup.document(suite)
    write.write_atomic(out / "results.json", write.as_json(doc))
    write.write_atomic(out / "results.csv", spreadsheet.results(doc))
    write.write_atomic(out / "tasks.csv", spreadsheet.tasks(doc))
    summary = write.summary_md(doc)
    write.write_atomic(out / "summary.md", summary)
    write.write_atomic(out / "junit.xml", write.junit_xml(doc))
    with write.new_folder(out / "kernelbench") as folder:
        write_kernelbench(suite, folder)
    with write.new_folder(out / "feedback") as folder:
        write_feedback(suite, folder)
    _append_step_summary(summary)
    has_page = page.write_page(out / "index.html", suite, doc)

    say(tables.text(doc))
    sys.stdout.flush()  # before what goes to standard error
    for note in doc["notes"]:
        print(f"\nnote: {model.one_line(note, 400)}")
    _tell(suite.problems)
    if os.environ.get("DASHBOARD_TEST_FROM_CTEST"):
        print(measurements(doc))
    if not has_page:
        print("kb-report: no index.html, because Python has no Jinja2", file=sys.stderr)
    print(f"\nreport: {out / ('index.html' if has_page else 'summary.md')}")
    if suite.problems:
        return model.BAD_INPUT
    return model.OK if has_page else model.NO_PAGE


def _check_replaceable(folders: list[Path], report: Path) -> None:
    """Raise ReportError if one of the folders is there, but no report that they are part of."""
    found = next((f for f in folders if os.path.lexists(f)), None)
    if found is None:
        return
    # Its first lines say so: reading all of a large report would take minutes.
    start = load.read_text(report, 1000) if report.is_file() else None
    if f'"kind": "{rollup.KIND}"' in (start or ""):
        return
    raise ReportError(
        f"{found} is of no earlier report and would be replaced: move it, or choose another --out"
    )


def _tell(problems: list[Problem]) -> None:
    for p in problems:
        path, message = (model.one_line(text, 400) for text in (p.path, p.message))
        print(f"bad input ({p.kind}): {path} {message}", file=sys.stderr)


def _append_step_summary(summary: str) -> None:
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    try:
        with open(path, "a", encoding="utf-8") as f:
            f.write(summary + "\n")
    except OSError as e:
        print(f"kb-report: cannot append to GITHUB_STEP_SUMMARY: {e.strerror}", file=sys.stderr)


def measurements(doc: dict[str, Any]) -> str:
    """Lines that CTest turns into measurements of the test kb.report on a CDash dashboard."""
    lines = []
    for run in doc["runs"]:
        for level in run["levels"]:
            for row in overview.rows_of(level):
                at = ".".join(x for x in (run["run"], row["sample"], f"level{level['level']}") if x)
                values = {"fast_0": row["fast_0"]}
                for p, f in row["lanes"].get(model.PRIMARY_LANE, {}).get("fast_p", {}).items():
                    values[f"fast_{p}"] = f["value"]
                lines += [
                    f'<CTestMeasurement type="numeric/double" name="{at}.{name}">{value:.6g}'
                    "</CTestMeasurement>"
                    for name, value in values.items()
                ]
    return "\n".join(lines)
