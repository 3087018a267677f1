"""The language model of a name: which provider serves it, and whether it can be asked."""

from __future__ import annotations

from typing import Literal

from truemark.errors import TruemarkError
from truemark.imports import require
from truemark.services.language_model import LanguageModelClient
from truemark.services.retry import Caller
from truemark.services.settings import ModelSettings

Provider = Literal["gemini", "openai"]


def provider_of(name: str, settings: ModelSettings) -> tuple[Provider, str]:
    """Who serves a model, and its name there.

    `gemini:NAME` and `openai:NAME` say so; else Gemini serves what is called after it, as soon as
    there is a key for it, and an OpenAI-compatible endpoint everything else.
    """
    kind, _, rest = name.partition(":")
    if kind == "gemini" and rest:
        return "gemini", rest
    if kind == "openai" and rest:
        return "openai", rest
    if name.startswith("gemini-") and settings.gemini_api_key is not None:
        return "gemini", name
    return "openai", name


def open_language_model(name: str, settings: ModelSettings, caller: Caller) -> LanguageModelClient:
    """The client of a model; raises a `TruemarkError` where a setting or a library is missing."""
    provider, model = provider_of(name, settings)
    if provider == "gemini":
        if settings.gemini_api_key is None:
            raise TruemarkError("GEMINI_API_KEY is not set: put it in the environment or in .env")
        require("gemini", f"the model {model}", "google.genai", "httpx2")
        from truemark.services.gemini import GeminiModel

        return GeminiModel(
            settings.gemini_api_key, model, base_url=settings.gemini_base_url, caller=caller
        )
    if settings.openai_api_key is None and settings.openai_base_url is None:
        raise TruemarkError(
            "neither OPENAI_API_KEY nor OPENAI_BASE_URL is set:"
            " put one of them in the environment or in .env"
        )
    require("openai", f"the model {model}", "httpx2")
    from truemark.services.openai import OPENAI_URL, OpenAIModel

    return OpenAIModel(
        model,
        api_key=settings.openai_api_key,
        base_url=settings.openai_base_url or OPENAI_URL,
        caller=caller,
    )
