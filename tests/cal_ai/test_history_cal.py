from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.cal_ai.sample_folders import CommandLine, write_samples

from truemark import jsonlines

APPEND = """
import sys
from truemark import jsonlines
for number in range(100):
    jsonlines.append(sys.argv[1], {"run": sys.argv[2], "number": number, "note": "x" * 5000})
"""


def test_two_processes_appending_100_lines_each_leave_200_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "reports" / "benchmark_history.jsonl"
    writers = [
        subprocess.Popen([sys.executable, "-c", APPEND, str(path), name]) for name in ("a", "b")
    ]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0]
    warnings: list[str] = []
    records = [record for _, record in jsonlines.scan(path, warnings)]
    assert warnings == []
    for name in ("a", "b"):
        numbers = [record["number"] for record in records if record["run"] == name]
        assert numbers == list(range(100))


def test_runs_at_the_same_time_share_a_folder_and_lose_nothing(
    cal_ai: CommandLine,
) -> None:
    write_samples(cal_ai.folder / "samples", 2)
    command = [sys.executable, "-m", "cal_ai", "benchmark", "--extractor", "reader"]
    runs = [
        subprocess.Popen(
            command, cwd=cal_ai.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for _ in range(4)
    ]
    assert [run.wait(timeout=60) for run in runs] == [0] * 4
    assert len(cal_ai.history) == 4
    assert len({line["signature"] for line in cal_ai.history}) == 1
    reports = cal_ai.folder / "reports"
    assert len(list(reports.glob("*.md"))) == 4
    assert len(list(reports.glob("*.answers.jsonl"))) == 4
    assert len(cal_ai.answers) == 8


def test_a_torn_line_from_a_crash_does_not_spoil_the_next(cal_ai: CommandLine) -> None:
    write_samples(cal_ai.folder / "samples", 1)
    path = cal_ai.folder / "reports" / "benchmark_history.jsonl"
    path.parent.mkdir()
    path.write_text('{"timestamp": "2026-01-01T00:0')
    cal_ai.benchmark("--extractor", "reader")
    warnings: list[str] = []
    records = [record for _, record in jsonlines.scan(path, warnings)]
    assert [record["extractor"] for record in records] == ["reader"]
    assert len(warnings) == 1


def test_runs_on_the_same_samples_have_the_same_signature_and_others_do_not(
    cal_ai: CommandLine,
) -> None:
    write_samples(cal_ai.folder / "samples", 2)
    cal_ai.benchmark("--extractor", "reader")
    cal_ai.benchmark("--extractor", "reader")
    (cal_ai.folder / "samples" / "crud" / "s001.txt").write_text("[Alice]: something else")
    cal_ai.benchmark("--extractor", "reader")
    first, second, third = (line["signature"] for line in cal_ai.history)
    assert first == second != third
