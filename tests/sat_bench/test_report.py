import csv
import io
import json
from array import array
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sat_bench.evaluation import Failed, Measured, Measurement, TalkPoints
from sat_bench.models.answers import TextSystem
from sat_bench.models.protocol import Loss
from sat_bench.recording import Setup, run_of
from sat_bench.report import beyond_the_grid, show
from sat_bench.results import MeasuredRun, ModelResult, Report, results_of, shown_threshold
from sat_bench.running.watching import Effort
from truemark import __version__
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


SETUP = Setup("0" * 64, "plain", 3, Weights(), 64, sweeps=True)
UNDER = ("written", "bare")


def recorded(name: str, seed: int, conditions: tuple[str, ...] = ("",)) -> MeasuredRun:
    """A system whose counts are drawn, at two thresholds."""
    chance = np.random.default_rng(seed)
    talks = []
    for number in range(12):
        for condition in conditions:
            missed = int(chance.integers(0, 9 if condition == "bare" else 4))
            counts = [[20 - missed, 19 - missed], [5, 2], [missed, missed + 1]]
            language = ("en", "de")[number % 2]
            tp, fp, fn = (array("i", column) for column in counts)
            talks.append(TalkPoints(f"t{number}", tp, fp, fn, language, condition))
    measured = Measured(
        TextSystem(name, (("source", name),), lambda: nullcontext(str.split)),
        Measurement((0.1, 0.2), tuple(talks)),
    )
    setup = replace(SETUP, conditions=conditions) if any(conditions) else SETUP
    return MeasuredRun(measured, run_of(measured, setup, "2026-03-01T09:00:00+00:00"))


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
CERTAIN = replace(
    COMPARISON,
    results=tuple(
        results_of([recorded("one", 1), Failed("two", "gone"), recorded("three", 3)], SETUP)
    ),
)
CONDITIONED = replace(
    EVALUATION,
    mode="conditions",
    results=tuple(results_of([recorded("one", 1, UNDER)], replace(SETUP, conditions=UNDER))),
)
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
# Their intervals are computed, so that the last digits may differ from machine to machine.
ROUNDED: dict[str, Report] = {
    "certain": replace(CERTAIN, per_talk=True),
    "conditions": CONDITIONED,
    "conditions_of_models": replace(CONDITIONED, results=(*CONDITIONED.results, Failed("x", "no"))),
}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", REPORTS)
def test_reports_read_to_the_letter(name: str, format: Format) -> None:
    golden = (GOLDEN / f"{name}.{format}").read_bytes().decode()
    shown = show(REPORTS[name], format).replace(f"sat-bench:{__version__}", "sat-bench:VERSION")
    assert shown == golden


@pytest.mark.parametrize("format", ["text", "markdown"])
@pytest.mark.parametrize("name", ROUNDED)
def test_how_sure_results_are_reads_to_the_letter(name: str, format: Format) -> None:
    golden = (GOLDEN / f"{name}.{format}").read_bytes().decode()
    shown = show(ROUNDED[name], format).replace(f"sat-bench:{__version__}", "sat-bench:VERSION")
    assert shown == golden


def test_json_carries_intervals_verdict_and_the_score_out_of_sample() -> None:
    first, failed, third = json.loads(show(CERTAIN, "json"))["results"]
    assert failed == {"model": "two", "failed": "gone"}
    assert first["intervals"]["f1"]["low"] < first["best"]["f1"] < first["intervals"]["f1"]["high"]
    assert first["intervals"]["f1"]["clusters"] == 12
    assert first["clusters_are"] == "talks"
    assert set(first["languages"]) == {"en", "de"}
    assert first["out_of_sample"]["tp"] <= first["best"]["tp"]
    assert "against_the_first" not in first
    against = third["against_the_first"]
    assert against["verdict"] == "not distinguishable"
    assert against["differences"]["f1"]["value"] == third["best"]["f1"] - first["best"]["f1"]
    assert against["power"]["smallest_difference"] > 0
    assert (first["signature"], first["system"]) == (third["signature"], "source:one")


def test_csv_carries_the_same_in_the_row_to_use() -> None:
    rows = list(csv.DictReader(io.StringIO(show(CERTAIN, "csv"))))
    document = json.loads(show(CERTAIN, "json"))["results"]
    assert [row["model"] for row in rows] == ["one", "two", "three"]
    assert float(rows[0]["f1_low"]) == document[0]["intervals"]["f1"]["low"]
    assert float(rows[2]["p_value"]) == document[2]["against_the_first"]["p_value"]
    assert rows[2]["verdict"] == "not distinguishable"
    written, bare = csv.DictReader(io.StringIO(show(CONDITIONED, "csv")))
    assert (written["condition"], written["f1_loss"]) == ("written", "")
    assert float(bare["f1_loss"]) == float(written["f1"]) - float(bare["f1"])


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
    points = {t: Counts(9 if t == best else 5, 0, 1 if t == best else 5) for t in thresholds}
    return measurement(("ada", points))


EDGES = {
    "first": (0.01, grid(0.01, 0.2, 0.01), "is the first point of the grid"),
    "how to widen downwards": (
        0.01,
        grid(0.01, 0.2, 0.01),
        "-sweep-min 0.001 -sweep-step 0.001 (published",
    ),
    "last": (0.19, grid(0.01, 0.2, 0.01), "the optimum 0.190 is the last point of the grid"),
    "how to widen upwards": (0.19, grid(0.01, 0.2, 0.01), "-sweep-max 0.5 (published"),
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
