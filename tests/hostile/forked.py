"""A command run in a child process that starts at once, watched for time, memory and manners."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

LONGEST_S = 10.0
LARGEST_MB = 500.0
_LIBRARIES_MB = 150.0  # what the commands' libraries take; what a parent holds beyond is not theirs
_PR_SET_PDEATHSIG = 1
DONE_OR_FAILED = frozenset({0, 1})
ODD: Mapping[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a folder": Path.mkdir,
    "zeros without end": lambda path: path.symlink_to("/dev/zero"),
    "nothing": lambda path: path.symlink_to("/dev/null"),
    "a full device": lambda path: path.symlink_to("/dev/full"),
    "a link to itself": lambda path: path.symlink_to(path),
    "a link to nowhere": lambda path: path.symlink_to(path.with_name("nowhere")),
}
Main = Callable[[Sequence[str]], int]
# What else than an error is a reason for status 1: a part that failed, a goal that was missed.
_EXPLAINED = re.compile("fail|fell short|below|no run record|nothing", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Case:
    """One call of a command in a folder of its own; `files` lie there before.

    `odd` are the names of what is no file there, and what it is instead: one of `ODD`.

    `statuses` are those that it may end with, `shows` is what it must print, and `waits_s` what it
    may wait in between: for a server that is asked again.
    """

    kind: str
    name: str
    main: Main
    arguments: tuple[str, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()
    odd: Mapping[str, str] = field(default_factory=dict)
    statuses: frozenset[int] = DONE_OR_FAILED
    shows: str = ""
    largest_file: int | None = None
    kill_after_s: float | None = None
    waits_s: float = 0.0
    streams: tuple[str, str] = ("out", "err")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of it; a negative status is the signal that ended it."""

    status: int
    out: bytes
    err: bytes
    seconds: float
    megabytes: float


def put_files(case: Case, folder: Path) -> None:
    """Writes the files that lie there before."""
    for name, content in case.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    for name, kind in case.odd.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        ODD[kind](path)


def run(case: Case, folder: Path) -> Outcome:
    """Runs the case in the folder, which must exist; ends it when it takes too long."""
    put_files(case, folder)
    names = [folder / f".{it}" if it in ("out", "err") else Path(it) for it in case.streams]
    streams = [os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600) for name in names]
    before = [os.fstat(stream).st_size for stream in streams]
    inherited_mb = max(0.0, _held_mb() - _LIBRARIES_MB)
    begun_s = time.monotonic()
    child = fork()
    if child == 0:
        _child(case, folder, streams)
    for stream in streams:
        os.close(stream)
    status, usage = _wait(child, begun_s + (case.kill_after_s or longest_s() + case.waits_s + 1))
    seconds = time.monotonic() - begun_s
    out, err = (
        name.read_bytes()[size:] if name.is_file() else b""
        for name, size in zip(names, before, strict=True)
    )
    code = os.waitstatus_to_exitcode(status)
    return Outcome(code, out, err, seconds, usage.ru_maxrss / 1024 - inherited_mb)


def fork() -> int:
    """Forks; the child, which holds all pipes of its parent open, ends with it at the latest."""
    child = os.fork()
    if child == 0:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    return child


