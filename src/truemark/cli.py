"""The command `truemark`: compare, report, history, leaderboard and check over run records.

A subcommand is a line in `COMMANDS`: its name, what it does, the function that adds its
arguments, and the one that does the work and gives the exit status.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from truemark.command import (
    DONE,
    FAILED,
    INCONCLUSIVE,
    NOT_COMPARABLE,
    WRONG_USE,
    Parser,
    run_command,
    say,
    tell,
)
from truemark.errors import TruemarkError

if TYPE_CHECKING:
    from truemark.leaderboard import Board
    from truemark.sections import Form, Section
    from truemark.timeline import Timeline

NAME = "truemark"
MEASURES = ("f1", "precision", "recall", "clean")
_STATUS = {"passed": DONE, "fell short": FAILED, "inconclusive": INCONCLUSIVE}


@dataclass(frozen=True, slots=True)
class Command:
    """A subcommand."""

    name: str
    purpose: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    work: Callable[[argparse.Namespace], int]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status.

    0 done, 1 failed or fell short, 2 wrong use, 3 inconclusive, 4 not comparable, 130 Ctrl-C.
    """
    return run_command(NAME, lambda: _work(arguments))


def _work(arguments: Sequence[str] | None) -> int:
    options = parser().parse_args(arguments)
    work: Callable[[argparse.Namespace], int] = options.work
    return work(options)


def parser() -> argparse.ArgumentParser:
    """Make the parser, with a subparser per line of `COMMANDS`."""
    from truemark import __version__

    whole = Parser(
        prog=NAME, description="Compare, draw, follow and check runs by their records (*.run.json)."
    )
    whole.add_argument("--version", action="version", version=f"truemark {__version__}")
    below = whole.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        added = below.add_parser(command.name, help=command.purpose, description=command.purpose)
        command.add_arguments(added)
        added.set_defaults(work=command.work)
    return whole


def _compare_arguments(subparser: argparse.ArgumentParser) -> None:
    subparser.add_argument(
        "runs",
        nargs="+",
        metavar="RUN",
        help="run records, the first is the baseline; a folder stands for its newest run on the"
        " same data, a lone folder for all of its runs",
    )
    subparser.add_argument(
        "--anyway", action="store_true", help="compare the units in common of differing data"
    )
    _add_format(subparser)


def _compare(options: argparse.Namespace) -> int:
    from truemark.comparison import compare
    from truemark.folders import comparable_groups
    from truemark.sections import comparison_sections

    if len(options.runs) < 2 and not Path(options.runs[0]).is_dir():
        _refuse("compare needs two records or more, or a folder of them")
    groups = comparable_groups(options.runs)
    shown = [comparison_sections(compare(runs, anyway=options.anyway)) for runs in groups]
    tell(_show_all(shown, options.format, "comparisons"))
    return DONE


def _show_all(groups: Sequence[Sequence[Section]], form: Form, name: str) -> str:
    """Show one after the other; in JSON, several are a list under this name."""
    from truemark.jsontext import to_json
    from truemark.sections import all_facts, show

    if form == "json" and len(groups) > 1:
        return to_json({name: [all_facts(sections) for sections in groups]}, indent=2) + "\n"
    return "\n".join(show(sections, form) for sections in groups)


def _report_arguments(subparser: argparse.ArgumentParser) -> None:
    subparser.add_argument(
        "runs", nargs="+", metavar="RUN", help="run records; the first is the baseline"
    )
    subparser.add_argument(
        "-o", "--output", required=True, metavar="PAGE", help="write the page (HTML) there"
    )
    subparser.add_argument(
        "--anyway", action="store_true", help="compare the units in common of differing data"
    )


def _report(options: argparse.Namespace) -> int:
    from truemark.files import write_atomically
    from truemark.pages.report import report_page
    from truemark.records import load_runs

    _spare_records(options.output)
    runs = [run for path in options.runs for run in load_runs(path)]
    write_atomically(options.output, report_page(runs, anyway=options.anyway))
    say(NAME, f"page: {options.output}")
    return DONE


def _history_arguments(subparser: argparse.ArgumentParser) -> None:
    subparser.add_argument("folder", metavar="FOLDER", help="where run records lie, at any depth")
    subparser.add_argument("-o", "--output", metavar="PAGE", help="also write a page (HTML) there")
    _add_format(subparser)


def _history(options: argparse.Namespace) -> int:
    from truemark.sections import show, timeline_sections
    from truemark.timeline import read_timeline

    _spare_records(options.output)
    timeline = read_timeline(options.folder)
    for warning in timeline.warnings:
        say(NAME, warning)
    tell(show(timeline_sections(timeline), options.format))
    if options.output:
        _write_history(timeline, options)
    return DONE if timeline.runs else FAILED


def _write_history(timeline: Timeline, options: argparse.Namespace) -> None:
    from truemark.files import write_atomically
    from truemark.pages.history import history_page

    title, folder = Path(options.folder).resolve().name, Path(options.output).parent
    write_atomically(options.output, history_page(timeline, title, folder))
    say(NAME, f"page: {options.output}")


def _leaderboard(options: argparse.Namespace) -> int:
    from truemark.leaderboard import leaderboards
    from truemark.sections import leaderboard_sections, show
    from truemark.timeline import read_timeline

    _spare_records(options.output)
    timeline = read_timeline(options.folder)
    for warning in timeline.warnings:
        say(NAME, warning)
    boards = leaderboards(timeline)
    if not boards:
        raise TruemarkError(f"{options.folder}: no run there has a score; nothing to rank")
    tell(show(leaderboard_sections(boards), options.format))
    if options.output:
        _write_leaderboard(boards, options)
    return DONE


