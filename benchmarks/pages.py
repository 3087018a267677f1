"""Pages that show what measurements printed.

A block from `<!-- output of: python -m benchmarks.NAME -->` to `<!-- end of output -->` holds what
that command prints.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_BLOCK = re.compile(
    r"(?P<start><!-- output of: python -m (?P<command>benchmarks\.(?P<name>\w+)[^\n]*?) -->\n)"
    r".*?(?P<end><!-- end of output -->\n)",
    re.DOTALL,
)


def commands(page: str) -> Iterator[tuple[str, str]]:
    """The name and the command of each block."""
    for block in _BLOCK.finditer(page):
        yield block["name"], block["command"]


def with_output(page: str, name: str, printed: str) -> str:
    """The page with what was printed in the blocks of that name."""

    def filled(block: re.Match[str]) -> str:
        if block["name"] != name:
            return block[0]
        return f"{block['start']}{printed.strip()}\n{block['end']}"

    return _BLOCK.sub(filled, page)
