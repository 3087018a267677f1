"""Bad input that one line answers: arguments, settings, files, what is left behind."""

from __future__ import annotations

import json
import os
import stat
import time
import tracemalloc
from pathlib import Path

import pytest
from testing.loopback import LoopbackLLM, answer
from tests.cal_ai.sample_folders import GOT_LUNCH, CommandLine, write_samples
from tests.hostile.kinds import TRANSCRIPT

from sat_bench.cli import main as sat_bench
from truemark.cli import main as truemark
from truemark.files import write_atomically
from truemark.jsonlines import DAMAGED_SUFFIX


@pytest.fixture
def applying(gemini: CommandLine, llm: LoopbackLLM) -> CommandLine:
    """The command line with a model that finds one event in every transcript."""
    times = {"start_time": "2099-03-01T12:00:00", "end_time": "2099-03-01T13:00:00"}
    llm.set_script([answer(events=[{**GOT_LUNCH, **times}])])
    return gemini


@pytest.fixture
def talk(cal_ai: CommandLine) -> Path:
    path = cal_ai.folder / "talk.txt"
    path.write_text(TRANSCRIPT)
    return path


@pytest.mark.parametrize(
    "url", ["http://[::1", "http://", "http://h:99999/", "http://h:x/", "http://a b/", "ftp://h/"]
)
def test_an_address_that_is_none_is_wrong_usage(cal_ai: CommandLine, talk: Path, url: str) -> None:
    ran = cal_ai(talk, "--calendar", f"caldav:{url}")
    assert (ran.status, ran.out, len(ran.err.splitlines())) == (2, "", 1)
    cal_ai.set(OPENAI_BASE_URL=url, OPENAI_MODEL="m")
    ran = cal_ai(talk, "--extractor", "openai")
    assert (ran.status, ran.out) == (1, "")
    assert "OPENAI_BASE_URL is " in ran.err


def test_a_clock_that_cannot_be_is_told(
    cal_ai: CommandLine, talk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "UTC+99")
    time.tzset()
    try:
        ran = cal_ai(talk, "--dry-run")
    finally:
        monkeypatch.delenv("TZ")
        time.tzset()
    assert (ran.status, ran.out) == (1, "")
    assert "TZ is 'UTC+99', not a time zone such as Europe/Berlin" in ran.err


def test_settings_that_double_are_taken_as_they_stand(cal_ai: CommandLine, talk: Path) -> None:
    lines = ["A0=" + "x" * 1_000]
    lines += [f"A{number}=${{A{number - 1}}}${{A{number - 1}}}" for number in range(1, 40)]
    (cal_ai.folder / ".env").write_text("\n".join([*lines, "OWNER_NAME=${A39}", ""]))
    ran = cal_ai(talk, "--dry-run", "--format", "json")
    assert ran.json["owner"] == "${A39}"


@pytest.mark.parametrize("name", ["/dev/zero", "/dev/full", "pipe", "."])
def test_what_is_no_file_is_refused(cal_ai: CommandLine, talk: Path, name: str) -> None:
    os.mkfifo(cal_ai.folder / "pipe")
    for arguments in (
        (name,),
        (str(talk), "--calendar", f"ics:{name}"),
        (str(talk), "--extractor", f"replay:{name}"),
    ):
        ran = cal_ai(*arguments)
        assert (ran.status, ran.out) == (1, "")
        assert ran.err.splitlines()[-1].startswith("error: ")
        assert "expected a file" in ran.err


def test_a_pipe_among_the_samples_costs_itself(cal_ai: CommandLine) -> None:
    write_samples(cal_ai.folder / "samples", 2)
    os.mkfifo(cal_ai.folder / "samples" / "crud" / "pipe.txt")
    ran = cal_ai.benchmark("--format", "json")
    assert (ran.status, ran.json["scored"], ran.json["failed"]) == (1, 2, 1)


