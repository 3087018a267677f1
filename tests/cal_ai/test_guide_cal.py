"""The guide of the calendar benchmark shows what the commands print."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from cal_ai.benchmark.mistakes import KINDS

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "calendar-benchmark.md"


def test_the_guide_shows_what_the_commands_print() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "docs" / "outputs.py", GUIDE],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stdout


def test_the_guide_tells_every_kind_of_mistake_in_the_order_in_which_they_apply() -> None:
    table = GUIDE.read_text(encoding="utf-8").partition("| kind | means |")[2]
    assert tuple(re.findall(r"^\| ([a-z ]+) \| \w", table, re.MULTILINE)) == KINDS


def test_the_links_of_the_guide_lead_somewhere() -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", GUIDE.read_text(encoding="utf-8"))
    assert targets
    for target in targets:
        assert (GUIDE.parent / target).exists(), target
