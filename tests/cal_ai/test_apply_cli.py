"""`run` as a user calls it, on all three calendars."""

from __future__ import annotations

import json
import re
import shlex
import sys
from dataclasses import fields, replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from testing.answers import store_answer
from testing.loopback import LoopbackLLM, answer
from tests.cal_ai.calendar_servers import PASSWORD, USER, GoogleServer, Radicale
from tests.cal_ai.sample_folders import GOT_LUNCH, CommandLine, Printed

from cal_ai.applying.outcomes import Outcome, outcome_facts, outcomes_text
from cal_ai.defaults import EMBEDDED
from cal_ai.extractors.choosing import is_embedded
from cal_ai.extractors.replay import Recorded, ReplayExtractor
from truemark.imports import install_command
from truemark.jsontext import to_json

NOON = datetime.now().replace(hour=12, minute=0, second=0, microsecond=0) + timedelta(days=2)
LUNCH = {
    **GOT_LUNCH,
    "start_time": NOON.isoformat(),
    "end_time": (NOON + timedelta(hours=1)).isoformat(),
    "location": "Luigi's",
    "attendees": ["Bob"],
}
DINNER = {**LUNCH, "title": "Dinner", "start_time": (NOON + timedelta(hours=7)).isoformat()}
DINNER["end_time"] = (NOON + timedelta(hours=9)).isoformat()
GEMINI = "extractor: gemini (GEMINI_API_KEY is set), model: gemini-2.5-pro (default)"
COMMAND = "python -m cal_ai talk.txt"
SECRETS = (PASSWORD, "access-1", "refresh-secret-77", "client-secret-55")


@pytest.fixture
def talk(gemini: CommandLine, llm: LoopbackLLM) -> CommandLine:
    """The command line with a transcript in which a lunch is agreed on."""
    (gemini.folder / "talk.txt").write_text("[Bob]: Lunch?\n[Alice]: Yes.\n")
    gemini.set(TIMEZONE="Europe/Berlin", OWNER_NAME="Alice")
    llm.set_script([answer(events=[LUNCH])])
    return gemini


@pytest.fixture(params=["ics", "caldav", "google"])
def where(
    request: pytest.FixtureRequest, talk: CommandLine, radicale: Radicale, google: GoogleServer
) -> str:
    """The value of `--calendar` for a calendar that is ready to be used."""
    if request.param == "ics":
        return "ics:own/calendar.ics"
    if request.param == "caldav":
        talk.set(CALDAV_USERNAME=USER, CALDAV_PASSWORD=PASSWORD)
        return f"caldav:{radicale.new_calendar(request.node.originalname)}"
    sign_in(talk, google)
    return "google"


def sign_in(talk: CommandLine, google: GoogleServer) -> None:
    token = talk.folder / "home" / "truemark" / "google-token.json"
    token.parent.mkdir(parents=True)
    token.write_text(json.dumps(google.token()))
    talk.set(GOOGLE_CALENDAR_ENDPOINT=google.url)


def run(talk: CommandLine, *arguments: str) -> Printed:
    ran = talk("talk.txt", *arguments)
    for secret in SECRETS:
        assert secret not in ran.out + ran.err
    return ran


def files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_transcript_is_applied_once(talk: CommandLine, llm: LoopbackLLM, where: str) -> None:
    first = run(talk, "--calendar", where)
    assert (first.status, first.said) == (0, "")
    assert first.out.startswith("create Lunch\n  time        ")
    assert first.out.endswith("  result      created\n\n1 decision: 1 created\n")
    second = run(talk, "--calendar", where)
    assert second.status == 0
    assert second.err.endswith("so nothing is changed; --again applies it again\n")
    assert second.out.endswith("\n1 decision: 1 unchanged; nothing was changed\n")
    assert len(llm.calls) == 1
    third = run(talk, "--calendar", where, "--again", "--format", "json")
    assert third.json["counts"]["unchanged"] == 1
    # The event is now a line of the context, under a small number and in local time.
    line = f"[1] Lunch | {NOON:%Y-%m-%dT%H:%M} - {NOON:%Y-%m-%d}T13:00 | Luigi's"
    assert line in llm.calls[-1].prompt


