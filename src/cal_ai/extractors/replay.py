"""Answers on file, so that none is paid for twice, and replayed in place of a language model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from cal_ai.extractors.answers import AnswerError, parse_answer
from cal_ai.extractors.protocol import Extraction, Request
from truemark import jsonlines
from truemark.errors import TruemarkError
from truemark.services.calls import CallFailed, Usage, token_count
from truemark.signature import data_hash

MOST_REPEATS = 1_000


@dataclass(frozen=True, slots=True)
class Recorded:
    """One answer as it came: for which sample, what was asked of whom, and what it took."""

    sample: str
    fingerprint: str
    extractor: str
    model: str | None
    raw: str
    usage: Usage | None
    latency_s: float
    attempts: int
    repeat: int = 0
    identity: Mapping[str, str] = field(default_factory=dict)


# Beyond these a line is damaged; numbers of thousands of digits are valid JSON.
_LONGEST_LATENCY_S = 1e9
_MOST_ATTEMPTS = 10**6
_TEXTS = ("sample", "fingerprint", "extractor", "raw")
_CONTEXT_ENCODER = json.JSONEncoder(default=str)
_constant_hash = cache(data_hash)  # for what is the same for all samples of a run


def request_fingerprint(
    request: Request, extractor: str, model: str | None, identity: Mapping[str, str] | None = None
) -> str:
    """Two hashes, `conversation-asked`.

    The first stands for what is to be read: transcript, owner, reference time and calendar. The
    second stands for who is asked, and for what its answers depend on, such as the prompt.
    """
    conversation = (
        request.transcript.as_text(),
        request.owner,
        f"{request.now.isoformat()} {request.now.tzinfo}",
        _CONTEXT_ENCODER.encode(
            [(it.id, it.summary, it.start, it.end, it.location) for it in request.context]
        ),
    )
    words = (part for item in sorted((identity or {}).items()) for part in item)
    asked = _constant_hash(extractor, model or "", *words)
    return f"{data_hash(*conversation)}-{asked}"


def recorded_fields(answer: Recorded) -> dict[str, object]:
    """The answer in the form of its line in a recording."""
    usage = answer.usage
    return {
        "sample": answer.sample,
        "fingerprint": answer.fingerprint,
        "extractor": answer.extractor,
        "model": answer.model,
        "raw": answer.raw,
        "usage": usage
        and {
            "prompt": usage.prompt,
            "output": usage.output,
            "thinking": usage.thinking,
            "total": usage.total,
        },
        "latency_s": answer.latency_s,
        "attempts": answer.attempts,
        **({"repeat": answer.repeat} if answer.repeat else {}),
        **({"identity": dict(answer.identity)} if answer.identity else {}),
    }


@dataclass(frozen=True, slots=True)
class Recording:
    """The answers in a file, by fingerprint; the answers themselves stay there until asked for.

    `offsets` are those of their lines, for each repeat by question and by conversation.
    `identities` are what the answers depend on besides the model, such as the prompt; `repeats` is
    how often a question was asked, at most.
    """

    path: Path
    lines: jsonlines.RecordReader
    offsets: Mapping[int, Mapping[str, int]]
    makers: frozenset[tuple[str, str | None]]
    identities: tuple[Mapping[str, str], ...]
    repeats: int
    warnings: tuple[str, ...]

    def has(self, fingerprint: str, repeat: int = 0) -> bool:
        """Whether exactly this question was answered that often before."""
        return fingerprint in self.offsets.get(repeat, ())

    def find(self, fingerprint: str, repeat: int = 0) -> Recorded | None:
        """The answer to exactly this question, put to the same model in the same words."""
        return self._at(fingerprint, repeat)

    def find_conversation(self, fingerprint: str, repeat: int = 0) -> Recorded | None:
        """The answer for the same conversation, whoever was asked, in whatever words."""
        return self._at(_conversation(fingerprint), repeat)

    def _at(self, key: str, repeat: int) -> Recorded | None:
        offset = self.offsets.get(repeat, {}).get(key)
        record = None if offset is None else self.lines.at(offset)
        return None if record is None else _recorded(record)


def open_recording(path: Path) -> Recording:
    """An index of the file; where it answers a question twice, the later answer counts."""
    offsets: dict[int, dict[str, int]] = {}
    makers: set[tuple[str, str | None]] = set()
    identities: dict[str, Mapping[str, str]] = {}
    warnings: list[str] = []
    for offset, record in jsonlines.scan(path, warnings):
        answer = _recorded(record)
        if answer is None:
            warnings.append(f"{path}: the line at byte {offset} is no stored answer, skipped")
            continue
        own = offsets.setdefault(answer.repeat, {})
        own[answer.fingerprint] = own[_conversation(answer.fingerprint)] = offset
        makers.add((answer.extractor, answer.model))
        identities.setdefault(str(sorted(answer.identity.items())), answer.identity)
    repeats = 1 + max(offsets, default=0)
    return Recording(
        path=path,
        lines=jsonlines.RecordReader(path),
        offsets=offsets,
        makers=frozenset(makers),
        identities=tuple(identities.values()),
        repeats=repeats,
        warnings=tuple(warnings),
    )


def _conversation(fingerprint: str) -> str:
    return fingerprint.partition("-")[0]


def _recorded(record: Mapping[str, object]) -> Recorded | None:
    sample, fingerprint, extractor, raw = map(record.get, _TEXTS)
    model, latency_s, attempts = map(record.get, ("model", "latency_s", "attempts"))
    repeat = record.get("repeat", 0)
    if not (
        isinstance(sample, str)
        and isinstance(fingerprint, str)
        and isinstance(extractor, str)
        and isinstance(raw, str)
        and ("model" in record and (model is None or isinstance(model, str)))
        and isinstance(latency_s, int | float)
        and 0 <= latency_s < _LONGEST_LATENCY_S
        and isinstance(attempts, int)
        and 0 <= attempts < _MOST_ATTEMPTS
        and type(repeat) is int  # true is no number
        and 0 <= repeat < MOST_REPEATS
    ):
        return None
    usage, who = _usage(record.get("usage")), _identity(record.get("identity"))
    took = (float(latency_s), attempts)
    return Recorded(sample, fingerprint, extractor, model, raw, usage, *took, repeat, who)


def _identity(value: object) -> dict[str, str]:
    """The texts of a line's identity; it has none in recordings of before."""
    found = value if isinstance(value, dict) else {}
    return {name: text for name, text in found.items() if isinstance(text, str)}


