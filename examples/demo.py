"""Run both benchmarks on the bundled data, and summarise the results: `make demo`.

Records and pages go to the given folder, the notes of the commands to `demo.log` there.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from truemark import load_run, summarise
from truemark.folders import find_record
from truemark.pages.report import comparable_groups
from truemark.summary import Summary, macro_f1

MODELS = ("nano", "small", "base")
READERS = ("world", "base")  # models for talks in other languages


def run(program: str, *arguments: str, folder: Path) -> str:
    """Run a command, return what it prints, and keep its notes in the log."""
    with (folder / "demo.log").open("a", encoding="utf-8") as log:
        done = subprocess.run(
            [sys.executable, "-m", program.replace("-", "_"), *arguments],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            check=False,
        )
    if done.returncode:
        raise SystemExit(f"{program} failed; see {folder / 'demo.log'}")
    return done.stdout


def show(step: str, program: str, *arguments: str, folder: Path, lines: int | None = None) -> None:
    """Name a step and its command, and show the first lines of its results."""
    print(f"\n{step}\n\n$ {program} {' '.join(arguments)}", flush=True)
    for line in run(program, *arguments, folder=folder).splitlines()[:lines]:
        print(line)


def record_name(model: str, condition: str) -> str:
    return model if condition == "written" else f"{model}.{condition}"


def verdict_on_models(folder: Path, condition: str) -> str:
    """Return which model to choose, as the page says."""
    runs = [load_run(find_record(folder / record_name(model, condition))) for model in MODELS]
    (group,) = comparable_groups(runs)
    return group.answer


def verdict_on_languages(folder: Path) -> str:
    """Return the mean F1 over the languages for each model."""
    means = []
    for model in READERS:
        summary = summarise(load_run(find_record(folder / model)))
        means.append(f"{macro_f1(summary.groups) or 0.0:.2f} for {model}")
    return f"the mean F1 over eight languages is {' and '.join(means)}."


def verdict_on_extractor(summary: Summary) -> str:
    counts = summary.counts
    return (
        f"the embedded reader finds {counts.tp} of {counts.tp + counts.fn} events, and"
        f" {counts.tp} of the {counts.tp + counts.fp} it reports are right."
    )


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    talks, languages, calendar, history = (
        folder / f"{name}.html" for name in ("talks", "languages", "calendar", "history")
    )
    (folder / "demo.log").unlink(missing_ok=True)
    show(
        "Sentence ends in 24 talks marked by hand, as written and without case and punctuation:",
        *("sat-bench", "-models", ",".join(MODELS), "-conditions", "bare"),
        *("-record", str(folder)),
        folder=folder,
    )
    show(
        "Sentence ends in eight talks in eight other languages:",
        *("sat-bench", "-models", ",".join(READERS), "-corpus", "languages"),
        *("-record", str(folder / "languages")),
        folder=folder,
    )
    show(
        "Calendar events in 72 conversations:",
        *("cal-ai", "benchmark", "--extractor", "reader", "--output", str(folder)),
        folder=folder,
        lines=4,
    )
    newest = max(folder.glob("benchmark_*.run.json"), key=lambda record: record.stat().st_mtime)
    records = [
        str(folder / record_name(model, condition))
        for condition in ("written", "bare")
        for model in MODELS
    ]
    run("truemark", "report", *records, "-o", str(talks), folder=folder)
    read = [str(folder / "languages" / model) for model in READERS]
    run("truemark", "report", *read, "-o", str(languages), folder=folder)
    run("truemark", "report", str(newest), "-o", str(calendar), folder=folder)
    run("truemark", "history", str(folder), "-o", str(history), folder=folder)
    print("\nWhat this shows")
    print(f"  As written: {verdict_on_models(folder, 'written')}")
    print(f"  Without case and punctuation: {verdict_on_models(folder, 'bare')}")
    print(f"  Other languages: {verdict_on_languages(folder / 'languages')}")
    print(f"  Calendar: {verdict_on_extractor(summarise(load_run(newest)))}")
    print(f"\nOpen in a browser: {talks}, {languages}, {calendar}, {history}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
