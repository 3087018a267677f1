"""Compare the speed of the bundled models with that of their first versions, on the same text.

    python -m benchmarks.first_models [--repeat N]

The first `nano` and `small` are read from the history of the repository by their git hashes; all
models run in turns, with the same Segmenter.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.machine import machine
from benchmarks.segmentation_speed import talk_text
from benchmarks.timing import fastest
from sat_bench.defaults import ENGLISH_MODELS
from sat_bench.models.segmenter import Segmenter
from sat_bench.models.systems import TOKENIZER_NAME, find_model
from truemark.tables import Table, render

CHARACTERS = 60_000
FIRST_BLOBS = {
    "nano": "30d153f83db28abc6888aea9a74c77af8bd9b84a",
    "small": "575e14de410fff6eddeaf432dd6463a0d773f5b5",
    TOKENIZER_NAME: "64b1b5ba1dc5fb964d724aa538fb5ecaaefd6496",
}
# The present model, the first one that it is compared with, and its goals.
GOALS = {
    "nano": ("nano", 300_000, 1.3),
    "small": ("small", 60_000, 1.7),
    "base": ("small", 25_000, 0.7),
}


def from_history(blob: str, path: Path) -> Path:
    """Write the git blob to the path."""
    done = subprocess.run(
        ["git", "cat-file", "blob", blob],
        capture_output=True,
        check=False,
        cwd=Path(__file__).parents[1],
    )
    if done.returncode:
        raise SystemExit(
            f"{blob}: not in this repository; expected its whole history: git fetch --unshallow"
        )
    path.write_bytes(done.stdout)
    return path


def first_models(folder: Path) -> dict[str, Segmenter]:
    """Open the first models with their tokenizer."""
    tokenizer = from_history(FIRST_BLOBS[TOKENIZER_NAME], folder / TOKENIZER_NAME)
    names = sorted({first for first, _, _ in GOALS.values()})
    files = {name: from_history(FIRST_BLOBS[name], folder / f"{name}.onnx") for name in names}
    return {name: Segmenter(model, tokenizer) for name, model in files.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5, help="runs of each, the fastest counts")
    repeat: int = parser.parse_args().repeat
    text = talk_text(CHARACTERS)
    jobs: dict[str, Callable[[], object]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        for name, segmenter in first_models(Path(temporary)).items():
            jobs[f"first {name}"] = partial(segmenter.boundaries, text)
        for name in ENGLISH_MODELS:
            files = find_model(name)
            jobs[name] = partial(Segmenter(files.model, files.tokenizer).boundaries, text)
        times = fastest(jobs, repeat)
    rows = []
    for name, (first, goal, goal_ratio) in GOALS.items():
        then_s, now_s = times[f"first {first}"], times[name]
        speeds = len(text) / then_s, goal, len(text) / now_s
        rows.append((f"{name} beside the first {first}", *speeds, goal_ratio, then_s / now_s))
    columns = (
        "model",
        "first, characters/s",
        "goal",
        "characters/s",
        "goal, times",
        "times the first",
    )
    print(f"{machine()}\n")
    formats = (None, ",.0f", ",.0f", ",.0f", ".1f", ".2f")
    print(render(Table(columns, tuple(rows), formats), "markdown"), end="")


if __name__ == "__main__":
    main()
