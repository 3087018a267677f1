"""Score the embedded extractor on conversations that were not used for training or tuning.

    python -m benchmarks.unseen

Takes two or three minutes; the figures do not depend on the machine.
"""

from __future__ import annotations

from pathlib import Path

from cal_ai import run_benchmark
from truemark import summarise
from truemark.tables import Table, render

ROOT = Path(__file__).parents[1]
FOLDERS = ("testdata/unseen", "samples")


def row(folder: str) -> tuple[str, ...]:
    """Return the scores on a folder of samples, each with its 95% interval."""
    summary = summarise(run_benchmark(ROOT / folder, extractor="reader"), by_group=False)
    assert not summary.failed
    intervals = [summary.intervals[measure] for measure in ("precision", "recall", "f1")]
    scores = [
        f"{interval.value:.3f} ({interval.low:.3f} to {interval.high:.3f})"
        for interval in intervals
    ]
    return f"{folder}, {summary.scored} conversations", *scores


def main() -> None:
    columns = ("embedded extractor", "precision", "recall", "F1")
    print(render(Table(columns, tuple(map(row, FOLDERS))), "markdown"), end="")


if __name__ == "__main__":
    main()
