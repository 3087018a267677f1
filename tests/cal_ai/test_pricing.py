from __future__ import annotations

from contextlib import suppress

import pytest

from truemark.services.calls import Usage
from truemark.services.pricing import cost_usd

MILLION = 1_000_000
SELLERS = ("google", "openai")
# The price list knows tiers that begin above each of these.
AT_A_TIER = [start + apart for start in (100_000, 128_000, 200_000, 272_000) for apart in (0, 1, 2)]


@pytest.mark.parametrize(
    ("usage", "dollars"),
    [
        (Usage(100_000, 0, None, 100_000), 0.125),
        (Usage(0, 100_000, None, 100_000), 1.0),
        (Usage(0, 0, 100_000, 100_000), 1.0),
        (Usage(100_000, 20_000, 80_000, 200_000), 1.125),
        (Usage(100_000, None, 100_000, 200_000), 1.125),
        (Usage(0, 0, 0, 0), 0.0),
    ],
    ids=["input", "output", "thinking is output", "all", "cut while thinking", "nothing"],
)
def test_gemini_2_5_pro_costs_1_25_in_and_10_out_per_million(usage: Usage, dollars: float) -> None:
    assert cost_usd(usage, "gemini-2.5-pro") == pytest.approx(dollars)
    assert cost_usd(usage, "models/gemini-2.5-pro") == pytest.approx(dollars)


def test_a_prompt_beyond_200k_is_dearer() -> None:
    assert cost_usd(Usage(MILLION, 0, 0, MILLION), "gemini-2.5-pro") == pytest.approx(2.5)


@pytest.mark.parametrize("prompt", [0, 1, 977, *AT_A_TIER, MILLION + 7])
def test_every_model_costs_to_the_last_digit_what_the_price_list_says(prompt: int) -> None:
    from genai_prices.data import providers

    sellers = [provider for provider in providers if provider.id in SELLERS]
    for model in (model.id for seller in sellers for model in seller.models):
        for output in (0, 1, 65_537):
            cost = cost_usd(Usage(prompt, output), model)
            assert cost == listed_price(prompt, output, model), model


def listed_price(prompt: int, output: int, model: str) -> float | None:
    from genai_prices import Usage as Tokens
    from genai_prices import calc_price

    for seller in SELLERS:
        with suppress(LookupError):
            tokens = Tokens(input_tokens=prompt, output_tokens=output)
            return float(calc_price(tokens, model, provider_id=seller).total_price)
    return None


def test_models_of_openai_have_their_own_prices() -> None:
    cost = cost_usd(Usage(MILLION, 0, None, MILLION), "gpt-4o")

    assert cost == pytest.approx(2.5)


@pytest.mark.parametrize("model", ["llama3.2:3b", "smollm2", "gemini-unheard-of", "", None])
def test_the_cost_of_an_unknown_model_is_unknown_not_zero(model: str | None) -> None:
    assert cost_usd(Usage(1000, 1000, None, 2000), model) is None


@pytest.mark.parametrize("usage", [None, Usage(), Usage(prompt=10), Usage(total=10)])
def test_the_cost_of_unknown_tokens_is_unknown(usage: Usage | None) -> None:
    assert cost_usd(usage, "gemini-2.5-pro") is None
