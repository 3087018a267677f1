"""From scores to events, with scores that are written by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np
import numpy.typing as npt
import pytest
import sentencepiece

from cal_ai.events import ContextEvent, Event
from cal_ai.extractors.protocol import Request
from cal_ai.extractors.reader.decide import (
    Found,
    Levels,
    Reading,
    Thresholds,
    confidence,
    decide,
    likely,
    read_twice,
)
from cal_ai.extractors.reader.marks import (
    CALENDAR,
    CHANGE,
    DAY,
    EVENT,
    OTHER,
    OWNER,
    PAIR,
    WHEN,
    WINDOW,
    Encoded,
    IntArray,
    Marker,
)
from cal_ai.extractors.reader.mentions import Dialogue, read_dialogue
from cal_ai.extractors.reader.network import PIECES, Logits, Network
from cal_ai.extractors.reader.spans import changed_span
from cal_ai.transcripts.reading import parse_transcript

NOW = datetime(2026, 3, 4, 9, 10)  # a Wednesday
SYNC = ContextEvent(1, "Team sync", datetime(2026, 3, 5, 15, 0), datetime(2026, 3, 5, 15, 30))
LIKELY = 4.0
LONGEST_TITLE = 12  # tokens
KEPT, DELETED, MOVED = (LIKELY, 0, 0), (0, LIKELY, 0), (0, 0, LIKELY)


@dataclass
class ByHand(Network):
    """A network that says what is written here: of the pairs, the calendar, then of each look."""

    pairs: float = -LIKELY
    actions: tuple[float, float, float] = KEPT
    new: float = LIKELY
    changed: tuple[float, float, float] = KEPT
    title: tuple[int, int, int] | None = None
    moved_to: str | None = None
    looks: list[IntArray] = field(default_factory=list)
    marker: Marker = field(
        default_factory=lambda: Marker(sentencepiece.SentencePieceProcessor(model_file=str(PIECES)))
    )
    talk: Dialogue | None = None
    encoded: Encoded | None = None
    ann: str = "Ann"  # the name of the owner as a speaker

    def read(self, *lines: str, context: tuple[ContextEvent, ...] = ()) -> Reading:
        spoken = "\n".join(f"[{self.ann if n % 2 else 'Ben'}]: {it}" for n, it in enumerate(lines))
        self.talk = read_dialogue(Request(parse_transcript(spoken), "Ann", NOW, context))
        return read_twice(self, self.talk)

    def encode(self, *lines: str, context: tuple[ContextEvent, ...] = ()) -> Encoded:
        return self.read(*lines, context=context).encoded

    def scores(self, arrays: Mapping[str, IntArray]) -> Logits:
        focus = arrays["focus"]
        rows, length = focus.shape
        words = np.zeros((rows, 3, length), np.float32)
        words[:, :2, 0] = 3  # moved to nothing that is said
        titles = np.zeros((rows, LONGEST_TITLE, length), np.float32)
        verdict = np.tile(np.array([self.new, -1, *self.changed], np.float32), (rows, 1))
        if focus[:, 0].all():
            self.looks.extend(focus)
            self._point(words, titles, arrays)
        pairs = np.full(len(arrays["pairs"]), self.pairs, np.float32)
        actions = np.tile(np.array(self.actions, np.float32), (len(arrays["event_at"]), 1))
        return Logits(pairs, actions, verdict, words, titles)

    def _point(
        self,
        words: npt.NDArray[np.float32],
        titles: npt.NDArray[np.float32],
        arrays: Mapping[str, IntArray],
    ) -> None:
        kinds = {"clock": 3}
        if self.moved_to is not None:
            words[:, 0][arrays["kinds"] == kinds[self.moved_to]] = 9
        if self.title is not None:
            first, last = self.title[1:]
            titles[:, last - first, first] = 18


def decided(reading: Reading) -> list[Found]:
    return likely(decide(reading), Thresholds())


def tokens_of(encoded: Encoded, line: int, start: int, end: int) -> tuple[int, int, int]:
    """The window, first and last token of some characters of a line."""
    own = (encoded.origins[0, :, 0] == line) & (encoded.origins[0, :, 1] >= 0)
    inside = own & (encoded.origins[0, :, 1] < end) & (encoded.origins[0, :, 2] > start)
    places = np.flatnonzero(inside)
    return 0, int(places[0]), int(places[-1])


def test_nothing_likely_is_nothing_found_and_not_looked_at_again() -> None:
    network = ByHand()
    assert decided(network.read("Lunch on Friday at 1 pm?", context=(SYNC,))) == []
    assert network.looks == []


def test_a_likely_pair_is_a_new_event_named_by_the_words_pointed_at() -> None:
    lines = ("A brake check on Friday at 8 am?", "Fine.")
    title = tokens_of(ByHand().encode(*lines), 0, 2, 13)
    [finding] = decided(ByHand(pairs=LIKELY, title=title).read(*lines))
    assert finding.event.title == "Brake check"
    assert finding.event.start_time == datetime(2026, 3, 6, 8, 0)
    assert finding.event.attendees == ("Ben",)


def test_an_owner_who_speaks_under_a_longer_name_is_no_guest() -> None:
    lines = ("A brake check on Friday at 8 am?", "Fine.", "See you at 8 am.")
    title = tokens_of(ByHand().encode(*lines), 0, 2, 13)
    [finding] = decided(ByHand(pairs=LIKELY, title=title, ann="Ann Lee").read(*lines))
    assert finding.event.attendees == ("Ben",)


def test_what_a_second_look_turns_down_is_no_event() -> None:
    assert decided(ByHand(pairs=LIKELY, new=-LIKELY).read("Lunch on Friday at 1 pm?")) == []


def test_a_second_look_marks_its_candidate_and_nothing_else() -> None:
    network = ByHand(pairs=LIKELY, actions=DELETED)
    reading = network.read("Lunch on Friday at 1 pm?", "Fine.", context=(SYNC,))
    by_kind = {int(focus[0]): set(focus[1:].tolist()) for focus in network.looks}
    assert by_kind[CHANGE] == {0, EVENT}
    both = [focus for focus in network.looks if {WHEN, DAY} <= set(focus.tolist())]
    assert [int(focus[0]) for focus in both] == [PAIR]
    assert len(network.looks) == len(reading.proposals)


def test_readings_of_one_start_are_one_event() -> None:
    assert len(decided(ByHand(pairs=LIKELY).read("Lunch on Friday at 1 pm?", "Friday 1 pm."))) == 1


def titled(line: str, **scores: float) -> Found:
    """Find the one event of a line whose words have these scores as titles."""
    reading = ByHand(pairs=LIKELY).read(line)
    assert reading.scores is not None
    for words, score in scores.items():
        at = line.index(words.replace("_", " "))
        _, first, last = tokens_of(reading.encoded, 0, at, at + len(words))
        reading.scores.titles[:, last - first, first] = score
    return max(decide(reading), key=lambda finding: finding.probability)


def test_the_title_is_the_likeliest_one() -> None:
    line = "The brake check, my brake check on Friday at 8 am!"
    assert titled(line, brake_check=19, check=18).event.title == "Brake check"
    assert titled(line, brake_check=18, check=19).event.title == "Check"


def test_a_title_ends_before_a_genitive() -> None:
    assert titled("The sink's leaking on Friday at 8 am!", **{"sink's": 18.0}).event.title == "Sink"


def test_doubts_about_a_title_count_unless_it_is_an_activity() -> None:
    activity = titled("Lunch, you and George, on Friday at 1 pm?", Lunch=18, George=17)
    other = titled("Boats, you and George, on Friday at 1 pm?", Boats=18, George=17)
    sure = titled("Boats, you and George, on Friday at 1 pm?", Boats=18)
    assert other.probability < activity.probability == pytest.approx(sure.probability)


def test_an_event_of_the_calendar_is_deleted_moved_or_kept() -> None:
    lines = ("Sync at 4 pm instead?", "Ok.")
    asked = ByHand(actions=DELETED, changed=DELETED).read(*lines, context=(SYNC,))
    [deleted] = decided(asked)
    assert (deleted.event.action, deleted.event.existing_event_id) == ("delete", 1)
    asked = ByHand(actions=MOVED, changed=MOVED, moved_to="clock").read(*lines, context=(SYNC,))
    [moved] = decided(asked)
    assert (moved.event.action, moved.event.start_time) == ("update", datetime(2026, 3, 5, 16, 0))
    assert decided(ByHand(actions=MOVED, changed=KEPT).read(*lines, context=(SYNC,))) == []


def test_what_was_moved_to_a_time_is_not_created_there_as_well() -> None:
    network = ByHand(pairs=LIKELY, actions=MOVED, changed=MOVED, moved_to="clock")
    found = decided(network.read("Sync on Thursday at 4 pm instead?", "Ok.", context=(SYNC,)))
    starts = [it.event.start_time for it in found]
    assert starts.count(datetime(2026, 3, 5, 16, 0)) == 1


def test_an_event_that_stays_where_it_is_was_not_moved() -> None:
    network = ByHand(actions=MOVED, changed=MOVED, moved_to="clock")
    assert decided(network.read("Sync at 3 pm, then?", "As always.", context=(SYNC,))) == []


@pytest.mark.parametrize(("said", "is_known"), [("review", False), ("sync", True)])
def test_what_begins_with_an_event_of_like_name_is_that_event(said: str, is_known: bool) -> None:
    lines = (f"A {said} on Thursday at 3 pm?", "Fine.")
    title = tokens_of(ByHand().encode(*lines, context=(SYNC,)), 0, 2, 2 + len(said))
    network = ByHand(pairs=LIKELY, title=title)
    starts = [it.event.start_time for it in decided(network.read(*lines, context=(SYNC,)))]
    assert (datetime(2026, 3, 5, 15, 0) not in starts) == is_known


@pytest.mark.parametrize("second", ["Friday at 3 pm", "Friday at 5 pm"])
def test_one_matter_at_two_times_is_one_event(second: str) -> None:
    lines = (f"The review on Thursday at 3 pm, or on {second}?", "Friday.")
    title = tokens_of(ByHand().encode(*lines), 0, 4, 10)
    assert len(decided(ByHand(pairs=LIKELY, title=title).read(*lines))) == 1


def test_confidence_is_the_probability_in_a_word_for_each_action() -> None:
    limits = Thresholds(delete=Levels(0.5, 0.6, 0.8), create=Levels(0.5, 0.8, 0.9))
    told = [
        confidence(Found(Event(action, "Sync"), it, ()), limits)
        for action in ("delete", "create")
        for it in (0.9, 0.8, 0.7, 0.5)
    ]
    assert told == ["high", "high", "medium", "low", "high", "medium", "low", "low"]


def test_lines_of_the_owner_of_others_and_the_calendar_are_marked() -> None:
    encoded = ByHand().encode("Is the sync on?", "Yes.", context=(SYNC,))
    roles = set(encoded.arrays["roles"].ravel().tolist())
    assert {OWNER, OTHER, CALENDAR} <= roles


def test_words_shared_with_an_event_of_the_calendar_carry_its_number() -> None:
    encoded = ByHand().encode("About the sync tomorrow.", context=(SYNC,))
    spoken = encoded.arrays["roles"] == OTHER
    assert 1 in encoded.arrays["shared"][spoken]


def test_long_talk_is_read_in_windows_that_leave_no_line_out() -> None:
    said = "This is a rather long line about nothing in particular, really."
    encoded = ByHand().encode(*[said] * 120)
    windows, length = encoded.arrays["ids"].shape
    assert windows > 1
    assert length <= WINDOW
    assert set(encoded.origins[..., 0].ravel().tolist()) == {-1, *range(120)}


def test_of_the_events_that_are_shown_alone_only_the_likeliest_is_changed() -> None:
    lines = ("Friday is bad for me.", "Never mind, we leave it out.")
    choir, yoga = (replace(SYNC, id=n, summary=it) for n, it in ((2, "Choir"), (3, "Yoga")))
    network = ByHand(actions=DELETED, changed=DELETED)
    surer = ByHand(actions=DELETED, changed=(0, 2 * LIKELY, 0))
    alone = [network.read(*lines, context=(choir,)), surer.read(*lines, context=(yoga,))]
    found = likely(decide(network.read(*lines), *alone), Thresholds())
    assert [it.event.existing_event_id for it in found] == [3]


@pytest.mark.parametrize(
    ("now", "starts", "moved_to"),
    [
        pytest.param(4, 9, 6, id="an earlier day of this week is nearer"),
        pytest.param(4, 12, 13, id="a day of the week of the event is nearer"),
    ],
)
def test_a_weekday_to_which_an_event_is_moved_is_the_one_nearer_to_it(
    now: int, starts: int, moved_to: int
) -> None:
    event = replace(SYNC, start=datetime(2026, 3, starts, 15), end=None)
    request = Request(
        parse_transcript("[Ben]: Friday?"), "Ann", datetime(2026, 3, now, 9), (event,)
    )
    talk = read_dialogue(request)
    assert changed_span(talk, event, None, talk.mentions[0]).start.day == moved_to
