"""Commands that write, ended at random moments: killed, and interrupted."""

from __future__ import annotations

import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from tests.hostile.forked import Case, Outcome, complaints, environment, put_files, run
from tests.hostile.writers import Writer, servers, writers

import truemark

KILLS = 200
INTERRUPTS = 16
LIVES = 8  # in one folder, before a run that is let be
Own = Callable[[Iterable[Any]], Iterator[Any]]
Finding = tuple[str, str, list[str]]
# What Python does before the first line of a command, and what imports the command.
_OURS = re.compile(
    rf'File "{re.escape(str(Path(truemark.__file__).parents[1]))}/\w+/(?!__init__|__main__)'
)


def kill_cases(folder: str, seed: int, own: Own) -> Iterator[Finding]:
    """Each writer killed at random moments, the same folder taken up again and again."""
    with servers() as asked:
        for writer in writers(asked):
            dice = random.Random(f"{seed} {writer.name}")
            place = writer.new_place(folder)
            whole_s = run(writer.case(place), place).seconds
            moments = own([dice.uniform(0, 1.1) for _ in range(KILLS)])
            for number, moment in enumerate(moments):
                if number % LIVES == 0:
                    place = writer.new_place(folder)
                outcome = run(writer.case(place, kill_after_s=moment * whole_s), place)
                found = writer.check(place, outcome)
                if outcome.status != -signal.SIGKILL:
                    found += complaints(writer.case(place), outcome, place)
                if number % LIVES == LIVES - 1:
                    found += _ends_well(writer, place)
                yield f"killed {writer.name}", f"{number}", found


def _ends_well(writer: Writer, place: Path) -> list[str]:
    """What is wrong with a run that is let be, after those that were not."""
    case = writer.case(place, statuses=frozenset({0}))
    outcome = run(case, place)
    return writer.check(place, outcome) + complaints(case, outcome, place)


def interrupt_cases(folder: str, seed: int, own: Own) -> Iterator[Finding]:
    """Each writer, from its start as a process on, with Ctrl-C at random moments."""
    with servers() as asked:
        for writer in writers(asked):
            dice = random.Random(f"{seed} {writer.name} interrupted")
            place = writer.new_place(folder)
            whole_s = interrupted(writer.case(place), place, None).seconds
            moments = own([dice.uniform(0, 1.1) for _ in range(INTERRUPTS)])
            for number, moment in enumerate(moments):
                if number % LIVES == 0:
                    place = writer.new_place(folder)
                case = writer.case(place, statuses=frozenset({0, 130}))
                outcome = interrupted(case, place, moment * whole_s)
                found = writer.check(place, outcome)
                if is_ours(outcome):
                    found += complaints(case, outcome, place)
                if number % LIVES == LIVES - 1:
                    found += _ends_well(writer, place)
                yield f"interrupted {writer.name}", f"{number}", found


def is_ours(outcome: Outcome) -> bool:
    """Whether the command had begun; before that, Python answers in its own way."""
    err = outcome.err.decode("utf-8", "replace")
    if outcome.status == -signal.SIGINT and not err:  # before Python answers signals at all
        return False
    return "Traceback" not in err or _OURS.search(err) is not None


def interrupted(case: Case, place: Path, after_s: float | None) -> Outcome:
    """The case as a process of its own, which gets a Ctrl-C after so many seconds, if any."""
    put_files(case, place)
    module = case.main.__module__.partition(".")[0]
    begun_s = time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-m", module, *case.arguments],
        cwd=place,
        env=environment(case, place),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        if after_s is not None:
            time.sleep(after_s)
            process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    return Outcome(process.returncode, out, err, time.monotonic() - begun_s, 0.0)
