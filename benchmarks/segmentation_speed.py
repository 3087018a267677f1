"""Compare the speed of the segmenter with wtpsplit-lite and a bare onnxruntime loop.

    python -m benchmarks.segmentation_speed [--repeat N] [--memory MB]

prints markdown tables. The model of SaT-3l's shape has random weights, which take the same time as
trained ones. wtpsplit-lite is left out when it is not installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from testing.onnx_models import write_terminator_model, write_transformer

from benchmarks import wtpsplit_peer
from benchmarks.machine import machine, peak_memory
from benchmarks.timing import fastest, undisturbed
from benchmarks.wtpsplit_peer import WtpsplitPeer
from sat_bench.defaults import BUNDLED_CORPUS, ENGLISH_MODELS
from sat_bench.models.cards import Windowing, windowing_of
from sat_bench.models.quantising import quantized
from sat_bench.models.segmenter import Segmenter
from sat_bench.models.systems import ModelFiles, find_model
from sat_bench.models.tokenizer import Tokenizer
from sat_bench.models.windows import windows
from truemark.tables import Table, render

PEER_STRIDE = 64  # the default step of wtpsplit-lite's windows
# Long enough for a second of work, short enough for the peer, which takes eight times as long.
CHARACTERS = {"nano": 120_000, "small": 60_000, "base": 30_000}
SHORTEST = 12_000
AGREEMENT_CHARACTERS = 20_000
BARE = "bare onnxruntime loop"
PEER = f"wtpsplit-lite, stride {PEER_STRIDE} (default)"


def talk_text(characters: int) -> str:
    """Return the bundled talks on one line, repeated until there are enough characters."""
    bodies = [
        path.read_text(encoding="utf-8").split("\n\n", 1)[1]
        for path in sorted(BUNDLED_CORPUS.glob("*.txt"))
    ]
    words = " ".join(" ".join(bodies).split())
    return (f"{words} " * (characters // len(words) + 1))[:characters].rstrip()


def bare_loop(segmenter: Segmenter, text: str) -> Callable[[], object]:
    """Return a function that only runs the model on the segmenter's windows, tokenised before."""
    ids = segmenter.tokenizer.encode(text).ids
    windowing = windowing_of(segmenter.network.path)
    runs = [[window.ids] for window in windows([ids], windowing.window, windowing.overlap)]

    def run() -> None:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for _ in pool.map(segmenter.network.logits, runs):
                pass

    return run


def _windows(windowing: Windowing) -> str:
    return f"{windowing.window} tokens, {windowing.overlap} shared"


def _finer(windowing: Windowing) -> tuple[int, int]:
    """Return larger overlaps: half a window, and that of the peer's windows."""
    return windowing.window // 2, windowing.window - PEER_STRIDE


def whole_text_table(files: ModelFiles, folder: Path, repeat: int) -> Table:
    """Time one long text: the peer, bare loops, and the segmenter at its and their overlap."""
    text = talk_text(CHARACTERS.get(files.name, SHORTEST))
    default = Segmenter(files.model, files.tokenizer)
    jobs: dict[str, Callable[[], object]] = {
        BARE: bare_loop(default, text),
        f"Segmenter, {_windows(files.windowing)} (default)": partial(default.boundaries, text),
    }
    overlap = files.windowing.window - PEER_STRIDE
    fine = Segmenter(files.model, files.tokenizer, overlap=overlap)
    jobs[f"Segmenter, {_windows(files.windowing.with_overlap(overlap))}"] = partial(
        fine.boundaries, text
    )
    copy = quantized(files.model, folder)
    if copy != files.model:
        int8 = Segmenter(copy, files.tokenizer)
        jobs[f"{BARE}, int8"] = bare_loop(int8, text)
        jobs[f"Segmenter, {_windows(files.windowing)}, int8"] = partial(int8.boundaries, text)
    if peer := peer_of(files, folder):
        jobs[PEER] = partial(peer.boundaries, text, 0.5)
        # The step of the segmenter's own windows.
        stride = files.windowing.window - files.windowing.overlap
        jobs[f"wtpsplit-lite, stride {stride}"] = partial(peer.boundaries, text, 0.5, stride)
    times = fastest(jobs, repeat)
    first = times.get(PEER, times[BARE])
    rows = []
    for name, taken in sorted(times.items(), key=lambda pair: -pair[1]):
        bare = times[f"{BARE}, int8" if name.endswith("int8") else BARE]
        rows.append((name, len(text) / taken, first / taken, bare / taken))
    reference = "times wtpsplit-lite" if peer else "times the bare loop"
    return Table(
        (f"{files.name}, {len(text):,} characters", "characters/s", reference, "of the bare loop"),
        tuple(rows),
        (None, ",.0f", ".2f", ".2f"),
    )


