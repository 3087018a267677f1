"""From scores to events: what the conversation changes in the calendar, and how likely."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from cal_ai.events import Action, Confidence, ContextEvent, Event
from cal_ai.extractors.reader.candidates import NONE, Candidates, TimeOnDay, find_candidates
from cal_ai.extractors.reader.marks import Encoded, Look
from cal_ai.extractors.reader.mentions import Dialogue
from cal_ai.extractors.reader.network import Logits, Scorer
from cal_ai.extractors.reader.spans import Slot, changed_span, new_span
from cal_ai.extractors.reader.titles import FAR, FloatArray, alike, log_softmax, named, with_whom

KEEP, DELETE, UPDATE = range(3)
WHEN_KINDS = ("clock", "until", "part", "length", "shift")
DAY_KINDS = ("day", "week")
_WHEN, _DAY, _SETTLES = range(3)  # rows of the words of a look
_WORTH_A_LOOK = 0.12
_MOST_LOOKS = 8
_FIRST_WEIGHT = 0.4  # of the first reading, against that of the second look
_LARGEST_LOGIT = 9.0
_NEGLIGIBLE = -7.0  # log probability
_MOST_QUOTED = 4  # lines


@dataclass(frozen=True, slots=True)
class Levels:
    """The least probabilities of an event, and of medium and high confidence in it."""

    found: float = 0.5
    medium: float = 0.6
    high: float = 0.8


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The levels of each action.

    Chosen on conversations kept out of training (`training/reader/tuning.py`).
    """

    create: Levels = Levels()
    update: Levels = Levels()
    delete: Levels = Levels()


