"""Candidates for events: the different times in a conversation, and pairs of a time and a day."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from cal_ai.extractors.reader.limits import TooLong
from cal_ai.extractors.reader.mentions import Dialogue, Mention, MentionKind, Value

NONE = -1
# A time and a day that are never named within this many lines of each other are not paired.
_FARTHEST = 14
_MOST_PAIRS, _MOST_MENTIONS = 600, 800
_TIMES = ("clock", "part")


@dataclass(frozen=True, slots=True)
class Node:
    """One time with all its mentions, which are indices into the mentions of the talk."""

    kind: MentionKind
    value: Value
    mentions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TimeOnDay:
    """A clock time or part of the day on a day, as indices of nodes; NONE for one that is missing.

    `near` are the mentions of the two that are closest to each other, `apart` lines apart.
    """

    when: int
    day: int
    near: tuple[int, int]
    apart: int


@dataclass(frozen=True, slots=True)
class Candidates:
    """The nodes of a talk, and the pairs that may be new events."""

    nodes: tuple[Node, ...]
    pairs: tuple[TimeOnDay, ...]

    def spoken(self, talk: Dialogue, node: int) -> Mention | None:
        """Return the most detailed mention of a node; None for NONE."""
        if node == NONE:
            return None
        return max((talk.mentions[place] for place in self.nodes[node].mentions), key=_detail)


def find_candidates(talk: Dialogue) -> Candidates:
    if len(talk.mentions) > _MOST_MENTIONS:  # each time is paired with each day
        raise TooLong
    places: dict[tuple[MentionKind, Value], list[int]] = defaultdict(list)
    for place, mention in enumerate(talk.mentions):
        places[mention.kind, mention.value].append(place)
    nodes = tuple(Node(*key, tuple(mentions)) for key, mentions in places.items())
    times = [NONE, *(place for place, node in enumerate(nodes) if node.kind in _TIMES)]
    days = [NONE, *(place for place, node in enumerate(nodes) if node.kind == "day")]
    pairs = [
        _pair(talk.mentions, nodes, when, day)
        for when in times
        for day in days
        if (when, day) != (NONE, NONE)
    ]
    near = sorted((pair for pair in pairs if pair.apart <= _FARTHEST), key=lambda pair: pair.apart)
    return Candidates(nodes, tuple(near[:_MOST_PAIRS]))


def _pair(mentions: Sequence[Mention], nodes: Sequence[Node], when: int, day: int) -> TimeOnDay:
    if NONE in (when, day):
        last = nodes[max(when, day)].mentions[-1]
        return TimeOnDay(when, day, (NONE, last) if when == NONE else (last, NONE), 0)
    near = min(
        ((time, on) for time in nodes[when].mentions for on in nodes[day].mentions),
        key=lambda pair: (abs(mentions[pair[0]].line - mentions[pair[1]].line), -pair[0]),
    )
    return TimeOnDay(when, day, near, abs(mentions[near[0]].line - mentions[near[1]].line))


def _detail(mention: Mention) -> tuple[bool, bool, bool, bool, int]:
    clock = mention.clock
    certain, ends = (clock.certain, clock.until is not None) if clock else (False, False)
    return mention.last is not None, not mention.loose, certain, ends, mention.line
