from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from sat_bench.cli import main
from sat_bench.corpus.conditions import under_condition
from sat_bench.corpus.loading import load_corpus
from sat_bench.corpus.talks import Talk, find_sentences
from sat_bench.defaults import BUNDLED_CORPUS, DEFAULT_TOLERANCE, Condition, Options
from sat_bench.measure import measure
from sat_bench.models.protocol import Probabilities, certain_ends
from sat_bench.models.systems import ModelFiles
from sat_bench.record import (
    Measured,
    measures_of,
    record_paths,
    reliability,
    signature_of,
    with_findings,
    with_run_id,
)
from sat_bench.report import Report, Result, beyond_the_grid, notes, result_of, results_of
from sat_bench.running.inference import read_talks
from truemark.cli import main as truemark
from truemark.counts import EQUAL_WEIGHTS, total
from truemark.curve import SweepPoint, best, grid, sweep
from truemark.folders import find_record
from truemark.matching import ScoredPositions
from truemark.records import Run, load_run, run_json, schema

DATA = "0" * 64
OPTIONS = Options()
SWEEPS = Options(sweeps=True)
GRID = grid(0.05, 1.0, 0.05)
STARTED = "2026-03-01T09:00:00+00:00"


class Guesser:
    """Gives true ends of plain sentences a high probability most of the time, words a low one."""

    def __init__(self, seed: int = 1, skill: float = 2.0) -> None:
        self._seed, self._skill = seed, skill

    def probabilities_many(self, texts: Iterable[str]) -> Iterator[Probabilities]:
        chance = np.random.default_rng(self._seed)
        for text in texts:
            truths = {end for _, end in find_sentences(text)}
            ends = [n for n in range(1, len(text) + 1) if n in truths or text[n : n + 1] == " "]
            noise = chance.normal(size=len(ends))
            lift = np.array([self._skill if end in truths else -self._skill for end in ends])
            values = 1 / (1 + np.exp(-(lift + 1.5 * noise)))
            places = np.array(ends, np.int32)
            yield Probabilities(places, values.astype(np.float32), seconds=len(text) / 1000)


def files(name: str = "guess") -> ModelFiles:
    # The files of a bundled model stand in, since only their checksums are asked for.
    folder = BUNDLED_CORPUS.parent
    return ModelFiles(name, folder / "nano.onnx", folder / "sentencepiece.bpe.model", 0.5)


def talks(number: int, sentences: int = 25) -> list[Talk]:
    text = " ".join(f"This is number {n}, as I said." for n in range(sentences))
    return [Talk(f"t{n}", "", "", "", text, find_sentences(text)) for n in range(number)]


def measured(
    spoken: Iterable[Talk],
    thresholds: tuple[float, ...] = (0.5,),
    seed: int = 1,
    *,
    skill: float = 2.0,
    condition: Condition = "written",
) -> Measured:
    changed = [under_condition(talk, condition) for talk in spoken]
    measurement = measure(partial(read_talks, Guesser(seed, skill)), changed, keep_places=True)
    return Measured(files(f"guess{seed}"), condition, thresholds, measurement, STARTED, 1.5)


def optimum(one: Measured) -> SweepPoint:
    return best(one.measurement.sweep(one.thresholds, EQUAL_WEIGHTS))


def swept(one: Measured) -> Result:
    return result_of(one, SWEEPS, DATA)


def run_of(one: Measured, options: Options, data: str) -> Run:
    return result_of(one, options, data).run


@pytest.fixture(scope="module")
def bundled() -> tuple[Run, Measured]:
    corpus = load_corpus(BUNDLED_CORPUS)
    one = measured(corpus)
    return with_findings(run_of(one, OPTIONS, corpus.checksum), one, corpus), one


def test_a_record_follows_its_schema(bundled: tuple[Run, Measured]) -> None:
    jsonschema.validate(json.loads(run_json(bundled[0])), schema())


def test_units_are_the_talks(bundled: tuple[Run, Measured]) -> None:
    run, one = bundled
    assert [(unit.id, unit.counts) for unit in run.units] == [
        (talk.id, talk.curve.counts(0.5)) for talk in one.measurement.talks
    ]
    assert "blocks" not in json.loads(run_json(run))["units"][0]
    assert [unit.seconds for unit in run.units] == [
        len(unit.text or "") / 1000 for unit in run.units
    ]


class Known:
    """Answers these ends, and no probabilities."""

    def __init__(self, ends: list[int]) -> None:
        self._ends = ends

    def probabilities_many(self, texts: Iterable[str]) -> Iterator[Probabilities]:
        for _ in texts:
            yield certain_ends(self._ends)