@dataclass(frozen=True, slots=True)
class Found:
    """An event with the probability that it is right, and the lines that speak for it."""

    event: Event
    probability: float
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A pair or a calendar event that is worth a second look, and how likely it is."""

    chance: float
    place: int
    is_pair: bool
    look: Look


@dataclass(frozen=True, slots=True)
class Reading:
    """A talk with all that the decision depends on; `scores` has a row per proposal."""

    talk: Dialogue
    candidates: Candidates
    encoded: Encoded
    proposals: tuple[Proposal, ...]
    scores: Logits | None


@dataclass(frozen=True, slots=True)
class _New:
    pair: TimeOnDay
    probability: float
    title: str
    lines: tuple[int, ...]
    span: Slot


def read_twice(network: Scorer, talk: Dialogue) -> Reading:
    """Read a talk as a whole, then again for each likely candidate."""
    candidates = find_candidates(talk)
    encoded = network.marker.encode(talk, candidates)
    proposals = _proposals(candidates, encoded, network.scores(encoded.arrays))
    looks = [proposal.look for proposal in proposals]
    scores = network.scores(encoded.looks(looks)) if looks else None
    return Reading(talk, candidates, encoded, proposals, scores)


def _proposals(candidates: Candidates, encoded: Encoded, scores: Logits) -> tuple[Proposal, ...]:
    new = 1 / (
        1 + np.exp(-np.clip(scores.create.astype(np.float64), -_LARGEST_LOGIT, _LARGEST_LOGIT))
    )
    changed = np.clip(1 - _softmax(scores.action)[:, KEEP], 0, 1 - np.exp(-_LARGEST_LOGIT))
    pairs = [(float(new[place]), place, True) for place in range(len(candidates.pairs))]
    events = [(float(changed[place]), place, False) for place in range(len(encoded.events) - 1)]
    proposals = []
    for chance, place, is_pair in sorted(pairs + events, reverse=True)[:_MOST_LOOKS]:
        if chance >= _WORTH_A_LOOK:
            look = encoded.at_pair(candidates, place) if is_pair else encoded.at_event(place)
            proposals.append(Proposal(chance, place, is_pair, look))
    return tuple(proposals)


def decide(reading: Reading, *others: Reading) -> list[Found]:
    """Decide what may have been agreed and how likely it is, changes of the calendar first.

    Of other readings, with one more event each, only what becomes of that event counts.
    """
    changes = list(_changes(reading))
    for other in others:
        last = other.talk.request.context[-1].id
        changes += (change for change in _changes(other) if change.event.existing_event_id == last)
    changes.sort(key=lambda change: change.event.existing_event_id or 0)
    return [*changes, *(_created(reading.talk, new) for new in _likeliest(_new_events(reading)))]


def likely(findings: Iterable[Found], thresholds: Thresholds) -> list[Found]:
    """Keep what is likely enough; what was moved to a time is not created there as well."""
    kept = [
        found
        for found in findings
        if found.probability >= getattr(thresholds, found.event.action).found
    ]
    moved = {found.event.start_time for found in kept if found.event.action == "update"}
    return [
        found
        for found in kept
        if found.event.action != "create" or found.event.start_time not in moved
    ]


def confidence(found: Found, thresholds: Thresholds) -> Confidence:
    """Return the confidence in an event."""
    levels: Levels = getattr(thresholds, found.event.action)
    if found.probability >= levels.high:
        return "high"
    return "medium" if found.probability >= levels.medium else "low"


def _looked(reading: Reading, *, pairs: bool) -> Iterator[tuple[Proposal, list[FloatArray]]]:
    """Yield the proposals of one kind with the scores of the look: verdict, words and titles."""
    for row, proposal in enumerate(reading.proposals):
        if proposal.is_pair == pairs and reading.scores is not None:
            scores = (reading.scores.verdict, reading.scores.words, reading.scores.titles)
            yield proposal, [rows[row].astype(np.float64) for rows in scores]


def _changes(reading: Reading) -> Iterator[Found]:
    talk = reading.talk
    for proposal, (verdict, said, _) in _looked(reading, pairs=False):
        calendar = talk.request.context[proposal.place]
        delete, update = _softmax(verdict[2 + DELETE :]) * _chance(
            proposal, _is_not(verdict[2:], KEEP)
        )
        lines = _settling(reading.encoded, proposal.look, said)
        event, chance = Event("delete", calendar.summary), float(delete)
        if update > delete:
            span, surely = _moved(reading, calendar, proposal.look, said)
            event, chance = _timed("update", calendar.summary, span, talk), float(update) * surely
        yield Found(replace(event, existing_event_id=calendar.id), chance, lines)


def _chance(proposal: Proposal, second: float) -> float:
    """Combine the chances of both readings; `second` is the logit of the second."""
    first = np.log(proposal.chance) - np.log1p(-proposal.chance)
    return float(1 / (1 + np.exp(-_FIRST_WEIGHT * first - (1 - _FIRST_WEIGHT) * second)))


def _is_not(scores: FloatArray, choice: int) -> float:
    """Return the logit of all choices but one."""
    return float(np.logaddexp.reduce(np.delete(scores, choice)) - scores[choice])


def _moved(
    reading: Reading, event: ContextEvent, look: Look, said: FloatArray
) -> tuple[Slot, float]:
    """Find the span to which an event is moved, and its chance; staying in place does not count."""
    talk, spoken = reading.talk, reading.candidates.spoken
    whens = _by_node(reading, look, said[_WHEN], WHEN_KINDS)
    days = _by_node(reading, look, said[_DAY], DAY_KINDS)
    present = changed_span(talk, event, None, None)
    chances = {present: 0.0}
    for when, day in product(
        *(np.flatnonzero(chance > _NEGLIGIBLE).tolist() for chance in (whens, days))
    ):
        span = changed_span(talk, event, spoken(talk, when - 1), spoken(talk, day - 1))
        chances[span] = chances.get(span, 0.0) + float(np.exp(whens[when] + days[day]))
    chances[present] = 0.0
    return max(chances.items(), key=lambda item: item[1])


def _by_node(reading: Reading, look: Look, said: FloatArray, kinds: Sequence[str]) -> FloatArray:
    """Return the log probability of no node, then of each with all its mentions."""
    scores = np.full(len(reading.candidates.nodes) + 1, FAR)
    scores[0] = said[0]
    for number, node in enumerate(reading.candidates.nodes, 1):
        spans = (reading.encoded.span(look.window, mention) for mention in node.mentions)
        heard = [said[span[0]] for span in spans if span is not None]
        if heard and node.kind in kinds:
            scores[number] = np.logaddexp.reduce(heard)
    return log_softmax(scores)


def _settling(encoded: Encoded, look: Look, said: FloatArray) -> tuple[int, ...]:
    """Find the lines that settle a candidate: the likeliest, and others that are likely."""
    line, start, _ = encoded.origins[look.window].T
    begins = np.flatnonzero((line >= 0) & (start < 0))
    best = max(begins, key=lambda at: float(said[_SETTLES, at]))
    likely = [at for at in begins if said[_SETTLES, at] > 0 or at == best]
    return tuple(sorted({int(line[at]) for at in likely}))[-_MOST_QUOTED:]


def _new_events(reading: Reading) -> Iterator[_New]:
    talk, candidates = reading.talk, reading.candidates
    for proposal, (verdict, said, titles) in _looked(reading, pairs=True):
        pair = candidates.pairs[proposal.place]
        origins = reading.encoded.origins[proposal.look.window]
        title, surely = named(talk.lines, origins, titles)
        chance = surely * _chance(proposal, float(verdict[0]))
        when, day = candidates.spoken(talk, pair.when), candidates.spoken(talk, pair.day)
        span = new_span(talk, when, day, title, late=bool(verdict[1] > 0))
        if span is not None and not any(
            _is_planned(span, title, event, talk) for event in talk.request.context
        ):
            lines = _settling(reading.encoded, proposal.look, said)
            yield _New(pair, chance, title, lines, span)


def _is_planned(span: Slot, title: str, event: ContextEvent, talk: Dialogue) -> bool:
    """Whether a new event is this one of the calendar: they begin together and share a word."""
    return span.start == changed_span(talk, event, None, None).start and alike(title, event.summary)


def _likeliest(new_events: Iterable[_New]) -> list[_New]:
    """Keep the likeliest of contradicting readings; a pair goes before a time or day alone."""
    kept: list[_New] = []
    for new in sorted(new_events, key=lambda new: (-new.probability, NONE in new.pair.near)):
        if not any(_contradict(new, other) for other in kept):
            kept.append(new)
    return sorted(kept, key=lambda new: new.span.start)


def _contradict(new: _New, other: _New) -> bool:
    """Whether two begin together, or share a clock time or day and a word of the title."""
    if new.span.start == other.span.start:
        return True
    shares_time = new.pair.when == other.pair.when != NONE or new.pair.day == other.pair.day != NONE
    return shares_time and alike(new.title, other.title)


def _created(talk: Dialogue, new: _New) -> Found:
    mentioned = {talk.mentions[place].line for place in new.pair.near if place != NONE}
    others = _others(talk, sorted({*new.lines, *mentioned}))
    event = _timed("create", with_whom(new.title, others), new.span, talk)
    return Found(replace(event, attendees=others), new.probability, new.lines)


def _others(talk: Dialogue, lines: Sequence[int]) -> tuple[str, ...]:
    """Return the other participants: those who speak around the lines that settle it."""
    said = talk.request.transcript.utterances
    near = range(max(0, min(lines) - 1), min(len(said), max(lines) + 2))
    owner = talk.request.owner.casefold()
    speakers = (said[line].speaker for line in near)
    return tuple(dict.fromkeys(name for name in speakers if name.casefold() != owner))


def _timed(action: Action, title: str, span: Slot, talk: Dialogue) -> Event:
    zone = talk.request.now.tzinfo
    start, end = span.start.replace(tzinfo=zone), span.end.replace(tzinfo=zone)
    return Event(action, title, start, end, assumptions=span.assumptions)


def _softmax(scores: npt.NDArray[Any]) -> FloatArray:
    return np.exp(log_softmax(scores.astype(np.float64)))
