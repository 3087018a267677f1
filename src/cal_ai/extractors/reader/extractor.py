"""The embedded extractor: reads times and calendar events, and says which of them are agreed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from textwrap import shorten

from cal_ai.events import Event
from cal_ai.extractors.answers import render_answer
from cal_ai.extractors.protocol import Extraction, Request, TooLong
from cal_ai.extractors.reader.mentions import Dialogue, read_dialogue

LONGEST_TALK, _MOST_PARTS = 100_000, 16
"""Characters, some two hours of talk, and the parts of it that two processors read in 10 s."""
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
    try:
        return tuple(_read(request.within(LONGEST_TALK), _MOST_PARTS).values())
    except TooLong:
        raise request.refused(LONGEST_TALK) from None


def _read(request: Request, parts: int) -> dict[object, Event]:
    """The events by what they change or when they begin; what is too long is read in halves."""
    from cal_ai.extractors.reader.decide import confidence, decide, read_twice
    from cal_ai.extractors.reader.marks import MOST_READ
    from cal_ai.extractors.reader.network import shared_network
    from cal_ai.extractors.reader.thresholds import THRESHOLDS

    talk = read_dialogue(request.with_few_events(MOST_READ))
    try:
        found = decide(read_twice(shared_network(), talk), THRESHOLDS)
    except TooLong:
        if parts == 1:
            raise
        first, second = (_read(it, parts // 2) for it in request.halves())
        # Of two about the same the later one counts; changes of the calendar come first.
        return dict(sorted((first | second).items(), key=lambda it: it[1].action == "create"))
    return {
        it.event.existing_event_id or it.event.start_time: replace(
            it.event, confidence=confidence(it, THRESHOLDS), reasoning=_quoted(talk, it.lines)
        )
        for it in found
    }


def _quoted(talk: Dialogue, lines: tuple[int, ...]) -> str:
    said = (talk.request.transcript.utterances[it] for it in lines)
    quotes = (f"{it.speaker}: {shorten(it.words, _LONGEST_QUOTE, placeholder=' …')}" for it in said)
    return " / ".join(quotes) or "no single line says so"