def test_measures_of_the_field_are_counted_in_words() -> None:
    # Words:   1   2    3   4    5    6     7
    text = "One two. Red fox. Too far away."
    talk = Talk("a", "", "", "", text, find_sentences(text))
    assert talk.boundaries == [8, 17, 31]
    measurement = measure(partial(read_talks, Known([8, 12, 31])), [talk], keep_places=True)
    values = measures_of(measurement.talks, 0.5, 3, inner=False)
    assert values == {
        "precision": 2 / 3,
        "recall": 2 / 3,
        "f1": 2 / 3,
        "macro_f1": 2 / 3,
        "sentence_f1": 1 / 3,
        "su_error_rate": 2 / 3,
        "pk": 2 / 7,
        "window_diff": 2 / 7,
        "boundary_similarity": 1 - 0.5 / 3,
    }
    inner = measures_of(measurement.talks, 0.5, 3, inner=True)
    assert (inner["f1"], inner["su_error_rate"], inner["sentence_f1"]) == (0.5, 1.0, 0.5)
    assert inner["boundary_similarity"] == 0.75


def test_a_run_holds_the_measures_of_the_field(bundled: tuple[Run, Measured]) -> None:
    run, one = bundled
    assert run.measures["f1"] == pytest.approx(optimum(one).scores.f1)
    assert run.inner_measures["f1"] < run.measures["f1"]
    assert json.loads(run_json(run))["measures"] == pytest.approx(run.measures)


def test_every_mistake_is_a_finding_in_its_place(bundled: tuple[Run, Measured]) -> None:
    run, one = bundled
    kinds = Counter(finding.kind for finding in run.findings if finding.mistake)
    counts = optimum(one).counts
    assert kinds == {"invented": counts.fp, "missed": counts.fn}
    assert min(kinds.values()) > 20
    texts = {unit.id: unit.text for unit in run.units}
    marks = {(unit.id, mark.role, mark.start) for unit in run.units for mark in unit.marks}
    for finding in run.findings:
        text, at = texts[finding.unit], finding.at
        assert text
        assert at is not None
        assert text[finding.offset : finding.offset + len(finding.text)] == finding.text
        role = "found" if finding.kind == "near" else finding.kind
        assert (finding.unit, role, finding.offset + at) in marks
        assert any(mark.start == at and mark.role == role for mark in finding.marks)


def test_findings_carry_the_model_s_own_probability(bundled: tuple[Run, Measured]) -> None:
    for finding in bundled[0].findings:
        if finding.probability is not None:
            assert (finding.probability > 0.5) is (finding.kind != "missed")
    assert sum(finding.probability is not None for finding in bundled[0].findings) > 50


class Fixed:
    """Predicts the ends it was given, for every text."""

    def __init__(self, **ends: float) -> None:
        self._ends = {int(name[1:]): value for name, value in ends.items()}

    def probabilities_many(self, texts: Iterable[str]) -> Iterator[Probabilities]:
        for _ in texts:
            yield Probabilities(
                np.array(sorted(self._ends), np.int32),
                np.array([self._ends[end] for end in sorted(self._ends)], np.float32),
            )


def test_findings_say_how_far_off_a_prediction_is() -> None:
    #        0         1         2         3
    text = "One two three four five. Six seven. Eight."
    talk = Talk("a", "", "", "", text, find_sentences(text))  # ends at 24, 35 and 42
    model = Fixed(e7=0.9, e18=0.9, e33=0.9, e24=0.2)
    measurement = measure(partial(read_talks, model), [talk], keep_places=True)
    one = Measured(files(), "written", (0.5,), measurement, STARTED, 1.5)
    run = with_findings(run_of(one, OPTIONS, DATA), one, [talk])
    found = {(one.kind, one.offset + (one.at or 0)): one for one in run.findings}
    assert set(found) == {("invented", 7), ("invented", 18), ("missed", 24), ("near", 33)}
    assert found["near", 33].note == "2 characters before the true end"
    assert not found["near", 33].mistake
    assert [one.by for one in found["near", 33].differences] == [-2]
    assert found["invented", 18].note == "6 characters before the true end"
    assert found["missed", 24].note == "an end was predicted 6 characters before it"
    assert found["missed", 24].probability == pytest.approx(0.2)
    assert found["invented", 7].differences[0].by == -17


