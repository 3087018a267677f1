"""Answers on file, each stored the moment it arrives, so that none is paid for twice."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cal_ai.extractors.protocol import Request, Usage
from truemark import history
from truemark.signature import data_hash


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
    }


@dataclass(frozen=True, slots=True)
class Recording:
    """The answers in a file, by fingerprint; the answers themselves stay there until asked for."""

    path: Path
    offsets: Mapping[str, int]
    makers: frozenset[tuple[str, str | None]]
    warnings: tuple[str, ...]

    def find(self, fingerprint: str) -> Recorded | None:
        """The answer to exactly this question, put to the same model in the same words."""
        return self._at(self.offsets.get(fingerprint))

    def find_conversation(self, fingerprint: str) -> Recorded | None:
        """The answer for the same conversation, whoever was asked, in whatever words."""
        return self._at(self.offsets.get(_conversation(fingerprint)))

    def _at(self, offset: int | None) -> Recorded | None:
        record = None if offset is None else history.record_at(self.path, offset)
        return None if record is None else _recorded(record)


def open_recording(path: Path) -> Recording:
    """An index of the file; where it answers a question twice, the later answer counts."""
    offsets: dict[str, int] = {}
    makers: set[tuple[str, str | None]] = set()
    warnings: list[str] = []
    for offset, record in history.scan(path, warnings):
        answer = _recorded(record)
        if answer is None:
            warnings.append(f"{path}: the line at byte {offset} is no stored answer, skipped")
            continue
        offsets[answer.fingerprint] = offsets[_conversation(answer.fingerprint)] = offset
        makers.add((answer.extractor, answer.model))
    return Recording(path, offsets, frozenset(makers), tuple(warnings))


def _conversation(fingerprint: str) -> str:
    return fingerprint.partition("-")[0]


def _recorded(record: Mapping[str, object]) -> Recorded | None:
    match record:
        case {
            "sample": str(sample),
            "fingerprint": str(fingerprint),
            "extractor": str(extractor),
            "model": (str() | None) as model,
            "raw": str(raw),
            "latency_s": (int() | float()) as latency_s,
            "attempts": int(attempts),
        }:
            usage = _usage(record.get("usage"))
            return Recorded(
                sample, fingerprint, extractor, model, raw, usage, float(latency_s), attempts
            )
    return None


def _usage(counts: object) -> Usage | None:
    """The counts of a line; one that cannot be is unknown."""
    if not isinstance(counts, dict):
        return None
    prompt, output, thinking, total = (
        count if isinstance(count := counts.get(name), int) and count >= 0 else None
        for name in ("prompt", "output", "thinking", "total")
    )
    return Usage(prompt, output, thinking, total)
