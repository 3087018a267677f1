"""Answers from a recording, in place of a language model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cal_ai.extractors.answers import AnswerError, parse_answer
from cal_ai.extractors.protocol import Extraction, ExtractionFailed, Request
from cal_ai.extractors.recording import open_recording, request_fingerprint
from truemark.errors import TruemarkError


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
            raise ExtractionFailed(f"no stored answer{which} in {self._recording.path}")
        try:
            events = parse_answer(answer.raw)
        except AnswerError as error:
            raise ExtractionFailed(
                f"unusable answer: {error}",
                usage=answer.usage,
                attempts=answer.attempts,
                raw=answer.raw,
            ) from error
        return Extraction(events, answer.usage, answer.attempts, answer.raw, answer.latency_s)

    async def close(self) -> None:
        """Nothing is held open between calls."""
