"""The extractor that needs no model: rules for speech, dates and times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime

from cal_ai.events import Event
from cal_ai.extractors.answers import render_answer
from cal_ai.extractors.protocol import Extraction, Request
from cal_ai.extractors.rules.agenda import Agenda
from cal_ai.extractors.rules.decide import decide
from cal_ai.extractors.rules.dialogue import follow
from cal_ai.extractors.rules.plans import Plan
from cal_ai.extractors.rules.references import content_words
from cal_ai.extractors.rules.setting import Setting
from cal_ai.extractors.rules.topics import topic_of
from cal_ai.extractors.rules.zones import zone_lived_in

_FEW_SPEAKERS = 3
_FEW_LINES = 30
_SHORT = 12
_SELF = ("me", "user", "i", "owner", "myself")
# Days and weeks are counted from the reference time, which must not leave the calendar.
_YEARS = range(2, 9990)


class RulesExtractor:
    """Finds the owner's calendar changes without a language model; same input, same answer."""

    @property
    def name(self) -> str:
        return "rules"

    @property
    def model(self) -> str | None:
        return None

    async def extract_events(self, request: Request) -> Extraction:
        """The events agreed to in the conversation; there is nothing that can fail."""
        events = find_events(request)
        return Extraction(events=events, usage=None, attempts=1, raw=render_answer(events))

    async def close(self) -> None:
        """Nothing is held open."""


def find_events(request: Request) -> tuple[Event, ...]:
    """The calendar changes the owner agreed to or announced, in the order they came up."""
    if request.now.year not in _YEARS:
        return ()
    utterances = request.transcript.utterances
    speakers = frozenset(utterance.speaker for utterance in utterances)
    owner = _owner_among(request.owner, speakers)
    lived_in = (zone_lived_in(u.words) for u in utterances if u.speaker == owner)
    zone = request.now.tzinfo or next((zone for zone in lived_in if zone), None)
    many = len(speakers) > _FEW_SPEAKERS and len(utterances) > _SHORT
    crowded = many or len(utterances) > _FEW_LINES
    greetings = {u.speaker: u.words for u in reversed(utterances)}
    now = request.now.replace(tzinfo=None)
    setting = Setting(owner, speakers, now, zone, crowded, greetings)
    starts = {event.id: _wall_clock(event.start, request.now) for event in request.context}
    partners = content_words(" ".join(name.split(" ")[0] for name in setting.others))
    plans = follow(utterances, setting, Agenda(request.context, starts, partners))
    for plan in plans:
        if plan.is_unnamed and plan.settled is not None and not plan.foreign:
            plan.topic = topic_of(plan, utterances, setting.now)
    decided = (decide(plan, setting, starts) for each in plans for plan in _on_all_days(each))
    return _distinct(_zoned(event, request) for event in decided if event is not None)


def _on_all_days(plan: Plan) -> Iterator[Plan]:
    """The plan, and copies of it for further days that were named with the first."""
    settled = plan.settled
    if settled is None or not settled.when.also or plan.target is not None:
        yield plan
        return
    when = settled.when
    if plan.kind.all_day:
        last = max(day for day, _ in when.also)
        yield replace(plan, settled=replace(settled, when=replace(when, last=last)))
        return
    for day, clock in ((when.day, None), *when.also):
        on_day = replace(when, day=day, clock=clock or when.clock)
        yield replace(plan, settled=replace(settled, when=on_day))


def _owner_among(owner: str, speakers: frozenset[str]) -> str:
    """The speaker who is the owner: by full name, by first name, or as "Me"."""
    wanted = owner.strip().lower()
    first = wanted.split(" ")[0]
    by_name = {speaker.strip().lower(): speaker for speaker in sorted(speakers)}
    by_first_name = {name.split(" ")[0]: speaker for name, speaker in by_name.items()}
    by_self = next((by_name[name] for name in _SELF if name in by_name), owner)
    return by_name.get(wanted) or by_first_name.get(first) or by_self


def _wall_clock(moment: datetime, now: datetime) -> datetime:
    if moment.tzinfo is not None and now.tzinfo is not None:
        moment = moment.astimezone(now.tzinfo)
    return moment.replace(tzinfo=None)


def _zoned(event: Event, request: Request) -> Event:
    """`event` with the offset of the reference time, where that has one."""
    zone = request.now.tzinfo
    if zone is None or event.action == "delete":
        return event
    start = event.start_time.replace(tzinfo=zone) if event.start_time else None
    end = event.end_time.replace(tzinfo=zone) if event.end_time else None
    return replace(event, start_time=start, end_time=end)


def _distinct(events: Iterable[Event]) -> tuple[Event, ...]:
    """`events` without repetitions; nobody plans two new things for the same time."""
    kept: dict[tuple[object, ...], Event] = {}
    changed: set[datetime | None] = set()
    for event in events:
        key: tuple[object, ...] = (event.action, event.start_time)
        if event.action != "create":
            key = (event.action, event.existing_event_id)
            changed.add(event.start_time)
        held = kept.get(key)
        if held is None or _is_vaguer(held, event):
            kept[key] = event
    return tuple(e for e in kept.values() if e.action != "create" or e.start_time not in changed)


def _is_vaguer(one: Event, other: Event) -> bool:
    """Whether the title of `one` says only that people meet or talk, and that of `other` more."""
    vague = ("Meeting", "Call", "Catch-up")
    return one.title.startswith(vague) and not other.title.startswith(vague)
