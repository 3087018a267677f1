"""From scores to events: what the conversation changes in the calendar, and how surely."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from cal_ai.events import Action, Confidence, Event
from cal_ai.extractors.reader.candidates import NONE, Candidates, TimeOnDay, find_candidates
from cal_ai.extractors.reader.marks import Encoded, IntArray, Look
from cal_ai.extractors.reader.mentions import Dialogue
from cal_ai.extractors.reader.network import Logits, Scorer
from cal_ai.extractors.reader.patterns import small, words
from cal_ai.extractors.reader.spans import Slot, changed_span, kind_of, new_span

KEEP, DELETE, UPDATE = range(3)
WHEN_KINDS = ("clock", "until", "part", "length", "shift")
DAY_KINDS = ("day", "week")
_FIRST, _LAST, _WHEN, _DAY, _SETTLES = range(5)  # the rows of a look's words
_LONGEST_TITLE = 9
_ARTICLE = re.compile(
    r"^(?:(?:the|a|an|our|my|your|his|her|their|that|this|for|at|on|to)\s+)+", re.I
)
_SMALL_WORDS = words("a an the of to for with at on in and my your our his her their")
_UNNAMED = "Appointment"
FloatArray = npt.NDArray[np.float64]
_FAR = -1e9
_TITLES = 12  # so many beginnings of a title are weighed, and ends for each
_WORTH_A_LOOK = 0.06
_MOST_LOOKS = 8
_FIRST_COUNTS = 0.4  # the weight of the first reading, against that of the second look
_SUREST = 9.0  # a logit beyond which nothing is surer
_MOST_LINES = 4  # that are quoted


@dataclass(frozen=True, slots=True)
class Levels:
    """From which probability on something is an event, and from which on it is surer than low."""

    found: float = 0.5
    medium: float = 0.6
    high: float = 0.8

    def word(self, probability: float) -> Confidence:
        """The probability in a word."""
        if probability >= self.high:
            return "high"
        return "medium" if probability >= self.medium else "low"


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
    events = len(encoded.events) - 1
    ranked = sorted(
        [
            *((float(new[it]), it, True) for it in range(len(found.pairs))),
            *((float(changed[it]), it, False) for it in range(events)),
        ],
        reverse=True,
    )
    return tuple(
        Proposal(
            chance,
            place,
            is_pair,
            encoded.at_pair(found, place) if is_pair else encoded.at_event(place),
        )
        for chance, place, is_pair in ranked[:_MOST_LOOKS]
        if chance >= _WORTH_A_LOOK
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
    return levels.word(found.probability)


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
            when, day, surely = _links(reading, proposal.look, said)
            at, on = (reading.candidates.spoken(talk, it) for it in (when, day))
            event = _timed("update", calendar.summary, changed_span(talk, calendar, at, on), talk)
            yield Found(
                replace(event, existing_event_id=calendar.id), float(update) * surely**0.5, lines
            )


def _chance(proposal: Proposal, second: float) -> float:
    """How likely a proposal is right, by both readings; `second` is the logit of the second."""
    first = np.log(proposal.chance) - np.log1p(-proposal.chance)
    return float(1 / (1 + np.exp(-_FIRST_COUNTS * first - (1 - _FIRST_COUNTS) * second)))


def _is_not(scores: FloatArray, one: int) -> float:
    """The logit of all but one."""
    return float(np.logaddexp.reduce(np.delete(scores, one)) - scores[one])


def _links(reading: Reading, look: Look, said: FloatArray) -> tuple[int, int, float]:
    """The clock and the day an event is moved to, one of which may be NONE, and how surely."""
    whens = _by_node(reading, look, said[_WHEN], WHEN_KINDS)
    days = _by_node(reading, look, said[_DAY], DAY_KINDS)
    both = whens[:, None] + days[None, :]
    both[0, 0] = _FAR
    when, day = divmod(int(both.argmax()), both.shape[1])
    return when - 1, day - 1, float(np.exp(both[when, day]))


def _by_node(reading: Reading, look: Look, said: FloatArray, kinds: Sequence[str]) -> FloatArray:
    """The logarithm of the chance of no node, then of each, all its mentions together."""
    scores = np.full(len(reading.candidates.nodes) + 1, _FAR)
    scores[0] = said[0]
    for number, node in enumerate(reading.candidates.nodes, 1):
        spans = (reading.encoded.span(look.window, it) for it in node.mentions)
        heard = [said[span[0]] for span in spans if span is not None]
        if heard and node.kind in kinds:
            scores[number] = np.logaddexp.reduce(heard)
    return _log_softmax(scores)


def _settling(encoded: Encoded, look: Look, said: FloatArray) -> tuple[int, ...]:
    """The lines that settle what was looked at: the likeliest, and others that are likely."""
    line, start, _ = encoded.origins[look.window].T
    begins = np.flatnonzero((line >= 0) & (start < 0))
    best = max(begins, key=lambda at: float(said[_SETTLES, at]))
    likely = [at for at in begins if said[_SETTLES, at] > 0 or at == best]
    return tuple(sorted({int(line[at]) for at in likely}))[-_MOST_LINES:]


def _new_events(reading: Reading, threshold: float) -> Iterator[_New]:
    talk, candidates = reading.talk, reading.candidates
    for proposal, verdict, said in _looked(reading, pairs=True):
        pair = candidates.pairs[proposal.place]
        title, surely = _named(reading, proposal.look, said)
        chance = surely * _chance(proposal, float(verdict[0]))
        if chance < threshold:
            continue
        when, day = candidates.spoken(talk, pair.when), candidates.spoken(talk, pair.day)
        span = new_span(talk, when, day, title, late=bool(verdict[1] > 0))
        if span is not None:
            lines = _settling(reading.encoded, proposal.look, said)
            yield _New(pair, chance, title, lines, span)


def _named(reading: Reading, look: Look, said: FloatArray) -> tuple[str, float]:
    """The title that agrees with most of what the title may be, and how much that is."""
    found: dict[str, float] = {}
    for first, last, chance in _spans(reading.encoded.origins[look.window], said):
        line, start, _ = reading.encoded.origins[look.window][first]
        end = reading.encoded.origins[look.window][last][2]
        title = _as_title(reading.talk.lines[line][start:end])
        found[title] = found.get(title, 0.0) + chance
    if not found:
        return _UNNAMED, 0.0
    most = max(found.values())
    agreed = {
        title: sum(other for told, other in found.items() if _agree(title, told))
        for title, chance in found.items()
        if chance >= most / 3
    }
    best = max(agreed, key=lambda it: (agreed[it], found[it]))
    return best, min(1.0, agreed[best] / sum(found.values()))


def _spans(origins: IntArray, said: FloatArray) -> Iterator[tuple[int, int, float]]:
    """The likeliest first and last tokens of a title, with their chance."""
    spoken = origins[:, 1] >= 0
    first = _log_softmax(np.where(spoken, said[_FIRST, : len(spoken)], _FAR))
    last = _log_softmax(np.where(spoken, said[_LAST, : len(spoken)], _FAR))
    for start in map(int, np.argsort(-first)[:_TITLES]):
        if spoken[start]:
            stop = start + _LONGEST_TITLE
            ends = np.where(origins[start:stop, 0] == origins[start, 0], last[start:stop], _FAR)
            for end in map(int, np.argsort(-ends)[:3]):
                if ends[end] > _FAR:
                    yield start, start + end, float(np.exp(first[start] + ends[end]))


def _as_title(said: str) -> str:
    title = _ARTICLE.sub("", said.strip(" ,.;:?!-\"'()")).strip()
    return (title[:1].upper() + title[1:]) or _UNNAMED


def _agree(one: str, other: str) -> bool:
    """Whether two titles say the same, one perhaps more than the other."""
    telling, others = (set(small(it).split()) - _SMALL_WORDS for it in (one, other))
    return telling <= others or others <= telling


def _chosen(found: Iterable[_New]) -> list[_New]:
    """Of readings that contradict each other the likeliest."""
    kept: list[_New] = []
    for one in sorted(found, key=_rank):
        if not any(_same(one, other) for other in kept):
            kept.append(one)
    return sorted(kept, key=lambda it: it.span.start)


def _rank(new: _New) -> tuple[float, datetime]:
    """The likeliest first; a time with its day before a slightly likelier one without."""
    partly = NONE in (new.pair.when, new.pair.day)
    return -new.probability * (0.8 if partly else 1.0), new.span.start


def _same(one: _New, other: _New) -> bool:
    if one.span.start == other.span.start:
        return True
    partly = NONE in (one.pair.when, one.pair.day) or NONE in (other.pair.when, other.pair.day)
    if partly and (
        one.pair.when == other.pair.when != NONE or one.pair.day == other.pair.day != NONE
    ):
        return _alike(one.title, other.title) or one.pair.when == other.pair.when != NONE
    doubtful = one.probability < 0.6
    shares = one.pair.when == other.pair.when or one.pair.day == other.pair.day
    return doubtful and shares and _alike(one.title, other.title)


def _alike(one: str, other: str) -> bool:
    words, others = (set(small(it).split()) for it in (one, other))
    return bool(words & others)


def _created(talk: Dialogue, new: _New) -> Found:
    mentions = [talk.mentions[it] for it in new.pair.near if it != NONE]
    others = _others(talk, sorted({*new.lines, *(it.line for it in mentions)}))
    event = _timed("create", _with_whom(new.title, others), new.span, talk)
    return Found(replace(event, attendees=others), new.probability, new.lines)


def _with_whom(title: str, others: Sequence[str]) -> str:
    """The title, with the one other person where calendars name them ("Lunch with Bob")."""
    if len(others) != 1 or not kind_of(title).shared or others[0].lower() in title.lower():
        return title
    return f"{title} with {others[0]}"


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


def _softmax(scores: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    return np.exp(np.apply_along_axis(_log_softmax, -1, scores.astype(np.float64)))


def _log_softmax(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    shifted = scores - scores.max()
    result: npt.NDArray[np.float64] = shifted - np.log(np.exp(shifted).sum())
    return result
