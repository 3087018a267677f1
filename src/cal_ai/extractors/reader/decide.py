"""From scores to events: what the conversation changes in the calendar, and how surely."""

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
_WHEN, _DAY, _SETTLES = range(2, 5)  # of the rows of a look's words; titles have the first
_WORTH_A_LOOK = 0.12
_MOST_LOOKS = 8
_FIRST_COUNTS = 0.4  # the weight of the first reading, against that of the second look
_SUREST = 9.0  # a logit beyond which nothing is surer
_UNHEARD = -7.0  # the logarithm of a chance that does not count
_MOST_LINES = 4  # that are quoted


@dataclass(frozen=True, slots=True)
class Levels:
    """From which probability on something is an event, and from which on it is surer than low."""

    found: float = 0.5
    medium: float = 0.6
    high: float = 0.8


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The levels of each action, which are sure in different ways.

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
    """A pair, or an event of the calendar, that is worth a second look, and how likely it is."""

    chance: float
    place: int
    is_pair: bool
    look: Look


@dataclass(frozen=True, slots=True)
class Reading:
    """A talk with all that is known of it before the decision: `scores` has a row per proposal."""

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
    """A talk read as a whole, then again with each likely candidate in mind."""
    candidates = find_candidates(talk)
    encoded = network.marker.encode(talk, candidates)
    proposals = _proposals(candidates, encoded, network.scores(encoded.arrays))
    looks = [it.look for it in proposals]
    scores = network.scores(encoded.looks(looks)) if looks else None
    return Reading(talk, candidates, encoded, proposals, scores)


def _proposals(found: Candidates, encoded: Encoded, scores: Logits) -> tuple[Proposal, ...]:
    new = 1 / (1 + np.exp(-np.clip(scores.create.astype(np.float64), -_SUREST, _SUREST)))
    changed = np.clip(1 - _softmax(scores.action)[:, KEEP], 0, 1 - np.exp(-_SUREST))
    pairs = [(float(new[it]), it, True) for it in range(len(found.pairs))]
    events = [(float(changed[it]), it, False) for it in range(len(encoded.events) - 1)]
    return tuple(
        Proposal(*it, encoded.at_pair(found, it[1]) if it[2] else encoded.at_event(it[1]))
        for it in sorted(pairs + events, reverse=True)[:_MOST_LOOKS]
        if it[0] >= _WORTH_A_LOOK
    )


def decide(reading: Reading, thresholds: Thresholds) -> list[Found]:
    """The events of a talk, changes of the calendar first."""
    changes = sorted(_changes(reading, thresholds), key=lambda it: it.event.existing_event_id or 0)
    moved = {it.event.start_time for it in changes if it.event.action == "update"}
    found = _chosen(_new_events(reading, thresholds.create.found))
    created = [_created(reading.talk, it) for it in found if it.span.start not in moved]
    return [*changes, *created]


def confidence(found: Found, thresholds: Thresholds) -> Confidence:
    """How sure an event is, in a word."""
    levels: Levels = getattr(thresholds, found.event.action)
    if found.probability >= levels.high:
        return "high"
    return "medium" if found.probability >= levels.medium else "low"


def _looked(reading: Reading, *, pairs: bool) -> Iterator[tuple[Proposal, FloatArray, FloatArray]]:
    """The proposals of one kind with what the second look says of them: verdict and words."""
    for row, it in enumerate(reading.proposals):
        if it.is_pair == pairs and reading.scores is not None:
            words_ = reading.scores.words[row].astype(np.float64)
            yield it, reading.scores.verdict[row].astype(np.float64), words_


def _changes(reading: Reading, thresholds: Thresholds) -> Iterator[Found]:
    talk = reading.talk
    for proposal, verdict, said in _looked(reading, pairs=False):
        calendar = talk.request.context[proposal.place]
        delete, update = _softmax(verdict[2 + DELETE :]) * _chance(
            proposal, _is_not(verdict[2:], KEEP)
        )
        lines = _settling(reading.encoded, proposal.look, said)
        if delete >= thresholds.delete.found and delete >= update:
            event = Event("delete", calendar.summary, existing_event_id=calendar.id)
            yield Found(event, float(delete), lines)
        elif update >= thresholds.update.found:
            span, surely = _moved(reading, calendar, proposal.look, said)
            if update * surely >= thresholds.update.found:
                event = _timed("update", calendar.summary, span, talk)
                event = replace(event, existing_event_id=calendar.id)
                yield Found(event, float(update) * surely, lines)


def _chance(proposal: Proposal, second: float) -> float:
    """How likely a proposal is right, by both readings; `second` is the logit of the second."""
    first = np.log(proposal.chance) - np.log1p(-proposal.chance)
    return float(1 / (1 + np.exp(-_FIRST_COUNTS * first - (1 - _FIRST_COUNTS) * second)))


def _is_not(scores: FloatArray, one: int) -> float:
    """The logit of all but one."""
    return float(np.logaddexp.reduce(np.delete(scores, one)) - scores[one])


