"""The command `run`: read a conversation, extract events, decide and change the calendar."""

from __future__ import annotations

import argparse
import asyncio
import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from zoneinfo import ZoneInfo

from cal_ai.applying.changes import Applier, transcript_id
from cal_ai.applying.decisions import DEFAULT_APPLY, admits, decide
from cal_ai.applying.dry_run import DryRun
from cal_ai.applying.journal import Earlier, Journal
from cal_ai.applying.outcomes import CHANGES, Outcome, outcome_facts, outcomes_text
from cal_ai.calendars.choosing import choose_calendar, data_folder, shown_calendar
from cal_ai.calendars.protocol import Calendar, Entry
from cal_ai.calendars.zones import machine_zone
from cal_ai.events import Confidence, ContextEvent, Event
from cal_ai.extractors.choosing import choice_line, choose_extractor, is_embedded
from cal_ai.extractors.prompt import context_lines
from cal_ai.extractors.protocol import Extractor, Request, extract_and_close
from cal_ai.settings import Settings, load_settings
from cal_ai.transcripts.conversation import BRACKETS, Transcript
from cal_ai.transcripts.dates import dating_line
from cal_ai.transcripts.reading import (
    NOBODY_SPEAKS,
    STANDARD_INPUT,
    foreign_language,
    form_line,
    load_transcript,
)
from truemark.command import inform, note, tell
from truemark.errors import TruemarkError
from truemark.imports import NotInstalled
from truemark.jsonlines import DAMAGED_SUFFIX
from truemark.jsontext import to_json
from truemark.services.calls import CallFailed
from truemark.text import counted

CONTEXT = timedelta(days=14)
_SPEAKERS_SHOWN = 5
_WARNINGS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Conversation:
    """One transcript, and everything that is needed to apply it."""

    transcript: Transcript
    owner: str
    now: datetime
    zone: ZoneInfo | None
    extractor: Extractor
    calendar: Calendar
    journal: Journal
    dry_run: bool = False
    again: bool = False
    verbose: bool = False
    apply: Confidence = DEFAULT_APPLY


def apply_command(options: argparse.Namespace) -> int:
    """Apply the changes of conversations and print them; return 1 if one failed, else 0."""
    settings = load_settings(os.environ, owner=options.owner)
    zone = settings.timezone or machine_zone(os.environ)
    several = len(options.files) > 1
    shown: list[tuple[Path, dict[str, object], tuple[Outcome, ...]]] = []
    status = 0
    for number, path in enumerate(options.files):
        try:
            heading, outcomes = _apply_file(path, options, settings, zone, first=not number)
        except TruemarkError as error:
            if not several:
                raise
            note(f"error: {error}")
            status = 1
            continue
        if any(outcome.result == "failed" for outcome in outcomes):
            status = 1
        shown.append((path, heading, outcomes))
    if options.format == "json":
        facts = [outcome_facts(outcomes, heading) for _, heading, outcomes in shown]
        tell(to_json({"runs": facts} if several else facts[0], indent=2) + "\n")
        return status
    texts = []
    for path, _, outcomes in shown:
        command = _command(options, path)
        text = outcomes_text(outcomes, dry_run=options.dry_run, command=command)
        texts.append(f"{path}\n\n{text}" if several else text)
    tell("\n".join(texts))
    return status


def _apply_file(
    path: Path,
    options: argparse.Namespace,
    settings: Settings,
    zone: ZoneInfo | None,
    *,
    first: bool,
) -> tuple[dict[str, object], tuple[Outcome, ...]]:
    """Apply one conversation; return the facts that head its outcomes, and the outcomes."""
    transcript = load_conversation(path)
    extractor = choose_extractor(
        options.extractor,
        settings,
        model=options.model,
        prompt=options.prompt,
        timeout_s=options.timeout,
    )
    calendar = _calendar(options, settings, zone)
    if first:
        inform(choice_line(options.extractor, options.model, settings, extractor))
    for line in _remarks(path, transcript, settings, extractor, verbose=options.verbose):
        inform(line)
    if transcript.dating and options.now is None:
        inform(f"{path}: {dating_line(transcript.dating)}")
    run = Conversation(
        transcript,
        settings.owner,
        reference_time(options.now, transcript, zone),
        zone,
        extractor,
        calendar,
        Journal(data_folder() / "applied.jsonl"),
        dry_run=options.dry_run,
        again=options.again,
        verbose=options.verbose,
        apply=options.apply or ("high" if is_embedded(extractor) else DEFAULT_APPLY),
    )
    try:
        outcomes = apply_transcript(run)
    finally:
        calendar.close()
    heading: dict[str, object] = {
        "file": path,
        "owner": run.owner,
        "calendar": calendar.name,
        "extractor": extractor.name,
        "model": extractor.model,
        "dry_run": run.dry_run,
        "apply": run.apply,
    }
    return heading, outcomes


