"""A run as a run record, which `truemark` compares and draws, and a baseline to compare it with."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar, get_args

from cal_ai.benchmark.mistakes import Difference, Judged, Match, Mistake, judged
from cal_ai.benchmark.pairing import TOLERANCES, Terms, meant_event
from cal_ai.benchmark.samples import Sample, SampleSet
from cal_ai.benchmark.scoring import (
    EMPTY,
    Answered,
    Failed,
    Result,
    Scored,
    Status,
    Tally,
    Unscored,
)
from cal_ai.benchmark.sidecar import ExpectedEvent, Sidecar
from cal_ai.events import Confidence, Event
from cal_ai.extractors.replay import ReplayExtractor
from cal_ai.transcript import Transcript
from truemark import __version__, records
from truemark.calibration import LevelAccuracy, per_level, reliability_of_levels
from truemark.comparison import Comparison, compare
from truemark.counts import Counts
from truemark.errors import TruemarkError
from truemark.records import SUFFIX, load_run
from truemark.services.calls import Usage
from truemark.signature import Signature, data_hash

T = TypeVar("T")

TOOL = "cal_ai"
SCORING = records.ScoringRules(empty=EMPTY)
WORDS = {"unit": "sample", "units": "samples", "item": "event", "items": "events"}

Price = Callable[[Usage], float | None]
"""What the tokens of one or more calls cost in US dollars; None when that is not known."""

# A difference is named as its field is in the events, so that a reader can lay one on the other.
_FIELDS = {"start": "start_time", "end": "end_time"}

WHOLE_CHARACTERS = 1_500
"""Up to this length a conversation stands whole beside a finding."""
_AROUND = 2  # lines shown before and after a quoted one

_NUMBERED = re.compile(r"\blines? (\d{1,6})(?:(?:-|–| to | and )(\d{1,6}))?")
_QUOTED = re.compile(r'"([^"]+)"|“([^”]+)”|„([^“”]+)[“”]|«([^»]+)»|(?<!\w)[\'‘](.+?)[\'’](?!\w)')
_LEAST_LETTERS = 6  # shorter words stand in too many lines

Baseline = records.Run | ReplayExtractor

_STATUS: Mapping[type, Status] = {Scored: "scored", Failed: "failed", Unscored: "unscored"}


class Gathered:
    """What a run keeps of its results: a few numbers of each, and the findings."""

    def __init__(self, answers: int) -> None:
        self.tally = Tally(answers)
        self.findings: list[tuple[int, records.Finding]] = []
        self._known: dict[object, Any] = {}

    def add(self, results: Sequence[tuple[int, Result]]) -> list[Judged]:
        """Keeps what is needed of results by their places in the order of samples and repeats."""
        found = [judged(result) for _, result in results]
        for (place, _), one in zip(results, found, strict=True):
            self._keep(place, one)
        return found

    def _keep(self, place: int, one: Judged) -> None:
        result, transcript = one.result, one.result.sample.transcript
        quoted: dict[str, frozenset[int]] = {}
        if isinstance(result, Scored):
            reasons = {event.reasoning for event in result.extracted}
            quoted = {reason: quoted_lines(transcript, reason) for reason in reasons}
            for finding in findings_of(one, result, quoted):
                self.findings.append((place, finding))
        answered = Answered(
            sample=result.sample.id,
            digest=result.sample.digest,
            category=self._same(result.sample.category),
            repeat=result.repeat,
            status=_STATUS[type(result)],
            counts=self._same(result.counts if isinstance(result, Scored) else Counts.zero),
            reason=result.reason if isinstance(result, Failed) else "",
            spent=result.spent,
            length=len(transcript.as_text()),
            quoted=self._same(tuple(sorted(frozenset().union(*quoted.values())))),
            kinds=self._same(tuple(mistake.kind for mistake in one.mistakes)),
        )
        self.tally.add(place, answered, result)

    def _same(self, value: T) -> T:
        """The value as it is known already: most results share their counts and categories."""
        known: T = self._known.setdefault(value, value)
        return known


@dataclass(frozen=True, slots=True)
class BenchmarkRun:
    """What was run, on what, and what became of it."""

    started: datetime
    samples: SampleSet
    extractor: str
    model: str | None
    system: records.System
    signature: Signature
    answers: tuple[Answered, ...] = field(repr=False)
    gathered: Gathered
    wall_s: float
    recording: Path | None = None
    repeats: int = 1


def run_signature(digests: Iterable[str]) -> Signature:
    """What makes two runs comparable: the samples and the rules, and nothing of the system."""
    tolerances = ";".join(f"{level}={tolerance}" for level, tolerance in TOLERANCES.items())
    return Signature((("samples", data_hash(*digests)), ("tolerance", data_hash(tolerances))))


def record_of(run: BenchmarkRun, price: Price) -> records.Run:
    """The record of the run; samples without a sidecar are in none of its units."""
    findings = sorted(run.gathered.findings, key=itemgetter(0))
    counts = Counter(
        (finding.kind, run.answers[place].category, finding.mistake) for place, finding in findings
    )
    return records.Run(
        tool=TOOL,
        version=__version__,
        started=run.started.isoformat(),
        seconds=run.wall_s,
        system=run.system,
        signature=dict(run.signature.parts),
        scoring=SCORING,
        units=tuple(_units(run, price)),
        findings=tuple(finding for _, finding in findings),
        finding_counts=tuple(
            records.FindingCount(kind, count, {"category": category}, mistake)
            for (kind, category, mistake), count in counts.items()
        ),
        reliability=reliability_of_levels(stated_confidence(run)),
        words=WORDS,
        notes=tuple(_notes(run)),
    )


def stated_confidence(run: BenchmarkRun) -> tuple[LevelAccuracy, ...]:
    """Per level of confidence the events that claimed it, and how many were right."""
    return per_level(run.gathered.tally.claims.elements(), get_args(Confidence))


def _notes(run: BenchmarkRun) -> Iterator[str]:
    without = sum(it.status == "unscored" for it in run.answers)
    if without:
        yield f"{without} without sidecar, extracted and not scored"
    replayed = sum(it.spent.replayed for it in run.answers)
    if replayed:
        answers = f"{replayed} of {len(run.answers)} answers"
        yield f"{answers} are replayed: nothing was spent on them now"


def _units(run: BenchmarkRun, price: Price) -> Iterator[records.Unit]:
    kept = [(place, it) for place, it in enumerate(run.answers) if it.status != "unscored"]
    groups = {it.category: {"category": it.category} for _, it in kept}
    samples = run.samples.samples
    for place, it in kept:
        spent = it.spent
        transcript = samples[place % len(samples)].transcript
        whole = excerpt(transcript, frozenset(it.quoted), None)
        yield records.Unit(
            id=it.sample,
            repeat=it.repeat,
            tp=it.counts.tp,
            fp=it.counts.fp,
            fn=it.counts.fn,
            group=groups[it.category],
            failed=it.reason if it.status == "failed" else None,
            seconds=spent.latency_s,
            cost=None if spent.usage is None else price(spent.usage),
            tokens=_tokens(spent.usage),
            replayed=spent.replayed,
            text=whole.text,
            marks=whole.marks,
        )


def _tokens(usage: Usage | None) -> dict[str, int]:
    if usage is None:
        return {}
    named = {"prompt": usage.prompt, "output": usage.output, "thinking": usage.thinking}
    return {name: count for name, count in named.items() if count is not None}


def findings_of(
    one: Judged, result: Scored, quoted: Mapping[str, frozenset[int]]
) -> Iterator[records.Finding]:
    """Every mistake of the sample, and every match with a remark, beside what was said.

    `quoted` are the lines that each reason is about.
    """
    for mistake in one.mistakes:
        yield _finding(result, mistake.kind, mistake, quoted)
    for match in one.matches:
        if match.kind is not None:
            yield _finding(result, match.kind, match, quoted)


def _finding(
    result: Scored, kind: str, one: Mistake | Match, quoted: Mapping[str, frozenset[int]]
) -> records.Finding:
    got, transcript = one.extracted, result.sample.transcript
    quoting = excerpt(transcript, frozenset() if got is None else quoted[got.reasoning])
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


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Part of a conversation, where it begins in the whole, and the quoted lines in it."""

    text: str
    offset: int
    marks: tuple[records.Mark, ...]


