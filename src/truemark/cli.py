"""The command `truemark`: compare, report, history, leaderboard and check over run records.

Modules that do the work are imported after the arguments are read, so that `--help` is quick.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from truemark import __version__
from truemark.command import Parser, number, parse_share, parse_text, run_command

MEASURES = ("f1", "precision", "recall", "clean")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status.

    0 done, 1 failed or fell short, 2 wrong use, 3 inconclusive, 4 not comparable, 130 Ctrl-C.
    """
    return run_command(lambda: _work(arguments))


def _work(arguments: Sequence[str] | None) -> int:
    options, unknown = _parser().parse_known_args(arguments)
    if unknown:
        options.refuse(f"unrecognized arguments: {' '.join(unknown)}")
    from truemark import commands

    return commands.COMMANDS[options.command](options)


def _parser() -> argparse.ArgumentParser:
    """Make the parser, with a subparser per line of `COMMANDS`."""
    whole = Parser(
        prog="truemark",
        description="Compare, draw, track and check runs from their records (*.run.json).",
    )
    whole.add_argument("--version", action="version", version=f"truemark {__version__}")
    below = whole.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    for name, (purpose, add_arguments) in COMMANDS.items():
        sentence = f"{purpose[0].upper()}{purpose[1:]}."
        subparser = below.add_parser(name, help=purpose, description=sentence)
        subparser.set_defaults(refuse=subparser.error)
        add_arguments(subparser)
    return whole


def _compare_arguments(subparser: argparse.ArgumentParser) -> None:
    subparser.add_argument(
        "runs",
        type=parse_text,
        nargs="+",
        metavar="RUN",
        help="run records, the first is the baseline; a folder means its newest run on the same"
        " data, a single folder the newest run of each system; FOLDER/NAME means the newest record"
        " of this name, FOLDER/ID the run with this id",
    )
    subparser.add_argument(
        "--anyway", action="store_true", help="compare the units in common even if the data differ"
    )
    _add_format(subparser)


def _report_arguments(subparser: argparse.ArgumentParser) -> None:
    subparser.add_argument(
        "runs",
        type=parse_text,
        nargs="+",
        metavar="RUN",
        help="run records, the first is the baseline; a folder means the newest run of each"
        " system, FOLDER/NAME the newest record of this name, FOLDER/ID the run with this id",
    )
    subparser.add_argument(
        "-o",
        "--output",
        type=parse_text,
        required=True,
        metavar="PAGE",
        help="file to write the page (HTML) to",
    )
    subparser.add_argument(
        "--anyway", action="store_true", help="compare the units in common even if the data differ"
    )


def _history_arguments(subparser: argparse.ArgumentParser) -> None:
    _add_folder(subparser, "also write a page (HTML) to this file")


def _leaderboard_arguments(subparser: argparse.ArgumentParser) -> None:
    _add_folder(
        subparser,
        "also write a page (HTML) to this file, and a page for each run to a folder beside it",
    )


def _add_folder(subparser: argparse.ArgumentParser, output: str) -> None:
    subparser.add_argument(
        "folder", type=parse_text, metavar="FOLDER", help="folder with run records, at any depth"
    )
    subparser.add_argument("-o", "--output", type=parse_text, metavar="PAGE", help=output)
    _add_format(subparser)


def _check_arguments(subparser: argparse.ArgumentParser) -> None:
    subparser.add_argument(
        "run",
        type=parse_text,
        metavar="RUN",
        help="the run record to check, FOLDER/NAME or FOLDER/ID; a folder means its newest run on"
        " each set of data",
    )
    subparser.add_argument(
        "--against",
        type=parse_text,
        metavar="BASELINE",
        help="what to compare it with, given in the same ways; alone it means --fail-if-worse",
    )
    subparser.add_argument(
        "--measure",
        type=_measures,
        action="extend",
        metavar="MEASURE",
        help=f"measures to check, separated by commas: {', '.join(MEASURES)} (units without a"
        " mistake); default: f1",
    )
    subparser.add_argument("--fail-under", type=parse_share, metavar="SCORE", help="minimum score")
    subparser.add_argument(
        "--fail-under-lower",
        type=parse_share,
        metavar="SCORE",
        help="minimum for the lower end of the interval",
    )
    subparser.add_argument(
        "--fail-if-worse", action="store_true", help="fail if worse than the baseline"
    )
    subparser.add_argument(
        "--margin",
        type=number("a number above 0, at most 1", lambda loss: 0 < loss <= 1),
        metavar="LOSS",
        help="pass only if the loss against the baseline is shown to be smaller than this",
    )
    subparser.add_argument(
        "--failed-as-missed",
        action="store_true",
        help="count everything expected of a failed unit as missed",
    )
    subparser.add_argument(
        "--max-failed",
        type=parse_share,
        default=0.1,
        metavar="SHARE",
        help="share of failed units above which the result is inconclusive (%(default)s)",
    )
    subparser.add_argument(
        "--anyway", action="store_true", help="compare the units in common even if the data differ"
    )
    subparser.add_argument(
        "--junit",
        type=parse_text,
        metavar="FILE",
        help="write one test case per unit to this file",
    )
    _add_format(subparser)


def _add_format(subparser: argparse.ArgumentParser) -> None:
    subparser.add_argument(
        "--format",
        choices=("text", "markdown", "json"),
        default="text",
        help="output format (%(default)s)",
    )


def _measures(text: str) -> list[str]:
    measures = text.split(",")
    for measure in measures:
        if measure not in MEASURES:
            known = ", ".join(MEASURES)
            raise argparse.ArgumentTypeError(f"must be one of {known}, got {measure!r}")
    return measures


COMMANDS = {
    "compare": ("compare runs on the same data", _compare_arguments),
    "report": ("draw runs as one page: scores, mistakes, curves", _report_arguments),
    "history": ("show the runs of a folder, newest last", _history_arguments),
    "leaderboard": ("rank the systems of a folder, best first", _leaderboard_arguments),
    "check": ("pass or fail a run, for builds", _check_arguments),
}