def _moved(
    reading: Reading, event: ContextEvent, look: Look, said: FloatArray
) -> tuple[Slot, float]:
    """When an event is moved to, and how surely; what leaves it where it is does not count."""
    talk, spoken = reading.talk, reading.candidates.spoken
    whens = _by_node(reading, look, said[_WHEN], WHEN_KINDS)
    days = _by_node(reading, look, said[_DAY], DAY_KINDS)
    present = changed_span(talk, event, None, None)
    chances = {present: 0.0}
    for when, day in product(*(np.flatnonzero(it > _UNHEARD).tolist() for it in (whens, days))):
        span = changed_span(talk, event, spoken(talk, when - 1), spoken(talk, day - 1))
        chances[span] = chances.get(span, 0.0) + float(np.exp(whens[when] + days[day]))
    chances[present] = 0.0
    return max(chances.items(), key=lambda it: it[1])


def _by_node(reading: Reading, look: Look, said: FloatArray, kinds: Sequence[str]) -> FloatArray:
    """The logarithm of the chance of no node, then of each, all its mentions together."""
    scores = np.full(len(reading.candidates.nodes) + 1, FAR)
    scores[0] = said[0]
    for number, node in enumerate(reading.candidates.nodes, 1):
        spans = (reading.encoded.span(look.window, it) for it in node.mentions)
        heard = [said[span[0]] for span in spans if span is not None]
        if heard and node.kind in kinds:
            scores[number] = np.logaddexp.reduce(heard)
    return log_softmax(scores)


def _settling(encoded: Encoded, look: Look, said: FloatArray) -> tuple[int, ...]:
    """The lines that settle what was looked at: the likeliest, and others that are likely."""
    line, start, _ = encoded.origins[look.window].T
    begins = np.flatnonzero((line >= 0) & (start < 0))
    best = max(begins, key=lambda at: float(said[_SETTLES, at]))
    likely = [at for at in begins if said[_SETTLES, at] > 0 or at == best]
    return tuple(sorted({int(line[at]) for at in likely}))[-_MOST_LINES:]


def _new_events(reading: Reading, threshold: float) -> Iterator[_New]:
    talk, candidates = reading.talk, reading.candidates
    # What begins with an event of the calendar is that event, called otherwise.
    known = {changed_span(talk, it, None, None).start for it in talk.request.context}
    for proposal, verdict, said in _looked(reading, pairs=True):
        pair = candidates.pairs[proposal.place]
        origins = reading.encoded.origins[proposal.look.window]
        title, surely = named(talk.lines, origins, said)
        chance = surely * _chance(proposal, float(verdict[0]))
        if chance < threshold:
            continue
        when, day = candidates.spoken(talk, pair.when), candidates.spoken(talk, pair.day)
        span = new_span(talk, when, day, title, late=bool(verdict[1] > 0))
        if span is not None and span.start not in known:
            lines = _settling(reading.encoded, proposal.look, said)
            yield _New(pair, chance, title, lines, span)


def _chosen(found: Iterable[_New]) -> list[_New]:
    """Of readings that contradict each other the likeliest, before those of half a time."""
    kept: list[_New] = []
    for one in sorted(found, key=lambda it: (-it.probability, NONE in it.pair.near)):
        if not any(_same(one, other) for other in kept):
            kept.append(one)
    return sorted(kept, key=lambda it: it.span.start)


def _same(one: _New, other: _New) -> bool:
    """Whether two begin together, or have a clock time or day and a word of the title in common."""
    if one.span.start == other.span.start:
        return True
    shares_time = one.pair.when == other.pair.when != NONE or one.pair.day == other.pair.day != NONE
    return shares_time and alike(one.title, other.title)


def _created(talk: Dialogue, new: _New) -> Found:
    mentions = [talk.mentions[it] for it in new.pair.near if it != NONE]
    others = _others(talk, sorted({*new.lines, *(it.line for it in mentions)}))
    event = _timed("create", with_whom(new.title, others), new.span, talk)
    return Found(replace(event, attendees=others), new.probability, new.lines)


def _others(talk: Dialogue, lines: Sequence[int]) -> tuple[str, ...]:
    """Who else takes part: those who speak around the lines that settle it."""
    said = talk.request.transcript.utterances
    near = range(max(0, min(lines) - 1), min(len(said), max(lines) + 2))
    owner = talk.request.owner.casefold()
    return tuple(
        dict.fromkeys(said[it].speaker for it in near if said[it].speaker.casefold() != owner)
    )


def _timed(action: Action, title: str, span: Slot, talk: Dialogue) -> Event:
    zone = talk.request.now.tzinfo
    start, end = (it.replace(tzinfo=zone) for it in (span.start, span.end))
    return Event(action, title, start, end, assumptions=span.assumptions)


def _softmax(scores: npt.NDArray[Any]) -> FloatArray:
    return np.exp(log_softmax(scores.astype(np.float64)))
