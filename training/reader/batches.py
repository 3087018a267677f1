"""Turn examples into tensors: the input of the network, and its target."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from cal_ai.extractors.reader import marks
from cal_ai.extractors.reader.candidates import NONE, Candidates
from cal_ai.extractors.reader.decide import KEEP
from cal_ai.extractors.reader.marks import Encoded, IntArray, Look, Marker
from cal_ai.extractors.reader.titles import NOT_SPOKEN
from training.reader.labels import Example, Labels
from training.reader.network import DAY, LONGEST_TITLE, SETTLES, WHEN, WORDS, Batch

_PAIRS, _CHANGES = (4, 8), (4, 4)  # right and wrong ones that may get a second look
_WHOLE = 64  # lengths are multiples of this, because few different shapes are faster
_MOST_TITLES = 8  # right places of a title
LOOKED = frozenset(
    ("window", "focus", "talk", "place", "is_pair", "right", "late", "words", "begins", "counts")
) | {"lines", "titles"}
"""Names of the target's arrays that have a row for each second look."""
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Looked:
    """A second look and its target.

    `place` is the index of the pair, or of the calendar event; `right` is 0 or 1 for a pair and an
    action for an event; `words` has a row of labels for each of `network.WORDS`, `begins` marks
    where lines begin, `counts` marks the rows that have labels. `lines` has the line of each spoken
    token, `titles` the first and last tokens of right titles.
    """

    look: Look
    place: int
    is_pair: bool
    right: int
    late: int
    words: Bools
    begins: Bools
    counts: Bools
    lines: IntArray
    titles: IntArray


@dataclass(frozen=True, slots=True)
class Prepared:
    """One example: `create` is 1 for right pairs, 0 for wrong ones, -1 for ignored ones."""

    arrays: Mapping[str, IntArray]
    create: NDArray[np.int64]
    action: NDArray[np.int64]
    looked: tuple[Looked, ...]


def prepared(marker: Marker, example: Example, chance: random.Random) -> Prepared:
    """Return the arrays of an example, with the second looks to choose from."""
    encoded = marker.encode(example.talk, example.candidates)
    labels, candidates = example.labels, example.candidates
    create = np.full(max(1, len(candidates.pairs)), -1 if not candidates.pairs else 0, np.int64)
    create[list(labels.ignored)] = -1
    create[list(labels.creates)] = 1
    action = np.array(labels.actions or [-1], np.int64)
    looked = (
        *(_at_pair(encoded, candidates, labels, pair) for pair in _some_pairs(create, chance)),
        *(
            _at_event(encoded, candidates, labels, event)
            for event in _some_events(labels.actions, chance)
        ),
    )
    return Prepared(encoded.arrays, create, action, looked)


def _some_pairs(create: NDArray[np.int64], chance: random.Random) -> Iterator[int]:
    for right, most in zip((1, 0), _PAIRS, strict=True):
        places = np.flatnonzero(create == right).tolist()
        # The first pairs are those mentioned closest to each other, which are likelier mistakes.
        yield from {
            places[int(len(places) * chance.random() ** 1.5)] for _ in range(most) if places
        }


def _some_events(actions: Sequence[int], chance: random.Random) -> Iterator[int]:
    changed = [place for place, action in enumerate(actions) if action != KEEP]
    kept = [place for place, action in enumerate(actions) if action == KEEP]
    for places, most in zip((changed, kept), _CHANGES, strict=True):
        yield from chance.sample(places, min(most, len(places)))


def _at_pair(encoded: Encoded, candidates: Candidates, labels: Labels, pair: int) -> Looked:
    look = encoded.at_pair(candidates, pair)
    right = pair in labels.creates
    words = np.zeros((len(WORDS), len(look.focus)), bool)
    line, start, end = encoded.origins[look.window].T
    titles = []
    for number, first, last in labels.creates.get(pair, ()):
        in_line = (line == number) & (start >= 0)
        begins = np.flatnonzero(in_line & (start <= first) & (end > first))
        ends = np.flatnonzero(in_line & (start < last) & (end >= last))
        if len(begins) and len(ends) and 0 <= ends[-1] - begins[0] < LONGEST_TITLE:
            titles.append((int(begins[0]), int(ends[-1])))
    settled, late = labels.settled.get(pair, ()), labels.late.get(pair)
    return _looked(look, pair, words, encoded, settled, right, late, titles)


def _at_event(encoded: Encoded, candidates: Candidates, labels: Labels, event: int) -> Looked:
    look = encoded.at_event(event)
    words = np.zeros((len(WORDS), len(look.focus)), bool)
    for row, links in ((WHEN, labels.whens), (DAY, labels.days)):
        for node in links.get(event, ()):
            words[row, 0] |= node == NONE
            for place in () if node == NONE else candidates.nodes[node].mentions:
                if (span := encoded.span(look.window, place)) is not None:
                    words[row, span[0]] = True
    settled = labels.changed.get(event, ())
    return _looked(look, event, words, encoded, settled, labels.actions[event], None)


