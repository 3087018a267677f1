"""Takes every measurement of docs/performance.md and README.md anew and prints it.

    python -m benchmarks.all [--write] [--only NAME]

With `--write` the blocks of those pages are replaced; a command that fails leaves its block as it
is.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import time
from pathlib import Path

from docs import outputs

from truemark.files import write_atomically

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "docs" / "performance.md", ROOT / "README.md")


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
    parser.add_argument("--write", action="store_true", help="write them into the pages")
    parser.add_argument("--only", metavar="NAME", help="just the measurement of that script")
    options = parser.parse_args()
    return max(measure(path, options.only, write=options.write) for path in PAGES)


def measure(path: Path, only: str | None, *, write: bool) -> int:
    """Takes the measurements of a page, or just the one of that name; 1 when one failed."""
    page = path.read_text(encoding="utf-8")
    status = 0
    for name, command in outputs.measurements(page):
        if only not in (None, name):
            continue
        printed = output(command)
        if printed is None:
            status = 1
            continue
        print(f"python -m {command}\n\n{printed.strip()}\n", flush=True)
        page = outputs.with_measurement(page, name, printed)
        if write:
            write_atomically(path, page)
    return status


if __name__ == "__main__":
    sys.exit(main())
