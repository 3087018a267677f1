"""The charts of a page, each with a table of its numbers."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from truemark.matching import nearest_pairs
from truemark.records import CurveColumns, Reliability, ReliabilityRow, Run
from truemark.summary import Summary, scored_units, share_right
from truemark.uncertainty import MEASURES, Measure, Scoring

TABLE_ROWS = 60
COLORS = 10  # for runs, in page.css; an eleventh run gets the first again
NEAR_MISS = 20  # characters between a prediction and the truth that it nearly hits
RELIABILITY = "The share that was right, by what the system said, with its 95% interval;"
_DASHES: dict[Measure, tuple[int, ...]] = {"f1": (), "precision": (7, 4), "recall": (2, 3)}
NAMES: dict[Measure, str] = {"f1": "F1", "precision": "precision", "recall": "recall"}


@dataclass(frozen=True, slots=True)
class Shown:
    """A run on a page: its number, its name among those it is compared with, its colour."""

    number: int
    name: str
    color: str
    summary: Summary

    @property
    def run(self) -> Run:
        return self.summary.run


@dataclass(frozen=True, slots=True)
class Series:
    """Points (x, y), or (x, y, low, high) with an interval, or also with the number of cases.

    `line` joins them.
    """

    label: str
    points: tuple[tuple[float, ...], ...]
    color: str
    line: bool = True
    dots: bool = False
    dash: tuple[int, ...] = ()  # lengths of strokes and gaps; empty for a solid line
    legend: bool = True


@dataclass(frozen=True, slots=True)
class Level:
    """A place on the x axis that is marked with a word."""

    label: str
    x: float


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart, the sentence that says how to read it, and its numbers.

    With `labels` the x axis has names at `positions`, by default 0, 1, 2 and so on; a click on a
    name opens its entry of `links`. `run` is the number of the run whose threshold the slider below
    sets. With `bars` the y values are numbers of cases.
    """

    id: str
    title: str
    says: str
    x: str
    y: str
    series: tuple[Series, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    levels: tuple[Level, ...] = ()
    labels: tuple[str, ...] = ()
    positions: tuple[float, ...] = ()
    links: tuple[str, ...] = ()
    unit_square: bool = False
    bars: bool = False
    run: int | None = None
    left_out: int = 0
    facts: tuple[str, ...] = ()

    @property
    def drawn(self) -> dict[str, object]:
        """Return what the script needs; heading and table are in the page already."""
        shown = asdict(self)
        for known in ("title", "says", "columns", "rows", "left_out", "facts"):
            del shown[known]
        return shown


def figures_of(runs: Sequence[Shown]) -> list[Figure]:
    """Make the charts of runs that are compared; those without numbers are left out."""
    figures = [
        *(threshold_figure(shown, len(runs) > 1) for shown in runs if shown.run.curve),
        precision_recall_figure(runs),
        reliability_figure(runs),
        tolerance_figure(runs),
        near_miss_figure(runs),
        latency_figure(runs),
    ]
    return [figure for figure in figures if figure.rows]


def threshold_figure(shown: Shown, several: bool) -> Figure:
    """Draw precision, recall and F1 over the threshold, for a run that has a curve."""
    run = shown.run
    assert run.curve is not None
    scored = _scored(run, run.curve)
    levels = _levels(run, scored)
    marked = [_place(run.curve, level.x) for level in levels]
    drawn = _per_step(run.curve, marked)
    kept = _thinned(len(scored), marked)
    return Figure(
        id=f"threshold-{shown.number}",
        title=f"Threshold: {shown.name}" if several else "Threshold",
        says="Scores if everything with a probability above the threshold were predicted."
        " Move the slider to see the marks in the text change with it.",
        x="threshold",
        y="score",
        series=tuple(
            Series(
                NAMES[measure],
                tuple(
                    (scored[place][0], scored[place][column])
                    for place in drawn
                    if measure != "precision" or _predicts(run.curve, place)
                ),
                shown.color,
                dash=_DASHES[measure],
            )
            for column, measure in enumerate(MEASURES, start=1)
        ),
        levels=levels,
        columns=("threshold", *MEASURES, "found", "invented", "missed"),
        rows=tuple((*scored[place], *_counts(run.curve, place)) for place in kept),
        left_out=len(scored) - len(kept),
        run=shown.number,
    )


def _levels(run: Run, scored: Sequence[tuple[float, ...]]) -> tuple[Level, ...]:
    best = max(scored, key=lambda row: (row[1], -row[0]))
    named = (
        ("chosen", run.scoring.threshold),
        ("own", run.scoring.own_threshold),
        ("best", best[0]),
    )
    at: dict[float, str] = {}
    for word, level in named:
        if level is not None:
            at[level] = f"{at[level]}, {word}" if level in at else word
    return tuple(Level(word, level) for level, word in at.items())


def _scored(run: Run, curve: CurveColumns) -> list[tuple[float, ...]]:
    """Compute rows of level, F1, precision, recall."""
    scorings = [Scoring(measure, run.scoring.empty) for measure in MEASURES]
    return [
        (level, *(round(scoring(curve.counts(place)), 5) for scoring in scorings))
        for place, level in enumerate(curve.at)
    ]


def _predicts(curve: CurveColumns, place: int) -> bool:
    """Whether anything is predicted at a place; if not, precision is a convention."""
    return curve.tp[place] + curve.fp[place] > 0


def _per_step(curve: CurveColumns, kept: Iterable[int]) -> list[int]:
    """Choose the places at which a slider in steps of 0.001 can stop, and those in `kept`."""
    last_of_step = {math.ceil(level * 1000): place for place, level in enumerate(curve.at)}
    return sorted({0, *last_of_step.values(), *kept})


def _counts(curve: CurveColumns, place: int) -> tuple[int, int, int]:
    return curve.tp[place], curve.fp[place], curve.fn[place]


def _place(curve: CurveColumns, level: float) -> int:
    """Return the place of a level on the curve."""
    return max(0, bisect_right(curve.at, level) - 1)


def _thinned(length: int, kept: Iterable[int]) -> list[int]:
    """Choose about `TABLE_ROWS` evenly spread places, and those in `kept`."""
    step = max(1, -(-length // TABLE_ROWS))
    return sorted({*range(0, length, step), length - 1, *kept})


def precision_recall_figure(runs: Sequence[Shown]) -> Figure:
    """Draw precision against recall, one line per run."""
    series, rows = [], []
    for shown in runs:
        run = shown.run
        if not run.curve:
            continue
        scored = _scored(run, run.curve)
        places = []
        if run.scoring.threshold is not None:
            places = [_place(run.curve, run.scoring.threshold)]
        drawn = [place for place in _per_step(run.curve, places) if _predicts(run.curve, place)]
        line = tuple((scored[place][3], scored[place][2]) for place in drawn)
        series.append(Series(shown.name, line, shown.color))
        dots = tuple((scored[place][3], scored[place][2]) for place in places)
        if dots:
            name = f"{shown.name}, chosen threshold"
            series.append(Series(name, dots, shown.color, line=False, dots=True, legend=False))
        rows += [
            (shown.name, scored[place][0], scored[place][3], scored[place][2])
            for place in _thinned(len(scored), places)
        ]
    return Figure(
        id=f"precision-recall-{runs[0].number}",
        title="Precision against recall",
        says="What a gain in one costs in the other. The upper right corner is perfect; a dot marks"
        " the chosen threshold.",
        x="recall",
        y="precision",
        series=tuple(series),
        columns=("run", "threshold", "recall", "precision"),
        rows=tuple(rows),
    )


def reliability_figure(runs: Sequence[Shown]) -> Figure:
    """Draw how often the system was right, by the confidence that it stated."""
    with_rows = [
        (shown, [row for row in shown.run.reliability.rows if row.count], shown.run.reliability)
        for shown in runs
        if shown.run.reliability is not None
    ]
    labels = _level_names([row for _, rows, _ in with_rows for row in rows])
    series, table = [], []
    for shown, rows, _ in with_rows:
        points = []
        for row in rows:
            share = share_right(row)
            assert share is not None
            x = _middle(row) if not labels else float(labels.index(row.label))
            points.append((x, share.value, share.low, share.high, row.count))
            table.append((shown.name, row.label, row.count, share.value, share.low, share.high))
        series.append(Series(shown.name, tuple(points), shown.color, line=False, dots=True))
    if not labels:
        series.append(Series("as stated", ((0, 0), (1, 1)), "soft", dash=(5, 5)))
    where = "n is beside it." if len(with_rows) == 1 else "n is in the table."
    return Figure(
        id=f"reliability-{runs[0].number}",
        title="Can stated confidence be trusted?",
        says=f"{RELIABILITY} {where}",
        facts=tuple(
            f"{shown.name}: {_stated_error(stated)}."
            for shown, _, stated in with_rows
            if stated.brier is not None and stated.calibration_error is not None
        ),
        x="stated confidence" if labels else "stated probability",
        y="share right",
        series=tuple(series),
        labels=tuple(labels),
        unit_square=not labels,
        columns=("run", "stated", "n", "share right", "95% from", "to"),
        rows=tuple(table),
    )


def _stated_error(stated: Reliability) -> str:
    sentence = f"Brier score {stated.brier:.4f}, calibration error {stated.calibration_error:.4f}"
    if stated.predictions is not None:
        sentence += f" over {stated.predictions:,} predictions"
    if stated.calibrated_error is not None:
        sentence += f", of which {stated.calibrated_error:.4f} would arise by chance"
    return sentence


def _level_names(rows: Sequence[ReliabilityRow]) -> list[str]:
    """List the words for confidence in order; empty where rows are ranges of probabilities."""
    if all(row.mean is not None or row.lower is not None for row in rows):
        return []
    return list(dict.fromkeys(row.label for row in rows))


def _middle(row: ReliabilityRow) -> float:
    if row.mean is not None:
        return row.mean
    lower = row.lower or 0.0
    return (lower + (row.upper if row.upper is not None else 1.0)) / 2


def tolerance_figure(runs: Sequence[Shown]) -> Figure:
    """Draw F1 over the tolerance, one line per run."""
    series, rows = [], []
    for shown in runs:
        tolerances = shown.run.tolerances
        if not tolerances:
            continue
        scored = _scored(shown.run, tolerances)
        points = tuple((row[0], row[1]) for row in scored)
        series.append(Series(shown.name, points, shown.color, dots=True))
        rows += [
            (shown.name, *row, *_counts(tolerances, place)) for place, row in enumerate(scored)
        ]
    return Figure(
        id=f"tolerance-{runs[0].number}",
        title="F1 over the tolerance",
        says="A rising line means that many mistakes are near misses.",
        x="tolerance",
        y="F1",
        series=tuple(series),
        columns=("run", "tolerance", *MEASURES, "found", "invented", "missed"),
        rows=tuple(rows),
    )


def near_miss_figure(runs: Sequence[Shown]) -> Figure:
    """Draw how many predictions lie how far before or after the truth, exact ones left out."""
    series, rows = [], []
    for shown in runs:
        apart = sorted(_near_misses(shown.run).items())
        if apart:
            series.append(Series(shown.name, tuple(apart), shown.color))
        rows += [(shown.name, *row) for row in apart]
    items = runs[0].run.words.get("items", "items")
    return Figure(
        id=f"near-misses-{runs[0].number}",
        title="Near misses",
        says=f"How many predicted {items} are that far before (−) or after a true one.",
        x="characters off",
        y=items,
        series=tuple(series),
        columns=("run", "characters off", items),
        rows=tuple(rows),
        bars=True,
    )


def _near_misses(run: Run) -> Counter[int]:
    """Count the distances, except 0, of predictions from the truths that they are paired with."""
    apart: Counter[int] = Counter()
    for unit in run.units if run.tolerances else ():  # else marks are not on a line
        found = [mark for mark in unit.marks if mark.role == "found"]
        true = [mark.start if mark.truth is None else mark.truth for mark in found]
        true += [mark.start for mark in unit.marks if mark.role == "missed"]
        predicted = [mark.start for mark in unit.marks if mark.role in ("found", "invented")]
        predicted, true = sorted(predicted), sorted(true)
        pairs = nearest_pairs(predicted, true, NEAR_MISS)
        apart.update(predicted[ours] - true[theirs] for ours, theirs in pairs)
    del apart[0]
    return apart


def latency_figure(runs: Sequence[Shown]) -> Figure:
    """Draw the share of units done within a number of seconds."""
    series, rows = [], []
    for shown in runs:
        seconds = sorted(
            unit.seconds
            for unit in scored_units(shown.run)
            if unit.seconds is not None and not unit.replayed
        )
        if not seconds:
            continue
        steps = [(value, (rank + 1) / len(seconds)) for rank, value in enumerate(seconds)]
        kept = [steps[place] for place in _thinned(len(steps), ())]
        series.append(Series(shown.name, tuple(kept), shown.color, dots=len(kept) < 10))
        rows += [(shown.name, value, share) for value, share in kept]
    word = runs[0].run.words.get("units", "units")
    return Figure(
        id=f"latency-{runs[0].number}",
        title="Latency",
        says=f"The share of {word} done within that many seconds.",
        x="seconds",
        y="share done",
        series=tuple(series),
        columns=("run", "seconds", "share done"),
        rows=tuple(rows),
    )
