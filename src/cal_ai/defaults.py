"""Defaults of flags, and the names that `--extractor` takes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

EMBEDDED: Final = "reader"
"""The extractor that needs nothing but this package."""
EXTRACTORS: Final = (
    *(EMBEDDED, "gemini", "openai"),
    *("replay:FILE", "py:module:callable", "cmd:COMMAND"),
)
CALLS_AT_ONCE: Final = 4
OUTPUT_FOLDER: Final = "reports"


@dataclass(frozen=True, slots=True)
class LabelOptions:
    """Which conversations to label, and in whose name."""

    folder: Path
    annotator: str = ""
    adjudicate: tuple[str, ...] = ()
    review: Path | None = None
    open_browser: bool = True
