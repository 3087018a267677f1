"""F1 and speed of the bundled models beside other sentence segmenters, on the same texts.

    python -m benchmarks.segmenters [--gold DIR] [--write docs/segmenters.md]

prints a markdown table, and with --write puts it into the guide. Gold documents are `.jsonl.gz`
files, a JSON object with `sentences` on each line.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from pathlib import Path

from docs import outputs
from training.corruption import MarkedText, bare, join
from training.documents import GOLD_ENDING, read_gold_folder, read_talks

from benchmarks.machine import machine
from benchmarks.sentence_peers import PEERS, MissingPeerError, Split, load
from benchmarks.timing import fastest
from sat_bench.corpus.loading import BUNDLED_CORPUS
from sat_bench.models.finding import BUNDLED_MODELS, DEFAULT_MODEL, find_model
from sat_bench.models.segmenter import Segmenter
from truemark.aggregate import total
from truemark.counts import Counts, scores
from truemark.errors import TruemarkError
from truemark.files import read_text, write_atomically
from truemark.matching import match_positions
from truemark.tables import Table, render

NAME = "segmenters"
BARE = ", bare"
KINDS: dict[str, Callable[[Sequence[str]], MarkedText]] = {"": join, BARE: bare}
TOLERANCE = 0
TIMED_CHARACTERS = 100_000
RUN_SECONDS = 2.0
REPEATS = 3
SEED = 1

SplitMany = Callable[[Sequence[str]], Sequence[Sequence[str]]]
TextSets = dict[str, list[MarkedText]]


@dataclass(frozen=True, slots=True)
class Contender:
    """A segmenter that is ready to run."""

    name: str
    split: SplitMany
    scored: bool = True


def contenders() -> tuple[list[Contender], list[str]]:
    """The bundled models and the peers that are installed, and a line for each that is not."""
    ready = [_bundled(name) for name in BUNDLED_MODELS]
    missing = []
    for peer in PEERS:
        try:
            split = load(peer)
        except MissingPeerError as error:
            missing.append(str(error))
        else:
            ready.append(Contender(peer.name, _each(split), peer.scored))
    return ready, missing


def _bundled(name: str) -> Contender:
    files = find_model(name)
    assert files.threshold is not None  # bundled models have a card
    return Contender(name, Segmenter(files.model, files.tokenizer, files.threshold).segment_many)


def _each(split: Split) -> SplitMany:
    return lambda texts: [split(text) for text in texts]


def text_sets(gold: Path | None) -> TextSets:
    """The bundled talks and each file of gold documents, as written and then bare."""
    documents = {"talks": read_talks(BUNDLED_CORPUS)}
    if gold:
        documents |= read_gold_folder(gold)
    return {
        f"{name}{suffix}": [text(document.sentences) for document in found]
        for suffix, text in KINDS.items()
        for name, found in documents.items()
    }


def sentence_ends(text: str, sentences: Iterable[str]) -> list[int]:
    """The offset after each sentence's last solid character.

    Sentences are found by their solid characters, because some segmenters change white space.
    """
    offsets = [offset for offset, char in enumerate(text) if not char.isspace()]
    solid = "".join(text.split())
    ends, read = [], 0
    for sentence in sentences:
        wanted = "".join(sentence.split())
        if not wanted:
            continue
        start = solid.find(wanted, read)
        if start < 0:
            raise ValueError(f"sentences must be parts of the text in order, got {sentence!r}")
        read = start + len(wanted)
        ends.append(offsets[read - 1] + 1)
    return ends


def f1(split: SplitMany, texts: Sequence[MarkedText]) -> float:
    """Boundary F1 at exact positions, from counts summed over the texts."""
    found = split([marked.text for marked in texts])
    return scores(
        total(_counts(marked, parts) for marked, parts in zip(texts, found, strict=True)),
        empty=0.0,
    ).f1


def _counts(marked: MarkedText, sentences: Sequence[str]) -> Counts:
    predicted, expected = sentence_ends(marked.text, sentences), marked.ends.tolist()
    matched = len(match_positions(predicted, expected, TOLERANCE))
    return Counts.of(matched=matched, predicted=len(predicted), expected=len(expected))


def portions(texts: Sequence[str], characters: int) -> Iterator[list[str]]:
    """Texts of exactly that many characters, without end; all come before one comes again."""
    portion: list[str] = []
    room = characters
    for text in itertools.cycle(texts):
        portion.append(text[:room])
        room -= len(portion[-1])
        if not room:
            yield portion
            portion, room = [], characters


def characters_of_a_run(split: SplitMany, texts: Sequence[str]) -> int:
    """How much the segmenter reads in a run of about the right time; it is warm afterwards."""
    characters = 2_000
    while True:
        portion = next(portions(texts, characters))
        start = time.perf_counter()
        split(portion)
        taken = time.perf_counter() - start
        if taken > RUN_SECONDS / 8 or 2 * characters > sum(map(len, texts)):
            return min(TIMED_CHARACTERS, int(characters * RUN_SECONDS / taken))
        characters *= 2


def speeds(
    ready: Sequence[Contender], warm_up: Sequence[str], texts: Sequence[str]
) -> dict[str, tuple[float, int]]:
    """Characters per second of each segmenter, and how many characters it read in a run.

    Every run reads other texts, because some segmenters remember what they have answered.
    """
    characters = {one.name: characters_of_a_run(one.split, warm_up) for one in ready}
    jobs: dict[str, Callable[[], object]] = {}
    for one in ready:
        runs = list(itertools.islice(portions(texts, characters[one.name]), REPEATS))
        jobs[one.name] = partial(_run_next, one.split, iter(runs))
    times = fastest(jobs, REPEATS)
    return {name: (characters[name] / times[name], characters[name]) for name in times}


def _run_next(split: SplitMany, runs: Iterator[list[str]]) -> None:
    split(next(runs))


def rows(ready: Sequence[Contender], sets: TextSets) -> Iterator[tuple[object, ...]]:
    """A row for each segmenter: its F1 on each set of texts, its speed."""
    print("timing ...", file=sys.stderr)
    talks, *gold = [[marked.text for marked in texts] for texts in _as_written(sets).values()]
    unread = list(itertools.chain(*gold)) or talks
    random.Random(SEED).shuffle(unread)
    measured = speeds(ready, talks, unread)
    base, _ = measured[DEFAULT_MODEL]
    for one in ready:
        print(f"{one.name} ...", file=sys.stderr)
        values = [f1(one.split, texts) if one.scored else None for texts in sets.values()]
        speed, characters = measured[one.name]
        yield (one.name, *values, speed, speed / base, characters / 1000)


def table(ready: Sequence[Contender], sets: TextSets) -> Table:
    """All rows, those of the best mean F1 as written first, and those without F1 last."""
    last = len(_as_written(sets)) + 1
    return Table(
        ("segmenter", *sets, "characters/s", f"of {DEFAULT_MODEL}", "timed on, kB"),
        tuple(
            sorted(
                rows(ready, sets),
                key=lambda row: -sum(value for value in row[1:last] if isinstance(value, float)),
            )
        ),
        (None, *(".3f" for _ in sets), ",.0f", ",.2f", ",.0f"),
    )


def _as_written(sets: TextSets) -> TextSets:
    return {name: texts for name, texts in sets.items() if not name.endswith(BARE)}


def report(gold: Path | None) -> str:
    """The machine, the texts, the table and what is left out, as markdown."""
    ready, missing = contenders()
    sets = text_sets(gold)
    counted = "; ".join(
        f"{name}: {len(found)} texts, {sum(len(one.ends) for one in found):,} sentences, "
        f"{sum(len(one.text) for one in found):,} characters"
        for name, found in _as_written(sets).items()
    )
    parts = [
        f"{machine()}, onnxruntime {metadata.version('onnxruntime')}; "
        f"load {os.getloadavg()[0]:.1f} before the start; speed is the best of {REPEATS} runs.",
        f"{counted}.",
        render(table(ready, sets), "markdown").rstrip(),
        "\n".join(f"- left out: {line}" for line in missing),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def write_into(guide: Path, gold: Path | None) -> None:
    """Put the output between the marks that the guide has for it."""
    text = read_text(guide)
    if NAME not in dict(outputs.measurements(text)):
        raise TruemarkError(
            f"{guide}: expected '<!-- output of: python -m benchmarks.{NAME} ... -->' and, "
            "further down, '<!-- end of output -->'; add these two lines where the table shall be"
        )
    write_atomically(guide, outputs.with_measurement(text, NAME, report(gold)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--gold",
        type=Path,
        metavar="DIR",
        help="folder of gold documents; without it only the talks are read, over and over",
    )
    parser.add_argument("--write", type=Path, metavar="GUIDE", help="put the output into a guide")
    options = parser.parse_args()
    if options.gold and not any(options.gold.glob(f"*{GOLD_ENDING}")):
        parser.error(f"{options.gold}: no *{GOLD_ENDING} files in this folder")
    try:
        if options.write:
            write_into(options.write, options.gold)
        else:
            print(report(options.gold), end="")
    except TruemarkError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
