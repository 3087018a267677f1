"""Measure the memory of an evaluation as its corpus grows from ten files to a thousand.

    python -m benchmarks.large_corpus [--kilobytes N]

runs the command on folders of 10, 100 and 1,000 files, each in a separate process, and prints the
peak memory. With `--kilobytes 1000` the largest corpus is 1 GB; the default is a fiftieth of that.
The model looks up its answers in a table, so that reading, tokenising and scoring remain.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from testing.onnx_models import write_terminator_model

from benchmarks.machine import machine
from benchmarks.timing import undisturbed
from sat_bench.defaults import BUNDLED_CORPUS
from sat_bench.models.systems import find_model
from truemark.tables import Table, render

FILES = (10, 100, 1_000)
SEED = 5
# Run in the measured process, so that its peak memory does not include its parent's.
COMMAND = """
import sys
from benchmarks.machine import peak_memory
from sat_bench.cli import main
status = main(sys.argv[1:])
print(peak_memory())
sys.exit(status)
"""


def write_talks(folder: Path, count: int, characters: int) -> None:
    """Write talks of random sentences with the words of the bundled talks."""
    rng = random.Random(SEED)
    words = sorted(
        {
            word.strip(".,;:?!\"'()")
            for path in BUNDLED_CORPUS.glob("*.txt")
            for word in path.read_text(encoding="utf-8").split()
        }
    )
    for number in range(count):
        sentences: list[str] = []
        length = 0
        while length < characters:
            sentence = " ".join(rng.choices(words, k=rng.randint(3, 25))) + rng.choice(".?!")
            sentences.append(sentence)
            length += len(sentence) + 1
        text = f"# Source: random words\n\n{' '.join(sentences)}\n"
        (folder / f"{number:04}.txt").write_text(text, encoding="utf-8")


def measured(corpus: Path, model: Path, tokenizer: Path) -> tuple[float, float]:
    """Return the seconds and peak megabytes of a sweep over the corpus."""
    files = ("-model", str(model), "-tokenizer", str(tokenizer), "-corpus", str(corpus))
    begun_s = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *files, "-sweep"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    )
    return time.perf_counter() - begun_s, int(done.stdout.split()[-1]) / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kilobytes", type=int, default=20, help="size of each file")
    kilobytes: int = parser.parse_args().kilobytes
    rows = []
    with tempfile.TemporaryDirectory() as name:
        tokenizer = find_model("nano").tokenizer
        model = write_terminator_model(Path(name) / "model.onnx", tokenizer)
        for count in FILES:
            folder = Path(name) / str(count)
            folder.mkdir()
            write_talks(folder, count, kilobytes * 1_000)
            work = partial(measured, folder, model, tokenizer)
            seconds, peak_mb = undisturbed(work, f"{count} files")
            rows.append((count, count * kilobytes / 1_000, seconds, peak_mb))
    print(f"A sweep over files of {kilobytes} kB on {machine()}\n")
    columns = ("files", "corpus, MB", "seconds", "peak of memory, MB")
    print(render(Table(columns, tuple(rows), ("d", ",.1f", ".1f", ".0f")), "markdown"), end="")


if __name__ == "__main__":
    main()
