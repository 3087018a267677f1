"""What both language model clients make of a network and a provider that misbehave.

Real clients against a real server on loopback: the faults are on the wire.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import TypeVar

import pytest
from testing.loopback import (
    LoopbackLLM,
    Reply,
    Tokens,
    answer,
    blocked,
    cut,
    drop,
    hang,
    says,
    status,
)

from cal_ai.events import Event
from cal_ai.extractors.language_model import GeminiClient, LanguageModelExtractor, OpenAIClient
from cal_ai.extractors.protocol import Extraction, Request
from cal_ai.transcripts.reading import parse_transcript
from truemark.services.calls import CallFailed, FatalCallError, Usage
from truemark.services.retry import Caller, CallPolicy

T = TypeVar("T")
Outcome = Extraction | CallFailed | FatalCallError

KEY = "sk-loopback-0123456789abcdef"
REQUEST = Request(
    parse_transcript("[Bob]: Lunch tomorrow at noon?\n[Alice]: Yes."),
    "Alice",
    datetime(2026, 2, 20, 10, 0),
)
LUNCH = {"action": "create", "title": "Lunch", "start_time": "2026-02-21T12:00:00"}
LUNCH_EVENT = Event("create", "Lunch", datetime(2026, 2, 21, 12, 0))
FOUND = answer(events=[LUNCH])
POLICY = CallPolicy(timeout_s=20, attempts=3, backoff_s=0.001)
IMPATIENT = replace(POLICY, timeout_s=0.4)

pytestmark = pytest.mark.parametrize("provider", ["gemini", "openai"])


def client(provider: str, llm: LoopbackLLM, caller: Caller | None = None) -> LanguageModelExtractor:
    caller = caller or Caller(POLICY)
    if provider == "gemini":
        return GeminiClient(KEY, "model-x", base_url=llm.gemini_url, caller=caller)
    return OpenAIClient("model-x", api_key=KEY, base_url=llm.openai_url, caller=caller)


def using(extractor: LanguageModelExtractor, task: Callable[[], Awaitable[T]]) -> T:
    async def run() -> T:
        try:
            return await task()
        finally:
            await extractor.close()

    return asyncio.run(run())


async def attempt(extractor: LanguageModelExtractor) -> Outcome:
    try:
        return await extractor.extract_events(REQUEST)
    except (CallFailed, FatalCallError) as error:
        return error


def outcome(provider: str, llm: LoopbackLLM, script: Sequence[Reply]) -> Outcome:
    llm.set_script(script)
    hangs = any(reply.fault == "hang" for reply in script)
    extractor = client(provider, llm, Caller(IMPATIENT if hangs else POLICY))
    return using(extractor, lambda: attempt(extractor))


def test_an_answer_comes_with_its_events_tokens_and_time(provider: str, llm: LoopbackLLM) -> None:
    llm.set_script([answer(events=[LUNCH], tokens=Tokens(prompt=700, output=40, thinking=300))])
    extractor = client(provider, llm)

    extraction = using(extractor, lambda: extractor.extract_events(REQUEST))

    assert extraction.events == (LUNCH_EVENT,)
    assert extraction.usage == Usage(prompt=700, output=40, thinking=300, total=1040)
    assert extraction.attempts == len(llm.calls) == 1
    assert json.loads(extraction.raw) == {"events": [LUNCH]}
    assert extraction.latency_s is not None
    assert 0 < extraction.latency_s < 5


def test_the_request_has_rules_conversation_schema_and_key(provider: str, llm: LoopbackLLM) -> None:
    outcome(provider, llm, [FOUND])

    (call,) = llm.calls
    assert call.dialect == provider
    assert "You read a conversation" in call.prompt
    assert "[Bob]: Lunch tomorrow at noon?" in call.prompt
    assert "existing_event_id" in json.dumps(call.body)
    assert KEY in (call.headers.get("x-goog-api-key"), call.headers.get("authorization", "")[7:])
    assert KEY not in call.path


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(status(429), id="429"),
        pytest.param(status(429, retry_after="0"), id="429 with Retry-After"),
        pytest.param(status(408), id="408"),
        pytest.param(status(500), id="500"),
        pytest.param(status(502), id="502"),
        pytest.param(status(503, retry_after="0"), id="503"),
        pytest.param(hang(), id="hang"),
        pytest.param(drop(), id="dropped connection"),
        pytest.param(cut(), id="reply cut in the middle"),
        pytest.param(Reply(body=b"<html>busy</html>", status=503), id="a web page for an error"),
    ],
)
def test_a_passing_fault_costs_an_attempt_and_nothing_else(
    provider: str, llm: LoopbackLLM, fault: Reply
) -> None:
    result = outcome(provider, llm, [fault, FOUND])

    assert isinstance(result, Extraction)
    assert result.events == (LUNCH_EVENT,)
    assert result.attempts == len(llm.calls) == 2
    assert result.usage is not None
    assert result.usage.total == 120


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        pytest.param(
            status(429, "Slow down."), "answered 429 Too Many Requests: Slow down", id="429"
        ),
        pytest.param(status(500, "Oops"), "answered 500 Internal Server Error: Oops", id="500"),
        pytest.param(status(503, "Full"), "answered 503 Service Unavailable: Full", id="503"),
        pytest.param(hang(), "no answer within 0.4 s", id="hang"),
        pytest.param(drop(), "broke: Server disconnected without sending a response", id="drop"),
        pytest.param(cut(), "broke: peer closed connection without sending complete", id="cut"),
        pytest.param(
            Reply(body=b"<html>down</html>", status=502), "answered 502 Bad Gateway;", id="web page"
        ),
    ],
)
def test_a_lasting_fault_fails_the_sample_with_its_reason(
    provider: str, llm: LoopbackLLM, fault: Reply, reason: str
) -> None:
    result = outcome(provider, llm, [fault])

    assert isinstance(result, CallFailed)
    assert reason in result.reason
    assert result.reason.endswith("; gave up after 3 attempts")
    assert (result.attempts, result.usage, len(llm.calls)) == (3, None, 3)
    assert result.latency_s is not None


@pytest.mark.parametrize("code", [400, 401, 402, 403, 404])
def test_a_refusal_that_every_sample_would_meet_stops_the_run_at_once(
    provider: str, llm: LoopbackLLM, code: int
) -> None:
    result = outcome(provider, llm, [status(code, "No.")])

    assert isinstance(result, FatalCallError)
    assert f"answered {code} " in str(result)
    assert "; check " in str(result)
    assert "\n" not in str(result)
    assert len(llm.calls) == 1


def test_a_refused_key_says_which_setting_to_check(provider: str, llm: LoopbackLLM) -> None:
    for reply in (status(401), status(403), status(400, "API key not valid.")):
        assert f"; check {provider.upper()}_API_KEY" in str(outcome(provider, llm, [reply]))


def test_an_unusual_refusal_fails_only_its_sample(provider: str, llm: LoopbackLLM) -> None:
    result = outcome(provider, llm, [status(413, "Too large")])

    assert isinstance(result, CallFailed)
    assert result.reason.endswith("answered 413 Request Entity Too Large: Too large")
    assert len(llm.calls) == 1


@pytest.mark.parametrize("as_date", [False, True], ids=["seconds", "date"])
def test_retry_after_is_waited_for(provider: str, llm: LoopbackLLM, *, as_date: bool) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    llm.set_script([status(429, retry_after=date if as_date else "30"), FOUND])
    extractor = client(provider, llm, Caller(POLICY, sleep=sleep, dice=lambda: 0.0))

    assert isinstance(using(extractor, lambda: attempt(extractor)), Extraction)
    assert 25 < slept[0] <= 30


def test_a_withheld_answer_fails_with_the_provider_s_reason(
    provider: str, llm: LoopbackLLM
) -> None:
    result = outcome(provider, llm, [blocked("SAFETY")])

    assert isinstance(result, CallFailed)
    assert "gave no answer: " in result.reason
    assert "SAFETY" in result.reason
    assert (len(llm.calls), result.attempts) == (1, 1)
    assert result.usage is not None
    assert result.usage.total == 120


def test_an_answer_without_text_names_how_it_ended(provider: str, llm: LoopbackLLM) -> None:
    result = outcome(provider, llm, [Reply(text=None, finish="MAX_TOKENS")])

    assert isinstance(result, CallFailed)
    assert result.reason.endswith("gave no answer: finish_reason MAX_TOKENS")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"```json\n{FOUND.text}\n```", id="code fence"),
        pytest.param(f"Certainly!\n\n{FOUND.text}", id="prose"),
    ],
)
def test_an_answer_in_wrappings_is_used(provider: str, llm: LoopbackLLM, text: str) -> None:
    result = outcome(provider, llm, [says(text)])

    assert isinstance(result, Extraction)
    assert (result.events, result.attempts) == ((LUNCH_EVENT,), 1)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"events": [{"action": "create", "ti', "the JSON is cut off at line 1"),
        ('{"events": [{"action": "create", "title": ["x"]}]}', 'title is ["x"], not a text'),
        ("I could not find any.", "not a JSON object with events"),
    ],
    ids=["cut", "wrong type", "prose"],
)
def test_an_unusable_answer_is_shown_to_the_model_once(
    provider: str, llm: LoopbackLLM, text: str, problem: str
) -> None:
    result = outcome(provider, llm, [says(text), FOUND])

    assert isinstance(result, Extraction)
    assert result.events == (LUNCH_EVENT,)
    assert (result.attempts, result.usage and result.usage.total) == (2, 240)
    first, second = llm.calls
    assert text in second.prompt
    assert problem in second.prompt
    assert problem not in first.prompt


def test_a_second_unusable_answer_fails_the_sample(provider: str, llm: LoopbackLLM) -> None:
    result = outcome(provider, llm, [says('{"events": [{"acti')])

    assert isinstance(result, CallFailed)
    assert result.reason.startswith("unusable answer, twice: the JSON is cut off at line 1")
    assert result.raw == '{"events": [{"acti'
    assert (result.attempts, len(llm.calls)) == (2, 2)
    assert result.usage is not None
    assert result.usage.total == 240


@pytest.mark.parametrize("body", [b"<html>", b"", b"[]", b"3", b'{"candidates": 3, "choices": 3}'])
def test_a_reply_of_another_form_fails_the_sample(
    provider: str, llm: LoopbackLLM, body: bytes
) -> None:
    assert isinstance(outcome(provider, llm, [Reply(body=body)]), CallFailed)


def test_half_a_surrogate_pair_does_no_harm(provider: str, llm: LoopbackLLM) -> None:
    result = outcome(provider, llm, [says('{"events": \ud800'), says('{"events": []} \udfff')])

    assert isinstance(result, Extraction)
    result.raw.encode()


def test_tokens_are_unknown_where_the_provider_does_not_tell(
    provider: str, llm: LoopbackLLM
) -> None:
    result = outcome(provider, llm, [answer(events=[LUNCH], tokens=None)])

    assert isinstance(result, Extraction)
    assert result.usage is None


def test_a_server_that_is_not_there_fails_the_sample(provider: str) -> None:
    with LoopbackLLM() as gone:
        extractor = client(provider, gone)

    result = using(extractor, lambda: attempt(extractor))

    assert isinstance(result, CallFailed)
    assert " cannot be reached: " in result.reason
    assert "; check the network and its address; gave up after " in result.reason


def test_free_text_is_answered_without_schema_and_retried_alike(
    provider: str, llm: LoopbackLLM
) -> None:
    llm.set_script([status(503), says("All went well.")])
    extractor = client(provider, llm)
    assert isinstance(extractor, LanguageModelExtractor)

    result = using(extractor, lambda: extractor.complete("Summarise."))

    assert result.text == "All went well."
    assert result.usage is not None
    assert result.usage.total == 120
    assert llm.calls[1].prompt.strip() == "Summarise."
    assert "existing_event_id" not in json.dumps(llm.calls[1].body)


def test_one_sample_s_fault_leaves_the_others_alone(provider: str, llm: LoopbackLLM) -> None:
    replies = [blocked(), FOUND, status(500), FOUND, hang(), FOUND]
    llm.set_script(lambda call: replies[int(call.prompt.split("sample ")[1][0])])
    extractor = client(provider, llm, Caller(IMPATIENT))
    requests = [
        Request(parse_transcript(f"[Alice]: sample {n}"), "Alice", REQUEST.now) for n in range(6)
    ]

    async def run() -> list[Extraction | BaseException]:
        calls = (extractor.extract_events(request) for request in requests)
        return await asyncio.gather(*calls, return_exceptions=True)

    results = using(extractor, run)

    assert [isinstance(result, Extraction) for result in results] == [False, True] * 3
    assert all(isinstance(result, CallFailed) for result in results[::2])


def test_calls_at_the_same_time_share_one_ceiling(provider: str, llm: LoopbackLLM) -> None:
    extractor = client(provider, llm, Caller(POLICY, 240))

    async def run() -> list[Extraction]:
        return await asyncio.gather(*(extractor.extract_events(REQUEST) for _ in range(4)))

    results = using(extractor, run)

    arrivals = sorted(call.at_s for call in llm.calls)
    # A quarter of a second apart, less what a busy machine may hold the first one up.
    assert arrivals[-1] - arrivals[0] > 0.4
    assert all((result.latency_s or 0) < 0.5 for result in results)


def test_the_key_is_in_no_message_no_log_and_no_printed_form(
    provider: str, llm: LoopbackLLM, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    quoting = [status(code, f"bad key {KEY} in request") for code in (400, 401, 403, 404, 429, 500)]
    html = Reply(body=f"key {KEY}".encode(), status=400)
    scripts = [[reply] for reply in [*quoting, html, blocked(KEY), Reply(body=KEY.encode())]]
    extractor = client(provider, llm)

    told = [repr(extractor)]
    for script in scripts:
        result = outcome(provider, llm, script)
        told.append(f"{result} {result!r}")
    using(extractor, lambda: attempt(extractor))

    assert KEY not in "\n".join(told)
    assert KEY not in caplog.text
