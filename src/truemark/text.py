"""Text from elsewhere, made fit for a terminal."""

from __future__ import annotations


def one_line(text: str) -> str:
    """Text that a terminal shows on one line and takes for no command."""
    line = " ".join(text.split())
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)
