"""Any endpoint that speaks OpenAI's chat completions: OpenAI, Ollama, vLLM, llama.cpp, others."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus

import httpx2

from truemark.services.bounded_http import UnfitAnswerError
from truemark.services.bounded_httpx2 import bounded_client, certificates_for
from truemark.services.calls import (
    CallFailed,
    FatalCallError,
    LLMCallResult,
    Prompt,
    TransientError,
    Usage,
    token_count,
)
from truemark.services.client import Fault, LanguageModelClient
from truemark.services.retry import Caller, parse_retry_after

OPENAI_URL = "https://api.openai.com/v1"

# From the strictest way of asking for JSON to the loosest; not every server knows them all.
_JSON_FORMATS = ("json_schema", "json_object", None)
_ABOUT_JSON = re.compile(r"response_format|json.?(schema|object|mode)|grammar|structured", re.I)
_ABOUT_TEMPERATURE = re.compile("temperature", re.I)
_TOO_LONG = frozenset({"context_length_exceeded", "exceed_context_size_error"})
_NO_MONEY = "insufficient_quota"
_ROLES = {"user": "user", "model": "assistant"}


@dataclass(frozen=True, slots=True)
class _Options:
    """What a request asks for besides the dialogue; a server may refuse any of it."""

    json_format: int = 0
    cold: bool = True

    def body(self, prompt: Prompt) -> dict[str, object]:
        body: dict[str, object] = {"temperature": 0} if self.cold else {}
        if prompt.schema is not None and (chosen := _JSON_FORMATS[self.json_format]) is not None:
            schema = {"name": prompt.schema_name, "schema": prompt.schema, "strict": True}
            described = {chosen: schema} if chosen == "json_schema" else {}
            body["response_format"] = {"type": chosen, **described}
        return body

    def without_refused(self, message: str) -> _Options | None:
        """Return options without the one that the message refuses; None if it refuses none."""
        if self.cold and _ABOUT_TEMPERATURE.search(message):
            return replace(self, cold=False)
        if _JSON_FORMATS[self.json_format] is not None and _ABOUT_JSON.search(message):
            return replace(self, json_format=self.json_format + 1)
        return None


class OpenAIModel(LanguageModelClient):
    """Asks one model of one server, over connections that are kept open between calls."""

    provider = "the OpenAI endpoint"
    key_name = "OPENAI_API_KEY"

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        caller: Caller | None = None,
    ) -> None:
        super().__init__(model, api_key, caller)
        base_url = base_url or OPENAI_URL
        headers = {"Content-Type": "application/json"}
        if api_key:
            headers["Authorization"] = f"Bearer {api_key}"
        self._client = bounded_client(base_url, certificates_for(base_url), headers)
        self._url = f"{base_url.rstrip('/')}/chat/completions"
        self._options = _Options()

    async def close(self) -> None:
        await self._client.aclose()

    async def call_api(self, prompt: Prompt) -> LLMCallResult:
        options = self._options
        try:
            response = await self._client.post(self._url, content=self._body(prompt, options))
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise self.fault_of_transport(error) from error
        except UnfitAnswerError as error:
            raise CallFailed(f"the reply cannot be read: {error}") from error
        if response.status_code != HTTPStatus.OK:
            raise self._fault(response, options)
        return self._result(response)

    def _body(self, prompt: Prompt, options: _Options) -> bytes:
        messages = [{"role": _ROLES[turn.role], "content": turn.text} for turn in prompt.turns]
        if prompt.system is not None:
            messages.insert(0, {"role": "system", "content": prompt.system})
        body = {"model": self.model, **options.body(prompt), "messages": messages}
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()

    def _fault(self, response: httpx2.Response, options: _Options) -> Fault:
        status = response.status_code
        message, kinds = _error(response)
        if status in (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY):
            if kinds & _TOO_LONG:
                return CallFailed(self.quote(message))
            if (weaker := options.without_refused(message)) is not None:
                if self._options == options:
                    self._options = weaker
                return TransientError(self.quote(message), at_once=True)
        if status == HTTPStatus.TOO_MANY_REQUESTS and _NO_MONEY in kinds:
            return FatalCallError(f"{self.quote(message)}; check the balance")
        asked_s = parse_retry_after(response.headers.get("retry-after"))
        return self.fault_of_status(status, message, retry_after_s=asked_s)

    def _result(self, response: httpx2.Response) -> LLMCallResult:
        reply = _json(response.content)
        usage = _usage(_inner(reply, "usage"))
        choices = reply.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            if (fault := _json_fault(response.content)) is not None:
                raise CallFailed(f"the reply is not valid JSON: {fault}; is it cut off?")
            nothing = "a web page" if response.content.strip() else "it is empty"
            quote = self.quote(_error(response)[0]) or nothing
            raise CallFailed(f"the reply has no choices: {quote}", usage=usage)
        message = _inner(choice, "message")
        text = message.get("content")
        if not isinstance(text, str) or not text.strip():
            reason = f"finish_reason {choice.get('finish_reason')}"
            if refusal := message.get("refusal"):
                reason += f", refusal: {refusal}"
            raise CallFailed(f"the model gave no answer: {self.quote(reason)}", usage=usage)
        cut_off = "length" if choice.get("finish_reason") == "length" else None
        return LLMCallResult(self.without_key(text), usage, cut_off)


def _json(content: bytes) -> dict[str, object]:
    try:
        reply = json.loads(content)
    except (ValueError, RecursionError):
        reply = None
    return reply if isinstance(reply, dict) else {}


def _json_fault(content: bytes) -> str | None:
    """Say what is wrong with a reply that begins as JSON; None for others, such as a web page."""
    if not content.lstrip().startswith((b"{", b"[")):
        return None
    try:
        json.loads(content)
    except (ValueError, RecursionError) as error:
        return str(error)
    return None


def _inner(reply: Mapping[str, object], key: str) -> dict[str, object]:
    value = reply.get(key)
    return value if isinstance(value, dict) else {}


def _error(response: httpx2.Response) -> tuple[str, frozenset[str]]:
    """Return the message of an error reply, or its text, and the error's code and type."""
    error = _inner(_json(response.content), "error")
    message = error.get("message")
    kinds = (error.get("code"), error.get("type"))
    if not isinstance(message, str):
        message = response.text
    return message, frozenset(kind for kind in kinds if isinstance(kind, str))


def _usage(counts: Mapping[str, object]) -> Usage | None:
    """Read the token counts, with thinking separate from output.

    OpenAI counts thinking as part of the completion, others separately; the total tells which.
    """
    prompt = token_count(counts.get("prompt_tokens"))
    output = token_count(counts.get("completion_tokens"))
    total = token_count(counts.get("total_tokens"))
    thinking = token_count(_inner(counts, "completion_tokens_details").get("reasoning_tokens"))
    if prompt is None and output is None and total is None:
        return None
    separate = total is not None and total == (prompt or 0) + (output or 0) + (thinking or 0)
    if output is not None and thinking and not separate:
        output = max(0, output - thinking)
    return Usage(prompt, output, thinking, total)
