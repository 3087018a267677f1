"""The page of a folder's runs over time."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from truemark.pages.document import document
from truemark.pages.figures import COLORS, Figure, Series
from truemark.pages.scales import Scale, score_scale
from truemark.records import SUFFIX
from truemark.timeline import PastRun, Timeline


@dataclass(frozen=True, slots=True)
class Chapter:
    """The comparable runs of one tool, newest last, each with its link, and their chart."""

    tool: str
    data: str
    runs: tuple[tuple[PastRun, str], ...]
    scale: Scale
    figure: Figure


def history_page(timeline: Timeline, title: str, folder: Path | None = None) -> str:
    """Draw the runs of a folder as HTML, comparable ones in one chart.

    `folder` is where the page will lie, from which it links to pages and records of runs.
    """
    together: dict[tuple[str, str], list[PastRun]] = {}
    for past in timeline.runs:
        together.setdefault((past.run.tool, past.data), []).append(past)
    names = timeline.data_names
    chapters = [
        _chapter(number, tool, names[data], [(past, _link(past.path, folder)) for past in runs])
        for number, ((tool, data), runs) in enumerate(together.items())
    ]
    return document(
        "history.html.j2",
        {"runs": [], "findings": [], "figures": [chapter.figure.drawn for chapter in chapters]},
        title=title,
        chapters=chapters,
        warnings=timeline.warnings,
        count=len(timeline.runs),
    )


def _link(record: Path, folder: Path | None) -> str:
    """Return the address of the run's page where one lies beside its record, else of the record."""
    if folder is None:
        return ""
    page = record.with_name(record.name.removesuffix(SUFFIX) + ".html")
    target = page if page.is_file() else record
    return quote(Path(os.path.relpath(target.resolve(), folder.resolve())).as_posix())


def _chapter(number: int, tool: str, data: str, runs: Sequence[tuple[PastRun, str]]) -> Chapter:
    shown = [past.summary.intervals["f1"] for past, _ in runs if past.summary.intervals]
    return Chapter(tool, data, tuple(runs), score_scale(shown), _history_figure(number, runs))


def _history_figure(number: int, runs: Sequence[tuple[PastRun, str]]) -> Figure:
    """Draw F1 with its interval, run after run; a line per system."""
    points: dict[str, list[tuple[float, ...]]] = {}
    rows = []
    for place, (past, _) in enumerate(runs):
        f1 = past.summary.intervals.get("f1")
        line = points.setdefault(past.run.system.name, [])
        if f1 is not None:
            line.append((place, f1.value, f1.low, f1.high))
            system = past.run.system.name
            rows.append(
                (past.run.id, past.run.started, system, f1.value, f1.low, f1.high, f1.clusters)
            )
    return Figure(
        id=f"history-{number}",
        title="F1 over time",
        says="Run after run, newest last; bars are 95% intervals. A click opens the run.",
        x="",
        y="F1",
        series=tuple(
            Series(name, tuple(line), f"run-{color % COLORS}", dots=True)
            for color, (name, line) in enumerate(points.items())
        ),
        labels=_labels([past.run.started for past, _ in runs]),
        links=tuple(link for _, link in runs),
        columns=("run", "started", "system", "f1", "95% from", "to", "clusters"),
        rows=tuple(rows),
    )


def _labels(started: Sequence[str]) -> tuple[str, ...]:
    """Name runs by their day; several of one day also by their time."""
    days = Counter(moment[:10] for moment in started)
    return tuple(
        moment[:16].replace("T", " ") if days[moment[:10]] > 1 else moment[:10]
        for moment in started
    )
