"""Language models by name: their settings, also from `.env`, and their clients."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Literal

from dotenv import dotenv_values

from truemark.errors import TruemarkError
from truemark.files import read_text
from truemark.imports import require
from truemark.services.addresses import is_address
from truemark.services.client import LanguageModelClient
from truemark.services.retry import Caller

DEFAULT_GEMINI_MODEL = "gemini-2.5-pro"
DOTENV = Path(".env")
_LARGEST_DOTENV = 1_000_000
# Characters of an HTTP header; a key with others was pasted wrongly.
_KEY = re.compile(r"[\x21-\x7e]+")
ProviderName = Literal["gemini", "openai"]


@dataclass(frozen=True, slots=True)
class Sources:
    """Named sources of settings, in order of precedence."""

    places: tuple[tuple[str, Mapping[str, str | None]], ...]

    def text(self, name: str) -> str | None:
        return self.lookup(name)[1]

    def key(self, name: str) -> str | None:
        place, value = self.lookup(name)
        if value is not None and not _KEY.fullmatch(value):
            raise TruemarkError(f"{place}{name} has spaces or other characters that no key has")
        return value

    def url(self, name: str) -> str | None:
        place, value = self.lookup(name)
        if value is not None and not is_address(value):
            # The value is not repeated: it may be a key pasted into the wrong line.
            raise TruemarkError(
                f"{place}{name} is not an address such as http://localhost:11434/v1"
            )
        return value

    def lookup(self, name: str) -> tuple[str, str | None]:
        """Return the source of the value, as the beginning of a message, and the value."""
        for place, values in self.places:
            if value := (values.get(name) or "").strip():
                return place, value
        return "", None


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Where language models are, and the keys for them; keys stay out of the printed form."""

    gemini_api_key: str | None = field(default=None, repr=False)
    gemini_model: str = DEFAULT_GEMINI_MODEL
    gemini_base_url: str | None = None
    openai_api_key: str | None = field(default=None, repr=False)
    openai_base_url: str | None = None
    openai_model: str | None = None


def load_model_settings(environ: Mapping[str, str], dotenv: Path = DOTENV) -> ModelSettings:
    """Read the settings; raise a `TruemarkError` for a bad value."""
    return read_model_settings(Sources((("", environ), (f"{dotenv}: ", read_dotenv(dotenv)))))


def read_model_settings(sources: Sources) -> ModelSettings:
    return ModelSettings(
        gemini_api_key=sources.key("GEMINI_API_KEY"),
        gemini_model=sources.text("GEMINI_MODEL") or DEFAULT_GEMINI_MODEL,
        gemini_base_url=sources.url("GOOGLE_GEMINI_BASE_URL"),
        openai_api_key=sources.key("OPENAI_API_KEY"),
        openai_base_url=sources.url("OPENAI_BASE_URL"),
        openai_model=sources.text("OPENAI_MODEL"),
    )


def read_dotenv(path: Path) -> Mapping[str, str | None]:
    """Read the values of the file; empty if there is no such file."""
    if not path.exists():
        return {}
    return dotenv_values(stream=StringIO(read_text(path, _LARGEST_DOTENV)), interpolate=False)


def provider_of(name: str, settings: ModelSettings) -> tuple[ProviderName, str]:
    """Return the provider of a model, and the model's name there.

    `gemini:NAME` and `openai:NAME` name the provider. Otherwise Gemini serves names that begin with
    `gemini-`, if there is a key for it, and an OpenAI-compatible endpoint serves the rest.
    """
    kind, _, rest = name.partition(":")
    if kind == "gemini" and rest:
        return "gemini", rest
    if kind == "openai" and rest:
        return "openai", rest
    if name.startswith("gemini-") and settings.gemini_api_key is not None:
        return "gemini", name
    return "openai", name


def open_language_model(
    provider: ProviderName,
    model: str | None,
    settings: ModelSettings,
    caller: Caller,
    *,
    purpose: str,
    alternative: str = "",
) -> LanguageModelClient:
    """Make the client of a model; the settings name the default model.

    Raise a `TruemarkError` for a missing setting or library; `purpose` is what the user asked for,
    and `alternative` what can be done without a Gemini key.
    """
    if provider == "gemini":
        if settings.gemini_api_key is None:
            raise TruemarkError(
                f"GEMINI_API_KEY is not set: put it in the environment or in .env{alternative}"
            )
        require("gemini", purpose, "google.genai", "httpx2")
        from truemark.services.gemini import GeminiModel

        return GeminiModel(
            settings.gemini_api_key,
            model or settings.gemini_model,
            base_url=settings.gemini_base_url,
            caller=caller,
        )
    if settings.openai_api_key is None and settings.openai_base_url is None:
        raise TruemarkError(
            "neither OPENAI_API_KEY nor OPENAI_BASE_URL is set:"
            " put one of them in the environment or in .env"
        )
    model = model or settings.openai_model
    if model is None:
        raise TruemarkError("no model is named: use --model, or set OPENAI_MODEL")
    require("openai", purpose, "httpx2")
    from truemark.services.openai import OpenAIModel

    return OpenAIModel(
        model,
        api_key=settings.openai_api_key,
        base_url=settings.openai_base_url,
        caller=caller,
    )
