import os
import signal
import stat
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemark.errors import TruemarkError
from truemark.files import append_text, read_bytes, read_text, write_atomically
from truemark.jsonlines import Appender


def entries(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    ("data", "content"),
    [
        pytest.param("Brené\r\n", "Brené\r\n".encode(), id="text as UTF-8, line ends kept"),
        pytest.param(b"\x00\xff", b"\x00\xff", id="bytes"),
        pytest.param("", b"", id="nothing"),
        pytest.param("a\ud83db", b"a\\ud83db", id="half a surrogate pair is escaped"),
    ],
)
def test_a_file_is_written_whole(tmp_path: Path, data: str | bytes, content: bytes) -> None:
    write_atomically(tmp_path / "out", data)
    assert (tmp_path / "out").read_bytes() == content
    assert entries(tmp_path) == ["out"]


def test_missing_folders_are_made(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a" / "b" / "out.txt", "x")
    assert (tmp_path / "a" / "b" / "out.txt").read_text() == "x"


def test_only_temporary_files_of_this_program_are_removed(tmp_path: Path) -> None:
    names = (".c.ics.my-notes.tmp", ".c.ics.tmp", ".c.ics.0123456789ab.tmp.tmp", ".c.ics.012.tmp")
    for name in (*names, ".c.ics.0123456789ab.tmp"):
        (tmp_path / name).write_text("mine")
        os.utime(tmp_path / name, (0, 0))
    write_atomically(tmp_path / "c.ics", "x")
    assert entries(tmp_path) == sorted([*names, "c.ics"])


def test_lock_files_are_for_their_owner_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with closing(Appender(tmp_path / "lines.jsonl")) as file:
            file.write({"a": 1})
            assert entries(tmp_path) == ["lines.jsonl", "lines.jsonl.lock"]
            assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}
    finally:
        os.umask(before)
    assert entries(tmp_path) == ["lines.jsonl"]


def test_a_new_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    write_atomically(tmp_path / "out", "x")
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o600


@pytest.mark.parametrize("mode", [0o644, 0o600, 0o640])
def test_an_existing_file_keeps_its_mode(tmp_path: Path, mode: int) -> None:
    (tmp_path / "out").touch()
    (tmp_path / "out").chmod(mode)
    write_atomically(tmp_path / "out", "x")
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == mode


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TruemarkError, match="pipe: is a pipe or a device, expected a file"):
        read_text(tmp_path / "pipe")


def test_a_device_is_refused() -> None:
    with pytest.raises(TruemarkError, match="/dev/zero: is a pipe or a device, expected a file"):
        read_bytes("/dev/zero")