def reference_time(
    given: datetime | None, transcript: Transcript, zone: ZoneInfo | None
) -> datetime:
    """Return the time that dates count from: `given`, else the last message's, else the present."""
    moment = given or (transcript.dating.last if transcript.dating else None)
    if moment is None:
        return datetime.now(zone).astimezone(zone)
    if moment.tzinfo is None and zone is not None:
        return moment.replace(tzinfo=zone)
    return moment.astimezone(zone)


def _calendar(options: argparse.Namespace, settings: Settings, zone: ZoneInfo | None) -> Calendar:
    """Open the calendar; a dry run without --calendar works without the calendar libraries."""
    try:
        calendar = choose_calendar(options.calendar, settings, zone, timeout_s=options.timeout)
        return DryRun(calendar) if options.dry_run else calendar
    except NotInstalled as missing:
        if not options.dry_run or options.calendar is not None:
            raise
        default = data_folder() / "calendar.ics"
        if default.exists():
            note(f"warning: {default} is not read: {missing}")
        return DryRun(None, f"ics:{default}")


def _remarks(
    path: Path, transcript: Transcript, settings: Settings, extractor: Extractor, *, verbose: bool
) -> Iterator[str]:
    """Tell how the conversation was read, whose calendar it is, and what may be wrong."""
    if transcript.form == BRACKETS:
        for number in transcript.skipped_lines:
            yield f"{path}:{number}: skipped, because nobody has spoken yet"
    if transcript.form != BRACKETS or verbose:
        yield f"{path}: {form_line(transcript)}"
    owner = f"owner: {settings.owner} ({settings.owner_reason})"
    if not transcript.has_speaker(settings.owner):
        others = _listed(transcript.speakers)
        speak = f"{others} do" if len(transcript.speakers) > 1 else f"only {others} does"
        yield f"{owner}, who does not speak; {speak}: --owner NAME says whose calendar it is"
    elif settings.owner_reason == "default":
        yield f"{owner}; --owner NAME says whose calendar it is"
    if is_embedded(extractor) and (language := foreign_language(transcript)):
        yield f"{path}: seems to be in {language}; the embedded extractor reads only English"


def _listed(names: Sequence[str]) -> str:
    shown = list(names[:_SPEAKERS_SHOWN])
    if len(names) > _SPEAKERS_SHOWN:
        shown.append(f"{len(names) - _SPEAKERS_SHOWN} others")
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))


def _command(options: argparse.Namespace, path: Path) -> str:
    """Return the command line without flags such as --dry-run and --apply."""
    calendar = None if options.calendar is None else shown_calendar(options.calendar)
    given = [("--owner", options.owner), ("--calendar", calendar)]
    given.append(("--now", options.now and options.now.isoformat()))
    given += [(f"--{name}", getattr(options, name)) for name in ("extractor", "model", "prompt")]
    flags = [part for flag, value in given if value is not None for part in (flag, str(value))]
    return shlex.join([*_program(), str(path), *flags])


def _program() -> list[str]:
    """Return the words that start this program where it is: `cal-ai`, its path, or by Python."""
    called = sys.argv[0]
    script = Path(called)
    if script.stem != "cal-ai":
        return [sys.orig_argv[0], "-m", "cal_ai"]
    return [script.name if shutil.which(script.name) == called else called]


def load_conversation(path: Path) -> Transcript:
    """Read the transcript in `path`; raise an error if nobody speaks in it."""
    transcript = load_transcript(path)
    if not transcript.utterances:
        name = "standard input" if path == STANDARD_INPUT else path
        raise TruemarkError(f"{name}: {NOBODY_SPEAKS}")
    return transcript


