"""Turn a talk into arrays for the network: pieces of words with marks, in windows."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cal_ai.extractors.reader.activities import noun_pattern
from cal_ai.extractors.reader.candidates import NONE, Candidates
from cal_ai.extractors.reader.limits import LONG_WORD, stem_of, title_words
from cal_ai.extractors.reader.mentions import Dialogue, Mention
from cal_ai.extractors.reader.patterns import matches, small
from cal_ai.extractors.reader.reckoning import minute_of
from cal_ai.transcripts.conversation import same_person

if TYPE_CHECKING:
    from sentencepiece import SentencePieceProcessor

BEGIN, PAD, SEPARATOR, UNKNOWN = 0, 1, 2, 3
MENTION_KINDS = ("day", "week", "clock", "until", "part", "length", "shift")
NOUN = len(MENTION_KINDS) + 1
OWNER, OTHER, CALENDAR = 1, 2, 3
CHANNELS = ("ids", "roles", "kinds", "days", "hours", "shared", "focus")
# Marks of a second look: mentions of the time and of the day, a calendar event; then those of the
# first token, which tell a look at a pair from one at a change.
WHEN, DAY, EVENT, PAIR, CHANGE = range(1, 6)
WINDOW = 448
_OVERLAP = 0.25  # of a window with the one before
MENTIONS_OF_A_NODE = 6
MOST_EVENTS = 8  # with different marks
APART = 6  # lines; more count as so many
# Together with a calendar of twelve events the longest line still fits into a window.
_LONGEST_NAME, _LONGEST_LINE, _LONGEST_EVENT = 6, 176, 30
_PARTS_OF_TEXT = re.compile(r"\w+|\W+")
# The clock and the names that the network sees are always the same: its answer must not depend on
# when a talk is read or on what people are called. What times mean is in the marks.
_NOW = "now Wednesday 4 March 9:00"
_NAMES = ("Alice", "Ben", "Carol", "David", "Emma", "Frank", "Grace", "Henry", "Irene", "Jack")

IntArray = npt.NDArray[np.int64]
_Row = tuple[int, int, int, int, int, int]
"""The id and the marks of a token, in the order of CHANNELS without the last."""


@dataclass(frozen=True, slots=True)
class Look:
    """A window to read again for one candidate, and the mark of each of its tokens."""

    window: int
    focus: IntArray


@dataclass(frozen=True, slots=True)
class Encoded:
    """The arrays that the network takes, by name, and where the tokens come from.

    `origins` has line, first and last character of each token of each window. The line is -1 for a
    token that nobody speaks, the characters are -1 for one that begins a line.
    """

    arrays: Mapping[str, IntArray]
    origins: IntArray
    mentions: tuple[tuple[int, int, int], ...]
    """Line of each mention, and its first and last token counted from the line's beginning."""
    begins: Mapping[tuple[int, int], int]
    """Where a line begins in a window."""
    owners: Mapping[int, int]
    events: tuple[int, ...]
    """Where each event of the calendar begins, then where their list ends."""

    def at_pair(self, candidates: Candidates, pair: int) -> Look:
        """Mark a time on a day for a second look."""
        time_on_day = candidates.pairs[pair]
        window = self.owners[self.mentions[max(time_on_day.near)][0]]
        focus = self._focus(PAIR)
        for mark, node in ((DAY, time_on_day.day), (WHEN, time_on_day.when)):
            for place in () if node == NONE else candidates.nodes[node].mentions:
                if (span := self.span(window, place)) is not None:
                    focus[span[0] : span[1] + 1] = mark
        return Look(window, focus)

    def at_event(self, event: int) -> Look:
        """Mark a calendar event for a second look, in the window with most of its words."""
        shared = self.arrays["shared"] == min(event + 1, MOST_EVENTS)
        counts = (shared & (self.origins[..., 0] >= 0)).sum(1)
        window = len(counts) - 1 - int(counts[::-1].argmax())
        focus = self._focus(CHANGE)
        focus[self.events[event] : self.events[event + 1]] = EVENT
        return Look(window, focus)

    def span(self, window: int, mention: int) -> tuple[int, int] | None:
        """Return first and last token of a mention in a window; None if it is elsewhere."""
        line, first, last = self.mentions[mention]
        begin = self.begins.get((window, line))
        return None if begin is None else (begin + first, begin + last)

    def looks(self, looks: Sequence[Look]) -> dict[str, IntArray]:
        windows = [look.window for look in looks]
        again = {name: self.arrays[name][windows] for name in CHANNELS[:-1]}
        return {**_NOTHING, **again, "focus": np.stack([look.focus for look in looks])}

    def _focus(self, kind: int) -> IntArray:
        focus = np.zeros(self.origins.shape[1], np.int64)
        focus[0] = kind
        return focus


