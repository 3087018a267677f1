"""Measure what the benchmark runner adds to the calls it makes.

Run from the root of the repository: python -m benchmarks.runner

1. The whole command, 45 samples against a server that takes 1 s per answer, 15 calls in flight,
   beside a plain script that loads the same client and makes the same calls.
2. The part of that which is the start of Python and of the client.
3. The same with --rpm 60 and fewer samples: the server counts the calls.
4. A server that answers at once: the runner, with its prompts, parsing, storing, scoring and
   progress, against a plain asyncio loop around the same calls of the same client: httpx2 for
   `openai`, the google-genai SDK for `gemini`. They take turns; the fastest of each counts.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from multiprocessing.connection import Connection
from pathlib import Path

from testing.loopback import LoopbackLLM, answer

from benchmarks.machine import machine
from benchmarks.plain_calls import CLIENTS, CONCURRENCY, LOOPS, MODEL, Client
from benchmarks.processes import cost_of
from benchmarks.timing import fastest
from cal_ai.benchmark.asking import Plan, extract_all
from cal_ai.benchmark.report import progress_line
from cal_ai.benchmark.samples import Sample, bundled_folder, load_samples
from cal_ai.benchmark.scoring import Result
from cal_ai.benchmark.store import AnswerStore
from cal_ai.extractors.language_model import GeminiClient, OpenAIClient
from truemark.tables import Table, render

SAMPLES = 45
RUNNER_GOAL = 1.4
RPM = 60
PACED = 15
CALLS = 300
ROUNDS = 20
WHOLE_ROUNDS = 3
STARTS = ("pass", "import httpx2", "import google.genai")
START_ROUNDS = 5
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
    """A language model on loopback, in a separate process so that it takes none of our time."""

    urls: dict[Client, str]
    line: Connection

    def call_times_s(self) -> list[float]:
        """Return when each call so far arrived."""
        self.line.send("calls")
        times: list[float] = self.line.recv()
        return times


def _serve(line: Connection, delay_s: float) -> None:
    with LoopbackLLM([replace(answer(events=[EVENT]), delay_s=delay_s)]) as server:
        line.send({"openai": server.openai_url, "gemini": server.gemini_url})
        while line.recv() == "calls":
            line.send([call.at_s for call in server.calls])


@contextmanager
def serving(delay_s: float) -> Iterator[Server]:
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(theirs, delay_s))
    process.start()
    try:
        yield Server(ours.recv(), ours)
    finally:
        ours.send("stop")
        process.join()


def command_seconds(client: Client, url: str, folder: Path, *flags: str) -> float:
    """Measure the wall time of the command, including the start of the interpreter."""
    command = ["-m", "cal_ai", "benchmark", str(folder / "samples"), "--extractor", client]
    command += ["--model", MODEL, "--no-summary", "--output", str(folder / "reports")]
    settings = {
        "openai": {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "loopback"},
        "gemini": {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "loopback"},
    }
    command += ["--concurrency", str(CONCURRENCY), *flags]
    return cost_of(command, settings[client]).wall_s


def copy_samples(folder: Path, count: int) -> None:
    """Copy this many of the bundled samples."""
    for sample in load_samples(bundled_folder())[:count]:
        for suffix in (".txt", ".expected.json"):
            target = folder / "samples" / f"{sample.id}{suffix}"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((bundled_folder() / f"{sample.id}{suffix}").read_bytes())


async def runner_loop(client: Client, url: str, samples: Sequence[Sample], output: Path) -> None:
    """Run the runner as the command does: prompts, parsing, storing, scoring, progress."""
    extractor: GeminiClient | OpenAIClient = (
        OpenAIClient(MODEL, api_key="loopback", base_url=url)
        if client == "openai"
        else GeminiClient("loopback", MODEL, base_url=url)
    )
    started = datetime.now(UTC)
    ended = 0

    def tell(result: Result) -> None:
        nonlocal ended
        ended += 1
        print(progress_line(ended, len(samples), result), file=sink, flush=True)

    with (output / "progress").open("w", encoding="utf-8") as sink:
        plan = Plan(
            folder=output,
            samples=tuple(samples),
            extractor=extractor,
            output=output,
            started=started,
            store=AnswerStore(output, started),
            concurrency=CONCURRENCY,
            summary=False,
        )
        await extract_all(plan, tell)
    await extractor.close()
    assert ended == len(samples)


def overhead(client: Client, url: str, output: Path) -> tuple[object, ...]:
    """Return the goal, the seconds of the plain loop and of the runner, and their ratio."""
    bundled = load_samples(bundled_folder())
    samples = [
        replace(bundled[number % len(bundled)], name=f"copy_{number}") for number in range(CALLS)
    ]
    loops: dict[str, Callable[[], object]] = {
        "plain": lambda: asyncio.run(LOOPS[client](url, samples)),
        "runner": lambda: asyncio.run(runner_loop(client, url, samples, output)),
    }
    times_s = fastest(loops, ROUNDS)
    plain_s, runner_s = times_s["plain"], times_s["runner"]
    return f"--extractor {client}", RUNNER_GOAL, plain_s, runner_s, runner_s / plain_s


def whole_command(client: Client, url: str, folder: Path) -> tuple[object, ...]:
    """Return the seconds of a plain script and of the command, and their ratio."""
    times_s: dict[str, list[float]] = {"plain": [], "command": []}
    for _ in range(WHOLE_ROUNDS):
        script = ["-m", "benchmarks.plain_calls", client, url, str(folder / "samples")]
        times_s["plain"].append(cost_of(script).wall_s)
        times_s["command"].append(command_seconds(client, url, folder))
    plain_s, command_s = min(times_s["plain"]), min(times_s["command"])
    return f"--extractor {client}", plain_s, command_s, command_s / plain_s


def start(script: str) -> tuple[object, ...]:
    """Return the seconds that Python takes to start, run only this script, and end."""
    return f"python -c '{script}'", min(cost_of(["-c", script]).wall_s for _ in range(START_ROUNDS))


def pacing(server: Server, folder: Path) -> tuple[object, ...]:
    """Return how long the paced command took, and the shortest time between two calls."""
    before = len(server.call_times_s())
    copy_samples(folder, PACED)
    wall_s = command_seconds("openai", server.urls["openai"], folder, "--rpm", str(RPM))
    times_s = server.call_times_s()[before:]
    gaps_s = [late - early for early, late in pairwise(times_s)]
    return PACED, wall_s, min(gaps_s)


def main() -> None:
    print(f"{machine()}\n")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_samples(folder / "all", SAMPLES)
        with serving(delay_s=1.0) as server:
            whole = [
                whole_command(client, server.urls[client], folder / "all") for client in CLIENTS
            ]
            paced = pacing(server, folder / "paced")
        with serving(delay_s=0.0) as server:
            added = [overhead(client, server.urls[client], folder) for client in CLIENTS]
    compared = ("goal", "plain loop, s", "runner, s", "times the plain loop")
    formats = (None, ".2f", ".2f", ".2f", ".2f")
    first = f"{SAMPLES} samples, 1 s per answer, {CONCURRENCY} in flight, whole command"
    show(Table((first, *compared[1:]), tuple(whole), (None, ".2f", ".2f", ".2f")))
    show(Table((f"{CALLS} calls answered at once", *compared), tuple(added), formats))
    show(
        Table(("the start of a client alone", "seconds"), tuple(map(start, STARTS)), (None, ".2f"))
    )
    columns = (f"samples with --rpm {RPM}", "seconds", "shortest time between two calls, s")
    show(Table(columns, (paced,), ("d", ".2f", ".2f")))


def show(table: Table) -> None:
    print(render(table, "markdown"), flush=True)


if __name__ == "__main__":
    main()
