"""Choose the extractor by `--extractor` and the settings."""

from __future__ import annotations

from pathlib import Path

from cal_ai.defaults import EMBEDDED, EXTRACTORS
from cal_ai.extractors.custom import CallableExtractor, ProgramExtractor
from cal_ai.extractors.language_model import LanguageModelExtractor
from cal_ai.extractors.prompt import BUILT_IN, parse_template
from cal_ai.extractors.protocol import Extractor
from cal_ai.extractors.reader.extractor import ReaderExtractor
from cal_ai.extractors.replay import ReplayExtractor
from truemark.command import did_you_mean
from truemark.errors import TruemarkError
from truemark.files import read_text
from truemark.services.models import (
    DEFAULT_GEMINI_MODEL,
    ModelSettings,
    ProviderName,
    open_language_model,
)
from truemark.services.retry import Caller, model_policy

_NAMES = tuple(name for name in EXTRACTORS if ":" not in name)
_KINDS = tuple(name.partition(":")[0] for name in EXTRACTORS if ":" in name)


def check_extractor(name: str) -> str:
    """Return the name if an extractor has it; raises a `TruemarkError` otherwise."""
    kind, _, rest = name.partition(":")
    if name in _NAMES or (kind in _KINDS and rest.strip()):
        return name
    if name == "rules":
        raise TruemarkError("--extractor 'rules' was replaced by the learned reader: use reader")
    meant = did_you_mean(name, _NAMES)
    raise TruemarkError(f"--extractor {name!r} is not one of {', '.join(EXTRACTORS)}{meant}")


def choose_extractor(
    name: str | None,
    settings: ModelSettings,
    *,
    model: str | None = None,
    prompt: Path | None = None,
    timeout_s: float | None = None,
    per_minute: float | None = None,
) -> Extractor:
    """Make the extractor of this name; by default Gemini if there is a key, else the reader.

    Raises a `TruemarkError` if the name is unknown or a setting is missing.
    """
    chosen = name if name is not None else "gemini" if settings.gemini_api_key else EMBEDDED
    kind, _, place = check_extractor(chosen).partition(":")
    if model is not None and not model.strip():
        raise TruemarkError("--model is empty, expected the name of a model")
    if kind in ("gemini", "openai"):
        provider: ProviderName = "gemini" if kind == "gemini" else "openai"
        template = BUILT_IN if prompt is None else parse_template(read_text(prompt), str(prompt))
        client = open_language_model(
            provider,
            model,
            settings,
            Caller(model_policy(timeout_s), per_minute),
            purpose=f"--extractor {provider}",
            alternative=", or use --extractor reader, which needs no key",
        )
        return LanguageModelExtractor(provider, client, template)
    for flag, value in (("--model", model), ("--prompt", prompt)):
        if value is not None:
            what = flag.removeprefix("--")
            raise TruemarkError(f"{flag} is '{value}', but the extractor {kind} takes no {what}")
    if kind in ("py", "cmd"):
        custom = CallableExtractor if kind == "py" else ProgramExtractor
        return custom(chosen, timeout_s=model_policy(timeout_s).timeout_s)
    if kind == EMBEDDED:
        return ReaderExtractor()
    return ReplayExtractor(Path(place))


def choice_line(
    name: str | None, model: str | None, settings: ModelSettings, chosen: Extractor
) -> str:
    """Tell which extractor and model are used, and why: `extractor: reader (--extractor)`."""
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
    """Whether this is the embedded extractor, or replays answers of the embedded extractor."""
    return getattr(extractor, "recorded_by", extractor.name) == EMBEDDED
