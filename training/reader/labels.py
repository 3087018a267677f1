"""Label the candidates of a conversation with its true events, for the network to learn."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from cal_ai.events import ContextEvent
from cal_ai.extractors.reader.candidates import NONE, Candidates, find_candidates
from cal_ai.extractors.reader.decide import DAY_KINDS, DELETE, KEEP, UPDATE, WHEN_KINDS
from cal_ai.extractors.reader.limits import read_relevant
from cal_ai.extractors.reader.mentions import Dialogue
from cal_ai.extractors.reader.patterns import words
from cal_ai.extractors.reader.spans import changed_span, new_span
from training.reader.conversations import Conversation, TrueEvent

_EXACT, _NEAR, _WITHIN = timedelta(), timedelta(minutes=30), timedelta(hours=2)
_WORD = re.compile(r"[\w&']+(?:[-:/.][\w&']+)*")
_STOP = words(
    """
    a an the at on in to for of and or with my your our his her their is it that this i you we me
    us be do so if as by from up out some any
    """
)
_LONGEST_TITLE = 8
_FIRST_READING = 0.6  # share of readings with only the events that share a word

TitleSpan = tuple[int, int, int]
"""Line, start and end in characters."""


@dataclass(slots=True)
class Labels:
    """The labels of the candidates.

    `creates` maps pairs to the title spans of their event, `ignored` are pairs that are neither
    right nor wrong; `actions` has KEEP, DELETE or UPDATE per calendar event, `whens` and `days` the
    nodes (or NONE) that a moved event may be linked to; `settled` and `changed` have the lines that
    settle a pair and a change; `missed` are true events that no candidate gives.
    """

    creates: dict[int, list[TitleSpan]] = field(default_factory=dict)
    late: dict[int, bool] = field(default_factory=dict)
    ignored: set[int] = field(default_factory=set)
    actions: list[int] = field(default_factory=list)
    whens: dict[int, list[int]] = field(default_factory=dict)
    days: dict[int, list[int]] = field(default_factory=dict)
    settled: dict[int, tuple[int, ...]] = field(default_factory=dict)
    changed: dict[int, tuple[int, ...]] = field(default_factory=dict)
    missed: list[TrueEvent] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Example:
    """A conversation as the reader sees it, with its labels."""

    id: str
    talk: Dialogue
    candidates: Candidates
    labels: Labels


def example(conversation: Conversation, chance: random.Random | None = None) -> Example:
    """Return the candidates of a conversation and their labels.

    The conversation is prepared as in the reader; with `chance`, sometimes as in its additional
    readings for events that begin at a named hour.
    """
    talks = read_relevant(conversation.request)
    others = talks[1:]
    talk = talks[0]
    if chance and others and chance.random() > _FIRST_READING:
        talk = chance.choice(others)
    candidates = find_candidates(talk)
    labels = Labels(actions=[KEEP] * len(talk.request.context))
    for event in _as_read(conversation, talk):
        if event.action == "create":
            _label_create(talk, candidates, event, labels)
        elif event.target is None:
            labels.missed.append(event)
        elif event.action == "delete":
            labels.actions[event.target] = DELETE
            labels.changed[event.target] = event.lines
        else:
            labels.actions[event.target] = UPDATE
            labels.changed[event.target] = event.lines
            _label_update(talk, candidates, event, event.target, labels)
    labels.ignored -= set(labels.creates)
    return Example(conversation.id, talk, candidates, labels)


def _as_read(conversation: Conversation, talk: Dialogue) -> list[TrueEvent]:
    """Return the true events with the line numbers and calendar indices of the talk."""
    spoken, read = (
        request.transcript.utterances for request in (conversation.request, talk.request)
    )
    skipped = next(place for place, line in enumerate(spoken) if line is read[0])
    places = {event.id: place for place, event in enumerate(talk.request.context)}
    return [
        replace(
            event,
            lines=tuple(line - skipped for line in event.lines if 0 <= line - skipped < len(read)),
            target=None
            if event.target is None
            else places.get(conversation.request.context[event.target].id),
        )
        for event in conversation.events
    ]


def _label_create(talk: Dialogue, candidates: Candidates, event: TrueEvent, labels: Labels) -> None:
    if event.start is None:
        labels.missed.append(event)
        return
    fits: list[tuple[tuple[bool, bool, int, bool], int]] = []
    for place, pair in enumerate(candidates.pairs):
        when, day = candidates.spoken(talk, pair.when), candidates.spoken(talk, pair.day)
        spans = [new_span(talk, when, day, event.title, late=late) for late in (False, True)]
        offs = [abs(span.start - event.start) for span in spans if span is not None]
        if not offs:
            continue
        off = min(offs)
        same_day = when is None and day is not None and day.value == event.start.date()
        if off > _WITHIN and not (same_day and _is_day_long(event)):
            continue
        level = 0 if when is None else 1 if when.kind == "part" else 2
        rank = (off > _EXACT, off > _NEAR, -level, pair.day == NONE)
        fits.append((rank, place))
    if not fits:
        labels.missed.append(event)
        return
    best = min(rank for rank, _ in fits)
    titles = title_spans(talk.lines, event.title)
    for rank, place in fits:
        if rank == best:
            labels.creates[place] = titles
            labels.settled[place] = event.lines
            labels.late[place] = event.start.hour >= 12
        else:
            labels.ignored.add(place)


def _is_day_long(event: TrueEvent) -> bool:
    assert event.start is not None
    return event.end is not None and event.end - event.start >= timedelta(hours=20)


def _label_update(
    talk: Dialogue, candidates: Candidates, event: TrueEvent, target: int, labels: Labels
) -> None:
    calendar: ContextEvent = talk.request.context[target]
    whens = [NONE, *(i for i, node in enumerate(candidates.nodes) if node.kind in WHEN_KINDS)]
    days = [NONE, *(i for i, node in enumerate(candidates.nodes) if node.kind in DAY_KINDS)]
    fits = []
    for when in whens:
        for day in days:
            if when == day == NONE:
                continue
            span = changed_span(
                talk, calendar, candidates.spoken(talk, when), candidates.spoken(talk, day)
            )
            off = abs(span.start - event.start) if event.start else timedelta()
            end_off = abs(span.end - event.end) if event.end else timedelta()
            fits.append(((off, end_off, (when != NONE) + (day != NONE)), when, day))
    if not fits:
        return
    best = min(rank[:2] for rank, *_ in fits)
    if best[0] > _WITHIN:
        labels.missed.append(event)
        return
    # Naming the day that an event stays on is as right as naming no day.
    chosen = [(when, day) for rank, when, day in fits if rank[:2] == best]
    labels.whens[target] = sorted({when for when, _ in chosen})
    labels.days[target] = sorted({day for _, day in chosen})


def title_spans(lines: Sequence[str], title: str) -> list[TitleSpan]:
    """Return the spans whose words are most like those of the title, if any are similar enough."""
    title_stems = [_stem(word) for word in _words(title) if word not in _STOP]
    if not title_stems:
        return []
    best = 0.0
    spans: list[TitleSpan] = []
    for number, line in enumerate(lines):
        matches = list(_WORD.finditer(line))
        stems = [_stem(word[0].lower()) for word in matches]
        for first in range(len(matches)):
            if stems[first] not in title_stems:
                continue
            for last in range(first, min(len(matches), first + _LONGEST_TITLE)):
                if stems[last] not in title_stems:
                    continue
                score = _overlap(stems[first : last + 1], title_stems)
                if score > best + 1e-9:
                    best, spans = score, []
                if score > best - 1e-9:
                    spans.append((number, matches[first].start(), matches[last].end()))
    return spans if best >= 0.45 else []


def _overlap(stems: Sequence[str], title_stems: Sequence[str]) -> float:
    content = [stem for stem in stems if stem not in _STOP]
    shared = len(set(content) & set(title_stems))
    return 2 * shared / (len(content) + len(set(title_stems)))


def _words(text: str) -> list[str]:
    return [match[0].lower() for match in _WORD.finditer(text)]


def _stem(word: str) -> str:
    word = word.removesuffix("'s")
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
