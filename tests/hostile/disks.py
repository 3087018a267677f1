"""Commands that write, on disks that are full, into outputs that are, and four at once."""

from __future__ import annotations

import ctypes
import json
import os
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from tests.hostile.forked import ODD, Case, Outcome, complaints, fork, put_files, run
from tests.hostile.kinds import TRANSCRIPT
from tests.hostile.writers import Writer, servers, writers

from cal_ai.cli import main as cal_ai
from sat_bench.cli import main as sat_bench
from truemark.cli import main as truemark
from truemark.files import PRIVATE

Own = Callable[[Iterable[Any]], Iterator[Any]]
Finding = tuple[str, str, list[str]]
Left = tuple[int, list[str]]  # how a command ended, and what is wrong with what it left
SIZES = 12
AT_ONCE = 4
_NEW_NAMES = 0x00020000 | 0x10000000  # mounts and users of its own
_PRIVATE = 0x40000 | 0x4000
JOURNAL, HISTORY = "DATA/truemark/applied.jsonl", "reports/benchmark_history.jsonl"
_NO_WORDS = ("/dev/null", "/dev/null")


def full_disk_cases(folder: str, seed: int, own: Own) -> Iterator[Finding]:
    """Disks and files that are full at any size."""
    dice = random.Random(f"{seed} disks")
    sizes = [0, 1, 100, *(dice.randrange(200, 20_000) for _ in range(SIZES - 3))]
    with servers() as asked:
        every = writers(asked)
        for writer, size in own([(it, size) for it in every for size in sizes]):
            # Standard error would be a file that cannot grow either.
            place = writer.new_place(folder)
            case = writer.case(place, largest_file=size, streams=_NO_WORDS)
            status, found = _left(case, place)
            found += writer.check(place, _ended(status))
            yield f"full file {writer.name}", f"{size}", found
        for writer, size in own([(it, size) for it in every for size in sizes]):
            place = writer.new_place(folder)
            status, found = in_another_process(partial(_on_small_disk, writer, place, size))
            if writer.prepare is not None:  # what it wrote is on a server
                found += writer.check(place, _ended(status))
            yield f"full disk {writer.name}", f"{size}", found


def _left(case: Case, place: Path) -> Left:
    outcome = run(case, place)
    found = [it for it in complaints(case, outcome, place) if "without a word" not in it]
    leftovers = [path.name for path in place.rglob("*.tmp")]
    return outcome.status, found + ([f"left behind {leftovers}"] if leftovers else [])


def _ended(status: int) -> Outcome:
    return Outcome(status, b"", b"", 0.0, 0.0)


def _on_small_disk(writer: Writer, place: Path, free: int) -> Left:
    """The same on a file system of its own that has so many bytes left."""
    case = writer.case(place, streams=_NO_WORDS)
    mount_small(place)
    put_files(case, place)
    disk = os.statvfs(place)
    filling = place / ".filling"
    filling.touch(PRIVATE)  # or the campaign would find its own file open to others
    filling.write_bytes(bytes(max(0, disk.f_bavail * disk.f_frsize - free)))
    status, found = _left(case, place)
    return status, found + (writer.check(place, _ended(status)) if writer.prepare is None else [])


def mount_small(place: Path) -> None:
    """Mounts a small file system, which this process and its children alone see."""
    library = ctypes.CDLL(None, use_errno=True)
    ended = library.unshare(_NEW_NAMES if os.getuid() else _NEW_NAMES & 0x00FFFFFF)
    ended = ended or library.mount(b"none", b"/", None, _PRIVATE, None)
    ended = ended or library.mount(b"tmpfs", str(place).encode(), b"tmpfs", 0, b"size=16m")
    if ended:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def in_another_process(work: Callable[[], Left]) -> Left:
    """What the work gives, done in a process whose mounts nobody else sees."""
    reading, writing = os.pipe()
    child = fork()
    if child == 0:
        left = 1, ["the work failed"]
        try:
            left = work()
        except OSError as error:
            left = 1, [f"no file system could be mounted: {error}"]
        finally:
            os.write(writing, json.dumps(left).encode())
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        status, found = json.loads(pipe.read())
    os.waitpid(child, 0)
    return status, found


