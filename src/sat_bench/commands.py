"""The work of `sat-bench`: talks, systems, curves, runs, report. `measure` knows the whole path."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from sat_bench.corpus.loading import Corpus, holds_transcripts, load_corpus
from sat_bench.corpus.transcripts import import_transcript
from sat_bench.defaults import BUNDLED_CORPUS, DEFAULT_CORPUS, Options
from sat_bench.measure import Failed, Measured, compare, measure_system
from sat_bench.models.systems import find_system
from sat_bench.record import record_paths, run_of, with_findings
from sat_bench.report import Report, notes, results_of, show, shown_threshold, signatures
from sat_bench.running.cache import ProbabilityCache
from sat_bench.running.cluster import connected
from sat_bench.running.inference import Inference
from sat_bench.running.progress import ProgressBar, on_a_terminal, watch_reading
from truemark import __version__
from truemark.command import DONE, FAILED, note, tell
from truemark.records import Run, write_run
from truemark.text import one_line

_WORD = re.compile(r"\S+")

Outcome = tuple[Measured, Run] | Failed


def measure(options: Options) -> int:
    """Measure what the options describe, and print it; return 1 when a model failed."""
    for line in options.without_effect:
        note(line)
    corpus, label = _corpus(options)
    for line in corpus.remarks:
        note(line)
    paths: tuple[Path, ...] = ()
    if options.record:
        paths = record_paths(options.record, options.models, options.conditions)
    with _inference(options, corpus) as inference:
        outcomes = tuple(_outcomes(options, corpus, inference))
    report = Report(options, label, len(corpus), tuple(results_of(outcomes, options)))
    tell(show(report))
    for line in notes(report):
        note(line)
    if options.format == "text":
        for line in signatures(report):
            note(line)
    if options.record:
        _write_records(paths, outcomes, corpus, len(options.conditions))
    return DONE if len(report.measured) == len(report.results) else FAILED


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
def _inference(options: Options, corpus: Corpus) -> Iterator[Inference]:
    times = len(options.conditions)
    bar = ProgressBar(len(corpus) * times, corpus.characters * times)
    with ExitStack() as stack:
        yield Inference(
            options.overlap,
            ProbabilityCache(options.cache) if options.cache else None,
            stack.enter_context(connected(options.cluster)) if options.cluster else None,
            note,
            bar.watch if on_a_terminal() else None,
            options.timeout_s,
            options.weighting,
            options.runtime,
        )


def _outcomes(options: Options, corpus: Corpus, inference: Inference) -> Iterator[Outcome]:
    """Measure each system under each condition, and make its runs as it is done."""
    measured = _comparison if options.compare else _single
    for outcome in measured(options, corpus, inference):
        if isinstance(outcome, Failed):
            note(f"failed: {outcome.name}: {outcome.reason}")
            yield outcome
        else:
            yield outcome, run_of(outcome, options, corpus.checksum)


def _comparison(
    options: Options, corpus: Corpus, inference: Inference
) -> Iterator[Measured | Failed]:
    return compare(
        options.models,
        corpus,
        options.thresholds,
        options.tolerance,
        options.tokenizer,
        inference,
        conditions=options.conditions,
        keep_places=options.record is not None,
    )


def _single(options: Options, corpus: Corpus, inference: Inference) -> Iterator[Measured]:
    system = find_system(options.models[0], options.tokenizer, timeout_s=options.timeout_s)
    if options.thresholds is None and system.threshold is not None:
        note(f"{system.name}: threshold {shown_threshold(system.threshold)}, from its model card")
    yield from measure_system(
        system,
        corpus,
        options.thresholds,
        options.tolerance,
        inference,
        conditions=options.conditions,
        keep_places=options.record is not None,
    )


def _write_records(
    paths: Iterable[Path], outcomes: Iterable[Outcome], corpus: Corpus, conditions: int
) -> None:
    following = iter(paths)
    for outcome in outcomes:
        if isinstance(outcome, Failed):
            for _ in range(conditions):
                next(following)
            continue
        measured, run = outcome
        path = next(following)
        write_run(path, with_findings(run, measured, corpus))
        note(f"record: {path}")


def tell_version() -> int:
    tell(f"sat-bench (truemark {__version__})\n")
    return DONE


def import_talk(file: Path, out: Path | None, header: Mapping[str, str], *, force: bool) -> int:
    """Write the corpus file of a pasted transcript or a subtitle file, and say where it is."""
    path, talk = import_transcript(file, out, header, force=force)
    words = sum(1 for _ in _WORD.finditer(talk.text))
    tell(f"Wrote {one_line(str(path))}: {len(talk.sentences)} sentences, {words} words\n")
    return DONE
