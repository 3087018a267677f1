"""Measure systems on talks; `measure_and_report` is the whole path from options to report."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TypeVar

from sat_bench.corpus.conditions import under_condition
from sat_bench.corpus.loading import Corpus, holds_transcripts, load_corpus
from sat_bench.corpus.recognition import remark_on_languages
from sat_bench.corpus.talks import CorpusError, Talk
from sat_bench.defaults import (
    BUNDLED_CORPORA,
    BUNDLED_CORPUS,
    DEFAULT_CORPUS,
    DEFAULT_GRID,
    DEFAULT_THRESHOLD,
    DEFAULT_TOLERANCE,
    GOLD_FOLDER,
    TRUTH_RULES,
    WRITTEN,
    Condition,
    Options,
)
from sat_bench.formats import show_as
from sat_bench.models.answers import TextSystem
from sat_bench.models.boundaries import scored_positions
from sat_bench.models.cards import foreign_talks
from sat_bench.models.protocol import NO_LOSS, BoundaryModel, Read
from sat_bench.models.stored import StoredPredictions
from sat_bench.models.systems import ModelFiles, System, find_system, is_bundled, languages_of
from sat_bench.record import (
    EMPTY_RATIO,
    Failed,
    Measured,
    MeasuredTalk,
    Measurement,
    default_threshold,
    is_folder,
    record_paths,
    with_findings,
    with_run_id,
    word_starts,
)
from sat_bench.report import (
    Report,
    Result,
    notes,
    results_of,
    show_text,
    shown_threshold,
    signatures,
)
from sat_bench.running.cache import open_cache
from sat_bench.running.cluster import connected
from sat_bench.running.inference import Inference, read_talks
from sat_bench.running.progress import watch_answers, watch_reading
from truemark.command import DONE, FAILED, note, tell
from truemark.counts import EQUAL_WEIGHTS, Counts, Scores, Weights, scores, total
from truemark.curve import SweepPoint, curve_of, grid, ranked
from truemark.errors import TruemarkError
from truemark.labelling.agreement import known_agreement
from truemark.records import write_run
from truemark.services.keys import without_keys

ON_THIS_MACHINE = Inference()

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The counts of each talk, by its id, at one threshold."""

    threshold: float
    talks: tuple[tuple[str, Counts], ...]

    @property
    def counts(self) -> Counts:
        return total(counts for _, counts in self.talks)

    def scores(self, weights: Weights = EQUAL_WEIGHTS) -> Scores:
        """Compute the micro-average: ratios of the summed counts."""
        return scores(self.counts, empty=EMPTY_RATIO, weights=weights)


def measure_and_report(options: Options) -> int:
    """Measure what the options describe, and print the report; return 1 if a model failed."""
    for line in options.without_effect:
        note(line)
    corpus, label = _corpus(options)
    for line in corpus.remarks:
        note(line)
    for name in filter(is_bundled, options.models):
        if remark := foreign_talks(name, languages_of(name), corpus):
            note(remark)
    if "asr" in options.conditions and (remark := remark_on_languages(corpus)):
        note(remark)
    paths: tuple[Path, ...] = ()
    if options.record:
        paths = record_paths(options.record, options.models, options.conditions)
    with _inference(options, corpus) as inference:
        outcomes = tuple(_outcomes(options, corpus, inference))
    results = results_of(outcomes, options, corpus.checksum)
    report = Report(options, label, len(corpus), results, corpus.truths)
    tell(show_text(report) if options.format == "text" else show_as(report, options.format))
    for line in notes(report):
        note(line)
    if options.verbose:
        for line in signatures(report):
            note(line)
    if options.record:
        _write_records(report, paths, corpus, in_folder=is_folder(options.record))
    return DONE if len(report.measured) == len(report.results) else FAILED


def _corpus(options: Options) -> tuple[Corpus, str]:
    path = options.corpus or DEFAULT_CORPUS
    # In a fresh clone testdata/ted has only instructions for adding talks.
    may_be_empty = path.parts[-2:] == DEFAULT_CORPUS.parts and path.is_dir()
    if (options.corpus is None or may_be_empty) and not holds_transcripts(path):
        if path.is_dir():
            note(f"corpus: the bundled talks ({path} holds none yet; `sat-bench import` adds some)")
        path = BUNDLED_CORPUS
    label = "the bundled corpus" if path == BUNDLED_CORPUS else str(path)
    if path == BUNDLED_CORPORA["languages"]:
        label = "the bundled talks in eight languages"
    return load_corpus(path, options.truth, watch_reading if _on_a_terminal() else iter), label


