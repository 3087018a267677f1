"""The embedded extractor: find times and calendar events, and decide which were agreed."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from textwrap import shorten

from cal_ai.defaults import EMBEDDED
from cal_ai.events import Event
from cal_ai.extractors.answers import render_answer
from cal_ai.extractors.protocol import Extraction, Request
from cal_ai.extractors.reader.decide import confidence, decide, likely, read_each
from cal_ai.extractors.reader.limits import TooLong, halves, read_relevant
from cal_ai.extractors.reader.mentions import Dialogue
from cal_ai.extractors.reader.network import MODEL, shared_network
from cal_ai.extractors.reader.thresholds import THRESHOLDS
from truemark.files import checksum
from truemark.services.calls import CallFailed
from truemark.signature import data_hash

LONGEST_TALK = 100_000  # characters, about two hours of talk
_MOST_PARTS = 16  # parts; two processor cores read this many in 10 s
_LONGEST_QUOTE = 160
# Days are counted from the reference time, which must not leave the calendar.
_YEARS = range(2, 9990)


class ReaderExtractor:
    """A small learned reader: deterministic, offline and free."""

    name = EMBEDDED
    model = None

    @property
    def identity(self) -> Mapping[str, str]:
        """The model and the thresholds, on which answers depend."""
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
    utterances = request.transcript.utterances
    if not utterances or request.now.year not in _YEARS:
        return ()
    length = sum(len(speaker) + len(words) for speaker, words, _ in utterances)
    with suppress(TooLong):
        if length <= LONGEST_TALK:
            speaks = request.transcript.has_speaker(request.owner)
            return tuple(_read(request, _MOST_PARTS, speaks).values())
    raise CallFailed(
        f"the conversation is too long: {length:,} characters in {len(utterances):,} lines,"
        f" expected about {LONGEST_TALK:,} at most: give a part, or take an --extractor that"
        " reads more"
    )


def _read(request: Request, parts: int, speaks: bool) -> dict[object, Event]:
    """Return events by the calendar event they change or else their start; halve long talks."""
    talks = read_relevant(request)
    try:
        readings = read_each(shared_network(), talks)
    except TooLong:
        if parts == 1:
            raise
        first, second = (_read(half, parts // 2, speaks) for half in halves(request))
        # Of events with the same key the later one counts; changes of the calendar come first.
        both = first | second
        return dict(sorted(both.items(), key=lambda item: item[1].action == "create"))
    transcript = talks[0].request.transcript
    return {
        finding.event.existing_event_id or finding.event.start_time: replace(
            finding.event,
            confidence=confidence(
                finding, THRESHOLDS, is_clear=speaks and transcript.is_of_last_day(finding.lines)
            ),
            reasoning=_quoted(talks[0], finding.lines),
        )
        for finding in likely(decide(*readings), THRESHOLDS)
    }


def _quoted(talk: Dialogue, lines: tuple[int, ...]) -> str:
    quotes = (
        f"{utterance.speaker}: {shorten(utterance.words, _LONGEST_QUOTE, placeholder=' …')}"
        for utterance in (talk.request.transcript.utterances[line] for line in lines)
    )
    return " / ".join(quotes) or "no single line says so"
