"""Text from elsewhere, made fit for a terminal."""

from __future__ import annotations


def one_line(text: str) -> str:
    """Text that a terminal shows on one line and takes for no command."""
    line = " ".join(text.split())
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)


def shortened(text: str, limit: int) -> str:
    """Text of at most `limit` characters; what is longer ends after a whole word, with an ellipsis.

    A single word that is longer than that is cut inside.
    """
    if len(text) <= limit:
        return text
    kept = text[: limit - 1]
    if not text[limit - 1].isspace():
        # Not further back than half: scripts without spaces would lose nearly everything.
        at = max(kept.rfind(" "), kept.rfind("\n"))
        kept = kept[:at] if at >= limit // 2 else kept
    return kept.rstrip() + "…"
