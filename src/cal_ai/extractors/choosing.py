"""The extractor that `--extractor` and the settings amount to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cal_ai.settings import DEFAULT_GEMINI_MODEL
from truemark.errors import TruemarkError
from truemark.extras import require

if TYPE_CHECKING:
    from cal_ai.extractors.protocol import Extractor
    from cal_ai.extractors.retry import Caller, CallPolicy
    from cal_ai.settings import Settings

EMBEDDED = "rules"
"""The extractor that needs nothing but this package."""
EXTRACTORS = (EMBEDDED, "gemini", "openai", "replay:FILE")


def choose_extractor(
    name: str | None,
    settings: Settings,
    *,
    model: str | None = None,
    policy: CallPolicy | None = None,
    per_minute: float | None = None,
) -> Extractor:
    """The extractor of this name; by default Gemini when there is a key for it, else rules.

    Raises a `TruemarkError` when the name is unknown or the extractor lacks a setting.
    """
    from cal_ai.extractors.retry import Caller, CallPolicy, RateLimiter

    chosen = name if name is not None else "gemini" if settings.gemini_api_key else EMBEDDED
    kind, _, file = chosen.partition(":")
    if chosen not in ("rules", "gemini", "openai") and not (kind == "replay" and file):
        raise TruemarkError(f"--extractor is {chosen!r}, not one of {', '.join(EXTRACTORS)}")
    if model is not None and not model.strip():
        raise TruemarkError("--model is empty, expected the name of a model")
    caller = Caller(policy or CallPolicy(), RateLimiter(per_minute))
    if kind == "gemini":
        return _gemini(settings, model or settings.gemini_model, caller)
    if kind == "openai":
        return _openai(settings, model or settings.openai_model, caller)
    if model is not None:
        raise TruemarkError(f"--model is {model!r}, but the extractor {kind} takes no model")
    if kind == "rules":
        from cal_ai.extractors.rules import RulesExtractor

        return RulesExtractor()
    from cal_ai.extractors.replay import ReplayExtractor

    return ReplayExtractor(Path(file))


def choice_line(name: str | None, model: str | None, settings: Settings, chosen: Extractor) -> str:
    """Which extractor and model a run has, and why: `extractor: rules (--extractor)`."""
    if name is not None:
        reason = "--extractor"
    else:
        reason = f"GEMINI_API_KEY is {'set' if settings.gemini_api_key else 'not set'}"
    line = f"extractor: {chosen.name} ({reason})"
    if chosen.model is None:
        return line
    if chosen.name == "replay":
        reason = "as recorded"
    elif model is not None:
        reason = "--model"
    elif chosen.model == DEFAULT_GEMINI_MODEL:
        reason = "default"
    else:
        reason = f"{chosen.name.upper()}_MODEL"
    return f"{line}, model: {chosen.model} ({reason})"


def is_embedded(extractor: Extractor) -> bool:
    """Whether the events are found by the embedded extractor, now or when they were recorded."""
    return getattr(extractor, "recorded_by", extractor.name) == EMBEDDED


def _gemini(settings: Settings, model: str, caller: Caller) -> Extractor:
    if settings.gemini_api_key is None:
        raise TruemarkError(
            "GEMINI_API_KEY is not set: put it in the environment or in .env,"
            " or use --extractor rules, which needs no key"
        )
    require("gemini", "--extractor gemini", "google.genai", "httpx2")
    from cal_ai.extractors.gemini import GeminiClient

    return GeminiClient(
        settings.gemini_api_key, model, base_url=settings.gemini_base_url, caller=caller
    )


def _openai(settings: Settings, model: str | None, caller: Caller) -> Extractor:
    if settings.openai_api_key is None and settings.openai_base_url is None:
        raise TruemarkError(
            "neither OPENAI_API_KEY nor OPENAI_BASE_URL is set:"
            " put one of them in the environment or in .env"
        )
    if model is None:
        raise TruemarkError("no model is named: use --model, or set OPENAI_MODEL")
    require("openai", "--extractor openai", "httpx2")
    from cal_ai.extractors.openai import OPENAI_URL, OpenAIClient

    return OpenAIClient(
        model,
        api_key=settings.openai_api_key,
        base_url=settings.openai_base_url or OPENAI_URL,
        caller=caller,
    )
