"""Measure how long a stored run of 10,000 samples takes to rescore, and the memory it needs.

The command is run as a user would, in a separate process: loading the samples, reading the answers,
scoring, report and history included. The memory of a sample is what the run takes beyond a run of
100 samples. The last run has the same answers, each padded with 20 kB of reasoning, most of which
is dropped.
"""

from __future__ import annotations

import json
import tempfile
from functools import partial
from pathlib import Path

from testing.answers import record_answers, recorded_answer

from benchmarks.machine import machine
from benchmarks.processes import Cost, cost_of
from cal_ai.benchmark.samples import Sample, bundled_folder, load_samples
from truemark.tables import Table, render

FEW = 100
SAMPLES = 10_000
PADDING = 20_000


def write_samples(folder: Path, count: int) -> None:
    """Write copies of the bundled samples, each with its number in the transcript."""
    bundled = load_samples(bundled_folder())
    for number in range(count):
        source = bundled_folder() / f"{bundled[number % len(bundled)].id}.txt"
        target = folder / source.parent.name / f"{source.stem}_{number}.txt"
        target.parent.mkdir(parents=True, exist_ok=True)
        words = source.read_text(encoding="utf-8")
        target.write_text(f"{words}[Nobody]: This is conversation {number}.\n", encoding="utf-8")
        beside = source.with_suffix(".expected.json").read_text(encoding="utf-8")
        target.with_suffix(".expected.json").write_text(beside, encoding="utf-8")


def padded_answer(folder: Path, padding: str, sample: Sample) -> str:
    """Return the recorded answer of a sample, with padding in its reasons."""
    answer = json.loads(recorded_answer(folder / f"{sample.id}.txt") or '{"events": []}')
    for event in answer["events"]:
        event["reasoning"] += padding
    return json.dumps(answer)


def rescore(work: Path, folder: str, recording: Path) -> Cost:
    """Measure time and peak memory of the command in a separate process."""
    command = ["-m", "cal_ai", "benchmark", str(work / folder)]
    command += ["--extractor", f"replay:{recording}", "--output", str(work / "reports")]
    return cost_of(command)


def main() -> None:
    rows: list[tuple[object, ...]] = []
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        least_mb = None
        for count, padding in ((FEW, 0), (SAMPLES, 0), (SAMPLES, PADDING)):
            folder = f"samples_{count}"
            if not (work / folder).is_dir():
                write_samples(work / folder, count)
            recording = work / f"recorded_{count}_{padding}.jsonl"
            answer_of = partial(padded_answer, work / folder, "x" * padding)
            record_answers(recording, load_samples(work / folder), answer_of)
            cost = rescore(work, folder, recording)
            least_mb = least_mb or cost.peak_mb
            each_kb = 1_000 * (cost.peak_mb - least_mb) / (count - FEW) if count > FEW else None
            label = f"{count:,}, padded" if padding else f"{count:,}"
            stored_mb = recording.stat().st_size / 1e6
            rows.append((label, stored_mb, cost.wall_s, cost.cpu_s, cost.peak_mb, each_kb))
    print(f"{machine()}\n")
    columns = ("answers", "stored MB", "seconds", "CPU seconds", "peak MB", "kB a sample")
    formats = (None, ".0f", ".2f", ".2f", ".0f", ".1f")
    print(render(Table(columns, tuple(rows), formats), "markdown"), end="")


if __name__ == "__main__":
    main()
