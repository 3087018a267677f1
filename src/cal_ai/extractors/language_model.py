"""Extract events with a language model; if its answer is unusable, ask once more."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

from cal_ai.events import Event
from cal_ai.extractors.answers import AnswerError, parse_answer
from cal_ai.extractors.prompt import BUILT_IN, PromptTemplate, corrected, prompt_fingerprint
from cal_ai.extractors.protocol import Extraction, Request
from truemark.errors import TruemarkError
from truemark.services.calls import CallFailed, LLMCallResult, Prompt, Tally
from truemark.services.client import LanguageModelClient
from truemark.services.models import DEFAULT_GEMINI_MODEL
from truemark.services.retry import Caller


class LanguageModelExtractor:
    """Asks a language model for events with a prompt from a template."""

    def __init__(
        self, name: str, client: LanguageModelClient, template: PromptTemplate = BUILT_IN
    ) -> None:
        self.name = name
        self.model = client.model
        self._client = client
        self._template = template

    @property
    def identity(self) -> Mapping[str, str]:
        """The prompt, on which answers depend besides the model."""
        return {"prompt": prompt_fingerprint(self._template)}

    def prompt_for(self, request: Request) -> Prompt:
        return self._template.filled(request)

    async def extract_events(self, request: Request) -> Extraction:
        """Return the events of a conversation and their cost, including failed attempts."""
        tally = Tally()
        started_s = time.monotonic()
        try:
            events, raw = await self._ask_for_events(self.prompt_for(request), tally)
        except CallFailed as failure:
            failure.usage = tally.usage
            failure.attempts = tally.attempts
            failure.latency_s = time.monotonic() - started_s - tally.paced_s
            raise
        latency_s = time.monotonic() - started_s - tally.paced_s
        return Extraction(events, tally.usage, tally.attempts, raw, latency_s)

    async def complete(self, prompt: str) -> LLMCallResult:
        """Return the model's answer to a prompt in free text."""
        return await self._client.complete(prompt)

    async def close(self) -> None:
        await self._client.close()

    async def _call_api(self, prompt: Prompt) -> LLMCallResult:
        return await self._client.call_api(prompt)

    async def _ask_for_events(self, prompt: Prompt, tally: Tally) -> tuple[tuple[Event, ...], str]:
        result = await self._client.ask(prompt, tally)
        try:
            return parse_answer(result.text), result.text
        except AnswerError as error:
            again = corrected(prompt, result.text, str(error))
        result = await self._client.ask(again, tally)
        try:
            return parse_answer(result.text), result.text
        except AnswerError as error:
            reason = f"unusable answer, twice: {error}"
            if result.cut_off is not None:
                limit = f"the model's limit of output (finish_reason {result.cut_off})"
                reason += f"; it was cut off at {limit}"
            raise CallFailed(reason, raw=result.text) from error


class GeminiClient(LanguageModelExtractor):
    """Extracts with a Gemini model; the default key is that of the environment."""

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
        from truemark.services.gemini import GeminiModel

        client = GeminiModel(key, model, base_url=base_url, caller=caller)
        super().__init__("gemini", client, template)


class OpenAIClient(LanguageModelExtractor):
    """Extracts with a model of a server for OpenAI's chat completions."""

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        caller: Caller | None = None,
        template: PromptTemplate = BUILT_IN,
    ) -> None:
        from truemark.services.openai import OpenAIModel

        client = OpenAIModel(model, api_key=api_key, base_url=base_url, caller=caller)
        super().__init__("openai", client, template)
