import csv
import io
import json
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sat_bench.defaults import FORMATS, Condition, Format, Options
from sat_bench.formats import show_as
from sat_bench.models.answers import TextSystem
from sat_bench.models.protocol import Loss
from sat_bench.record import Failed, Measured, MeasuredTalk, Measurement
from sat_bench.report import (
    Report,
    Result,
    beyond_the_grid,
    notes,
    result_of,
    results_of,
    show_text,
    shown_threshold,
    signatures,
)
from truemark import __version__
from truemark.counts import Counts, Weights
from truemark.curve import Curve, grid

GOLDEN = Path(__file__).parent / "golden"
DATA = "0" * 64
STARTED = "2026-03-01T09:00:00+00:00"


def curve(points: dict[float, Counts]) -> Curve:
    """A curve that has these counts at these thresholds, which ascend."""
    thresholds = list(points)
    ends = [*thresholds[1:], 1.0]
    scores, adds = [thresholds[0] / 2], [False]  # below all thresholds
    for number, (threshold, counts) in enumerate(points.items()):
        following = points[thresholds[number + 1]] if number + 1 < len(points) else Counts(0, 0, 0)
        for matched, count in ((True, counts.tp - following.tp), (False, counts.fp - following.fp)):
            scores += [(threshold + ends[number]) / 2] * count
            adds += [matched] * count
    [expected] = {counts.expected for counts in points.values()}
    return Curve(np.sort(scores), np.sort(np.array(scores)[adds]), expected)


def certain_curve(counts: Counts) -> Curve:
    """The curve of a system without probabilities."""
    predicted, matched = (np.full(count, np.inf) for count in (counts.tp + counts.fp, counts.tp))
    return Curve(predicted, matched, counts.expected)


def system(name: str) -> TextSystem:
    return TextSystem(name, {"source": name}, lambda: nullcontext(str.split))


def measured(
    name: str,
    measurement: Measurement,
    thresholds: tuple[float, ...],
    condition: Condition = "written",
) -> Measured:
    return Measured(system(name), condition, thresholds, measurement, STARTED, 1.0)


def result(
    name: str, *talks: tuple[str, dict[float, Counts]], weights: Weights | None = None
) -> Result:
    thresholds = tuple(talks[0][1])
    measurement = Measurement(
        tuple(MeasuredTalk(id, "", curve(points), truth="plain") for id, points in talks)
    )
    return shown(measured(name, measurement, thresholds), weights)


def shown(one: Measured, weights: Weights | None = None) -> Result:
    """A result without intervals."""
    result = result_of(one, Options(weights=weights or Weights()), DATA)
    return replace(result, summary=replace(result.summary, intervals={}, groups=()))


def timed(one: Result, seconds: float, characters: int) -> Result:
    measurement = replace(one.measurement, seconds=seconds, characters=characters)
    return replace(one, measured=replace(one.measured, measurement=measurement))


UNDER: tuple[Condition, ...] = ("written", "bare")


def drawn(name: str, seed: int, options: Options) -> list[Measured]:
    """A system whose counts are drawn, at two thresholds."""
    chance = np.random.default_rng(seed)
    talks: dict[Condition, list[MeasuredTalk]] = {name: [] for name in options.conditions}
    for number in range(12):
        for condition in options.conditions:
            missed = int(chance.integers(0, 9 if condition == "bare" else 4))
            low, high = Counts(20 - missed, 5, missed), Counts(19 - missed, 2, missed + 1)
            language = ("en", "de")[number % 2]
            points = curve({0.1: low, 0.2: high})
            talks[condition].append(MeasuredTalk(f"t{number}", language, points, truth="plain"))
    return [
        measured(name, Measurement(tuple(talks[condition])), (0.1, 0.2), condition)
        for condition in options.conditions
    ]


