"""Measure how long the embedded extractor takes, by the length of the conversation.

    python -m benchmarks.reader

Conversations are the concatenated lines of the bundled samples, up to the given length; the fastest
of several calls counts. The first call is made in a new process, so that it includes loading the
libraries and the model.
"""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from itertools import islice

from benchmarks.machine import machine
from benchmarks.timing import fastest, undisturbed
from cal_ai.benchmark.samples import bundled_folder, load_samples
from cal_ai.extractors.protocol import Request
from cal_ai.extractors.reader.extractor import read_events
from cal_ai.transcripts.conversation import Transcript
from truemark.tables import Table, render

GOALS_S = {12: 0.1, 50: None, 150: 1.0, 500: None}
FIRST_LINES, FIRST_GOAL_S = 12, 1.0
ROUNDS = 5
FIRST = f"from benchmarks.reader import first_call; print(first_call({FIRST_LINES}))"


def conversation(lines: int) -> Request:
    """Make a request of this many lines, with the calendar of the first sample that has one."""
    samples = load_samples(bundled_folder())
    utterances = (utterance for sample in samples for utterance in sample.transcript.utterances)
    request = next(sample.request for sample in samples if sample.request.context)
    return replace(request, transcript=Transcript(tuple(islice(utterances, lines))))


def first_call(lines: int) -> float:
    """Time one call in seconds, including imports; for a process that has loaded nothing."""
    request = conversation(lines)
    begun_s = time.perf_counter()
    read_events(request)
    return time.perf_counter() - begun_s


def rows() -> list[tuple[object, ...]]:
    """Return each measurement with its goal and its time, in milliseconds."""
    requests = {lines: conversation(lines) for lines in GOALS_S}
    read_events(requests[FIRST_LINES])
    taken_s = fastest(
        {str(lines): partial(read_events, request) for lines, request in requests.items()},
        ROUNDS,
    )
    measured: list[tuple[object, ...]] = [
        (f"{lines} lines", goal_s and 1_000 * goal_s, 1_000 * taken_s[str(lines)])
        for lines, goal_s in GOALS_S.items()
    ]
    command = [sys.executable, "-c", FIRST]
    first_s = min(
        undisturbed(
            lambda: float(subprocess.run(command, capture_output=True, check=True).stdout), "first"
        )
        for _ in range(ROUNDS)
    )
    name = f"{FIRST_LINES} lines, the first call of a process"
    return [*measured, (name, 1_000 * FIRST_GOAL_S, 1_000 * first_s)]


def main() -> None:
    columns = ("conversation", "goal, ms", "ms")
    print(f"{machine()}\n")
    print(render(Table(columns, tuple(rows()), (None, ".0f", ".0f")), "markdown"), end="")


if __name__ == "__main__":
    main()
