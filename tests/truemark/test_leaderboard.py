"""Leaderboards: who is best, who cannot be told apart, and what is said of it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from testing.talk_runs import talks_run
from tests.truemark.runs_for_tests import made

from truemark import cli
from truemark.leaderboard import letters_of, rank
from truemark.records import Run, Unit, load_run, write_run
from truemark.summary import summarise
from truemark.wording import answer


def run_with(name: str, found: int, of: int = 10, units: int = 12) -> Run:
    return made(name, {f"u{number}": (found, 0, of - found) for number in range(units)})


@pytest.mark.parametrize(
    ("count", "apart", "expected"),
    [
        pytest.param(1, set(), ["a"], id="alone"),
        pytest.param(3, set(), ["a", "a", "a"], id="all the same"),
        pytest.param(3, {(0, 2)}, ["a", "ab", "b"], id="one between"),
        pytest.param(3, {(0, 1), (0, 2), (1, 2)}, ["a", "b", "c"], id="all apart"),
        pytest.param(4, {(0, 2), (0, 3), (1, 3)}, ["a", "ab", "bc", "c"], id="a chain"),
    ],
)
def test_systems_share_a_letter_where_they_cannot_be_told_apart(
    count: int, apart: set[tuple[int, int]], expected: list[str]
) -> None:
    assert letters_of(count, apart) == expected


@given(st.data(), st.integers(1, 7))
def test_letters_say_exactly_which_pairs_are_apart(data: st.DataObject, count: int) -> None:
    pairs = list(combinations(range(count), 2))
    apart = data.draw(st.sets(st.sampled_from(pairs))) if pairs else set()
    letters = letters_of(count, apart)
    shared = {pair for pair in pairs if set(letters[pair[0]]) & set(letters[pair[1]])}
    assert shared == set(pairs) - apart


def test_letters_of_many_systems_take_no_time() -> None:
    apart = {(one, one + step) for one in range(0, 60, 3) for step in (1, 2)}
    apart |= {(one + 1, one + 2) for one in range(0, 60, 3)}
    letters = [set(re.findall(r"[a-z]\d*", text)) for text in letters_of(60, apart)]
    pairs = combinations(range(60), 2)
    assert {pair for pair in pairs if not letters[pair[0]] & letters[pair[1]]} == apart


def test_the_best_comes_first_and_is_told_from_the_worst() -> None:
    runs = [run_with("poor", 2), run_with("good", 9), run_with("same", 9)]
    board = rank("data", [summarise(run) for run in runs])
    assert [standing.name for standing in board.standings] == ["good", "same", "poor"]
    assert [standing.letters for standing in board.standings] == ["a", "a", "b"]
    said = answer(board, {"items": "ends", "units": "talks"})
    assert said == (
        "Take good or same: they find 90 of 100 ends where poor finds 20, and 100 of 100 that they"
        " mark are right, against 100."
    )


def test_the_best_is_compared_with_the_runner_up_and_not_with_the_last() -> None:
    runs = [run_with("poor", 2), run_with("good", 9), run_with("fair", 6)]
    board = rank("data", [summarise(run) for run in runs])
    assert answer(board, {}).startswith("Take good: it finds 90 of 100 items where fair finds 60,")


@pytest.mark.parametrize("units", [12, 4])
def test_systems_that_are_exactly_equal_are_named_as_ties(units: int) -> None:
    runs = [run_with(name, 10, units=units) for name in ("base", "nano", "small")]
    board = rank("data", [summarise(run) for run in runs])
    assert answer(board, {}) == "base, nano and small score the same and find 100 of 100 items."


def test_ties_that_find_different_shares_are_named_with_each() -> None:
    counts = {"bold": (84, 26, 16), "careful": (80, 20, 20), "worse": (79, 20, 21)}
    runs = [made(name, {f"u{n}": counts[name] for n in range(4)}) for name in counts]
    assert answer(rank("data", [summarise(run) for run in runs]), {}) == (
        "bold and careful score highest, but 4 units are too few to say that they are better than"
        " the others."
    )
    alike = rank("data", [summarise(run) for run in runs[:2]])
    assert answer(alike, {}) == "bold and careful score the same and find 84 and 80 of 100 items."


def test_a_system_close_to_two_equal_ones_is_named_after_them() -> None:
    near = {f"u{n}": (9 - (n == 0), 0, 1 + (n == 0)) for n in range(12)}
    runs = [run_with("good", 9), run_with("same", 9), made("near", near)]
    board = rank("data", [summarise(run) for run in runs])
    assert answer(board, {"items": "ends"}) == (
        "good and same score highest and find 90 of 100 ends, but 12 units cannot tell them from"
        " near."
    )


def test_the_sentence_says_about_how_many_units_are_needed() -> None:
    runs = [run_with("good", 9), run_with("same", 9)]
    board = rank("data", [summarise(run) for run in runs])
    said = answer(board, {}, ("same", 15))
    assert said.endswith("A difference of 0.02 from same would show with about 15 units.")
    assert "A difference" not in answer(board, {}, ("same", 500))


def test_few_units_give_no_letters_and_the_sentence_says_so() -> None:
    runs = [run_with("good", 9, units=4), run_with("poor", 2, units=4)]
    board = rank("data", [summarise(run) for run in runs])
    assert not board.known
    assert {standing.letters for standing in board.standings} == {""}
    assert "are too few to say" in answer(board, {"units": "talks"})


def test_units_too_few_for_so_many_pairs_give_no_letters_and_the_sentence_says_so() -> None:
    runs = [run_with(f"s{number}", 9 - number, units=8) for number in range(7)]
    board = rank("data", [summarise(run) for run in runs])
    assert board.enough == 10  # 21 * 2 / 2**9 is above 0.05, 21 * 2 / 2**10 is not
    assert not board.known
    assert {standing.letters for standing in board.standings} == {""}
    assert answer(board, {}) == (
        "s0 scores highest, but 8 units are too few to say that it is better than the others: with"
        " all 7 systems compared in pairs, it takes 10; `truemark compare` tests fewer pairs, each"
        " system against the first."
    )
    enough = [run_with(f"s{number}", 9 - number, units=10) for number in range(7)]
    assert rank("data", [summarise(run) for run in enough]).told_apart


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    nano, small = talks_run("nano", 0.9), talks_run("small", 0.97)
    bare = replace(nano, signature={**nano.signature, "condition": "bare"})
    write_run(tmp_path / "old.run.json", replace(talks_run("nano", 0.5), started="2020-01-01"))
    write_run(tmp_path / "nano.run.json", nano)
    write_run(tmp_path / "small.run.json", small)
    write_run(tmp_path / "nano.bare.run.json", bare)
    return tmp_path


def test_the_command_ranks_the_newest_run_of_each_system_per_condition(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["leaderboard", str(folder), "--format", "json"]) == 0
    boards = json.loads(capsys.readouterr().out)["boards"]
    names = sorted([system["name"] for system in board["systems"]] for board in boards)
    assert names == [["nano"], ["small", "nano"]]


def test_the_page_links_to_a_page_of_each_run(folder: Path) -> None:
    page = folder / "board.html"
    assert cli.main(["leaderboard", str(folder), "-o", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    pages = sorted((folder / "board").glob("*.html"))
    assert len(pages) == 3
    assert all(f'href="board/{path.name}"' in text for path in pages)


@pytest.mark.parametrize("output", ["/", "."])
def test_a_folder_in_place_of_the_page_is_refused(
    folder: Path, output: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["leaderboard", str(folder), "-o", output]) == 1
    assert f"{output}: is a folder, expected a file to write" in capsys.readouterr().err


def test_a_page_named_like_the_folder_beside_it_is_refused_before_anything_is_written(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "board"
    assert cli.main(["leaderboard", str(folder), "-o", str(page)]) == 1
    assert "board: the pages of runs go to a folder of this name; add .html" in (
        capsys.readouterr().err
    )
    assert not page.exists()


def test_groups_are_tabulated_with_their_mean() -> None:
    run = made("any", {"a": (8, 0, 2), "b": (4, 0, 6), "c": (1, 0, 0)})
    units = [replace(u, group={"language": u.id}) for u in run.units]
    grouped = replace(run, units=tuple(units))
    board = rank("data", [summarise(grouped)])
    columns, ((first, second, third, mean),) = board.by_group("language")
    assert columns == ("a", "b", "c", "mean")
    assert third is None  # one item is too few for an F1
    assert first is not None
    assert second is not None
    assert mean == pytest.approx((first + second) / 2)


def test_a_table_of_dashes_only_is_left_out_and_other_dashes_are_explained_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = {"a": (8, 0, 2), "b": (1, 0, 1), "c": (1, 0, 0)}
    for system in ("one", "two"):
        run = made(system, counts)
        units = [
            replace(unit, group={"language": unit.id, "kind": unit.id if unit.id != "a" else "b"})
            for unit in run.units
        ]
        write_run(tmp_path / f"{system}.run.json", replace(run, units=tuple(units)))
    why = "a dash stands for the F1 of groups with fewer than 5 expected items; the mean leaves"
    assert cli.main(["leaderboard", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "f1 by language" in shown
    assert "f1 by kind" in shown
    assert shown.count(why) == 1
    for path in tmp_path.glob("*.run.json"):
        run = load_run(path)
        few = [unit for unit in run.units if unit.id != "a"]
        write_run(path, replace(run, units=tuple(few)))
    assert cli.main(["leaderboard", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "f1 by" not in shown
    assert why not in shown


def test_a_folder_without_scores_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(tmp_path / "a.run.json", made("broken", {"a": ()}))
    assert cli.main(["leaderboard", str(tmp_path)]) == 1
    assert "nothing to rank" in capsys.readouterr().err


def test_languages_of_older_records_share_the_columns_of_newer_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    languages = {"old": ("English", "fr-FR"), "new": ("en", "fr")}
    for name, values in languages.items():
        run = replace(run_with(name, 8), tool="sat-bench")
        units = [
            replace(unit, group={"language": values[number % 2]})
            for number, unit in enumerate(run.units)
        ]
        write_run(tmp_path / f"{name}.run.json", replace(run, units=tuple(units)))
    assert cli.main(["leaderboard", str(tmp_path), "--format", "json"]) == 0
    printed = capsys.readouterr().out
    assert "English" not in printed
    assert "fr-FR" not in printed
    old = load_run(tmp_path / "old.run.json")
    assert {count.group["language"] for count in old.finding_counts} <= {"en", "fr"}


def test_groups_of_another_tool_stay_as_it_wrote_them(tmp_path: Path) -> None:
    units = tuple(
        Unit(name, 1, group={"language": name}) for name in ("Swiss German", "Austrian German")
    )
    write_run(tmp_path / "own.run.json", replace(run_with("own", 8), units=units))
    assert load_run(tmp_path / "own.run.json").units == units
