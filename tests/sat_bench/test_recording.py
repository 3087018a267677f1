from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from sat_bench.cli import main
from sat_bench.corpus.conditions import ConditionedCorpus
from sat_bench.corpus.loading import BUNDLED_CORPUS, load_corpus
from sat_bench.corpus.talks import Talk, find_sentences
from sat_bench.evaluation import DEFAULTS, Measured, Measurement, boundary_scores, measure
from sat_bench.findings import reliability, with_findings
from sat_bench.models.boundaries import Probabilities
from sat_bench.models.finding import ModelFiles
from sat_bench.recording import Setup, record_paths, run_of
from sat_bench.report import beyond_the_grid
from sat_bench.results import (
    MeasuredRun,
    ModelResult,
    assess,
    missed_by_the_grid,
    results_of,
    versus_first,
)
from truemark.cli import main as truemark
from truemark.counts import Weights
from truemark.records import Run, load_runs, run_json, schema
from truemark.sweep import ScoredPositions, grid

SETUP = Setup("0" * 64, "plain", 3, Weights(), 64)
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
    spoken: Iterable[Talk], thresholds: tuple[float, ...] = (0.5,), seed: int = 1
) -> Measured:
    return Measured(files(f"guess{seed}"), measure(Guesser(seed), spoken, thresholds, keep=True))


@pytest.fixture(scope="module")
def bundled() -> tuple[Run, Measured]:
    corpus = load_corpus(BUNDLED_CORPUS)
    one = measured(corpus)
    setup = replace(SETUP, data=corpus.checksum)
    return with_findings(run_of(one, setup, STARTED, 1.5), one, corpus, setup), one


def test_a_record_follows_its_schema(bundled: tuple[Run, Measured]) -> None:
    jsonschema.validate(json.loads(run_json(bundled[0])), schema())


def test_units_are_the_talks_with_blocks_that_add_up(bundled: tuple[Run, Measured]) -> None:
    run, one = bundled
    evaluation = one.measurement.best()
    assert [(unit.id, unit.counts) for unit in run.units] == list(evaluation.talks)
    assert all(len(unit.blocks) > 5 for unit in run.units)
    assert [unit.seconds for unit in run.units] == [
        len(unit.text or "") / 1000 for unit in run.units
    ]


@pytest.mark.parametrize(("number", "blocks"), [(9, True), (10, False)])
def test_from_ten_talks_on_talks_are_resampled_and_not_their_blocks(
    number: int, blocks: bool
) -> None:
    run = run_of(measured(talks(number)), SETUP, STARTED)
    assert all(bool(unit.blocks) is blocks for unit in run.units)


def test_without_a_record_the_predictions_of_many_talks_are_let_go() -> None:
    assert len(measure(Guesser(), talks(9), (0.5,)).scored) == 9
    assert measure(Guesser(), talks(10), (0.5,)).scored == ()
    assert measure(Guesser(), talks(25), (0.5,)).scored == ()


def test_every_mistake_is_a_finding_in_its_place(bundled: tuple[Run, Measured]) -> None:
    run, one = bundled
    kinds = Counter(finding.kind for finding in run.findings if finding.mistake)
    counts = one.measurement.best().counts
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
    one = Measured(files(), measure(model, [talk], (0.5,), keep=True))
    run = with_findings(run_of(one, SETUP, STARTED), one, [talk], SETUP)
    found = {(one.kind, one.offset + (one.at or 0)): one for one in run.findings}
    assert set(found) == {("invented", 7), ("invented", 18), ("missed", 24), ("near", 33)}
    assert found["near", 33].note == "2 characters before the true end"
    assert not found["near", 33].mistake
    assert [one.by for one in found["near", 33].differences] == [-2]
    assert found["invented", 18].note == "6 characters before the true end"
    assert found["missed", 24].note == "an end was predicted 6 characters before it"
    assert found["missed", 24].probability == pytest.approx(0.2)
    assert found["invented", 7].differences[0].by == -17


def test_the_curve_and_reliability_agree_with_the_counts(bundled: tuple[Run, Measured]) -> None:
    run, one = bundled
    assert run.curve
    place = int(np.searchsorted(run.curve.at, 0.5, side="right")) - 1
    assert run.curve.counts(place) == one.measurement.best().counts
    assert run.reliability
    assert run.reliability.rows[-1].correct > 0.9 * run.reliability.rows[-1].count
    assert run.tolerances
    at_three = run.tolerances.at.index(3.0)
    assert run.tolerances.counts(at_three) == one.measurement.best().counts


