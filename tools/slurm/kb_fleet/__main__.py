"""The command line of `tools/slurm/kb-fleet`, which `tools/fleet` and its jobs call."""

import argparse
import sys
from pathlib import Path

from kb_fleet import adopt, shards
from kb_report import cli, model
from kb_report.model import ReportError


def main(argv: list[str] | None = None) -> int:
    """Run a command and return the exit status (see `kb_report.model`)."""
    parser = argparse.ArgumentParser(
        prog="kb-fleet", description="What tools/fleet does with files before and after its jobs."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    p = commands.add_parser("shards", help="split what is still to be judged")
    p.add_argument("--build-dir", type=Path, required=True, metavar="DIR")
    p.add_argument("--out", type=Path, required=True, metavar="DIR")
    p.add_argument("--shards", type=int, metavar="N", help="default: shards of ten minutes")
    p.add_argument(
        "--taken", type=Path, metavar="FILE", help="lines of the .names of shards with a job"
    )
    p.add_argument(
        "--seconds", type=Path, action="append", default=[], metavar="PATH",
        help="a build directory, a report directory or a results.json that says what judging took "
        "(may be repeated)",
    )  # fmt: skip
    p.add_argument("run_names", nargs="+", metavar="RUN[/SAMPLE]")
    p.set_defaults(run=_shards)

    p = commands.add_parser("adopt", help="take over the results that nodes have written")
    p.add_argument("--build-dir", type=Path, required=True, metavar="DIR")
    p.add_argument("--allow-mixed", action="store_true", help="also of different machines")
    p.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    p.set_defaults(run=_adopt)
    return cli.run(parser, argv)


def _shards(args: argparse.Namespace) -> int:
    """The number of shards on standard output; the sentence for people on standard error."""
    taken = _lines(args.taken) if args.taken else set()
    plan = shards.make(args.build_dir, args.run_names, args.shards, taken, args.seconds, args.out)
    print(len(plan.shards), flush=True)
    print(plan.sentence(), file=sys.stderr)
    return model.OK


def _lines(path: Path) -> set[str]:
    try:
        return set(path.read_text("utf-8").splitlines())
    except (OSError, UnicodeDecodeError) as e:
        why = e.strerror if isinstance(e, OSError) else "it is not UTF-8"
        raise ReportError(
            f"cannot read {path}: {why}; give lines of the .names of shards"
        ) from None


def _adopt(args: argparse.Namespace) -> int:
    found = adopt.adopt(args.build_dir, args.folders, args.allow_mixed)
    for reason in found.refused:
        cli.say(f"not taken: {reason}", sys.stderr)
    print(f"{len(found.names)} result(s) taken over")
    return model.BAD_INPUT if found.refused else model.OK


if __name__ == "__main__":
    sys.exit(main())
