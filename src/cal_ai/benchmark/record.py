"""Make a run record, which `truemark` compares, of results, and add up what they took."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import get_args

import numpy as np

from cal_ai.benchmark.asking import Plan
from cal_ai.benchmark.excerpts import excerpt, quoted_lines
from cal_ai.benchmark.mistakes import (
    Assessment,
    matches_of,
    mistakes_of,
    shown_span,
    shown_time,
)
from cal_ai.benchmark.pairing import TOLERANCES, meant_event, planned_event
from cal_ai.benchmark.scoring import EMPTY, Failed, Result, Scored, Unscored
from cal_ai.benchmark.sidecar import ExpectedEvent
from cal_ai.defaults import EMBEDDED
from cal_ai.events import Confidence, ContextEvent, Event
from cal_ai.extractors.choosing import is_embedded
from cal_ai.extractors.protocol import Extractor, identity_of
from cal_ai.extractors.replay import ReplayExtractor
from truemark import __version__
from truemark.counts import Counts
from truemark.labelling.agreement import known_agreement
from truemark.labelling.storage import FOLDER as ANNOTATIONS
from truemark.records import (
    Difference,
    Finding,
    Mark,
    Reliability,
    ReliabilityRow,
    Run,
    ScoringRules,
    System,
    Unit,
    finding_counts,
)
from truemark.services.calls import Usage, total_usage
from truemark.services.pricing import cost_usd
from truemark.signature import data_hash
from truemark.uncertainty import clustered_share

TOOL = "cal_ai"
SCORING = ScoringRules(empty=EMPTY)
WORDS = {"unit": "sample", "units": "samples", "item": "event", "items": "events"}

Price = Callable[[Usage], float | None]
"""The price of an answer's tokens in US dollars; None if it is unknown."""

# Deviations in the record have the names of the fields of events.
_FIELDS = {"start": "start_time", "end": "end_time"}


def record_run(plan: Plan, results: Sequence[Result], seconds: float) -> Run:
    """Record the results; samples without a sidecar are left out."""
    price = price_of(plan.extractor)
    units: list[Unit] = []
    findings: list[Finding] = []
    for result in results:
        if isinstance(result, Unscored):
            continue
        transcript = result.sample.transcript
        text = transcript.as_text()
        quoted: frozenset[int] = frozenset()
        if isinstance(result, Scored):
            for assessment in (*mistakes_of(result), *matches_of(result)):
                reason = "" if assessment.extracted is None else assessment.extracted.reasoning
                lines = quoted_lines(transcript, reason)
                quoted |= lines
                if assessment.kind:
                    findings.append(_finding(result, assessment, text, lines))
        _, _, marks = excerpt(text, quoted, None)
        units.append(_unit(result, text, marks, price))
    run = Run(
        tool=TOOL,
        version=__version__,
        started=plan.started.isoformat(),
        seconds=seconds,
        system=system_of(plan.extractor, plan.name),
        signature=run_signature(sample.digest for sample in plan.samples),
        scoring=SCORING,
        units=tuple(units),
        findings=tuple(findings),
        reliability=_reliability(results),
        words=WORDS,
        notes=tuple(_notes(results, plan.folder)),
        corpus=plan.folder.resolve().name,
    )
    return replace(run, finding_counts=finding_counts(run))


def price_of(extractor: Extractor) -> Price:
    """Return the price function: free for the embedded extractor, by model for all others."""
    if is_embedded(extractor):
        return lambda _: 0.0
    return partial(cost_usd, model=extractor.model)


def system_of(extractor: Extractor, name: str) -> System:
    """Identify the system by everything that its answers depend on.

    Replayed answers are those of the extractor that was recorded.
    """
    maker = extractor.recorded_by if isinstance(extractor, ReplayExtractor) else extractor.name
    identity = {"extractor": maker}
    if extractor.model is not None:
        identity["model"] = extractor.model
    identity |= identity_of(extractor)
    if extractor.name == EMBEDDED:
        identity["version"] = __version__
    return System(name or extractor.model or maker, maker, identity)


def run_signature(digests: Iterable[str]) -> dict[str, str]:
    """Hash what makes two runs comparable, which is the samples and the rules."""
    tolerances = ";".join(f"{level}={tolerance}" for level, tolerance in TOLERANCES.items())
    return {"samples": data_hash(*digests), "tolerance": data_hash(tolerances)}


def _reliability(results: Iterable[Result]) -> Reliability:
    """Count the events of each confidence, and how many of them were right.

    All events of a sample, from all repeats, are one cluster.
    """
    clusters: dict[str, Counter[tuple[str, bool]]] = defaultdict(Counter)
    for result in results:
        if isinstance(result, Scored):
            matched = {pair.extracted for pair in result.pairs if pair.is_match}
            clusters[result.sample.id].update(
                (event.confidence, place in matched) for place, event in enumerate(result.extracted)
            )
    rows = []
    for level in get_args(Confidence):
        correct = [events[level, True] for events in clusters.values()]
        counts = [events[level, True] + events[level, False] for events in clusters.values()]
        share = clustered_share(correct, counts)
        ends = (share.low, share.high) if share else (None, None)
        rows.append(ReliabilityRow(level, sum(counts), sum(correct), low=ends[0], high=ends[1]))
    return Reliability(tuple(rows))