@pytest.mark.parametrize(
    "arguments",
    [
        ["import", "/"],
        ["-tolerance", "9" * 5_000],
        ["-threshold", "9" * 5_000],
        ["-corpus", "/dev/zero"],
        ["-model", "/dev/zero"],
        ["-format", "\x1b[2J"],
        ["-models", "\u2066x\x9b31m"],
        ["\x1b]0;x\x07"],
        ["-x" * 3_000],
    ],
    ids=lambda value: value[0][:20],
)
def test_sat_bench_answers_bad_arguments_in_short(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert sat_bench(arguments) in (1, 2)
    streams = capsys.readouterr()
    assert len(streams.out + streams.err) < 1_500
    assert all(char.isprintable() or char == "\n" for char in streams.out + streams.err)


JOURNAL_LINES = (
    b"not json\n",
    b"[]\n",
    b"{}\n",
    b'{"at": 5, "calendar": "", "transcript": ""}\n',
    b'{"at": "", "calendar": "", "transcript": "", "key": "k", "change": {"title": 5}}\n',
    b'{"at": "", "calendar": "", "transcript": "", "key": "k", "change": 5}\n',
    b"[" * 50_000 + b"\n",
    b"\xff\xfe\n",
    b'{"at": "torn',
)


@pytest.mark.parametrize("line", JOURNAL_LINES, ids=lambda line: str(line[:30]))
def test_a_damaged_line_of_the_journal_is_told_and_kept_aside(
    applying: CommandLine, talk: Path, line: bytes
) -> None:
    first = applying(talk, "--format", "json", "--calendar", "ics:c.ics")
    assert (first.status, first.json["counts"]["created"]) == (0, 1)
    (journal,) = applying.folder.rglob("applied.jsonl")
    whole = journal.read_bytes()
    journal.write_bytes(line if line.endswith(b"\n") else b"")
    with journal.open("ab") as file:
        file.write(whole + (b"" if line.endswith(b"\n") else line))
    again = applying(talk, "--format", "json", "--calendar", "ics:c.ics")
    assert (again.status, again.json["counts"]["created"]) == (0, 0)
    assert "1 line is damaged" in again.err
    assert journal.read_bytes() == whole
    aside = journal.with_name(journal.name + DAMAGED_SUFFIX)
    assert aside.read_bytes().rstrip(b"\n") == line.rstrip(b"\n")
    last = applying(talk, "--calendar", "ics:c.ics")
    assert (last.status, "damaged" in last.err) == (0, False)


def test_a_change_whose_types_are_wrong_stops_no_run(applying: CommandLine, talk: Path) -> None:
    assert applying(talk, "--calendar", "ics:c.ics").status == 0
    (journal,) = applying.folder.rglob("applied.jsonl")
    whole = [json.loads(line) for line in journal.read_bytes().splitlines()]
    for name in whole[0]["change"]:
        spoiled = {**whole[0], "change": {**whole[0]["change"], name: {"a": [5]}}}
        journal.write_text("".join(json.dumps(line) + "\n" for line in [spoiled, *whole[1:]]))
        ran = applying(talk, "--calendar", "ics:c.ics")
        assert ran.status == 0, (name, ran.err)


def test_all_that_a_run_writes_is_for_its_owner_alone(applying: CommandLine, talk: Path) -> None:
    write_samples(applying.folder / "samples", 1)
    applying.benchmark()
    applying(talk, "--calendar", "ics:c.ics")
    written = [
        *(applying.folder / "reports").iterdir(),
        *(applying.folder / "home").rglob("*.jsonl"),
    ]
    written.append(applying.folder / "c.ics")
    assert len(written) >= 4
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in written if path.is_file()}
    assert set(modes.values()) == {0o600}, modes


def test_what_a_killed_writer_left_is_removed_in_time(tmp_path: Path) -> None:
    old, new = tmp_path / ".out.0123456789ab.tmp", tmp_path / ".out.ba9876543210.tmp"
    other = tmp_path / ".other.0123456789ab.tmp"
    for path in (old, new, other):
        path.write_text("half")
    for path in (old, other):
        os.utime(path, (0, 0))
    write_atomically(tmp_path / "out", "whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([new.name, other.name, "out"])


NAMES = ("\x1b]0;owned\x07\x1b[2J", "\u202elive\u202c", "\x9b31m", "a\nerror: b", "\u2028")


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_no_name_of_a_file_commands_the_terminal(
    cal_ai: CommandLine, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    folder = cal_ai.folder / name
    write_samples(folder / name, 1)
    (folder / name / "crud" / f"{name}.txt").write_text(TRANSCRIPT)
    (folder / name / "crud" / f"{name}.expected.json").write_text("{")
    (folder / f"{name}.txt").write_text("# Source: here\n\nOne. Two.\n")
    (folder / f"{name}.ics").write_text("no calendar")
    (folder / f"{name}.run.json").write_text("{}")
    printed = []
    for arguments in (
        ("benchmark", folder / name, "-v", "--output", folder / "out"),
        ("benchmark", folder / name, "--extractor", f"replay:{folder / name}"),
        (folder / f"{name}.txt",),
        (folder / name / "crud" / f"{name}.txt", "--calendar", f"ics:{folder / name}.ics"),
        (folder / f"missing {name}",),
    ):
        ran = cal_ai(*arguments)
        printed.append(ran.out + ran.err)
    for main, words in (
        (sat_bench, ["-corpus", str(folder), "-model", "nano", "-per-talk"]),
        (sat_bench, ["import", str(folder / f"{name}.txt"), "-o", str(folder / f"{name} 2.txt")]),
        (sat_bench, ["-corpus", str(folder), "-model", str(folder / f"{name}.ics")]),
        (truemark, ["history", str(folder)]),
        (truemark, ["compare", str(folder / f"{name}.run.json"), str(folder / name)]),
    ):
        main(words)
        streams = capsys.readouterr()
        printed.append(streams.out + streams.err)
    assert all(len(text) > 20 for text in printed)
    assert [text for text in printed if not text.replace("\n", "").isprintable()] == []
    assert [text for text in printed if "\nerror: b" in text] == []


def test_a_long_line_takes_little_more_memory_than_itself(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("word " * 800_000)
    tracemalloc.start()
    try:
        assert sat_bench(["import", str(path), "-o", str(tmp_path / "out.txt")]) == 0
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 * path.stat().st_size


def test_what_is_too_large_is_refused_with_its_size(cal_ai: CommandLine, talk: Path) -> None:
    for name, size in (("long.txt", 6_000_000), ("large.ics", 60_000_000)):
        with (cal_ai.folder / name).open("wb") as file:
            file.truncate(size)
    ran = cal_ai("long.txt", "--dry-run")
    assert (ran.status, ran.out) == (1, "")
    assert "long.txt: is too large: 6 MB, expected at most 5 MB" in ran.err
    ran = cal_ai(talk, "--calendar", "ics:large.ics")
    assert (ran.status, ran.out) == (1, "")
    assert "large.ics: is too large: 60 MB, expected at most 50 MB" in ran.err