@contextmanager
def _inference(options: Options, corpus: Corpus) -> Iterator[Inference]:
    times = len(options.conditions)
    watch = partial(watch_answers, len(corpus) * times, corpus.characters * times)
    with ExitStack() as stack:
        yield Inference(
            options.overlap,
            open_cache(options.cache) if options.cache else None,
            stack.enter_context(connected(options.cluster)) if options.cluster else None,
            note,
            watch if _on_a_terminal() else None,
            options.timeout_s,
            options.weighting,
            options.runtime,
        )


def _outcomes(
    options: Options, corpus: Corpus, inference: Inference
) -> Iterator[Measured | Failed]:
    """Measure each system under each condition; report failures as they happen."""
    how = (corpus, options.thresholds, options.tolerance)
    if not options.compare:
        system = find_system(options.models[0], options.tokenizer, timeout_s=options.timeout_s)
        recommended = system.threshold if isinstance(system, ModelFiles) else None
        if options.thresholds is None and recommended is not None:
            note(f"{system.name}: threshold {shown_threshold(recommended)}, from its model card")
        yield from measure_system(system, *how, inference, conditions=options.conditions)
        return
    for outcome in compare(
        options.models, *how, options.tokenizer, inference, conditions=options.conditions
    ):
        if isinstance(outcome, Failed):
            note(f"failed: {outcome.name}: {outcome.reason}")
        yield outcome


def _write_records(
    report: Report, paths: Iterable[Path], corpus: Corpus, *, in_folder: bool
) -> None:
    planned: list[Result | Failed] = []  # a system that failed has a path for each condition too
    for result in report.results:
        planned += [result] * (len(report.options.conditions) if isinstance(result, Failed) else 1)
    for path, result in zip(paths, planned, strict=True):
        if isinstance(result, Failed):
            continue
        run = with_findings(result.run, result.measured, corpus)
        if (agreement := _annotators_agreement(corpus, run.condition)) is not None:
            run = replace(run, notes=(*run.notes, agreement))
        file = with_run_id(path, run) if in_folder else path
        write_run(file, run)
        note(f"record: {file} (run {run.id})")


def _annotators_agreement(corpus: Corpus, condition: str) -> str | None:
    """Return how far the annotators of a gold corpus agree, if that is stored."""
    if set(corpus.truths) <= set(TRUTH_RULES):
        return None
    folder = corpus.files[0].parent
    folder = folder.parent if folder.name == GOLD_FOLDER else folder
    return known_agreement(folder, "talk", condition)


def _on_a_terminal() -> bool:
    """Whether standard error is a terminal that can redraw a line."""
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def measure(
    read: Read,
    talks: Iterable[Talk],
    tolerance: int = DEFAULT_TOLERANCE,
    *,
    keep_places: bool = False,
) -> Measurement:
    """Read each talk once with a system; talks are loaded as the system needs them.

    Records and the additional measures need `keep_places`.
    """
    loading: list[float] = []
    answering: list[float] = []
    measured: list[MeasuredTalk] = []
    loss, characters = NO_LOSS, 0
    for talk, answer in _timed(read(_timed(talks, loading)), answering):
        characters += len(talk.text)
        scored, truths = scored_positions(talk.text, answer), talk.boundaries
        measured.append(
            MeasuredTalk(
                talk.id,
                talk.language,
                curve_of(scored, truths, tolerance),
                answer.seconds,
                answer.replayed,
                (scored, truths) if keep_places else None,
                talk.truth,
                word_starts(talk.text) if keep_places else None,
            )
        )
        if answer.loss != NO_LOSS:
            loss += answer.loss
    # The system asks for talks while it works, so the time to load them is subtracted.
    return Measurement(tuple(measured), loss, sum(answering) - sum(loading), characters)


def _timed(items: Iterable[T], seconds: list[float]) -> Iterator[T]:
    """Yield the items; add how long each of them took to come."""
    source = iter(items)
    while True:
        begun = perf_counter()
        item = next(source, None)
        seconds.append(perf_counter() - begun)
        if item is None:
            return
        yield item


