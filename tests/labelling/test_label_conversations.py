"""Sidecars made of drafts, decided between annotators, mended from a run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from testing.label_server import copy_conversation
from tests.labelling.conftest import opened

from cal_ai.agreement import agreement, keep_annotators_agreement
from cal_ai.benchmark.samples import bundled_folder, load_samples
from cal_ai.cli import main
from cal_ai.extractors.reader.extractor import ReaderExtractor
from cal_ai.labelling import (
    WHOLE,
    AdjudicationTask,
    ExtractorTask,
    review_task,
)
from truemark.errors import TruemarkError
from truemark.labelling.agreement import agreement_sections, known_agreement
from truemark.labelling.desk import Desk, Edit
from truemark.labelling.review import load_review
from truemark.labelling.storage import GOLD, Workspace
from truemark.records import Finding, Run, ScoringRules, System, Unit, load_run, write_run
from truemark.sections import show

NAME = "boiler_check"
Make = Callable[..., Desk]


@pytest.fixture
def conversations(tmp_path: Path) -> Path:
    copy_conversation(NAME, tmp_path)
    return tmp_path


@pytest.fixture
def desk_of(conversations: Path) -> Iterator[Make]:
    desks: list[Desk] = []

    def make(annotator: str = GOLD, kind: Any = ExtractorTask, given: Any = None) -> Desk:
        workspace = Workspace(conversations, annotator)
        source = given or ReaderExtractor
        task = kind(conversations, (NAME,), source, owner="Tomasz", workspace=workspace)
        desks.append(Desk(task, workspace, "run" if kind is review_task else ""))
        return desks[-1]

    yield make
    for desk in desks:
        desk.close()


def write_gold(folder: Path) -> Path:
    """The sidecar of the bundled sample, with nothing planned: then the reader finds its event."""
    gold = folder / f"{NAME}.expected.json"
    content = (bundled_folder() / "crud" / gold.name).read_text(encoding="utf-8")
    gold.write_text(json.dumps(json.loads(content) | {"calendar_context": []}), encoding="utf-8")
    return gold


def save(desk: Desk, state: dict[str, Any], content: Any = None, seen: tuple[str, ...] = ()) -> Any:
    places = seen or tuple(state["places"])
    return desk.save(0, Edit("s", 1, state["stamp"], content or state["content"], places))


def test_a_draft_becomes_a_sidecar_that_the_benchmark_takes(
    desk_of: Make, conversations: Path
) -> None:
    desk = desk_of()
    state = opened(desk, 0)
    content = state["content"]
    [event] = content["events"]
    assert (event["fields"]["title"], content["sidecar"]["owner"]) == ("Boiler check", "Tomasz")
    assert state["places"] == [event["id"], WHOLE]
    given = state["given"][event["id"]]
    words = {said["line"]: said["words"] for said in state["lines"]}
    assert given["lines"]
    assert all(words[line] in given["reasoning"] for line in given["lines"])
    assert state["speakers"] == ["Mrs Okafor", "Tomasz"]
    content["sidecar"]["reference_datetime"] = "2025-10-06T18:40:00"
    event["fields"] |= {"start_time": "2025-10-09T08:00:00", "lines": [7, 8]}
    event["fields"].pop("end_time")
    said = save(desk, state, content, (event["id"],))
    assert said["left"] == 1
    assert not (conversations / f"{NAME}.expected.json").exists()
    save(desk, opened(desk, 0), content)
    [sample] = load_samples(conversations)
    assert sample.sidecar is not None
    assert sample.sidecar.expected_events[0].title == "Boiler check"
    written = json.loads((conversations / f"{NAME}.expected.json").read_text(encoding="utf-8"))
    assert written["expected_events"][0]["lines"] == [7, 8]


def test_an_event_without_a_title_is_kept_but_makes_no_gold(
    desk_of: Make, conversations: Path
) -> None:
    desk = desk_of()
    state = opened(desk, 0)
    state["content"]["events"][0]["fields"]["title"] = ""
    said = save(desk, state)
    assert said["problem"] == f"{NAME}.expected.json: expected_events[0].title is missing"
    assert not (conversations / f"{NAME}.expected.json").exists()
    assert opened(desk_of(), 0)["content"]["events"][0]["fields"]["title"] == ""


@pytest.mark.parametrize("annotator", [GOLD, "anna"])
def test_what_makes_no_gold_does_not_hide_the_progress(
    desk_of: Make, conversations: Path, annotator: str
) -> None:
    desk = desk_of(annotator)
    state = opened(desk, 0)
    state["content"]["events"][0]["fields"]["title"] = ""
    assert save(desk, state)["problem"].endswith("expected_events[0].title is missing")
    assert desk.progress()["said"] == "0 of 1 conversations done"
    assert desk.overview()["texts"] == [{"name": NAME, "left": 1}]
    assert not (conversations / f"{NAME}.expected.json").exists()


def test_a_corrected_sidecar_stays_done(desk_of: Make, conversations: Path) -> None:
    write_gold(conversations)
    desk = desk_of()
    state = opened(desk, 0)
    state["content"]["events"][0]["fields"]["title"] = "Boiler"
    said = desk.save(0, Edit("s", 1, state["stamp"], state["content"]))
    assert said["left"] == 0
    assert opened(desk_of(), 0)["seen"] == state["places"]


def test_a_sidecar_that_cannot_be_read_does_not_count_as_done(
    desk_of: Make, conversations: Path
) -> None:
    write_gold(conversations).write_text("{", encoding="utf-8")
    desk = desk_of()
    assert desk.overview()["texts"] == [{"name": NAME, "left": None}]
    assert desk.progress()["said"] == "0 of 1 conversations done"


def test_a_conversation_in_which_nobody_speaks_says_what_is_expected(
    desk_of: Make, conversations: Path
) -> None:
    (conversations / f"{NAME}.txt").write_text("", encoding="utf-8")
    with pytest.raises(TruemarkError, match=r"expected lines like \[Speaker\]: words"):
        opened(desk_of(), 0)


def test_a_new_draft_replaces_what_nobody_looked_at(desk_of: Make) -> None:
    desk = desk_of()
    state = opened(desk, 0)
    added = {"id": "added-1", "fields": {"action": "create", "title": "Mine"}}
    state["content"]["events"].append(added)
    state["content"]["sidecar"]["reference_datetime"] = "2025-10-06T18:40:00"
    save(desk, state, seen=("nothing",))
    desk.draft_again(0)
    events = opened(desk, 0)["content"]["events"]
    assert events[0] == added
    assert [event["fields"]["start_time"] for event in events[1:]] == ["2025-10-09T08:00:00"]


def test_what_else_a_sidecar_holds_is_kept(desk_of: Make, conversations: Path) -> None:
    gold = write_gold(conversations)
    before = json.loads(gold.read_text(encoding="utf-8"))
    desk = desk_of()
    state = opened(desk, 0)
    assert desk.overview()["texts"] == [{"name": NAME, "left": 0}]
    state["content"]["events"][0]["fields"]["title"] = "Boiler"
    save(desk, state)
    after = json.loads(gold.read_text(encoding="utf-8"))
    assert after["expected_events"][0].pop("title") == "Boiler"
    before["expected_events"][0].pop("title")
    assert list(after) == list(before)
    assert after == before


def test_an_annotator_sees_the_circumstances_and_not_the_truth(
    desk_of: Make, conversations: Path
) -> None:
    write_gold(conversations)
    content = opened(desk_of("anna"), 0)["content"]
    assert content["sidecar"]["reference_datetime"] == "2025-10-06T18:40:00"
    assert "mock_llm_response" not in content["sidecar"]
    assert [event["id"].split("-")[0] for event in content["events"]] == ["reader"]


def annotated(desk_of: Make, name: str, **changes: object) -> None:
    desk = desk_of(name)
    state = opened(desk, 0)
    state["content"]["events"][0]["fields"] |= changes
    save(desk, state)


def test_adjudication_asks_for_events_that_differ(desk_of: Make, conversations: Path) -> None:
    annotated(desk_of, "anna")
    annotated(desk_of, "ben", title="Boiler service")
    readers = Workspace(conversations, "anna"), Workspace(conversations, "ben")
    desk = desk_of(kind=AdjudicationTask, given=readers)
    state = opened(desk, 0)
    events = state["content"]["events"]
    assert [event["fields"]["title"] for event in events] == ["Boiler check", "Boiler service"]
    assert state["places"] == [event["id"] for event in events]
    save(desk, state, {**state["content"], "events": events[:1]})
    [sample] = load_samples(conversations)
    assert sample.sidecar is not None
    assert len(sample.sidecar.expected_events) == 1


def test_what_is_decided_keeps_the_description_of_a_sidecar(
    desk_of: Make, conversations: Path
) -> None:
    gold = write_gold(conversations)
    before = json.loads(gold.read_text(encoding="utf-8"))
    annotated(desk_of, "anna")
    annotated(desk_of, "ben", title="Boiler service")
    readers = Workspace(conversations, "anna"), Workspace(conversations, "ben")
    desk = desk_of(".anna,ben", AdjudicationTask, readers)
    state = opened(desk, 0)
    assert state["theirs"] is not None
    save(desk, state)
    after = json.loads(gold.read_text(encoding="utf-8"))
    assert len(after["expected_events"]) == 2
    assert after["description"] == before["description"]
    assert after["owner"] == before["owner"]


def test_two_who_agree_leave_nothing_to_decide(desk_of: Make, conversations: Path) -> None:
    annotated(desk_of, "anna")
    annotated(desk_of, "ben", lines=[7])
    readers = Workspace(conversations, "anna"), Workspace(conversations, "ben")
    assert opened(desk_of(kind=AdjudicationTask, given=readers), 0)["places"] == []


def test_agreement_names_what_differs(desk_of: Make, conversations: Path) -> None:
    annotated(desk_of, "anna")
    annotated(desk_of, "ben", start_time="2020-01-01T08:00:00", end_time="2020-01-01T10:00:00")
    folders = [str(conversations / ".annotations" / name) for name in ("anna", "ben")]
    found = agreement(*folders)
    assert (found.counts.tp, found.counts.fp, found.counts.fn) == (0, 1, 1)
    assert found.kinds == (("wrong day", 0, 1, 1),)
    with_itself = agreement(folders[0], folders[0])
    assert with_itself.f1.value == 1.0
    assert "only the second" in show(agreement_sections(with_itself, "event"), "text")


def test_a_conversation_with_no_room_for_the_name_of_its_sidecar_is_left_out(
    conversations: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (conversations / f"{'n' * 250}.txt").write_text("[Alice]: Hello.\n", encoding="utf-8")
    served: list[Desk] = []

    def serve(desk: Desk, *, open_browser: bool) -> int:
        served.append(desk)
        return 0

    monkeypatch.setattr("cal_ai.labelling.serve", serve)
    assert main(["label", str(conversations), "--extractor", "reader", "--no-browser"]) == 0
    assert list(served[0].task.names) == [NAME]
    assert "nnn: is left out: its sidecar cannot exist: File name too long" in (
        capsys.readouterr().err
    )


def test_the_samples_agree_with_themselves_where_planned_events_have_no_number() -> None:
    with_itself = agreement("samples/crud", "samples/crud")
    assert with_itself.f1.value == 1.0


def test_agreement_with_an_extractor(
    desk_of: Make, conversations: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_gold(conversations)
    assert main(["agree", str(conversations), "reader", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"] == {"tp": 1, "fp": 0, "fn": 0}
    assert main(["agree", str(conversations), "redaer"]) == 1
    line = capsys.readouterr().err
    assert line.startswith("error: redaer: no such folder, and as an extractor 'redaer' is not one")
    assert line.endswith("; did you mean reader?\n")
    assert main(["agree", str(conversations), "cmd:false"]) == 1
    assert capsys.readouterr().err.startswith(f"error: {NAME}: cmd:false: ended with status 1")


def test_a_proposal_may_end_before_it_starts(
    desk_of: Make, conversations: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_gold(conversations)
    system = "py:tests.labelling.cuts:ends_early"
    assert main(["agree", str(conversations), system, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"] == {"tp": 0, "fp": 1, "fn": 1}


def test_mistakes_of_a_run_are_questions_about_the_truth(
    desk_of: Make, conversations: Path
) -> None:
    write_gold(conversations)
    got = {
        "action": "create",
        "title": "Boiler",
        "start_time": "2025-10-09 13:00",
        "attendees": "A, B",
    }
    unit = f"uncategorized/{NAME}"
    findings = (
        Finding("missed", unit, confidence="low"),
        Finding("wrong time", unit, expected={"title": "Boiler check"}, got=got, confidence="high"),
    )
    rules = ScoringRules(1.0)
    run = Run("cal_ai", "1", "", System("x"), {}, rules, (Unit(unit),), findings=findings)
    write_run(conversations / "x.run.json", run)
    state = opened(desk_of(kind=review_task, given=conversations / "x.run.json"), 0)
    assert [question["kind"] for question in state["questions"]] == ["wrong time", "missed"]
    assert state["questions"][0]["got"] == {
        "action": "create",
        "title": "Boiler",
        "start_time": "2025-10-09T13:00:00",
        "attendees_contain": ["A", "B"],
    }
    assert state["content"]["events"][0]["fields"]["title"] == "Boiler check"


@pytest.mark.parametrize("name", ["x.0badc0de.run.json", "x.run.json", "x"])
def test_a_record_given_by_name_is_reviewed_as_the_file_is(
    conversations: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_gold(conversations)  # all done, but for a review
    unit = f"uncategorized/{NAME}"
    findings, rules = (Finding("missed", unit),), ScoringRules(1.0)
    run = Run("cal_ai", "1", "", System("x"), {}, rules, (Unit(unit),), findings=findings)
    write_run(conversations / "x.0badc0de.run.json", run)
    said: list[object] = []

    def serve(desk: Desk, *, open_browser: bool) -> int:
        said.append(desk.progress()["said"])
        desk.close()
        return 0

    monkeypatch.setattr("cal_ai.labelling.serve", serve)
    given = ["--from", str(conversations / name), "--no-browser"]
    assert main(["label", str(conversations), *given]) == 0
    assert said == ["0 of 1 conversations done"]


def test_marks_of_a_report_page_are_asked_with_both_events(
    desk_of: Make, conversations: Path
) -> None:
    unit = f"uncategorized/{NAME}"
    mark: Any = {"unit": unit, "kind": "wrong title", "at": None, "verdict": "wrong"}
    mark |= {"expected": {"title": "Boiler"}, "got": {"title": "Boiler check"}}
    file = conversations / "x.marks.json"
    file.write_text(json.dumps({"format": "truemark.marks/1", "marks": [mark]}), encoding="utf-8")
    state = opened(desk_of(kind=review_task, given=file), 0)
    [question] = state["questions"]
    assert (question["expected"], question["got"]) == (
        {"title": "Boiler"},
        {"title": "Boiler check"},
    )


def test_a_report_page_is_refused_with_what_to_name_instead(conversations: Path) -> None:
    page = conversations / "page.html"
    page.write_text("<!doctype html>\n<html lang='en'>", encoding="utf-8")
    with pytest.raises(TruemarkError, match="press its button Export marks"):
        load_review(page)


def test_what_annotators_agree_on_stands_in_later_records(
    desk_of: Make, conversations: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for annotator in ("anna", "ben"):
        desk = desk_of(annotator)
        state = opened(desk, 0)
        desk.save(0, Edit("s", 1, state["stamp"], state["content"], tuple(state["places"])))
    keep_annotators_agreement(conversations, "anna", "carl")
    assert known_agreement(conversations, "conversation") is None
    keep_annotators_agreement(conversations, "anna", "ben")
    said = known_agreement(conversations, "conversation")
    assert said
    assert said.startswith("the annotators of 1 conversation agree with F1 1.000")
    shutil.copy(bundled_folder() / "crud" / f"{NAME}.expected.json", conversations)
    output = tmp_path_factory.mktemp("reports")
    arguments = ["benchmark", str(conversations), "--extractor", "reader", "--no-summary"]
    assert main([*arguments, "--output", str(output)]) == 0
    [record] = output.glob("*.run.json")
    assert said in load_run(record).notes


FORMS = {
    "names": "Anna: Lunch on Friday?\nBen: Yes, at noon.\n",
    "clock": "[10:01] Anna: Lunch on Friday?\n[10:02] Ben: Yes, at noon.\n",
    "webvtt": (
        "WEBVTT\n\n00:00:01.000 --> 00:00:02.000\n<v Anna>Lunch on Friday?</v>\n\n"
        "00:00:03.000 --> 00:00:04.000\n<v Ben>Yes, at noon.</v>\n"
    ),
    "whatsapp": (
        "12/10/2025, 10:01 - Anna: Lunch on Friday?\n12/10/2025, 10:02 - Ben: Yes, at noon.\n"
    ),
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_conversations_of_every_form_can_be_labelled(
    desk_of: Make, conversations: Path, text: str
) -> None:
    (conversations / f"{NAME}.txt").write_text(text, encoding="utf-8")
    state = opened(desk_of(), 0)
    assert state["speakers"] == ["Anna", "Ben"]
    assert [line["words"] for line in state["lines"]] == ["Lunch on Friday?", "Yes, at noon."]


def test_subtitles_are_labelled_and_compared(desk_of: Make, conversations: Path) -> None:
    (conversations / f"{NAME}.txt").unlink()
    (conversations / f"{NAME}.vtt").write_text(FORMS["webvtt"], encoding="utf-8")
    assert opened(desk_of(), 0)["speakers"] == ["Anna", "Ben"]
    write_gold(conversations)
    assert main(["agree", str(conversations), "reader"]) == 0


@pytest.mark.parametrize(
    "content", [{}, {"sidecar": {}, "events": [1]}, {"sidecar": 1, "events": []}]
)
def test_what_has_not_the_shape_of_a_sidecar_is_refused(desk_of: Make, content: Any) -> None:
    desk = desk_of()
    state = opened(desk, 0)
    with pytest.raises(TruemarkError, match="must have"):
        desk.save(0, Edit("s", 1, state["stamp"], content))


@pytest.mark.parametrize(
    "arguments", [["x", "--adjudicate", "a"], ["x", "--annotator", "a", "--from", "y"], []]
)
def test_flags_that_contradict_each_other(arguments: list[str]) -> None:
    assert main(["label", *arguments]) == 2


def test_the_date_of_a_conversation_is_guessed_from_its_name(conversations: Path) -> None:
    (conversations / f"{NAME}.txt").rename(conversations / "2026-03-04_0930 call.txt")
    task = ExtractorTask(conversations, ("2026-03-04_0930 call",), ReaderExtractor)
    material = task.material("2026-03-04_0930 call", {})
    assert material.content["sidecar"]["reference_datetime"] == "2026-03-04T09:30:00"
    assert material.content["sidecar"]["owner"] == "Mrs Okafor"


def test_the_last_message_of_a_chat_says_when_it_was(conversations: Path) -> None:
    (conversations / "2024-01-01 chat.txt").write_text("31/12/25, 22:01 - Alice: Lunch?\n")
    task = ExtractorTask(conversations, ("2024-01-01 chat",), ReaderExtractor)
    material = task.material("2024-01-01 chat", {})
    assert material.content["sidecar"]["reference_datetime"] == "2025-12-31T22:01:00"
