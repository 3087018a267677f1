"""Label conversations: an extractor drafts events, a page corrects them, sidecars are written.

A page edits {"sidecar": the file without its events, "events": [{"id": …, "fields": …}]}. A place
to look at is the id of a proposed event, or `WHOLE`: to confirm that no event is missing.
"""

from __future__ import annotations

import asyncio
import os
import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import itemgetter
from pathlib import Path
from typing import Any, get_args

from cal_ai.benchmark.excerpts import quoted_lines
from cal_ai.benchmark.pairing import pair_events
from cal_ai.benchmark.samples import (
    SIDECAR_SUFFIX,
    UNCATEGORIZED,
    transcript_path,
    transcript_stems,
)
from cal_ai.benchmark.sidecar import ExpectedEvent, Level, parse_sidecar
from cal_ai.events import Action, Event
from cal_ai.extractors.choosing import choose_extractor
from cal_ai.extractors.protocol import Extractor, extract_and_close, identity_of
from cal_ai.settings import DEFAULT_OWNER, load_settings
from cal_ai.transcripts.conversation import Transcript
from cal_ai.transcripts.reading import LARGEST_TRANSCRIPT, NOBODY_SPEAKS, parse_transcript
from truemark.command import note
from truemark.counts import Counts
from truemark.errors import TruemarkError, os_reason
from truemark.files import read_text
from truemark.jsontext import parse_json, to_json
from truemark.labelling.desk import Desk, Material, Task
from truemark.labelling.review import load_review
from truemark.labelling.server import serve
from truemark.labelling.storage import (
    Annotation,
    LabelOptions,
    Workspace,
    content_digest,
    done_by_all,
)
from truemark.records import Finding
from truemark.services.calls import CallFailed

WHOLE = "whole"
SETTINGS = "settings"
_EDITED = ("owner", "reference_datetime", "tolerance", "calendar_context")
_FIELDS = (
    *("action", "title", "start_time", "end_time", "location", "attendees_contain"),
    *("existing_event_id_required", "existing_event_id", "lines"),
)
_REMARKS = ("confidence", "reasoning", "lines")
_CONFIDENCE = ("low", "medium", "high")
_MOST_CONFIDENT = {"high": 0, "medium": 1, "low": 2}
_DATE = re.compile(r"(?<!\d)(20\d\d)-(\d\d)-(\d\d)(?:[T_ ](\d\d)[:.-]?(\d\d))?")
Fields = dict[str, Any]
Content = Mapping[str, Any]


def _listed(system: str, proposed: Mapping[str, Any]) -> list[Fields]:
    """Return the events of a system with the ids that the page uses."""
    fields = [event["fields"] for event in proposed["events"]]
    return [
        {"id": f"{system}-{number}-{content_digest(to_json(event))[:6]}", "fields": event}
        for number, event in enumerate(fields)
    ]


def _compared(fields: Fields) -> Fields:
    return {name: value for name, value in fields.items() if value and name != "lines"}


def _from_finding(value: object) -> Fields | None:
    """Turn the event of a finding into fields of a sidecar."""
    if not isinstance(value, dict):
        return None
    fields: Fields = {name: item for name, item in value.items() if name in _FIELDS}
    for name in ("start_time", "end_time"):
        if isinstance(fields.get(name), str):
            fields[name] = _moment(datetime.fromisoformat(fields[name]))
    if isinstance(value.get("attendees"), str):
        people = [person.strip() for person in value["attendees"].split(",")]
        fields["attendees_contain"] = [person for person in people if person]
    return fields


def expected_fields(event: Event) -> Fields:
    """Turn an extracted event into the fields of a sidecar."""
    fields: Fields = {
        "action": event.action,
        "title": event.title,
        "start_time": _moment(event.start_time),
        "end_time": _moment(event.end_time),
        "location": event.location,
        "attendees_contain": list(event.attendees),
        "existing_event_id": event.existing_event_id,
    }
    return {name: value for name, value in fields.items() if value}


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def sample_id(name: str) -> str:
    """Return the id of a conversation in the benchmark."""
    return name if "/" in name else f"{UNCATEGORIZED}/{name}"