def evaluate(
    model: BoundaryModel | System | str,
    talks: Iterable[Talk],
    threshold: float | None = None,
    tolerance: int = DEFAULT_TOLERANCE,
) -> Evaluation:
    """Count the matches of each talk at one threshold, by default the model's.

    A system may be given by its name, as `find_system` takes it.
    """
    model = find_system(model) if isinstance(model, str) else model
    recommended = getattr(model, "threshold", None) if threshold is None else threshold
    used = DEFAULT_THRESHOLD if recommended is None else float(recommended)
    _check_thresholds([used])
    measurement = _measurement(model, talks, tolerance)
    return Evaluation(used, tuple((talk.id, talk.curve.counts(used)) for talk in measurement.talks))


def sweep(
    model: BoundaryModel | System | str,
    talks: Iterable[Talk],
    thresholds: Sequence[float] = grid(*DEFAULT_GRID),
    tolerance: int = DEFAULT_TOLERANCE,
    weights: Weights = EQUAL_WEIGHTS,
) -> tuple[SweepPoint, ...]:
    """Sum the counts at each threshold; sort by weighted score, then F1, then lower threshold.

    A system may be given by its name, as `find_system` takes it.
    """
    _check_thresholds(thresholds)
    model = find_system(model) if isinstance(model, str) else model
    return ranked(_measurement(model, talks, tolerance).sweep(thresholds, weights))


def _check_thresholds(thresholds: Iterable[float]) -> None:
    for threshold in thresholds:
        if not 0 <= threshold <= 1:
            raise ValueError(f"threshold must be from 0 to 1, got {threshold}")


def _require_talks(talks: Iterable[Talk]) -> None:
    if isinstance(talks, str | Path):
        raise TypeError(
            f"talks must be Talk objects, got a path: load_corpus({str(talks)!r}) reads it"
        )


def _repeatable(talks: Iterable[Talk]) -> Iterable[Talk]:
    """Keep talks that can be iterated only once, such as those of a generator."""
    return tuple(talks) if isinstance(talks, Iterator) else talks


def _measurement(
    model: BoundaryModel | System, talks: Iterable[Talk], tolerance: int
) -> Measurement:
    _require_talks(talks)
    if isinstance(model, ModelFiles | TextSystem | StoredPredictions):
        [measured] = measure_system(model, talks, tolerance=tolerance)
        return measured.measurement
    return measure(partial(read_talks, model), talks, tolerance)


def compare(
    names: Iterable[str],
    talks: Iterable[Talk],
    thresholds: Sequence[float] | None = None,
    tolerance: int = DEFAULT_TOLERANCE,
    tokenizer: Path | None = None,
    inference: Inference = ON_THIS_MACHINE,
    *,
    conditions: Sequence[Condition] = (WRITTEN,),
) -> Iterator[Measured | Failed]:
    """Measure the named systems in turn under each condition; continue after one that fails.

    Without thresholds, each system is measured at its default. The tokenizer is for SaT models that
    are not bundled. The talks are iterated once per system and condition.
    """
    _check_thresholds(thresholds or ())
    _require_talks(talks)
    talks = _repeatable(talks)
    for name in names:
        try:
            system = find_system(
                name, None if is_bundled(name) else tokenizer, timeout_s=inference.timeout_s
            )
            yield from measure_system(
                system,
                talks,
                thresholds,
                tolerance,
                inference,
                conditions=conditions,
            )
        except CorpusError:
            raise
        except TruemarkError as error:
            shown = without_keys(name)
            yield Failed(shown, str(error).removeprefix(f"{shown}: "))


def measure_system(
    system: System,
    talks: Iterable[Talk],
    thresholds: Sequence[float] | None = None,
    tolerance: int = DEFAULT_TOLERANCE,
    inference: Inference = ON_THIS_MACHINE,
    *,
    conditions: Sequence[Condition] = (WRITTEN,),
) -> list[Measured]:
    """Open the system once and measure it under each condition, by default at its threshold."""
    used = tuple(thresholds or (default_threshold(system),))
    talks = _repeatable(talks) if len(conditions) > 1 else talks
    measured = []
    started, begun_s = datetime.now(UTC), perf_counter()
    with inference.opened(system) as read:
        for condition in conditions:
            changed = talks
            if condition != WRITTEN:
                changed = (under_condition(talk, condition) for talk in talks)
            measurement = measure(read, changed, tolerance, keep_places=True)
            if inference.cache or isinstance(system, StoredPredictions):
                # The time to read stored answers says nothing about the speed of the system.
                measurement = replace(measurement, seconds=None)
            stamp, seconds = started.isoformat(timespec="seconds"), perf_counter() - begun_s
            measured.append(Measured(system, condition, used, measurement, stamp, seconds))
            started, begun_s = datetime.now(UTC), perf_counter()
    return measured