def agreement_table(files: Sequence[ModelFiles], folder: Path, text: str) -> Table | None:
    """Compare the boundaries of the segmenter with those of wtpsplit-lite's finer windows."""
    rows = []
    for model in files:
        peer = peer_of(model, folder)
        if not peer:
            return None
        expected = {threshold: peer.boundaries(text, threshold) for threshold in (0.1, 0.5)}
        for overlap in (0, model.windowing.overlap, *_finer(model.windowing)):
            with Segmenter(model.model, model.tokenizer, overlap=overlap) as segmenter:
                scored = segmenter.scored_boundaries(text)
            shares = [agreement(scored.above(at), truth) for at, truth in expected.items()]
            rows.append((model.name, _windows(model.windowing.with_overlap(overlap)), *shares))
    columns = ("model", "windows", "agreement at 0.1", "agreement at 0.5")
    return Table(columns, tuple(rows), (None, None, ".2%", ".2%"))


def agreement(some: Sequence[int], others: Sequence[int]) -> float:
    """Return the share of boundaries that both have."""
    return 2 * len(set(some) & set(others)) / (len(some) + len(others))


def peer_of(files: ModelFiles, folder: Path) -> WtpsplitPeer | None:
    """Open wtpsplit-lite with these files, if it is installed."""
    if importlib.util.find_spec("wtpsplit_lite") is None:
        return None
    home = Path(tempfile.mkdtemp(dir=folder)) / "wtpsplit"
    return WtpsplitPeer(home, files.model, files.tokenizer)


def memory_table(folder: Path, tokenizer: Path, megabytes: Sequence[int]) -> Table:
    """Measure the memory that a text takes beyond its size, in separate processes."""
    model = write_terminator_model(folder / "terminators.onnx", tokenizer)
    command = (sys.executable, "-m", "benchmarks.segmentation_speed", "--memory-of")
    rows = []
    for size in megabytes:
        work = partial(
            subprocess.run,
            [*command, str(size), str(model), str(tokenizer)],
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parents[1],
        )
        printed = undisturbed(work, f"{size} MB of text").stdout
        grown, tokens, seconds = map(float, printed.split())
        rows.append((size, tokens / 1e6, 8 * tokens / 1e6, grown / 1e6, seconds))
    return Table(
        ("text, MB", "tokens, M", "ends and probabilities, MB", "memory grown by, MB", "seconds"),
        tuple(rows),
        ("d", ".1f", ".0f", ".0f", ".1f"),
    )


def measure_memory(size: int, model: Path, tokenizer: Path) -> None:
    """Print by how many bytes the process grew over a text of this many megabytes."""
    text = talk_text(size * 1_000_000)
    with Segmenter(model, tokenizer) as segmenter:
        segmenter.boundaries(text[:100_000])
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # reset the peak
        before = peak_memory()
        start = time.perf_counter()
        segmenter.boundaries(text)
        seconds = time.perf_counter() - start
        grown = peak_memory() - before
        tokens = len(segmenter.tokenizer.encode(text))
    print(grown, tokens, seconds)


def models(folder: Path) -> tuple[ModelFiles, list[ModelFiles]]:
    """Return a file of SaT-3l's shape, and the bundled models, with the bundled tokenizer."""
    bundled = [find_model(name) for name in sorted(ENGLISH_MODELS)]
    tokenizer = bundled[0].tokenizer
    large = write_transformer(
        folder / "sat-3l.onnx", vocabulary=Tokenizer(tokenizer).highest_id + 1
    )
    return ModelFiles("SaT-3l's shape, float16", large, tokenizer), bundled


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=4, help="runs of each, the fastest counts")
    parser.add_argument("--memory", type=int, default=20, help="largest text in MB")
    parser.add_argument("--memory-of", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory_of:
        size, model, tokenizer = options.memory_of
        measure_memory(int(size), Path(model), Path(tokenizer))
        return
    if importlib.util.find_spec("wtpsplit_lite") is None:
        print(f"wtpsplit-lite is left out: {wtpsplit_peer.INSTALL}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        large, small = models(folder)
        print(f"{machine()}\n")
        tables = [
            *(whole_text_table(files, folder, options.repeat) for files in (large, *small)),
            agreement_table(small, folder, talk_text(AGREEMENT_CHARACTERS)),
            memory_table(folder, large.tokenizer, (options.memory // 4, options.memory)),
        ]
        for table in filter(None, tables):
            print(render(table, "markdown"))


if __name__ == "__main__":
    main()
