"""Conversations to calendar events, and the benchmark of that step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from truemark.imports import on_first_use

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

__getattr__ = on_first_use(
    __name__,
    {
        "events": ("Event",),
        "extractors.language_model": ("GeminiClient", "OpenAIClient"),
        "extractors.protocol": ("Extraction", "LLMCallResult", "Request"),
        "python": ("extract_events", "run_benchmark"),
    },
)
