"""The command `benchmark`, from its flags to its exit status."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from http import HTTPStatus
from pathlib import Path

from cal_ai.benchmark.asking import Plan, extract_all, fingerprints
from cal_ai.benchmark.baseline import Baseline, compare_with_baseline, open_baseline
from cal_ai.benchmark.mistakes import mistake_lines
from cal_ai.benchmark.narrative import narrate
from cal_ai.benchmark.page import markdown_report
from cal_ai.benchmark.record import price_of
from cal_ai.benchmark.report import (
    Finished,
    add_summary_call,
    finish,
    history_line,
    json_facts,
    progress_line,
    record_path,
    text_summary,
)
from cal_ai.benchmark.samples import Sample, default_folder, load_samples, sample_remarks
from cal_ai.benchmark.scoring import Result, Scored
from cal_ai.benchmark.store import AnswerStore, count_answered, create_new, require_writable
from cal_ai.extractors.choosing import choice_line, choose_extractor, is_embedded
from cal_ai.extractors.language_model import LanguageModelExtractor
from cal_ai.extractors.protocol import Extractor
from cal_ai.extractors.replay import Recording, ReplayExtractor
from cal_ai.settings import load_settings
from truemark.command import inform, note, tell
from truemark.comparison import comparable_runs, compare
from truemark.errors import TruemarkError
from truemark.files import write_atomically
from truemark.jsonlines import append
from truemark.jsontext import to_json
from truemark.records import Run, without_texts, write_run
from truemark.sections import Section, all_facts, as_text, comparison_sections
from truemark.services.calls import Prompt, Usage
from truemark.text import counted

HISTORY_FILE = "benchmark_history.jsonl"

_TOO_MANY = f"{HTTPStatus.TOO_MANY_REQUESTS} {HTTPStatus.TOO_MANY_REQUESTS.phrase}"
# In English prose; tokenizers differ by about a fifth.
_CHARACTERS_PER_TOKEN = 4


def benchmark_command(options: argparse.Namespace) -> int:
    """Run the benchmark that the flags describe; return 1 if a sample failed or F1 is too low."""
    warnings: list[str] = []
    folder = options.folder or default_folder()
    samples = load_samples(folder, options.only, options.limit, warnings)
    settings = load_settings(os.environ)
    models: list[str | None] = list(dict.fromkeys(options.models)) or [None]
    # All of them before the first call, so that a missing setting is reported before any cost.
    extractors = [
        choose_extractor(
            options.extractor,
            settings,
            model=model,
            prompt=options.prompt,
            timeout_s=options.timeout,
            per_minute=options.rpm,
        )
        for model in models
    ]
    require_writable(options.output)
    baseline = open_baseline(options.baseline, samples) if options.baseline else None
    runs: list[tuple[Finished, Path | None]] = []
    status = 0
    for number, (model, extractor) in enumerate(zip(models, extractors, strict=True)):
        inform(choice_line(options.extractor, model, settings, extractor))
        if not number:
            _warn(warnings)
            for remark in sample_remarks(samples, embedded=is_embedded(extractor)):
                inform(remark)
        try:
            plan = _plan(options, folder, samples, extractor, baseline)
            finished, report = _run(plan, baseline, verbose=options.verbose)
        except TruemarkError as error:
            if len(models) == 1:
                raise
            note(f"failed: {model}: {error}")
            status = 1
            continue
        if baseline is not None and finished.comparison is None:
            _warn([f"{options.baseline}: no sample in common with this run"])
        runs.append((finished, report))
        status = max(status, _status(finished, options.fail_under, several=len(models) > 1))
    comparable: list[Run] = []
    if len(models) > 1:
        comparable, reasons = comparable_runs([finished.run for finished, _ in runs])
        for reason in reasons:
            note(f"failed: {reason}")
    tell(_show(runs, comparable, options.format, several=len(models) > 1))
    for finished, _ in runs:
        if finished.fault is not None:
            note(f"error: {finished.fault}{_kept(finished.plan)}")
            status = 1
    return status


async def run_plan(
    plan: Plan, baseline: Baseline | None, on_result: Callable[[Result], None]
) -> tuple[Finished, Path | None]:
    """Ask, score, record, compare and report; append to the history when all else is done.

    A report that cannot be written is missing, and the run is returned with the reason.
    """
    begun_s = time.perf_counter()
    results = await extract_all(plan, on_result)
    finished = finish(plan, results, time.perf_counter() - begun_s)
    if baseline is not None:
        comparison = await compare_with_baseline(plan, baseline, finished.run)
        finished = replace(finished, comparison=comparison)
    narrative, call = await narrate(finished)
    if call is not None:
        finished = add_summary_call(finished, call)
    report = None
    try:
        report = _write_report(finished, narrative)
        append(plan.output / HISTORY_FILE, history_line(finished))
    except TruemarkError as error:
        finished = replace(finished, fault=str(error))
    return finished, report


def _write_report(finished: Finished, narrative: list[Section]) -> Path:
    """Write the record of a run and its report, and return the path of the report."""
    plan = finished.plan
    report = create_new(plan.output, plan.started, ".md")
    try:
        record = without_texts(finished.run) if plan.redact else finished.run
        write_run(record_path(record, report), record)
        write_atomically(report, "".join(markdown_report(finished, narrative)))
    except BaseException:
        report.unlink(missing_ok=True)
        raise
    return report


def _plan(
    options: argparse.Namespace,
    folder: Path,
    samples: tuple[Sample, ...],
    extractor: Extractor,
    baseline: Baseline | None,
) -> Plan:
    # In whole seconds, so that the report, the answers and the history have the same time.
    started = datetime.now().astimezone().replace(microsecond=0)
    if isinstance(baseline, ReplayExtractor):
        _warn(baseline.recording.warnings)
    store, repeats = None, options.repeat or 1
    if isinstance(extractor, ReplayExtractor):
        _warn(extractor.recording.warnings)
        repeats = options.repeat or extractor.recording.repeats
    else:
        store = AnswerStore(options.output, started)
        if options.resume:
            keys = fingerprints(samples, extractor)
            store.resume(keys, repeats)
            if (resumed := store.resumed) is not None:
                _warn(resumed.warnings)
                answered = count_answered(resumed, keys, repeats)
                of = counted(len(keys) * repeats, "sample" if repeats == 1 else "question")
                inform(f"resuming {resumed.path}: {answered} of {of} are answered")
            else:
                _warn(store.damage)
                inform(
                    f"nothing to resume in {options.output}: no stored answer matches these"
                    " samples and this model"
                )
        if repeats > 1:
            inform(_announcement(samples, extractor, repeats, store.resumed))
    return Plan(
        folder=folder,
        samples=samples,
        extractor=extractor,
        output=options.output,
        started=started,
        store=store,
        concurrency=options.concurrency,
        summary=not options.no_summary,
        repeats=repeats,
        name=_system_name(options, extractor),
        redact=options.redact,
    )


def _system_name(options: argparse.Namespace, extractor: Extractor) -> str:
    """Name the system after --name, or else after its model and the file of its prompt."""
    if options.name is not None and len(options.models) < 2:
        return str(options.name)
    suffix = options.name or (options.prompt.name if options.prompt else None)
    return f"{extractor.model} {suffix}" if suffix else ""


def _announcement(
    samples: Sequence[Sample],
    extractor: Extractor,
    repeats: int,
    resumed: Recording | None,
) -> str:
    """Tell how many calls will be made, and what is known of the prompts of a language model."""
    missing: list[tuple[Sample, int]] = []
    for sample, key in zip(samples, fingerprints(samples, extractor), strict=True):
        answered = sum(resumed.has(key, repeat) for repeat in range(repeats)) if resumed else 0
        if sample.fault is None and answered < repeats:
            missing.append((sample, repeats - answered))
    calls = sum(count for _, count in missing)
    line = f"{repeats} repeats of {counted(len(samples), 'sample')}: {counted(calls, 'call')}"
    if not isinstance(extractor, LanguageModelExtractor):
        return line
    price_of_tokens = price_of(extractor)
    tokens, cost, known = 0, 0.0, True
    for sample, count in missing:
        prompt = _prompt_tokens(extractor.prompt_for(sample.request))
        price = price_of_tokens(Usage(prompt, 0, 0, prompt))
        tokens += count * prompt
        cost, known = cost + count * (price or 0.0), known and price is not None
    price_of_prompts = f"about ${cost:.2f}" if known else "an unknown price"
    return (
        f"{line}, about {tokens} prompt tokens for {price_of_prompts};"
        " the cost of the answers is not known in advance"
    )


def _prompt_tokens(prompt: Prompt) -> int:
    """Estimate how many tokens a prompt has, its schema included."""
    texts = [prompt.system or "", *(turn.text for turn in prompt.turns)]
    texts.append("" if prompt.schema is None else json.dumps(prompt.schema))
    narrow = sum(character.isascii() for text in texts for character in text)
    wide = sum(map(len, texts)) - narrow
    return narrow // _CHARACTERS_PER_TOKEN + wide


def _run(plan: Plan, baseline: Baseline | None, *, verbose: bool) -> tuple[Finished, Path | None]:
    """Run the plan with a line on stderr per answer; if it ends early, tell what is kept."""
    answered = 0

    def tell_progress(result: Result) -> None:
        nonlocal answered
        answered += 1
        inform(progress_line(answered, plan.answers, result))
        if verbose and isinstance(result, Scored):
            for line in mistake_lines(result):
                inform(f"  {line}")

    async def run_and_close() -> tuple[Finished, Path | None]:
        try:
            return await run_plan(plan, baseline, tell_progress)
        finally:
            await plan.extractor.close()

    try:
        return asyncio.run(run_and_close())
    except KeyboardInterrupt:
        noun = "samples" if plan.repeats == 1 else "answers"
        raise KeyboardInterrupt(
            f"interrupted after {answered} of {plan.answers} {noun}{_kept(plan)}"
        ) from None
    except TruemarkError as error:
        raise TruemarkError(f"{error}{_kept(plan)}") from error


def _kept(plan: Plan) -> str:
    """Tell where the answers of an interrupted run are kept."""
    if plan.store is None or not plan.store.kept:
        return ""
    count = "1 answer is" if plan.store.kept == 1 else f"{plan.store.kept} answers are"
    return f"; {count} kept in {plan.store.path}, --resume continues from there"


def _status(finished: Finished, fail_under: float | None, *, several: bool) -> int:
    of = f"{finished.run.system.name}: " if several else ""
    failed, scores = finished.summary.failed, finished.scores
    refused = sum(_TOO_MANY in (unit.failed or "") for unit in failed)
    if refused:
        note(
            f"{counted(refused, 'sample')} failed on {_TOO_MANY}: --rpm N makes N calls per minute"
            " at most, and --resume asks for what is missing"
        )
    if fail_under is not None:
        if scores is None:
            note(f"{of}f1 is unknown, --fail-under {fail_under:g} is not reached")
            return 1
        if scores.f1 < fail_under:
            note(f"{of}f1 {scores.f1:.4f} is below --fail-under {fail_under:g}")
            return 1
    if not finished.summary.scored and not failed:
        note(f"nothing was scored: {finished.plan.folder} has no sidecar")
        return 1
    return 1 if failed else 0


def _show(
    runs: Sequence[tuple[Finished, Path | None]],
    comparable: Sequence[Run],
    form: str,
    *,
    several: bool,
) -> str:
    """Show each run, and compare those that are comparable with the first of them."""
    compared: Sequence[Section] = ()
    if len(comparable) > 1:
        compared = comparison_sections(compare(comparable))
    if form == "json":
        facts = [json_facts(finished, report) for finished, report in runs]
        comparison = all_facts(compared) if compared else None
        shown = {"runs": facts, "comparison": comparison} if several else facts[0]
        return to_json(shown, indent=2) + "\n"
    texts = [text_summary(finished, report) for finished, report in runs]
    if compared:
        texts.append(as_text(compared))
    return "\n".join(texts)


def _warn(warnings: Iterable[str]) -> None:
    for warning in warnings:
        note(f"warning: {warning}")
