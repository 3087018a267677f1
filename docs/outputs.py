"""Keeps what the guides show of commands true.

A block after `<!-- output of: COMMAND -->` holds what the command prints, and the table after
`<!-- flags of: COMMAND -->` its flags. `python docs/outputs.py` tells which are out of date and
leaves with 1; with `--write` it brings them up to date.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
from pathlib import Path

from sat_bench.flags import flag_table
from sat_bench.options import FLAGS, IMPORT_FLAGS

ROOT = Path(__file__).parent.parent
GUIDES = (ROOT / "docs" / "benchmarking.md", ROOT / "README.md")
FLAG_SETS = {"sat-bench": FLAGS, "sat-bench import": IMPORT_FLAGS}

_OUTPUT = re.compile(r"<!-- output of: (.+?) -->\n```text\n.*?```\n", re.DOTALL)
_FLAGS = re.compile(r"<!-- flags of: (.+?) -->\n(?:\|.*\n)*")


def refreshed(text: str) -> str:
    """The guide with the present outputs and flags."""
    return _FLAGS.sub(_flags, _OUTPUT.sub(_output, text))


def _output(block: re.Match[str]) -> str:
    program, *arguments = shlex.split(block[1])
    if program == "sat-bench":
        arguments = ["-m", "sat_bench", *arguments]
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    return f"<!-- output of: {block[1]} -->\n```text\n{done.stdout}```\n"


def _flags(block: re.Match[str]) -> str:
    return f"<!-- flags of: {block[1]} -->\n{flag_table(FLAG_SETS[block[1]])}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="bring the guides up to date")
    write = parser.parse_args().write
    stale = 0
    for guide in GUIDES:
        text = guide.read_text(encoding="utf-8")
        fresh = refreshed(text)
        if fresh == text:
            continue
        if write:
            guide.write_text(fresh, encoding="utf-8")
        else:
            stale = 1
            print(f"{guide.relative_to(ROOT)}: out of date; run: python docs/outputs.py --write")
    return stale


if __name__ == "__main__":
    sys.exit(main())
