"""A scripted language model server on loopback, in the REST forms of Gemini and OpenAI.

    with LoopbackLLM([status(429, retry_after="0"), answer(events=[...])]) as server:
        GeminiClient(api_key=..., base_url=server.gemini_url)

A script is a sequence of replies, used in order of arrival with the last one repeated, or a
function from a `Call` to its `Reply`. `server.calls` has every request that arrived.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from types import TracebackType
from typing import Any, Literal

Dialect = Literal["gemini", "openai"]
Fault = Literal["hang", "drop", "cut"]


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens that the server reports for a call; `output` excludes thinking tokens."""

    prompt: int = 100
    output: int = 20
    thinking: int = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """One scripted reply; `body` replaces `text` in the form of the dialect."""

    text: str | None = None
    status: int = 200
    finish: str = "stop"
    block_reason: str | None = None
    tokens: Tokens | None = field(default_factory=Tokens)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    delay_s: float = 0.0
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """A request as it arrived; `prompt` is all its text, the system part first."""

    dialect: Dialect
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    prompt: str
    at_s: float


Script = Sequence[Reply] | Callable[[Call], Reply]


def answer(
    *,
    events: Sequence[Mapping[str, object]] = (),
    tokens: Tokens | None = Tokens(),  # noqa: B008
) -> Reply:
    """Reply with well-formed JSON with these events."""
    return Reply(text=json.dumps({"events": list(events)}), tokens=tokens)


def says(text: str, *, finish: str = "stop") -> Reply:
    """Reply with any text, well-formed or not."""
    return Reply(text=text, finish=finish)


def status(
    code: int, message: str = "scripted failure", *, retry_after: str | None = None
) -> Reply:
    """Reply with this status and an error in the provider's form."""
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return Reply(text=message, status=code, headers=headers)


def blocked(reason: str = "SAFETY") -> Reply:
    """Reply with success but without text, as for a withheld answer."""
    return Reply(block_reason=reason, finish="blocked")


def hang() -> Reply:
    """Keep the connection open and never reply."""
    return Reply(fault="hang")


def drop() -> Reply:
    """Close the connection before the first byte of the reply."""
    return Reply(fault="drop")


def cut() -> Reply:
    """Close the connection in the middle of the reply's body."""
    return replace(answer(), fault="cut")