def test_a_dry_run_shows_the_same_and_touches_nothing(
    talk: CommandLine, google: GoogleServer, where: str
) -> None:
    before = files(talk.folder)
    dry = run(talk, "--calendar", where, "--dry-run")
    assert dry.status == 0
    assert files(talk.folder) == before
    assert set(google.methods) <= {"GET"}
    assert dry.out.endswith("\n1 decision: 1 would be created; nothing was changed\n")
    wet = run(talk, "--calendar", where)
    shown = dry.out.replace("would be created; nothing was changed", "created")
    assert shown.replace("would be created", "created") == wet.out


def test_the_default_calendar_is_a_file_in_the_data_folder(talk: CommandLine) -> None:
    path = talk.folder / "home" / "truemark" / "calendar.ics"
    ran = run(talk, "--format", "json")
    assert ran.json["calendar"] == f"ics:{path}"
    text = path.read_bytes().decode()
    assert "SUMMARY:Lunch\r\n" in text
    assert f"DTSTART;TZID=Europe/Berlin:{NOON:%Y%m%dT%H%M%S}\r\n" in text


def test_the_machines_zone_counts_where_none_is_set(talk: CommandLine) -> None:
    talk.set(TIMEZONE="", TZ="Asia/Tokyo")
    run(talk, "--calendar", "ics:c.ics")
    text = (talk.folder / "c.ics").read_text()
    assert f"DTSTART;TZID=Asia/Tokyo:{NOON:%Y%m%dT%H%M%S}\n" in text


def test_the_password_may_stand_in_a_dotenv_file(talk: CommandLine, radicale: Radicale) -> None:
    url = radicale.new_calendar("dotenv")
    (talk.folder / ".env").write_text(f"CALDAV_USERNAME={USER}\nCALDAV_PASSWORD={PASSWORD}\n")
    assert run(talk, "--calendar", f"caldav:{url}").status == 0


def test_a_change_that_fails_does_not_stop_the_others(
    talk: CommandLine, llm: LoopbackLLM, google: GoogleServer
) -> None:
    sign_in(talk, google)
    llm.set_script([answer(events=[LUNCH, DINNER])])

    google.refused.add("Lunch")
    ran = run(talk, "--calendar", "google")
    assert (ran.status, ran.said) == (1, "")
    assert "  result      failed: google: the server answered 400: " in ran.out
    assert ran.out.endswith("\n2 decisions: 1 created, 1 failed\n")
    google.refused.clear()
    again = run(talk, "--calendar", "google", "--format", "json")
    assert again.status == 0
    assert [d["result"] for d in again.json["decisions"]] == ["created", "unchanged"]
    assert sorted(event["summary"] for event in google.events.values()) == ["Dinner", "Lunch"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param(("--calendar", "outlook"), "'outlook' is not one of ics:PATH", id="unknown"),
        pytest.param(("--calendar", "ics:"), "'ics:' is not one of ics:PATH", id="no-path"),
        pytest.param(("--calendar", ""), "'' is not one of ics:PATH", id="empty"),
        pytest.param(
            ("--calendar", "caldav"), "caldav: is followed by no address", id="caldav-alone"
        ),
        pytest.param(
            ("--calendar", "caldav:ftp://u:hunter2@x"),
            "caldav: is followed by no address",
            id="scheme",
        ),
        pytest.param(("--calendar", "google:"), "'google:' is not one of", id="google-of-nobody"),
        pytest.param(("--format", "yaml"), "argument --format: invalid choice", id="format"),
    ],
)
def test_a_calendar_that_cannot_be_meant_is_wrong_usage(
    talk: CommandLine, arguments: tuple[str, ...], expected: str
) -> None:
    ran = run(talk, *arguments)
    assert (ran.status, ran.out) == (2, "")
    assert expected in ran.err
    assert "hunter2" not in ran.err
    assert len(ran.err.splitlines()) == 1