EVALUATION = Report(
    options=Options(),
    corpus="testdata/ted",
    talks=2,
    results=(
        result(
            "sat.onnx",
            ("ada", {0.025: Counts(300, 400, 300)}),
            ("bob", {0.025: Counts(76, 54, 48)}),
        ),
    ),
    truths=("plain",),
)
SWEEP = replace(
    EVALUATION,
    options=Options(sweeps=True, weights=Weights(1.0, 2.0)),
    results=(
        result(
            "sat.onnx",
            ("ada", {0.01: Counts(60, 30, 0), 0.02: Counts(58, 10, 2)}),
            ("bob", {0.01: Counts(38, 10, 2), 0.02: Counts(36, 7, 4)}),
            weights=Weights(1.0, 2.0),
        ),
    ),
)
COMPARISON = replace(
    EVALUATION,
    options=Options(compare=True),
    results=(
        result("sat-1l-sm.onnx", ("ada", {0.025: Counts(90, 12, 10)})),
        Failed("broken.onnx", "not an ONNX model"),
        result("models/a/name/of/more/than/thirty.onnx", ("ada", {0.25: Counts(0, 0, 5)})),
    ),
)
PYSBD = measured(
    "lib:pysbd",
    Measurement(
        (MeasuredTalk("ada", "", certain_curve(Counts(80, 9, 20)), truth="plain"),),
        seconds=0.05,
        characters=100_000,
    ),
    (0.025,),
)
OTHERS = replace(
    COMPARISON,
    results=(
        timed(COMPARISON.measured[0], 2.5, 100_000),
        shown(PYSBD),
        shown(
            measured(
                "llm:some-model",
                Measurement(
                    (MeasuredTalk("ada", "", certain_curve(Counts(70, 9, 30)), truth="plain"),),
                    loss=Loss(changed=120, deleted=44, invented=8, characters=80_000),
                    seconds=40.0,
                    characters=100_000,
                ),
                (0.025,),
            )
        ),
        Failed("cmd:false", "ended with status 1: it said nothing on standard error"),
    ),
)
CERTAIN_OPTIONS = Options(compare=True, sweeps=True)
UNGRADED = replace(SWEEP, results=(shown(PYSBD, Weights(1.0, 2.0)),))
CERTAIN = replace(
    COMPARISON,
    options=CERTAIN_OPTIONS,
    results=results_of(
        [
            *drawn("one", 1, CERTAIN_OPTIONS),
            Failed("two", "gone"),
            *drawn("three", 3, CERTAIN_OPTIONS),
        ],
        CERTAIN_OPTIONS,
        DATA,
    ),
)
CONDITION_OPTIONS = Options(sweeps=True, conditions=UNDER, shows_conditions=True)
CONDITIONED = replace(
    EVALUATION,
    options=CONDITION_OPTIONS,
    results=results_of(drawn("one", 1, CONDITION_OPTIONS), CONDITION_OPTIONS, DATA),
)


def per_talk(report: Report) -> Report:
    return replace(report, options=replace(report.options, per_talk=True))


def shown_as(report: Report, format: Format) -> str:
    return show_text(report) if format == "text" else show_as(report, format)


REPORTS = {
    "evaluation": EVALUATION,
    "evaluation_per_talk": per_talk(EVALUATION),
    "sweep": SWEEP,
    "sweep_per_talk": per_talk(SWEEP),
    "comparison": COMPARISON,
    "comparison_per_talk": per_talk(COMPARISON),
    "other_systems": per_talk(OTHERS),
    "sweep_without_probabilities": UNGRADED,
}
# Their intervals are computed, so that the last digits may differ from machine to machine.
ROUNDED: dict[str, Report] = {
    "certain": per_talk(CERTAIN),
    "conditions": CONDITIONED,
    "conditions_of_models": replace(CONDITIONED, results=(*CONDITIONED.results, Failed("x", "no"))),
}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", REPORTS)
def test_reports_read_to_the_letter(name: str, format: Format) -> None:
    golden = (GOLDEN / f"{name}.{format}").read_bytes().decode()
    shown = shown_as(REPORTS[name], format).replace(f"sat-bench:{__version__}", "sat-bench:VERSION")
    assert shown == golden


@pytest.mark.parametrize("format", ["text", "markdown"])
@pytest.mark.parametrize("name", ROUNDED)
def test_how_sure_results_are_reads_to_the_letter(name: str, format: Format) -> None:
    golden = (GOLDEN / f"{name}.{format}").read_bytes().decode()
    shown = shown_as(ROUNDED[name], format).replace(f"sat-bench:{__version__}", "sat-bench:VERSION")
    assert shown == golden