OUTPUTS = {
    "cal_ai run": ("c.ics", "c.ics.lock", "DATA", *(f"{JOURNAL}{it}" for it in ("", ".lock"))),
    "cal_ai run caldav": (JOURNAL,),
    "cal_ai run google": ("CONFIG/truemark/google-token.json",),
    "cal_ai benchmark": ("reports", HISTORY, f"{HISTORY}.lock"),
    "sat-bench -cache": ("cache", "cache/CACHEDIR.TAG"),
    "sat-bench -record": ("out.run.json",),
    "sat-bench -quantize": ("CACHE", "CACHE/truemark/models"),
    "sat-bench import": ("o.txt",),
    "truemark report": ("page.html",),
    "truemark history": ("page.html",),
    "truemark check": ("j.xml", "summary.md"),
}


def odd_output_cases(folder: str, own: Own) -> Iterator[Finding]:
    """Each thing that a command writes, where there is something that is no file."""
    with servers() as asked:
        every = [
            (it, name, kind) for it in writers(asked) for name in OUTPUTS[it.name] for kind in ODD
        ]
        for writer, name, kind in own(every):
            place = writer.new_place(folder)
            case = writer.case(place, odd={name: kind})
            found = complaints(case, run(case, place), place)
            yield "odd output", f"{writer.name}: {name} is {kind}", found


def full_output_cases(folder: str, own: Own) -> Iterator[Finding]:
    """Standard output or standard error on a device that is full."""
    streams = (("/dev/full", "err"), ("out", "/dev/full"), ("/dev/full", "/dev/full"))
    helps = tuple(
        Writer(f"{main.__module__} {flag}", main, (flag,), {}, lambda place, outcome: [])
        for main in (cal_ai, sat_bench, truemark)
        for flag in ("--help", "--version")
    )
    with servers() as asked:
        for writer, pair in own([(it, two) for it in (*writers(asked), *helps) for two in streams]):
            # Whoever prints nothing on standard output does not see that it is full.
            silent = writer.name == "truemark report"
            status = 1 if pair[0] == "/dev/full" and not silent else 0
            place = writer.new_place(folder)
            case = writer.case(place, streams=pair, statuses=frozenset({status}))
            outcome = run(case, place)
            found = complaints(case, outcome, place)
            if pair[1] == "/dev/full":
                found = [it for it in found if "without a word" not in it]
            yield "full output", f"{writer.name} {pair}", found


def writer_cases(folder: str, seed: int, own: Own) -> Iterator[Finding]:
    """Four runs at once: of four transcripts, of one, of a benchmark, on one file or cache.

    In every second case one of them is killed at a random moment.
    """
    dice = random.Random(f"{seed} writers")
    with servers() as asked:
        plans = [(it, same) for it in writers(asked) for same in (True, False)[: _ways(it)]]
        moments = [dice.uniform(0, 1.5) if number % 2 else None for number in range(SIZES)]
        for writer, same, moment in own([(*two, it) for two in plans for it in moments]):
            place = writer.new_place(folder)
            case = writer.case(place)
            cases = [case] * AT_ONCE if same else _of_four_transcripts(case)
            cases[0] = replace(cases[0], kill_after_s=moment)
            statuses = _at_once(cases, place)
            found = [f"statuses {statuses}"] if any(statuses) else []
            most = 1 if same else AT_ONCE
            least = most if same or moment is None else AT_ONCE - 1
            if writer.events is None:
                found += writer.check(place, _ended(0))
            elif not least <= (events := writer.events(place)) <= most:
                found.append(f"{events} events of {most}")
            if writer.name == "cal_ai benchmark":
                found += _history(place, AT_ONCE if moment is None else AT_ONCE - 1)
            what = "of four transcripts " if not same else ""
            moment_told = "" if moment is None else f"one killed after {moment:.2f} s"
            yield f"four at once {what}{writer.name}", moment_told, found


def _ways(writer: Writer) -> int:
    return 1 if writer.events is None else 2


def _of_four_transcripts(case: Case) -> list[Case]:
    talks = {f"t{one}.txt": TRANSCRIPT.replace("Bob", f"Bob{one}").encode() for one in range(4)}
    return [
        replace(case, arguments=(name, *case.arguments[1:]), files={**case.files, **talks})
        for name in talks
    ]


def _history(place: Path, least: int) -> list[str]:
    lines = (place / "reports" / "benchmark_history.jsonl").read_bytes().splitlines()
    return [] if least <= len([json.loads(it) for it in lines]) <= AT_ONCE else ["lines are lost"]


def _at_once(cases: list[Case], place: Path) -> list[int]:
    put_files(cases[0], place)
    children = []
    for number, case in enumerate(cases):
        child = fork()
        if child == 0:
            streams = str(place / f".out{number}"), str(place / f".err{number}")
            os._exit(max(0, run(replace(case, files={}, streams=streams), place).status))
        children.append(child)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