def test_a_calendar_that_cannot_be_used_costs_no_call(
    talk: CommandLine, llm: LoopbackLLM, radicale: Radicale, google: GoogleServer
) -> None:
    (talk.folder / "page.ics").write_text("<html>")
    url = radicale.new_calendar("wrong-password")
    talk.set(CALDAV_USERNAME=USER, CALDAV_PASSWORD="hunter2", GOOGLE_CALENDAR_ENDPOINT=google.url)
    for where, message in (
        ("ics:page.ics", "page.ics:1: is not iCalendar: found '<html>'"),
        (f"caldav:{url}", f"caldav:{url}: the server refuses access; check CALDAV_USERNAME"),
        ("google", "credentials.json: no such file; make an OAuth client"),
    ):
        ran = run(talk, "--calendar", where)
        assert (ran.status, ran.out) == (1, "")
        *_, line = ran.err.splitlines()
        assert line.startswith("error: ")
        assert message in line
        assert ran.err in (f"{line}\n", f"{GEMINI}\n{line}\n")
        assert "hunter2" not in ran.err
    assert llm.calls == ()
    assert (talk.folder / "page.ics").read_text() == "<html>"


@pytest.mark.parametrize(
    ("where", "module", "extra"),
    [
        ("ics:calendar.ics", "icalendar", "calendar"),
        ("caldav:http://127.0.0.1/", "caldav", "caldav"),
        ("google", "googleapiclient", "google"),
    ],
)
def test_an_extra_that_is_not_installed_is_one_clear_line(
    talk: CommandLine, monkeypatch: pytest.MonkeyPatch, where: str, module: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    ran = run(talk, "--calendar", where)
    kind = where.partition(":")[0]
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == (
        f"error: --calendar {kind} needs {module}, which is not installed:"
        f" {install_command(extra)}\n"
    )


def test_lines_before_the_first_speaker_are_reported(talk: CommandLine) -> None:
    (talk.folder / "talk.txt").write_text("Minutes\n\nof today\n[Bob]: Lunch?\n[Alice]: Yes.\n")
    ran = run(talk, "--dry-run")
    assert ran.said == (
        "talk.txt:1: skipped, because nobody has spoken yet\n"
        "talk.txt:3: skipped, because nobody has spoken yet\n"
    )


def test_verbose_tells_what_the_extractor_is_shown(talk: CommandLine) -> None:
    run(talk)
    (talk.folder / "talk.txt").write_text("[Bob]: Dinner?\n[Alice]: No.\n")
    ran = run(talk, "-v", "--dry-run")
    assert "[1] Lunch | " in ran.err


OUTCOMES = (
    Outcome(
        action="update",
        title="Design review",
        start_time="2026-03-25T15:00:00+01:00",
        end_time="2026-03-25T15:45:00+01:00",
        all_day=False,
        before="Wed 2026-03-25 10:00 - 10:45",
        location="Room 9",
        attendees=("Bob", "Carol"),
        calendar="ics:calendar.ics",
        confidence="high",
        reasoning="Bob asks for three o'clock and Alice agrees.",
        assumptions=("no end was said: it keeps its length of 45 min",),
        existing_event_id=2,
        event_id="review",
        result="updated",
        reason="",
    ),
    Outcome(
        action="create",
        title="Trip",
        start_time="2026-03-28T00:00:00+01:00",
        end_time="2026-03-31T00:00:00+02:00",
        all_day=True,
        before=None,
        location=None,
        attendees=(),
        calendar="ics:calendar.ics",
        confidence="low",
        reasoning="",
        assumptions=(),
        existing_event_id=None,
        event_id=None,
        result="held back",
        reason="confidence is low, and a create needs medium or high",
        apply="low",
    ),
    Outcome(
        action="delete",
        title="Dentist",
        start_time=None,
        end_time=None,
        all_day=False,
        before=None,
        location=None,
        attendees=(),
        calendar="ics:calendar.ics",
        confidence="high",
        reasoning="Alice calls it off.",
        assumptions=(),
        existing_event_id=None,
        event_id=None,
        result="skipped",
        reason="no event in the calendar fits, so there is nothing to delete",
    ),
)
TEXT = """\
update Design review
  time        Wed 2026-03-25 15:00 - 15:45
  before      Wed 2026-03-25 10:00 - 10:45
  place       Room 9
  with        Bob, Carol
  calendar    ics:calendar.ics
  confidence  high
  reasoning   Bob asks for three o'clock and Alice agrees.
  assumption  no end was said: it keeps its length of 45 min
  result      updated

create Trip
  time        Sat 2026-03-28 - Mon 2026-03-30, all day
  calendar    ics:calendar.ics
  confidence  low
  reasoning   none given
  result      held back: confidence is low, and a create needs medium or high
  to apply    python -m cal_ai talk.txt --apply low

delete Dentist
  time        unknown
  calendar    ics:calendar.ics
  confidence  high
  reasoning   Alice calls it off.
  result      skipped: no event in the calendar fits, so there is nothing to delete

3 decisions: 1 updated, 1 skipped, 1 held back
"""


def test_each_decision_is_shown_whole_and_then_counted() -> None:
    assert outcomes_text(OUTCOMES, dry_run=False, command=COMMAND) == TEXT
    dry = TEXT.replace("      updated", "      would be updated").splitlines()
    count = "3 decisions: 1 would be updated, 1 skipped, 1 held back; nothing was changed"
    assert outcomes_text(OUTCOMES, dry_run=True, command=COMMAND).splitlines() == [*dry[:-1], count]
    assert outcomes_text((), dry_run=False, command=COMMAND) == "0 decisions; nothing was changed\n"


def test_text_from_elsewhere_cannot_command_the_terminal_or_break_a_line() -> None:
    evil = "Party\x1b[2J\r\n  result      created"
    outcome = replace(OUTCOMES[2], title=evil, reasoning=evil, location=evil, attendees=(evil,))
    shown = outcomes_text([outcome], dry_run=False, command=COMMAND)
    assert shown.replace("\n", "").isprintable()
    assert len(shown.splitlines()) == 10


def test_the_keys_for_scripts_stay_the_same() -> None:
    facts = outcome_facts(OUTCOMES, {"owner": "Alice", "dry_run": False})
    shown = json.loads(to_json(facts))
    assert list(shown) == ["owner", "dry_run", "counts", "decisions"]
    assert shown["counts"] == {
        "created": 0,
        "updated": 1,
        "deleted": 0,
        "unchanged": 0,
        "skipped": 1,
        "held_back": 1,
        "failed": 0,
    }
    assert shown["decisions"][0] == {
        "action": "update",
        "title": "Design review",
        "start_time": "2026-03-25T15:00:00+01:00",
        "end_time": "2026-03-25T15:45:00+01:00",
        "all_day": False,
        "before": "Wed 2026-03-25 10:00 - 10:45",
        "location": "Room 9",
        "attendees": ["Bob", "Carol"],
        "calendar": "ics:calendar.ics",
        "confidence": "high",
        "reasoning": "Bob asks for three o'clock and Alice agrees.",
        "assumptions": ["no end was said: it keeps its length of 45 min"],
        "existing_event_id": 2,
        "event_id": "review",
        "result": "updated",
        "reason": "",
        "apply": None,
        "overlaps": [],
    }


def test_the_guide_tells_every_key_for_scripts() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "calendars.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.+?`) \|", guide.partition("## For scripts")[2], re.MULTILINE)
    keys = [key for row in rows for key in re.findall(r"`(\w+)`", row)]
    assert keys == [field.name for field in fields(Outcome)]
    heading = {"file", "owner", "calendar", "extractor", "model", "dry_run", "apply"}
    heading |= {"counts", "decisions"}
    assert heading <= set(re.findall(r"`(\w+)`", guide.partition("## For scripts")[2]))


