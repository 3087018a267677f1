"""The work of `sat-bench`: options, talks, probabilities, counts, report."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

from sat_bench.corpus.conditions import ConditionedCorpus
from sat_bench.corpus.loading import BUNDLED_CORPUS, Corpus, holds_transcripts, load_corpus
from sat_bench.corpus.talks import Talk
from sat_bench.corpus.transcripts import import_transcript
from sat_bench.evaluation import Failed, Measured, compare, measure_model
from sat_bench.models.systems import find_system
from sat_bench.options import DEFAULT_CORPUS, Options, parse_import_options, parse_options
from sat_bench.recording import Setup, record_paths, run_of
from sat_bench.report import notes, show
from sat_bench.results import MeasuredRun, Report, results_of, shown_threshold
from sat_bench.running.inference import Inference
from sat_bench.running.watching import ProgressBar, on_a_terminal, watch_reading
from truemark import __version__
from truemark.command import DONE, FAILED, note, tell
from truemark.text import one_line

Talks = Corpus | ConditionedCorpus
_WORD = re.compile(r"\S+")


def measure(arguments: Sequence[str]) -> int:
    """Measures what the flags describe, and prints it; 1 when a model failed."""
    options = parse_options(arguments)
    if options is None:
        tell(f"sat-bench (truemark {__version__})\n")
        return DONE
    for line in options.without_effect:
        note(line)
    corpus, label = _corpus(options)
    for line in corpus.remarks:
        note(line)
    paths = record_paths(options.record, options.models) if options.record else ()
    talks = ConditionedCorpus(corpus, options.conditions) if options.conditions else corpus
    setup = _setup(options, corpus)
    with _inference(options, talks) as inference:
        outcomes = tuple(_outcomes(options, talks, setup, inference))
    report = Report(
        mode=options.mode,
        corpus=label,
        talks=len(corpus),
        truth=options.truth,
        tolerance=options.tolerance,
        weights=options.weights,
        results=tuple(results_of(outcomes, setup)),
        per_talk=options.per_talk,
    )
    tell(show(report, options.format))
    for line in notes(
        report, sweeps=options.sweeps, timed=options.compare and options.format == "text"
    ):
        note(line)
    if options.format == "text":
        _note_signatures(report, options)
    for path, outcome in zip(paths, outcomes, strict=False):
        if isinstance(outcome, MeasuredRun):
            _write_record(path, outcome, talks, setup)
    return DONE if len(report.measured) == len(report.results) else FAILED


def _setup(options: Options, corpus: Corpus) -> Setup:
    return Setup(
        data=corpus.checksum,
        truth=options.truth,
        tolerance=options.tolerance,
        weights=options.weights,
        overlap=options.overlap,
        conditions=options.conditions,
        sweeps=options.sweeps,
        weighting=options.weighting,
        runtime=options.runtime,
    )


def _note_signatures(report: Report, options: Options) -> None:
    for name, system in dict.fromkeys((one.name, str(one.system)) for one in report.measured):
        note(f"system {name}: {system}" if options.compare else f"system: {system}")
    if report.measured:
        note(f"signature: {report.measured[0].signature}")


def _write_record(path: Path, outcome: MeasuredRun, talks: Iterable[Talk], setup: Setup) -> None:
    from sat_bench.findings import with_findings
    from truemark.records import write_run

    write_run(path, with_findings(outcome.run, outcome.measured, talks, setup))
    note(f"record: {path}")


def _corpus(options: Options) -> tuple[Corpus, str]:
    path = options.corpus or DEFAULT_CORPUS
    if _may_be_empty(options.corpus) and not holds_transcripts(path):
        note(f"corpus: the bundled talks ({path} holds none yet; `sat-bench import` adds some)")
        path = BUNDLED_CORPUS
    label = "the bundled corpus" if path == BUNDLED_CORPUS else str(path)
    return load_corpus(path, options.truth, watch_reading if on_a_terminal() else iter), label


def _may_be_empty(path: Path | None) -> bool:
    """Whether the bundled talks stand in where there are no transcripts."""
    # In a fresh clone testdata/ted holds nothing but how to add talks.
    return path is None or (path.parts[-2:] == DEFAULT_CORPUS.parts and path.is_dir())


@contextmanager
def _inference(options: Options, talks: Talks) -> Iterator[Inference]:
    cache = cluster = None
    with ExitStack() as stack:
        if options.cache:
            from sat_bench.running.cache import ProbabilityCache

            cache = ProbabilityCache(options.cache)
        if options.cluster:
            from sat_bench.running.cluster import connected

            cluster = stack.enter_context(connected(options.cluster))
        bar = ProgressBar(len(talks), talks.characters).watch if on_a_terminal() else None
        yield Inference(
            options.overlap,
            cache,
            cluster,
            note,
            bar,
            options.timeout_s,
            options.weighting,
            options.runtime,
        )


def _outcomes(
    options: Options, talks: Talks, setup: Setup, inference: Inference
) -> Iterator[MeasuredRun | Failed]:
    measured = _comparison if options.compare else _single
    started, begun_s = datetime.now(UTC), perf_counter()
    for outcome in measured(options, talks, inference):
        if isinstance(outcome, Failed):
            note(f"failed: {outcome.name}: {outcome.reason}")
            yield outcome
        else:
            stamp = started.isoformat(timespec="seconds")
            yield MeasuredRun(outcome, run_of(outcome, setup, stamp, perf_counter() - begun_s))
        started, begun_s = datetime.now(UTC), perf_counter()


def _comparison(
    options: Options, talks: Talks, inference: Inference
) -> Iterator[Measured | Failed]:
    return compare(
        options.models,
        talks,
        options.thresholds,
        options.tolerance,
        options.tokenizer,
        inference,
        keep=options.record is not None,
    )


def _single(options: Options, talks: Talks, inference: Inference) -> Iterator[Measured]:
    model = find_system(options.models[0], options.tokenizer, timeout_s=options.timeout_s)
    if options.thresholds is None and model.threshold is not None:
        note(f"{model.name}: threshold {shown_threshold(model.threshold)}, from its model card")
    measurement = measure_model(
        model,
        talks,
        options.thresholds,
        options.tolerance,
        inference,
        keep=options.record is not None,
    )
    yield Measured(model, measurement)


def import_talk(arguments: Sequence[str]) -> int:
    """Writes the corpus file that the flags describe."""
    options = parse_import_options(arguments)
    path, talk = import_transcript(options.file, options.out, options.header, force=options.force)
    words = sum(1 for _ in _WORD.finditer(talk.text))
    tell(f"Wrote {one_line(str(path))}: {len(talk.sentences)} sentences, {words} words\n")
    return DONE
