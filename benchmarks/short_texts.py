"""Short texts and documents beside wtpsplit-lite, on the same files with the same network runs.

    python -m benchmarks.short_texts [--repeat N]

One text per call is what an application does; lists are what a program gives that has many. Both
programs take turns, and the fastest round of each counts. Beside the speed stands how many texts
are split alike at 0.5. The model of SaT-3l's shape has random weights, which take the same time as
trained ones; its probabilities lie so close to a half that the last bits decide.
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
from benchmarks.timing import fastest
from benchmarks.wtpsplit_peer import WtpsplitPeer
from sat_bench.models.finding import BUNDLED_MODELS, ModelFiles
from sat_bench.models.runtimes import Runtime
from sat_bench.models.segmenter import Segmenter
from truemark.tables import Table, render

SEED = 1
THRESHOLD = 0.5
MORE = 4  # rounds of single texts for one of a list, which takes longer


@dataclass(frozen=True, slots=True)
class Work:
    """Some texts, given one by one or as a list, and how many times as fast they should be."""

    name: str
    goal: float
    texts: tuple[str, ...]
    as_list: bool = False


def works(text: str) -> list[Work]:
    """The same pieces of the text every time, cut anywhere."""
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
    """The sentences of each text."""
    if work.as_list:
        return segmenter.segment_many(work.texts)
    return [segmenter.segment(text) for text in work.texts]


def by_peer(peer: WtpsplitPeer, work: Work) -> list[list[int]]:
    """The sentence ends of each text."""
    if work.as_list:
        return peer.boundaries_of_many(work.texts, THRESHOLD)
    return [peer.boundaries(text, THRESHOLD) for text in work.texts]


def alike(ours: Sequence[Sequence[str]], theirs: Sequence[Sequence[int]]) -> float:
    """The share of texts that both split at the same places."""
    same = sum(
        wtpsplit_peer.ends(sentences) == list(ends)
        for sentences, ends in zip(ours, theirs, strict=True)
    )
    return same / len(theirs)


def runtimes_for(files: ModelFiles) -> tuple[Runtime, ...]:
    """onnxruntime, and OpenVINO for a file that is not int8 already, where it is installed."""
    with_openvino = files.name not in BUNDLED_MODELS and importlib.util.find_spec("openvino")
    return ("onnx", "openvino") if with_openvino else ("onnx",)


def rows(files: ModelFiles, folder: Path, text: str, repeat: int) -> list[tuple[object, ...]]:
    """For each work its goal, the times of both per text, their ratio, and the splits alike."""
    peer = peer_of(files, folder)
    if peer is None:
        raise SystemExit(f"wtpsplit-lite is not installed: {wtpsplit_peer.INSTALL}")
    runtimes = runtimes_for(files)
    segmenters = {
        runtime: Segmenter(files.model, files.tokenizer, THRESHOLD, runtime=runtime)
        for runtime in runtimes
    }
    for segmenter in segmenters.values():
        # The second call with a lone window opens the session that all cores share.
        segmenter.segment_many(["A short text."])
        segmenter.segment_many(["A short text."])
    found: list[tuple[object, ...]] = []
    for work in works(text):
        theirs = by_peer(peer, work)
        ours = {runtime: by_segmenter(one, work) for runtime, one in segmenters.items()}
        jobs: dict[str, Callable[[], object]] = {"peer": partial(by_peer, peer, work)}
        for runtime, one in segmenters.items():
            jobs[runtime] = partial(by_segmenter, one, work)
        times = fastest(jobs, repeat if work.as_list else MORE * repeat)
        for runtime in segmenters:
            name = work.name if runtime == "onnx" else f"{work.name}, {runtime}"
            each = [1_000 * times[job] / len(work.texts) for job in ("peer", runtime)]
            ratio = times["peer"] / times[runtime]
            found.append((name, work.goal, *each, ratio, alike(ours[runtime], theirs)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=2, help="rounds of lists, the fastest counts")
    parser.add_argument("--only", help="just the model of that name")
    options = parser.parse_args()
    text = talk_text(60_000)
    print(f"{machine()}\n")
    with tempfile.TemporaryDirectory() as temporary:
        large, bundled = models(Path(temporary))
        for files in (large, *bundled):
            if options.only not in (None, files.name):
                continue
            columns = (
                files.name,
                "goal",
                "wtpsplit-lite, ms a text",
                "Segmenter, ms a text",
                "times wtpsplit-lite",
                "split alike",
            )
            found = tuple(rows(files, Path(temporary), text, options.repeat))
            formats = (None, ".1f", ".2f", ".2f", ".2f", ".1%")
            print(render(Table(columns, found, formats), "markdown"), flush=True)


if __name__ == "__main__":
    main()
