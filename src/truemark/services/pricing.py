"""What answers of language models cost, by the price list that genai-prices carries."""

from __future__ import annotations

from bisect import bisect_left
from decimal import Decimal
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from truemark.services.calls import Usage

if TYPE_CHECKING:
    from genai_prices.types import PriceCalculation

# Only where the maker of a model also sells it: a local server may call its model anything.
_SELLERS = ("google", "openai")


def cost_usd(usage: Usage | None, model: str | None) -> float | None:
    """Return the price of one answer in US dollars; None when its tokens or model are unknown.

    Nothing is fetched: the list is the one in the installed package. Thinking tokens are paid as
    output. Prices can rise with the length of a prompt, so the cost of many
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
    """Return the price tiers of a model, shortest prompts first; none if it is not on the list.

    Each tier is derived from the prices of three answers: asking the list for the price of every
    answer would take longer than scoring them.
    """
    for seller in _SELLERS:
        try:
            listed = _calculated(model, seller, 0, 0)
        except LookupError:
            continue
        except ModuleNotFoundError:  # not installed: the cost is unknown
            break
        prices = vars(listed.model_price).values()
        starts = {tier.start for price in prices for tier in getattr(price, "tiers", ())}
        return tuple(_tier(model, seller, start) for start in sorted({-1, *starts}))
    return ()


def _tier(model: str, seller: str, above: int) -> _Tier:
    least = above + 1
    least_price, longer, wordier = (
        _calculated(model, seller, least + prompt, output).total_price
        for prompt, output in ((0, 0), (1, 0), (0, 1))
    )
    per_prompt_token = longer - least_price
    return _Tier(
        above,
        per_prompt_token,
        wordier - least_price,
        least_price - least * per_prompt_token,
    )


def _calculated(model: str, seller: str, prompt: int, output: int) -> PriceCalculation:
    import genai_prices

    tokens = genai_prices.Usage(input_tokens=prompt, output_tokens=output)
    return genai_prices.calc_price(tokens, model, provider_id=seller)
