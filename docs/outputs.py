"""Keep the outputs of commands on the pages up to date.

| mark | what follows it |
| --- | --- |
| `<!-- output of: COMMAND -->` and a fence | the command, and what it prints |
| `<!-- output of: COMMAND -->` up to `<!-- end of output -->` | what a measurement printed |
| `<!-- flags of: COMMAND -->` | the table of its flags |

`python docs/outputs.py` runs the commands and names the pages that are out of date (exit status 1);
with `--write` it updates them. The commands of a page run one after another in one new folder with
`samples`, `testdata` and `examples`. Dates and speeds, which differ every time, are masked, and an
exit status other than 0 is shown. Measurements take minutes and differ every time, so they are
taken by `python -m benchmarks.all --write`, and those of docs/reliability.md by
`python -m tests.hostile.campaign --write`.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from difflib import unified_diff
from pathlib import Path
from tempfile import TemporaryDirectory

from sat_bench.cli import FLAGS, IMPORT_FLAGS, Flag

ROOT = Path(__file__).parent.parent
PAGES = (
    ROOT / "docs" / "benchmarking.md",
    ROOT / "docs" / "calendar-benchmark.md",
    ROOT / "docs" / "third-benchmark.md",
    ROOT / "README.md",
)
PROGRAMS = {"sat-bench": "sat_bench", "cal-ai": "cal_ai", "truemark": "truemark"}
SETTINGS = ("GEMINI_", "OPENAI_", "OWNER_NAME", "TIMEZONE")
FLAG_SETS = {"sat-bench": FLAGS, "sat-bench import": IMPORT_FLAGS}

_PRINTED = re.compile(r"(<!-- output of: ([^\n]+?) -->\n```text\n).*?(```\n)", re.DOTALL)
_MEASURED = re.compile(
    r"(?P<start><!-- output of: python -m "
    r"(?P<command>(?:benchmarks|tests\.hostile)\.(?P<name>\w+)[^\n]*?) -->\n)"
    r".*?(?P<end><!-- end of output -->\n)",
    re.DOTALL,
)
_FLAGS = re.compile(r"<!-- flags of: (.+?) -->\n(?:\|.*\n)*")
_BLOTS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d"), "2026-03-01T09-00-00"),
    (re.compile(r"\d+\.\d+ s\b"), "… s"),
    (re.compile(r"[\d,]+ characters/s\b"), "… characters/s"),
    (re.compile(r"\(run [0-9a-f]{8}\)"), "(run 1a2b3c4d)"),
    (re.compile(r"(?m)  [0-9a-f]{8}$"), "  1a2b3c4d"),
    (re.compile(r"\.[0-9a-f]{8}\.run\.json"), ".1a2b3c4d.run.json"),
    # In a table, the column stays as wide as its heading.
    (re.compile(r"  +\d{1,3}(?:,\d{3})+(?=  |$)"), lambda number: "…".rjust(len(number[0]))),
)


def refreshed(page: str) -> str:
    """Return the page with the current outputs and flags of commands."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        for shared in ("samples", "testdata", "examples"):
            (folder / shared).symlink_to(ROOT / shared)

        def printed(block: re.Match[str]) -> str:
            return f"{block[1]}$ {block[2]}\n{output(block[2], folder)}{block[3]}"

        return _FLAGS.sub(_flags, _PRINTED.sub(printed, page))


def output(command: str, folder: Path) -> str:
    """Run a command in the folder and return what it prints; `*` stands for the files there.

    A final `2>&1` includes its notes, and `| head -N` keeps N lines. Of several commands joined by
    `&&` only the last one is shown.
    """
    *earlier, command = command.split(" && ")
    for preparation in earlier:
        subprocess.run(_call(shlex.split(preparation)), cwd=folder, check=True)
    command, _, lines = command.partition(" | head -")
    command, with_notes = command.removesuffix(" 2>&1"), command.endswith(" 2>&1")
    words = []
    for word in shlex.split(command):
        files = sorted(str(path.relative_to(folder)) for path in folder.glob(word or "."))
        words += files if "*" in word else [word]
    done = subprocess.run(
        _call(words),
        cwd=folder,
        env={name: value for name, value in os.environ.items() if not name.startswith(SETTINGS)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if with_notes else subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1, 3) or not done.stdout:
        raise SystemExit(f"{command} failed with status {done.returncode}: {done.stderr}")
    text = "".join(done.stdout.splitlines(keepends=True)[: int(lines) if lines else None])
    for pattern, shown in _BLOTS:
        text = pattern.sub(shown, text)
    return text + (f"(exit status {done.returncode})\n" if done.returncode else "")


def _call(words: list[str]) -> list[str]:
    program, *arguments = words
    if program in PROGRAMS:
        arguments = ["-m", PROGRAMS[program], *arguments]
    return [sys.executable, *arguments]


def measurements(page: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the command of each measurement on the page."""
    for block in _MEASURED.finditer(page):
        yield block["name"], block["command"]


def with_measurement(page: str, name: str, printed: str) -> str:
    """Return the page with the printed text in the blocks of this name."""

    def filled(block: re.Match[str]) -> str:
        if block["name"] != name:
            return block[0]
        return f"{block['start']}{printed.strip()}\n{block['end']}"

    return _MEASURED.sub(filled, page)


def _flags(block: re.Match[str]) -> str:
    return f"<!-- flags of: {block[1]} -->\n{flag_table(FLAG_SETS[block[1]])}"


def flag_table(flags: Sequence[Flag]) -> str:
    """Write the flags as a Markdown table."""
    lines = ["| flag | default | meaning |", "| --- | --- | --- |"]
    for flag in flags:
        name = " ".join(filter(None, (flag.name, flag.placeholder)))
        default = flag.default if flag.placeholder else "off"
        shown = f"`{default}`" if default and " " not in default and flag.placeholder else default
        lines.append(" ".join(filter(None, ("|", f"`{name}`", "|", shown, "|", flag.meaning, "|"))))
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="bring the pages up to date")
    parser.add_argument("pages", nargs="*", type=Path, help="these only (default: all)")
    options = parser.parse_args()
    stale = 0
    for page in [path.resolve() for path in options.pages] or PAGES:
        text = page.read_text(encoding="utf-8")
        fresh = refreshed(text)
        if fresh == text:
            continue
        if options.write:
            page.write_text(fresh, encoding="utf-8")
        else:
            stale = 1
            print(f"{page.relative_to(ROOT)}: out of date; run: python docs/outputs.py --write")
            changes = unified_diff(text.splitlines(), fresh.splitlines(), "page", "now", n=0)
            print("\n".join(changes))
    return stale


if __name__ == "__main__":
    sys.exit(main())