def apply_transcript(run: Conversation) -> tuple[Outcome, ...]:
    """Apply a transcript, unless it was applied before; return the outcome of each decision."""
    transcript = transcript_id(run.transcript, run.owner)
    calendar, journal = run.calendar, run.journal
    earlier = _earlier(run, transcript)
    if earlier.settled is not None and admits(earlier.settled, run.apply):
        inform(
            f"applied to {calendar.name} before, so nothing is changed; --again applies it again"
        )
        return tuple(earlier.changes.values())
    listing = calendar.coming(run.now, run.now + CONTEXT)
    for warning in listing.warnings[:_WARNINGS_SHOWN]:
        note(f"warning: {warning}")
    if (more := len(listing.warnings) - _WARNINGS_SHOWN) > 0:
        note(f"warning: {counted(more, 'more event')} of {calendar.name} cannot be read")
    events = _extract(run, as_context(listing.entries))
    decisions = [
        decide(event, target_of(event, listing.entries), run.now, run.zone, run.apply)
        for event in events
    ]
    if decisions and not run.dry_run:
        journal.require_writable()
    applier = Applier(calendar, transcript, list(listing.entries), earlier, run.now + CONTEXT)
    steps = applier.apply(decisions)
    outcomes: list[Outcome] = []
    while len(outcomes) < len(decisions):
        with calendar.changing():
            applied = list(islice(steps, calendar.changes_at_once))
        outcomes += (outcome for _, outcome in applied)
        changes = {key: outcome for key, outcome in applied if outcome.result in CHANGES}
        if changes and not run.dry_run:
            with _journal_errors_noted():
                journal.add(calendar, transcript, changes)
    changed = earlier.changes or any(outcome.result in CHANGES for outcome in outcomes)
    failed = any(outcome.result == "failed" for outcome in outcomes)
    if changed and not failed and not run.dry_run:
        with _journal_errors_noted():
            journal.settle(calendar, transcript, run.apply)
    return tuple(outcomes)


def _earlier(run: Conversation, transcript: str) -> Earlier:
    if run.again:
        return Earlier()
    journal = run.journal
    earlier = journal.earlier(run.calendar, transcript)
    if earlier.damaged:
        lines = "1 line is" if earlier.damaged == 1 else f"{earlier.damaged} lines are"
        note(f"warning: {journal.path}: {lines} damaged, so what was applied then is unknown")
        if not run.dry_run:
            with _journal_errors_noted():
                journal.set_damaged_aside()
                note(f"warning: kept aside in {journal.path}{DAMAGED_SUFFIX}")
    return earlier


@contextmanager
def _journal_errors_noted() -> Iterator[None]:
    try:
        yield
    except TruemarkError as error:
        note(f"warning: changes were made but not recorded: {error}")


def _extract(run: Conversation, context: tuple[ContextEvent, ...]) -> tuple[Event, ...]:
    if run.verbose:
        note(
            f"{run.extractor.name} reads {len(run.transcript.utterances)} utterances, and this"
            f" calendar:"
        )
        lines = context_lines(context) or "nothing planned in the coming 14 days"
        for line in lines.splitlines():
            note(f"  {line}")
    request = Request(run.transcript, run.owner, run.now, context)
    try:
        return asyncio.run(extract_and_close(run.extractor, request)).events
    except CallFailed as failure:
        raise TruemarkError(f"no events were extracted: {failure.reason}") from failure


def as_context(entries: Sequence[Entry]) -> tuple[ContextEvent, ...]:
    """Make context events of entries, in local time and numbered from 1 instead of their ids.

    Models confuse long ids, and real ids do not belong in a prompt.
    """
    return tuple(
        ContextEvent(
            number,
            entry.details.title,
            entry.details.start.replace(tzinfo=None),
            entry.details.end.replace(tzinfo=None),
            entry.details.location,
        )
        for number, entry in enumerate(entries, start=1)
    )


def target_of(event: Event, entries: Sequence[Entry]) -> Entry | None:
    """Return the entry that the event names by its number, if there is one."""
    number = event.existing_event_id
    return entries[number - 1] if number is not None and 1 <= number <= len(entries) else None