def test_a_place_that_matches_another_end_is_no_place_of_a_missed_one() -> None:
    text = "He sat. A. So we left."
    talk = Talk("a", "", "", "", text, find_sentences(text))  # ends at 7, 10 and 22
    model = Fixed(e7=0.9, e10=0.1, e22=0.9)
    measurement = measure(partial(read_talks, model), [talk], keep_places=True)
    one = Measured(files(), "written", (0.5,), measurement, STARTED, 1.5)
    run = with_findings(run_of(one, OPTIONS, DATA), one, [talk])
    [missed] = [finding for finding in run.findings if finding.kind == "missed"]
    assert missed.probability == pytest.approx(0.1)


def test_the_curve_and_reliability_agree_with_the_counts(bundled: tuple[Run, Measured]) -> None:
    run, one = bundled
    assert run.curve
    place = int(np.searchsorted(run.curve.at, 0.5, side="right")) - 1
    assert run.curve.counts(place) == optimum(one).counts
    assert run.reliability
    assert run.reliability.rows[-1].correct > 0.9 * run.reliability.rows[-1].count
    assert run.tolerances
    at_three = run.tolerances.at.index(3.0)
    assert run.tolerances.counts(at_three) == optimum(one).counts


def test_each_true_end_is_credited_to_the_most_probable_place_near_it() -> None:
    scored = ScoredPositions(np.array([8, 10, 12, 30]), np.array([0.2, 0.9, 0.4, np.inf]))
    rows = reliability([(scored, [10, 30])], 3, 0.5).rows
    assert sum(row.count for row in rows) == 3
    assert [row.correct for row in rows if row.count] == [0, 0, 1]


def test_two_models_on_the_same_data_share_the_key_and_not_the_identity() -> None:
    spoken = talks(3)
    first, second = (run_of(measured(spoken, seed=seed), OPTIONS, DATA) for seed in (1, 2))
    assert first.comparison_key == second.comparison_key
    assert first.system_id != second.system_id
    other = run_of(measured(spoken), replace(OPTIONS, tolerance=2), DATA)
    assert other.comparison_key != first.comparison_key


def test_talks_of_one_name_are_told_apart() -> None:
    run = run_of(measured([*talks(1), *talks(1)]), OPTIONS, DATA)
    assert [unit.id for unit in run.units] == ["t0", "t0 #2"]


def test_languages_are_grouped_by_code_however_the_header_states_them() -> None:
    stated = ("de", "DE", "German", "de-DE", "deu", "en, fr", "")
    spoken = [
        replace(talk, language=language)
        for talk, language in zip(talks(len(stated)), stated, strict=True)
    ]
    run = run_of(measured(spoken), OPTIONS, DATA)
    assert [unit.group.get("language") for unit in run.units] == [*["de"] * 5, "en, fr", None]


def test_a_run_has_one_condition_which_is_part_of_its_signature() -> None:
    spoken = [replace(talk, language="en") for talk in load_corpus(BUNDLED_CORPUS)]
    written, lower = (measured(spoken, condition=condition) for condition in ("written", "lower"))
    runs = [with_findings(run_of(one, OPTIONS, DATA), one, spoken) for one in (written, lower)]
    assert [run.signature["condition"] for run in runs] == ["written", "lower"]
    assert runs[0].comparison_key != runs[1].comparison_key
    assert runs[0].signature == run_of(measured(spoken), Options(), DATA).signature
    for run in runs:
        assert [unit.id for unit in run.units] == [talk.id for talk in spoken]
        assert {unit.cluster for unit in run.units} == {None}
        assert [unit.group for unit in run.units] == [{"language": "en"}] * len(spoken)
    assert runs[0].units[0].text == spoken[0].text
    assert runs[1].units[0].text == spoken[0].text.lower()


def test_the_loss_is_the_difference_to_the_text_as_written() -> None:
    conditions: tuple[Condition, ...] = ("written", "bare")
    options = replace(OPTIONS, conditions=conditions, shows_conditions=True)
    parts = [measured(talks(12), condition=condition) for condition in conditions]
    written, bare = results_of(parts, options, DATA)
    assert isinstance(written, Result)
    assert isinstance(bare, Result)
    assert written.f1_loss is None
    assert bare.f1_loss == optimum(parts[0]).scores.f1 - optimum(parts[1]).scores.f1


def test_a_swept_threshold_is_scored_on_talks_it_was_not_chosen_on() -> None:
    one = measured(load_corpus(BUNDLED_CORPUS), GRID)
    run = run_of(one, SWEEPS, DATA)
    curves = one.measurement.curves
    expected = []
    for left_out in curves:
        rest = [curve for curve in curves if curve is not left_out]
        chosen = best(sweep(rest, GRID, empty=0.0)).threshold
        expected.append(left_out.counts(chosen))
    assert run.held_out
    assert run.held_out.counts == total(expected)


