"""The page of a folder of runs: how each system's score moved, data by data."""

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
    """The page as HTML."""
    together: dict[tuple[str, str], list[PastRun]] = {}
    for past in timeline.runs:
        together.setdefault((past.run.tool, past.data), []).append(past)
    chapters = [
        _chapter(number, tool, data, own)
        for number, ((tool, data), own) in enumerate(together.items())
    ]
    return document(
        "history.html.j2",
        {"runs": [], "findings": [], "figures": [one.figure.drawn for one in chapters]},
        title=title,
        chapters=chapters,
        warnings=timeline.warnings,
        count=len(timeline.runs),
    )


def _chapter(number: int, tool: str, data: str, runs: Sequence[PastRun]) -> Chapter:
    shown = [past.summary.intervals["f1"] for past in runs if past.summary.intervals]
    return Chapter(tool, data[:6], tuple(runs), score_scale(shown), _figure(number, runs))


def _figure(number: int, runs: Sequence[PastRun]) -> Figure:
    """F1 with its interval, run after run; a line per system."""
    points: dict[str, list[tuple[float, ...]]] = {}
    rows = []
    for place, past in enumerate(runs):
        f1 = past.summary.intervals.get("f1")
        own = points.setdefault(past.run.system.name, [])
        if f1 is not None:
            own.append((place, f1.value, f1.low, f1.high))
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
            Series(name, tuple(own), f"run-{color % COLORS}", dots=True)
            for color, (name, own) in enumerate(points.items())
        ),
        labels=tuple(past.run.started[:10] for past in runs),
        columns=("started", "system", "f1", "95% from", "to", "clusters"),
        rows=tuple(rows),
    )