@dataclass(slots=True)
class ConversationTask(Task):
    """The conversations of a folder for a label page; subclasses make the drafts."""

    title = "cal-ai label"
    noun = "conversation"
    assets = Path(__file__).parent / "label_page"

    owner: str = field(default=DEFAULT_OWNER, kw_only=True)
    workspace: Workspace | None = field(default=None, kw_only=True)

    @abstractmethod
    def begin(self, systems: Mapping[str, Any], settings: Fields) -> tuple[Fields, list[str]]:
        """Choose the content to begin with, and the places to look at, in order."""

    def text(self, name: str) -> str:
        return read_text(transcript_path(self.folder, name), LARGEST_TRANSCRIPT)

    def _settings(self, name: str, transcript: Transcript) -> Fields:
        """Take owner, time and calendar from the annotation or else the gold, or guess them."""
        annotation = self.workspace.read(name) if self.workspace else None
        if annotation is not None:
            settings: Fields = annotation.content["sidecar"]
            return settings
        if gold := self.read_gold(name):
            known = gold["sidecar"]
            # An annotator may know the circumstances, not the truth.
            return {key: known[key] for key in _EDITED if key in known}
        speakers = transcript.speakers
        owners = [name for name in speakers if transcript.is_owner(name, self.owner)]
        owner = next(iter((*owners, *speakers)), self.owner)
        dating = transcript.dating
        moment = dating.last if dating else _guessed_moment(transcript_path(self.folder, name))
        return {
            "owner": owner,
            "reference_datetime": moment.isoformat(),
            "tolerance": "moderate",
            "calendar_context": [],
        }

    def material(self, name: str, systems: Mapping[str, Any] | None) -> Material:
        """Split the conversation into lines, and add remarks on each proposed event."""
        transcript = parse_transcript(self.text(name))
        if not transcript.utterances:
            file = transcript_path(self.folder, name)
            raise TruemarkError(f"{file}: {NOBODY_SPEAKS}")
        content, places = self.begin(systems or {}, self._settings(name, transcript))
        remarks: Fields = {}
        questions: list[Fields] = []
        for system, given in (systems or {}).items():
            questions += given.get("questions", ())
            for listed, event in zip(_listed(system, given), given["events"], strict=True):
                known = {key: event[key] for key in _REMARKS if key in event}
                remarks[listed["id"]] = {"from": system, **known}
        shown = {
            "title": name,
            "lines": [
                {"line": said.line, "speaker": said.speaker, "words": said.words}
                for said in transcript.utterances
            ],
            "speakers": list(transcript.speakers),
            "actions": get_args(Action),
            "levels": get_args(Level),
            "given": remarks,
            "questions": questions,
        }
        return Material(shown, content, tuple(places))

    def check(self, name: str, content: Content) -> None:
        """Refuse content that does not have the two parts of a sidecar."""
        sidecar, events = content.get("sidecar"), content.get("events")
        if not isinstance(sidecar, dict) or not isinstance(events, list):
            raise TruemarkError("content must have a sidecar and events, got something else")
        for event in events:
            shape = isinstance(event, dict) and isinstance(event.get("id"), str)
            if not shape or not isinstance(event.get("fields"), dict):
                raise TruemarkError("an event must have an id and fields, got something else")

    def carry_over(self, annotation: Annotation, text: str) -> Annotation:
        """Keep the events of a changed text; the text has to be looked at as a whole again."""
        return replace(annotation, seen=tuple(p for p in annotation.seen if p != WHOLE))

    def renew(self, annotation: Annotation, material: Material) -> Content:
        """Replace the proposals that nobody looked at by those of the new draft."""
        seen, given = set(annotation.seen), material.shown["given"]
        assert isinstance(given, dict)
        made = re.compile(r".+-\d+-[0-9a-f]{6}")
        kept = [
            event
            for event in annotation.content["events"]
            if event["id"] in seen or not made.fullmatch(event["id"])
        ]
        known = {event["id"] for event in kept} | seen
        new = [event for event in material.content["events"] if event["id"] not in known]
        return {**annotation.content, "events": [*kept, *new]}

    def gold_path(self, name: str) -> Path:
        return self.folder / f"{name}{SIDECAR_SUFFIX}"

    def gold(self, name: str, content: Content) -> str:
        """Return the text of the sidecar; fields that annotators do not edit stay as they are."""
        gold = self.read_gold(name)
        known = {} if gold is None else gold["sidecar"]
        kept = {key: value for key, value in known.items() if key not in _EDITED}
        return sidecar_text(name, {**content, "sidecar": {**content["sidecar"], **kept}})

    def read_gold(self, name: str) -> Content | None:
        path = self.gold_path(name)
        if not path.exists():
            return None
        text = read_text(path, LARGEST_TRANSCRIPT)
        parse_sidecar(text, path)
        sidecar: Fields = parse_json(text, str(path))
        events = sidecar.pop("expected_events")
        numbered = [{"id": f"gold{number}", "fields": event} for number, event in enumerate(events)]
        return {"sidecar": sidecar, "events": numbered}

    def counts(
        self, name: str, systems: Mapping[str, Any], content: Content
    ) -> Mapping[str, Counts]:
        """Score the proposals of each system against the events that were kept."""
        sidecar = parse_sidecar(sidecar_text(name, content), name)
        counts = {}
        for system, given in systems.items():
            proposed = events_of(given["events"], name)
            counts[system] = Counts.of(
                matched=sum(pair.is_match for pair in pair_events(proposed, sidecar)),
                predicted=len(proposed),
                expected=len(sidecar.expected_events),
            )
        return counts