def test_each_true_end_is_credited_to_the_most_probable_place_near_it() -> None:
    scored = ScoredPositions(np.array([8, 10, 12, 30]), np.array([0.2, 0.9, 0.4, np.inf]))
    rows = reliability([(scored, [10, 30])], 3).rows
    assert sum(row.count for row in rows) == 3
    assert [row.correct for row in rows if row.count] == [0, 0, 1]


def test_two_models_on_the_same_data_share_the_key_and_not_the_identity() -> None:
    spoken = talks(3)
    first, second = (run_of(measured(spoken, seed=seed), SETUP, STARTED) for seed in (1, 2))
    assert first.comparison_key == second.comparison_key
    assert first.system_id != second.system_id
    other = run_of(measured(spoken), replace(SETUP, tolerance=2), STARTED)
    assert other.comparison_key != first.comparison_key


def test_talks_of_one_name_are_told_apart() -> None:
    run = run_of(measured([*talks(1), *talks(1)]), SETUP, STARTED)
    assert [unit.id for unit in run.units] == ["t0", "t0 #2"]


def test_languages_and_conditions_are_groups_and_a_talk_stays_one_cluster() -> None:
    corpus = load_corpus(BUNDLED_CORPUS)
    setup = replace(SETUP, conditions=("written", "lower"))
    conditioned = ConditionedCorpus(corpus, ("written", "lower"))
    spoken = [replace(talk, language="en") for talk in conditioned]
    one = measured(spoken)
    run = with_findings(run_of(one, setup, STARTED), one, spoken, setup)
    assert [unit.group for unit in run.units[:2]] == [
        {"condition": "written", "language": "en"},
        {"condition": "lower", "language": "en"},
    ]
    assert run.units[0].cluster == run.units[1].cluster == corpus.files[0].stem
    assert run.units[1].text == spoken[1].text
    results = list(results_of([MeasuredRun(one, run)], setup))
    assert [one.condition for one in results if isinstance(one, ModelResult)] == [
        "written",
        "lower",
    ]


def test_a_swept_threshold_is_scored_on_talks_it_was_not_chosen_on() -> None:
    corpus = load_corpus(BUNDLED_CORPUS)
    one = measured(corpus, GRID)
    run = run_of(one, replace(SETUP, sweeps=True), STARTED)
    expected = [0, 0, 0]
    everything = one.measurement
    for left_out in everything.talks:
        rest = tuple(talk for talk in everything.talks if talk is not left_out)
        chosen = Measurement(GRID, rest).best().threshold
        counts = left_out.counts(GRID.index(chosen))
        expected = [a + b for a, b in zip(expected, (counts.tp, counts.fp, counts.fn), strict=True)]
    assert run.held_out
    assert [run.held_out.tp, run.held_out.fp, run.held_out.fn] == expected


def test_the_best_of_all_thresholds_is_told_where_the_grid_misses_it() -> None:
    corpus = load_corpus(BUNDLED_CORPUS)
    one = measured(corpus, grid(0.01, 0.1, 0.01)).measurement
    missed = missed_by_the_grid(one, 0.5, Weights())
    assert missed
    assert missed.outside
    assert missed.own
    finer = measure(Guesser(), corpus, grid(0.001, 1.0, 0.001)).best()
    weighted = boundary_scores(missed.best.counts, Weights()).weighted
    assert weighted >= finer.scores().weighted
    here = measure(Guesser(), corpus, (missed.best.threshold,)).best()
    assert here.counts == missed.best.counts
    said = beyond_the_grid(one, Weights(), missed)
    assert said
    assert f"{missed.best.threshold}" in said
    assert "outside the grid, whose best is 0.090" in said
    assert "the model's own, 0.500, has" in said
    assert "try -sweep-min" in said


def test_nothing_is_said_where_the_grid_has_the_best_or_all_is_perfect() -> None:
    corpus = load_corpus(BUNDLED_CORPUS)
    best = missed_by_the_grid(measured(corpus, (0.01,)).measurement, None, Weights())
    assert best
    exact = measured(corpus, (0.01, best.best.threshold, 0.99)).measurement
    assert missed_by_the_grid(exact, None, Weights()) is None
    assert beyond_the_grid(exact, Weights()) is None
    perfect = measure(Guesser(skill=50.0), corpus, GRID)
    assert perfect.best().scores().f1 == 1
    assert missed_by_the_grid(perfect, 0.5, Weights()) is None
    assert beyond_the_grid(perfect, Weights()) is None


