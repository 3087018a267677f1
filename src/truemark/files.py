"""Reading and writing whole files, so that nothing is misread or left half-written."""

from __future__ import annotations

import codecs
import errno
import hashlib
import os
import re
import secrets
import stat
import sys
import time
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING

from truemark.errors import TruemarkError, os_reason

if TYPE_CHECKING:
    from filelock import BaseFileLock

MEGABYTE = 1_000_000
LARGEST_FILE = 2_000 * MEGABYTE
LARGEST_TEXT = 50 * MEGABYTE
PRIVATE = 0o600
"""The mode of new files: conversations, answers and calendars are private."""

# Do not block, do not pass on to children, do not change line ends; no system has all three flags.
_PLAIN: int = 0
for _name in ("O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
    _PLAIN |= getattr(os, _name, 0)
_LEFT_BEHIND_S = 3600.0  # no writer takes that long
_TOKEN_BYTES = 6
_ADVICE = {
    errno.ENOSPC: "free some space or choose another place",
    errno.EDQUOT: "free some space or choose another place",
    errno.EACCES: "choose another place or change the permissions",
    errno.EPERM: "choose another place or change the permissions",
    errno.EROFS: "choose a place that is not read-only",
    errno.EISDIR: "name a file",
    errno.ENOTDIR: "a part of the path is a file, not a folder",
    errno.EEXIST: "a part of the path is a file, not a folder",
    errno.ENXIO: "nobody reads from this pipe",
    errno.ENAMETOOLONG: "choose a shorter name",
}


def write_error(path: str | os.PathLike[str], error: OSError) -> TruemarkError:
    """Make the error for the user when `path` could not be written."""
    advice = _ADVICE.get(error.errno or 0)
    reason = os_reason(error)
    return TruemarkError(f"{path}: cannot be written: {reason}" + (f"; {advice}" if advice else ""))


def write_atomically(path: str | os.PathLike[str], data: str | bytes) -> None:
    """Write `data` (text as UTF-8) to `path`, whole or not at all, making parent folders.

    A reader sees the old content or the new. A new file is readable by its owner alone, an
    existing one keeps its permissions, and a link keeps pointing to the file that is replaced.
    """
    content = _encoded(data) if isinstance(data, str) else data
    try:
        target = Path(os.path.realpath(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        # /dev/stdout may lead to something that has no path.
        mode = Path(path).stat().st_mode if Path(path).exists() else None
        if mode is None or stat.S_ISREG(mode):
            _replace(target, content, mode)
        else:
            # A pipe or a device such as /dev/stdout is written to, not replaced.
            _write_to(Path(path), content, os.O_WRONLY)
    except OSError as error:
        raise write_error(path, error) from error


def _encoded(text: str) -> bytes:
    # Half a surrogate pair (models do answer with one) must not lose a whole report.
    return text.encode("utf-8", "backslashreplace")


def append_text(path: str | os.PathLike[str], text: str) -> None:
    """Append the text, as UTF-8, to the file; a new one is readable by its owner alone."""
    try:
        _write_to(Path(path), _encoded(text), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    except OSError as error:
        raise write_error(path, error) from error


def _replace(target: Path, content: bytes, mode: int | None) -> None:
    _remove_leftovers(target)
    temporary = target.with_name(f".{target.name[:40]}.{secrets.token_hex(_TOKEN_BYTES)}.tmp")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE)
        with os.fdopen(descriptor, "wb") as file:
            if mode is not None:
                temporary.chmod(stat.S_IMODE(mode))
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    sync_folder(target.parent)


def _write_to(target: Path, content: bytes, flags: int) -> None:
    # Without blocking: nobody may ever open the other end of a pipe.
    descriptor = os.open(target, flags | _PLAIN, PRIVATE)
    if hasattr(os, "O_NONBLOCK"):
        os.set_blocking(descriptor, True)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)


def _remove_leftovers(target: Path) -> None:
    """Remove the temporary files of writers of this file that were killed."""
    # Only names that this program makes: other programs have files of the form .NAME.….tmp too.
    made_here = re.compile(rf"\.{re.escape(target.name[:40])}\.[0-9a-f]{{{2 * _TOKEN_BYTES}}}\.tmp")
    with suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            if not made_here.fullmatch(entry.name):
                continue
            if time.time() - entry.stat(follow_symlinks=False).st_mtime > _LEFT_BEHIND_S:
                Path(entry.path).unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Make a new or renamed entry of `folder` survive a power cut, where the system can."""
    # Some file systems refuse to open or flush a folder; the content itself is flushed already.
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def read_error(path: str | os.PathLike[str], error: OSError) -> TruemarkError:
    """Make the error for the user when `path` could not be read."""
    if isinstance(error, FileNotFoundError):
        return TruemarkError(f"{path}: no such file; check the path")
    if isinstance(error, IsADirectoryError):
        return TruemarkError(f"{path}: is a folder, expected a file")
    return TruemarkError(f"{path}: cannot be read: {os_reason(error)}")


def no_folder(path: str | os.PathLike[str]) -> str:
    """Say why there is no folder at the path: a file is there, or nothing."""
    return "is a file, not a folder" if Path(path).exists() else "no such folder"


def open_regular(path: str | os.PathLike[str], largest: int | None = None) -> FileIO:
    """Open the file for reading; refuse pipes, devices and files larger than `largest`.

    A pipe would make the program wait for ever, and some devices never end.
    """
    try:
        # Without blocking: even opening a pipe that nobody writes to would wait.
        descriptor = os.open(path, os.O_RDONLY | _PLAIN)
        file = FileIO(descriptor)
    except OSError as error:
        raise read_error(path, error) from error
    except ValueError as error:  # a null character in the name
        raise TruemarkError(f"{path}: is not the name of a file") from error
    status = os.fstat(descriptor)
    if stat.S_ISREG(status.st_mode) and (largest is None or status.st_size <= largest):
        return file
    file.close()
    if stat.S_ISDIR(status.st_mode):
        raise read_error(path, IsADirectoryError())
    if not stat.S_ISREG(status.st_mode):
        raise TruemarkError(f"{path}: is a pipe or a device, expected a file")
    raise TruemarkError(
        f"{path}: is too large: {status.st_size / MEGABYTE:,.0f} MB,"
        f" expected at most {(largest or 0) / MEGABYTE:,.0f} MB"
    )


def read_bytes(path: str | os.PathLike[str], largest: int = LARGEST_FILE) -> bytes:
    """Read the file; an error names it."""
    with open_regular(path, largest) as file:
        try:
            return file.readall()
        except OSError as error:
            raise read_error(path, error) from error


def checksum(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of the file in hex."""
    try:
        with open_regular(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise read_error(path, error) from error


def release_and_remove(lock: BaseFileLock) -> None:
    """Release the lock and remove its file."""
    # Removed before the release, so that a waiting writer sees that the file is gone.
    with suppress(OSError):
        Path(lock.lock_file).unlink()
    lock.release()


def expanded(path: str) -> Path:
    """Replace a leading ~ by the home folder, where there is one."""
    try:
        return Path(path).expanduser()
    except RuntimeError:  # no such user
        return Path(path)


def read_text(path: str | os.PathLike[str], largest: int = LARGEST_TEXT) -> str:
    """Read UTF-8 text without its byte order mark; line ends stay as they are."""
    data = read_bytes(path, largest).removeprefix(codecs.BOM_UTF8)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        what = f"byte 0x{data[error.start]:02x}"
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            what = "UTF-16"
        raise TruemarkError(
            f"{path}:{line}: not UTF-8 text (found {what}); save the file as UTF-8"
        ) from error


def read_standard_input(largest: int = LARGEST_TEXT) -> str:
    """Read standard input to its end, as UTF-8 text without its byte order mark."""
    if sys.stdin is None:
        raise TruemarkError("standard input: is closed, expected a text; name a file or pipe it in")
    try:
        data = sys.stdin.buffer.read(largest + 1)
    except OSError as error:
        raise read_error("standard input", error) from error
    if len(data) > largest:
        raise TruemarkError(f"standard input: is too large, expected at most {largest:,} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TruemarkError(
            f"standard input: not UTF-8 text at byte {error.start}; save it as UTF-8"
        ) from error