def _looked(
    look: Look,
    place: int,
    words: Bools,
    encoded: Encoded,
    settled: Sequence[int],
    right: int,
    late: bool | None,
    titles: Sequence[tuple[int, int]] = (),
) -> Looked:
    line, start, _ = encoded.origins[look.window].T
    begins = (line >= 0) & (start < 0)
    words[SETTLES] = begins & np.isin(line, settled)
    counts: Bools = np.array([row.any() for row in words])
    counts[SETTLES] |= not right
    is_pair = look.focus[0] == marks.PAIR
    late_or_not = -1 if late is None else int(late)
    spoken = np.where(start >= 0, line, NOT_SPOKEN)
    # The places where a title was confirmed come last.
    places = np.full((_MOST_TITLES, 2), -1, np.int64)
    if titles:
        places[: len(titles[-_MOST_TITLES:])] = titles[-_MOST_TITLES:]
    return Looked(
        look, place, bool(is_pair), int(right), late_or_not, words, begins, counts, spoken, places
    )


def collated(examples: Sequence[Prepared]) -> tuple[Batch, Batch]:
    """Join several examples into one input and one target.

    The windows of all talks are concatenated, and so are the second looks, each with its `window`,
    `focus`, `talk` and `place`; their labels are in the target.
    """
    length = max(example.arrays["ids"].shape[1] for example in examples)
    length = -(-length // _WHOLE) * _WHOLE
    source: dict[str, list[IntArray]] = {name: [] for name in marks.CHANNELS}
    stacked: dict[str, list[IntArray]] = {}
    windows: list[int] = []
    begin = 0
    for example in examples:
        count, own_length = example.arrays["ids"].shape
        for name, array in example.arrays.items():
            if name in marks.CHANNELS:
                source[name].append(_wide(name, array, length))
            elif name.endswith("_at"):
                moved = (begin + array // own_length) * length + array % own_length
                stacked.setdefault(name, []).append(moved)
            else:
                stacked.setdefault(name, []).append(array)
        windows += [begin + look.look.window for look in example.looked]
        begin += count
    batch = {name: torch.from_numpy(np.concatenate(arrays)) for name, arrays in source.items()}
    batch |= {name: _stacked(arrays, -1) for name, arrays in stacked.items()}
    return batch, _targets(examples, windows, length)


def _wide(name: str, array: IntArray, length: int) -> IntArray:
    filler = marks.PAD if name == "ids" else 0
    return np.pad(array, ((0, 0), (0, length - array.shape[1])), constant_values=filler)


def _targets(examples: Sequence[Prepared], windows: Sequence[int], length: int) -> Batch:
    looked = [look for example in examples for look in example.looked]
    words = np.zeros((len(looked), len(WORDS), length), bool)
    begins = np.zeros((len(looked), length), bool)
    focus = np.zeros((len(looked), length), np.uint8)
    lines = np.full((len(looked), length), NOT_SPOKEN, np.int16)
    for row, look in enumerate(looked):
        width = look.words.shape[1]
        words[row, :, :width], begins[row, :width], focus[row, :width] = (
            look.words,
            look.begins,
            look.look.focus,
        )
        lines[row, :width] = look.lines
    talks = [talk for talk, example in enumerate(examples) for _ in example.looked]
    return {
        "create": _stacked([example.create for example in examples], -1),
        "action": _stacked([example.action for example in examples], -1),
        "window": torch.tensor(windows, dtype=torch.long),
        "focus": torch.from_numpy(focus),
        "talk": torch.tensor(talks, dtype=torch.long),
        "place": torch.tensor([look.place for look in looked], dtype=torch.long),
        "is_pair": torch.tensor([look.is_pair for look in looked], dtype=torch.bool),
        "right": torch.tensor([look.right for look in looked], dtype=torch.long),
        "late": torch.tensor([look.late for look in looked], dtype=torch.long),
        "words": torch.from_numpy(words),
        "begins": torch.from_numpy(begins),
        "counts": torch.from_numpy(
            np.array([look.counts for look in looked]).reshape(-1, len(WORDS))
        ),
        "lines": torch.from_numpy(lines),
        "titles": torch.from_numpy(
            np.array([look.titles for look in looked], np.int64).reshape(-1, _MOST_TITLES, 2)
        ),
    }


def _stacked(arrays: Sequence[NDArray[np.generic]], filler: int | bool) -> torch.Tensor:
    shape = [max(sizes) for sizes in zip(*(array.shape for array in arrays), strict=True)]
    stack = np.full((len(arrays), *shape), filler, arrays[0].dtype)
    for row, array in zip(stack, arrays, strict=True):
        row[tuple(slice(size) for size in array.shape)] = array
    return torch.from_numpy(stack)
