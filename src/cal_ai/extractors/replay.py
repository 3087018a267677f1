"""Read stored answers, to resume a run or to replay them instead of asking a model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from cal_ai.defaults import MOST_REPEATS
from cal_ai.extractors.answers import AnswerError, parse_answer
from cal_ai.extractors.protocol import Extraction, Request
from truemark.errors import TruemarkError
from truemark.jsonlines import read_record, scan
from truemark.jsontext import read_value
from truemark.services.calls import CallFailed, Usage, token_count
from truemark.signature import data_hash


@dataclass(frozen=True, slots=True)
class Recorded:
    """One stored answer: its sample, who was asked what, the answer and what it took.

    The bounds exclude damaged lines, since JSON allows numbers of thousands of digits. An unusable
    answer is stored for people to read, and asked for again when the run is resumed.
    """

    sample: str
    fingerprint: str
    extractor: str
    model: str | None
    raw: str
    usage: Usage | None
    latency_s: Annotated[float, Meta(ge=0, lt=1e9)]
    attempts: Annotated[int, Meta(ge=0, lt=10**6)]
    repeat: Annotated[int, Meta(ge=0, lt=MOST_REPEATS)] = 0
    identity: Mapping[str, str] = field(default_factory=dict)
    unusable: bool = False

    def extraction(self) -> Extraction:
        """Parse the answer again; raises `AnswerError` if it is unusable."""
        events = parse_answer(self.raw)
        return Extraction(events, self.usage, self.attempts, self.raw, self.latency_s)


_CONTEXT_ENCODER = json.JSONEncoder(default=str)
_constant_hash = cache(data_hash)  # for values that all samples of a run share


def request_fingerprint(
    request: Request, extractor: str, model: str | None, identity: Mapping[str, str] | None = None
) -> str:
    """Hash a request as `CONVERSATION-SYSTEM`.

    The second part covers the extractor, its model, and what else its answers depend on.
    """
    words = (part for item in sorted((identity or {}).items()) for part in item)
    return f"{conversation_fingerprint(request)}-{_constant_hash(extractor, model or '', *words)}"


def conversation_fingerprint(request: Request) -> str:
    """Hash transcript, owner, reference time and calendar."""
    return data_hash(
        request.transcript.as_text(),
        request.owner,
        f"{request.now.isoformat()} {request.now.tzinfo}",
        _CONTEXT_ENCODER.encode(
            [
                (event.id, event.summary, event.start, event.end, event.location)
                for event in request.context
            ]
        ),
    )


def recorded_fields(answer: Recorded) -> dict[str, object]:
    """Return the fields of a line in a recording, without optional ones that are empty."""
    left_out = ("repeat", "identity", "unusable")
    fields = asdict(answer)
    return {name: value for name, value in fields.items() if value or name not in left_out}


@dataclass(frozen=True, slots=True)
class Recording:
    """An index of the answers in a file; an answer itself is read when it is needed.

    `offsets` are the offsets of lines, for each repeat by the fingerprints of request and of
    conversation. `identities` are what the answers depend on besides the model, such as the prompt.
    `repeats` is how often a question was asked at most.
    """

    path: Path
    offsets: Mapping[int, Mapping[str, int]]
    makers: frozenset[tuple[str, str | None]]
    identities: tuple[Mapping[str, str], ...]
    repeats: int
    warnings: tuple[str, ...]

    def has(self, fingerprint: str, repeat: int) -> bool:
        """Whether this repeat of the very same request was answered."""
        return fingerprint in self.offsets.get(repeat, ())

    def find(self, fingerprint: str, repeat: int = 0) -> Recorded | None:
        """Find an answer by the fingerprint of a request or of a conversation."""
        offset = self.offsets.get(repeat, {}).get(fingerprint)
        record = None if offset is None else read_record(self.path, offset)
        return None if record is None else _recorded(record)


def open_recording(path: Path) -> Recording:
    """Index the file; if it has two answers to one request, the later one counts."""
    offsets: dict[int, dict[str, int]] = {}
    makers: set[tuple[str, str | None]] = set()
    identities: dict[str, Mapping[str, str]] = {}
    warnings: list[str] = []
    for offset, record in scan(path, warnings):
        answer = _recorded(record)
        if answer is None:
            warnings.append(f"{path}: the line at byte {offset} is not a stored answer, skipped")
            continue
        of_repeat = offsets.setdefault(answer.repeat, {})
        if not answer.unusable:
            of_repeat[answer.fingerprint] = offset
        of_repeat[answer.fingerprint.partition("-")[0]] = offset
        makers.add((answer.extractor, answer.model))
        identities.setdefault(str(sorted(answer.identity.items())), answer.identity)
    return Recording(
        path=path,
        offsets=offsets,
        makers=frozenset(makers),
        identities=tuple(identities.values()),
        repeats=1 + max(offsets, default=0),
        warnings=tuple(warnings),
    )


def _recorded(record: Mapping[str, object]) -> Recorded | None:
    """Read a line of a recording; None if it is damaged or of another kind."""
    identity = record.get("identity")  # older recordings have none
    pairs = identity.items() if isinstance(identity, dict) else ()
    tolerated = {
        "usage": _usage(record.get("usage")),
        "identity": {name: value for name, value in pairs if isinstance(value, str)},
    }
    try:
        return read_value(Recorded, {**record, **tolerated}, "stored answer")
    except TruemarkError:
        return None


def _usage(counts: object) -> Usage | None:
    """Read the token counts in a line; None stands for a count that cannot be right."""
    if not isinstance(counts, dict):
        return None
    prompt, output, thinking, total = (
        token_count(counts.get(name)) for name in ("prompt", "output", "thinking", "total")
    )
    return Usage(prompt, output, thinking, total)


class ReplayExtractor:
    """Returns for each conversation the stored answer, with what it took at the time.

    Answers are found by conversation, so a recording stays useful when the prompt has changed.
    """

    def __init__(self, path: Path) -> None:
        if not path.exists():
            raise TruemarkError(f"{path}: no such recording; name a file that a run has written")
        self.recording = open_recording(path)
        makers = sorted(f"{name} {model or ''}".strip() for name, model in self.recording.makers)
        if not makers:
            raise TruemarkError(
                f"{path}: no stored answers in it; name a file that a run has written"
            )
        if len(makers) > 1:
            raise TruemarkError(
                f"{path}: answers of {', '.join(makers)} in one file;"
                " to replay them, keep only the lines of one model"
            )
        ((self.recorded_by, self.model),) = self.recording.makers
        self.name = "replay"

    @property
    def identity(self) -> Mapping[str, str]:
        """What the answers depend on besides the model; different values are joined with `+`."""
        values: dict[str, set[str]] = {}
        for identity in self.recording.identities:
            for name, value in identity.items():
                values.setdefault(name, set()).add(value)
        return {name: "+".join(sorted(different)) for name, different in values.items()}

    async def extract_events(self, request: Request) -> Extraction:
        answer = self.recording.find(conversation_fingerprint(request), request.repeat)
        if answer is None:
            which = f" of repeat {request.repeat + 1}" if request.repeat else ""
            raise CallFailed(f"no stored answer{which} in {self.recording.path}")
        try:
            return answer.extraction()
        except AnswerError as error:
            raise CallFailed(
                f"unusable answer: {error}",
                usage=answer.usage,
                attempts=answer.attempts,
                raw=answer.raw,
            ) from error

    async def close(self) -> None:
        """Nothing is held open between answers."""