def _held_mb() -> float:
    """The memory of this process, which a child begins with."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * resource.getpagesize() / 2**20


def longest_s() -> float:
    """The seconds that a command may take: more where other programs want the processors too."""
    return LONGEST_S * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def _child(case: Case, folder: Path, streams: Sequence[int]) -> None:
    status = 99
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        os.umask(0)  # who may read a file is for the command to say
        os.chdir(folder)
        for number, stream in enumerate(streams, start=1):
            os.dup2(stream, number)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8")
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", buffering=1)
        os.environ.clear()
        os.environ.update(environment(case, folder))
        time.tzset()
        if case.largest_file is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (case.largest_file, case.largest_file))
        try:
            status = case.main(list(case.arguments))
        except SystemExit as leaving:
            status = leaving.code if isinstance(leaving.code, int) else 1
        except BaseException:
            import traceback

            traceback.print_exc()
            status = 98
        for text in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                text.flush()
    finally:
        os._exit(status)


def environment(case: Case, folder: Path) -> dict[str, str]:
    """What the command finds in its environment: homes in its folder, no network, its settings."""
    homes = {f"XDG_{name}_HOME": str(folder / name) for name in ("DATA", "CONFIG", "CACHE")}
    plain = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "TZ": "Europe/Berlin"}
    return {**plain, **homes, "HF_HUB_OFFLINE": "1", **case.settings}


def _wait(child: int, until_s: float) -> tuple[int, resource.struct_rusage]:
    pause_s = 0.001
    while True:
        found, status, usage = os.wait4(child, os.WNOHANG)
        if found:
            return status, usage
        if time.monotonic() > until_s:
            os.kill(child, signal.SIGKILL)
            _, status, usage = os.wait4(child, 0)
            return status, usage
        time.sleep(pause_s)
        pause_s = min(0.02, pause_s * 1.5)


def complaints(case: Case, outcome: Outcome, folder: Path) -> list[str]:
    """What is wrong with how the command behaved; nothing when all is well."""
    found = []
    printed = outcome.out + outcome.err
    if b"Traceback (most recent call last)" in printed or b"Exception ignored" in printed:
        found.append("traceback")
    if outcome.seconds > longest_s() + case.waits_s:
        found.append(f"{outcome.seconds:.0f} s")
    if outcome.megabytes > LARGEST_MB:
        found.append(f"{outcome.megabytes:.0f} MB")
    found += _wrong_status(case, outcome)
    text = printed.decode("utf-8", "replace").replace("\r\n", "").replace("\n", "")
    if bad := sorted({char for char in text if _commands(char)}):
        found.append(f"prints {bad!r}")
    if len(outcome.err) > 100_000:
        found.append("too much on stderr")
    found += [f"secret in {place}" for place in _leaks(case, printed, folder)]
    found += [f"{path.name} is open to others" for path in _open_to_others(case, folder)]
    return found


def _wrong_status(case: Case, outcome: Outcome) -> Iterator[str]:
    """What does not fit between the status and what was said."""
    said = (outcome.out + outcome.err).decode("utf-8", "replace")
    lines = outcome.err.decode("utf-8", "replace").splitlines()
    errors = [line for line in lines if "error: " in line[:40]]
    if outcome.status not in case.statuses:
        yield f"status {outcome.status}"
    if len(errors) > 1:
        yield f"{len(errors)} error lines"
    if errors and outcome.status == 0:
        yield "an error, and status 0"
    if outcome.status in (1, 2) and not errors and not _EXPLAINED.search(said):
        yield f"status {outcome.status} without a word"
    if case.shows not in said:
        yield f"does not say {case.shows!r}"


def _commands(char: str) -> bool:
    code = ord(char)
    turns = 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069
    return (code < 32 and char != "\t") or 127 <= code < 160 or turns


def _open_to_others(case: Case, folder: Path) -> list[Path]:
    """New files that others than their owner may read."""
    written = (Path(root) / name for root, _, names in os.walk(folder) for name in names)
    given = {folder / name for name in (*case.files, *case.odd)}
    return [
        path
        for path in written
        if path not in given and path.suffix != ".pyc" and path.is_file()
        if path.stat().st_mode & 0o077
    ]


def _leaks(case: Case, printed: bytes, folder: Path) -> list[str]:
    secrets = [secret.encode() for secret in case.secrets]
    if not secrets:
        return []
    places = ["what is printed"] if any(secret in printed for secret in secrets) else []
    given = {str(folder / name) for name in case.files}
    for root, _, names in os.walk(folder):
        for name in names:
            path = Path(root) / name
            if str(path) in given or not path.is_file():
                continue
            content = path.read_bytes()
            places += [name] if any(secret in content for secret in secrets) else []
    return places
