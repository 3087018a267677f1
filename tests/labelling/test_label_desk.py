"""What a desk stores, when gold is written, and what it does about changes on disk."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.labelling.conftest import opened

from sat_bench.labelling import adjudication_task, draft_task
from truemark.counts import Counts
from truemark.errors import TruemarkError
from truemark.labelling.desk import ConflictError, Desk, Edit, worth_of
from truemark.labelling.storage import Workspace, check_annotator

Make = Callable[..., Desk]


def change(state: dict[str, Any], **fields: Any) -> Edit:
    given = {"session": "s", "count": 1, "stamp": state["stamp"], "content": state["content"]}
    return Edit(**(given | fields))


def test_a_draft_proposes_ends_and_what_is_doubtful_comes_first(desk_of: Make) -> None:
    state = opened(desk_of(), 0)
    assert state["title"] == "One"
    assert state["pieces"][2] == " there."
    # "there.", then "spoke" (0.2, nearer to the threshold), and the end of the text.
    assert state["content"] == {"ends": [11, 22, 33]}
    assert state["places"] == [22, 11]


def test_gold_is_written_when_every_place_was_seen(desk_of: Make, talks: Path) -> None:
    desk = desk_of()
    state = opened(desk, 0)
    gold = talks / "gold" / "one.txt"
    said = desk.save(0, change(state, seen=(22,), content={"ends": [11, 33]}))
    assert said["left"] == 1
    assert not gold.exists()
    desk.save(0, change(state, count=2, seen=(11,), content={"ends": [11, 22, 33]}))
    assert gold.read_text(encoding="utf-8") == (
        "# Source: one.txt\n# Title: One\n# Truth: lines\n\n"
        "We sat there.\nNobody spoke\n\nThen he left.\n"
    )
    desk.save(0, change(state, count=3, content={"ends": [11, 33]}))
    assert "Nobody spoke Then he left." in gold.read_text(encoding="utf-8")


def test_another_start_resumes_where_one_was(desk_of: Make, talks: Path) -> None:
    first = desk_of()
    opened(first, 1)
    first.save(1, change(opened(first, 1), seen=(22,), content={"ends": [11, 32]}, at=11))
    again = desk_of()
    assert again.overview()["current"] == 0  # the second talk is done
    state = opened(again, 1)
    assert (state["content"], state["at"]) == ({"ends": [11, 32]}, 11)


def test_without_models_every_word_has_to_be_passed(desk_of: Make) -> None:
    state = opened(desk_of(models=()), 1)
    assert state["content"] == {"ends": [32]}
    assert len(state["places"]) == 9


def test_annotators_do_not_see_each_other_nor_the_gold(desk_of: Make, talks: Path) -> None:
    gold, anna = desk_of(), desk_of("anna")
    gold.save(1, change(opened(gold, 1), seen=(22,), content={"ends": [2, 32]}))
    state = opened(anna, 1)
    assert state["content"] == {"ends": [22, 32]}
    anna.save(1, change(state, seen=(22,), content={"ends": [11, 32]}))
    assert opened(desk_of("ben"), 1)["content"] == {"ends": [22, 32]}
    assert (talks / ".annotations" / "anna" / "two.json").exists()
    assert (
        (talks / "gold" / "two.txt")
        .read_text(encoding="utf-8")
        .endswith("\nso\ni went home and he stayed that was all\n")
    )


def test_adjudication_asks_only_where_two_differ(desk_of: Make, talks: Path) -> None:
    for name, ends in (("anna", [11, 22, 32]), ("ben", [14, 22, 32])):
        desk = desk_of(name)
        desk.save(1, change(opened(desk, 1), seen=(22,), content={"ends": ends}))
    desk = Desk(adjudication_task(talks, "anna", "ben"), Workspace(talks))
    assert desk.task.names == ("two",)
    state = opened(desk, 0)
    assert state["content"] == {"ends": [22, 32]}
    assert state["places"] == [11, 14]
    assert state["systems"] == ["anna", "ben"]
    desk.save(0, change(state, seen=(11, 14), content={"ends": [11, 22, 32]}))
    assert "home\nand he stayed\nthat was all" in (talks / "gold/two.txt").read_text(
        encoding="utf-8"
    )
    desk.close()


def test_an_annotator_does_not_see_the_ends_of_a_text_in_lines(desk_of: Make, talks: Path) -> None:
    lines = "# Source: x\n# Truth: lines\n\nso\ni went home and he stayed that was all\n"
    (talks / "two.txt").write_text(lines, encoding="utf-8")
    assert opened(desk_of(), 1)["content"] == {"ends": [2, 32]}
    assert opened(desk_of("anna"), 1)["content"] == {"ends": [22, 32]}


def test_what_two_agree_on_is_decided_against_gold_that_was_there(
    desk_of: Make, talks: Path
) -> None:
    gold = desk_of()
    gold.save(1, change(opened(gold, 1), seen=(22,), content={"ends": [2, 32]}))
    for name, ends in (("anna", [11, 22, 32]), ("ben", [14, 22, 32])):
        desk = desk_of(name)
        desk.save(1, change(opened(desk, 1), seen=(22,), content={"ends": ends}))
    desk = Desk(adjudication_task(talks, "anna", "ben"), Workspace.deciding(talks, ("anna", "ben")))
    state = opened(desk, 0)
    assert state["content"] == {"ends": [22, 32]}
    assert state["theirs"] == {"ends": [2, 32]}
    assert set(state["places"]) - set(state["seen"]) == {11, 14}
    kept = (talks / "gold/two.txt").read_text(encoding="utf-8")
    desk.save(0, change(state, seen=(11,)))
    assert (talks / "gold/two.txt").read_text(encoding="utf-8") == kept  # until all is decided
    desk.save(0, change(state, count=2, seen=(14,), content={"ends": [11, 22, 32]}))
    assert "home\nand he stayed\nthat was all" in (talks / "gold/two.txt").read_text(
        encoding="utf-8"
    )
    desk.close()


# ---- changes on disk --------------------------------------------------------------------------


def test_an_annotation_that_changed_on_disk_is_not_overwritten(desk_of: Make) -> None:
    mine, theirs = desk_of(), desk_of()
    state = opened(mine, 1)
    theirs.save(1, change(opened(theirs, 1), content={"ends": [2, 32]}))
    with pytest.raises(ConflictError) as conflict:
        mine.save(1, change(state, content={"ends": [11, 32]}))
    found: Any = conflict.value.state
    assert found["content"] == {"ends": [2, 32]}
    assert not found["text_changed"]
    mine.save(1, change(found, content={"ends": [11, 32]}))  # keep mine
    assert opened(desk_of(), 1)["content"] == {"ends": [11, 32]}


def test_gold_that_changed_on_disk_is_not_overwritten(desk_of: Make, talks: Path) -> None:
    desk, gold = desk_of(), talks / "gold" / "two.txt"
    state = opened(desk, 1)
    desk.save(1, change(state, seen=(22,)))
    by_hand = gold.read_text(encoding="utf-8").replace("so i", "so\ni")
    gold.write_text(by_hand, encoding="utf-8")
    with pytest.raises(ConflictError) as conflict:
        desk.save(1, change(state, count=2, content={"ends": [11, 32]}))
    found: Any = conflict.value.state
    assert found["theirs"] == {"ends": [2, 22, 32]}
    assert gold.read_text(encoding="utf-8") == by_hand
    assert opened(desk_of(), 1)["theirs"] == {"ends": [2, 22, 32]}  # and when it is opened


def test_a_kill_between_annotation_and_gold_is_no_conflict(
    desk_of: Make, talks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, gold = desk_of(), talks / "gold" / "two.txt"
    state = opened(desk, 1)
    desk.save(1, change(state, seen=(22,)))
    whole = Workspace.write_file

    def killed(self: Workspace, path: Path, content: str | bytes) -> None:
        if path == gold:
            raise KeyboardInterrupt
        whole(self, path, content)

    monkeypatch.setattr(Workspace, "write_file", killed)
    with pytest.raises(KeyboardInterrupt):
        desk.save(1, change(state, count=2, content={"ends": [11, 32]}))
    monkeypatch.undo()
    after = desk_of()
    state = opened(after, 1)
    assert state["theirs"] is None
    assert state["content"] == {"ends": [11, 32]}
    after.save(1, change(state))
    assert "home\nand" in gold.read_text(encoding="utf-8")


def test_marks_outside_of_what_changed_in_the_text_are_kept(desk_of: Make, talks: Path) -> None:
    desk, file = desk_of(), talks / "two.txt"
    state = opened(desk, 1)
    desk.save(1, change(state, content={"ends": [2, 11, 22, 32]}, seen=(22,)))
    file.write_text(
        file.read_text(encoding="utf-8").replace("went home", "walked"), encoding="utf-8"
    )
    with pytest.raises(ConflictError) as conflict:
        desk.save(1, change(state, count=2))
    assert conflict.value.state["text_changed"]
    state = opened(desk_of(), 1)
    assert state["content"] == {"ends": [2, 20, 30]}
    assert "changed" in state["notice"]
    earlier = talks / ".annotations" / ".gold" / "two.earlier.json"
    again = desk_of()
    again.save(1, change(opened(again, 1)))
    assert json.loads(earlier.read_text(encoding="utf-8"))["content"] == {"ends": [2, 11, 22, 32]}


def test_a_request_that_overtook_another_wins(desk_of: Make) -> None:
    desk = desk_of()
    state = opened(desk, 1)
    desk.save(1, change(state, count=2, content={"ends": [11, 32]}))
    desk.save(1, change(state, count=1, content={"ends": [2, 32]}, seen=(22,)))
    state = opened(desk, 1)
    assert state["content"] == {"ends": [11, 32]}
    assert state["seen"] == [22]


# ---- guards -----------------------------------------------------------------------------------


@pytest.mark.parametrize("ends", [[1, 32], [32, 11], [11, 11, 32], "all", [11.5], [[]], [-1], None])
def test_ends_that_are_no_places_are_refused(desk_of: Make, ends: object) -> None:
    desk = desk_of()
    with pytest.raises(TruemarkError, match="ends must be places"):
        desk.save(1, change(opened(desk, 1), content={"ends": ends}))


def test_a_link_out_of_the_folder_is_not_followed(
    desk_of: Make, talks: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (talks / "gold").symlink_to(outside)
    desk = desk_of()
    with pytest.raises(TruemarkError, match="points outside"):
        desk.save(1, change(opened(desk, 1), seen=(22,)))
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("name", ["", ".gold", "../x", "a/b", "a\\b", "x" * 61, "a\n", " a"])
def test_names_that_are_no_names_of_annotators(name: str) -> None:
    with pytest.raises(TruemarkError, match="cannot name an annotator"):
        check_annotator(name)


def test_a_draft_that_fails_leaves_the_text_to_be_read(desk_of: Make) -> None:
    state = opened(desk_of(models=("cmd:false",)), 1)
    assert "There is no draft" in state["notice"]
    assert len(state["places"]) == 9


def test_a_draft_is_made_once(talks: Path, desk_of: Make) -> None:
    opened(desk_of(), 1)
    task = draft_task(talks, ("py:tests.labelling.cuts:at_stops",), 10.0)
    stored = json.loads((talks / ".annotations/.drafts/two.json").read_text(encoding="utf-8"))
    assert stored["made_by"] == task.made_by
    stored["systems"]["py:tests.labelling.cuts:at_stops"]["places"] = [[11, 0.9]]
    (talks / ".annotations/.drafts/two.json").write_text(json.dumps(stored), encoding="utf-8")
    assert opened(desk_of(), 1)["content"] == {"ends": [11, 32]}


# ---- what the work buys -----------------------------------------------------------------------


def test_the_worth_of_the_work_names_a_difference_and_what_a_finer_one_needs() -> None:
    one = [Counts(20, n % 3, 2) for n in range(18)]
    other = [Counts(20, 1, 1 + n % 4) for n in range(18)]
    said = worth_of({"a": one, "b": other})
    assert said == "differences of 0.05 or more can be seen; with about 25, 0.04"
    assert worth_of({"a": one}).startswith("differences of 0.0")


def test_a_finer_difference_never_needs_fewer_texts_than_there_are() -> None:
    base = [(88, 25, 22), (88, 32, 30), (111, 17, 57), (85, 42, 28), (73, 19, 12), (68, 25, 29)]
    nano = [(87, 35, 23), (88, 33, 30), (104, 32, 64), (75, 47, 38), (66, 26, 19), (70, 35, 27)]
    rows = {
        "base": [Counts(*row) for row in (*base, (70, 37, 12))],
        "nano": [Counts(*row) for row in (*nano, (65, 46, 17))],
    }
    assert worth_of(rows) == "differences of 0.05 or more can be seen; with about 10, 0.04"


def test_one_talk_or_no_spread_buys_nothing_that_is_known() -> None:
    assert worth_of({"a": [Counts(1, 0, 0)]}) == ""
    assert worth_of({"a": [Counts(1, 0, 0)] * 3, "b": [Counts(1, 0, 0)] * 3}) == ""


def test_progress_counts_what_is_done(desk_of: Make) -> None:
    desk = desk_of()
    assert desk.progress()["said"] == "0 of 2 talks done"
    desk.save(1, change(opened(desk, 1), seen=(22,)))
    assert desk.progress()["said"] == "1 of 2 talks done"
    desk.save(0, change(opened(desk, 0), seen=(11, 22), content={"ends": [11, 33]}))
    assert desk.progress()["said"] == "2 of 2 talks done"  # two can show no difference at all
