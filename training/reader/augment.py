"""The same conversation told otherwise, with its truth: other names, days, hours, small talk."""

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
_MERIDIEM = re.compile(r"[ap]m\b", re.I)


@dataclass(frozen=True, slots=True)
class Shares:
    """How often each change is made."""

    names: float = 0.6
    days: float = 0.5
    hours: float = 0.4
    bare: float = 0.3
    talk: float = 0.4
    joined: float = 0.25
    calendar: float = 0.4


class Augmenter:
    """Changes conversations at random; whatever makes an event unfindable is taken back."""

    def __init__(self, pool: Sequence[Conversation], shares: Shares | None = None) -> None:
        self.pool = pool
        self._shares = shares or Shares()
        self._by_id = {each.id: each for each in pool}
        self._missed: dict[str, int] = {}
        some = pool[:: max(1, len(pool) // 600)]
        self._idle = [line for each in some for line in _idle_lines(each)]
        self._by_weekday: dict[int, list[Conversation]] = {}
        for each in pool:
            if not _DATED.search(_text(each)) and len(each.request.transcript.utterances) < 30:
                self._by_weekday.setdefault(each.request.now.weekday(), []).append(each)

    def prepare(self, workers: int) -> None:
        """Looks once for what no candidate of a conversation gives, all cores together."""
        with Pool(max(1, workers)) as pool:
            found = pool.map(_missed, self.pool, chunksize=32)
        self._missed = dict(zip(self._by_id, found, strict=True))

    def changed(self, conversation: Conversation, chance: random.Random) -> Example:
        """The example of a changed conversation."""
        shares = self._shares
        steps: list[tuple[float, Callable[[Conversation, random.Random], Conversation | None]]] = [
            (shares.joined, self._joined),
            (shares.names, _renamed),
            (shares.days, _other_day),
            (shares.hours, _other_hour),
            (shares.calendar, self._other_calendar),
            (shares.talk, self._small_talk),
            (shares.bare, _bare),
        ]
        told = conversation
        for share, change in steps:
            if chance.random() < share:
                told = change(told, chance) or told
        found = example(told, chance)
        if self._kept_whole(told, found):
            return found
        return example(conversation, chance)

    def _kept_whole(self, told: Conversation, found: Example) -> bool:
        """Whether no more events are out of reach than in the conversations it was made of."""
        for identity in told.id.split("+"):
            if identity not in self._missed:
                self._missed[identity] = _missed(self._by_id[identity])
        allowed = sum(self._missed[identity] for identity in told.id.split("+"))
        return len(found.labels.missed) <= allowed

    def _joined(self, first: Conversation, chance: random.Random) -> Conversation | None:
        """Two conversations of one owner in one, the second moved by whole weeks."""
        others = self._by_weekday.get(first.request.now.weekday(), [])
        if not others or len(first.request.transcript.utterances) > 40:
            return None
        other = chance.choice(others)
        if other.id[:5] == first.id[:5]:
            return None
        weeks = first.request.now.date() - other.request.now.date()
        other = _mapped_words(other, lambda text: _named(text, other.request.owner, first))
        moved = _moved(other, weeks)
        lines = (*first.request.transcript.utterances, *moved.request.transcript.utterances)
        offset, numbers = len(first.request.transcript.utterances), len(first.request.context)
        context = (
            *first.request.context,
            *(replace(it, id=it.id + numbers) for it in moved.request.context),
        )
        events = (
            *first.events,
            *(
                replace(
                    it,
                    lines=tuple(line + offset for line in it.lines),
                    target=None if it.target is None else it.target + numbers,
                )
                for it in moved.events
            ),
        )
        both = _with(first, lines=lines, context=context, events=events)
        return replace(both, id=f"{first.id}+{other.id}")

    def _other_calendar(self, one: Conversation, chance: random.Random) -> Conversation | None:
        """The calendar in another order, some that play no part taken out, some put in."""
        touched = {it.target for it in one.events}
        kept = [
            (place, event)
            for place, event in enumerate(one.request.context)
            if place in touched or chance.random() < 0.85
        ]
        chance.shuffle(kept)
        foreign = chance.choice(self.pool)
        days = one.request.now.date() - foreign.request.now.date()
        added = [
            replace(it, start=it.start + days, end=it.end and it.end + days)
            for it in foreign.request.context
        ][: chance.randint(0, 3)]
        if len(kept) + len(added) > 10:
            added = []
        entries = [*kept, *((None, event) for event in added)]
        chance.shuffle(entries)
        context = tuple(replace(event, id=number) for number, (_, event) in enumerate(entries, 1))
        place_of = {old: new for new, (old, _) in enumerate(entries) if old is not None}
        events = tuple(
            it if it.target is None else replace(it, target=place_of[it.target])
            for it in one.events
        )
        return _with(one, context=context, events=events)

    def _small_talk(self, one: Conversation, chance: random.Random) -> Conversation | None:
        """Lines of other conversations that settle nothing, put in anywhere."""
        lines = list(one.request.transcript.utterances)
        speakers = sorted({line.speaker for line in lines})
        events = one.events
        for _ in range(chance.randint(1, 5)):
            at = chance.randint(0, len(lines))
            lines.insert(at, Utterance(chance.choice(speakers), chance.choice(self._idle), 0))
            events = tuple(
                replace(it, lines=tuple(n + (n >= at) for n in it.lines)) for it in events
            )
        return _with(one, lines=tuple(lines), events=events)


def _missed(conversation: Conversation) -> int:
    return len(example(conversation).labels.missed)


def _idle_lines(conversation: Conversation) -> list[str]:
    talk = read_dialogue(conversation.request)
    busy = {it.line for it in talk.mentions} | {n for it in conversation.events for n in it.lines}
    words = {word for it in conversation.request.context for word in it.summary.lower().split()}
    return [
        line
        for number, line in enumerate(talk.lines)
        if number not in busy
        and 2 <= len(line.split()) <= 14
        and "?" not in line
        and not words & set(line.lower().split())
    ]


def _renamed(one: Conversation, chance: random.Random) -> Conversation | None:
    names = sorted({it.speaker for it in one.request.transcript.utterances} | {one.request.owner})
    firsts = [name for name in names if " " not in name and len(name) > 2]
    others = chance.sample([it for it in TABLES["names"] if " " not in it], len(firsts))
    table = dict(zip(firsts, others, strict=True))
    if not table:
        return None
    found = re.compile(rf"\b({'|'.join(map(re.escape, table))})\b")
    lower = {name.lower(): other.lower() for name, other in table.items()}

    def told(text: str) -> str:
        text = found.sub(lambda m: table[m[1]], text)
        return re.sub(rf"\b({'|'.join(map(re.escape, lower))})\b", lambda m: lower[m[1]], text)

    return _mapped_words(one, told)


def _other_day(one: Conversation, chance: random.Random) -> Conversation | None:
    """All moved by some days, and weekdays called by what they then are."""
    if _DATED.search(_text(one)):
        return None
    days = chance.randint(1, 6)

    def told(match: re.Match[str]) -> str:
        start = match[1].lower()[:3]
        at = next(number for number, name in enumerate(_WEEKDAYS) if name.startswith(start))
        name = _WEEKDAYS[(at + days) % 7]
        name = name if match[2] else name[: 4 if name.startswith("t") else 3]
        return (name.capitalize() if match[0][0].isupper() else name) + match[3]

    return _moved(_mapped_words(one, lambda text: _WEEKDAY.sub(told, text)), timedelta(days=days))


def _other_hour(one: Conversation, chance: random.Random) -> Conversation | None:
    """All clock times moved by an hour or two; None where that would cross noon or midnight."""
    talk = read_dialogue(one.request)
    step = chance.choice((-2, -1, 1, 2))
    lines = []
    for number, (line, said) in enumerate(
        zip(one.request.transcript.utterances, talk.lines, strict=True)
    ):
        for it in sorted((m for m in talk.mentions if m.line == number), key=lambda m: -m.start):
            if it.kind not in ("clock", "until"):
                continue
            told = _moved_clock(said[it.start : it.end], step)
            if told is None:
                return None
            said = said[: it.start] + told + said[it.end :]
        lines.append(line._replace(words=said))
    moments = [it.start for it in one.request.context] + [it.start for it in one.events if it.start]
    if any(not 1 <= moment.hour + step <= 22 for moment in moments):
        return None
    moved = _moved(one, timedelta(hours=step), now=False)
    return _with(moved, lines=tuple(lines))


def _moved_clock(said: str, step: int) -> str | None:
    if re.search("noon|midnight", said, re.I):
        return None
    out, at = [], 0
    for match in _HOUR.finditer(said):
        hour = int(match[1])
        moved = hour + step
        top = 12 if hour <= 12 else 23
        if not (1 <= moved <= top) or (hour <= 12 and (hour == 12) != (moved == 12)):
            return None
        out += [said[at : match.start()], str(moved)]
        at = match.end()
    return "".join([*out, said[at:]]) if out else None


def _bare(one: Conversation, chance: random.Random) -> Conversation:
    """Small letters without most marks, as hurried people type."""
    drop = re.compile(r"(?<!\d)[,.!?](?!\d)" if chance.random() < 0.7 else r"(?<!\d)[,.!](?!\d)")
    return _mapped_words(one, lambda text: drop.sub("", text).lower(), titles=False)


def _named(text: str, name: str, other: Conversation) -> str:
    first, wanted = name.split()[0], other.request.owner.split()[0]
    return re.sub(rf"\b{re.escape(first)}\b", wanted, text) if len(first) > 2 else text


def _text(one: Conversation) -> str:
    return "\n".join(it.words for it in one.request.transcript.utterances)


def _mapped_words(
    one: Conversation, told: Callable[[str], str], *, titles: bool = True
) -> Conversation:
    lines = tuple(
        it._replace(
            speaker=told(it.speaker) if titles else it.speaker, words=told(it.words) or it.words
        )
        for it in one.request.transcript.utterances
    )
    if not titles:
        return _with(one, lines=lines)
    context = tuple(replace(it, summary=told(it.summary)) for it in one.request.context)
    events = tuple(replace(it, title=told(it.title)) for it in one.events)
    owner = told(one.request.owner)
    return _with(one, lines=lines, context=context, events=events, owner=owner)


def _moved(one: Conversation, by: timedelta, *, now: bool = True) -> Conversation:
    context = tuple(
        replace(it, start=it.start + by, end=it.end and it.end + by) for it in one.request.context
    )
    events = tuple(
        replace(it, start=it.start and it.start + by, end=it.end and it.end + by)
        for it in one.events
    )
    moved = _with(one, context=context, events=events)
    if not now:
        return moved
    return replace(moved, request=replace(moved.request, now=moved.request.now + by))


def _with(
    one: Conversation,
    *,
    lines: tuple[Utterance, ...] | None = None,
    context: tuple[ContextEvent, ...] | None = None,
    events: tuple[TrueEvent, ...] | None = None,
    owner: str | None = None,
) -> Conversation:
    request: Request = one.request
    if lines is not None:
        request = replace(request, transcript=Transcript(lines))
    if context is not None:
        request = replace(request, context=context)
    if owner is not None:
        request = replace(request, owner=owner)
    return Conversation(one.id, request, one.events if events is None else events)
