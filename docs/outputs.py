"""Keeps what the guides show of commands true.

A block after `<!-- output of: COMMAND -->` holds what the command prints, and the table after
`<!-- flags of: COMMAND -->` its flags. `python docs/outputs.py` tells which are out of date and
leaves with 1; with `--write` it brings them up to date.

The commands of a guide that leave files behind follow each other in one new folder, in which
`samples` and `testdata` lie; dates and seconds, which are others every time, are blotted out, and a
status other than 0 is told.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from sat_bench.flags import flag_table
from sat_bench.options import FLAGS, IMPORT_FLAGS

ROOT = Path(__file__).parent.parent
GUIDES = (
    ROOT / "docs" / "benchmarking.md",
    ROOT / "docs" / "calendar-benchmark.md",
    ROOT / "README.md",
)
IN_A_FOLDER = ("cal-ai", "truemark")
PROGRAMS = {"sat-bench": "sat_bench", "cal-ai": "cal_ai", "truemark": "truemark"}
SETTINGS = ("GEMINI_", "OPENAI_", "OWNER_NAME", "TIMEZONE")
FLAG_SETS = {"sat-bench": FLAGS, "sat-bench import": IMPORT_FLAGS}

_OUTPUT = re.compile(r"<!-- output of: (.+?) -->\n```text\n.*?```\n", re.DOTALL)
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d")
_SECONDS = re.compile(r"\d+\.\d+ s\b")
_FLAGS = re.compile(r"<!-- flags of: (.+?) -->\n(?:\|.*\n)*")


def refreshed(guide: Path) -> str:
    """The guide with the present outputs and flags."""
    text = guide.read_text(encoding="utf-8")
    with TemporaryDirectory() as folder:
        for name in ("samples", "testdata"):
            (Path(folder) / name).symlink_to(ROOT / name)

        def output(block: re.Match[str]) -> str:
            stays = not block[1].startswith(IN_A_FOLDER)
            printed = _run(block[1]) if stays else _step(block[1], Path(folder))
            return f"<!-- output of: {block[1]} -->\n```text\n{printed}```\n"

        return _FLAGS.sub(_flags, _OUTPUT.sub(output, text))


def _run(command: str) -> str:
    return subprocess.run(
        _call(shlex.split(command)), cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    ).stdout


def _call(words: list[str]) -> list[str]:
    program, *arguments = words
    if program in PROGRAMS:
        arguments = ["-m", PROGRAMS[program], *arguments]
    return [sys.executable, *arguments]


def _step(command: str, folder: Path) -> str:
    """What a command prints in that folder; `*` stands for the files there are, the oldest first.

    A command that ends in `| head -N` is shown with so many lines.
    """
    command, _, lines = command.partition(" | head -")
    words = []
    for word in shlex.split(command):
        found = sorted(str(path.relative_to(folder)) for path in folder.glob(word))
        words += found if "*" in word else [word]
    settings = {name: value for name, value in os.environ.items() if not name.startswith(SETTINGS)}
    done = subprocess.run(
        _call(words), cwd=folder, env=settings, capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, 1, 3) or not done.stdout:
        raise SystemExit(f"{command} left with {done.returncode}: {done.stderr}")
    kept = done.stdout.splitlines(keepends=True)[: int(lines) if lines else None]
    printed = _SECONDS.sub("… s", _MOMENT.sub("2026-03-01T09-00-00", "".join(kept)))
    return printed + (f"(exit status {done.returncode})\n" if done.returncode else "")


def _flags(block: re.Match[str]) -> str:
    return f"<!-- flags of: {block[1]} -->\n{flag_table(FLAG_SETS[block[1]])}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="bring the guides up to date")
    parser.add_argument("guides", nargs="*", type=Path, help="these only (default: all)")
    options = parser.parse_args()
    write, stale = options.write, 0
    for guide in [path.resolve() for path in options.guides] or GUIDES:
        text = guide.read_text(encoding="utf-8")
        fresh = refreshed(guide)
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
