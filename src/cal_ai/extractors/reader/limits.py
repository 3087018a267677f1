"""How much of a conversation and its calendar the reader takes in at once."""

from __future__ import annotations

import re
from dataclasses import replace

from cal_ai.events import ContextEvent
from cal_ai.extractors.protocol import Request
from cal_ai.transcripts.conversation import Transcript
from truemark.services.calls import CallFailed


class TooLong(Exception):  # noqa: N818  # a reason to read less at once
    """A conversation has more in it than is read at once."""


def length_of(transcript: Transcript) -> int:
    """Count the characters of what is said and of the speakers' names."""
    return sum(len(speaker) + len(words) for speaker, words, _ in transcript.utterances)


def refusal(request: Request, most: int) -> CallFailed:
    """Make the failure that says that the conversation is too long."""
    length, lines = length_of(request.transcript), len(request.transcript.utterances)
    return CallFailed(
        f"the conversation is too long: {length:,} characters in {lines:,} lines, expected"
        f" about {most:,} at most: give a part, or take an --extractor that reads more"
    )


def halves(request: Request) -> tuple[Request, Request]:
    """Split a request into one for each half of the conversation."""
    utterances = request.transcript.utterances
    middle = len(utterances) // 2
    first, second = Transcript(utterances[:middle]), Transcript(utterances[middle:])
    return replace(request, transcript=first), replace(request, transcript=second)


def with_few_events(request: Request, most: int) -> Request:
    """Keep the calendar events that the conversation most likely mentions, in their order."""
    if len(request.context) <= most:
        return request
    spoken = set(re.findall(r"\w{3,}", request.transcript.as_text().lower()))

    def rank(event: ContextEvent) -> tuple[int, float]:
        shared = len(spoken & set(re.findall(r"\w{3,}", event.summary.lower())))
        start, now = event.start.replace(tzinfo=None), request.now.replace(tzinfo=None)
        return -shared, abs((start - now).total_seconds())

    chosen = {event.id for event in sorted(request.context, key=rank)[:most]}
    return replace(request, context=tuple(event for event in request.context if event.id in chosen))