@dataclass(slots=True)
class _Line:
    rows: list[_Row]
    offset: int  # rows before the words
    spans: list[tuple[int, int]]
    mentions: dict[int, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Plain:
    """What the network sees instead of the names of speakers and instead of dates."""

    names: Mapping[str, str]
    days: Mapping[date, int]

    def text(self, text: str) -> tuple[str, list[tuple[int, int]]]:
        """Replace names; also return which characters of the text each character stands for."""
        replaced, places = "", list[tuple[int, int]]()
        for part in _PARTS_OF_TEXT.finditer(text):
            name = self.names.get(part[0])
            replaced += name or part[0]
            letters = [(at, at + 1) for at in range(*part.span())]
            places += [part.span()] * len(name) if name else letters
        return replaced, places


class Marker:
    """Turns talks into arrays with the pieces of a SentencePiece model."""

    def __init__(self, pieces: SentencePieceProcessor) -> None:
        self._pieces = pieces

    def encode(self, talk: Dialogue, candidates: Candidates) -> Encoded:
        """Make the arrays of a talk; a list that would be empty gets one meaningless entry."""
        plain = _plain(talk)
        head, events = self._head(talk, plain)
        lines = self._lines(talk, plain)
        windows = list(_split_lines([len(line.rows) for line in lines], WINDOW - len(head)))
        length = len(head) + max(
            sum(len(line.rows) for line in lines[window.start : window.stop]) for window in windows
        )
        rows = np.zeros((len(windows), length, len(CHANNELS)), np.int64)
        rows[:, :, 0] = PAD
        origins = np.full((len(windows), length, 3), -1, np.int64)
        begins: dict[tuple[int, int], int] = {}
        for number, window in enumerate(windows):
            rows[number, : len(head), :-1] = head
            at = len(head)
            for line in window:
                encoded = lines[line]
                end = at + len(encoded.rows)
                rows[number, at:end, :-1] = encoded.rows
                origins[number, at, 0] = line
                if encoded.spans:
                    origins[number, at + encoded.offset : end, 0] = line
                    origins[number, at + encoded.offset : end, 1:] = encoded.spans
                begins[number, line] = at
                at = end
        owners = _owners(windows)
        event_rows = [[window * length + at for window in range(len(windows))] for at in events]
        arrays = {name: rows[:, :, place].copy() for place, name in enumerate(CHANNELS)}
        arrays["event_at"] = _filled(event_rows, len(windows))
        firsts = {line: owners[line] * length + begins[owners[line], line] for line in owners}
        mentions = tuple(
            (mention.line, *lines[mention.line].mentions.get(place, (0, 0)))
            for place, mention in enumerate(talk.mentions)
        )
        arrays |= _places(talk, candidates, mentions, firsts)
        return Encoded(arrays, origins, mentions, begins, owners, (*events, len(head)))

    def _head(self, talk: Dialogue, plain: _Plain) -> tuple[list[_Row], list[int]]:
        """Encode the clock and the calendar; also return where each event begins."""
        head: list[_Row] = [(BEGIN, 0, 0, 0, 0, 0)]
        head += [(piece, 0, 0, 0, 0, 0) for piece, _ in self._split(_NOW, plain)]
        places = []
        for number, event in enumerate(talk.request.context, 1):
            start = event.start.replace(tzinfo=None)
            day, hour = plain.days[start.date()], _hour_mark(minute_of(start))
            marks = (CALENDAR, 0, day, hour, min(number, MOST_EVENTS))
            places.append(len(head))
            when = f"{start:%A} {start.hour}:{start:%M}"
            pieces = self._split(f"{event.summary}, {when}", plain)[:_LONGEST_EVENT]
            if len(head) + len(pieces) > WINDOW // 2:
                pieces = pieces[:2]
            head.append((SEPARATOR, *marks))
            head += [(piece, *marks) for piece, _ in pieces]
        return head, places

    def _lines(self, talk: Dialogue, plain: _Plain) -> list[_Line]:
        titles = [title_words(event.summary) for event in talk.request.context]
        return [self._line(talk, plain, number, titles) for number in range(len(talk.lines))]

    def _line(
        self, talk: Dialogue, plain: _Plain, number: int, titles: Sequence[frozenset[str]]
    ) -> _Line:
        text, speaker = talk.lines[number], talk.request.transcript.utterances[number].speaker
        role = OWNER if same_person(speaker, talk.request.owner) else OTHER
        name = self._split(f"{speaker}:", plain)[-_LONGEST_NAME:]
        pieces = self._split(text, plain)[:_LONGEST_LINE]
        rows = [(SEPARATOR, role, 0, 0, 0, 0), *((piece, role, 0, 0, 0, 0) for piece, _ in name)]
        line = _Line(rows, len(rows), [span for _, span in pieces])
        marks = np.zeros((len(pieces), 4), np.int64)
        for match in matches(noun_pattern(), text):
            first, last = _covered(line.spans, *match.span())
            marks[first:last, 0] = NOUN
        for match in LONG_WORD.finditer(text.lower()):
            stem = stem_of(match[0])
            known = next((event for event, title in enumerate(titles, 1) if stem in title), 0)
            if known:
                first, last = _covered(line.spans, *match.span())
                marks[first:last, 3] = min(known, MOST_EVENTS)
        here = [(place, it) for place, it in enumerate(talk.mentions) if it.line == number]
        for place, mention in here:
            first, last = _covered(line.spans, mention.start, mention.end)
            if first < last:
                marks[first:last, :3] = _mention_marks(mention, plain)
                line.mentions[place] = (line.offset + first, line.offset + last - 1)
        rows += [
            (piece, role, *map(int, of_piece))  # type: ignore[misc]
            for (piece, _), of_piece in zip(pieces, marks, strict=True)
        ]
        return line

    def _split(self, text: str, plain: _Plain) -> list[tuple[int, tuple[int, int]]]:
        """Split the text in small letters into pieces; return the id and the span of each."""
        replaced, places = plain.text(text)
        encoded: dict[str, Any] = self._pieces.encode(
            plain_letters(replaced), return_type="offset_mapping"
        )
        unknown = self._pieces.unk_id()
        ids = (UNKNOWN if piece == unknown else piece + 1 for piece in encoded["ids"])
        spans = (
            (places[first][0], places[last - 1][1]) if first < last else (0, 0)
            for first, last in encoded["offsets"]
        )
        return list(zip(ids, spans, strict=True))


def _plain(talk: Dialogue) -> _Plain:
    """Rename speakers in the order in which they speak, and number the coming days in use."""
    text = " ".join(talk.lines)
    speakers = dict.fromkeys(turn.speaker for turn in talk.request.transcript.utterances)
    free = (name for name in _NAMES if name in speakers or name not in text)
    spoken = (name for name in speakers if name.isalpha() and name.istitle())
    names = dict(zip(spoken, free, strict=False))
    today = talk.now.date()
    days = {mention.value for mention in talk.mentions if isinstance(mention.value, date)}
    days |= {event.start.date() for event in talk.request.context}
    marks = {day: 1 + (day == today) for day in days}
    ahead = sorted(day for day in days if day > today)
    return _Plain(names, marks | {day: min(n, 23) for n, day in enumerate(ahead, 4)})


def plain_letters(text: str) -> str:
    """Lower letters and drop accents, character by character, so that no character moves."""
    lower = small(text)
    if not lower.isascii():
        lower = "".join(unicodedata.normalize("NFD", letter)[0] for letter in lower)
    return lower.encode("utf-8", "replace").decode()


def _split_lines(sizes: Sequence[int], room: int) -> Iterator[range]:
    """Split lines into windows of at most `room` tokens, each of which overlaps the one before."""
    first = 0
    while True:
        last, total = first, 0
        while last < len(sizes) and (total + sizes[last] <= room or last == first):
            total += sizes[last]
            last += 1
        yield range(first, last)
        if last >= len(sizes):
            return
        back, shared = last, 0
        while back - 1 > first and shared + sizes[back - 1] <= _OVERLAP * total:
            back -= 1
            shared += sizes[back]
        first = back


def _owners(windows: Sequence[range]) -> dict[int, int]:
    """Find for each line the window in which it is farthest from the edges."""
    owners: dict[int, tuple[int, int]] = {}
    for number, window in enumerate(windows):
        for line in window:
            inner = min(line - window.start, window.stop - 1 - line)
            if line not in owners or inner > owners[line][0]:
                owners[line] = (inner, number)
    return {line: number for line, (_, number) in owners.items()}


def _hour_mark(minute: int) -> int:
    return minute % 720 // 30 + 1


def _mention_marks(mention: Mention, plain: _Plain) -> tuple[int, int, int]:
    value, is_clock = mention.value, mention.kind in ("clock", "until")
    day = plain.days[value] if isinstance(value, date) else 0
    hour = _hour_mark(value) if is_clock and isinstance(value, int) else 0
    return MENTION_KINDS.index(mention.kind) + 1, day, hour


def _covered(spans: Sequence[tuple[int, int]], start: int, end: int) -> tuple[int, int]:
    """Return the range of spans that share a character with start:end."""
    inside = [place for place, (left, right) in enumerate(spans) if left < end and right > start]
    return (inside[0], inside[-1] + 1) if inside else (0, 0)


def _places(
    talk: Dialogue,
    candidates: Candidates,
    mentions: Sequence[tuple[int, int, int]],
    begins: Mapping[int, int],
) -> dict[str, IntArray]:
    at = [[begins[line] + first, begins[line] + last] for line, first, last in mentions]
    none = (NONE,) * MENTIONS_OF_A_NODE
    nodes = [
        (*node.mentions[-MENTIONS_OF_A_NODE:], *none)[:MENTIONS_OF_A_NODE]
        for node in candidates.nodes
    ]
    pairs = [
        [pair.when + 1, pair.day + 1, pair.near[0] + 1, pair.near[1] + 1, min(pair.apart, APART)]
        for pair in candidates.pairs
    ]
    kinds = [[MENTION_KINDS.index(mention.kind)] for mention in talk.mentions]
    return {
        "mention_at": _filled(at, 2),
        "mention_kind": _filled(kinds, 1)[:, 0],
        "node_mentions": _filled(nodes, MENTIONS_OF_A_NODE),
        "pairs": _filled(pairs, 5),
    }


def _filled(rows: Sequence[Sequence[int]], width: int) -> IntArray:
    """Make an array of the rows, with a row of zeros if there are none."""
    return np.array(rows if len(rows) else [[0] * width], np.int64).reshape(-1, width)


# The arrays of a second look, which has no lists of candidates.
_WIDTHS = {"event_at": 1, "mention_at": 2, "node_mentions": MENTIONS_OF_A_NODE, "pairs": 5}
_NOTHING = {name: _filled([], width) for name, width in _WIDTHS.items()}
_NOTHING["mention_kind"] = np.zeros(1, np.int64)
