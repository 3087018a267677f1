"""The command `benchmark`, from its flags to its exit status."""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
from collections.abc import Iterable, Sequence
from datetime import datetime
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING

from cal_ai.benchmark.run import Plan, fingerprints, run_benchmark
from cal_ai.benchmark.samples import Sample, SampleSet, default_folder, load_samples
from cal_ai.benchmark.scoring import Result, Scored
from cal_ai.benchmark.store import AnswerStore, latest_recording, require_writable
from cal_ai.extractors.choosing import choice_line, choose_extractor
from cal_ai.extractors.language_model import LanguageModelExtractor
from cal_ai.extractors.protocol import Extractor
from cal_ai.extractors.replay import Recording, ReplayExtractor
from cal_ai.settings import Settings, load_settings
from truemark.command import note, tell
from truemark.errors import TruemarkError
from truemark.jsontext import to_json
from truemark.services.calls import Prompt, Usage
from truemark.services.pricing import cost_usd
from truemark.services.retry import model_policy

if TYPE_CHECKING:
    from cal_ai.benchmark.overview import Finished
    from cal_ai.benchmark.record import Baseline

_TOO_MANY = f"{HTTPStatus.TOO_MANY_REQUESTS} {HTTPStatus.TOO_MANY_REQUESTS.phrase}"

# What is kept of samples and results lives to the end: looking there for garbage is in vain.
GARBAGE_THRESHOLDS = (100_000, 50, 50)
# Of English prose; tokenizers differ by a fifth or so.
_CHARACTERS_PER_TOKEN = 4


def benchmark_command(options: argparse.Namespace) -> int:
    """Runs the benchmark that the flags describe; 1 when a sample failed or F1 is too low."""
    gc.set_threshold(*GARBAGE_THRESHOLDS)
    samples = load_samples(options.folder or default_folder())
    settings = load_settings(os.environ)
    models: list[str | None] = list(dict.fromkeys(options.models)) or [None]
    # All of them before the first call: what is missing is said before anything is paid for.
    extractors = [_extractor(options, model, settings) for model in models]
    require_writable(options.output)
    baseline = _baseline(options.baseline, samples)
    outcomes: list[Finished] = []
    status = 0
    for number, (model, extractor) in enumerate(zip(models, extractors, strict=True)):
        note(choice_line(options.extractor, model, settings, extractor))
        if not number:
            _warn(samples.warnings)
        try:
            outcome = _run(_plan(options, samples, extractor, baseline), verbose=options.verbose)
        except TruemarkError as error:
            if len(models) == 1:
                raise
            note(f"failed: {model}: {error}")
            status = 1
            continue
        if options.baseline is not None and outcome.overview.baseline is None:
            _warn([f"{options.baseline}: no sample in common with this run"])
        outcomes.append(outcome)
        status = max(status, _status(outcome, options.fail_under))
    tell(_shown(outcomes, options.format, several=len(models) > 1))
    return status


def _baseline(file: Path | None, samples: SampleSet) -> Baseline | None:
    if file is None:
        return None
    from cal_ai.benchmark.record import open_baseline

    return open_baseline(file, samples.samples)


def _extractor(options: argparse.Namespace, model: str | None, settings: Settings) -> Extractor:
    return choose_extractor(
        options.extractor,
        settings,
        model=model,
        prompt=options.prompt,
        policy=model_policy(options.timeout),
        per_minute=options.rpm,
    )


def _shown(outcomes: Sequence[Finished], format: str, *, several: bool) -> str:
    """Each run, and where there are several, how they compare with the first."""
    from cal_ai.benchmark.figures import text_summary
    from cal_ai.benchmark.overview import json_summary
    from truemark.comparison import compare
    from truemark.sections import all_facts, as_text, comparison_sections

    show = json_summary if format == "json" else text_summary
    shown = [show(one) for one in outcomes]
    if not several:
        return "".join(shown)
    compared = compare([one.overview.record for one in outcomes]) if len(outcomes) > 1 else None
    if format == "json":
        runs = [json.loads(one) for one in shown]
        against = compared and all_facts(comparison_sections(compared))
        return to_json({"runs": runs, "comparison": against}, indent=2) + "\n"
    if compared:
        shown.append(as_text(comparison_sections(compared)))
    return "\n".join(shown)


def _plan(
    options: argparse.Namespace,
    samples: SampleSet,
    extractor: Extractor,
    baseline: Baseline | None,
) -> Plan:
    # Whole seconds: the report, the answers and the history tell the same time.
    started = datetime.now().astimezone().replace(microsecond=0)
    if isinstance(baseline, ReplayExtractor):
        _warn(baseline.warnings)
    store, repeats = None, options.repeat or 1
    if isinstance(extractor, ReplayExtractor):
        _warn(extractor.warnings)
        repeats = options.repeat or extractor.repeats
    else:
        resumed = None
        if options.resume:
            resumed = _resumed(samples, extractor, options.output, repeats)
        store = AnswerStore(options.output, started, resumed)
        if repeats > 1 and isinstance(extractor, LanguageModelExtractor):
            note(_announcement(samples.samples, extractor, repeats, resumed))
    return Plan(
        samples=samples,
        extractor=extractor,
        output=options.output,
        started=started,
        store=store,
        concurrency=options.concurrency,
        summary=not options.no_summary,
        baseline=baseline,
        repeats=repeats,
    )


