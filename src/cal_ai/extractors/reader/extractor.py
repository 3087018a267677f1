"""The embedded extractor: reads times and calendar events, and says which of them are agreed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from textwrap import shorten

from cal_ai.events import ContextEvent, Event
from cal_ai.extractors.answers import render_answer
from cal_ai.extractors.protocol import Extraction, Request
from cal_ai.extractors.reader.mentions import Dialogue, read_dialogue

_LONGEST_QUOTE = 160
# Days are counted from the reference time, which must not leave the calendar.
_YEARS = range(2, 9990)


class ReaderExtractor:
    """Deterministic, offline and free; what it finds carries the confidence that it earned."""

    @property
    def name(self) -> str:
        return "reader"

    @property
    def model(self) -> str | None:
        return None

    @property
    def identity(self) -> Mapping[str, str]:
        """What tells this reader from others: its model and its thresholds."""
        return _identity()

    async def extract_events(self, request: Request) -> Extraction:
        """The events of a conversation."""
        events = read_events(request)
        return Extraction(events=events, usage=None, attempts=1, raw=render_answer(events))

    async def close(self) -> None:
        """Nothing is held open."""


@cache
def _identity() -> dict[str, str]:
    from cal_ai.extractors.reader.network import MODEL
    from cal_ai.extractors.reader.thresholds import THRESHOLDS
    from truemark.signature import checksum, data_hash

    return {"weights": checksum(MODEL)[:12], "thresholds": data_hash(repr(THRESHOLDS))}


def read_events(request: Request) -> tuple[Event, ...]:
    """What the conversation changes in the owner's calendar."""
    if not request.transcript.utterances or request.now.year not in _YEARS:
        return ()
    from cal_ai.extractors.reader.decide import confidence, decide, read_twice
    from cal_ai.extractors.reader.network import shared_network
    from cal_ai.extractors.reader.thresholds import THRESHOLDS

    talk = read_dialogue(_with_few_events(request))
    reading = read_twice(shared_network(), talk)
    return tuple(
        replace(
            found.event,
            confidence=confidence(found, THRESHOLDS),
            reasoning=_quoted(talk, found.lines),
        )
        for found in decide(reading, THRESHOLDS)
    )


def _with_few_events(request: Request) -> Request:
    """The request with the events of its calendar that are most likely spoken of, in order."""
    from cal_ai.extractors.reader.marks import MOST_READ

    if len(request.context) <= MOST_READ:
        return request
    spoken = set(re.findall(r"\w{3,}", request.transcript.as_text().lower()))

    def rank(event: ContextEvent) -> tuple[int, float]:
        shared = len(spoken & set(re.findall(r"\w{3,}", event.summary.lower())))
        start, now = (it.replace(tzinfo=None) for it in (event.start, request.now))
        return -shared, abs((start - now).total_seconds())

    chosen = {event.id for event in sorted(request.context, key=rank)[:MOST_READ]}
    return replace(request, context=tuple(it for it in request.context if it.id in chosen))


def _quoted(talk: Dialogue, lines: tuple[int, ...]) -> str:
    said = (talk.request.transcript.utterances[it] for it in lines)
    quotes = (f"{it.speaker}: {shorten(it.words, _LONGEST_QUOTE, placeholder=' …')}" for it in said)
    return " / ".join(quotes) or "no single line says so"