@dataclass(slots=True)
class ExtractorTask(ConversationTask):
    """Drafts by an extractor: every event it finds, the least confident first."""

    open_extractor: Callable[[], Extractor]

    @property
    def made_by(self) -> str:
        extractor = self.open_extractor()
        named = extractor.name, extractor.model, sorted(identity_of(extractor).items())
        return content_digest(repr(named))

    def draft(self, name: str) -> Mapping[str, Any]:
        transcript = parse_transcript(self.text(name))
        settings = self._settings(name, transcript)
        sidecar = parse_sidecar(to_json({**settings, "expected_events": []}), name)
        extractor = self.open_extractor()
        try:
            request = sidecar.request(transcript)
            extraction = asyncio.run(extract_and_close(extractor, request))
        except CallFailed as failure:
            raise TruemarkError(f"{name}: {failure.reason}") from failure
        events = [
            {
                "fields": expected_fields(event),
                "confidence": event.confidence,
                "reasoning": event.reasoning,
                "lines": [
                    transcript.utterances[place].line
                    for place in sorted(quoted_lines(transcript, event.reasoning))
                ],
            }
            for event in extraction.events
        ]
        return {extractor.name: {"events": events}}

    def begin(self, systems: Mapping[str, Any], settings: Fields) -> tuple[Fields, list[str]]:
        events = [event for name, given in systems.items() for event in _listed(name, given)]
        stated = [event for given in systems.values() for event in given["events"]]
        ranks = [_CONFIDENCE.index(event.get("confidence", "low")) for event in stated]
        order = sorted(zip(ranks, events, strict=True), key=itemgetter(0))
        places = [*(event["id"] for _, event in order), WHOLE]
        return {"sidecar": settings, "events": events}, places


@dataclass(slots=True)
class AdjudicationTask(ConversationTask):
    """Two annotators instead of an extractor: events of both stay, the others are asked about."""

    readers: Sequence[Workspace]

    def draft(self, name: str) -> Mapping[str, Any]:
        given = {}
        for reader in self.readers:
            annotation = reader.read(name)
            assert annotation is not None, "only conversations that both marked are asked for"
            events = [{"fields": event["fields"]} for event in annotation.content["events"]]
            given[reader.annotator] = {"events": events, "sidecar": annotation.content["sidecar"]}
        return given

    def begin(self, systems: Mapping[str, Any], settings: Fields) -> tuple[Fields, list[str]]:
        if not systems:  # the draft is being made
            return {"sidecar": settings, "events": []}, []
        (first, one), (second, other) = systems.items()
        rest = _listed(second, other)
        events, asked = [], []
        for event in _listed(first, one):
            same = [
                twin for twin in rest if _compared(twin["fields"]) == _compared(event["fields"])
            ]
            events.append(event)
            if same:
                rest.remove(same[0])
            else:
                asked.append(event["id"])
        asked += [event["id"] for event in rest]
        if any(one["sidecar"].get(key) != other["sidecar"].get(key) for key in _EDITED):
            asked.append(SETTINGS)
        return {"sidecar": one["sidecar"], "events": [*events, *rest]}, asked


@dataclass(slots=True)
class ReviewTask(ConversationTask):
    """The mistakes of a run, most confident first, each a question about the truth."""

    system: str
    questions: Mapping[str, Finding]

    def draft(self, name: str) -> Mapping[str, Any]:
        questions = [
            {
                "id": question,
                "kind": finding.kind,
                "expected": _from_finding(finding.expected),
                "got": _from_finding(finding.got),
                "confidence": finding.confidence or "",
                "note": finding.note,
            }
            for question, finding in self.questions.items()
            if finding.unit == sample_id(name)
        ]
        return {self.system: {"events": [], "questions": questions}}

    def begin(self, systems: Mapping[str, Any], settings: Fields) -> tuple[Fields, list[str]]:
        asked = [question["id"] for given in systems.values() for question in given["questions"]]
        return {"sidecar": settings, "events": []}, asked