SUPPER = {**LUNCH, "title": "Supper", "confidence": "medium"}
MOVE = {**LUNCH, "action": "update", "existing_event_id": None, "confidence": "medium"}
FLAGS = ("--calendar", "ics:c.ics")


def held(ran: Printed) -> list[tuple[str, str, str | None]]:
    return [(it["title"], it["result"], it["apply"]) for it in ran.json["decisions"]]


def test_what_is_held_back_is_shown_with_the_line_that_applies_it(
    talk: CommandLine, llm: LoopbackLLM
) -> None:
    llm.set_script([answer(events=[LUNCH, {**DINNER, "confidence": "low"}, MOVE])] * 3)
    ran = run(talk, *FLAGS)
    called = shlex.join([sys.orig_argv[0], "-m", "cal_ai"])
    line = f"  to apply    {called} talk.txt --calendar ics:c.ics --apply low\n"
    assert ran.out.count("to apply") == 1
    assert line in ran.out.partition("create Dinner")[2]
    again = talk(*line.removeprefix(f"  to apply    {called}").split())
    assert again.out.count("result      created") == 1
    assert again.out.endswith("3 decisions: 1 created, 1 unchanged, 1 held back\n")
    assert (talk.folder / "c.ics").read_text().count("SUMMARY:") == 2