class LoopbackLLM:
    """Serves the script from a background thread during a `with` block."""

    def __init__(self, script: Script = (), *, delay_s: float = 0.0) -> None:
        self._script = script
        self._delay_s = delay_s
        self._lock = threading.Lock()
        self._calls: list[Call] = []
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._loop: asyncio.AbstractEventLoop
        self._stop: asyncio.Event
        self._port = 0
        self._accepted = 0

    def __enter__(self) -> LoopbackLLM:
        self._thread.start()
        if not self._ready.wait(timeout=10):
            raise RuntimeError("the loopback server did not start")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(timeout=10)

    @property
    def gemini_url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def openai_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def calls(self) -> tuple[Call, ...]:
        with self._lock:
            return tuple(self._calls)

    @property
    def connections(self) -> int:
        return self._accepted

    def set_script(self, script: Script) -> None:
        """Replace the script and forget the calls so far."""
        with self._lock:
            self._script = script
            self._calls.clear()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        connections: set[asyncio.Task[None]] = set()

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self._accepted += 1
            task = asyncio.ensure_future(self._converse(reader, writer))
            connections.add(task)
            task.add_done_callback(connections.discard)

        server = await asyncio.start_server(accept, "127.0.0.1", 0, backlog=512)
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in connections:
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (request := await _read_request(reader)) is not None:
                path, headers, body = request
                call = _understand(path, headers, body)
                if not await self._reply(call, self._next(call), writer):
                    return
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client is gone, for example after a timeout
        finally:
            writer.close()

    def _next(self, call: Call) -> Reply:
        with self._lock:
            position = len(self._calls)
            self._calls.append(call)
            script = self._script
        if callable(script):
            return script(call)
        if not script:
            return answer()
        return script[min(position, len(script) - 1)]

    async def _reply(self, call: Call, reply: Reply, writer: asyncio.StreamWriter) -> bool:
        """Send the reply; return whether the connection can be used for another request."""
        if delay_s := self._delay_s + reply.delay_s:
            await asyncio.sleep(delay_s)
        if reply.fault == "hang":
            await self._stop.wait()
        if reply.fault in ("hang", "drop"):
            return False
        body = _render(call.dialect, reply)
        head = f"HTTP/1.1 {reply.status} {HTTPStatus(reply.status).phrase}\r\n"
        for name, value in {"Content-Type": "application/json", **reply.headers}.items():
            head += f"{name}: {value}\r\n"
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode())
        writer.write(body if reply.fault is None else body[: len(body) // 2])
        await writer.drain()
        return reply.fault is None


async def _read_request(
    reader: asyncio.StreamReader,
) -> tuple[str, dict[str, str], bytes] | None:
    start = await reader.readline()
    if not start:
        return None
    _, path, _ = start.decode("latin-1").split(" ", 2)
    headers: dict[str, str] = {}
    while (line := (await reader.readline()).decode("latin-1").strip()) != "":
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return path, headers, body


def _understand(path: str, headers: dict[str, str], body: bytes) -> Call:
    content: Mapping[str, Any] = json.loads(body) if body else {}
    if ":generateContent" in path:
        turns = [content.get("systemInstruction") or {}, *content.get("contents", ())]
        prompt = "\n".join(part.get("text", "") for turn in turns for part in turn.get("parts", ()))
        return Call("gemini", path, headers, content, prompt, time.monotonic())
    prompt = "\n".join(message["content"] for message in content.get("messages", ()))
    return Call("openai", path, headers, content, prompt, time.monotonic())


def _render(dialect: Dialect, reply: Reply) -> bytes:
    if reply.body is not None:
        return reply.body
    if reply.status != HTTPStatus.OK:
        return json.dumps({"error": _error(dialect, reply)}).encode()
    form = _gemini_form(reply) if dialect == "gemini" else _openai_form(reply)
    return json.dumps(form).encode()


def _error(dialect: Dialect, reply: Reply) -> dict[str, object]:
    name = HTTPStatus(reply.status).name
    if dialect == "gemini":
        return {"code": reply.status, "message": reply.text, "status": name}
    return {"message": reply.text, "type": name.lower(), "code": None}


def _gemini_form(reply: Reply) -> dict[str, object]:
    form: dict[str, object] = {"modelVersion": "loopback"}
    if reply.text is not None:
        finish = {"stop": "STOP", "length": "MAX_TOKENS"}.get(reply.finish, reply.finish)
        content = {"role": "model", "parts": [{"text": reply.text}]}
        form["candidates"] = [{"content": content, "finishReason": finish, "index": 0}]
    elif reply.block_reason is not None:
        form["promptFeedback"] = {"blockReason": reply.block_reason}
    else:
        form["candidates"] = [{"content": {"role": "model"}, "finishReason": reply.finish}]
    if (tokens := reply.tokens) is not None:
        usage = {"promptTokenCount": tokens.prompt, "candidatesTokenCount": tokens.output}
        if tokens.thinking:
            usage["thoughtsTokenCount"] = tokens.thinking
        usage["totalTokenCount"] = tokens.prompt + tokens.output + tokens.thinking
        form["usageMetadata"] = usage
    return form


def _openai_form(reply: Reply) -> dict[str, object]:
    message: dict[str, object] = {"role": "assistant", "content": reply.text}
    finish = reply.finish
    if reply.block_reason is not None:
        finish, message["refusal"] = "content_filter", reply.block_reason
    form: dict[str, object] = {
        "id": "chatcmpl-loopback",
        "object": "chat.completion",
        "model": "loopback",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    }
    if (tokens := reply.tokens) is not None:
        completion = tokens.output + tokens.thinking
        form["usage"] = {
            "prompt_tokens": tokens.prompt,
            "completion_tokens": completion,
            "total_tokens": tokens.prompt + completion,
            "completion_tokens_details": {"reasoning_tokens": tokens.thinking},
        }
    return form
