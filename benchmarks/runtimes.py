"""Compare the speed and the answers of other runtimes with those of onnxruntime on the CPU.

    python -m benchmarks.runtimes [--repeat N]

The model of SaT-3l's shape has random weights: probabilities near 0.5, which bfloat16 may push to
the other side, are common there and rare in a trained model. A runtime that is not installed is
left out, with a line that says what to install.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.machine import machine
from benchmarks.segmentation_speed import agreement, models, talk_text
from benchmarks.timing import fastest
from sat_bench.defaults import DEFAULT_RUNTIME, RUNTIMES, Runtime
from sat_bench.models.boundaries import scored_positions
from sat_bench.models.runtimes import open_session
from sat_bench.models.segmenter import Segmenter
from sat_bench.models.systems import ModelFiles
from truemark.errors import TruemarkError
from truemark.tables import Table, render

CHARACTERS = 20_000
THRESHOLDS = (0.1, 0.5)
COLUMNS = (
    "model and runtime",
    "characters/s",
    "times onnx",
    "agreement at 0.1",
    "agreement at 0.5",
    "other side of 0.5",
    "largest difference",
)
FORMATS = (None, ",.0f", ".2f", ".2%", ".2%", None, ".3f")


def installed_runtimes(model: Path) -> list[Runtime]:
    """Return the installed runtimes besides the default; print a line for each missing one."""
    installed: list[Runtime] = []
    for runtime in RUNTIMES:
        if runtime == DEFAULT_RUNTIME:
            continue
        try:
            open_session(model, runtime)
        except TruemarkError as error:
            print(f"{runtime} is left out: {error}", file=sys.stderr)
        else:
            installed.append(runtime)
    return installed


def rows(
    files: ModelFiles, runtimes: Sequence[Runtime], text: str, repeat: int
) -> Iterator[tuple[object, ...]]:
    """Yield a row for each runtime."""
    usual = Segmenter(files.model, files.tokenizer)
    expected = usual.probabilities(text)
    positions = scored_positions(text, expected)
    for runtime in runtimes:
        other = Segmenter(files.model, files.tokenizer, runtime=runtime)
        answer = other.probabilities(text)
        scored = scored_positions(text, answer)
        shares = [agreement(scored.above(at), positions.above(at)) for at in THRESHOLDS]
        sides = int(((answer.values > 0.5) != (expected.values > 0.5)).sum())
        jobs: dict[str, Callable[[], object]] = {
            DEFAULT_RUNTIME: partial(usual.boundaries, text),
            runtime: partial(other.boundaries, text),
        }
        times = fastest(jobs, repeat)
        yield (
            f"{files.name}, {runtime}",
            len(text) / times[runtime],
            times[DEFAULT_RUNTIME] / times[runtime],
            *shares,
            f"{sides} of {len(answer.values):,}",
            float(np.abs(answer.values - expected.values).max()),
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5, help="runs of each, the fastest counts")
    repeat: int = parser.parse_args().repeat
    text = talk_text(CHARACTERS)
    with tempfile.TemporaryDirectory() as temporary:
        large, bundled = models(Path(temporary))
        runtimes = installed_runtimes(bundled[0].model)
        measured = tuple(
            row for files in (large, *bundled) for row in rows(files, runtimes, text, repeat)
        )
    print(f"{machine()}\n")
    print(render(Table(COLUMNS, measured, FORMATS), "markdown"), end="")


if __name__ == "__main__":
    main()
