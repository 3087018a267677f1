"""The mean of two networks of the same shape, one of which went on from the other.

python -m training.mean work/teacher1/teacher work/second/base work/base --share 0.7 --pieces 0.3

A network that has seen its text often knows it by heart, the table of pieces most of all; the mean
with what it was before keeps what it learned of the language.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from training.weights import Arrays, read_parts, write_parts, write_small

READ_FIRST = ("pieces.", "neighbours")


def mean(first: Arrays, second: Arrays, share: float, pieces: float) -> Arrays:
    """The weights with this share of the second network, and that of its pieces."""
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
        parser.add_argument(name, type=Path, help="FOLDER/NAME of a network")
    parser.add_argument("--share", type=float, default=0.5, help="of the second network")
    parser.add_argument("--pieces", type=float, help="share of its pieces, if it is another one")
    options = parser.parse_args()
    first, second = (read_parts(it.parent, it.name) for it in (options.first, options.second))
    pieces = options.share if options.pieces is None else options.pieces
    arrays = mean(first, second, options.share, pieces)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    write_parts(arrays, options.out.parent, options.out.name, np.float32)
    write_small(arrays, options.out.parent / f"{options.out.name}.small.npz")


if __name__ == "__main__":
    main()