def test_an_optimum_at_the_edge_that_nothing_beats_is_said_to_be_so() -> None:
    corpus = load_corpus(BUNDLED_CORPUS)
    best = missed_by_the_grid(measured(corpus, (0.01,)).measurement, None, Weights())
    assert best
    last = best.best.threshold
    edge = measured(corpus, (last - 0.02, last - 0.01, last)).measurement
    said = beyond_the_grid(edge, Weights())
    assert said
    assert "is the last point of the grid" in said
    assert "no threshold beyond it does better" in said


def test_intervals_say_what_was_resampled() -> None:
    few, many = (measured(talks(number)) for number in (3, 12))
    blocks = assess(few.measurement, run_of(few, SETUP, STARTED), sweeps=False)
    assert blocks.clusters_in_words == "9 blocks of sentences"
    whole = assess(many.measurement, run_of(many, SETUP, STARTED), sweeps=False)
    assert whole.clusters_in_words == "12 talks"
    f1 = whole.intervals["f1"]
    assert f1.low < many.measurement.best().scores().f1 < f1.high


def test_the_verdict_is_against_the_first() -> None:
    spoken = talks(12)
    runs = [run_of(measured(spoken, seed=seed), SETUP, STARTED) for seed in (1, 2, 3)]
    none, second, third = versus_first(runs)
    assert none is None
    assert second
    assert third
    assert (second.name, third.name) == ("guess2", "guess3")
    assert second.p_value >= second.raw_p_value
    assert versus_first(runs[:1]) == (None,)


PATHS = {
    "a folder": ("out", ["nano"], ["out/nano.run.json"]),
    "a file": ("out/x.json", ["nano"], ["out/x.json"]),
    "a pattern": ("o/{model}.v1.json", ["nano", "small"], ["o/nano.v1.json", "o/small.v1.json"]),
    "paths": ("o", ["a/b.onnx", "lib:x"], ["o/a-b.onnx.run.json", "o/lib-x.run.json"]),
    "one model twice": ("o", ["nano", "nano"], ["o/nano.run.json", "o/nano-2.run.json"]),
    "nothing but dots": ("o", ["../.."], ["o/model.run.json"]),
}  # fmt: skip


@pytest.mark.parametrize(("path", "models", "expected"), PATHS.values(), ids=PATHS)
def test_each_model_has_its_record(
    path: str, models: list[str], expected: list[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert record_paths(Path(path), models) == tuple(map(Path, expected))
    assert all(Path(one).parent.is_dir() for one in expected)


def test_records_of_a_command_compare(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["-models", "nano,small", "-record", "out/", "-conditions", "bare"]) == 0
    printed = capsys.readouterr()
    rows = [line.split()[:2] for line in printed.out.splitlines()[5:]]
    assert rows == [["nano", "written"], ["nano", "bare"], ["small", "written"], ["small", "bare"]]
    assert "bare: small against nano: " in printed.err
    assert "record: out/nano.run.json" in printed.err
    runs = load_runs("out/nano.run.json")
    assert [run.condition for run in runs] == ["written", "bare"]
    assert [len(run.units) for run in runs] == [6, 6]
    assert all(run.findings for run in runs)
    assert truemark(["compare", "out/nano.run.json", "out/small.run.json"]) == 1
    assert "holds runs under 2 conditions (written, bare)" in capsys.readouterr().err


WRONG = {
    "one file for two models": (
        ["-models", "a,b", "-record", "x.json"],
        "-record must be a folder",
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
    assert "error: taken/out: no folder for run records can be made here" in printed.err


def test_no_record_is_written_over_a_talk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    talk = '{"text": "One. Two.", "boundaries": [4, 9]}'
    Path("talk.json").write_text(talk, encoding="utf-8")
    measured = ["-corpus", "talk.json", "-model", "nano", "-record"]
    assert main([*measured, "talk.json"]) == 1
    assert "talk.json: is no run record, and would be lost" in capsys.readouterr().err
    assert Path("talk.json").read_text(encoding="utf-8") == talk
    assert [main([*measured, "new.json"]) for _ in range(2)] == [0, 0]


def test_the_defaults_are_those_of_the_setup() -> None:
    assert DEFAULTS.tolerance == SETUP.tolerance
    assert str(SETUP.signature).startswith("sat-bench:")
    assert dict(SETUP.signature.parts)["tolerance"] == "3"
