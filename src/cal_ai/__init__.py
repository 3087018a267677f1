"""Conversations to calendar events, and the benchmark of that step."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cal_ai.events import Event
    from cal_ai.extractors.language_model import GeminiClient, OpenAIClient
    from cal_ai.extractors.protocol import Extraction, LLMCallResult, Request
    from cal_ai.python import extract_events, run_benchmark

__all__ = [
    "Event",
    "Extraction",
    "GeminiClient",
    "LLMCallResult",
    "OpenAIClient",
    "Request",
    "extract_events",
    "run_benchmark",
]

_HOMES = {
    "Event": "events",
    "Extraction": "extractors.protocol",
    "GeminiClient": "extractors.language_model",
    "LLMCallResult": "extractors.protocol",
    "OpenAIClient": "extractors.language_model",
    "Request": "extractors.protocol",
    "extract_events": "python",
    "run_benchmark": "python",
}


def __getattr__(name: str) -> object:
    # Imported when asked for, so that importing the package loads no library.
    if name not in _HOMES:
        raise AttributeError(f"module 'cal_ai' has no attribute {name!r}")
    return getattr(import_module(f"cal_ai.{_HOMES[name]}"), name)
