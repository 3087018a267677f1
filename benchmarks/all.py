"""Takes every measurement of docs/performance.md anew and prints it.

    python -m benchmarks.all [--write] [--only NAME]

With `--write` the blocks of that page are replaced; a command that fails leaves its block as it is.
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
PAGE = ROOT / "docs" / "performance.md"


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
    for name, command in outputs.measurements(page):
        if options.only not in (None, name):
            continue
        printed = output(command)
        if printed is None:
            failed += 1
            continue
        print(f"python -m {command}\n\n{printed.strip()}\n", flush=True)
        page = outputs.with_measurement(page, name, printed)
        if options.write:
            write_atomically(PAGE, page)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
