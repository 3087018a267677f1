"""What is particular to OpenAI's protocol; shared faults are in `test_network_faults`."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime

import pytest
from testing.loopback import Call, LoopbackLLM, Reply, answer, status

from cal_ai.extractors.language_model import OpenAIClient
from cal_ai.extractors.prompt import BUILT_IN, RESPONSE_SCHEMA
from cal_ai.extractors.protocol import Extraction, Request
from cal_ai.transcripts.reading import parse_transcript
from truemark.services.bounded_httpx2 import certificates_for
from truemark.services.calls import CallFailed, FatalCallError, Prompt, Tally, Turn, Usage
from truemark.services.openai import OpenAIModel
from truemark.services.retry import Caller, CallPolicy

REQUEST = Request(parse_transcript("[Alice]: Hello."), "Alice", datetime(2026, 2, 20, 10, 0))


def extract(llm: LoopbackLLM, *, times: int = 1, at_once: bool = False) -> list[Extraction]:
    async def run() -> list[Extraction]:
        caller = Caller(CallPolicy(backoff_s=0.001))
        client = OpenAIClient("m", base_url=f"{llm.openai_url}/", caller=caller)
        try:
            if at_once:
                return await asyncio.gather(*(client.extract_events(REQUEST) for _ in range(times)))
            return [await client.extract_events(REQUEST) for _ in range(times)]
        finally:
            await client.close()

    return asyncio.run(run())


def asked_format(call: Call) -> str | None:
    asked = call.body.get("response_format")
    return None if asked is None else str(asked["type"])


def refusing(*refused: str, message: str) -> Callable[[Call], Reply]:
    """Script a server that refuses these formats and takes any other."""
    return lambda call: status(400, message) if asked_format(call) in refused else answer()


def error(code: str | None, kind: str, message: str, http: int) -> Reply:
    body = {"error": {"message": message, "type": kind, "code": code}}
    return Reply(status=http, body=json.dumps(body).encode())


def test_the_request_asks_for_the_schema_in_strict_mode(llm: LoopbackLLM) -> None:
    extract(llm)

    (call,) = llm.calls
    assert call.path == "/v1/chat/completions"
    assert "authorization" not in call.headers
    assert (call.body["model"], call.body["temperature"]) == ("m", 0)
    assert call.body["response_format"]["json_schema"] == {
        "name": "events",
        "schema": RESPONSE_SCHEMA,
        "strict": True,
    }
    assert [message["role"] for message in call.body["messages"]] == ["system", "user"]
    assert call.body["messages"][0]["content"] == BUILT_IN.system


def test_every_prompt_is_sent_with_its_own_schema(llm: LoopbackLLM) -> None:
    schemas: list[Mapping[str, object] | None] = [{"type": "object"}, {"type": "array"}, None]
    prompts = [
        Prompt(None, (Turn("user", "Ciao: è vero?"),), schema, name)
        for schema in schemas
        for name in ("first", "second")
    ]

    async def run() -> None:
        client = OpenAIModel("m", base_url=llm.openai_url)
        for prompt in (*prompts, prompts[0]):
            await client.ask(prompt, Tally())
        await client.close()

    asyncio.run(run())

    sent = [call.body.get("response_format", {}).get("json_schema", {}) for call in llm.calls]
    expected = [(prompt.schema_name, prompt.schema) for prompt in (*prompts[:4], prompts[0])]
    assert [(it["name"], it["schema"]) for it in (*sent[:4], sent[6])] == expected
    assert sent[4:6] == [{}, {}]
    assert {call.prompt for call in llm.calls} == {"Ciao: è vero?"}


@pytest.mark.parametrize(("at_once", "connections"), [(False, 1), (True, 5)])
def test_a_connection_is_taken_again_as_soon_as_it_is_free(
    llm: LoopbackLLM, connections: int, *, at_once: bool
) -> None:
    llm.set_script([replace(answer(), delay_s=0.1)])

    extract(llm, times=5, at_once=at_once)

    assert (len(llm.calls), llm.connections) == (5, connections)


@pytest.mark.parametrize(
    ("address", "proxies", "trusts"),
    [
        ("http://127.0.0.1:11434/v1", {}, False),
        ("http://127.0.0.1:11434/v1", {"https": "https://proxy.example"}, True),
        ("https://api.openai.com/v1", {}, True),
        (None, {}, True),
    ],
)
def test_certificates_are_loaded_where_someone_has_to_show_one(
    address: str | None,
    proxies: Mapping[str, str],
    monkeypatch: pytest.MonkeyPatch,
    *,
    trusts: bool,
) -> None:
    monkeypatch.setattr("truemark.services.proxies.getproxies", lambda: proxies)

    trust = certificates_for(address)

    assert trust.verify_mode is ssl.CERT_REQUIRED
    assert trust.check_hostname
    assert (type(trust) is not ssl.SSLContext or trust.cert_store_stats()["x509"] > 0) == trusts


@pytest.mark.parametrize(
    ("refused", "message", "asked"),
    [
        (
            ("json_schema",),
            "'response_format.type' must be 'json_object' or 'text'",
            ["json_schema", "json_object", "json_object"],
        ),
        (
            ("json_schema", "json_object"),
            "This server does not support structured output",
            ["json_schema", "json_object", None, None],
        ),
    ],
    ids=["no schema", "no JSON mode at all"],
)
def test_a_refused_format_gives_way_to_a_weaker_one_for_good(
    llm: LoopbackLLM, refused: tuple[str, ...], message: str, asked: list[str | None]
) -> None:
    llm.set_script(refusing(*refused, message=message))

    first, second = extract(llm, times=2)

    assert [asked_format(call) for call in llm.calls] == asked
    assert (first.attempts, second.attempts) == (len(asked) - 1, 1)


def test_calls_refused_at_the_same_time_step_down_together(llm: LoopbackLLM) -> None:
    llm.set_script(refusing("json_schema", message="json_schema is unknown here"))

    extract(llm, times=6, at_once=True)

    assert None not in [asked_format(call) for call in llm.calls]


def test_a_refused_temperature_is_left_to_the_server(llm: LoopbackLLM) -> None:
    llm.set_script(
        lambda call: (
            status(400, "Unsupported value: 'temperature' does not support 0 with this model.")
            if "temperature" in call.body
            else answer()
        )
    )

    extract(llm, times=2)

    assert ["temperature" in call.body for call in llm.calls] == [True, False, False]
    assert asked_format(llm.calls[-1]) == "json_schema"


def test_a_400_about_anything_else_is_not_tried_again(llm: LoopbackLLM) -> None:
    llm.set_script([status(400, "messages: must not be empty")])

    with pytest.raises(FatalCallError, match="messages: must not be empty"):
        extract(llm)
    assert len(llm.calls) == 1


@pytest.mark.parametrize(
    ("code", "kind"),
    [("context_length_exceeded", "invalid_request_error"), (None, "exceed_context_size_error")],
    ids=["OpenAI", "llama.cpp"],
)
def test_a_conversation_too_long_for_the_model_fails_only_its_sample(
    llm: LoopbackLLM, code: str | None, kind: str
) -> None:
    llm.set_script([error(code, kind, "exceeds the context of 4096 tokens", 400)])

    with pytest.raises(CallFailed, match="exceeds the context of 4096 tokens"):
        extract(llm)
    assert len(llm.calls) == 1


def test_an_empty_account_stops_the_run_though_it_is_a_429(llm: LoopbackLLM) -> None:
    llm.set_script([error("insufficient_quota", "insufficient_quota", "You exceeded", 429)])

    with pytest.raises(FatalCallError, match="You exceeded; check the balance"):
        extract(llm)
    assert len(llm.calls) == 1


@pytest.mark.parametrize(
    ("reported", "usage"),
    [
        pytest.param(
            {
                "prompt_tokens": 100,
                "completion_tokens": 50,
                "total_tokens": 150,
                "completion_tokens_details": {"reasoning_tokens": 30},
            },
            Usage(100, 20, 30, 150),
            id="thinking within the completion",
        ),
        pytest.param(
            {
                "prompt_tokens": 100,
                "completion_tokens": 20,
                "total_tokens": 150,
                "completion_tokens_details": {"reasoning_tokens": 30},
            },
            Usage(100, 20, 30, 150),
            id="thinking beside the completion",
        ),
        pytest.param(
            {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
            Usage(100, 20, None, 120),
            id="no word on thinking",
        ),
        pytest.param(
            {"prompt_tokens": 100, "completion_tokens": 20, "completion_tokens_details": None},
            Usage(100, 20, None, None),
            id="no total",
        ),
        pytest.param({"prompt_tokens": "many"}, None, id="no numbers"),
        pytest.param({}, None, id="empty"),
        pytest.param(None, None, id="none"),
    ],
)
def test_thinking_is_counted_once(
    llm: LoopbackLLM, reported: Mapping[str, object] | None, usage: Usage | None
) -> None:
    choice = {"message": {"role": "assistant", "content": "[]"}, "finish_reason": "stop"}
    body = json.dumps({"choices": [choice], "usage": reported}).encode()
    llm.set_script([Reply(body=body)])

    assert extract(llm)[0].usage == usage


def test_an_error_inside_a_successful_reply_is_told(llm: LoopbackLLM) -> None:
    llm.set_script([Reply(body=b'{"error": {"message": "upstream is down"}}')])

    with pytest.raises(CallFailed, match="the reply has no choices: upstream is down"):
        extract(llm)


def test_a_successful_reply_that_is_cut_off_is_called_no_valid_json(llm: LoopbackLLM) -> None:
    llm.set_script([Reply(body=b'{"choices": [{"message": {"content": "[')])

    with pytest.raises(CallFailed, match=r"the reply is not valid JSON: Unterminated string .*cut"):
        extract(llm)


@pytest.mark.parametrize(
    ("body", "found"), [(b"", "it is empty"), (b"<html>busy</html>", "a web page")]
)
def test_a_successful_reply_without_an_answer_is_named(
    llm: LoopbackLLM, body: bytes, found: str
) -> None:
    llm.set_script([Reply(body=body)])

    with pytest.raises(CallFailed, match=f"the reply has no choices: {found}"):
        extract(llm)
