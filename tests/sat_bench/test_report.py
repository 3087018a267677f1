import csv
import io
import json
from array import array
from dataclasses import replace
from pathlib import Path

import pytest

from sat_bench.evaluation import Failed, Measurement, TalkPoints
from sat_bench.models.loss import Loss
from sat_bench.report import ModelResult, Report, beyond_the_grid, show, shown_threshold
from sat_bench.running.effort import Effort
from truemark.counts import Counts, Weights
from truemark.signature import Signature
from truemark.sweep import grid
from truemark.tables import FORMATS, Format

GOLDEN = Path(__file__).parent / "golden"


def measurement(*talks: tuple[str, dict[float, Counts]]) -> Measurement:
    return Measurement(
        tuple(talks[0][1]),
        tuple(
            TalkPoints(
                name,
                array("i", (one.tp for one in points.values())),
                array("i", (one.fp for one in points.values())),
                array("i", (one.fn for one in points.values())),
            )
            for name, points in talks
        ),
    )


def result(name: str, *talks: tuple[str, dict[float, Counts]]) -> ModelResult:
    return ModelResult(name, measurement(*talks), Signature((("model", name), ("data", "0"))))


EVALUATION = Report(
    mode="evaluation",
    corpus="testdata/ted",
    talks=2,
    truth="plain",
    tolerance=3,
    weights=Weights(),
    results=(
        result(
            "sat.onnx",
            ("ada", {0.025: Counts(300, 400, 300)}),
            ("bob", {0.025: Counts(76, 54, 48)}),
        ),
    ),
)
SWEEP = replace(
    EVALUATION,
    mode="sweep",
    weights=Weights(1.0, 2.0),
    results=(
        result(
            "sat.onnx",
            ("ada", {0.01: Counts(60, 30, 0), 0.02: Counts(58, 10, 2)}),
            ("bob", {0.01: Counts(38, 10, 2), 0.02: Counts(36, 7, 4)}),
        ),
    ),
)
COMPARISON = replace(
    EVALUATION,
    mode="comparison",
    results=(
        result("sat-1l-sm.onnx", ("ada", {0.025: Counts(90, 12, 10)})),
        Failed("broken.onnx", "not an ONNX model"),
        result("models/a/name/of/more/than/thirty.onnx", ("ada", {0.25: Counts(0, 0, 5)})),
    ),
)
OTHERS = replace(
    COMPARISON,
    results=(
        replace(
            COMPARISON.measured[0],
            measurement=replace(
                COMPARISON.measured[0].measurement, effort=Effort(seconds=2.5, characters=100_000)
            ),
        ),
        ModelResult(
            "lib:pysbd",
            replace(
                measurement(("ada", {0.025: Counts(80, 9, 20)})),
                graded=False,
                effort=Effort(seconds=0.05, characters=100_000),
            ),
            Signature((("library", "pysbd 0.3.4"),)),
        ),
        ModelResult(
            "llm:some-model",
            replace(
                measurement(("ada", {0.025: Counts(70, 9, 30)})),
                graded=False,
                loss=Loss(changed=120, deleted=44, invented=8, characters=80_000),
                effort=Effort(seconds=40.0, characters=100_000),
            ),
            Signature((("llm", "some-model"),)),
        ),
        Failed("cmd:false", "ended with status 1: it said nothing on standard error"),
    ),
)
UNGRADED = replace(SWEEP, results=(OTHERS.results[1],))
REPORTS = {
    "evaluation": EVALUATION,
    "evaluation_per_talk": replace(EVALUATION, per_talk=True),
    "sweep": SWEEP,
    "sweep_per_talk": replace(SWEEP, per_talk=True),
    "comparison": COMPARISON,
    "comparison_per_talk": replace(COMPARISON, per_talk=True),
    "other_systems": replace(OTHERS, per_talk=True),
    "sweep_without_probabilities": UNGRADED,
}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", REPORTS)
def test_reports_read_to_the_letter(name: str, format: Format) -> None:
    golden = (GOLDEN / f"{name}.{format}").read_bytes().decode()
    assert show(REPORTS[name], format) == golden


def test_json_says_what_the_text_says_without_rounding() -> None:
    document = json.loads(show(SWEEP, "json"))
    [only] = document["results"]
    assert only["best"]["threshold"] == 0.02
    assert only["best"]["precision"] == 94 / 111
    assert [point["tp"] for point in only["points"]] == [98, 94]


def test_csv_has_one_optimal_row_per_model() -> None:
    rows = list(csv.DictReader(io.StringIO(show(SWEEP, "csv"))))
    assert [row["threshold"] for row in rows if row["optimal"] == "1"] == ["0.02"]
    assert {row["signature"] for row in rows} == {"model:sat.onnx|data:0"}


def test_weights_are_shown_whole() -> None:
    assert "(wp=0.25, wr=3.0)" in show(replace(SWEEP, weights=Weights(0.25, 3.0)), "text")


@pytest.mark.parametrize(
    ("threshold", "shown"),
    [(0.01, "0.010"), (0.1, "0.100"), (0.0, "0.000"), (1.0, "1.000"), (0.0125, "0.0125"),
     (1e-05, "0.00001")],
)  # fmt: skip
def test_thresholds_have_three_decimals_or_as_many_as_they_need(
    threshold: float, shown: str
) -> None:
    assert shown_threshold(threshold) == shown


def counts_with_best_at(best: float, thresholds: tuple[float, ...]) -> Measurement:
    points = {t: Counts(10 if t == best else 5, 0, 0 if t == best else 5) for t in thresholds}
    return measurement(("ada", points))


EDGES = {
    "first": (0.01, grid(0.01, 0.2, 0.01), "is the first point of the grid"),
    "how to widen downwards": (0.01, grid(0.01, 0.2, 0.01), "try -sweep-min 0.001 -sweep-step"),
    "last": (0.19, grid(0.01, 0.2, 0.01), "the optimum 0.190 is the last point of the grid"),
    "how to widen upwards": (0.19, grid(0.01, 0.2, 0.01), "try -sweep-max 0.5 (published"),
    "inside": (0.1, grid(0.01, 0.2, 0.01), None),
    "nothing below": (0.0, grid(0.0, 0.2, 0.01), None),
    "nothing above": (0.95, grid(0.05, 1.0, 0.05), None),
    "one point": (0.3, (0.3,), None),
}


@pytest.mark.parametrize(("best", "thresholds", "hint"), EDGES.values(), ids=EDGES)
def test_an_optimum_at_the_edge_of_the_grid_is_pointed_out(
    best: float, thresholds: tuple[float, ...], hint: str | None
) -> None:
    said = beyond_the_grid(counts_with_best_at(best, thresholds), Weights())
    assert (hint in said) if said and hint else (said is hint)