def test_the_best_of_all_thresholds_is_told_where_the_grid_misses_it() -> None:
    corpus = load_corpus(BUNDLED_CORPUS)
    result = swept(measured(corpus, grid(0.01, 0.1, 0.01)))
    missed = result.missed
    assert missed
    assert result.misses_outside
    finer = optimum(measured(corpus, grid(0.001, 1.0, 0.001)))
    assert missed.scores.weighted >= finer.scores.weighted
    assert optimum(measured(corpus, (missed.threshold,))).counts == missed.counts
    said = beyond_the_grid(result)
    assert said
    assert f"{missed.threshold}" in said
    assert "outside the grid, whose best is 0.090" in said
    assert "the model's own, 0.500, has" in said
    assert "try -sweep-min" in said


def test_nothing_is_said_where_the_grid_has_the_best_or_all_is_perfect() -> None:
    corpus = load_corpus(BUNDLED_CORPUS)
    missed = swept(measured(corpus, (0.01,))).missed
    assert missed
    exact = swept(measured(corpus, (0.01, missed.threshold, 0.99)))
    assert exact.missed is None
    assert beyond_the_grid(exact) is None
    plain = [replace(talk, sentences=find_sentences(talk.text)) for talk in corpus]
    perfect = swept(measured(plain, GRID, skill=50.0))
    assert perfect.best.scores.f1 == 1
    assert perfect.missed is None
    assert beyond_the_grid(perfect) is None


def test_an_optimum_at_the_edge_that_nothing_beats_is_said_to_be_so() -> None:
    corpus = load_corpus(BUNDLED_CORPUS)
    missed = swept(measured(corpus, (0.01,))).missed
    assert missed
    last = missed.threshold
    said = beyond_the_grid(swept(measured(corpus, (last - 0.02, last - 0.01, last))))
    assert said
    assert "is the last point of the grid" in said
    assert "no threshold beyond it does better" in said


def test_intervals_say_what_was_resampled() -> None:
    result = result_of(measured(talks(12)), OPTIONS, DATA)
    said = list(notes(Report(OPTIONS, "talks", 12, (result,))))
    assert said[0].endswith("; 95% intervals over 12 talks")
    assert result.summary
    f1 = result.summary.intervals["f1"]
    assert f1.low < result.best.scores.f1 < f1.high


def test_the_verdict_is_against_the_first() -> None:
    spoken = talks(12)
    parts = [measured(spoken, seed=seed) for seed in (1, 2, 3)]
    results = results_of(parts, OPTIONS, DATA)
    none, second, third = (result.versus for result in results if isinstance(result, Result))
    assert none is None
    assert second
    assert third
    assert (second.name, third.name) == ("guess2", "guess3")
    assert second.p_value >= second.raw_p_value
    assert swept(parts[0]).versus is None


PATHS = {
    "a folder": ("out", ["nano"], ["out/nano.run.json"]),
    "a file": ("out/x.json", ["nano"], ["out/x.json"]),
    "a pattern": ("o/{model}.v1.json", ["nano", "small"], ["o/nano.v1.json", "o/small.v1.json"]),
    "paths": ("o", ["a/b.onnx", "lib:x"], ["o/a-b.onnx.run.json", "o/lib-x.run.json"]),
    "one model twice": ("o", ["nano", "nano"], ["o/nano.run.json", "o/nano-2.run.json"]),
    "nothing but dots": ("o", ["../.."], ["o/model.run.json"]),
    "long commands": ("o", ["cmd:" + 300 * "x"] * 2, [
        f"o/cmd-{146 * 'x'}.run.json", f"o/cmd-{146 * 'x'}-2.run.json"
    ]),
    "a long name in another script": ("o", [300 * "話"], [f"o/{50 * '話'}.run.json"]),
}  # fmt: skip
CONDITIONS = {
    "a folder": ("o", ["o/a.run.json", "o/a.bare.run.json", "o/b.run.json", "o/b.bare.run.json"]),
    "a pattern": (
        "o/{condition}/{model}.json",
        ["o/written/a.json", "o/bare/a.json", "o/written/b.json", "o/bare/b.json"],
    ),
}


