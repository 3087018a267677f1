"""Average networks: two of which one continues the other, or the steps of one training.

python -m training.mean work/teacher1/teacher work/second/base work/base --share 0.7 --pieces 0.3

A network that has seen its text often overfits, most of all in the table of pieces; the mean with
an earlier state keeps what it learned of the language.
"""

from __future__ import annotations

import argparse
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from training.weights import Arrays, read_network, write_parts, write_small

if TYPE_CHECKING:
    from training.finished import AnyNetwork

READ_FIRST = ("pieces.", "kinds.", "neighbours")


class RunningMean:
    """The mean of a network at several steps of its training."""

    def __init__(self, network: AnyNetwork) -> None:
        self.network = deepcopy(network).requires_grad_(False)
        self.count = 0

    def add(self, network: AnyNetwork) -> None:
        """Add the present weights of the network."""
        import torch

        self.count += 1
        values, others = list(self.network.parameters()), list(network.parameters())
        with torch.no_grad():
            torch._foreach_lerp_(values, others, 1 / self.count)


def mean(first: Arrays, second: Arrays, share: float, pieces: float) -> Arrays:
    """Average two networks; `share` is that of the second, `pieces` that of its piece table."""
    if first.keys() != second.keys():
        raise ValueError(f"networks must be of one shape, got {len(first)} and {len(second)} names")
    shares = {name: pieces if name.startswith(READ_FIRST) else share for name in first}
    return {
        name: (1 - shares[name]) * values + shares[name] * second[name]
        for name, values in first.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("first", "second", "out"):
        parser.add_argument(name, type=Path, help="FOLDER/NAME of a network, or its .small.npz")
    parser.add_argument("--share", type=float, default=0.5, help="of the second network")
    parser.add_argument("--pieces", type=float, help="share of its pieces, if it is another one")
    options = parser.parse_args()
    first, second = read_network(options.first), read_network(options.second)
    pieces = options.share if options.pieces is None else options.pieces
    arrays = mean(first, second, options.share, pieces)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    write_parts(arrays, options.out.parent, options.out.name, np.float32)
    write_small(arrays, options.out.parent / f"{options.out.name}.small.npz")


if __name__ == "__main__":
    main()
