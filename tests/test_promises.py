"""Every promise of SECURITY.md and docs/reliability.md names a test, and that test exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TESTS = {
    name
    for path in (ROOT / "tests").rglob("test_*.py")
    for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
}
SECTIONS = {
    "SECURITY.md": ("What is trusted, and what is not", "Keys and private text"),
    "docs/reliability.md": (
        "What you can rely on",
        "Faults, and what is done about them",
        "File modes",
    ),
}
# What is no promise: introductions, and what other libraries do.
OTHERS = ("Each promise names", "| model files", "| what |", "| fault |", "| ---")


def promises(page: str) -> list[str]:
    """The paragraphs, items and rows of its sections that promise something."""
    found = []
    text = (ROOT / page).read_text(encoding="utf-8")
    for title in SECTIONS[page]:
        section = text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
        for block in re.split(r"\n\n|\n(?=[-|] ?)", section.strip()):
            if block.strip() and not block.startswith(OTHERS):
                found.append(block)
    return found


@pytest.mark.parametrize("page", SECTIONS)
def test_every_promise_names_tests_that_exist(page: str) -> None:
    every = promises(page)
    assert len(every) > 8
    for promise in every:
        named = re.findall(r"`(test_\w+)`", promise)
        assert named, promise
        assert set(named) <= TESTS, promise
