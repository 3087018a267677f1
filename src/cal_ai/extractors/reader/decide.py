"""From scores to events: what the conversation changes in the calendar, and how surely."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
import numpy.typing as npt

from cal_ai.events import Action, Confidence, Event
from cal_ai.extractors.reader.activities import SHARED
from cal_ai.extractors.reader.candidates import NONE, Candidates, TimeOnDay
from cal_ai.extractors.reader.marks import IntArray
from cal_ai.extractors.reader.mentions import Dialogue
from cal_ai.extractors.reader.network import FloatArray, Logits
from cal_ai.extractors.reader.patterns import small
from cal_ai.extractors.reader.spans import Slot, changed_span, kind_of, new_span

KEEP, DELETE, UPDATE = range(3)
WHEN_KINDS = ("clock", "until", "part", "length", "shift")
DAY_KINDS = ("day", "week")
_LONGEST_TITLE = 9
_ARTICLE = re.compile(
    r"^(?:(?:the|a|an|our|my|your|his|her|their|that|this|for|at|on|to)\s+)+", re.I
)
_UNNAMED = "Appointment"
_FAR = -1e9
_TITLES = 8  # so many beginnings of a title are weighed
_TITLE_COUNTS = 0.8  # the power of the title's probability in that of the event


@dataclass(frozen=True, slots=True)
class Thresholds:
    """From which probability on something is an event, and what it is called then.

    Chosen on conversations kept out of training (`training/reader/tuning.py`).
    """

    create: float = 0.5
    update: float = 0.5
    delete: float = 0.5
    medium: float = 0.6
    high: float = 0.8


@dataclass(frozen=True, slots=True)
class Found:
    """An event with the probability that it is right, and the lines that speak for it."""

    event: Event
    probability: float
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _New:
    pair: TimeOnDay
    probability: float
    title: str
    title_line: int
    span: Slot


def decide(
    talk: Dialogue,
    candidates: Candidates,
    scores: Logits,
    tokens: IntArray,
    thresholds: Thresholds,
) -> list[Found]:
    """The events of a talk, changes of the calendar first."""
    changes = list(_changes(talk, candidates, scores, thresholds))
    moved = {it.event.start_time for it in changes if it.event.action == "update"}
    found = _chosen(_new_events(talk, candidates, scores, tokens, thresholds.create))
    created = [_created(talk, it) for it in found if it.span.start not in moved]
    return [*changes, *created]


def confidence(probability: float, thresholds: Thresholds) -> Confidence:
    """The probability in a word."""
    if probability >= thresholds.high:
        return "high"
    return "medium" if probability >= thresholds.medium else "low"


def _changes(
    talk: Dialogue, candidates: Candidates, scores: Logits, thresholds: Thresholds
) -> Iterator[Found]:
    chances = _softmax(scores.action)
    for place, calendar in enumerate(talk.request.context):
        delete, update = float(chances[place, DELETE]), float(chances[place, UPDATE])
        near = _lines_about(talk, place)
        if delete >= thresholds.delete and delete >= update:
            event = Event("delete", calendar.summary, existing_event_id=calendar.id)
            yield Found(event, delete, near)
        elif update >= thresholds.update:
            when, day, surely = _links(candidates, scores, place)
            at, on = candidates.spoken(talk, when), candidates.spoken(talk, day)
            span = changed_span(talk, calendar, at, on)
            event = _timed("update", calendar.summary, span, talk)
            lines = tuple(sorted({*near[:1], *(it.line for it in (at, on) if it)}))
            yield Found(replace(event, existing_event_id=calendar.id), update * surely**0.5, lines)


def _links(candidates: Candidates, scores: Logits, event: int) -> tuple[int, int, float]:
    """The clock and the day an event is moved to, one of which may be NONE, and how surely."""
    kinds = [node.kind for node in candidates.nodes]
    whens = _log_softmax(_masked(scores.when[event], kinds, WHEN_KINDS))
    days = _log_softmax(_masked(scores.day[event], kinds, DAY_KINDS))
    both = whens[:, None] + days[None, :]
    both[0, 0] = _FAR
    when, day = divmod(int(both.argmax()), both.shape[1])
    return when - 1, day - 1, float(np.exp(both[when, day]))


def _masked(
    scores: FloatArray, kinds: Sequence[str], allowed: Sequence[str]
) -> npt.NDArray[np.float64]:
    usable = np.array([True, *(kind in allowed for kind in kinds)])
    return np.where(usable, scores[: len(usable)].astype(np.float64), _FAR)


def _new_events(
    talk: Dialogue, candidates: Candidates, scores: Logits, tokens: IntArray, threshold: float
) -> Iterator[_New]:
    chances = 1 / (1 + np.exp(-scores.create.astype(np.float64)))
    likely = [int(it) for it in np.argsort(-chances) if chances[it] >= threshold]
    likely = [it for it in likely if it < len(candidates.pairs)]
    for place in likely:
        pair = candidates.pairs[place]
        words, surely = _named(scores, tokens, place)
        line, title = _said(talk, tokens, words)
        when, day = candidates.spoken(talk, pair.when), candidates.spoken(talk, pair.day)
        span = new_span(talk, when, day, title, late=bool(scores.late[place] > 0))
        if span is not None:
            yield _New(pair, float(chances[place]) * surely**_TITLE_COUNTS, title, line, span)


def _named(scores: Logits, tokens: IntArray, pair: int) -> tuple[tuple[int, int], float]:
    """The first and last token of the likeliest title of a pair, and its probability."""
    first = _log_softmax(scores.title_first[pair].astype(np.float64))
    last = _log_softmax(scores.title_last[pair].astype(np.float64))
    found = []
    for start in np.argsort(-first)[:_TITLES]:
        stop = min(int(start) + _LONGEST_TITLE, len(tokens))
        same = tokens[start:stop, 0] == tokens[start, 0]
        ends = np.where(same, last[start:stop], -np.inf)
        end = int(ends.argmax())
        surely = float(np.exp(first[start] + ends[end]))
        found.append(((int(start), int(start) + end), surely))
    return max(found, key=lambda it: it[1])


def _said(talk: Dialogue, tokens: IntArray, words: tuple[int, int]) -> tuple[int, str]:
    """The line of some tokens, and a title made of them."""
    line = int(tokens[words[0], 0])
    text = talk.lines[line] if talk.lines else ""
    said = text[int(tokens[words[0], 1]) : int(tokens[words[1], 2])]
    title = _ARTICLE.sub("", said.strip(" ,.;:?!-\"'()")).strip()
    return line, (title[:1].upper() + title[1:]) or _UNNAMED


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
    lines = tuple(sorted({new.title_line, *(it.line for it in mentions)}))
    others = _others(talk, lines)
    event = _timed("create", _with_whom(new.title, others), new.span, talk)
    return Found(replace(event, attendees=others), new.probability, lines)


def _with_whom(title: str, others: Sequence[str]) -> str:
    """The title, with the one other person where calendars name them ("Lunch with Bob")."""
    if len(others) != 1 or kind_of(title).name not in SHARED or others[0].lower() in title.lower():
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


def _lines_about(talk: Dialogue, event: int) -> tuple[int, ...]:
    """The lines that share a telling word with an event of the calendar, the last first."""
    words = {word for word in small(talk.request.context[event].summary).split() if len(word) > 3}
    found = (
        number
        for number, line in enumerate(talk.lines)
        if words & set(re.findall(r"\w+", small(line)))
    )
    return tuple(sorted(found, reverse=True))[:2]


def _timed(action: Action, title: str, span: Slot, talk: Dialogue) -> Event:
    zone = talk.request.now.tzinfo
    start, end = (it.replace(tzinfo=zone) for it in (span.start, span.end))
    return Event(action, title, start, end, assumptions=span.assumptions)


def _softmax(scores: FloatArray) -> npt.NDArray[np.float64]:
    return np.exp(np.apply_along_axis(_log_softmax, -1, scores.astype(np.float64)))


def _log_softmax(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    shifted = scores - scores.max()
    result: npt.NDArray[np.float64] = shifted - np.log(np.exp(shifted).sum())
    return result
