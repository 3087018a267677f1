"""Make a run record, which `truemark` compares, of results, and add up what they took."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import get_args

import numpy as np

from cal_ai.benchmark.asking import Plan
from cal_ai.benchmark.excerpts import excerpt, quoted_lines
from cal_ai.benchmark.mistakes import (
    Assessment,
    Deviation,
    matches_of,
    mistakes_of,
    shown_span,
    shown_time,
)
from cal_ai.benchmark.pairing import TOLERANCES, meant_event, planned_event
from cal_ai.benchmark.scoring import EMPTY, Failed, Result, Scored, Unscored
from cal_ai.benchmark.sidecar import ExpectedEvent, Sidecar
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
    FindingCount,
    Mark,
    Reliability,
    ReliabilityRow,
    Run,
    ScoringRules,
    System,
    Unit,
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
    counts: Counter[tuple[str, str, bool]] = Counter()
    for result in results:
        if isinstance(result, Unscored):
            continue
        text = result.sample.transcript.as_text()
        quoted: dict[str, frozenset[int]] = {}
        if isinstance(result, Scored):
            quoted = _quoted(result)
            category = result.sample.category
            for finding in _findings(result, text, quoted):
                findings.append(finding)
                counts[finding.kind, category, finding.mistake] += 1
        _, _, marks = excerpt(text, frozenset().union(*quoted.values()), None)
        units.append(_unit(result, text, marks, price))
    digests = (sample.digest for sample in plan.samples)
    return Run(
        tool=TOOL,
        version=__version__,
        started=plan.started.isoformat(),
        seconds=seconds,
        system=system_of(plan.extractor, plan.name),
        signature=run_signature(digests),
        scoring=SCORING,
        units=tuple(units),
        findings=tuple(findings),
        finding_counts=tuple(
            FindingCount(kind, count, {"category": category}, mistake)
            for (kind, category, mistake), count in counts.items()
        ),
        reliability=_reliability(results),
        words=WORDS,
        notes=tuple(_notes(results, plan.folder)),
        corpus=plan.folder.resolve().name,
    )


def price_of(extractor: Extractor) -> Price:
    """Return the price function: free for the embedded extractor, by model for all others."""
    if is_embedded(extractor):
        return lambda _: 0.0
    return partial(cost_usd, model=extractor.model)


def system_of(extractor: Extractor, name: str = "") -> System:
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
    claimed: dict[str, Counter[str]] = defaultdict(Counter)
    right: dict[str, Counter[str]] = defaultdict(Counter)
    for result in results:
        if isinstance(result, Scored):
            sample = result.sample.id
            claimed[sample].update(event.confidence for event in result.extracted)
            matches = (pair.extracted for pair in result.pairs if pair.is_match)
            right[sample].update(result.extracted[place].confidence for place in matches)
    rows = []
    for level in get_args(Confidence):
        counts = [claimed[sample][level] for sample in claimed]
        correct = [right[sample][level] for sample in claimed]
        share = clustered_share(correct, counts)
        ends = (share.low, share.high) if share else (None, None)
        rows.append(ReliabilityRow(level, sum(counts), sum(correct), low=ends[0], high=ends[1]))
    return Reliability(tuple(rows))


def _notes(results: Sequence[Result], folder: Path) -> Iterator[str]:
    without = sum(isinstance(result, Unscored) for result in results)
    if without:
        yield f"{without} without sidecar, extracted and not scored"
    replayed = sum(result.spent.replayed for result in results)
    if replayed:
        answers = f"{replayed} of {len(results)} answers"
        yield f"{answers} are replayed: nothing was spent on them now"
    if (folder / ANNOTATIONS).is_dir() and (agreed := known_agreement(folder, "conversation")):
        yield agreed


def _quoted(result: Scored) -> dict[str, frozenset[int]]:
    """Find the lines of the conversation that the reason of each event quotes."""
    transcript = result.sample.transcript
    reasons = {event.reasoning for event in result.extracted}
    return {reason: quoted_lines(transcript, reason) for reason in reasons}


def _unit(result: Scored | Failed, text: str, marks: tuple[Mark, ...], price: Price) -> Unit:
    sample, spent = result.sample, result.spent
    counts = result.counts if isinstance(result, Scored) else Counts.zero
    return Unit(
        id=sample.id,
        repeat=result.repeat,
        tp=counts.tp,
        fp=counts.fp,
        fn=counts.fn,
        group={"category": sample.category},
        failed=result.reason if isinstance(result, Failed) else None,
        expected=_expected(result),
        seconds=spent.latency_s,
        cost=None if spent.usage is None else price(spent.usage),
        tokens=_tokens(spent.usage),
        replayed=spent.replayed,
        text=text,
        marks=marks,
        context=_context(result.sidecar) if isinstance(result, Scored) else {},
    )


def _context(sidecar: Sidecar) -> dict[str, object]:
    """Return what the extractor was given besides the conversation."""
    calendar = [f"{event.id}: {_named(event)}" for event in sidecar.calendar_context]
    return {
        "owner": sidecar.owner,
        "reference time": sidecar.reference_datetime.strftime("%A %Y-%m-%d %H:%M"),
        "calendar": calendar or "empty",
    }


def _named(event: ContextEvent) -> str:
    """Describe a planned event: `Dentist, 2026-02-21 09:00 to 09:30, Main St 4`."""
    place = f", {event.location}" if event.location else ""
    return f"{event.summary}, {shown_span(event.start, event.end)}{place}"


def _expected(result: Scored | Failed) -> int | None:
    """Count the expected events of a failed sample; the counts of a scored one include them."""
    if isinstance(result, Scored) or result.sample.sidecar is None:
        return None
    return len(result.sample.sidecar.expected_events)


def _tokens(usage: Usage | None) -> dict[str, int]:
    if usage is None:
        return {}
    named = {"prompt": usage.prompt, "output": usage.output, "thinking": usage.thinking}
    return {name: count for name, count in named.items() if count is not None}


def _findings(result: Scored, text: str, quoted: Mapping[str, frozenset[int]]) -> Iterator[Finding]:
    """Yield every mistake of a sample and every match with a remark, with the quoted lines."""
    for about in (*mistakes_of(result), *matches_of(result)):
        if about.kind:
            reason = "" if about.extracted is None else about.extracted.reasoning
            yield _finding(result, about, text, quoted.get(reason, frozenset()))


def _finding(result: Scored, about: Assessment, text: str, quoted: frozenset[int]) -> Finding:
    expected, got = about.expected, about.extracted
    shown, offset, marks = excerpt(text, quoted)
    return Finding(
        kind=about.kind,
        unit=result.sample.id,
        repeat=result.repeat,
        mistake=about.is_mistake,
        text=shown,
        offset=offset,
        marks=marks,
        expected=None if expected is None else _expected_fields(expected, result.sidecar),
        got=None if got is None else _extracted_fields(got, result.sidecar),
        differences=tuple(map(_difference, (*about.differences, *about.remarks))),
        confidence=None if got is None else got.confidence,
        note="" if got is None else got.reasoning,
    )


def _difference(deviation: Deviation) -> Difference:
    name = _FIELDS.get(deviation.field, deviation.field)
    return Difference(name, deviation.expected, deviation.got, deviation.amount, deviation.unit)


def _expected_fields(event: ExpectedEvent, sidecar: Sidecar) -> Mapping[str, object]:
    meant = meant_event(event, sidecar)
    return _event_fields(event, event.attendees_contain, None if meant is None else meant.id, meant)


def _extracted_fields(event: Event, sidecar: Sidecar) -> Mapping[str, object]:
    number = event.existing_event_id
    return _event_fields(event, event.attendees, number, planned_event(number, sidecar))


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
        if result.spent.usage is None:
            if isinstance(result, Failed):
                continue
            return None
        cost = price(result.spent.usage)
        if cost is None:
            return None
        costs.append(cost)
    return sum(costs) if costs else None
