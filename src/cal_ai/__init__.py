"""Conversations to calendar events, and the benchmark of that step."""

TYPE_CHECKING = False  # importing typing takes time, during which Ctrl-C is not handled
if TYPE_CHECKING:
    from cal_ai.api import extract_events, run_benchmark
    from cal_ai.events import Event
    from cal_ai.extractors.language_model import GeminiClient, OpenAIClient
    from cal_ai.extractors.protocol import Extraction, Request
    from truemark.services.calls import LLMCallResult

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
    "events": ("Event",),
    "extractors.language_model": ("GeminiClient", "LLMCallResult", "OpenAIClient"),
    "extractors.protocol": ("Extraction", "Request"),
    "api": ("extract_events", "run_benchmark"),
}


def __getattr__(name: str) -> object:
    from truemark.imports import lazy_attribute

    return lazy_attribute(__name__, _HOMES, name)
