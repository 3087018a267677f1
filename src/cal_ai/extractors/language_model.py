"""Extraction by any language model: ask, read the answer, ask once more when it cannot be read."""

from __future__ import annotations

import os
import time
from abc import abstractmethod
from collections.abc import Mapping

from cal_ai.events import Event
from cal_ai.extractors.answers import AnswerError, parse_answer
from cal_ai.extractors.prompt import BUILT_IN, PromptTemplate, corrected, prompt_fingerprint
from cal_ai.extractors.protocol import Extraction, ExtractionFailed, Request
from truemark.errors import TruemarkError
from truemark.services.gemini import GeminiModel
from truemark.services.language_model import LanguageModelClient
from truemark.services.openai import OPENAI_URL, OpenAIModel
from truemark.services.protocol import Prompt
from truemark.services.retry import Caller, Tally
from truemark.services.settings import DEFAULT_GEMINI_MODEL


class LanguageModelExtractor(LanguageModelClient):
    """A language model that is asked for events in the words of a template."""

    _template: PromptTemplate = BUILT_IN

    @property
    @abstractmethod
    def name(self) -> str: ...

    @property
    def identity(self) -> Mapping[str, str]:
        """What answers depend on besides the model."""
        return {"prompt": prompt_fingerprint(self._template)}

    def prompt_for(self, request: Request) -> Prompt:
        """What the model is asked about a conversation."""
        return self._template.filled(request)

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

    async def _ask_for_events(self, prompt: Prompt, tally: Tally) -> tuple[tuple[Event, ...], str]:
        result = await self.ask(prompt, tally)
        try:
            return parse_answer(result.text), result.text
        except AnswerError as error:
            again = corrected(prompt, result.text, str(error))
        result = await self.ask(again, tally)
        try:
            return parse_answer(result.text), result.text
        except AnswerError as error:
            raise ExtractionFailed(f"unusable answer, twice: {error}", raw=result.text) from error


class GeminiClient(LanguageModelExtractor, GeminiModel):
    """A Gemini model; without a key, the one in the environment is taken."""

    def __init__(
        self,
        api_key: str | None = None,
        model: str = DEFAULT_GEMINI_MODEL,
        *,
        base_url: str | None = None,
        caller: Caller | None = None,
        template: PromptTemplate = BUILT_IN,
    ) -> None:
        key = api_key or os.environ.get("GEMINI_API_KEY")
        if not key:
            raise TruemarkError("no key for Gemini: give api_key, or set GEMINI_API_KEY")
        GeminiModel.__init__(self, key, model, base_url=base_url, caller=caller)
        self._template = template

    @property
    def name(self) -> str:
        return "gemini"


class OpenAIClient(LanguageModelExtractor, OpenAIModel):
    """A model of a server that speaks OpenAI's chat completions."""

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        base_url: str = OPENAI_URL,
        caller: Caller | None = None,
        template: PromptTemplate = BUILT_IN,
    ) -> None:
        OpenAIModel.__init__(self, model, api_key=api_key, base_url=base_url, caller=caller)
        self._template = template

    @property
    def name(self) -> str:
        return "openai"
