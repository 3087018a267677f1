"""The page of a folder's runs over time."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from truemark.pages.document import document, payload_of
from truemark.pages.figures import COLORS, Figure, Series
from truemark.pages.scales import score_scale
from truemark.records import SUFFIX
from truemark.summary import Summary, summarise
from truemark.timeline import Timeline, moment_of
from truemark.wording import range_text

_DAY_S = 86_400


def history_page(timeline: Timeline, title: str, folder: Path | None = None) -> str:
    """Draw the runs of a folder as HTML, comparable ones in one chart.

    `folder` is the folder of the page; links to pages and records of runs start there.
    """
    together: dict[tuple[str, str], list[tuple[Summary, str]]] = {}
    for path, run in timeline.runs:
        row = summarise(run, by_group=False), _link(path, folder)
        together.setdefault((run.tool, run.data_id), []).append(row)
    names = timeline.data_names
    chapters, figures = [], []
    for number, ((tool, data), runs) in enumerate(together.items()):
        scored = [summary.intervals["f1"] for summary, _ in runs if summary.intervals]
        figures.append(_history_figure(number, runs))
        chapters.append(
            {
                "tool": tool,
                "data": names[data],
                "runs": runs,
                "scale": score_scale(scored),
                "colors": {series.label: series.color for series in figures[-1].series},
                "figure": figures[-1],
            }
        )
    return document(
        "history.html.j2",
        payload_of([], figures),
        title=title,
        chapters=chapters,
        warnings=timeline.warnings,
        count=len(timeline.runs),
        range_text=range_text,
    )


def _link(record: Path, folder: Path | None) -> str:
    """Return the address of the page beside the run's record, or of the record without a page."""
    if folder is None:
        return ""
    page = record.with_name(record.name.removesuffix(SUFFIX) + ".html")
    target = page if page.is_file() else record
    return quote(Path(os.path.relpath(target.resolve(), folder.resolve())).as_posix())


def _history_figure(number: int, runs: Sequence[tuple[Summary, str]]) -> Figure:
    """Draw F1 with its interval, run after run; a line per system."""
    points: dict[str, list[tuple[float, ...]]] = {}
    rows = []
    positions = spread_in_time([moment_of(summary.run) for summary, _ in runs])
    for position, (summary, _) in zip(positions, runs, strict=True):
        run, f1 = summary.run, summary.intervals.get("f1")
        system = run.system.name
        line = points.setdefault(system, [])
        if f1 is not None:
            ends = (f1.low, f1.high) if f1.known else ()
            line.append((position, f1.value, *ends))
            shown_ends = ends or (None, None)
            rows.append((run.id, run.started, system, f1.value, *shown_ends, f1.clusters))
    clusters = runs[0][0].nouns[1]
    return Figure(
        id=f"history-{number}",
        title="F1 over time",
        says="Bars are 95% intervals; a point without one has too few"
        f" {clusters}. Runs close in time are drawn apart. Click a point to"
        " open its run.",
        x="",
        y="F1",
        series=tuple(
            Series(name, tuple(line), f"run-{color % COLORS}", dots=True)
            for color, (name, line) in enumerate(points.items())
        ),
        labels=_labels([summary.run.started for summary, _ in runs]),
        positions=positions,
        links=tuple(link for _, link in runs),
        columns=("run", "started", "system", "f1", "95% from", "to", clusters),
        rows=tuple(rows),
    )


def spread_in_time(moments: Sequence[float]) -> tuple[float, ...]:
    """Return places on an axis of days for ascending moments in seconds, each right of the last.

    Runs that follow each other closely are moved apart by a share of the whole time, so that each
    can be seen. Where all times are equal or unknown, they are evenly spaced.
    """
    known = [moment for moment in moments if math.isfinite(moment)]
    days = (known[-1] - known[0]) / _DAY_S if known else 0.0
    gap = days / (2 * len(moments)) if days else 1.0
    places: list[float] = []
    for moment in moments:
        place = (moment - known[0]) / _DAY_S if math.isfinite(moment) else 0.0
        places.append(max(place, places[-1] + gap) if places else place)
    return tuple(round(place, 6) for place in places)


def _labels(started: Sequence[str]) -> tuple[str, ...]:
    """Name runs by their day; if a day has several times, by these, to the second if need be."""
    moments = set(started)
    days = Counter(moment[:10] for moment in moments)
    minutes = Counter(moment[:16] for moment in moments)
    return tuple(
        moment[: 10 if days[moment[:10]] == 1 else 16 if minutes[moment[:16]] == 1 else 19].replace(
            "T", " "
        )
        for moment in started
    )
