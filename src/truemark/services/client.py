"""The base of the clients of language models."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

from truemark.services.calls import CallFailed, LLMCallResult, Prompt, Tally, plain_prompt
from truemark.services.retry import Caller


class LanguageModelClient(ABC):
    """Asks one language model; each provider says how a single call is made."""

    def __init__(self, model: str, caller: Caller) -> None:
        self.model = model
        self._caller = caller

    @abstractmethod
    async def call_api(self, prompt: Prompt) -> LLMCallResult:
        """Make one call and return its answer; raises the errors of `calls`."""

    @abstractmethod
    async def close(self) -> None: ...

    async def complete(self, prompt: str) -> LLMCallResult:
        """Return the model's answer to free text."""
        tally = Tally()
        result = await self.ask(plain_prompt(prompt), tally)
        return replace(result, usage=tally.usage)

    async def ask(self, prompt: Prompt, tally: Tally) -> LLMCallResult:
        """Return the model's answer to a prompt, retried as the caller's policy allows."""
        try:
            result = await self._caller.call(lambda: self.call_api(prompt), tally)
        except CallFailed as failure:
            tally.usages.append(failure.usage)
            raise
        tally.usages.append(result.usage)
        # Half a surrogate pair, which JSON can spell, could be neither stored nor sent back.
        return replace(result, text=result.text.encode("utf-8", "replace").decode())
