"""A run as a run record: what `truemark` compares, draws, follows and checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import get_args

from cal_ai.benchmark.differences import Difference
from cal_ai.benchmark.mistakes import Match, Mistake, matches_of, mistakes_of
from cal_ai.benchmark.quotations import excerpt, quoted_lines
from cal_ai.benchmark.samples import Sample
from cal_ai.benchmark.scoring import EMPTY, Failed, Result, Scored, Unscored
from cal_ai.benchmark.sidecar import ExpectedEvent, Sidecar
from cal_ai.benchmark.tolerance import TOLERANCES, Terms, meant_event
from cal_ai.events import Confidence, Event
from cal_ai.extractors.protocol import Usage
from truemark import __version__, records
from truemark.calibration import LevelAccuracy, per_level
from truemark.record_parts import reliability_of_levels
from truemark.signature import Signature, data_hash

TOOL = "cal_ai"
SCORING = records.ScoringRules(empty=EMPTY)
WORDS = {"unit": "sample", "units": "samples", "item": "event", "items": "events"}

Price = Callable[[Usage], float | None]
"""What the tokens of one or more calls cost in US dollars; None when that is not known."""

# A difference is named as its field is in the events, so that a reader can lay one on the other.
_FIELDS = {"start": "start_time", "end": "end_time"}


@dataclass(frozen=True, slots=True)
class BenchmarkRun:
    """What was run, on what, and what became of each sample, in the order of the samples."""

    started: datetime
    folder: Path
    extractor: str
    model: str | None
    system: records.System
    signature: Signature
    # asyncio and signal write out what a task returns, and that can be all of this.
    results: tuple[Result, ...] = field(repr=False)
    wall_s: float
    recording: Path | None = None
    repeats: int = 1


def run_signature(samples: Sequence[Sample]) -> Signature:
    """What makes two runs comparable: the samples and the rules, and nothing of the system."""
    tolerances = ";".join(f"{level}={tolerance}" for level, tolerance in TOLERANCES.items())
    return Signature(
        (
            ("samples", data_hash(*(sample.digest for sample in samples))),
            ("tolerance", data_hash(tolerances)),
        )
    )


def record_of(run: BenchmarkRun, price: Price) -> records.Run:
    """The record of the run; samples without a sidecar are in none of its units."""
    scored = [result for result in run.results if isinstance(result, Scored)]
    return records.Run(
        tool=TOOL,
        version=__version__,
        started=run.started.isoformat(),
        seconds=run.wall_s,
        system=run.system,
        signature=dict(run.signature.parts),
        scoring=SCORING,
        units=tuple(_units(run.results, price)),
        findings=tuple(finding for result in scored for finding in findings_of(result)),
        reliability=reliability_of_levels(stated_confidence(scored)),
        words=WORDS,
        notes=tuple(_notes(run)),
    )


def stated_confidence(scored: Sequence[Scored]) -> tuple[LevelAccuracy, ...]:
    """Per level of confidence the events that claimed it, and how many were right."""
    return per_level(_claims(scored), get_args(Confidence))


def _claims(scored: Sequence[Scored]) -> Iterator[tuple[Confidence, bool]]:
    for result in scored:
        right = {pair.extracted for pair in result.pairs if pair.is_match}
        for index, event in enumerate(result.extracted):
            yield event.confidence, index in right


def _notes(run: BenchmarkRun) -> Iterator[str]:
    without = sum(isinstance(result, Unscored) for result in run.results)
    if without:
        yield f"{without} without sidecar, extracted and not scored"
    replayed = sum(result.spent.replayed for result in run.results)
    if replayed:
        answers = f"{replayed} of {len(run.results)} answers"
        yield f"{answers} are replayed: nothing was spent on them now"


def _units(results: Sequence[Result], price: Price) -> Iterator[records.Unit]:
    for result in results:
        if isinstance(result, Unscored):
            continue
        spent, transcript = result.spent, result.sample.transcript
        counts = result.counts if isinstance(result, Scored) else None
        yield records.Unit(
            id=result.sample.id,
            repeat=result.repeat,
            tp=counts.tp if counts else 0,
            fp=counts.fp if counts else 0,
            fn=counts.fn if counts else 0,
            group={"category": result.sample.category},
            failed=result.reason if isinstance(result, Failed) else None,
            seconds=spent.latency_s,
            cost=None if spent.usage is None else price(spent.usage),
            tokens=_tokens(spent.usage),
            replayed=spent.replayed,
            text=transcript.as_text(),
            marks=excerpt(transcript, _quoted(result), None).marks,
        )


def _quoted(result: Result) -> frozenset[int]:
    """The lines that any event of the sample is based on."""
    events = result.extracted if isinstance(result, Scored) else ()
    lines = (quoted_lines(result.sample.transcript, event.reasoning) for event in events)
    return frozenset().union(*lines)


def _tokens(usage: Usage | None) -> dict[str, int]:
    if usage is None:
        return {}
    named = {"prompt": usage.prompt, "output": usage.output, "thinking": usage.thinking}
    return {name: count for name, count in named.items() if count is not None}


def findings_of(result: Scored) -> Iterator[records.Finding]:
    """Every mistake of the sample, and every match with a remark, beside what was said."""
    for mistake in mistakes_of(result):
        yield _finding(result, mistake.kind, mistake)
    for match in matches_of(result):
        if match.kind is not None:
            yield _finding(result, match.kind, match)


def _finding(result: Scored, kind: str, one: Mistake | Match) -> records.Finding:
    got, transcript = one.extracted, result.sample.transcript
    quoting = excerpt(transcript, quoted_lines(transcript, "" if got is None else got.reasoning))
    return records.Finding(
        kind=kind,
        unit=result.sample.id,
        repeat=result.repeat,
        mistake=isinstance(one, Mistake),
        text=quoting.text,
        offset=quoting.offset,
        marks=quoting.marks,
        expected=None if one.expected is None else _expected_fields(one.expected, result.sidecar),
        got=None if got is None else _extracted_fields(got),
        differences=tuple(map(_difference, (*one.differences, *one.remarks))),
        confidence=None if got is None else got.confidence,
        note="" if got is None else got.reasoning,
    )


def _difference(one: Difference) -> records.Difference:
    name = _FIELDS.get(one.field, one.field)
    return records.Difference(name, one.expected, one.got, one.amount, one.unit)


def _expected_fields(event: ExpectedEvent, sidecar: Sidecar) -> Mapping[str, object]:
    meant = meant_event(event, Terms.of(sidecar))
    return _event_fields(event, event.attendees_contain, None if meant is None else meant.id)


def _extracted_fields(event: Event) -> Mapping[str, object]:
    return _event_fields(event, event.attendees, event.existing_event_id)


def _event_fields(
    event: Event | ExpectedEvent, attendees: Sequence[str], number: int | None
) -> Mapping[str, object]:
    return _present(
        action=event.action,
        title=event.title,
        start_time=_shown(event.start_time),
        end_time=_shown(event.end_time),
        location=event.location,
        attendees=", ".join(attendees),
        existing_event_id=number,
    )


def _present(**fields: object) -> Mapping[str, object]:
    return {name: value for name, value in fields.items() if value not in (None, "")}


def _shown(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(" ", "minutes")
