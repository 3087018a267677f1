"""One conversation on its way to a calendar: transcript, context, extraction, decisions."""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cal_ai.context import CalendarContext, CalendarEntry, number_entries
from cal_ai.events import Event, event_fields
from cal_ai.extractors.errors import ExtractionFailed
from cal_ai.extractors.protocol import Extractor, Request
from cal_ai.extractors.retry import CallPolicy
from cal_ai.settings import Settings, choose_extractor, load_settings
from cal_ai.transcript import Transcript, load_transcript
from truemark.errors import TruemarkError
from truemark.jsontext import to_json


@dataclass(frozen=True, slots=True)
class Decision:
    """A calendar change and the planned event it is about, where it names one that exists."""

    event: Event
    entry: CalendarEntry | None


def run_command(options: argparse.Namespace) -> int:
    """Show what the conversation changes in the calendar."""
    if not options.dry_run:
        raise TruemarkError("applying events to a calendar is not available yet; use --dry-run")
    settings = load_settings(os.environ, owner=options.owner)
    transcript = load_conversation(options.file)
    extractor = choose_extractor(
        options.extractor,
        settings,
        model=options.model,
        policy=CallPolicy(timeout_s=options.timeout),
    )
    decisions = asyncio.run(_decide(extractor, transcript, settings, number_entries(())))
    show = decisions_json if options.format == "json" else decisions_text
    print(show(decisions), end="")
    return 0


def load_conversation(path: Path) -> Transcript:
    """The transcript in `path`; one in which nobody speaks is refused."""
    transcript = load_transcript(path)
    if not transcript.utterances:
        raise TruemarkError(f"{path}: nobody speaks in it, expected lines like [Speaker]: words")
    return transcript


async def decide(
    extractor: Extractor, request: Request, context: CalendarContext
) -> tuple[Decision, ...]:
    """The changes that the conversation makes, each with the planned event it is about."""
    try:
        extraction = await extractor.extract(request)
    except ExtractionFailed as failure:
        raise TruemarkError(f"no events were extracted: {failure.reason}") from failure
    return tuple(
        Decision(event, context.entry(event.existing_event_id)) for event in extraction.events
    )


async def _decide(
    extractor: Extractor, transcript: Transcript, settings: Settings, context: CalendarContext
) -> tuple[Decision, ...]:
    request = Request(transcript, settings.owner, settings.now(), context.events)
    try:
        return await decide(extractor, request, context)
    finally:
        await extractor.close()


def decisions_text(decisions: Sequence[Decision]) -> str:
    """Each decision with its time, reasoning and assumptions, then how many there are."""
    parts = ["\n".join(_lines(decision)) + "\n" for decision in decisions]
    noun = "decision" if len(decisions) == 1 else "decisions"
    return "\n".join([*parts, f"{len(decisions)} {noun}, nothing was changed\n"])


def decisions_json(decisions: Sequence[Decision]) -> str:
    """The decisions in the form of a model's answer."""
    fields = [event_fields(decision.event) for decision in decisions]
    return to_json({"decisions": fields}, indent=2) + "\n"


def _lines(decision: Decision) -> Iterator[str]:
    event = decision.event
    yield f"{event.action} {event.title}"
    start, end = (
        time and time.isoformat(" ", "minutes") for time in (event.start_time, event.end_time)
    )
    yield f"  time        {start or 'unknown'}{f' to {end}' if end else ''}"
    if event.location:
        yield f"  place       {event.location}"
    if event.attendees:
        yield f"  with        {', '.join(event.attendees)}"
    yield f"  confidence  {event.confidence}"
    yield f"  reasoning   {event.reasoning or 'none given'}"
    for assumption in event.assumptions:
        yield f"  assumption  {assumption}"
