"""The long campaign in small: that what it mutates is good, and that it sees what is wrong."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from docs import outputs
from tests.hostile import campaign, forked
from tests.hostile.forked import Case, complaints, run
from tests.hostile.readers import made_files, readers
from tests.hostile.server_answers import answer_cases
from tests.hostile.writers import Servers, Writer, writers

from truemark.command import note


def test_every_reader_takes_a_good_input_and_waits_for_no_pipe(tmp_path: Path) -> None:
    place = tmp_path / "case"
    place.mkdir()
    made = made_files(place)
    every = [list(reader.cases(random.Random(1))) for reader in readers(made)]
    good = [cases[0] for cases in every]
    pipes = [case for cases in every for case in cases if "a pipe" in case.odd.values()]
    assert len(good) > len(pipes) > 30
    assert all(case.name.endswith("good") for case in good)
    bad = [finding for finding in campaign._checked([*good, *pipes], place) if finding[2]]
    assert bad == []


def test_every_answer_of_a_server_is_taken_when_it_is_good(tmp_path: Path) -> None:
    place = tmp_path / "case"
    place.mkdir()
    cases = (case for case in answer_cases(random.Random(1)) if case.name.endswith("good"))
    findings = list(campaign._checked(cases, place))
    assert len(findings) == 8
    assert [finding for finding in findings if finding[2]] == []


def _fails(arguments: Sequence[str]) -> int:
    raise LookupError("nobody expects this")


def _says(text: str, status: int, mode: int = 0o600) -> Case:
    def main(arguments: Sequence[str]) -> int:
        print(text)
        if "error" in text:
            note(text)
        Path("written").touch(mode)
        Path("written").write_text(text)
        return status

    return Case("kind", "name", main, (), secrets=("canary",))


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        (_says("all is well", 0), []),
        (_says("error: wrong", 1), []),
        (Case("kind", "name", _fails, ()), ["traceback", "status 98"]),
        (_says("all is well", 1), ["status 1 without a word"]),
        (_says("error: wrong", 0), ["an error, and status 0"]),
        (_says("all is well", 3), ["status 3"]),
        (_says("\x1b[2J", 0), ["prints ['\\x1b']"]),
        (_says("\u202e", 0), ["prints ['\\u202e']"]),
        (_says("all is well", 0, 0o644), ["written is open to others"]),
        (_says("canary", 0), ["secret in what is printed", "secret in written"]),
    ],
    ids=lambda value: "" if isinstance(value, Case) else str(value),
)
def test_the_campaign_sees_what_is_wrong(case: Case, expected: list[str], tmp_path: Path) -> None:
    found = complaints(case, run(case, tmp_path), tmp_path)
    assert [it for it in found if not it.startswith("secret in .out")] == expected


def test_the_campaign_sees_time_and_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forked, "LONGEST_S", 0.0)
    monkeypatch.setattr(forked, "LARGEST_MB", 1.0)
    case = _says("all is well", 0)
    seconds, megabytes = complaints(case, run(case, tmp_path), tmp_path)
    assert (seconds[-2:], megabytes[-3:]) == (" s", " MB")


def test_the_page_shows_the_campaign() -> None:
    page = campaign.PAGE.read_text(encoding="utf-8")
    assert list(outputs.measurements(page)) == [("campaign", "tests.hostile.campaign")]
    counts = Counter({("kills", "one"): 200, ("inputs", "other"): 2_000})
    printed = campaign.figures(counts, Counter({("kills", "one"): 3}), 60.0, 1)
    assert "| kills | 200 | 3 | one 200 |" in printed
    assert printed in outputs.with_measurement(page, "campaign", printed)


@pytest.mark.parametrize("part", ["kills", "interrupts", "disks", "writers"])
def test_a_small_campaign_finds_nothing(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("kills.KILLS", "kills.INTERRUPTS", "disks.SIZES"):
        monkeypatch.setattr(f"tests.hostile.{name}", 1)
    monkeypatch.setattr("tests.hostile.kills.writers", _quick_writers)
    monkeypatch.setattr("tests.hostile.disks.writers", _quick_writers)
    every = list(campaign.PARTS[part](1, campaign.Share(0, 1), str(tmp_path)))
    assert len(every) >= 2
    assert [finding for finding in every if finding[2]] == []


@pytest.mark.parametrize(
    ("part", "of"),
    [("addresses", 50), ("secrets", 99), ("environment", 40), ("limits", 49), ("signals", 24)],
)
def test_some_cases_of_a_large_part_find_nothing(part: str, of: int, tmp_path: Path) -> None:
    every = list(campaign.PARTS[part](1, campaign.Share(0, of), str(tmp_path)))
    assert len(every) >= 2
    assert [finding for finding in every if finding[2]] == []


def _quick_writers(asked: Servers) -> tuple[Writer, ...]:
    return tuple(it for it in writers(asked) if it.name in ("sat-bench import", "truemark report"))