@pytest.mark.parametrize("format", ["text", "markdown"])
def test_no_loss_has_no_sign(format: Format) -> None:
    written, bare = CONDITIONED.measured
    report = replace(CONDITIONED, results=(written, replace(bare, f1_loss=-0.0004)))
    assert " -0.0" not in shown_as(report, format)


def test_one_talk_is_counted_in_the_singular() -> None:
    one = replace(EVALUATION, talks=1)
    assert shown_as(one, "text").startswith("Loaded 1 talk from testdata/ted\n")
    assert shown_as(one, "markdown").startswith("1 talk from testdata/ted, truth rule: plain")


def test_json_carries_intervals_verdict_and_the_score_out_of_sample() -> None:
    first, failed, third = json.loads(shown_as(CERTAIN, "json"))["results"]
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
    rows = list(csv.DictReader(io.StringIO(shown_as(CERTAIN, "csv"))))
    document = json.loads(shown_as(CERTAIN, "json"))["results"]
    assert [row["model"] for row in rows] == ["one", "two", "three"]
    assert float(rows[0]["f1_low"]) == document[0]["intervals"]["f1"]["low"]
    assert float(rows[2]["p_value"]) == document[2]["against_the_first"]["p_value"]
    assert rows[2]["verdict"] == "not distinguishable"
    written, bare = csv.DictReader(io.StringIO(shown_as(CONDITIONED, "csv")))
    assert (written["condition"], written["f1_loss"]) == ("written", "")
    assert float(bare["f1_loss"]) == float(written["f1"]) - float(bare["f1"])


def test_json_says_what_the_text_says_without_rounding() -> None:
    document = json.loads(shown_as(SWEEP, "json"))
    [only] = document["results"]
    assert only["best"]["threshold"] == 0.02
    assert only["best"]["precision"] == 94 / 111
    assert [point["tp"] for point in only["points"]] == [98, 94]


def test_csv_has_one_optimal_row_per_model() -> None:
    rows = list(csv.DictReader(io.StringIO(shown_as(SWEEP, "csv"))))
    assert [row["threshold"] for row in rows if row["optimal"] == "1"] == ["0.02"]
    rules = "data:000000000000|truth:plain|tolerance:3|condition:written|wp:1.0|wr:2.0"
    assert {row["signature"] for row in rows} == {f"sat-bench:{__version__}|{rules}"}


def test_weights_are_shown_whole() -> None:
    weighted = replace(SWEEP.options, weights=Weights(0.25, 3.0))
    assert "(wp=0.25, wr=3.0)" in show_text(replace(SWEEP, options=weighted))


@pytest.mark.parametrize(
    ("threshold", "shown"),
    [(0.01, "0.010"), (0.1, "0.100"), (0.0, "0.000"), (1.0, "1.000"), (0.0125, "0.0125"),
     (1e-05, "0.00001")],
)  # fmt: skip
def test_thresholds_have_three_decimals_or_as_many_as_they_need(
    threshold: float, shown: str
) -> None:
    assert shown_threshold(threshold) == shown


def result_with_best_at(optimum: float, thresholds: tuple[float, ...]) -> Result:
    """Invents ends below the best threshold, and misses some above it."""

    def counts(threshold: float) -> Counts:
        if threshold > optimum:
            return Counts(5, 0, 5)
        return Counts(9, 0, 1) if threshold == optimum else Counts(9, 5, 1)

    return result("m", ("ada", {threshold: counts(threshold) for threshold in thresholds}))


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


@pytest.mark.parametrize(("optimum", "thresholds", "hint"), EDGES.values(), ids=EDGES)
def test_an_optimum_at_the_edge_of_the_grid_is_pointed_out(
    optimum: float, thresholds: tuple[float, ...], hint: str | None
) -> None:
    said = beyond_the_grid(result_with_best_at(optimum, thresholds))
    assert (hint in said) if said and hint else (said is hint)