def review_task(
    folder: Path, names: Iterable[str], source: Path, *, owner: str, workspace: Workspace
) -> ReviewTask:
    """Ask about the mistakes of a run, or those marked on a report page, most confident first."""
    run = load_review(source)
    mistakes = [finding for finding in run.findings if finding.mistake and not finding.repeat]
    mistakes.sort(key=lambda finding: _MOST_CONFIDENT.get(finding.confidence or "", 3))
    questions = {f"question-{number}": finding for number, finding in enumerate(mistakes)}
    asked = {finding.unit for finding in mistakes}
    names = [name for name in names if sample_id(name) in asked]
    numbers = {sample_id(name): number for number, name in enumerate(names)}
    walk = [
        (numbers[finding.unit], question)
        for question, finding in questions.items()
        if finding.unit in numbers
    ]
    return ReviewTask(
        folder, names, run.system.name, questions, owner=owner, workspace=workspace, walk=walk
    )


def sidecar_text(name: str, content: Content) -> str:
    """Return the text of the sidecar; raise a `TruemarkError` if the benchmark cannot read it."""
    fields = dict(content["sidecar"])
    last = {
        key: fields.pop(key) for key in ("mock_llm_response", "memory_context") if key in fields
    }
    events = [_tidied(event["fields"]) for event in content["events"]]
    written = to_json({**fields, "expected_events": events, **last}, indent=2) + "\n"
    parse_sidecar(written, f"{name}{SIDECAR_SUFFIX}")
    return written


def _tidied(fields: Fields) -> Fields:
    """Put the fields of an event in order, without empty ones."""
    return {
        name: fields[name] for name in (*_FIELDS, *fields) if fields.get(name) not in (None, "", [])
    }


def _guessed_moment(path: Path) -> datetime:
    """Take the date of a conversation from its name, or else from the time of its file."""
    if date := _DATE.search(path.stem):
        year, month, day, hour, minute = (int(part) if part else None for part in date.groups())
        try:
            return datetime(
                year or 0, month or 0, day or 0, 12 if hour is None else hour, minute or 0
            )
        except ValueError:
            pass
    return datetime.fromtimestamp(path.stat().st_mtime).replace(second=0, microsecond=0)


def events_of(proposed: Sequence[Mapping[str, Any]], where: str) -> tuple[Event, ...]:
    """Turn the proposals of a draft into extracted events, so that they can be paired."""
    plain = []
    for proposal in proposed:
        fields = _tidied(proposal["fields"]).items()
        # Numbers of calendar events are checked in the sidecar.
        plain.append({name: value for name, value in fields if not name.startswith("existing")})
    sidecar = parse_sidecar(to_json({"expected_events": plain}), where, is_draft=True)
    return tuple(
        extracted_event(event, proposal["fields"].get("existing_event_id"))
        for event, proposal in zip(sidecar.expected_events, proposed, strict=True)
    )


def extracted_event(event: ExpectedEvent, number: object) -> Event:
    return Event(
        action=event.action,
        title=event.title,
        start_time=event.start_time,
        end_time=event.end_time,
        location=event.location,
        attendees=event.attendees_contain,
        existing_event_id=number if isinstance(number, int) else None,
    )


def _labelled_names(folder: Path) -> list[str]:
    """List the conversations; warn of those that leave their names no room for a sidecar's."""
    names = []
    for name in transcript_stems(folder):
        try:
            with suppress(FileNotFoundError):
                (folder / f"{name}{SIDECAR_SUFFIX}").lstat()
        except OSError as error:
            note(f"warning: {name}: is left out: its sidecar cannot exist: {os_reason(error)}")
        else:
            names.append(name)
    return names


def label_conversations(
    options: LabelOptions,
    extractor: str | None,
    model: str | None,
    prompt: Path | None,
    timeout_s: float | None,
) -> int:
    """Serve the page that the options ask for until Ctrl-C."""
    folder = options.folder
    settings = load_settings(os.environ)

    def open_extractor() -> Extractor:
        return choose_extractor(
            extractor, settings, model=model, prompt=prompt, timeout_s=timeout_s
        )

    names, owner = _labelled_names(folder), settings.owner
    task: ConversationTask
    workspace = options.workspace
    if options.adjudicate:
        readers = [Workspace(folder, name) for name in options.adjudicate]
        both = done_by_all(names, readers)
        task = AdjudicationTask(folder, both, readers, owner=owner, workspace=workspace)
    elif options.review:
        task = review_task(folder, names, options.review, owner=owner, workspace=workspace)
    else:
        task = ExtractorTask(folder, names, open_extractor, owner=owner, workspace=workspace)
    if not task.names:
        raise TruemarkError(f"{folder}: none of its conversations can be labelled")
    desk = Desk(task, workspace, options.round_name)
    return serve(desk, open_browser=options.open_browser)
