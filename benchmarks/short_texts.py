"""Compare short texts and documents with wtpsplit-lite, on the same files and network runs.

    python -m benchmarks.short_texts [--repeat N]

Applications pass one text per call; programs with many texts pass lists. Both run in turns, and the
fastest round of each counts. The tables also show how many texts are split alike at 0.5. The model
of SaT-3l's shape has random weights, which take the same time as trained ones; its probabilities
are so close to 0.5 that the last bits decide.

The last tables show what limits the ratios: the time of the network alone, the tokens that both let
it read, and the share of matrix products in a run.
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks import wtpsplit_peer
from benchmarks.machine import machine
from benchmarks.segmentation_speed import models, peer_of, talk_text
from benchmarks.short_bounds import network_alone, product_table, runs_of, tokens_read
from benchmarks.timing import fastest
from benchmarks.wtpsplit_peer import WtpsplitPeer
from sat_bench.defaults import BUNDLED_MODELS, Runtime
from sat_bench.models.segmenter import Segmenter
from sat_bench.models.systems import ModelFiles
from truemark.tables import Table, render

SEED = 1
THRESHOLD = 0.5
MORE = 4  # rounds of single texts for each round of lists, which take longer


@dataclass(frozen=True, slots=True)
class Work:
    """Some texts, passed one by one or as a list, and the goal for the ratio of speeds."""

    name: str
    goal: float
    texts: tuple[str, ...]
    as_list: bool = False


def works(text: str) -> list[Work]:
    """Cut the text anywhere, into the same pieces every time."""
    dice = random.Random(SEED)

    def pieces(count: int, shortest: int, longest: int) -> tuple[str, ...]:
        lengths = [dice.randint(shortest, longest) for _ in range(count)]
        starts = [dice.randrange(len(text) - longest) for _ in lengths]
        return tuple(text[at : at + size] for at, size in zip(starts, lengths, strict=True))

    return [
        Work("one text of 100 characters per call", 1.2, pieces(8, 100, 100)),
        Work("one text of 400 characters per call", 1.2, pieces(8, 400, 400)),
        Work("one text of 1,500 characters per call", 1.2, pieces(4, 1_500, 1_500)),
        Work("500 texts of up to 100 characters", 5.0, pieces(500, 10, 100), as_list=True),
        Work("8 documents of 3 kB", 6.0, pieces(8, 3_000, 3_000), as_list=True),
    ]


def by_segmenter(segmenter: Segmenter, work: Work) -> list[list[str]]:
    """Return the sentences of each text."""
    if work.as_list:
        return segmenter.segment_many(work.texts)
    return [segmenter.segment(text) for text in work.texts]


def by_peer(peer: WtpsplitPeer, work: Work) -> list[list[int]]:
    """Return the sentence ends of each text."""
    if work.as_list:
        return peer.boundaries_of_many(work.texts, THRESHOLD)
    return [peer.boundaries(text, THRESHOLD) for text in work.texts]


def alike(ours: Sequence[Sequence[str]], theirs: Sequence[Sequence[int]]) -> float:
    """Return the share of texts that both split at the same places."""
    same = sum(
        wtpsplit_peer.ends(sentences) == list(ends)
        for sentences, ends in zip(ours, theirs, strict=True)
    )
    return same / len(theirs)


def runtimes_for(files: ModelFiles) -> tuple[Runtime, ...]:
    """Return onnxruntime, and OpenVINO if it is installed and the file is not int8."""
    with_openvino = files.name not in BUNDLED_MODELS and importlib.util.find_spec("openvino")
    return ("onnx", "openvino") if with_openvino else ("onnx",)


@dataclass(frozen=True, slots=True)
class Measured:
    """The results of a work with one model: rows of speed, and the row of its limits."""

    speed: list[tuple[object, ...]]
    bound: tuple[object, ...]


def measure(
    work: Work,
    files: ModelFiles,
    peer: WtpsplitPeer,
    segmenters: dict[Runtime, Segmenter],
    repeat: int,
) -> Measured:
    """Measure the times per text, their ratio and the equal splits; also tokens and limits."""
    with peer.counting_tokens() as tokens:
        theirs = by_peer(peer, work)
    ours = {runtime: by_segmenter(segmenter, work) for runtime, segmenter in segmenters.items()}
    plain = segmenters["onnx"]
    lists = [work.texts] if work.as_list else [(text,) for text in work.texts]
    calls = [runs_of(plain, files, texts) for texts in lists]
    jobs: dict[str, Callable[[], object]] = {
        "peer": partial(by_peer, peer, work),
        "network": network_alone(plain, calls),
    }
    for runtime, segmenter in segmenters.items():
        jobs[runtime] = partial(by_segmenter, segmenter, work)
    times = fastest(jobs, repeat if work.as_list else MORE * repeat)
    ms_per_text = {job: 1_000 * taken / len(work.texts) for job, taken in times.items()}
    speed: list[tuple[object, ...]] = []
    for runtime in segmenters:
        name = work.name if runtime == "onnx" else f"{work.name}, {runtime}"
        ratio = times["peer"] / times[runtime]
        same = alike(ours[runtime], theirs)
        speed.append((name, work.goal, ms_per_text["peer"], ms_per_text[runtime], ratio, same))
    most = times["peer"] / times["network"]
    name = f"{files.name}: {work.name}"
    return Measured(speed, (name, sum(tokens), tokens_read(calls), ms_per_text["network"], most))


def measure_all(files: ModelFiles, folder: Path, text: str, repeat: int) -> list[Measured]:
    """Measure all works with a model, on each of its runtimes."""
    peer = peer_of(files, folder)
    if peer is None:
        raise SystemExit(f"wtpsplit-lite is not installed: {wtpsplit_peer.INSTALL}")
    segmenters = {
        runtime: Segmenter(files.model, files.tokenizer, THRESHOLD, runtime=runtime)
        for runtime in runtimes_for(files)
    }
    for segmenter in segmenters.values():
        # The second call with a single window opens the session that uses all cores.
        segmenter.segment("A short text.")
        segmenter.segment("A short text.")
    return [measure(work, files, peer, segmenters, repeat) for work in works(text)]


def speed_table(name: str, measured: Sequence[Measured]) -> Table:
    """Make the table of speeds with one model."""
    columns = (
        name,
        "goal",
        "wtpsplit-lite, ms a text",
        "Segmenter, ms a text",
        "times wtpsplit-lite",
        "split alike",
    )
    rows = tuple(row for result in measured for row in result.speed)
    return Table(columns, rows, (None, ".1f", ".2f", ".2f", ".2f", ".1%"))


def bound_table(measured: Sequence[Measured]) -> Table:
    """Make the table of the limits on onnxruntime, for every work and model."""
    columns = (
        "what bounds it",
        "tokens, wtpsplit-lite",
        "tokens, Segmenter",
        "network alone, ms a text",
        "at most times wtpsplit-lite",
    )
    return Table(
        columns, tuple(result.bound for result in measured), (None, ",d", ",d", ".2f", ".2f")
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=2, help="rounds of lists, the fastest counts")
    parser.add_argument("--only", help="just the model of that name")
    options = parser.parse_args()
    text = talk_text(60_000)
    print(f"{machine()}\n")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        large, bundled = models(folder)
        chosen = [files for files in (large, *bundled) if options.only in (None, files.name)]
        measured: list[Measured] = []
        for files in chosen:
            results = measure_all(files, folder, text, options.repeat)
            print(render(speed_table(files.name, results), "markdown"), flush=True)
            measured += results
        print(render(bound_table(measured), "markdown"))
        print(render(product_table(chosen, folder), "markdown"))


if __name__ == "__main__":
    main()
