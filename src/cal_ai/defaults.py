"""Defaults of flags, and the names that `--extractor` takes."""

from __future__ import annotations

from typing import Final

EMBEDDED: Final = "reader"
"""The extractor that needs nothing but this package."""
EXTRACTORS: Final = (
    *(EMBEDDED, "gemini", "openai"),
    *("replay:FILE", "py:module:callable", "cmd:COMMAND"),
)
CALLS_AT_ONCE: Final = 4
MOST_REPEATS: Final = 1_000
"""The largest --repeat; a stored answer with a higher number counts as damaged."""
OUTPUT_FOLDER: Final = "reports"
