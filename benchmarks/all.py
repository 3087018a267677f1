"""Repeat and print every measurement of docs/performance.md and README.md.

    python -m benchmarks.all [--write] [--only NAME] [--busy]

Ratios are compared with those of benchmarks/ratios.json; those that fell by more than 15% are named
(exit status 1). `--write` replaces the blocks of the pages and the stored ratios; a command that
fails leaves its block as it is.

While other processes take more than a twentieth of the CPU, nothing is measured; after a minute the
command gives up. A disturbed call is repeated, and a measurement whose calls are all disturbed
fails. `--busy` measures anyway, and stores nothing.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from docs import outputs

from benchmarks.machine import MOST_BY_OTHERS, Moment
from benchmarks.ratios import falls, missing, ratios_of, read_stored, store
from benchmarks.timing import BUSY
from truemark.files import write_atomically

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "docs" / "performance.md", ROOT / "README.md")
LOOK_S = 2.0
LOOKS = 12
PAUSE_S = 3.0


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def output(command: str, *, busy: bool = False) -> str | None:
    """Return what the command prints, or None if it fails."""
    begun_s = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(command)],
        cwd=ROOT,
        env=os.environ | ({BUSY: "1"} if busy else {}),
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    say(f"python -m {command}: {time.perf_counter() - begun_s:.0f} s")
    if done.returncode:
        say(f"python -m {command}: failed, status {done.returncode}")
        return None
    return done.stdout


def share_of_others() -> float:
    """Return the share of the CPU that other processes take while nothing is measured."""
    begun = Moment.now()
    time.sleep(LOOK_S)
    return begun.by_others(Moment.now())


def wait_for_quiet(
    look: Callable[[], float] = share_of_others, pause: Callable[[float], None] = time.sleep
) -> bool:
    """Wait up to a minute for an idle machine; return whether it is idle, and report if not."""
    for number in range(LOOKS):
        if (share := look()) <= MOST_BY_OTHERS:
            return True
        if not number:
            say(f"the machine is busy: others take {share:.0%} of its processor; waiting ...")
        pause(PAUSE_S)
    say(
        f"error: the machine is busy: others take {share:.0%} of its processor, expected at most "
        f"{MOST_BY_OTHERS:.0%}; run it again when it is idle, or with --busy to see figures that "
        "are not stored"
    )
    return False


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="store pages and ratios")
    parser.add_argument("--only", metavar="NAME", help="just the measurement of that script")
    parser.add_argument("--busy", action="store_true", help="measure on a busy machine too")
    options = parser.parse_args()
    if options.busy and options.write:
        parser.error("argument --busy: figures of a busy machine are not stored; leave out --write")
    if not options.busy and not wait_for_quiet():
        return 1
    measured = partial(output, busy=options.busy)
    return max(measure(path, options.only, measured, write=options.write) for path in PAGES)


def measure(
    path: Path, only: str | None, measured: Callable[[str], str | None], *, write: bool
) -> int:
    """Take the measurements of a page, or only the named one; return 1 if one failed or fell."""
    page = path.read_text(encoding="utf-8")
    stored = read_stored()
    status = 0
    for name, command in outputs.measurements(page):
        if only not in (None, name):
            continue
        printed = measured(command)
        if printed is None:
            status = 1
            continue
        print(f"python -m {command}\n\n{printed.strip()}\n", flush=True)
        ratios = ratios_of(name, printed)
        status = max(status, tell_falls(name, stored, ratios))
        page = outputs.with_measurement(page, name, printed)
        if write:
            write_atomically(path, page)
            store(name, ratios)
    return status


def tell_falls(script: str, stored: dict[str, float], ratios: dict[str, float]) -> int:
    """Report ratios that fell by more than is allowed or are gone; return 1 if there are any."""
    lines = [f"fell: {fall}" for fall in falls(stored, ratios)]
    lines += [f"gone: {name}: stored {stored[name]:g}" for name in missing(script, stored, ratios)]
    for line in lines:
        say(line)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
