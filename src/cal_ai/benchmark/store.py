"""Store the answers of a run as they arrive, and find them again when the run is resumed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryFile

from filelock import FileLock, Timeout

from cal_ai.extractors.answers import AnswerError
from cal_ai.extractors.protocol import Extraction
from cal_ai.extractors.replay import Recorded, Recording, open_recording, recorded_fields
from truemark.errors import TruemarkError
from truemark.files import PRIVATE, release_and_remove, write_error
from truemark.jsonlines import LOCK_WAIT_S, Appender

ANSWERS_SUFFIX = ".answers.jsonl"
# Answers that arrive within this time of each other go to the disk together.
SYNC_INTERVAL_S = 0.2


class AnswerStore:
    """The answers of one run; the file is created with the first answer."""

    def __init__(self, output: Path, started: datetime) -> None:
        self._output = output
        self._started = started
        self.path: Path | None = None
        self.kept = 0
        self.resumed: Recording | None = None
        self.damage: tuple[str, ...] = ()
        """What is damaged in the recordings of the folder, if none is resumed."""
        self._syncing: asyncio.Task[None] | None = None
        self._file: Appender | None = None
        self._resuming: FileLock | None = None

    def resume(self, fingerprints: Sequence[str], repeats: int) -> None:
        """Resume the recording with the most answers to these questions, if there is one.

        Runs that ask the same system and resume in the same folder wait for each other: before the
        first answer of one run, another would find no recording and ask for everything again.
        """
        system = fingerprints[0].partition("-")[2] if fingerprints else ""
        self._resuming = self._lock(self._output / f"benchmark_{system}.resume.lock")
        self.path, damage = fullest_recording(self._output, fingerprints, repeats)
        if self.path is None:
            self.damage = damage
            return
        # Locked before it is read; otherwise answers that another run adds meanwhile would be asked
        # for again.
        self._file = Appender(self.path)
        try:
            self.resumed = open_recording(self.path)
        except TruemarkError:
            self._file.close()
            raise

    def _lock(self, path: Path) -> FileLock:
        lock = FileLock(path, timeout=LOCK_WAIT_S, mode=PRIVATE, thread_local=False)
        try:
            lock.acquire()
        except Timeout as error:
            raise TruemarkError(
                f"{self._output}: another run with --resume asks the same model, since"
                f" {LOCK_WAIT_S:.0f} s or longer; let it end, then try again"
            ) from error
        except OSError as error:
            raise write_error(path, error) from error
        return lock

    def find(self, fingerprint: str, repeat: int) -> Extraction | None:
        """Find the answer that an earlier run kept; None if there is none or it is unusable."""
        kept = self.resumed.find(fingerprint, repeat) if self.resumed else None
        try:
            return kept.extraction() if kept else None
        except AnswerError:
            return None

    def keep(self, answer: Recorded) -> None:
        """Write the answer so that it outlives this process; it is synced to disk a moment later.

        Calls in flight do not wait for the sync, without which only a power cut loses the answer.
        """
        if self._file is None:
            self.path = create_new(self._output, self._started, ANSWERS_SUFFIX)
            self._file = Appender(self.path)
        self._file.write(recorded_fields(answer))
        self.kept += 1
        if self._syncing is None:
            self._syncing = asyncio.create_task(self._sync(self._file))

    async def close(self) -> None:
        """Wait until all answers are on disk, and release the locks."""
        with ExitStack() as stack:
            if self._resuming is not None:
                stack.callback(release_and_remove, self._resuming)
            if self._file is not None:
                stack.callback(self._file.close)
            if self._file is not None and (syncing := self._syncing) is not None:
                syncing.cancel()  # it may be sleeping
                await asyncio.wait({syncing})
                if not syncing.cancelled():
                    syncing.result()
                await asyncio.to_thread(self._file.sync)

    async def _sync(self, file: Appender) -> None:
        synced = 0
        while synced < self.kept:
            await asyncio.sleep(SYNC_INTERVAL_S)
            synced = self.kept
            await asyncio.to_thread(file.sync)
        self._syncing = None


def fullest_recording(
    output: Path, fingerprints: Sequence[str], repeats: int
) -> tuple[Path | None, tuple[str, ...]]:
    """Find the recording in `output` with the most answers to the questions, if there is one.

    Of recordings with equally many, the one that was written last is taken, whatever its name: the
    clock may have been set back. What is damaged in the recordings is returned too.
    """
    wanted = len(fingerprints) * repeats
    most, fullest, damage = 0, None, list[str]()
    paths = output.glob(f"benchmark_*{ANSWERS_SUFFIX}")
    for path in sorted(paths, key=_written_ns, reverse=True):
        recording = open_recording(path)
        damage += recording.warnings
        answered = count_answered(recording, fingerprints, repeats)
        if answered > most:
            most, fullest = answered, path
        if most == wanted:
            break
    return fullest, tuple(damage)


def _written_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:  # removed meanwhile
        return 0


def count_answered(recording: Recording, fingerprints: Sequence[str], repeats: int) -> int:
    """Count the questions, over all repeats, that the recording answers."""
    return sum(recording.has(key, repeat) for key in fingerprints for repeat in range(repeats))


def require_writable(folder: Path) -> None:
    """Raise an error if the folder cannot be written to, before the first answer costs money."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise write_error(folder, error) from error


def create_new(folder: Path, started: datetime, suffix: str) -> Path:
    """Create an empty file named after the start; runs of the same second get different names."""
    stem = f"benchmark_{started:%Y-%m-%dT%H-%M-%S}"
    path = folder / (stem + suffix)
    number = 1
    while True:
        try:
            path.touch(mode=PRIVATE, exist_ok=False)
        except FileExistsError:
            number += 1
            path = folder / f"{stem}_{number}{suffix}"
        except OSError as error:
            raise write_error(path, error) from error
        else:
            return path