@pytest.mark.parametrize(
    ("path", "shown"),
    [("bin", "cal-ai talk.txt"), ("elsewhere", "bin/cal-ai talk.txt")],
    ids=["found by its name", "not found by its name"],
)
def test_the_line_that_applies_a_change_runs_where_it_was_printed(
    talk: CommandLine,
    llm: LoopbackLLM,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    shown: str,
) -> None:
    llm.set_script([answer(events=[{**DINNER, "confidence": "low"}])])
    script = talk.folder / "bin" / "cal-ai"
    script.parent.mkdir()
    script.touch(mode=0o755)
    monkeypatch.setattr(sys, "argv", ["bin/cal-ai"])
    monkeypatch.setenv("PATH", path)
    assert f"  to apply    {shown} --calendar" in run(talk, *FLAGS).out


def test_apply_says_from_which_confidence_on_new_events_are_entered(
    talk: CommandLine, llm: LoopbackLLM
) -> None:
    llm.set_script([answer(events=[LUNCH, SUPPER, {**DINNER, "confidence": "low"}])] * 4)
    found = {
        level: held(run(talk, *FLAGS, *flags, "--dry-run", "--format", "json"))
        for level, flags in {
            "default": (),
            "high": ("--apply", "high"),
            "medium": ("--apply", "medium"),
            "low": ("--apply", "low"),
        }.items()
    }
    lunch, supper, dinner = ((title, "created", None) for title in ("Lunch", "Supper", "Dinner"))
    no_supper, no_dinner = ("Supper", "held back", "medium"), ("Dinner", "held back", "low")
    assert found == {
        "default": [lunch, supper, no_dinner],
        "high": [lunch, no_supper, no_dinner],
        "medium": [lunch, supper, no_dinner],
        "low": [lunch, supper, dinner],
    }


def test_a_conversation_applied_at_one_level_is_done_at_that_level_and_above(
    talk: CommandLine, llm: LoopbackLLM
) -> None:
    llm.set_script([answer(events=[LUNCH, SUPPER])] * 2)
    run(talk, *FLAGS, "--apply", "high")
    assert "applied to" in run(talk, *FLAGS, "--apply", "high").err
    assert len(llm.calls) == 1
    run(talk, *FLAGS)
    assert len(llm.calls) == 2
    for level in ("medium", "high"):
        assert "applied to" in run(talk, *FLAGS, "--apply", level).err
    assert len(llm.calls) == 2


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ((), "medium"),
        (("--extractor", EMBEDDED), "high"),
        (("--extractor", EMBEDDED, "--apply", "low"), "low"),
    ],
)
def test_by_default_the_embedded_extractor_has_to_be_surer_than_a_language_model(
    talk: CommandLine, flags: tuple[str, ...], expected: str
) -> None:
    assert run(talk, *FLAGS, *flags, "--dry-run", "--format", "json").json["apply"] == expected


@pytest.mark.parametrize(("maker", "expected"), [(EMBEDDED, True), ("gemini", False)])
def test_a_replayed_answer_is_its_makers(tmp_path: Path, maker: str, expected: bool) -> None:
    stored = Recorded("x", "a-b", maker, None, '{"events": []}', None, 0.1, 1)
    store_answer(tmp_path / "stored.jsonl", stored)
    assert is_embedded(ReplayExtractor(tmp_path / "stored.jsonl")) == expected