def _notes(results: Sequence[Result], folder: Path) -> Iterator[str]:
    without = sum(isinstance(result, Unscored) for result in results)
    if without:
        yield f"{without} without sidecar, extracted and not scored"
    replayed = sum(result.spent.is_stored_answer for result in results)
    if replayed:
        answers = f"{replayed} of {len(results)} answers"
        yield f"{answers} are replayed: nothing was spent on them now"
    if (folder / ANNOTATIONS).is_dir() and (agreed := known_agreement(folder, "conversation")):
        yield agreed


def _unit(result: Scored | Failed, text: str, marks: tuple[Mark, ...], price: Price) -> Unit:
    sample, spent, sidecar = result.sample, result.spent, result.sample.sidecar
    failed = result.reason if isinstance(result, Failed) else None
    counts = result.counts if isinstance(result, Scored) else Counts.zero
    context: dict[str, object] = {}
    if isinstance(result, Scored):
        calendar = [f"{event.id}: {_named(event)}" for event in result.sidecar.calendar_context]
        context = {
            "owner": result.sidecar.owner,
            "reference time": result.sidecar.reference_datetime.strftime("%A %Y-%m-%d %H:%M"),
            "calendar": calendar or "empty",
        }
    usage = spent.usage or Usage()
    tokens = {"prompt": usage.prompt, "output": usage.output, "thinking": usage.thinking}
    return Unit(
        id=sample.id,
        repeat=result.repeat,
        tp=counts.tp,
        fp=counts.fp,
        fn=counts.fn,
        group={"category": sample.category},
        failed=failed,
        expected=len(sidecar.expected_events) if sidecar and failed is not None else None,
        seconds=spent.latency_s,
        cost=None if spent.usage is None else price(spent.usage),
        tokens={name: count for name, count in tokens.items() if count is not None},
        replayed=spent.replayed,
        text=text,
        marks=marks,
        context=context,
    )


def _named(event: ContextEvent) -> str:
    """Describe a planned event: `Dentist, 2026-02-21 09:00 to 09:30, Main St 4`."""
    place = f", {event.location}" if event.location else ""
    return f"{event.summary}, {shown_span(event.start, event.end)}{place}"


def _finding(result: Scored, assessment: Assessment, text: str, quoted: frozenset[int]) -> Finding:
    expected, got, sidecar = assessment.expected, assessment.extracted, result.sidecar
    shown, offset, marks = excerpt(text, quoted)
    expected_fields, got_fields = None, None
    if expected is not None:
        planned = meant_event(expected, sidecar)
        number = None if planned is None else planned.id
        expected_fields = _event_fields(expected, expected.attendees_contain, number, planned)
    if got is not None:
        number = got.existing_event_id
        got_fields = _event_fields(got, got.attendees, number, planned_event(number, sidecar))
    return Finding(
        kind=assessment.kind,
        unit=result.sample.id,
        repeat=result.repeat,
        mistake=assessment.is_mistake,
        text=shown,
        offset=offset,
        marks=marks,
        expected=expected_fields,
        got=got_fields,
        differences=tuple(
            Difference(
                _FIELDS.get(deviation.field, deviation.field),
                deviation.expected,
                deviation.got,
                deviation.amount,
                deviation.unit,
            )
            for deviation in (*assessment.differences, *assessment.remarks)
        ),
        confidence=None if got is None else got.confidence,
        note="" if got is None else got.reasoning,
    )


def _event_fields(
    event: Event | ExpectedEvent,
    attendees: Sequence[str],
    number: int | None,
    planned: ContextEvent | None,
) -> Mapping[str, object]:
    fields: dict[str, object] = {
        "action": event.action,
        "title": event.title,
        "start_time": event.start_time and shown_time(event.start_time),
        "end_time": event.end_time and shown_time(event.end_time),
        "location": event.location,
        "attendees": ", ".join(attendees),
        "existing_event_id": number,
        "existing_event": None if planned is None else _named(planned),
    }
    return {name: value for name, value in fields.items() if value not in (None, "")}


@dataclass(frozen=True, slots=True)
class TotalSpent:
    """What several answers took together; tokens and cost are None where they are unknown.

    `latencies_s` are the wall times of the answers that did not fail, and `total_s` is their sum,
    although some ran side by side.
    """

    count: int
    usage: Usage | None
    cost_usd: float | None
    latencies_s: tuple[float, ...] = ()
    total_s: float = 0.0

    @property
    def latency(self) -> dict[str, float] | None:
        """Total, mean, median and 95th percentile in seconds; None without an answer."""
        if not self.latencies_s:
            return None
        p50_s, p95_s = (float(np.percentile(self.latencies_s, percent)) for percent in (50, 95))
        mean_s = sum(self.latencies_s) / len(self.latencies_s)
        return {"total_s": self.total_s, "mean_s": mean_s, "p50_s": p50_s, "p95_s": p95_s}


def total_spent(results: Sequence[Result], price: Price) -> TotalSpent:
    """Add up what answers took, which is nothing if there are none."""
    if not results:
        return TotalSpent(0, Usage(0, 0, 0, 0), 0.0)
    answered = [result for result in results if not isinstance(result, Failed)]
    latencies_s = tuple(result.spent.latency_s for result in answered)
    return TotalSpent(
        count=len(results),
        usage=total_usage(result.spent.usage for result in results),
        cost_usd=_total_cost(results, price),
        latencies_s=latencies_s,
        total_s=sum(latencies_s),
    )


def _total_cost(results: Sequence[Result], price: Price) -> float | None:
    """Add up the price of all calls; None if the tokens or the price of an answer are unknown."""
    costs = []
    for result in results:
        usage = result.spent.usage
        if usage is not None or not isinstance(result, Failed):
            costs.append(None if usage is None else price(usage))
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None
