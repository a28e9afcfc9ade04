"""The command line: `kb-report rollup|compare|merge|gate|feedback|export`."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from kb_report import __version__, load, model, page, rollup, tables, upstream, write
from kb_report.model import ReportError, Suite


def main(argv: list[str] | None = None) -> int:
    """Run a command and return the exit status (see `model`)."""
    parser = _parser()
    args = parser.parse_args(argv)
    for stream in (sys.stdout, sys.stderr):
        # A terminal without UTF-8 must not turn a report into a traceback.
        stream.reconfigure(errors="replace")
    try:
        return args.run(args)
    except ReportError as e:
        print(f"kb-report: {e}", file=sys.stderr)
        return e.status
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return model.OK
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="kb-report", description="Tables, pages and comparisons from KernelBench results."
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    p = commands.add_parser("rollup", help="report on everything a build directory judged")
    p.add_argument("--build-dir", type=Path, required=True, metavar="DIR")
    p.add_argument("--out", type=Path, metavar="DIR", help="default: <build-dir>/reports")
    p.add_argument(
        "--baseline", type=Path, action="append", default=[], metavar="FILE",
        help="a timing file of KernelBench to compare with, too",
    )  # fmt: skip
    p.set_defaults(run=_rollup)
    return parser


def _rollup(args: argparse.Namespace) -> int:
    suite = load.load_build_dir(args.build_dir)
    suite.baselines = [upstream.read_baseline(path) for path in args.baseline]
    return publish(suite, args.out or args.build_dir / "reports")


def publish(suite: Suite, out: Path) -> int:
    """Write all files of a report, print its tables and path, and return the exit status."""
    doc = rollup.document(suite)
    write.write_atomic(out / "results.json", write.as_json(doc))
    write.write_atomic(out / "results.csv", write.results_csv(doc))
    summary = write.summary_md(doc)
    write.write_atomic(out / "summary.md", summary)
    write.write_atomic(out / "junit.xml", write.junit_xml(doc))
    _append_step_summary(summary)
    has_page = page.write_page(out / "index.html", suite, doc)

    print(tables.text(doc), flush=True)
    for note in suite.notes:
        print(f"\nnote: {model.one_line(note, 400)}")
    for problem in suite.problems:
        print(
            f"bad input ({problem.kind}): {problem.path} {model.one_line(problem.message, 400)}",
            file=sys.stderr,
        )
    if os.environ.get("DASHBOARD_TEST_FROM_CTEST"):
        print(measurements(doc))
    if not has_page:
        print("kb-report: no index.html, because Python has no Jinja2", file=sys.stderr)
    print(f"\nreport: {out / ('index.html' if has_page else 'summary.md')}")
    if suite.problems:
        return model.BAD_INPUT
    return model.OK if has_page else model.NO_PAGE


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
            for row in level["samples"]:
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
