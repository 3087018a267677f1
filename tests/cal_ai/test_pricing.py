from __future__ import annotations

import pytest

from cal_ai.extractors.protocol import Usage
from cal_ai.pricing import cost_usd

MILLION = 1_000_000


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


def test_models_of_openai_have_their_own_prices() -> None:
    cost = cost_usd(Usage(MILLION, 0, None, MILLION), "gpt-4o")

    assert cost == pytest.approx(2.5)


@pytest.mark.parametrize("model", ["llama3.2:3b", "smollm2", "gemini-unheard-of", "", None])
def test_the_cost_of_an_unknown_model_is_unknown_not_zero(model: str | None) -> None:
    assert cost_usd(Usage(1000, 1000, None, 2000), model) is None


@pytest.mark.parametrize("usage", [None, Usage(), Usage(prompt=10), Usage(total=10)])
def test_the_cost_of_unknown_tokens_is_unknown(usage: Usage | None) -> None:
    assert cost_usd(usage, "gemini-2.5-pro") is None