def _resumed(
    samples: SampleSet, extractor: Extractor, output: Path, repeats: int
) -> Recording | None:
    asked = fingerprints(samples.samples, extractor)
    recording = latest_recording(output, asked)
    if recording is None:
        note(f"nothing to resume in {output}: no stored answer fits these samples and this model")
        return None
    _warn(recording.warnings)
    answered = sum(recording.has(one, repeat) for one in asked for repeat in range(repeats))
    of = f"{len(asked)} samples" if repeats == 1 else f"{len(asked) * repeats} questions"
    note(f"resuming {recording.path}: {answered} of {of} are answered")
    return recording


def _run(plan: Plan, *, verbose: bool) -> Finished:
    ended = 0

    def tell(result: Result) -> None:
        from cal_ai.benchmark.figures import mistakes, progress_line

        nonlocal ended
        ended += 1
        note(progress_line(ended, plan.answers, result))
        if verbose and isinstance(result, Scored):
            for mistake in mistakes(result):
                note(f"  {mistake}")

    async def run_and_close() -> Finished:
        try:
            return await run_benchmark(plan, tell)
        finally:
            await plan.extractor.close()

    try:
        return asyncio.run(run_and_close())
    except KeyboardInterrupt:
        noun = "samples" if plan.repeats == 1 else "answers"
        raise KeyboardInterrupt(
            f"interrupted after {ended} of {plan.answers} {noun}{_kept(plan)}"
        ) from None
    except TruemarkError as error:
        raise TruemarkError(f"{error}{_kept(plan)}") from error


def _kept(plan: Plan) -> str:
    """What to know about the answers of a run that did not end well."""
    if plan.store is None or not plan.store.kept:
        return ""
    count = "1 answer is" if plan.store.kept == 1 else f"{plan.store.kept} answers are"
    return f"; {count} kept in {plan.store.path}, --resume goes on from there"


def _status(outcome: Finished, fail_under: float | None) -> int:
    overview = outcome.overview
    status = 1 if overview.failed else 0
    refused = sum(_TOO_MANY in it.reason for it in overview.failed)
    if refused:
        noun = "sample" if refused == 1 else "samples"
        note(
            f"{refused} {noun} failed on {_TOO_MANY}: --rpm N makes N calls per minute at most,"
            " and --resume asks for what is missing"
        )
    if fail_under is not None:
        if overview.scores is None:
            note(f"f1 is unknown, --fail-under {fail_under:g} is not reached")
            return 1
        if overview.scores.f1 < fail_under:
            note(f"f1 {overview.scores.f1:.4f} is below --fail-under {fail_under:g}")
            return 1
    return status


def _warn(warnings: Iterable[str]) -> None:
    for warning in warnings:
        note(f"warning: {warning}")


def _announcement(
    samples: Sequence[Sample],
    extractor: LanguageModelExtractor,
    repeats: int,
    resumed: Recording | None,
) -> str:
    """One line on the calls that are to be made, their prompts, and what those cost."""
    asked = fingerprints(samples, extractor)
    calls, tokens, cost, known = 0, 0, 0.0, True
    for sample, fingerprint in zip(samples, asked, strict=True):
        missing = repeats
        if resumed is not None:
            missing -= sum(resumed.has(fingerprint, repeat) for repeat in range(repeats))
        if sample.fault is not None or not missing:
            continue
        prompt = _prompt_tokens(extractor.prompt_for(sample.request))
        price = cost_usd(Usage(prompt, 0, 0, prompt), extractor.model)
        calls, tokens = calls + missing, tokens + missing * prompt
        cost, known = cost + missing * (price or 0.0), known and price is not None
    price_of_prompts = f"about ${cost:.2f}" if known else "an unknown price"
    return (
        f"{repeats} repeats of {len(samples)} samples: {calls} calls, about {tokens} prompt tokens"
        f" for {price_of_prompts}; what the answers cost beside that is not known before"
    )


def _prompt_tokens(prompt: Prompt) -> int:
    """About how many tokens a prompt has, its schema included."""
    texts = [prompt.system or "", *(turn.text for turn in prompt.turns)]
    texts.append("" if prompt.schema is None else json.dumps(prompt.schema))
    narrow = sum(character.isascii() for text in texts for character in text)
    wide = sum(map(len, texts)) - narrow
    return narrow // _CHARACTERS_PER_TOKEN + wide
