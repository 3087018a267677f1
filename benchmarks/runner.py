"""What the benchmark runner adds to the calls it makes: nothing to see at 1 s per answer.

Run from the root of the repository: python -m benchmarks.runner

1. 45 samples against a server that takes 1 s per answer, 15 calls in flight.
2. The same with --rpm 60: the server counts the calls of every minute.
3. A server that answers at once: the runner against a bare asyncio loop around the same SDK calls,
   which take turns; the fastest of each counts.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

from testing.loopback import LoopbackLLM, answer

from benchmarks.machine import machine
from benchmarks.timing import fastest
from cal_ai.benchmark.figures import progress_line
from cal_ai.benchmark.run import Plan, extract_all
from cal_ai.benchmark.samples import Sample, SampleSet, bundled_folder, load_samples
from cal_ai.benchmark.scoring import Result
from cal_ai.benchmark.store import AnswerStore
from cal_ai.extractors.language_model import GeminiClient
from cal_ai.extractors.prompt import RESPONSE_SCHEMA, build_prompt
from truemark.tables import Table, render

if TYPE_CHECKING:
    from google.genai import types

MODEL = "gemini-2.5-pro"
SAMPLES = 45
CONCURRENCY = 15
RPM = 60
CALLS = 300
ROUNDS = 12
EVENT = {
    "action": "create",
    "title": "Lunch with Bob",
    "start_time": "2026-02-21T12:00:00",
    "end_time": "2026-02-21T13:00:00",
    "location": "Luigi's",
    "attendees": ["Bob"],
    "confidence": "high",
    "reasoning": "Bob proposes lunch and Alice agrees.",
    "assumptions": [],
    "existing_event_id": None,
}


@dataclass(frozen=True, slots=True)
class Server:
    """A language model on loopback in a process of its own, so that it takes none of our time."""

    url: str
    line: Connection

    def call_times_s(self) -> list[float]:
        """When each call so far arrived."""
        self.line.send("calls")
        times: list[float] = self.line.recv()
        return times


def _serve(line: Connection, delay_s: float) -> None:
    with LoopbackLLM([replace(answer(events=[EVENT]), delay_s=delay_s)]) as server:
        line.send(server.gemini_url)
        while line.recv() == "calls":
            line.send([call.at_s for call in server.calls])


@contextmanager
def serving(delay_s: float) -> Iterator[Server]:
    here, there = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(there, delay_s))
    process.start()
    try:
        yield Server(here.recv(), here)
    finally:
        here.send("stop")
        process.join()


def command_seconds(url: str, folder: Path, *flags: str) -> float:
    """Wall time of the command line, start of the interpreter included."""
    command = [sys.executable, "-m", "cal_ai", "benchmark", str(folder / "samples")]
    command += ["--extractor", "gemini", "--no-summary", "--output", str(folder / "reports")]
    settings = {"GEMINI_API_KEY": "loopback", "GOOGLE_GEMINI_BASE_URL": url}
    begun_s = time.perf_counter()
    subprocess.run(
        [*command, "--concurrency", str(CONCURRENCY), *flags],
        env={**os.environ, **settings},
        check=True,
        capture_output=True,
    )
    return time.perf_counter() - begun_s


def copy_samples(folder: Path, count: int) -> None:
    """As many of the bundled samples as asked for."""
    for sample in load_samples(bundled_folder()).samples[:count]:
        for suffix in (".txt", ".expected.json"):
            target = folder / "samples" / f"{sample.id}{suffix}"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((bundled_folder() / f"{sample.id}{suffix}").read_bytes())


def most_in_a_minute(times_s: Sequence[float]) -> int:
    """The largest number of calls that any 60 seconds have seen."""
    return max(sum(start <= at < start + 60 for at in times_s) for start in times_s)


async def bare_loop(url: str, samples: Sequence[Sample]) -> None:
    """The same calls of the same SDK, with nothing around them but as many tasks."""
    import httpx2
    from google import genai
    from google.genai import types

    http = httpx2.AsyncClient(
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None)
    )
    options = types.HttpOptions(
        base_url=url, api_version="v1beta", timeout=120_000, httpx_async_client=http
    )
    client = genai.Client(vertexai=False, api_key="loopback", http_options=options)
    waiting = iter([_contents(sample) for sample in samples])
    config = types.GenerateContentConfig(
        temperature=0.0,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        system_instruction=build_prompt(samples[0].request).system,
        response_mime_type="application/json",
        response_json_schema=RESPONSE_SCHEMA,
    )

    async def work() -> None:
        for contents in waiting:
            response = await client.aio.models.generate_content(
                model=MODEL, contents=contents, config=config
            )
            assert response.text
            assert response.usage_metadata

    await asyncio.gather(*(work() for _ in range(CONCURRENCY)))
    await http.aclose()


def _contents(sample: Sample) -> types.ContentListUnion:
    turns = build_prompt(sample.request).turns
    return [{"role": turn.role, "parts": [{"text": turn.text}]} for turn in turns]


async def runner_loop(url: str, samples: Sequence[Sample], output: Path) -> None:
    """The runner as the command uses it: prompts, parsing, storing, scoring, progress."""
    extractor = GeminiClient("loopback", MODEL, base_url=url)
    started = datetime.now(UTC)
    ended = 0

    def tell(result: Result) -> None:
        nonlocal ended
        ended += 1
        print(progress_line(ended, len(samples), result), file=sink, flush=True)

    with (output / "progress").open("w", encoding="utf-8") as sink:
        plan = Plan(
            samples=SampleSet(output, tuple(samples), ()),
            extractor=extractor,
            output=output,
            started=started,
            store=AnswerStore(output, started),
            concurrency=CONCURRENCY,
            summary=False,
        )
        results = await extract_all(plan, tell)
    await extractor.close()
    assert len(results) == len(samples)


def overhead(url: str, output: Path) -> tuple[float, float]:
    """Seconds of the bare loop and of the runner."""
    bundled = load_samples(bundled_folder()).samples
    samples = [
        replace(bundled[number % len(bundled)], name=f"copy_{number}") for number in range(CALLS)
    ]
    times_s = fastest(
        {
            "bare": lambda: asyncio.run(bare_loop(url, samples)),
            "runner": lambda: asyncio.run(runner_loop(url, samples, output)),
        },
        ROUNDS,
    )
    return times_s["bare"], times_s["runner"]


def main() -> None:
    print(f"{machine()}\n")
    rows: list[tuple[object, ...]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_samples(folder, SAMPLES)
        with serving(delay_s=1.0) as server:
            wall_s = command_seconds(server.url, folder)
            rows.append((f"{SAMPLES} samples, 1 s per answer, {CONCURRENCY} in flight: s", wall_s))
            before = len(server.call_times_s())
            wall_s = command_seconds(server.url, folder, "--rpm", str(RPM))
            times_s = server.call_times_s()[before:]
            gaps_s = [late - early for early, late in pairwise(times_s)]
            rows.append((f"the same with --rpm {RPM}: s", wall_s))
            rows.append(("most calls in any minute", most_in_a_minute(times_s)))
            rows.append(("shortest time between two calls: s", min(gaps_s)))
        with serving(delay_s=0.0) as server:
            bare_s, runner_s = overhead(server.url, folder)
            rows.append((f"bare loop, {CALLS} calls answered at once: s", bare_s))
            rows.append((f"runner, {CALLS} calls answered at once: s", runner_s))
            rows.append(("runner over bare loop: %", 100 * (runner_s / bare_s - 1)))
    print(render(Table(("measured", "value"), tuple(rows), (None, ".2f")), "markdown"))


if __name__ == "__main__":
    main()