def quoted_lines(transcript: Transcript, reason: str) -> frozenset[int]:
    """The utterances, by place, that a reason names by number or quotes word for word."""
    numbers = {number for span in _NUMBERED.findall(reason) for number in _span(*span)}
    said = transcript.utterances
    found = {place for place, one in enumerate(said if numbers else ()) if one.line in numbers}
    quotes = [_plain("".join(parts)).strip(".,;:!?…") for parts in _QUOTED.findall(reason)]
    quotes = [quote for quote in quotes if len(quote) >= _LEAST_LETTERS]
    for place, one in enumerate(said if quotes else ()):
        words = one.words.casefold()
        if any(quote in words for quote in quotes):
            found.add(place)
    return frozenset(found)


def _span(first: str, last: str) -> range:
    """The numbers from the first to the last, or to fifty on: nobody quotes more."""
    return range(int(first), min(int(last or first), int(first) + 50) + 1)


def excerpt(
    transcript: Transcript, quoted: frozenset[int], longest: int | None = WHOLE_CHARACTERS
) -> Excerpt:
    """The conversation, or of a long one the part from the first quoted line to the last.

    Empty where a long conversation has no quoted line; `longest` None means all of any length.
    """
    text = transcript.as_text()
    too_long = longest is not None and len(text) + 1 > longest
    if not quoted:
        return Excerpt("" if too_long else text, 0, ())
    lines = text.split("\n")
    first, last = 0, len(lines)
    if too_long:
        first, last = max(0, min(quoted) - _AROUND), min(len(lines), max(quoted) + _AROUND + 1)
    offset = sum(len(line) + 1 for line in lines[:first])
    marks, at = [], 0
    for place in range(first, last):
        if place in quoted:
            marks.append(records.Mark(at, at + len(lines[place]), "quoted"))
        at += len(lines[place]) + 1
    return Excerpt("\n".join(lines[first:last]), offset, tuple(marks))


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def open_baseline(path: Path, samples: Sequence[Sample]) -> Baseline:
    """The baseline in a file; a record is refused when it is of other samples or rules.

    Now, not when the run has ended: by then it has been paid for.
    """
    if not path.name.endswith(SUFFIX):
        return ReplayExtractor(path)
    found = load_run(path)
    signature = run_signature(sample.digest for sample in samples)
    mine = replace(found, tool=TOOL, signature=dict(signature.parts), scoring=SCORING, units=())
    for part, expected in mine.comparison_key.items():
        if (value := found.comparison_key.get(part)) != expected:
            raise TruemarkError(
                f"{path}: {part} is {value}, expected {expected}: a run on other samples or by"
                " other rules; truemark compare --anyway compares what both have"
            )
    return found


def compared(baseline: records.Run, record: records.Run) -> Comparison | None:
    """The run against its baseline; None when no sample has scores in both."""
    before = {unit.key for unit in baseline.units if unit.failed is None}
    if before.isdisjoint(unit.key for unit in record.units if unit.failed is None):
        return None
    return compare((baseline, record))
