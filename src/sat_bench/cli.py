"""The command `sat-bench`: options, talks, probabilities, counts, report."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from sat_bench.corpus.importing import import_transcript
from sat_bench.corpus.loading import BUNDLED_CORPUS, Corpus, holds_transcripts, load_corpus
from sat_bench.evaluation import Failed, Measured, compare, measure_model
from sat_bench.models.finding import ModelFiles
from sat_bench.models.systems import System, find_system
from sat_bench.options import DEFAULT_CORPUS, Options, parse_import_options, parse_options
from sat_bench.report import ModelResult, Report, beyond_the_grid, show, shown_threshold
from sat_bench.running.inference import Inference
from sat_bench.running.progress import ProgressBar, on_a_terminal, watch_reading
from truemark import __version__
from truemark.errors import TruemarkError, os_reason
from truemark.signature import Signature

DONE, FAILED, INTERRUPTED = 0, 1, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status: 0 done, 1 the work failed, 2 the command line is wrong, 130 Ctrl-C."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        return _import(given[1:]) if given[:1] == ["import"] else _measure(given)
    except KeyboardInterrupt:
        _note("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        return FAILED  # whoever read the output has left
    except TruemarkError as error:
        _note(f"error: {error}")
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _note(f"error: {where}{os_reason(error)}")
    return FAILED


def _measure(arguments: Sequence[str]) -> int:
    options = parse_options(arguments)
    if options is None:
        _print(f"sat-bench (truemark {__version__})\n")
        return DONE
    for line in options.without_effect:
        _note(line)
    corpus, label = _corpus(options)
    for line in corpus.remarks:
        _note(line)
    with _inference(options, corpus) as inference:
        results = tuple(_results(options, corpus, inference))
    report = Report(
        mode=options.mode,
        corpus=label,
        talks=len(corpus),
        truth=options.truth,
        tolerance=options.tolerance,
        weights=options.weights,
        results=results,
        per_talk=options.per_talk,
    )
    _print(show(report, options.format))
    for result in report.measured:
        for line in _remarks(options, result):
            _note(f"{result.name}: {line}")
    if options.sweeps:
        for result in report.measured:
            if hint := beyond_the_grid(result.measurement, options.weights):
                _note(f"{result.name}: {hint}")
    if options.format == "text":
        for result in report.measured:
            label = f"signature of {result.name}" if options.compare else "signature"
            _note(f"{label}: {result.signature}")
    return DONE if len(report.measured) == len(report.results) else FAILED


def _remarks(options: Options, result: ModelResult) -> Iterator[str]:
    """What the contract's tables have no room for."""
    found = result.measurement
    if options.sweeps and not found.graded:
        yield "gives no probabilities, so its sweep is a single point"
    if found.loss:
        yield f"{found.loss}; its sentences were aligned to the text as far as they go"
    if options.compare and options.format == "text" and found.effort:
        effort = found.effort
        yield f"{effort.seconds:.2f} s, {effort.characters_per_s:,.0f} characters/s"


def _corpus(options: Options) -> tuple[Corpus, str]:
    path = options.corpus or DEFAULT_CORPUS
    if _may_be_empty(options.corpus) and not holds_transcripts(path):
        _note(f"corpus: the bundled talks ({path} holds none yet; `sat-bench import` adds some)")
        path = BUNDLED_CORPUS
    label = "the bundled corpus" if path == BUNDLED_CORPUS else str(path)
    return load_corpus(path, options.truth, watch_reading if on_a_terminal() else iter), label


def _may_be_empty(path: Path | None) -> bool:
    """Whether the bundled talks stand in where there are no transcripts."""
    # In a fresh clone testdata/ted holds nothing but how to add talks.
    return path is None or (path.parts[-2:] == DEFAULT_CORPUS.parts and path.is_dir())


@contextmanager
def _inference(options: Options, corpus: Corpus) -> Iterator[Inference]:
    cache = cluster = None
    with ExitStack() as stack:
        if options.cache:
            from sat_bench.running.cache import ProbabilityCache

            cache = ProbabilityCache(options.cache)
        if options.cluster:
            from sat_bench.running.cluster import connected

            cluster = stack.enter_context(connected(options.cluster))
        bar = ProgressBar(len(corpus), corpus.characters).watch if on_a_terminal() else None
        yield Inference(options.overlap, cache, cluster, _note, bar, options.timeout_s)


def _results(
    options: Options, corpus: Corpus, inference: Inference
) -> Iterator[ModelResult | Failed]:
    measured = _comparison if options.compare else _single
    for outcome in measured(options, corpus, inference):
        if isinstance(outcome, Failed):
            _note(f"failed: {outcome.name}: {outcome.reason}")
            yield outcome
        else:
            signature = _signature(options, corpus, outcome.model)
            yield ModelResult(outcome.model.name, outcome.measurement, signature)


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
    )


def _single(options: Options, corpus: Corpus, inference: Inference) -> Iterator[Measured]:
    model = find_system(options.models[0], options.tokenizer, timeout_s=options.timeout_s)
    if options.thresholds is None and model.threshold is not None:
        _note(f"{model.name}: threshold {shown_threshold(model.threshold)}, from its model card")
    measurement = measure_model(model, corpus, options.thresholds, options.tolerance, inference)
    yield Measured(model, measurement)


def _signature(options: Options, corpus: Corpus, model: System) -> Signature:
    return Signature(
        (
            ("sat-bench", __version__),
            ("data", corpus.checksum[:12]),
            ("truth", options.truth),
            ("tolerance", str(options.tolerance)),
            ("wp", str(options.weights.precision)),
            ("wr", str(options.weights.recall)),
            *model.identity,
            *_windows(options, model),
        )
    )


def _windows(options: Options, model: System) -> tuple[tuple[str, str], ...]:
    """The windows that a SaT model reads with; another system has none."""
    if not isinstance(model, ModelFiles):
        return ()
    reach = model.reach.sharing(options.overlap)
    return ("window", str(reach.window)), ("overlap", str(reach.overlap))


def _import(arguments: Sequence[str]) -> int:
    options = parse_import_options(arguments)
    path, talk = import_transcript(options.file, options.out, options.header, force=options.force)
    words = len(talk.text.split())
    _print(f"Wrote {path}: {len(talk.sentences)} sentences, {words} words\n")
    return DONE


def _print(text: str) -> None:
    if sys.stdout is None:
        raise TruemarkError("the output cannot be written: standard output is closed")
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A file name may hold characters that the terminal's encoding lacks.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        # What is still in the buffer must not raise once more when the interpreter leaves.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise
        raise TruemarkError(f"the output cannot be written: {os_reason(error)}") from error


def _note(line: str) -> None:
    if sys.stderr is not None:  # closed; print would take standard output instead
        print(line, file=sys.stderr)