@pytest.mark.parametrize(("path", "models", "expected"), PATHS.values(), ids=PATHS)
def test_each_model_has_its_record(
    path: str, models: list[str], expected: list[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert record_paths(Path(path), models) == tuple(map(Path, expected))
    assert all(Path(one).parent.is_dir() for one in expected)


@pytest.mark.parametrize(("path", "expected"), CONDITIONS.values(), ids=CONDITIONS)
def test_each_condition_has_its_record(
    path: str, expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    paths = record_paths(Path(path), ["a", "b"], ("written", "bare"))
    assert paths == tuple(map(Path, expected))


def test_records_of_a_command_compare(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["-models", "nano,small", "-record", "out/", "-conditions", "bare"]) == 0
    printed = capsys.readouterr()
    rows = [line.split()[:2] for line in printed.out.splitlines()[5:]]
    assert rows == [["nano", "written"], ["nano", "bare"], ["small", "written"], ["small", "bare"]]
    [told] = [line for line in printed.err.splitlines() if line.startswith("small  bare")]
    assert told.endswith("better")
    nano = load_run(find_record("out/nano"))
    assert f"record: out/nano.{nano.id}.run.json (run {nano.id})" in printed.err
    assert "record: out/small.bare." in printed.err
    for name, condition in (("nano", "written"), ("nano.bare", "bare")):
        run = load_run(find_record(f"out/{name}"))
        assert len(run.units) == 24
        assert run.signature["condition"] == condition
        assert {finding.unit for finding in run.findings} <= {unit.id for unit in run.units}
    for suffix in ("", ".bare"):
        names = [f"out/{model}{suffix}" for model in ("nano", "small")]
        assert truemark(["compare", *names]) == 0
        assert "small against nano: " in capsys.readouterr().out


def test_a_second_run_of_a_model_is_kept_beside_the_first() -> None:
    [result] = results_of([measured(talks(3))], OPTIONS, DATA)
    assert isinstance(result, Result)
    path = Path("runs/base.bare.run.json")
    later = replace(result.run, started="2026-03-02T09:00:00+00:00")
    names = {with_run_id(path, run).as_posix() for run in (result.run, later)}
    assert names == {f"runs/base.bare.{run.id}.run.json" for run in (result.run, later)}
    assert len(names) == 2


WRONG = {
    "one file for two models": (
        ["-models", "a,b", "-record", "x.json"],
        "-record must be a folder",
    ),
    "one file for two conditions": (
        ["-conditions", "bare", "-record", "x.json"],
        "-record must be a folder, or a path with {condition} in it, for 2 conditions",
    ),
    "one pattern for two conditions": (
        ["-models", "a,b", "-conditions", "bare", "-record", "{model}.json"],
        "a path with {condition} in it",
    ),
    "unknown placeholder": (
        ["-record", "{nosuch}.json"],
        "-record has the unknown placeholder {nosuch}, expected {model} or {condition}",
    ),
    "unknown placeholder of a folder": (
        ["-record", "{model}/{date}"],
        "-record has the unknown placeholder {date}, expected {model} or {condition}",
    ),
    "a pattern without a suffix": (
        ["-record", "runs/{model}"],
        "-record with {model} in it must end in .json, such as runs/{model}.run.json, got runs",
    ),
    "unknown condition": (["-conditions", "written,loud"], "got 'loud'"),
    "empty condition": (["-conditions", ""], "must be conditions separated by commas"),
}


@pytest.mark.parametrize(("arguments", "reason"), WRONG.values(), ids=WRONG)
def test_wrong_flags_are_refused(
    arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert reason in capsys.readouterr().err


def test_a_record_that_cannot_be_written_is_told_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("taken").write_text("", encoding="utf-8")
    assert main(["-corpus", "bundled", "-record", "taken/out"]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "error: taken/out: a folder for run records cannot be created here" in printed.err


def test_no_record_is_written_over_a_talk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    talk = '{"text": "One. Two.", "boundaries": [4, 9]}'
    Path("talk.json").write_text(talk, encoding="utf-8")
    measured = ["-corpus", "talk.json", "-model", "nano", "-record"]
    assert main([*measured, "talk.json"]) == 1
    assert "talk.json: is not a run record and would be overwritten" in capsys.readouterr().err
    assert Path("talk.json").read_text(encoding="utf-8") == talk
    assert [main([*measured, "new.json"]) for _ in range(2)] == [0, 0]


def test_the_signature_has_the_tool_first_and_the_rules() -> None:
    signature = signature_of(run_of(measured(talks(2)), Options(), DATA))
    assert signature.startswith("sat-bench:")
    assert f"|tolerance:{DEFAULT_TOLERANCE}|" in signature
    assert DEFAULT_TOLERANCE == 3
