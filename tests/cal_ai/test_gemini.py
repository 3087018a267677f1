"""What is particular to Gemini; faults that all providers share are in `test_network_faults`."""

from __future__ import annotations

import asyncio
import json
from datetime import datetime

import pytest
from testing.loopback import LoopbackLLM, Reply, Tokens, answer, says

from cal_ai.extractors.choosing import choose_extractor
from cal_ai.extractors.language_model import GeminiClient
from cal_ai.extractors.prompt import BUILT_IN, RESPONSE_SCHEMA
from cal_ai.extractors.protocol import Extraction, Request
from cal_ai.settings import load_settings
from cal_ai.transcripts.reading import parse_transcript
from truemark.services.calls import CallFailed, LLMCallResult, Usage, plain_prompt
from truemark.services.retry import Caller

KEY = "gemini-loopback-key"
REQUEST = Request(parse_transcript("[Alice]: Hello."), "Alice", datetime(2026, 2, 20, 10, 0))


def extract(llm: LoopbackLLM, caller: Caller | None = None) -> Extraction:
    async def run() -> Extraction:
        client = GeminiClient(KEY, "gemini-2.5-pro", base_url=llm.gemini_url, caller=caller)
        try:
            return await client.extract_events(REQUEST)
        finally:
            await client.close()

    return asyncio.run(run())


def test_the_request_is_json_mode_with_the_schema_and_a_system_instruction(
    llm: LoopbackLLM,
) -> None:
    extract(llm)

    (call,) = llm.calls
    assert call.path == "/v1beta/models/gemini-2.5-pro:generateContent"
    assert call.headers["x-goog-api-key"] == KEY
    assert call.body["systemInstruction"]["parts"] == [{"text": BUILT_IN.system}]
    assert call.body["generationConfig"] == {
        "temperature": 0.0,
        "responseMimeType": "application/json",
        "responseJsonSchema": RESPONSE_SCHEMA,
    }


def test_one_call_returns_text_and_usage(llm: LoopbackLLM) -> None:
    llm.set_script([Reply(text="Hello", tokens=Tokens(7, 2, 30))])

    async def run() -> LLMCallResult:
        client = GeminiClient(KEY, "g", base_url=llm.gemini_url)
        try:
            return await client._call_api(plain_prompt("Hi"))
        finally:
            await client.close()

    assert asyncio.run(run()) == LLMCallResult("Hello", Usage(7, 2, 30, 39))


def test_thinking_is_unknown_where_the_model_does_not_think(llm: LoopbackLLM) -> None:
    llm.set_script([answer(tokens=Tokens(100, 20, 0))])

    assert extract(llm).usage == Usage(100, 20, None, 120)


def test_the_delay_in_the_body_of_a_429_is_waited_for(llm: LoopbackLLM) -> None:
    retry = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "17s"}
    error = {"code": 429, "message": "Quota", "status": "RESOURCE_EXHAUSTED"}
    body = json.dumps({"error": {**error, "details": [{"@type": "other"}, retry]}}).encode()
    llm.set_script([Reply(status=429, body=body), answer()])
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    extract(llm, Caller(sleep=sleep, dice=lambda: 0.0))

    assert slept == [17.0]


def test_a_reason_newer_than_the_sdk_is_reported_all_the_same(llm: LoopbackLLM) -> None:
    llm.set_script([Reply(text=None, finish="STARS_MISALIGNED")])

    with pytest.raises(CallFailed, match="finish_reason STARS_MISALIGNED"):
        extract(llm)


def test_an_answer_cut_at_the_token_limit_is_never_a_part_of_its_events(llm: LoopbackLLM) -> None:
    whole = '{"events": [{"action": "create", "title": "Lunch"}, {"action": "create", "title'
    llm.set_script([says(whole, finish="length")])

    with pytest.raises(CallFailed, match="twice: the JSON is cut off"):
        extract(llm)


def test_the_address_and_the_key_come_from_the_settings_alone(
    llm: LoopbackLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "a key for something else")
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    environ = {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": f"{llm.gemini_url}/proxy/"}
    client = choose_extractor(None, load_settings(environ))

    async def run() -> None:
        await client.extract_events(REQUEST)
        await client.close()

    asyncio.run(run())
    (call,) = llm.calls
    assert call.headers["x-goog-api-key"] == KEY
    assert call.path == "/proxy/v1beta/models/gemini-2.5-pro:generateContent"


def test_connections_are_reused(llm: LoopbackLLM) -> None:
    async def run() -> None:
        client = GeminiClient(KEY, "g", base_url=llm.gemini_url)
        for _ in range(5):
            await client.extract_events(REQUEST)
        await client.close()

    asyncio.run(run())

    assert (len(llm.calls), llm.connections) == (5, 1)