def test_a_file_that_is_too_large_is_refused_with_its_size(tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as file:
        file.truncate(3_000_000)
    with pytest.raises(TruemarkError, match="large: is too large: 3 MB, expected at most 2 MB"):
        read_text(tmp_path / "large", 2_000_000)


def test_an_existing_file_keeps_its_permissions(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_text("old")
    target.chmod(0o640)
    write_atomically(target, "new")
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert target.read_text() == "new"


def test_a_link_keeps_pointing_to_the_file_that_is_replaced(tmp_path: Path) -> None:
    real, link = tmp_path / "folder" / "real", tmp_path / "link"
    real.parent.mkdir()
    real.write_text("old")
    link.symlink_to(real)
    write_atomically(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"


def test_a_link_to_nothing_makes_the_file_it_names(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_atomically(tmp_path / "link", "new")
    assert (tmp_path / "real").read_text() == "new"


def test_the_longest_file_name_can_be_written(tmp_path: Path) -> None:
    name = "ü" * 127
    write_atomically(tmp_path / name, "x")
    assert entries(tmp_path) == [name]


def test_a_pipe_is_written_to_if_somebody_reads(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(TruemarkError) as nobody:
        write_atomically(pipe, "x")
    assert str(nobody.value) == (
        f"{pipe}: cannot be written: No such device or address; nobody reads from this pipe"
    )
    with pytest.raises(TruemarkError, match="nobody reads from this pipe"):
        append_text(pipe, "x")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    opened = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)  # so that there is one from the beginning
    reader.start()
    write_atomically(pipe, "x" * 1_000_000)
    os.close(opened)
    reader.join(timeout=10)
    assert read == [b"x" * 1_000_000]
    assert pipe.is_fifo()


def test_text_is_added_to_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "summary.md"
    append_text(path, "one\n")
    append_text(path, "two \ud83d\n")
    assert path.read_text() == "one\ntwo \\ud83d\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_device_is_written_to_and_not_replaced() -> None:
    before = Path("/dev/null").stat()
    write_atomically("/dev/null", "x")
    assert Path("/dev/null").stat().st_rdev == before.st_rdev


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (".", "cannot be written: Is a directory; name a file"),
        ("file/below", "cannot be written: .*; a part of the path is a file, not a folder"),
        ("n" * 256, "cannot be written: File name too long; choose a shorter name"),
    ],
    ids=["a folder", "below a file", "too long"],
)
def test_what_cannot_be_written_is_said_in_one_line(
    tmp_path: Path, target: str, message: str
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(TruemarkError, match=message):
        write_atomically(tmp_path / target, "x")
    assert entries(tmp_path) == ["file"]


def test_a_full_device_is_said_in_one_line() -> None:
    with pytest.raises(TruemarkError) as caught:
        write_atomically("/dev/full", "x")
    assert str(caught.value) == (
        "/dev/full: cannot be written: No space left on device; "
        "free some space or choose another place"
    )


WRITE_UNDER_A_LIMIT = """
import resource, sys
from truemark.errors import TruemarkError
from truemark.files import read_bytes, write_atomically
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_atomically(sys.argv[1], "n" * 5000)
except TruemarkError as error:
    print(error)
"""


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_text("old")
    command = [sys.executable, "-c", WRITE_UNDER_A_LIMIT, str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"{target}: cannot be written: File too large\n"
    assert target.read_text() == "old"
    assert entries(tmp_path) == ["out"]


WRITE_FOREVER = """
import signal, sys
from truemark.files import read_bytes, write_atomically
signal.signal(signal.SIGINT, signal.default_int_handler)
write_atomically(sys.argv[1], "b" * 200_000)
print("written once", flush=True)
while True:
    write_atomically(sys.argv[1], "c" * 200_000)
    write_atomically(sys.argv[1], "b" * 200_000)
"""


def test_readers_never_see_half_a_file_and_an_interrupt_leaves_none(tmp_path: Path) -> None:
    target = tmp_path / "out"
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITE_FOREVER, str(target)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    whole = ("b" * 200_000, "c" * 200_000)
    with writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        for _ in range(200):
            assert target.read_text() in whole
        writer.send_signal(signal.SIGINT)
    assert target.read_text() in whole
    assert entries(tmp_path) == ["out"]


def test_read_text_strips_the_byte_order_mark_and_keeps_line_ends(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo\n")
    assert read_text(tmp_path / "in.txt") == "one\r\ntwo\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"caf\xe9", "in.txt:1: not UTF-8 text (found byte 0xe9); save the file as UTF-8"),
        (b"a\nb\n\xff", "in.txt:3: not UTF-8 text (found byte 0xff); save the file as UTF-8"),
        (
            b"\xef\xbb\xbfa\n\xc3",
            "in.txt:2: not UTF-8 text (found byte 0xc3); save the file as UTF-8",
        ),
        (
            "text".encode("utf-16"),
            "in.txt:1: not UTF-8 text (found UTF-16); save the file as UTF-8",
        ),
    ],
    ids=["latin-1", "third line", "cut off after a mark", "UTF-16"],
)
def test_text_that_is_not_utf8_names_file_and_line(
    tmp_path: Path, content: bytes, message: str
) -> None:
    (tmp_path / "in.txt").write_bytes(content)
    with pytest.raises(TruemarkError) as caught:
        read_text(tmp_path / "in.txt")
    assert str(caught.value) == f"{tmp_path}{os.sep}{message}"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gone.txt", "gone.txt: no such file; check the path"),
        ("folder", "folder: is a folder, expected a file"),
        ("file/below", "file/below: cannot be read: Not a directory"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(TruemarkError, match=message):
        read_text(tmp_path / name)


@given(text=st.text(st.characters(codec="utf-8")))
def test_what_is_written_reads_back_the_same(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    file = tmp_path_factory.getbasetemp() / "round-trip"
    write_atomically(file, text)
    assert read_text(file) == text.removeprefix("\ufeff")


def test_a_message_is_one_line_whatever_it_quotes() -> None:
    assert str(TruemarkError("a\nb.txt: no such file")) == "a b.txt: no such file"
