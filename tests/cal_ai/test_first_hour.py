"""What people with data of their own meet in their first hour."""

from __future__ import annotations

import io
import sys

import pytest
from testing.loopback import LoopbackLLM, says
from tests.cal_ai.sample_folders import CommandLine, finds_lunch, write_sample, write_samples

from truemark.records import load_run

LUNCH = "[Bob]: Lunch tomorrow at noon at Luigi's?\n[Alice]: Yes, see you there.\n"
DRY = ("--dry-run", "--extractor", "reader", "--apply", "medium")
GERMAN = (
    "[Bob]: Wollen wir uns morgen um zwölf Uhr zum Mittagessen in der Stadt treffen?\n"
    "[Alice]: Ja, das passt mir gut, ich komme dann mit dem Fahrrad zu dir.\n"
)


def test_an_owner_who_does_not_speak_is_told_with_those_who_do(cal_ai: CommandLine) -> None:
    (cal_ai.folder / "talk.txt").write_text(LUNCH)
    ran = cal_ai("talk.txt", *DRY, "--owner", "Zoe")
    assert ran.said == (
        "owner: Zoe (--owner), who does not speak; Bob and Alice do:"
        " --owner NAME says whose calendar it is\n"
    )
    assert cal_ai("talk.txt", *DRY, "--owner", "alice").said == ""
    (cal_ai.folder / "talk.txt").write_text("[Bob]: Dentist tomorrow at noon.\n")
    assert "who does not speak; only Bob does: --owner" in cal_ai("talk.txt", *DRY).err
    (cal_ai.folder / "talk.txt").write_text(LUNCH)
    cal_ai.set(OWNER_NAME="Dan")
    assert "owner: Dan (OWNER_NAME), who does not speak" in cal_ai("talk.txt", *DRY).err


def test_sidecars_without_owner_or_time_get_a_remark_with_what_was_taken(
    cal_ai: CommandLine,
) -> None:
    write_sample(cal_ai.folder / "samples", "a/x", owner=None, reference_datetime=None)
    write_sample(cal_ai.folder / "samples", "a/y", owner="Zoe")
    ran = cal_ai.benchmark("--extractor", "reader")
    assert "\n1 sidecar without owner: using Alice\n" in ran.err
    assert "\n1 sidecar without reference_datetime: using 2026-02-20 10:00\n" in ran.err
    assert "\nthe owner does not speak in 1 sample: a/y (Zoe)\n" in ran.err


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("benchmrk",), "benchmark"),
        (("lable", "samples"), "label"),
        (("talk.txt", "--dryrun"), "--dry-run"),
        (("benchmark", "--ouput", "x"), "--output"),
    ],
)
def test_a_typo_gets_the_word_that_was_meant(
    cal_ai: CommandLine, arguments: tuple[str, ...], meant: str
) -> None:
    ran = cal_ai(*arguments)
    assert (ran.status, ran.out) == (2, "")
    assert f"; did you mean {meant}?" in "; " + ran.err


def test_standard_input_is_a_file_too(cal_ai: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LUNCH.encode())))
    ran = cal_ai("-", *DRY)
    assert ran.status == 0
    assert ran.out.startswith("create Lunch")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert cal_ai("-", *DRY).err.startswith("error: standard input: nobody speaks in it")


def test_several_files_are_applied_one_after_the_other(cal_ai: CommandLine) -> None:
    (cal_ai.folder / "one.txt").write_text(LUNCH)
    (cal_ai.folder / "two.txt").write_text(LUNCH.replace("Lunch", "Dinner").replace("noon", "7 pm"))
    (cal_ai.folder / "none.txt").write_text("It is quiet here.")
    ran = cal_ai("one.txt", "none.txt", "two.txt", *DRY)
    assert ran.status == 1
    assert ran.out.startswith("one.txt\n\ncreate Lunch")
    assert "\ntwo.txt\n\ncreate Dinner" in ran.out
    assert "error: none.txt: nobody speaks in it" in ran.err
    facts = cal_ai("one.txt", "two.txt", *DRY, "--format", "json").json
    assert [run["file"] for run in facts["runs"]] == ["one.txt", "two.txt"]


def test_quiet_leaves_warnings_and_errors_only(cal_ai: CommandLine) -> None:
    (cal_ai.folder / "talk.txt").write_text(LUNCH)
    assert cal_ai("talk.txt", *DRY, "-q").err == ""
    write_samples(cal_ai.folder / "samples", 2)
    assert cal_ai.benchmark("--extractor", "reader", "-q").err == ""
    assert cal_ai("prompt", "-q").status == 0


