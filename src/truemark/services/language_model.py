"""A language model that answers one prompt after the other, whoever serves it."""

from __future__ import annotations

from abc import ABC, abstractmethod

from truemark.services.protocol import CallFailed, LLMCallResult, Prompt, plain_prompt
from truemark.services.retry import Caller, Tally


class LanguageModelClient(ABC):
    """What the providers share; each of them says how a single call is made."""

    def __init__(self, model: str, caller: Caller) -> None:
        self._model = model
        self._caller = caller

    @property
    def model(self) -> str:
        return self._model

    @abstractmethod
    async def _call_api(self, prompt: Prompt) -> LLMCallResult:
        """The answer to one call; raises an error of `protocol` or a `TransientError`."""

    @abstractmethod
    async def close(self) -> None: ...

    async def complete(self, prompt: str) -> LLMCallResult:
        """The model's answer to free text."""
        tally = Tally()
        result = await self.ask(plain_prompt(prompt), tally)
        return LLMCallResult(result.text, tally.usage)

    async def ask(self, prompt: Prompt, tally: Tally) -> LLMCallResult:
        """The model's answer to a prompt, asked again as often as the caller has patience."""
        try:
            result = await self._caller.call(lambda: self._call_api(prompt), tally)
        except CallFailed as failure:
            tally.usages.append(failure.usage)
            raise
        tally.usages.append(result.usage)
        # Half a surrogate pair, which JSON can spell, could be neither stored nor sent back.
        return LLMCallResult(result.text.encode("utf-8", "replace").decode(), result.usage)
