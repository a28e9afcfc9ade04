"""The command line of `tools/import`."""

import argparse
import sys
from pathlib import Path

from kb_import import foreign, importing
from kb_report import cli, model, tree


def main(argv: list[str] | None = None) -> int:
    """Import and return the exit status (see `kb_report.model`)."""
    p = argparse.ArgumentParser(
        prog="import", description="Makes a run of kernels that were written for PyTorch."
    )
    p.add_argument("format", choices=foreign.FORMATS)
    p.add_argument(
        "source", type=Path, metavar="SOURCE", help="a folder or a file, as the format has it"
    )
    p.add_argument("name", metavar="RUN", help="the new folder of candidates/")
    p.add_argument(
        "--tree", type=Path, default=tree.PROJECT, metavar="DIR",
        help="the source tree with the tasks and candidates/ (default: this one)",
    )  # fmt: skip
    p.set_defaults(run=_import)
    return cli.run(p, argv)


def _import(args: argparse.Namespace) -> int:
    text, kernels = importing.run(args.format, args.source, args.name, args.tree)
    cli.say(text, end="")
    cli.say(f"candidates/{args.name}: {kernels} kernels; import.json names every source")
    return model.OK


if __name__ == "__main__":
    sys.exit(main())
