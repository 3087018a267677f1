"""From scores to events, with scores that are written by hand."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import sentencepiece

from cal_ai.events import ContextEvent
from cal_ai.extractors.protocol import Request
from cal_ai.extractors.reader.candidates import Candidates, find_candidates
from cal_ai.extractors.reader.decide import Found, Thresholds, confidence, decide
from cal_ai.extractors.reader.marks import CALENDAR, OTHER, OWNER, WINDOW, Encoded, Marker
from cal_ai.extractors.reader.mentions import Dialogue, read_dialogue
from cal_ai.extractors.reader.network import PIECES, Logits
from cal_ai.transcript import parse_transcript

NOW = datetime(2026, 3, 4, 9, 10)  # a Wednesday
SYNC = ContextEvent(1, "Team sync", datetime(2026, 3, 5, 15, 0), datetime(2026, 3, 5, 15, 30))
MARKER = Marker(sentencepiece.SentencePieceProcessor(model_file=str(PIECES)))
LIKELY = 4.0


def read(
    *lines: str, context: tuple[ContextEvent, ...] = ()
) -> tuple[Dialogue, Candidates, Encoded]:
    spoken = "\n".join(f"[{'Ann' if n % 2 else 'Ben'}]: {line}" for n, line in enumerate(lines))
    talk = read_dialogue(Request(parse_transcript(spoken), "Ann", NOW, context))
    candidates = find_candidates(talk)
    return talk, candidates, MARKER.encode(talk, candidates)


def quiet(candidates: Candidates, encoded: Encoded, events: int = 0) -> Logits:
    """Logits of somebody who hears nothing."""
    pairs, nodes = max(1, len(candidates.pairs)), max(1, len(candidates.nodes))
    tokens = (pairs, len(encoded.tokens))
    action = np.zeros((max(1, events), 3), np.float32)
    action[:, 0] = LIKELY
    links = np.zeros((max(1, events), nodes + 1), np.float32)
    return Logits(
        np.full(pairs, -LIKELY, np.float32),
        np.zeros(pairs, np.float32),
        action,
        links,
        links.copy(),
        np.zeros(tokens, np.float32),
        np.zeros(tokens, np.float32),
    )


def titled(scores: Logits, encoded: Encoded, pair: int, line: int, start: int, end: int) -> None:
    own = encoded.tokens[:, 0] == line
    scores.title_first[
        pair, own & (encoded.tokens[:, 1] <= start) & (encoded.tokens[:, 2] > start)
    ] = 9
    scores.title_last[pair, own & (encoded.tokens[:, 1] < end) & (encoded.tokens[:, 2] >= end)] = 9


def decided(talk: Dialogue, found: Candidates, scores: Logits, encoded: Encoded) -> list[Found]:
    return decide(talk, found, scores, encoded.tokens, Thresholds())


def test_nothing_likely_is_nothing_found() -> None:
    talk, found, encoded = read("Lunch on Friday at 1 pm?", context=(SYNC,))
    assert decided(talk, found, quiet(found, encoded, 1), encoded) == []


def test_a_likely_pair_is_a_new_event_named_by_the_words_pointed_at() -> None:
    talk, found, encoded = read("A brake check on Friday at 8 am?", "Fine.")
    scores = quiet(found, encoded)
    pair = next(n for n, it in enumerate(found.pairs) if min(it.when, it.day) >= 0)
    scores.create[pair] = LIKELY
    titled(scores, encoded, pair, 0, 2, 13)
    [finding] = decided(talk, found, scores, encoded)
    assert finding.event.title == "Brake check"
    assert finding.event.start_time == datetime(2026, 3, 6, 8, 0)
    assert finding.event.attendees == ("Ben",)
    assert finding.lines == (0,)


def test_readings_of_one_start_are_one_event() -> None:
    talk, found, encoded = read("Lunch on Friday at 1 pm?", "Friday 1 pm.")
    scores = quiet(found, encoded)
    scores.create[:] = LIKELY
    assert len(decided(talk, found, scores, encoded)) == 1


def test_an_event_of_the_calendar_is_deleted_moved_or_kept() -> None:
    talk, found, encoded = read("Sync at 4 pm instead?", "Ok.", context=(SYNC,))
    scores = quiet(found, encoded, 1)
    scores.action[0] = (0, LIKELY, 0)
    [deleted] = decided(talk, found, scores, encoded)
    assert (deleted.event.action, deleted.event.existing_event_id) == ("delete", 1)
    scores.action[0] = (0, 0, LIKELY)
    scores.when[0, 1] = 3
    [moved] = decided(talk, found, scores, encoded)
    assert (moved.event.action, moved.event.start_time) == ("update", datetime(2026, 3, 5, 16, 0))


def test_what_was_moved_to_a_time_is_not_created_there_as_well() -> None:
    talk, found, encoded = read("Sync on Thursday at 4 pm instead?", "Ok.", context=(SYNC,))
    scores = quiet(found, encoded, 1)
    scores.action[0] = (0, 0, LIKELY)
    clock = next(n for n, node in enumerate(found.nodes) if node.kind == "clock")
    scores.when[0, clock + 1] = 3
    scores.create[:] = LIKELY
    starts = [it.event.start_time for it in decided(talk, found, scores, encoded)]
    assert starts.count(datetime(2026, 3, 5, 16, 0)) == 1


def test_confidence_is_the_probability_in_a_word() -> None:
    limits = Thresholds(medium=0.6, high=0.8)
    assert [confidence(it, limits) for it in (0.9, 0.8, 0.7, 0.5)] == [
        "high",
        "high",
        "medium",
        "low",
    ]


def test_lines_of_the_owner_of_others_and_the_calendar_are_marked() -> None:
    _, _, encoded = read("Is the sync on?", "Yes.", context=(SYNC,))
    roles = set(encoded.arrays["roles"].ravel().tolist())
    assert {OWNER, OTHER, CALENDAR} <= roles


def test_words_shared_with_an_event_of_the_calendar_carry_its_number() -> None:
    _, _, encoded = read("About the sync tomorrow.", context=(SYNC,))
    spoken = encoded.arrays["roles"] == OTHER
    assert 1 in encoded.arrays["shared"][spoken]


def test_long_talk_is_read_in_windows_that_leave_no_line_out() -> None:
    _, _, encoded = read(*["This is a rather long line about nothing in particular, really."] * 120)
    windows, length = encoded.arrays["ids"].shape
    assert windows > 1
    assert length <= WINDOW
    assert set(encoded.tokens[:, 0].tolist()) == set(range(120))
