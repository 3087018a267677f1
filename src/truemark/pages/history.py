"""The page of a folder's runs over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from truemark.pages.document import document
from truemark.pages.figures import COLORS, Figure, Series
from truemark.pages.scales import Scale, score_scale
from truemark.timeline import PastRun, Timeline


@dataclass(frozen=True, slots=True)
class Chapter:
    """The comparable runs of one tool, newest last, with their chart."""

    tool: str
    data: str
    runs: tuple[PastRun, ...]
    scale: Scale
    figure: Figure


def history_page(timeline: Timeline, title: str) -> str:
    """Draw the runs of a folder as HTML, comparable ones in one chart."""
    together: dict[tuple[str, str], list[PastRun]] = {}
    for past in timeline.runs:
        together.setdefault((past.run.tool, past.data), []).append(past)
    chapters = [
        _chapter(number, tool, data, runs)
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


def _chapter(number: int, tool: str, data: str, runs: Sequence[PastRun]) -> Chapter:
    shown = [past.summary.intervals["f1"] for past in runs if past.summary.intervals]
    return Chapter(tool, data[:6], tuple(runs), score_scale(shown), _history_figure(number, runs))


def _history_figure(number: int, runs: Sequence[PastRun]) -> Figure:
    """Draw F1 with its interval, run after run; a line per system."""
    points: dict[str, list[tuple[float, ...]]] = {}
    rows = []
    for place, past in enumerate(runs):
        f1 = past.summary.intervals.get("f1")
        line = points.setdefault(past.run.system.name, [])
        if f1 is not None:
            line.append((place, f1.value, f1.low, f1.high))
            rows.append(
                (past.run.started, past.run.system.name, f1.value, f1.low, f1.high, f1.clusters)
            )
    return Figure(
        id=f"history-{number}",
        title="F1 over time",
        says="Run after run, newest last; bars are 95% intervals.",
        x="",
        y="F1",
        series=tuple(
            Series(name, tuple(line), f"run-{color % COLORS}", dots=True)
            for color, (name, line) in enumerate(points.items())
        ),
        labels=tuple(past.run.started[:10] for past in runs),
        columns=("started", "system", "f1", "95% from", "to", "clusters"),
        rows=tuple(rows),
    )
