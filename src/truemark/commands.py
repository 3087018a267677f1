"""The subcommands of `truemark`: each takes its options and returns its exit status."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from truemark.command import (
    DONE,
    FAILED,
    INCONCLUSIVE,
    NOT_COMPARABLE,
    note,
    tell,
)
from truemark.comparison import NotComparableError, comparable_runs, compare
from truemark.errors import TruemarkError, os_reason
from truemark.files import append_text, write_atomically
from truemark.folders import comparable_groups, pairs_to_check, runs_to_draw
from truemark.gate import Criteria, check
from truemark.jsontext import to_json
from truemark.junit import junit
from truemark.leaderboard import Board, leaderboards
from truemark.pages.history import history_page
from truemark.pages.leaderboard import leaderboard_page, page_name
from truemark.pages.report import report_page
from truemark.records import data_names
from truemark.sections import (
    Form,
    Section,
    all_facts,
    comparison_sections,
    gate_sections,
    gate_summary,
    leaderboard_sections,
    show,
    timeline_sections,
)
from truemark.summary import scored_units
from truemark.timeline import read_timeline

_PAGE, _XML = (b"<!doctype html", "a page"), (b"<?xml", "XML")  # how files begin, and what they are
_STATUS = {"passed": DONE, "fell short": FAILED, "inconclusive": INCONCLUSIVE}


def compare_runs(options: argparse.Namespace) -> int:
    if len(options.runs) < 2 and not Path(options.runs[0]).is_dir():
        options.refuse("compare needs two records or more, or a folder of them")
    groups, left_out = comparable_groups(options.runs)
    _tell_left_out(left_out, options.runs)
    names = data_names(run for runs in groups for run in runs)
    shown, status = [], DONE
    for runs in groups:
        tool, data = runs[0].tool, names[runs[0].data_id]
        heading = f"{tool}: {data}" if len(groups) > 1 else ""
        about = Section(heading, facts={"tool": tool, "data": data})
        kept, reasons = comparable_runs(runs)
        if len(kept) > 1 and reasons:
            runs, status = kept, FAILED
            for reason in reasons:
                note(f"failed: {reason}")
        shown.append([about, *comparison_sections(compare(runs, anyway=options.anyway))])
    tell(_show_all(shown, options.format, "comparisons"))
    return status


def _show_all(groups: Sequence[Sequence[Section]], form: Form, name: str) -> str:
    """Show the groups one after the other; in JSON, several become a list under this name."""
    if form == "json" and len(groups) > 1:
        return to_json({name: [all_facts(sections) for sections in groups]}, indent=2) + "\n"
    return "\n".join(show(sections, form) for sections in groups)


def draw_report(options: argparse.Namespace) -> int:
    _spare(options.output, _PAGE)
    runs, left_out = runs_to_draw(options.runs)
    _tell_left_out(left_out, options.runs)
    kept, reasons = comparable_runs(runs)
    if not kept:  # one run alone is drawn, whatever failed
        kept, reasons = runs, []
    for reason in reasons:
        note(f"failed: {reason}")
    write_atomically(options.output, report_page(kept, anyway=options.anyway))
    note(f"page: {options.output}")
    return FAILED if reasons else DONE


def show_history(options: argparse.Namespace) -> int:
    _spare(options.output, _PAGE)
    timeline = read_timeline(options.folder)
    for warning in timeline.warnings:
        note(warning)
    tell(show(timeline_sections(timeline), options.format))
    if options.output:
        title, folder = Path(options.folder).resolve().name, Path(options.output).parent
        write_atomically(options.output, history_page(timeline, title, folder))
        note(f"page: {options.output}")
    return DONE if timeline.runs else FAILED


def show_leaderboard(options: argparse.Namespace) -> int:
    _spare(options.output, _PAGE)
    timeline = read_timeline(options.folder)
    for warning in timeline.warnings:
        note(warning)
    boards = leaderboards(timeline)
    if not boards:
        raise TruemarkError(f"{options.folder}: no run there has a score; nothing to rank")
    scored = {run.id for _, run in timeline.runs if scored_units(run)}
    _tell_left_out(len(scored) - sum(len(board.standings) for board in boards), [options.folder])
    tell(show(leaderboard_sections(boards), options.format))
    if options.output:
        _write_leaderboard(boards, options)
    return DONE


def _write_leaderboard(boards: Sequence[Board], options: argparse.Namespace) -> None:
    output = Path(options.output)
    if output.is_dir():
        raise TruemarkError(f"{output}: is a folder, expected a file to write")
    folder = output.with_suffix("")
    if folder == output:
        raise TruemarkError(f"{output}: the pages of runs go to a folder of this name; add .html")
    for board in boards:
        for standing in board.standings:
            run = standing.summary.run
            write_atomically(folder / page_name(run), report_page([run]))
    title = Path(options.folder).resolve().name
    write_atomically(output, leaderboard_page(boards, title, folder.name))
    note(f"page: {output}, and a page for each run in {folder}")


def check_runs(options: argparse.Namespace) -> int:
    criteria = Criteria(
        fail_under=options.fail_under,
        fail_under_lower=options.fail_under_lower,
        fail_if_worse=options.fail_if_worse,
        max_failed=options.max_failed,
        measures=tuple(dict.fromkeys(options.measure or ("f1",))),
        margin=options.margin,
        failed_as_missed=options.failed_as_missed,
    )
    if criteria.ask_nothing and options.against is not None:
        criteria = replace(criteria, fail_if_worse=True)
    if criteria.ask_nothing:
        options.refuse("check needs --against, --fail-under or --fail-under-lower")
    if criteria.compare and options.against is None:
        asked = "--fail-if-worse" if criteria.fail_if_worse else "--margin"
        options.refuse(f"{asked} needs --against BASELINE")
    _spare(options.junit, _XML)
    pairs, doubt = pairs_to_check(options.run, options.against)
    if options.junit and len(pairs) > 1:
        options.refuse(
            f"--junit is for one run, and {options.run} holds runs on {len(pairs)} kinds of data"
        )
    try:
        gates = [check(run, base, criteria, anyway=options.anyway) for run, base in pairs]
    except NotComparableError as error:
        note(f"error: {error}")
        return NOT_COMPARABLE
    if doubt is not None:
        gates = [replace(gate, doubt=gate.doubt or doubt) for gate in gates]
    names = data_names(run for run, _ in pairs)
    named = [(gate, names[gate.run.data_id]) for gate in gates]
    shown = [gate_sections(gate, data) for gate, data in named]
    tell(_show_all(shown, options.format, "checks"))
    if options.junit:
        write_atomically(options.junit, junit(*named[0]))
    if page := os.environ.get("GITHUB_STEP_SUMMARY"):
        append_text(page, "\n".join(gate_summary(gate, data) for gate, data in named))
    statuses = {_STATUS[gate.outcome] for gate in gates}
    return FAILED if FAILED in statuses else max(statuses)


def _tell_left_out(older: int, paths: Sequence[str]) -> None:
    """Tell that older runs of the same systems are not shown, and where they are listed."""
    if older:
        folder = next(path for path in paths if Path(path).is_dir())
        runs = (
            "1 older run of a system that was"
            if older == 1
            else f"{older} older runs of systems that were"
        )
        note(
            f"left out {runs} measured again: truemark history {folder} lists all runs,"
            f" {folder}/ID names one"
        )


def _spare(output: str | None, kind: tuple[bytes, str]) -> None:
    """Refuse to overwrite a file of another kind, such as the record that a page is about."""
    start, name = kind
    if output == "-":
        raise TruemarkError("-: expected the name of a file to write, or /dev/stdout")
    if not output or not Path(output).is_file():
        return
    try:
        with Path(output).open("rb") as stream:
            found = stream.read(len(start)).lower()
    except OSError as error:
        raise TruemarkError(
            f"{output}: cannot be read to see whether it is {name}: {os_reason(error)};"
            " name another file"
        ) from error
    if found and found != start:
        raise TruemarkError(f"{output}: is not {name} and would be overwritten; name another file")


COMMANDS = {
    "compare": compare_runs,
    "report": draw_report,
    "history": show_history,
    "leaderboard": show_leaderboard,
    "check": check_runs,
}
