"""What tokens cost, by the price list that the genai-prices package carries; nothing is fetched."""

from __future__ import annotations

from cal_ai.extractors.protocol import Usage

# Only where the maker of a model also sells it: a local server may call its model anything.
_SELLERS = ("google", "openai")


def cost_usd(usage: Usage | None, model: str | None) -> float | None:
    """Return the price in US dollars of one answer; None when its tokens or its model are unknown.

    Thinking tokens are paid as output. Prices can rise with the length of a prompt, so the cost
    of many answers is the sum of their costs, not the cost of their sum.
    """
    if usage is None or model is None or usage.prompt is None:
        return None
    if (output := _paid_as_output(usage)) is None:
        return None
    from genai_prices import Usage as Tokens
    from genai_prices import calc_price

    tokens = Tokens(input_tokens=usage.prompt, output_tokens=output)
    for seller in _SELLERS:
        try:
            priced = calc_price(tokens, model.removeprefix("models/"), provider_id=seller)
        except LookupError:
            continue
        return float(priced.total_price)
    return None


def _paid_as_output(usage: Usage) -> int | None:
    if usage.output is not None:
        return usage.output + (usage.thinking or 0)
    # An answer that ended while the model was still thinking has no output of its own.
    if usage.total is not None and usage.prompt is not None:
        return max(0, usage.total - usage.prompt)
    return None
