"""The embedded extractor: finds times and calendar events, and decides which were agreed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from textwrap import shorten

from cal_ai.events import Event
from cal_ai.extractors.answers import render_answer
from cal_ai.extractors.protocol import Extraction, Request
from cal_ai.extractors.reader.decide import confidence, decide, likely, read_twice
from cal_ai.extractors.reader.limits import TooLong, halves, length_of, read_relevant, refusal
from cal_ai.extractors.reader.mentions import Dialogue
from cal_ai.extractors.reader.network import MODEL, shared_network
from cal_ai.extractors.reader.thresholds import THRESHOLDS
from truemark.files import checksum
from truemark.signature import data_hash

LONGEST_TALK, _MOST_PARTS = 100_000, 16
"""Characters, about two hours of talk, and the parts of it that two processors read in 10 s."""
_LONGEST_QUOTE = 160
# Days are counted from the reference time, which must not leave the calendar.
_YEARS = range(2, 9990)


class ReaderExtractor:
    """A small learned reader: deterministic, offline and free."""

    @property
    def name(self) -> str:
        return "reader"

    @property
    def model(self) -> str | None:
        return None

    @property
    def identity(self) -> Mapping[str, str]:
        """The model and the thresholds, on which its answers depend."""
        return _identity()

    async def extract_events(self, request: Request) -> Extraction:
        events = read_events(request)
        return Extraction(events=events, usage=None, attempts=1, raw=render_answer(events))

    async def close(self) -> None:
        """Nothing is held open."""


@cache
def _identity() -> dict[str, str]:
    return {"weights": checksum(MODEL)[:12], "thresholds": data_hash(repr(THRESHOLDS))}


def read_events(request: Request) -> tuple[Event, ...]:
    """Return what the conversation changes in the owner's calendar."""
    if not request.transcript.utterances or request.now.year not in _YEARS:
        return ()
    if length_of(request.transcript) > LONGEST_TALK:
        raise refusal(request, LONGEST_TALK)
    try:
        return tuple(_read(request, _MOST_PARTS).values())
    except TooLong:
        raise refusal(request, LONGEST_TALK) from None


def _read(request: Request, parts: int) -> dict[object, Event]:
    """Return events by what they change or when they begin; read what is too long in halves."""
    talks = read_relevant(request)
    try:
        readings = [read_twice(shared_network(), talk) for talk in talks]
    except TooLong:
        if parts == 1:
            raise
        first, second = (_read(half, parts // 2) for half in halves(request))
        # Of two events about the same the later one counts; changes of the calendar come first.
        both = first | second
        return dict(sorted(both.items(), key=lambda item: item[1].action == "create"))
    events = likely(decide(*readings), THRESHOLDS)
    return {
        found.event.existing_event_id or found.event.start_time: replace(
            found.event,
            confidence=confidence(found, THRESHOLDS),
            reasoning=_quoted(talks[0], found.lines),
        )
        for found in events
    }


def _quoted(talk: Dialogue, lines: tuple[int, ...]) -> str:
    quotes = (
        f"{utterance.speaker}: {shorten(utterance.words, _LONGEST_QUOTE, placeholder=' …')}"
        for utterance in (talk.request.transcript.utterances[line] for line in lines)
    )
    return " / ".join(quotes) or "no single line says so"
