"""What a run is going to cost, as far as that can be known before the first call."""

from __future__ import annotations

import json
from collections.abc import Sequence

from cal_ai.benchmark.asking import fingerprints
from cal_ai.benchmark.samples import Sample
from cal_ai.extractors.language_model import LanguageModelExtractor, cost_usd
from cal_ai.extractors.protocol import Usage
from cal_ai.extractors.replay import Recording
from truemark.services.protocol import Prompt

# Of English prose; tokenizers differ by a fifth or so.
_CHARACTERS_PER_TOKEN = 4


def announcement(
    samples: Sequence[Sample],
    extractor: LanguageModelExtractor,
    repeats: int,
    resumed: Recording | None,
) -> str:
    """One line on the calls that are to be made, their prompts, and what those cost."""
    asked = fingerprints(samples, extractor)
    calls, tokens, cost, known = 0, 0, 0.0, True
    for sample, fingerprint in zip(samples, asked, strict=True):
        missing = repeats
        if resumed is not None:
            missing -= sum(resumed.has(fingerprint, repeat) for repeat in range(repeats))
        if sample.fault is not None or not missing:
            continue
        prompt = prompt_tokens(extractor.prompt_for(sample.request))
        price = cost_usd(Usage(prompt, 0, 0, prompt), extractor.model)
        calls, tokens = calls + missing, tokens + missing * prompt
        cost, known = cost + missing * (price or 0.0), known and price is not None
    price_of_prompts = f"about ${cost:.2f}" if known else "an unknown price"
    return (
        f"{repeats} repeats of {len(samples)} samples: {calls} calls, about {tokens} prompt tokens"
        f" for {price_of_prompts}; what the answers cost beside that is not known before"
    )


def prompt_tokens(prompt: Prompt) -> int:
    """About how many tokens a prompt has, its schema included."""
    texts = [prompt.system or "", *(turn.text for turn in prompt.turns)]
    texts.append("" if prompt.schema is None else json.dumps(prompt.schema))
    narrow = sum(character.isascii() for text in texts for character in text)
    wide = sum(map(len, texts)) - narrow
    return narrow // _CHARACTERS_PER_TOKEN + wide
