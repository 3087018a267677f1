"""A run as a run record, which `truemark` compares and draws, and a baseline to compare it with."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import get_args

from cal_ai.benchmark.mistakes import Difference, Match, Mistake, matches_of, mistakes_of
from cal_ai.benchmark.pairing import TOLERANCES, Terms, meant_event
from cal_ai.benchmark.samples import Sample
from cal_ai.benchmark.scoring import EMPTY, Failed, Result, Scored, Unscored
from cal_ai.benchmark.sidecar import ExpectedEvent, Sidecar
from cal_ai.events import Confidence, Event
from cal_ai.extractors.protocol import Usage
from cal_ai.extractors.replay import ReplayExtractor
from cal_ai.transcript import Transcript
from truemark import __version__, records
from truemark.calibration import LevelAccuracy, per_level
from truemark.comparison import Comparison, compare
from truemark.errors import TruemarkError
from truemark.record_files import SUFFIX, load_run, texts_left_out
from truemark.record_parts import reliability_of_levels
from truemark.signature import Signature, data_hash

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
    kept = [result for result in results if not isinstance(result, Unscored)]
    # Those of a large run are not even made: together they would be larger than all else.
    without = texts_left_out(map(_size_of_text, kept))
    for result in kept:
        spent, transcript = result.spent, result.sample.transcript
        counts = result.counts if isinstance(result, Scored) else None
        left_out = (result.sample.id, result.repeat) in without
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
            text=None if left_out else transcript.as_text(),
            marks=() if left_out else excerpt(transcript, _quoted(result), None).marks,
            text_left_out=left_out,
        )


def _size_of_text(result: Scored | Failed) -> tuple[tuple[str, int], int, int]:
    mistakes = result.counts.fp + result.counts.fn if isinstance(result, Scored) else 0
    key = result.sample.id, result.repeat
    return key, mistakes, len(result.sample.transcript.as_text())


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


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Part of a conversation, where it begins in the whole, and the quoted lines in it."""

    text: str
    offset: int
    marks: tuple[records.Mark, ...]


def quoted_lines(transcript: Transcript, reason: str) -> frozenset[int]:
    """The utterances, by place, that a reason names by number or quotes word for word."""
    numbers = {number for span in _NUMBERED.findall(reason) for number in _span(*span)}
    found = {
        place for place, one in enumerate(transcript.utterances) if numbers and one.line in numbers
    }
    quotes = [_plain("".join(parts)).strip(".,;:!?…") for parts in _QUOTED.findall(reason)]
    quotes = [quote for quote in quotes if len(quote) >= _LEAST_LETTERS]
    for place, one in enumerate(transcript.utterances if quotes else ()):
        said = one.words.casefold()
        if any(quote in said for quote in quotes):
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
    lines = transcript.as_text().split("\n")
    first, last = 0, len(lines)
    if longest is not None and sum(map(len, lines)) + len(lines) > longest:
        if not quoted:
            return Excerpt("", 0, ())
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
    mine = replace(
        found, tool=TOOL, signature=dict(run_signature(samples).parts), scoring=SCORING, units=()
    )
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
