"""Extraction by any language model: ask, read the answer, ask once more, and what that costs."""

from __future__ import annotations

import os
import time
from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from cal_ai.events import Event
from cal_ai.extractors.answers import AnswerError, parse_answer
from cal_ai.extractors.prompt import BUILT_IN, PromptTemplate, corrected, prompt_fingerprint
from cal_ai.extractors.protocol import Extraction, ExtractionFailed, Request, Usage
from truemark.errors import TruemarkError
from truemark.services.calls import Caller, LanguageModelClient, Prompt, Tally
from truemark.services.gemini import GeminiModel
from truemark.services.openai import OPENAI_URL, OpenAIModel
from truemark.services.settings import DEFAULT_GEMINI_MODEL

if TYPE_CHECKING:
    from genai_prices.types import PriceCalculation

# Only where the maker of a model also sells it: a local server may call its model anything.
_SELLERS = ("google", "openai")


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


def cost_usd(usage: Usage | None, model: str | None) -> float | None:
    """The price in US dollars of one answer; None when its tokens or its model are unknown.

    The price list is the one that the genai-prices package carries; nothing is fetched. Thinking
    tokens are paid as output. Prices can rise with the length of a prompt, so the cost of many
    answers is the sum of their costs, not the cost of their sum.
    """
    if usage is None or model is None or usage.prompt is None:
        return None
    if (output := _paid_as_output(usage)) is None:
        return None
    if not (tiers := _tiers(model.removeprefix("models/"))):
        return None
    tier = tiers[bisect_left(tiers, usage.prompt, key=_ABOVE) - 1]
    return float(tier.per_prompt_token * usage.prompt + tier.per_output_token * output + tier.fixed)


def _paid_as_output(usage: Usage) -> int | None:
    if usage.output is not None:
        return usage.output + (usage.thinking or 0)
    # An answer that ended while the model was still thinking has no output of its own.
    if usage.total is not None and usage.prompt is not None:
        return max(0, usage.total - usage.prompt)
    return None


class _Tier(NamedTuple):
    """The prices in US dollars for prompts of more than `above` tokens."""

    above: int
    per_prompt_token: Decimal
    per_output_token: Decimal
    fixed: Decimal


_ABOVE = attrgetter("above")


@cache
def _tiers(model: str) -> tuple[_Tier, ...]:
    """The tiers of the model's price, shortest prompts first; none if it is not on the list.

    Each comes from what the list asks for three answers: to have it work out the price of every
    answer would take longer than to score them.
    """
    for seller in _SELLERS:
        try:
            listed = _calculated(model, seller, 0, 0)
        except LookupError:
            continue
        except ModuleNotFoundError:  # not installed: what answers cost is not known
            break
        prices = vars(listed.model_price).values()
        starts = {tier.start for price in prices for tier in getattr(price, "tiers", ())}
        return tuple(_tier(model, seller, start) for start in sorted({-1, *starts}))
    return ()


def _tier(model: str, seller: str, above: int) -> _Tier:
    least = above + 1
    one, longer, wordier = (
        _calculated(model, seller, least + prompt, output).total_price
        for prompt, output in ((0, 0), (1, 0), (0, 1))
    )
    return _Tier(above, longer - one, wordier - one, one - least * (longer - one))


def _calculated(model: str, seller: str, prompt: int, output: int) -> PriceCalculation:
    from genai_prices import Usage as Tokens
    from genai_prices import calc_price

    tokens = Tokens(input_tokens=prompt, output_tokens=output)
    return calc_price(tokens, model, provider_id=seller)
