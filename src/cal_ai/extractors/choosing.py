"""The extractor that `--extractor` and the settings amount to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from truemark.errors import TruemarkError
from truemark.imports import require
from truemark.services.settings import DEFAULT_GEMINI_MODEL

if TYPE_CHECKING:
    from cal_ai.extractors.prompt import PromptTemplate
    from cal_ai.extractors.protocol import Extractor
    from cal_ai.settings import Settings
    from truemark.services.calls import Caller, CallPolicy

EMBEDDED = "reader"
"""The extractor that needs nothing but this package."""
EXTRACTORS = (
    *(EMBEDDED, "gemini", "openai"),
    *("replay:FILE", "py:module:callable", "cmd:COMMAND"),
)
_NAMES = tuple(name for name in EXTRACTORS if ":" not in name)
_KINDS = tuple(name.partition(":")[0] for name in EXTRACTORS if ":" in name)


def check_extractor(name: str) -> str:
    """The name, if it is that of an extractor; raises a `TruemarkError` otherwise."""
    kind, _, rest = name.partition(":")
    if name in _NAMES or (kind in _KINDS and rest.strip()):
        return name
    if name == "rules":
        raise TruemarkError("--extractor 'rules' was replaced by the learned reader: use reader")
    raise TruemarkError(f"--extractor {name!r} is not one of {', '.join(EXTRACTORS)}")


def choose_extractor(
    name: str | None,
    settings: Settings,
    *,
    model: str | None = None,
    prompt: Path | None = None,
    policy: CallPolicy | None = None,
    per_minute: float | None = None,
) -> Extractor:
    """The extractor of this name; by default Gemini when there is a key for it, else the reader.

    Raises a `TruemarkError` when the name is unknown or the extractor lacks a setting.
    """
    from truemark.services.calls import Caller, CallPolicy, RateLimiter

    chosen = name if name is not None else "gemini" if settings.gemini_api_key else EMBEDDED
    kind, _, file = check_extractor(chosen).partition(":")
    if model is not None and not model.strip():
        raise TruemarkError("--model is empty, expected the name of a model")
    policy = policy or CallPolicy()
    if kind in ("gemini", "openai"):
        template = _template(prompt)
        caller = Caller(policy, RateLimiter(per_minute))
        if kind == "gemini":
            return _gemini(settings, model or settings.gemini_model, caller, template)
        return _openai(settings, model or settings.openai_model, caller, template)
    for flag, value in (("--model", model), ("--prompt", prompt)):
        if value is not None:
            what = flag.removeprefix("--")
            raise TruemarkError(f"{flag} is '{value}', but the extractor {kind} takes no {what}")
    if kind in ("py", "cmd"):
        from cal_ai.extractors.given import CallableExtractor, ProgramExtractor

        own = CallableExtractor if kind == "py" else ProgramExtractor
        return own(chosen, timeout_s=policy.timeout_s)
    if kind == EMBEDDED:
        from cal_ai.extractors.reader.extractor import ReaderExtractor

        return ReaderExtractor()
    from cal_ai.extractors.replay import ReplayExtractor

    return ReplayExtractor(Path(file))


def _template(file: Path | None) -> PromptTemplate:
    from cal_ai.extractors.prompt import BUILT_IN, parse_template
    from truemark.files import read_text

    return BUILT_IN if file is None else parse_template(read_text(file), str(file))


def choice_line(name: str | None, model: str | None, settings: Settings, chosen: Extractor) -> str:
    """Which extractor and model a run has, and why: `extractor: reader (--extractor)`."""
    if name is not None:
        reason = "--extractor"
    else:
        reason = f"GEMINI_API_KEY is {'set' if settings.gemini_api_key else 'not set'}"
    line = f"extractor: {chosen.name} ({reason})"
    if (maker := getattr(chosen, "recorded_by", None)) is not None:
        line += f", answers of {maker}"
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


def _gemini(settings: Settings, model: str, caller: Caller, template: PromptTemplate) -> Extractor:
    if settings.gemini_api_key is None:
        raise TruemarkError(
            "GEMINI_API_KEY is not set: put it in the environment or in .env,"
            " or use --extractor reader, which needs no key"
        )
    require("gemini", "--extractor gemini", "google.genai", "httpx2")
    from cal_ai.extractors.language_model import GeminiClient

    return GeminiClient(
        settings.gemini_api_key,
        model,
        base_url=settings.gemini_base_url,
        caller=caller,
        template=template,
    )


def _openai(
    settings: Settings, model: str | None, caller: Caller, template: PromptTemplate
) -> Extractor:
    if settings.openai_api_key is None and settings.openai_base_url is None:
        raise TruemarkError(
            "neither OPENAI_API_KEY nor OPENAI_BASE_URL is set:"
            " put one of them in the environment or in .env"
        )
    if model is None:
        raise TruemarkError("no model is named: use --model, or set OPENAI_MODEL")
    require("openai", "--extractor openai", "httpx2")
    from cal_ai.extractors.language_model import OpenAIClient
    from truemark.services.openai import OPENAI_URL

    return OpenAIClient(
        model,
        api_key=settings.openai_api_key,
        base_url=settings.openai_base_url or OPENAI_URL,
        caller=caller,
        template=template,
    )
