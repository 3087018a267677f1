"""Prices of answers of language models, by the list in the package genai-prices."""

from __future__ import annotations

from contextlib import suppress
from functools import cache

from truemark.services.calls import Usage

# Only where the maker of a model also sells it: a local server may call its model anything.
_SELLERS = ("google", "openai")


def cost_usd(usage: Usage | None, model: str | None) -> float | None:
    """Return the price of one answer in US dollars; None when its tokens or model are unknown.

    Nothing is fetched: the list is the one in the installed package. Thinking tokens are paid as
    output. Prices can rise with the length of a prompt, so the cost of many answers is the sum of
    their costs, not the cost of their sum.
    """
    if usage is None or model is None or usage.prompt is None:
        return None
    if (output := _paid_as_output(usage)) is None:
        return None
    model = model.removeprefix("models/")
    seller = _seller(model)
    return None if seller is None else _price(usage.prompt, output, model, seller)


def _paid_as_output(usage: Usage) -> int | None:
    if usage.output is not None:
        return usage.output + (usage.thinking or 0)
    # An answer that ended while the model was still thinking has no output tokens.
    if usage.total is not None and usage.prompt is not None:
        return max(0, usage.total - usage.prompt)
    return None


@cache
def _seller(model: str) -> str | None:
    """Find who sells a model; None where it is not on the list, or there is no list."""
    for seller in _SELLERS:
        with suppress(LookupError, ModuleNotFoundError):
            _price(0, 0, model, seller)
            return seller
    return None


@cache  # a run asks twice for each answer: for its unit and for the total
def _price(prompt: int, output: int, model: str, seller: str) -> float:
    import genai_prices

    tokens = genai_prices.Usage(input_tokens=prompt, output_tokens=output)
    return float(genai_prices.calc_price(tokens, model, provider_id=seller).total_price)
