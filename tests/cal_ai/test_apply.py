"""Decisions applied to a real calendar file, and what a second run makes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import NoReturn

import pytest
from tests.cal_ai.calendar_backends import BERLIN, IcsBackend, at

from cal_ai.applying.dry_run import DryRun
from cal_ai.applying.journal import Journal
from cal_ai.applying.outcomes import Outcome, outcomes_text
from cal_ai.applying.pipeline import Conversation, apply_transcript
from cal_ai.calendars.ics import IcsCalendar
from cal_ai.calendars.protocol import Calendar, CalendarError, Details, Entry
from cal_ai.events import Event
from cal_ai.extractors.protocol import Extraction, Request
from cal_ai.transcripts.conversation import Transcript, Utterance
from truemark.errors import TruemarkError

NOW = at(23, 8)
TALK = Transcript((Utterance("Alice", "words", 1),))
LUNCH = Event("create", "Lunch", datetime(2026, 3, 24, 12), confidence="high")
Events = Sequence[Event]


class Scripted:
    """An extractor that answers with events made from the context it is shown."""

    name = "scripted"
    model = None

    def __init__(self, script: Events | Callable[[Request], Events]) -> None:
        self._script = script
        self.requests: list[Request] = []

    async def extract_events(self, request: Request) -> Extraction:
        self.requests.append(request)
        events = self._script(request) if callable(self._script) else self._script
        return Extraction(tuple(events), None, 1, "")

    async def close(self) -> None:
        """Nothing is held open."""


class Meddled(IcsCalendar):
    """A calendar file that others change at the worst moment."""

    before_write: Callable[[], None] = staticmethod(lambda: None)

    def update(self, entry: Entry, details: Details, mark: str) -> Entry:
        self.before_write()
        return super().update(entry, details, mark)

    def delete(self, entry: Entry) -> None:
        self.before_write()
        super().delete(entry)


@pytest.fixture
def file(tmp_path: Path) -> IcsBackend:
    path = tmp_path / "calendar.ics"
    return IcsBackend(path, Meddled(path, BERLIN))


def about(title: str, /, **changes: object) -> Callable[[Request], Events]:
    """An event about every planned one of this title."""

    def script(request: Request) -> Events:
        event = Event("update", title, confidence="high")
        found = [shown for shown in request.context if shown.summary == title]
        return [
            replace(event, existing_event_id=shown.id, **changes)  # type: ignore[arg-type]
            for shown in found
        ]

    return script


def run(
    file: IcsBackend,
    script: Events | Callable[[Request], Events],
    *,
    calendar: Calendar | None = None,
    journal: str = "applied.jsonl",
    dry_run: bool = False,
    again: bool = False,
    transcript: Transcript = TALK,
) -> tuple[Outcome, ...]:
    return apply_transcript(
        Conversation(
            transcript=transcript,
            owner="Alice",
            now=NOW,
            zone=BERLIN,
            extractor=Scripted(script),
            calendar=calendar or file.calendar,
            journal=Journal(file.path.parent / journal),
            dry_run=dry_run,
            again=again,
        )
    )


def results(outcomes: Sequence[Outcome]) -> list[tuple[str, str]]:
    return [(outcome.result, outcome.reason) for outcome in outcomes]


def titles(file: IcsBackend) -> list[str]:
    return [entry.details.title for entry in file.calendar.coming(NOW, at(31, 0)).entries]


def test_the_context_has_the_coming_days_under_small_numbers_in_local_time(
    file: IcsBackend,
) -> None:
    file.seed("past", "Past", at(22, 9), at(22, 10))
    file.seed("series", "Standup", at(2, 9), at(2, 9, 15), "FREQ=WEEKLY;BYDAY=MO,FR")
    file.seed("dentist", "Dentist", at(24, 9), at(24, 10))
    extractor = Scripted([])
    journal = Journal(file.path.parent / "applied.jsonl")
    apply_transcript(Conversation(TALK, "Alice", NOW, BERLIN, extractor, file.calendar, journal))
    shown = [(event.id, event.summary, event.start) for event in extractor.requests[0].context]
    assert shown == [
        (1, "Standup", datetime(2026, 3, 23, 9)),
        (2, "Dentist", datetime(2026, 3, 24, 9)),
        (3, "Standup", datetime(2026, 3, 27, 9)),
        (4, "Standup", datetime(2026, 3, 30, 9)),
        (5, "Standup", datetime(2026, 4, 3, 9)),
    ]


def test_changes_of_all_kinds_are_applied_and_reported(file: IcsBackend) -> None:
    file.seed("review", "Review", at(25, 10), at(25, 11))
    file.seed("dentist", "Dentist", at(26, 9), at(26, 10))

    def script(_: Request) -> Events:
        later = datetime(2026, 3, 25, 15)
        return [
            LUNCH,
            Event("update", "Review", later, confidence="high", existing_event_id=1),
            Event("delete", "Dentist", confidence="high", existing_event_id=2),
            replace(LUNCH, title="Maybe", confidence="low"),
        ]

    outcomes = run(file, script)
    assert results(outcomes) == [
        ("created", ""),
        ("updated", ""),
        ("deleted", ""),
        ("held back", "confidence is low, and a create needs medium or high"),
    ]
    assert outcomes[1].before == "Wed 2026-03-25 10:00 - 11:00"
    assert outcomes[1].start_time == "2026-03-25T15:00:00+01:00"
    assert outcomes[2].start_time == "2026-03-26T09:00:00+01:00"
    assert titles(file) == ["Lunch", "Review"]


def test_a_second_run_changes_nothing_whatever_the_model_says_then(file: IcsBackend) -> None:
    first = run(file, [LUNCH])
    before = file.path.read_bytes()
    second = run(file, [replace(LUNCH, title="A quick lunch"), Event("delete", "Lunch")])
    assert [outcome.title for outcome in second] == ["Lunch"]
    assert results(second)[0][0] == "unchanged"
    assert second[0] == replace(first[0], result="unchanged", reason=second[0].reason)
    assert file.path.read_bytes() == before


def test_a_second_run_asks_no_model(file: IcsBackend) -> None:
    run(file, [LUNCH])
    extractor = Scripted([LUNCH])
    journal = Journal(file.path.parent / "applied.jsonl")
    apply_transcript(Conversation(TALK, "Alice", NOW, BERLIN, extractor, file.calendar, journal))
    assert extractor.requests == []


def test_a_second_run_on_another_machine_finds_the_ids_in_the_calendar(file: IcsBackend) -> None:
    file.seed("review", "Review", at(25, 10), at(25, 11))
    hour_later = about("Review", start_time=datetime(2026, 3, 25, 11))
    two_later = about("Review", start_time=datetime(2026, 3, 25, 12))
    run(file, lambda request: [LUNCH, *hour_later(request)])
    before = file.path.read_bytes()
    # The same words are read anew: an hour later than what stands there, a lunch a day later.
    tomorrow = replace(LUNCH, start_time=datetime(2026, 3, 25, 12))
    second = run(file, lambda request: [tomorrow, *two_later(request)], journal="elsewhere.jsonl")
    assert results(second) == [("unchanged", "applied by an earlier run")] * 2
    assert file.path.read_bytes() == before


def test_what_the_owner_removed_meanwhile_stays_removed_until_asked_for_again(
    file: IcsBackend,
) -> None:
    run(file, [LUNCH])
    file.calendar.delete(file.calendar.coming(NOW, at(31, 0)).entries[0])
    assert results(run(file, [LUNCH]))[0][0] == "unchanged"
    assert titles(file) == []
    assert results(run(file, [LUNCH], again=True)) == [("created", "")]
    assert titles(file) == ["Lunch"]
    assert results(run(file, [replace(LUNCH, title="lunch")], again=True)) == [
        ("unchanged", "it is in the calendar already")
    ]


def test_another_transcript_is_another_matter(file: IcsBackend) -> None:
    run(file, [LUNCH])
    other = Transcript((Utterance("Alice", "other words", 1),))
    dinner = replace(LUNCH, start_time=datetime(2026, 3, 24, 19))
    assert results(run(file, [dinner], transcript=other)) == [("created", "")]
    assert titles(file) == ["Lunch", "Lunch"]


def test_a_new_calendar_at_the_same_place_gets_everything(file: IcsBackend) -> None:
    run(file, [LUNCH])
    file.path.unlink()
    assert results(run(file, [LUNCH])) == [("created", "")]


def test_a_removal_is_not_made_up_for_with_the_next_occurrence(file: IcsBackend) -> None:
    file.seed("series", "Standup", at(2, 9), at(2, 9, 15), "FREQ=WEEKLY;BYDAY=MO,FR")

    def first_standup(request: Request) -> Events:
        unsure = Event("create", "Unreachable", datetime(2026, 3, 24, 9), confidence="high")
        found = next(shown for shown in request.context if shown.summary == "Standup")
        gone = Event("delete", "Standup", confidence="high", existing_event_id=found.id)
        return [gone, unsure]

    class Failing(IcsCalendar):
        def create(self, uid: str, details: Details, mark: str) -> Entry:
            raise CalendarError("the server does not answer")

    failing = Failing(file.path, BERLIN)
    assert results(run(file, first_standup, calendar=failing)) == [
        ("deleted", ""),
        ("failed", "the server does not answer"),
    ]
    second = run(file, first_standup)
    assert [outcome.result for outcome in second] == ["unchanged", "created"]
    assert titles(file) == ["Unreachable", "Standup", "Standup"]


def test_an_update_of_a_vanished_event_creates_it_and_a_delete_is_skipped(
    file: IcsBackend,
) -> None:
    file.seed("review", "Review", at(25, 10), at(25, 11))
    file.seed("dentist", "Dentist", at(26, 9), at(26, 10))

    def script(_: Request) -> Events:
        file.remove("review")
        file.remove("dentist")
        return [
            Event("update", "Review", location="Room 9", confidence="high", existing_event_id=1),
            Event("delete", "Dentist", confidence="high", existing_event_id=2),
        ]

    gone = "the event is gone from the calendar"
    assert results(run(file, script)) == [
        ("created", f"{gone}, so it is entered as a new one"),
        ("skipped", f"{gone}, so there is nothing to delete"),
    ]
    (review,) = file.calendar.coming(NOW, at(31, 0)).entries
    assert review.details == Details("Review", at(25, 10), at(25, 11), location="Room 9")


def test_an_event_that_vanishes_at_the_last_moment_is_treated_alike(file: IcsBackend) -> None:
    file.seed("review", "Review", at(25, 10), at(25, 11))
    assert isinstance(file.calendar, Meddled)
    file.calendar.before_write = lambda: file.remove("review")
    outcomes = run(file, about("Review", location="Room 9"))
    assert [outcome.result for outcome in outcomes] == ["created"]
    assert titles(file) == ["Review"]


def test_numbers_that_were_never_shown_create_or_skip(file: IcsBackend) -> None:
    later = datetime(2026, 3, 25, 15)
    events = [
        Event("update", "Review", later, confidence="high", existing_event_id=7),
        Event("delete", "Dentist", confidence="high", existing_event_id=8),
        Event("update", "Someday", confidence="high"),
    ]
    fits = "no event in the calendar fits"
    assert results(run(file, events)) == [
        ("created", f"{fits}, so it is entered as a new one"),
        ("skipped", f"{fits}, so there is nothing to delete"),
        ("held back", "no start time was found"),
    ]


@pytest.mark.parametrize("when", ["while-extracting", "at-the-last-moment"])
def test_what_someone_else_changed_meanwhile_fails_and_the_rest_goes_on(
    file: IcsBackend, when: str
) -> None:
    file.seed("review", "Review", at(25, 10), at(25, 11))

    def meddle() -> None:
        file.rename("review", "Final review")

    def script(request: Request) -> Events:
        events = about("Review", location="Room 9")(request)
        if when == "while-extracting":
            meddle()
        return [*events, LUNCH]

    assert isinstance(file.calendar, Meddled)
    if when == "at-the-last-moment":
        file.calendar.before_write = meddle
    outcomes = run(file, script)
    assert [outcome.result for outcome in outcomes] == ["failed", "created"]
    assert "was changed by someone else meanwhile" in outcomes[0].reason
    assert titles(file) == ["Lunch", "Final review"]


def test_what_holds_already_is_left_alone(file: IcsBackend) -> None:
    file.seed("review", "Review", at(25, 10), at(25, 11))
    before = file.path.read_bytes()
    same = about("Review", title="review", start_time=datetime(2026, 3, 25, 10))
    twice = Event("create", "Review", datetime(2026, 3, 25, 10), confidence="high")
    assert results(run(file, lambda request: [*same(request), twice])) == [
        ("unchanged", "the calendar says so already"),
        ("unchanged", "it is in the calendar already"),
    ]
    assert file.path.read_bytes() == before


def test_two_changes_of_one_event_and_of_one_series_are_both_made(file: IcsBackend) -> None:
    file.seed("review", "Review", at(25, 10), at(25, 11))
    file.seed("series", "Standup", at(2, 9), at(2, 9, 15), "FREQ=WEEKLY;BYDAY=MO,FR")

    def script(request: Request) -> Events:
        standups = about("Standup", action="delete")(request)[:2]
        room = about("Review", location="Room 9")(request)
        later = about("Review", start_time=datetime(2026, 3, 25, 15))(request)
        return [*standups, *room, *later]

    assert [outcome.result for outcome in run(file, script)] == [
        "deleted",
        "deleted",
        "updated",
        "updated",
    ]
    assert titles(file) == ["Review", "Standup"]


def test_a_dry_run_reports_the_same_and_writes_nothing(file: IcsBackend) -> None:
    file.seed("review", "Review", at(25, 10), at(25, 11))
    before = {path.name: path.read_bytes() for path in file.path.parent.iterdir()}

    def script(request: Request) -> Events:
        later = about("Review", start_time=datetime(2026, 3, 25, 15))(request)
        return [LUNCH, LUNCH, *later, *about("Review", action="delete")(request)]

    dry = run(file, script, calendar=DryRun(file.calendar), dry_run=True)
    after = {path.name: path.read_bytes() for path in file.path.parent.iterdir()}
    assert after == before
    assert dry == run(file, script)
    assert [outcome.result for outcome in dry] == ["created", "unchanged", "updated", "deleted"]


def test_equal_titles_get_ids_of_their_own(file: IcsBackend) -> None:
    wednesday = replace(LUNCH, start_time=datetime(2026, 3, 25, 12))
    first = run(file, [LUNCH, wednesday])
    assert [outcome.result for outcome in first] == ["created", "created"]
    assert len({outcome.event_id for outcome in first}) == 2
    assert all(set(str(o.event_id)) <= set("0123456789abcdefghijklmnopqrstuv") for o in first)


def test_no_change_is_made_that_the_journal_cannot_record(file: IcsBackend) -> None:
    (file.path.parent / "applied.jsonl.lock").mkdir()
    with pytest.raises(TruemarkError, match=r"applied.jsonl: cannot be written"):
        run(file, [LUNCH])
    assert titles(file) == []


def test_a_change_stands_if_the_journal_fails_after_it(
    file: IcsBackend, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> NoReturn:
        raise TruemarkError("no space left")

    monkeypatch.setattr(Journal, "add", fail)
    assert results(run(file, [LUNCH])) == [("created", "")]
    assert "warning: changes were made but not recorded: no space left" in capsys.readouterr().err
    assert titles(file) == ["Lunch"]


def test_what_is_in_a_copy_of_the_calendar_decides_whether_it_was_applied(file: IcsBackend) -> None:
    file.seed("review", "Review", at(25, 10), at(25, 11))
    other = Transcript((Utterance("Alice", "other words", 1),))
    run(file, [replace(LUNCH, title="Dinner")], transcript=other)  # gives the calendar its id
    copy = file.path.with_name("copy.ics")
    copy.write_bytes(file.path.read_bytes())
    moved = about("Review", start_time=datetime(2026, 3, 25, 15))

    def script(request: Request) -> Events:
        return [LUNCH, *moved(request)]

    first = run(file, script)
    assert [outcome.result for outcome in first] == ["created", "updated"]
    in_copy = IcsCalendar(copy, BERLIN)
    assert [o.result for o in run(file, script, calendar=in_copy)] == ["created", "updated"]
    assert {o.calendar for o in run(file, script)} == {f"ics:{file.path}"}
    later_copy = file.path.with_name("later.ics")
    later_copy.write_bytes(file.path.read_bytes())
    extracted = run(file, script, calendar=IcsCalendar(later_copy, BERLIN))
    assert [outcome.result for outcome in extracted] == ["unchanged", "unchanged"]


def test_an_event_on_top_of_another_says_so(file: IcsBackend) -> None:
    file.seed("review", "Review", at(24, 11, 30), at(24, 12, 30))
    file.seed("before", "Standup", at(24, 11), at(24, 12))
    soon, moved = run(
        file,
        lambda request: [
            LUNCH,
            *about("Standup", start_time=datetime(2026, 3, 24, 12, 15))(request),
        ],
    )
    assert soon.overlaps == ("Review 11:30",)
    assert moved.overlaps == ("Review 11:30", "Lunch 12:00")
    assert "  overlaps    Review 11:30\n" in outcomes_text([soon], dry_run=False, command="")


def test_an_overlap_beyond_the_days_that_the_extractor_sees_is_told_too(file: IcsBackend) -> None:
    file.seed(
        "far",
        "Offsite",
        datetime(2026, 5, 4, 9, tzinfo=BERLIN),
        datetime(2026, 5, 5, 17, tzinfo=BERLIN),
    )
    far = replace(LUNCH, start_time=datetime(2026, 5, 5, 12), end_time=datetime(2026, 5, 5, 13))
    (outcome,) = run(file, [far])
    assert outcome.overlaps == ("Offsite Mon 2026-05-04 09:00",)
