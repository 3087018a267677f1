"""Stored answers scored again: what a sample takes of memory while thousands go through."""

from __future__ import annotations

import gc
import json
import tracemalloc
from pathlib import Path

from testing.answers import record_answers
from tests.cal_ai.sample_folders import GOT_LUNCH, LUNCH, CommandLine, write_sample

from cal_ai.benchmark.samples import load_samples

FEW, MANY = 900, 1_100  # so many that the record has all the texts and findings it takes
BYTES_A_SAMPLE = 15_000
PADDING = 20_000  # characters of reasoning, of which little is kept
TALK = "".join(f"[Bob]: Line {number} of a talk about lunch on Friday.\n" for number in range(24))


def write_run(folder: Path, count: int, padding: int) -> None:
    """Samples of which each has one answer that is right and one that is not."""
    for number in range(count):
        text = f"{TALK}[Alice]: This is sample {number}."
        write_sample(folder / "samples", f"c{number % 5}/s{number}", expected=(LUNCH,), text=text)
    wrong = {**GOT_LUNCH, "title": "Dinner", "reasoning": f"See line 3. {'x' * padding}"}
    raw = json.dumps({"events": [GOT_LUNCH, wrong]})
    samples = load_samples(folder / "samples")
    record_answers(folder / "answers.jsonl", samples, lambda _: raw)


def rescore(cal_ai: CommandLine, count: int, padding: int) -> int:
    """The most memory that such a run takes, where memory is traced."""
    folder = cal_ai.folder / f"run_{count}"
    write_run(folder, count, padding)
    flags = ("--extractor", f"replay:{folder / 'answers.jsonl'}", "--output", folder / "reports")
    gc.collect()
    tracemalloc.reset_peak()
    before, _ = tracemalloc.get_traced_memory()
    ran = cal_ai("benchmark", folder / "samples", *flags)
    assert (ran.status, ran.out.splitlines()[0].split()[0]) == (0, str(count))
    return tracemalloc.get_traced_memory()[1] - before


def test_a_sample_takes_no_more_than_15_kb_of_memory(cal_ai: CommandLine) -> None:
    rescore(cal_ai, 10, 0)  # loads what is loaded once
    tracemalloc.start()
    try:
        few, many = (rescore(cal_ai, count, PADDING) for count in (FEW, MANY))
    finally:
        tracemalloc.stop()
    assert (many - few) / (MANY - FEW) < BYTES_A_SAMPLE
