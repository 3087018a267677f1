"""Extraction by any language model: ask, read the answer, ask once more when it cannot be read."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping

from cal_ai.events import Event
from cal_ai.extractors.answers import AnswerError, parse_answer
from cal_ai.extractors.prompt import (
    BUILT_IN,
    Prompt,
    PromptTemplate,
    plain_prompt,
    prompt_fingerprint,
)
from cal_ai.extractors.protocol import Extraction, ExtractionFailed, LLMCallResult, Request
from cal_ai.extractors.retry import Caller, Tally


class LanguageModelExtractor(ABC):
    """What the providers share; each of them says how a single call is made."""

    def __init__(self, model: str, caller: Caller, template: PromptTemplate = BUILT_IN) -> None:
        self._model = model
        self._caller = caller
        self._template = template

    @property
    @abstractmethod
    def name(self) -> str: ...

    @property
    def model(self) -> str:
        return self._model

    @property
    def identity(self) -> Mapping[str, str]:
        """What answers depend on besides the model."""
        return {"prompt": prompt_fingerprint(self._template)}

    def prompt_for(self, request: Request) -> Prompt:
        """What the model is asked about a conversation."""
        return self._template.filled(request)

    @abstractmethod
    async def _call_api(self, prompt: Prompt) -> LLMCallResult:
        """Make one call; raises an error of `errors` or a `TransientError`."""

    @abstractmethod
    async def close(self) -> None: ...

    async def extract_events(self, request: Request) -> Extraction:
        """The events in a conversation with what they cost, failed attempts included."""
        tally = Tally()
        started_s = time.monotonic()
        try:
            events, raw = await self._ask_for_events(self.prompt_for(request), tally)
        except ExtractionFailed as failure:
            failure.usage = tally.usage
            failure.attempts = tally.attempts
            failure.latency_s = time.monotonic() - started_s - tally.paced_s
            raise
        latency_s = time.monotonic() - started_s - tally.paced_s
        return Extraction(events, tally.usage, tally.attempts, raw, latency_s)

    async def complete(self, prompt: str) -> LLMCallResult:
        """The model's answer to free text."""
        tally = Tally()
        result = await self._ask(plain_prompt(prompt), tally)
        return LLMCallResult(result.text, tally.usage)

    async def _ask_for_events(self, prompt: Prompt, tally: Tally) -> tuple[tuple[Event, ...], str]:
        result = await self._ask(prompt, tally)
        try:
            return parse_answer(result.text), result.text
        except AnswerError as error:
            corrected = prompt.corrected(result.text, str(error))
        result = await self._ask(corrected, tally)
        try:
            return parse_answer(result.text), result.text
        except AnswerError as error:
            raise ExtractionFailed(f"unusable answer, twice: {error}", raw=result.text) from error

    async def _ask(self, prompt: Prompt, tally: Tally) -> LLMCallResult:
        try:
            result = await self._caller.call(lambda: self._call_api(prompt), tally)
        except ExtractionFailed as failure:
            tally.usages.append(failure.usage)
            raise
        tally.usages.append(result.usage)
        # Half a surrogate pair, which JSON can spell, could be neither stored nor sent back.
        return LLMCallResult(result.text.encode("utf-8", "replace").decode(), result.usage)
