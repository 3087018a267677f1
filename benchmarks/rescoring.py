"""How long a stored run of 10,000 samples takes to rescore, and what its answers cost in memory.

The command line is run as a user would, in a process of its own: loading the samples, reading the
answers, scoring, report and history included. The second run has the same answers, each padded
with 20 kB of reasoning: its peak of memory must not be larger by more than noise.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from testing.answers import recorded_answer

from benchmarks.machine import machine
from cal_ai.benchmark.samples import Sample, bundled_folder, load_samples
from cal_ai.extractors.protocol import Usage
from cal_ai.extractors.replay import Recorded, request_fingerprint
from truemark.tables import Table, render

SAMPLES = 10_000
PADDING = 20_000
MODEL = "gemini-2.5-pro"


@dataclass(frozen=True, slots=True)
class Cost:
    wall_s: float
    cpu_s: float
    peak_mb: float
    stored_mb: float


def write_samples(folder: Path) -> None:
    """Copies of the bundled samples, each with its number in the transcript."""
    bundled = load_samples(bundled_folder()).samples
    for number in range(SAMPLES):
        source = bundled_folder() / f"{bundled[number % len(bundled)].id}.txt"
        target = folder / source.parent.name / f"{source.stem}_{number}.txt"
        target.parent.mkdir(exist_ok=True)
        words = source.read_text(encoding="utf-8")
        target.write_text(f"{words}[Nobody]: This is conversation {number}.\n", encoding="utf-8")
        beside = source.with_suffix(".expected.json").read_text(encoding="utf-8")
        target.with_suffix(".expected.json").write_text(beside, encoding="utf-8")


def write_recording(path: Path, folder: Path, samples: tuple[Sample, ...], padding: str) -> None:
    """The recorded answer of every sample, as a run would have stored it."""
    with path.open("w", encoding="utf-8") as file:
        for number, sample in enumerate(samples):
            answer = json.loads(recorded_answer(folder / f"{sample.id}.txt") or '{"events": []}')
            for event in answer["events"]:
                event["reasoning"] += padding
            line = Recorded(
                sample=sample.id,
                fingerprint=request_fingerprint(sample.request, "gemini", MODEL),
                extractor="gemini",
                model=MODEL,
                raw=json.dumps(answer),
                usage=Usage(900 + number, 200 + number % 97, 50, 1150 + number + number % 97),
                latency_s=1.0,
                attempts=1,
            )
            file.write(json.dumps(asdict(line)) + "\n")


def rescore(work: Path, recording: Path) -> Cost:
    """Time and peak memory of the command in a process of its own."""
    command = [sys.executable, "-m", "cal_ai", "benchmark", str(work / "samples")]
    command += ["--extractor", f"replay:{recording}", "--output", str(work / "reports")]
    begun_s = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    wall_s = time.perf_counter() - begun_s
    if status:
        raise SystemExit(f"the command failed with status {status}")
    cpu_s = used.ru_utime + used.ru_stime
    return Cost(wall_s, cpu_s, used.ru_maxrss / 1024, recording.stat().st_size / 1e6)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        (work / "samples").mkdir()
        write_samples(work / "samples")
        samples = load_samples(work / "samples").samples
        rows = []
        for what, padding in (("as recorded", ""), ("padded", "x" * PADDING)):
            recording = work / f"{what.replace(' ', '_')}.jsonl"
            write_recording(recording, work / "samples", samples, padding)
            measured = rescore(work, recording)
            rows.append(
                (what, measured.stored_mb, measured.wall_s, measured.cpu_s, measured.peak_mb)
            )
    print(f"{machine()}\n")
    columns = (f"{SAMPLES:,} answers", "stored MB", "seconds", "CPU seconds", "peak MB")
    print(render(Table(columns, tuple(rows), (None, ".0f", ".2f", ".2f", ".0f")), "markdown"))


if __name__ == "__main__":
    main()
