"""Examples as tensors: what the network takes, and what it should answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from cal_ai.extractors.reader import marks
from cal_ai.extractors.reader.marks import MENTION_KINDS, Encoded, Marker
from training.reader.labels import DAY_KINDS, WHEN_KINDS, Example
from training.reader.network import Batch

_WHEN = np.array([kind in WHEN_KINDS for kind in MENTION_KINDS])
_DAY = np.array([kind in DAY_KINDS for kind in MENTION_KINDS])


@dataclass(frozen=True, slots=True)
class Prepared:
    """One example in arrays.

    `create` is 1 for right pairs, 0 for wrong ones and -1 for those that do not count; `when` and
    `day` are true where a link is right, `first` and `last` where a title of a right pair begins
    and ends.
    """

    encoded: Encoded
    create: NDArray[np.int64]
    late: NDArray[np.int64]
    action: NDArray[np.int64]
    when: NDArray[np.bool_]
    day: NDArray[np.bool_]
    titled: NDArray[np.int64]
    first: NDArray[np.bool_]
    last: NDArray[np.bool_]


def prepared(marker: Marker, example: Example) -> Prepared:
    """The arrays of an example."""
    encoded = marker.encode(example.talk, example.candidates)
    labels, found = example.labels, example.candidates
    pairs, nodes = max(1, len(found.pairs)), max(1, len(found.nodes))
    create = np.full(pairs, -1 if not found.pairs else 0, np.int64)
    create[list(labels.ignored)] = -1
    create[list(labels.creates)] = 1
    late = np.full(pairs, -1, np.int64)
    for pair, is_late in labels.late.items():
        late[pair] = is_late
    action = np.array(labels.actions or [-1], np.int64)
    when = np.zeros((len(action), nodes + 1), bool)
    day = np.zeros((len(action), nodes + 1), bool)
    for target, chosen in labels.whens.items():
        when[target, [it + 1 for it in chosen]] = True
    for target, chosen in labels.days.items():
        day[target, [it + 1 for it in chosen]] = True
    titled = [pair for pair, spans in labels.creates.items() if spans]
    tokens = encoded.tokens
    first = np.zeros((len(titled), len(tokens)), bool)
    last = np.zeros((len(titled), len(tokens)), bool)
    for row, pair in enumerate(titled):
        for line, start, end in labels.creates[pair]:
            own = tokens[:, 0] == line
            first[row] |= own & (tokens[:, 1] <= start + 0) & (tokens[:, 2] > start)
            last[row] |= own & (tokens[:, 1] < end) & (tokens[:, 2] >= end)
    return Prepared(encoded, create, late, action, when, day, np.array(titled, int), first, last)


def collated(examples: Sequence[Prepared]) -> tuple[Batch, Batch]:
    """Input and target of several examples at once."""
    length = max(it.encoded.arrays["ids"].shape[1] for it in examples)
    source: dict[str, list[NDArray[np.int64]]] = {name: [] for name in marks.CHANNELS}
    others: dict[str, list[NDArray[np.int64]]] = {}
    begin = 0
    for one in examples:
        windows, own_length = one.encoded.arrays["ids"].shape
        for name, array in one.encoded.arrays.items():
            if name in marks.CHANNELS:
                filler = marks.PAD if name == "ids" else 0
                wide = np.pad(array, ((0, 0), (0, length - own_length)), constant_values=filler)
                source[name].append(wide)
            elif name.endswith("_at"):
                others.setdefault(name, []).append(
                    begin + array // own_length * length + array % own_length
                )
            else:
                others.setdefault(name, []).append(array)
        begin += windows * length
    batch = {name: torch.from_numpy(np.concatenate(it)) for name, it in source.items()}
    batch |= {name: _stacked(it, -1) for name, it in others.items()}
    return batch, _targets(examples)


def _targets(examples: Sequence[Prepared]) -> Batch:
    return {
        "create": _stacked([it.create for it in examples], -1),
        "late": _stacked([it.late for it in examples], -1),
        "action": _stacked([it.action for it in examples], -1),
        "when": _stacked([it.when for it in examples], False),
        "day": _stacked([it.day for it in examples], False),
        "titled": _stacked([it.titled for it in examples], -1),
        "first": _stacked([it.first for it in examples], False),
        "last": _stacked([it.last for it in examples], False),
        "is_when": _stacked([_allowed(it, _WHEN) for it in examples], False),
        "is_day": _stacked([_allowed(it, _DAY) for it in examples], False),
    }


def _allowed(one: Prepared, kinds: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The links that make sense: none, and nodes of these kinds."""
    nodes = kinds[one.encoded.arrays["node_kind"]] & (one.create.size > 0)
    return np.concatenate([[True], nodes])


def _stacked(arrays: Sequence[NDArray[np.generic]], filler: int | bool) -> torch.Tensor:
    shape = [max(sizes) for sizes in zip(*(it.shape for it in arrays), strict=True)]
    stack = np.full((len(arrays), *shape), filler, arrays[0].dtype)
    for row, array in zip(stack, arrays, strict=True):
        row[tuple(slice(size) for size in array.shape)] = array
    return torch.from_numpy(stack)
