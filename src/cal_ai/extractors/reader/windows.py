"""Windows of a long talk: runs of lines that the network can read at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

_OVERLAP = 0.25


def split_lines(sizes: Sequence[int], room: int) -> Iterator[range]:
    """Split lines into runs that fit into the room; each shares a quarter with the one before."""
    first = 0
    while True:
        last, total = first, 0
        while last < len(sizes) and (total + sizes[last] <= room or last == first):
            total += sizes[last]
            last += 1
        yield range(first, last)
        if last >= len(sizes):
            return
        back, shared = last, 0
        while back - 1 > first and shared + sizes[back - 1] <= _OVERLAP * total:
            back -= 1
            shared += sizes[back]
        first = back


def owners_of(windows: Sequence[range]) -> dict[int, int]:
    """Find for each line the window in which it is farthest from the edges."""
    owners: dict[int, tuple[int, int]] = {}
    for number, window in enumerate(windows):
        for line in window:
            inner = min(line - window.start, window.stop - 1 - line)
            if line not in owners or inner > owners[line][0]:
                owners[line] = (inner, number)
    return {line: number for line, (_, number) in owners.items()}