def test_a_dry_run_without_a_calendar_needs_no_extra(
    cal_ai: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    (cal_ai.folder / "talk.txt").write_text(LUNCH)
    monkeypatch.setattr("truemark.imports._is_installed", lambda module: False)
    ran = cal_ai("talk.txt", *DRY)
    assert ran.status == 0
    assert ran.out.startswith("create Lunch")
    assert cal_ai("talk.txt", *DRY, "--calendar", "ics:mine.ics").status == 1


def test_samples_without_sidecars_are_told_before_the_first_call_and_end_with_1(
    cal_ai: CommandLine,
) -> None:
    write_sample(cal_ai.folder / "samples", "a/x", expected=None)
    ran = cal_ai.benchmark("--extractor", "reader")
    assert ran.status == 1
    told = (
        "warning: 1 of 1 sample has no sidecar (NAME.expected.json), extracted but not scored:"
        " a/x; to draft sidecars: cal-ai label samples\n"
    )
    assert told in ran.err.partition("[1/1]")[0]
    assert "nothing was scored: samples has no sidecar\n" in ran.err
    write_sample(cal_ai.folder / "samples", "a/y")
    assert "warning: 1 of 2 samples has no" in cal_ai.benchmark("--extractor", "reader").err


def test_only_and_limit_choose_samples(cal_ai: CommandLine) -> None:
    names = write_samples(cal_ai.folder / "samples", 3)
    write_sample(cal_ai.folder / "samples", "other/x")

    def measured(*flags: str) -> list[str]:
        shown = cal_ai.benchmark("--extractor", "reader", "--format", "json", *flags).json
        return [result["sample"] for result in shown["results"]]

    assert measured("--only", "crud/*") == names
    assert measured("--only", "s001") == ["crud/s001"]
    assert measured("--limit", "2") == names[:2]
    ran = cal_ai.benchmark("--extractor", "reader", "--only", "zzz")
    assert ran.err == "error: samples: no sample matches --only 'zzz'; there are crud/*, other/*\n"


def test_another_language_gets_one_note(cal_ai: CommandLine) -> None:
    (cal_ai.folder / "talk.txt").write_text(GERMAN)
    ran = cal_ai("talk.txt", *DRY, "--owner", "Alice")
    note = "talk.txt: seems to be in German; the embedded extractor reads only English\n"
    assert ran.said == note
    (cal_ai.folder / "talk.txt").write_text("# Language: en\n" + GERMAN)
    assert cal_ai("talk.txt", *DRY, "--owner", "Alice").said == ""
    (cal_ai.folder / "talk.txt").write_text("# Language: und\n" + GERMAN)
    assert cal_ai("talk.txt", *DRY, "--owner", "Alice").said == note
    write_sample(cal_ai.folder / "samples", "a/x", text="# Language: Dutch\n" + LUNCH)
    write_sample(cal_ai.folder / "samples", "a/y", text="# Language: English (US)\n" + LUNCH)
    ran = cal_ai.benchmark("--extractor", "reader")
    assert "1 sample apparently not in English" in ran.err
    assert ": a/x (Dutch)\n" in ran.err


def test_a_run_can_be_named(cal_ai: CommandLine) -> None:
    write_samples(cal_ai.folder / "samples", 1)
    shown = cal_ai.benchmark("--extractor", "reader", "--format", "json", "--name", "mine").json
    assert shown["name"] == "mine"
    assert "| name | mine |" in cal_ai.report


def test_a_redacted_record_holds_no_words_of_the_conversation(cal_ai: CommandLine) -> None:
    titled = {"action": "create", "title": "Secret briefing", "start_time": "2026-02-21T12:00:00"}
    write_sample(cal_ai.folder / "samples", "a/x", text=LUNCH, expected=[titled])
    write_sample(cal_ai.folder / "samples", "a/y", text="[Alice]: Hm.\n", expected=[titled])
    told = {}
    for flags in ((), ("--redact",)):
        facts = cal_ai.benchmark("--extractor", "reader", "--format", "json", *flags).json
        told[flags] = (cal_ai.folder / facts["record"]).read_text()
        run = load_run(facts["record"])
        assert [unit.counts.fn for unit in run.units] == [1, 1]
        assert sum(kind.count for kind in run.finding_counts) >= 2
    for words in ("Luigi", "Secret", "noon"):
        assert words in told[()]
        assert words not in told[("--redact",)]


def test_an_unusable_answer_is_kept_as_it_came_and_asked_for_again(
    gemini: CommandLine, llm: LoopbackLLM
) -> None:
    write_samples(gemini.folder / "samples", 1)
    llm.set_script(lambda _: says('{"events": [{"action"', finish="length"))
    ran = gemini.benchmark("--no-summary")
    assert "; it was cut off at the model's limit of output (finish_reason MAX_TOKENS)" in ran.err
    (kept,) = gemini.answers
    assert (kept["raw"], kept["unusable"]) == ('{"events": [{"action"', True)
    llm.set_script(finds_lunch)
    assert gemini.benchmark("--no-summary", "--resume").status == 0
