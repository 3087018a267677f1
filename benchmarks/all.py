"""Takes every measurement of docs/performance.md anew and prints it.

    python benchmarks/all.py [--write] [--only NAME]

A block that begins with `<!-- output of: python -m benchmarks.NAME -->` holds what that command
prints. With `--write` the blocks are replaced; a command that fails leaves its block as it is.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

from truemark.files import write_atomically

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "performance.md"

_BLOCK = re.compile(
    r"<!-- output of: python -m (?P<command>benchmarks\.(?P<name>\w+)[^\n]*?) -->\n"
    r".*?<!-- end of output -->\n",
    re.DOTALL,
)


def output(command: str) -> str | None:
    """What the command prints, or nothing when it fails."""
    print(f"python -m {command} ...", file=sys.stderr, end=" ", flush=True)
    begun_s = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(command)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    print(f"{time.perf_counter() - begun_s:.0f} s", file=sys.stderr)
    if done.returncode:
        print(f"python -m {command}: failed, status {done.returncode}", file=sys.stderr)
        return None
    return done.stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write them into {PAGE.name}")
    parser.add_argument("--only", metavar="NAME", help="just the measurement of that script")
    options = parser.parse_args()
    page = PAGE.read_text(encoding="utf-8")
    failed = 0
    for block in _BLOCK.finditer(page):
        if options.only not in (None, block["name"]):
            continue
        printed = output(block["command"])
        if printed is None:
            failed += 1
            continue
        print(f"python -m {block['command']}\n\n{printed.strip()}\n", flush=True)
        fresh = (
            f"<!-- output of: python -m {block['command']} -->\n"
            f"{printed.strip()}\n<!-- end of output -->\n"
        )
        page = page.replace(block[0], fresh)
        if options.write:
            write_atomically(PAGE, page)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