def test_a_flat_optimum_and_the_best_f1_elsewhere_are_said() -> None:
    flat = {0.1: Counts(90, 10, 10), 0.2: Counts(90, 10, 10), 0.3: Counts(90, 10, 10)}
    options = Options(sweeps=True)
    report = replace(SWEEP, options=options, results=(result("a", ("ada", flat)),))
    assert [line for line in notes(report) if "equal" in line] == [
        "a: 0.100 to 0.300 are equal (Weighted 0.900); the middle is 0.200"
    ]
    weights = Weights(0.0, 1.0)
    points = {0.1: Counts(95, 90, 5), 0.2: Counts(90, 10, 10), 0.3: Counts(10, 0, 90)}
    swept = result("a", ("ada", points), weights=weights)
    report = replace(SWEEP, options=replace(options, weights=weights), results=(swept,))
    assert [line for line in notes(report) if "F1 has" in line] == [
        "a: F1 has its best, 0.900, at 0.200; at the optimum of the weighted score it is 0.667"
    ]


def test_several_runs_are_told_in_one_table_and_no_signature() -> None:
    said = list(notes(CERTAIN))
    columns, one, _, _, mean, three, *rest = said
    assert columns.split("  ")[0] == "model"
    assert columns.endswith("verdict")
    assert one.split()[:3] == ["one", "all", "0.881"]
    assert "0.856 to 0.903" in one
    assert mean.startswith("one    mean of languages  0.88")
    assert three.endswith("+0.016  -0.017 to +0.048        0.3359  not distinguishable")
    assert [line for line in rest if "95%" in line] == ["95% intervals over 12 talks"]
    assert not [line for line in said if "signature" in line]
    assert len([line for line in signatures(CERTAIN) if "signature" in line]) == 1


def test_a_dash_for_the_f1_of_a_language_has_its_reason_below_the_table() -> None:
    points = {0.5: Counts(3, 1, 1)}
    talks = tuple(
        MeasuredTalk(language, language, curve(points), truth="plain") for language in ("de", "fr")
    )
    one = result_of(measured("a", Measurement(talks), (0.5,)), Options(), DATA)
    report = replace(EVALUATION, results=(one,))
    reason = (
        "a dash stands for the F1 of languages with fewer than 5 true ends; their mean leaves them"
        " out"
    )
    said = list(notes(report))
    assert any(line.split()[:3] == ["a", "de", "-"] for line in said)
    assert said.count(reason) == 1
    assert reason in show_as(replace(report, options=Options(format="markdown")), "markdown")
    assert not [line for line in notes(CERTAIN) if "dash" in line]


def test_the_mean_of_languages_stands_in_json_and_csv() -> None:
    first = json.loads(shown_as(CERTAIN, "json"))["results"][0]
    mean = sum(language["value"] for language in first["languages"].values()) / 2
    assert first["language_macro_f1"] == pytest.approx(mean)
    row = next(csv.DictReader(io.StringIO(shown_as(CERTAIN, "csv"))))
    assert float(row["language_macro_f1"]) == pytest.approx(mean)


def test_a_small_loss_is_never_shown_as_none() -> None:
    assert str(Loss(changed=1, deleted=0, invented=7, characters=100_000)) == (
        "0.01 changed, 0.0 deleted, 0.1 invented per 1,000 characters"
    )


def test_measures_stand_in_every_format_but_text() -> None:
    [first] = EVALUATION.measured
    measures = {"sentence_f1": 0.5, "macro_f1": 0.625, "f1": 0.75}
    run = replace(first.run, measures=measures, inner_measures={"sentence_f1": 0.25})
    report = replace(EVALUATION, results=(replace(first, run=run),))
    [document] = json.loads(shown_as(report, "json"))["results"]
    assert document["measures"] == measures
    assert document["inner_measures"] == {"sentence_f1": 0.25}
    [row] = csv.DictReader(io.StringIO(shown_as(report, "csv")))
    assert (row["sentence_f1"], row["macro_f1"], row["pk"]) == ("0.5", "0.625", "")
    assert "| sat.onnx | 0.500 | 0.625 |" in shown_as(report, "markdown")
    inner = replace(report, options=replace(report.options, inner=True))
    assert "| sat.onnx | 0.250 |" in shown_as(inner, "markdown")
    assert "0.625" not in shown_as(report, "text")