def _write_leaderboard(boards: Sequence[Board], options: argparse.Namespace) -> None:
    from truemark.files import write_atomically
    from truemark.pages.leaderboard import leaderboard_page, page_name
    from truemark.pages.report import report_page

    output = Path(options.output)
    folder = output.with_suffix("")
    for board in boards:
        for standing in board.standings:
            page = folder / page_name(standing)
            write_atomically(page, report_page([standing.run]))
    title = Path(options.folder).resolve().name
    write_atomically(output, leaderboard_page(boards, title, folder.name))
    say(NAME, f"page: {output}, and a page for each run in {folder}")


def _check_arguments(subparser: argparse.ArgumentParser) -> None:
    subparser.add_argument(
        "run", metavar="RUN", help="the run record to check; of a folder its newest on each data"
    )
    subparser.add_argument(
        "--against", metavar="BASELINE", help="the run record, or folder, to compare with"
    )
    subparser.add_argument(
        "--measure",
        type=_measures,
        action="extend",
        metavar="MEASURE",
        help=f"what is asked about: {', '.join(MEASURES)} (units without a mistake); several"
        " with commas (f1)",
    )
    subparser.add_argument("--fail-under", type=_share, metavar="SCORE", help="least score")
    subparser.add_argument(
        "--fail-under-lower", type=_share, metavar="SCORE", help="least lower end of the interval"
    )
    subparser.add_argument(
        "--fail-if-worse", action="store_true", help="fall short if worse than the baseline"
    )
    subparser.add_argument(
        "--margin",
        type=_margin,
        metavar="LOSS",
        help="pass only if it is shown that less than this was lost against the baseline",
    )
    subparser.add_argument(
        "--failed-as-missed",
        action="store_true",
        help="count all that was expected of a failed unit as missed",
    )
    subparser.add_argument(
        "--max-failed",
        type=_share,
        default=0.1,
        metavar="SHARE",
        help="share of failed units beyond which nothing is said (%(default)s)",
    )
    subparser.add_argument(
        "--anyway", action="store_true", help="compare the units in common of differing data"
    )
    subparser.add_argument("--junit", metavar="FILE", help="write one test case per unit there")
    _add_format(subparser)


def _check(options: argparse.Namespace) -> int:
    from truemark.comparison import NotComparableError
    from truemark.files import append_text, write_atomically
    from truemark.folders import pairs_to_check
    from truemark.gate import Criteria, check, junit
    from truemark.sections import gate_sections, gate_summary

    criteria = Criteria(
        fail_under=options.fail_under,
        fail_under_lower=options.fail_under_lower,
        fail_if_worse=options.fail_if_worse,
        max_failed=options.max_failed,
        measures=tuple(dict.fromkeys(options.measure or ("f1",))),
        margin=options.margin,
        failed_as_missed=options.failed_as_missed,
    )
    if criteria.ask_nothing:
        _refuse("check needs --fail-under, --fail-under-lower, --fail-if-worse or --margin")
    if criteria.compare and options.against is None:
        asked = "--fail-if-worse" if criteria.fail_if_worse else "--margin"
        _refuse(f"{asked} needs --against BASELINE")
    _spare_records(options.junit)
    pairs = pairs_to_check(options.run, options.against)
    if options.junit and len(pairs) > 1:
        _refuse(
            f"--junit is for one run, and {options.run} holds runs on {len(pairs)} kinds of data"
        )
    try:
        gates = [check(run, base, criteria, anyway=options.anyway) for run, base in pairs]
    except NotComparableError as error:
        say(NAME, f"error: {error}")
        return NOT_COMPARABLE
    tell(_show_all([gate_sections(gate) for gate in gates], options.format, "checks"))
    if options.junit:
        write_atomically(options.junit, junit(gates[0]))
    if page := os.environ.get("GITHUB_STEP_SUMMARY"):
        append_text(page, "\n".join(gate_summary(gate) for gate in gates))
    statuses = {_STATUS[gate.outcome] for gate in gates}
    return FAILED if FAILED in statuses else max(statuses)


def _spare_records(output: str | None) -> None:
    """Refuse to overwrite a run record, such as the one that a page is about."""
    from truemark.records import is_record

    if output and is_record(output):
        raise TruemarkError(f"{output}: is a run record; name another file to write")


def _add_format(subparser: argparse.ArgumentParser) -> None:
    subparser.add_argument(
        "--format", choices=("text", "markdown", "json"), default="text", help="(%(default)s)"
    )


def _share(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"must be between 0 and 1, got {text[:40]}")
    return value


def _margin(text: str) -> float:
    value = _share(text)
    if not value:
        raise argparse.ArgumentTypeError("must be above 0, got 0")
    return value


def _measures(text: str) -> list[str]:
    measures = text.split(",")
    for measure in measures:
        if measure not in MEASURES:
            known = ", ".join(MEASURES)
            raise argparse.ArgumentTypeError(f"must be one of {known}, got {measure[:40]}")
    return measures


def _refuse(message: str) -> NoReturn:
    say(NAME, f"error: {message}; see {NAME} --help")
    raise SystemExit(WRONG_USE)


COMMANDS = (
    Command("compare", "tell whether runs on the same data differ", _compare_arguments, _compare),
    Command(
        "report", "draw runs as one page: scores, mistakes, curves", _report_arguments, _report
    ),
    Command("history", "show the runs of a folder, newest last", _history_arguments, _history),
    Command(
        "leaderboard",
        "rank the systems of a folder, best first",
        _history_arguments,
        _leaderboard,
    ),
    Command("check", "pass or fail a run, for builds", _check_arguments, _check),
)
