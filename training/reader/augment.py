"""Augment conversations and their true events: other names, days, hours, small talk."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from multiprocessing import Pool

from cal_ai.events import ContextEvent
from cal_ai.extractors.protocol import Request
from cal_ai.extractors.reader.mentions import read_dialogue
from cal_ai.transcripts.conversation import Transcript, Utterance
from training.conversations.plan import TABLES
from training.reader.conversations import Conversation, TrueEvent
from training.reader.labels import Example, example

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAY = re.compile(r"\b(mon|tues?|weds?|wednes|thu(?:rs?)?|fri|satur|sun)(day)?(s?)\b", re.I)
_DATED = re.compile(
    r"\d(?:st|nd|rd|th)\b|\d[/.]\d|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*\b|week|month"
    r"|christmas|easter|new year|valentine|birthday on|\bsat\b|\bsun\b",
    re.I,
)
_HOUR = re.compile(r"(?<![\d:.,])([01]?\d|2[0-3])(?=[:h.]?\d{0,2}(?:\s?[ap]m)?\b)")
_LONG = 80  # lines; a talk with more is joined with no other
# Titles that are not replaced by others, and words that begin those that are things to do.
_NOT_REPLACED = re.compile(
    r"\d|\b(?:with|and)\b|day|night|morning|noon|evening|week|month|year|hour|minute|half|quarter"
)
_TO_DO = re.compile(
    r"(?:buy|bring|call|check|clean|clear|collect|cook|cut|deliver|drop|feed|fetch|fill|film|fit|fix"
    r"|hand|hang|help|lend|lift|load|measure|meet|mend|move|oil|open|pack|paint|pay|phone|pick|plant"
    r"|pour|print|read|record|renew|repair|return|ring|see|sell|send|set|show|sign|sort|submit|swap"
    r"|take|tune|unload|visit|walk|wash|watch|water|write)\b"
)


@dataclass(frozen=True, slots=True)
class Shares:
    """How often each change is made."""

    titles: float = 0.5
    names: float = 0.6
    days: float = 0.5
    hours: float = 0.4
    bare: float = 0.3
    talk: float = 0.4
    joined: float = 0.2
    joined_again: float = 0.4
    calendar: float = 0.4


class Augmenter:
    """Changes conversations at random; undoes changes that make an event unfindable."""

    def __init__(self, pool: Sequence[Conversation], shares: Shares | None = None) -> None:
        self.pool = pool
        self._shares = shares or Shares()
        self._by_id = {conversation.id: conversation for conversation in pool}
        self._missed: dict[str, int] = {}
        some = pool[:: max(1, len(pool) // 600)]
        self._idle = [line for conversation in some for line in _idle_lines(conversation)]
        self._titles: dict[bool, list[str]] = {True: [], False: []}
        for title in sorted({title for talk in pool for title in _said_titles(talk)}):
            self._titles[_is_to_do(title)].append(title)
        self._by_weekday: dict[int, list[Conversation]] = {}
        for conversation in pool:
            if (
                not _DATED.search(_text(conversation))
                and len(conversation.request.transcript.utterances) < 30
            ):
                self._by_weekday.setdefault(conversation.request.now.weekday(), []).append(
                    conversation
                )

    def prepare(self, workers: int) -> None:
        """Count in parallel, for each conversation, the events that no candidate gives."""
        with Pool(max(1, workers)) as pool:
            counts = pool.map(_missed, self.pool, chunksize=32)
        self._missed = dict(zip(self._by_id, counts, strict=True))

    def changed(self, conversation: Conversation, chance: random.Random) -> Example:
        """Return the example of a changed conversation."""
        shares = self._shares
        steps: list[tuple[float, Callable[[Conversation, random.Random], Conversation | None]]] = [
            (shares.titles, self._retitled),
            (shares.names, _renamed),
            (shares.days, _other_day),
            (shares.hours, _other_hour),
            (shares.calendar, self._other_calendar),
            (shares.talk, self._small_talk),
            (shares.bare, _bare),
        ]
        variant = conversation
        if chance.random() < shares.joined:
            variant = self._joined(variant, chance) or variant
            while variant is not conversation and chance.random() < shares.joined_again:
                variant = self._joined(variant, chance) or variant
        for share, change in steps:
            if chance.random() < share:
                variant = change(variant, chance) or variant
        labelled = example(variant, chance)
        if self._kept_whole(variant, labelled):
            return labelled
        return example(conversation, chance)

    def _kept_whole(self, variant: Conversation, labelled: Example) -> bool:
        """Whether no more events are unfindable than in the original conversations."""
        for identity in variant.id.split("+"):
            if identity not in self._missed:
                self._missed[identity] = _missed(self._by_id[identity])
        allowed = sum(self._missed[identity] for identity in variant.id.split("+"))
        return len(labelled.labels.missed) <= allowed

    def _joined(self, first: Conversation, chance: random.Random) -> Conversation | None:
        """Append another conversation, moved by whole weeks and given the same owner."""
        others = self._by_weekday.get(first.request.now.weekday(), [])
        if not others or len(first.request.transcript.utterances) > _LONG:
            return None
        other = chance.choice(others)
        if any(other.id[:5] == identity[:5] for identity in first.id.split("+")):
            return None
        weeks = first.request.now.date() - other.request.now.date()
        other = _mapped_words(other, lambda text: _named(text, other.request.owner, first))
        moved = _moved(other, weeks)
        lines = (*first.request.transcript.utterances, *moved.request.transcript.utterances)
        offset, numbers = len(first.request.transcript.utterances), len(first.request.context)
        context = (
            *first.request.context,
            *(replace(event, id=event.id + numbers) for event in moved.request.context),
        )
        events = (
            *first.events,
            *(
                replace(
                    event,
                    lines=tuple(line + offset for line in event.lines),
                    target=None if event.target is None else event.target + numbers,
                )
                for event in moved.events
            ),
        )
        both = _with(first, lines=lines, context=context, events=events)
        return replace(both, id=f"{first.id}+{other.id}")

    def _retitled(self, conversation: Conversation, chance: random.Random) -> Conversation | None:
        """Give a new event the title of another, wherever it is said."""
        said = _said_titles(conversation)
        if not said:
            return None
        title = chance.choice(said)
        other = chance.choice(self._titles[_is_to_do(title)])
        spoken = _spoken(title)
        renamed = _mapped_words(
            conversation, lambda text: spoken.sub(lambda _: other, text), titles=False
        )
        events = tuple(
            replace(event, title=other)
            if event.action == "create" and event.title.lower() == title
            else event
            for event in conversation.events
        )
        return _with(renamed, events=events)

    def _other_calendar(
        self, conversation: Conversation, chance: random.Random
    ) -> Conversation | None:
        """Shuffle the calendar, drop some events that play no part, and add some others."""
        touched = {event.target for event in conversation.events}
        kept = [
            (place, event)
            for place, event in enumerate(conversation.request.context)
            if place in touched or chance.random() < 0.85
        ]
        chance.shuffle(kept)
        foreign = chance.choice(self.pool)
        days = conversation.request.now.date() - foreign.request.now.date()
        added = [
            replace(event, start=event.start + days, end=event.end and event.end + days)
            for event in foreign.request.context
        ][: chance.randint(0, 3)]
        if len(kept) + len(added) > 10:
            added = []
        entries = [*kept, *((None, event) for event in added)]
        chance.shuffle(entries)
        context = tuple(replace(event, id=number) for number, (_, event) in enumerate(entries, 1))
        place_of = {old: new for new, (old, _) in enumerate(entries) if old is not None}
        events = tuple(
            event if event.target is None else replace(event, target=place_of[event.target])
            for event in conversation.events
        )
        return _with(conversation, context=context, events=events)

    def _small_talk(self, conversation: Conversation, chance: random.Random) -> Conversation | None:
        """Insert lines of other conversations that settle nothing, anywhere."""
        lines = list(conversation.request.transcript.utterances)
        speakers = sorted({line.speaker for line in lines})
        events = conversation.events
        for _ in range(chance.randint(1, 5)):
            at = chance.randint(0, len(lines))
            lines.insert(at, Utterance(chance.choice(speakers), chance.choice(self._idle), 0))
            events = tuple(
                replace(event, lines=tuple(n + (n >= at) for n in event.lines)) for event in events
            )
        return _with(conversation, lines=tuple(lines), events=events)


def _said_titles(conversation: Conversation) -> list[str]:
    """Return the titles of new events, in small letters, that are said word by word."""
    lines = [turn.words for turn in conversation.request.transcript.utterances]
    names = {
        name.lower()
        for turn in conversation.request.transcript.utterances
        for name in turn.speaker.split()
    }
    titles = {event.title.lower() for event in conversation.events if event.action == "create"}
    return sorted(
        title
        for title in titles
        if not _NOT_REPLACED.search(title) and names.isdisjoint(title.split())
        if any(_spoken(title).search(line) for line in lines)
    )


def _spoken(title: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(title)}(?!\w)", re.I)


def _is_to_do(title: str) -> bool:
    return _TO_DO.match(title) is not None


def _missed(conversation: Conversation) -> int:
    return len(example(conversation).labels.missed)


def _idle_lines(conversation: Conversation) -> list[str]:
    talk = read_dialogue(conversation.request)
    busy = {mention.line for mention in talk.mentions}
    busy |= {number for event in conversation.events for number in event.lines}
    words = {
        word for event in conversation.request.context for word in event.summary.lower().split()
    }
    return [
        line
        for number, line in enumerate(talk.lines)
        if number not in busy
        and 2 <= len(line.split()) <= 14
        and "?" not in line
        and not words & set(line.lower().split())
    ]


def _renamed(conversation: Conversation, chance: random.Random) -> Conversation | None:
    names = sorted(
        {line.speaker for line in conversation.request.transcript.utterances}
        | {conversation.request.owner}
    )
    firsts = [name for name in names if " " not in name and len(name) > 2]
    others = chance.sample([name for name in TABLES["names"] if " " not in name], len(firsts))
    table = dict(zip(firsts, others, strict=True))
    if not table:
        return None
    pattern = re.compile(rf"\b({'|'.join(map(re.escape, table))})\b")
    lower = {name.lower(): other.lower() for name, other in table.items()}

    def renamed(text: str) -> str:
        text = pattern.sub(lambda m: table[m[1]], text)
        return re.sub(rf"\b({'|'.join(map(re.escape, lower))})\b", lambda m: lower[m[1]], text)

    return _mapped_words(conversation, renamed)


def _other_day(conversation: Conversation, chance: random.Random) -> Conversation | None:
    """Move everything by some days, and rename the weekdays accordingly."""
    if _DATED.search(_text(conversation)):
        return None
    days = chance.randint(1, 6)

    def shifted(match: re.Match[str]) -> str:
        start = match[1].lower()[:3]
        at = next(number for number, name in enumerate(_WEEKDAYS) if name.startswith(start))
        name = _WEEKDAYS[(at + days) % 7]
        name = name if match[2] else name[: 4 if name.startswith("t") else 3]
        return (name.capitalize() if match[0][0].isupper() else name) + match[3]

    return _moved(
        _mapped_words(conversation, lambda text: _WEEKDAY.sub(shifted, text)), timedelta(days=days)
    )


def _other_hour(conversation: Conversation, chance: random.Random) -> Conversation | None:
    """Move all clock times by an hour or two; return None if one would cross noon or midnight."""
    talk = read_dialogue(conversation.request)
    step = chance.choice((-2, -1, 1, 2))
    lines = []
    for number, (line, words) in enumerate(
        zip(conversation.request.transcript.utterances, talk.lines, strict=True)
    ):
        for mention in sorted(
            (m for m in talk.mentions if m.line == number), key=lambda m: -m.start
        ):
            if mention.kind not in ("clock", "until"):
                continue
            clock = _moved_clock(words[mention.start : mention.end], step)
            if clock is None:
                return None
            words = words[: mention.start] + clock + words[mention.end :]
        lines.append(line._replace(words=words))
    moments = [event.start for event in conversation.request.context] + [
        event.start for event in conversation.events if event.start
    ]
    if any(not 1 <= moment.hour + step <= 22 for moment in moments):
        return None
    moved = _moved(conversation, timedelta(hours=step), now=False)
    return _with(moved, lines=tuple(lines))


def _moved_clock(words: str, step: int) -> str | None:
    if re.search("noon|midnight", words, re.I):
        return None
    out, at = [], 0
    for match in _HOUR.finditer(words):
        hour = int(match[1])
        moved = hour + step
        top = 12 if hour <= 12 else 23
        if not (1 <= moved <= top) or (hour <= 12 and (hour == 12) != (moved == 12)):
            return None
        out += [words[at : match.start()], str(moved)]
        at = match.end()
    return "".join([*out, words[at:]]) if out else None


def _bare(conversation: Conversation, chance: random.Random) -> Conversation:
    """Lower the case and drop most punctuation, as people do who type in a hurry."""
    drop = re.compile(r"(?<!\d)[,.!?](?!\d)" if chance.random() < 0.7 else r"(?<!\d)[,.!](?!\d)")
    return _mapped_words(conversation, lambda text: drop.sub("", text).lower(), titles=False)


def _named(text: str, name: str, other: Conversation) -> str:
    first, new_name = name.split()[0], other.request.owner.split()[0]
    return re.sub(rf"\b{re.escape(first)}\b", new_name, text) if len(first) > 2 else text


def _text(conversation: Conversation) -> str:
    return "\n".join(line.words for line in conversation.request.transcript.utterances)


def _mapped_words(
    conversation: Conversation, change: Callable[[str], str], *, titles: bool = True
) -> Conversation:
    lines = tuple(
        line._replace(
            speaker=change(line.speaker) if titles else line.speaker,
            words=change(line.words) or line.words,
        )
        for line in conversation.request.transcript.utterances
    )
    if not titles:
        return _with(conversation, lines=lines)
    context = tuple(
        replace(event, summary=change(event.summary)) for event in conversation.request.context
    )
    events = tuple(replace(event, title=change(event.title)) for event in conversation.events)
    owner = change(conversation.request.owner)
    return _with(conversation, lines=lines, context=context, events=events, owner=owner)


def _moved(conversation: Conversation, by: timedelta, *, now: bool = True) -> Conversation:
    context = tuple(
        replace(event, start=event.start + by, end=event.end and event.end + by)
        for event in conversation.request.context
    )
    events = tuple(
        replace(event, start=event.start and event.start + by, end=event.end and event.end + by)
        for event in conversation.events
    )
    moved = _with(conversation, context=context, events=events)
    if not now:
        return moved
    return replace(moved, request=replace(moved.request, now=moved.request.now + by))


def _with(
    conversation: Conversation,
    *,
    lines: tuple[Utterance, ...] | None = None,
    context: tuple[ContextEvent, ...] | None = None,
    events: tuple[TrueEvent, ...] | None = None,
    owner: str | None = None,
) -> Conversation:
    request: Request = conversation.request
    if lines is not None:
        request = replace(request, transcript=Transcript(lines))
    if context is not None:
        request = replace(request, context=context)
    if owner is not None:
        request = replace(request, owner=owner)
    return Conversation(conversation.id, request, conversation.events if events is None else events)