def _usage(counts: object) -> Usage | None:
    """The counts of a line; one that cannot be is unknown."""
    if not isinstance(counts, dict):
        return None
    prompt, output, thinking, total = (
        token_count(counts.get(name)) for name in ("prompt", "output", "thinking", "total")
    )
    return Usage(prompt, output, thinking, total)


class ReplayExtractor:
    """Gives each conversation the answer that one model once gave, with what it took then.

    Answers are found by conversation, so a recording stays of use when the prompt has changed.
    """

    def __init__(self, path: Path) -> None:
        if not path.exists():
            raise TruemarkError(f"{path}: no such recording; name a file that a run has written")
        self._recording = open_recording(path)
        makers = sorted(f"{name} {model or ''}".strip() for name, model in self._recording.makers)
        if not makers:
            raise TruemarkError(
                f"{path}: no stored answers in it; name a file that a run has written"
            )
        if len(makers) > 1:
            raise TruemarkError(
                f"{path}: answers of {', '.join(makers)} in one file;"
                " to replay them, keep the lines of one model only"
            )
        ((self.recorded_by, self._model),) = self._recording.makers

    @property
    def name(self) -> str:
        return "replay"

    @property
    def model(self) -> str | None:
        return self._model

    @property
    def path(self) -> Path:
        return self._recording.path

    @property
    def identity(self) -> Mapping[str, str]:
        """What the answers depend on besides the model; the values of all where they differ."""
        found: dict[str, list[str]] = {}
        for one in self._recording.identities:
            for name, value in one.items():
                found.setdefault(name, []).append(value)
        return {name: "+".join(sorted(set(values))) for name, values in found.items()}

    @property
    def repeats(self) -> int:
        """How often each conversation was asked about, at most."""
        return self._recording.repeats

    @property
    def warnings(self) -> tuple[str, ...]:
        """Lines of the recording that could not be read."""
        return self._recording.warnings

    async def extract_events(self, request: Request) -> Extraction:
        fingerprint = request_fingerprint(request, self.recorded_by, self._model)
        answer = self._recording.find_conversation(fingerprint, request.repeat)
        if answer is None:
            which = f" of repeat {request.repeat + 1}" if request.repeat else ""
            raise CallFailed(f"no stored answer{which} in {self._recording.path}")
        try:
            events = parse_answer(answer.raw)
        except AnswerError as error:
            raise CallFailed(
                f"unusable answer: {error}",
                usage=answer.usage,
                attempts=answer.attempts,
                raw=answer.raw,
            ) from error
        return Extraction(events, answer.usage, answer.attempts, answer.raw, answer.latency_s)

    async def close(self) -> None:
        """The file is closed when nobody has the recording any more."""
