"""Make the calls of the benchmark runner in a plain script, with the same client.

    python -m benchmarks.plain_calls CLIENT URL FOLDER

Makes the calls for the samples of a folder; imports no more than needed.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar, get_args

from cal_ai.benchmark.samples import Sample, load_samples
from cal_ai.extractors.prompt import BUILT_IN, RESPONSE_SCHEMA

if TYPE_CHECKING:
    import httpx2
    from google.genai import types

T = TypeVar("T")

Client = Literal["openai", "gemini"]
CLIENTS: tuple[Client, ...] = get_args(Client)
MODEL = "gemini-2.5-pro"
CONCURRENCY = 15


async def httpx_loop(url: str, samples: Sequence[Sample]) -> None:
    """Make the same requests with the same HTTP client, in as many tasks."""
    import httpx2

    format = {"name": "events", "schema": RESPONSE_SCHEMA, "strict": True}
    bodies = [
        {
            "model": MODEL,
            "messages": [{"role": "system", "content": prompt.system}]
            + [{"role": "user", "content": turn.text} for turn in prompt.turns],
            "temperature": 0,
            "response_format": {"type": "json_schema", "json_schema": format},
        }
        for prompt in (BUILT_IN.filled(sample.request) for sample in samples)
    ]
    key = {"Authorization": "Bearer loopback"}
    async with httpx2.AsyncClient(headers=key, limits=_unlimited(), timeout=120) as http:

        async def ask(body: dict[str, object]) -> None:
            response = await http.post(f"{url}/chat/completions", json=body)
            assert response.json()["choices"][0]["message"]["content"]

        await _in_flight(ask, bodies)


async def sdk_loop(url: str, samples: Sequence[Sample]) -> None:
    """Make the same calls with the same SDK, in as many tasks."""
    import httpx2
    from google import genai
    from google.genai import types

    http = httpx2.AsyncClient(limits=_unlimited())
    options = types.HttpOptions(
        base_url=url, api_version="v1beta", timeout=120_000, httpx_async_client=http
    )
    client = genai.Client(vertexai=False, api_key="loopback", http_options=options)
    config = types.GenerateContentConfig(
        temperature=0.0,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        system_instruction=BUILT_IN.filled(samples[0].request).system,
        response_mime_type="application/json",
        response_json_schema=RESPONSE_SCHEMA,
    )

    async def ask(contents: types.ContentListUnion) -> None:
        response = await client.aio.models.generate_content(
            model=MODEL, contents=contents, config=config
        )
        assert response.text
        assert response.usage_metadata

    await _in_flight(ask, [_contents(sample) for sample in samples])
    await http.aclose()


LOOPS: dict[Client, Callable[[str, Sequence[Sample]], Coroutine[None, None, None]]] = {
    "openai": httpx_loop,
    "gemini": sdk_loop,
}


def _unlimited() -> httpx2.Limits:
    import httpx2

    return httpx2.Limits(max_connections=None, max_keepalive_connections=None)


async def _in_flight(ask: Callable[[T], Coroutine[None, None, None]], samples: Sequence[T]) -> None:
    """Ask about all samples, as many at a time as the runner does."""
    waiting = iter(samples)

    async def work() -> None:
        for sample in waiting:
            await ask(sample)

    await asyncio.gather(*(work() for _ in range(CONCURRENCY)))


def _contents(sample: Sample) -> types.ContentListUnion:
    turns = BUILT_IN.filled(sample.request).turns
    return [{"role": turn.role, "parts": [{"text": turn.text}]} for turn in turns]


def main() -> None:
    _, url, folder = sys.argv[1:]
    client: Client = "gemini" if sys.argv[1] == "gemini" else "openai"
    asyncio.run(LOOPS[client](url, load_samples(Path(folder))))


if __name__ == "__main__":
    main()
