import json
import subprocess
import sys
from pathlib import Path

import pytest

from truemark import jsonlines
from truemark.errors import TruemarkError


def read(file: Path) -> tuple[list[dict[str, object]], list[str]]:
    """The records of a file, and what is said about its other lines."""
    warnings: list[str] = []
    return [record for _, record in jsonlines.scan(file, warnings)], warnings


def test_records_come_back_in_the_order_they_were_appended(tmp_path: Path) -> None:
    file = tmp_path / "reports" / "history.jsonl"
    for number in range(3):
        jsonlines.append(file, {"run": number, "f1": 0.1 + 0.2, "model": "Brené\nx"})
    records, warnings = read(file)
    assert [record["run"] for record in records] == [0, 1, 2]
    assert records[0] == {"run": 0, "f1": 0.1 + 0.2, "model": "Brené\nx"}
    assert warnings == []
    assert len(file.read_bytes().splitlines()) == 3


def test_a_record_is_read_again_by_its_offset(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text(
        "".join(f'{{"run": {number}, "text": "{"x" * 9000}"}}\n' for number in range(40))
    )
    records = dict(jsonlines.scan(file, []))
    assert {offset: jsonlines.read_record(file, offset) for offset in records} == records


def test_without_a_file_there_is_no_history(tmp_path: Path) -> None:
    assert read(tmp_path / "none.jsonl") == ([], [])


@pytest.mark.parametrize(
    ("content", "runs", "warnings"),
    [
        pytest.param(b"", [], [], id="empty file"),
        pytest.param(b'{"run": 1}\n\n{"run": 2}\n', [1, 2], [], id="blank line"),
        pytest.param(b'{"run": 1}\r\n{"run": 2}\r\n', [1, 2], [], id="carriage returns"),
        pytest.param(b'{"run": 1}\n{"run": 2}', [1, 2], [], id="whole last line without its end"),
        pytest.param(
            b'{"run": 1}\n{"run": 2, "f', [1], [":2: the last line is torn, skipped"], id="torn"
        ),
        pytest.param(
            b'{"run": 1}\n{"ru\n[3]\n\xff\n{"run": 4}\n',
            [1, 4],
            [f":{line}: not a JSON object, skipped" for line in (2, 3, 4)],
            id="bad lines in the middle",
        ),
        pytest.param(
            b"[" * 100_000 + b'\n{"run": 2}\n',
            [2],
            [":1: not a JSON object, skipped"],
            id="nested without end",
        ),
    ],
)
def test_damaged_lines_are_skipped_with_a_warning(
    tmp_path: Path, content: bytes, runs: list[int], warnings: list[str]
) -> None:
    file = tmp_path / "history.jsonl"
    file.write_bytes(content)
    records, told = read(file)
    assert [record["run"] for record in records] == runs
    assert told == [f"{file}{warning}" for warning in warnings]


def test_nothing_is_glued_to_a_torn_line(tmp_path: Path) -> None:
    file = tmp_path / "history.jsonl"
    file.write_bytes(b'{"run": 1}\n{"run": 2, "f')
    jsonlines.append(file, {"run": 3})
    assert file.read_bytes() == b'{"run": 1}\n{"run": 2, "f\n{"run": 3}\n'
    assert [record["run"] for record in read(file)[0]] == [1, 3]


APPEND_MANY = """
import sys
from truemark import jsonlines
for number in range(25):
    jsonlines.append(sys.argv[1], {"by": sys.argv[2], "number": number, "filler": "x" * 20_000})
"""


def test_many_processes_append_whole_lines(tmp_path: Path) -> None:
    file = tmp_path / "history.jsonl"
    names = [str(number) for number in range(6)]
    writers = [
        subprocess.Popen([sys.executable, "-c", APPEND_MANY, str(file), name]) for name in names
    ]
    assert [writer.wait() for writer in writers] == [0] * len(names)
    records = [json.loads(line) for line in file.read_text().splitlines()]
    for name in names:
        assert [r["number"] for r in records if r["by"] == name] == list(range(25))
    assert len(records) == 25 * len(names)


APPEND_UNDER_A_LIMIT = """
import resource, sys
from truemark import jsonlines
from truemark.errors import TruemarkError
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    jsonlines.append(sys.argv[1], {"filler": "x" * 5000})
except TruemarkError as error:
    print(error)
"""


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "history.jsonl"
    jsonlines.append(file, {"run": 1})
    command = [sys.executable, "-c", APPEND_UNDER_A_LIMIT, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"{file}: cannot be written: File too large\n"
    assert file.read_bytes() == b'{"run": 1}\n'


def test_a_history_that_stays_locked_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from filelock import FileLock

    file = tmp_path / "history.jsonl"
    monkeypatch.setattr(jsonlines, "LOCK_WAIT_S", 0.05)
    with (
        FileLock(f"{file}.lock"),
        pytest.raises(TruemarkError, match="locked by another run for 0 s; let it end"),
    ):
        jsonlines.append(file, {"run": 1})
    assert not file.exists()


def test_a_folder_in_place_of_the_file_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "history.jsonl"
    folder.mkdir()
    with pytest.raises(TruemarkError, match="is a folder, expected a file"):
        read(folder)
    with pytest.raises(TruemarkError, match="Is a directory; name a file"):
        jsonlines.append(folder, {"run": 1})
