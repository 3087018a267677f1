"""The command `sat-bench`; what it does is imported when it is called, so that `-h` is quick."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from truemark.command import run_command


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status: 0 done, 1 the work failed, 2 the command line is wrong, 130 Ctrl-C."""
    return run_command("", lambda: _work(list(sys.argv[1:] if arguments is None else arguments)))


def _work(given: list[str]) -> int:
    from sat_bench.commands import import_talk, measure

    return import_talk(given[1:]) if given[:1] == ["import"] else measure(given)
