"""Measure how often the embedded extractor's answer changes with details that must not matter.

    python -m benchmarks.reader_stability [FOLDER ...]

Each conversation is read unchanged and with one thing changed. Answers differ if an event differs
in action, title, time, confidence or calendar event. The sets are the bundled samples, the
conversations kept out of training, and the given folders of samples. Takes ten minutes; the figures
do not depend on the machine.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from training.reader.conversations import is_dev, read_conversations

from cal_ai.benchmark.samples import bundled_folder, load_samples
from cal_ai.events import ContextEvent, Event
from cal_ai.extractors.protocol import Request
from cal_ai.extractors.reader.extractor import read_events
from cal_ai.extractors.reader.limits import title_words
from cal_ai.extractors.reader.mentions import Mention, read_dialogue
from cal_ai.transcripts.conversation import Transcript, Utterance
from truemark.tables import Table, render

CONVERSATIONS = Path(__file__).parents[1] / "training" / "conversations"
NAMES = ("Quentin", "Odalys", "Fergus", "Ximena", "Bram", "Yusra", "Leopold", "Ines", "Tarek")
TITLES = (
    *("Zumba", "Quarterly taxes", "Orthodontist", "Opera", "Chess club", "Blood donation"),
    *("Budget forecast", "Puppy training", "Parents' council", "Fencing", "Sauna", "Choir"),
)
GREETINGS = ("Hi there!", "Hello!", "Hey, how are you?", "Good to hear you.")
FAREWELLS = ("Bye!", "Take care!", "Thanks, talk soon.", "Have a good one!")
_NO_DAY = "no day was said: it is the next such time"


@dataclass(frozen=True, slots=True)
class View:
    """A request with one thing changed, and how its answer should change in words and dates."""

    request: Request
    names: tuple[tuple[str, str], ...] = ()
    later: timedelta = timedelta()


Change = Callable[[Request, random.Random], View]


def other_minute(request: Request, chance: random.Random) -> View:
    minutes = chance.randint(1, 59)
    return View(
        replace(request, now=request.now.replace(minute=(request.now.minute + minutes) % 60))
    )


def other_hour(request: Request, chance: random.Random) -> View:
    half, hour = divmod(request.now.hour, 12)
    hour = (hour + chance.randint(1, 11)) % 12
    return View(replace(request, now=request.now.replace(hour=12 * half + hour)))


def more_events(request: Request, chance: random.Random, *, on_named_days: bool = False) -> View:
    """Add one to eight events to the calendar that share no word with the talk.

    They are on days that the talk does not name, or on named days at hours that it does not name.
    """
    mentions = read_dialogue(request).mentions
    days = {mention.value for mention in mentions if mention.kind == "day"}
    hours = {value // 60 % 12 for mention in mentions if isinstance(value := mention.value, int)}
    spoken = request.transcript.as_text().casefold()
    starts = [
        at
        for ahead in range(1, 15)
        for hour in range(8, 20)
        if ((at := _at(request.now, ahead, hour)).date() in days) == on_named_days
        and not (on_named_days and {(hour - 1) % 12, hour % 12, (hour + 1) % 12} & hours)
    ]
    titles = [title for title in TITLES if not any(stem in spoken for stem in title_words(title))]
    count = min(chance.randint(1, 8), len(titles), len(starts))
    context = list(request.context)
    first = max((event.id for event in context), default=0) + 1
    for number, title, at in zip(
        range(first, first + count),
        chance.sample(titles, count),
        chance.sample(starts, count),
        strict=True,
    ):
        event = ContextEvent(number, title, at, at + timedelta(hours=1))
        context.insert(chance.randint(0, len(context)), event)
    return View(replace(request, context=tuple(context)))


def more_on_named_days(request: Request, chance: random.Random) -> View:
    return more_events(request, chance, on_named_days=True)


def other_names(request: Request, chance: random.Random) -> View:
    """Rename the speakers everywhere."""
    old = dict.fromkeys(utterance.speaker for utterance in request.transcript.utterances)
    named = [name for name in old if name.isalpha() and name.istitle()]
    free = [name for name in NAMES if name.lower() not in request.transcript.as_text().lower()]
    names = tuple(zip(named, chance.sample(free, len(free)), strict=False))
    utterances = tuple(
        Utterance(
            _renamed(utterance.speaker, names), _renamed(utterance.words, names), utterance.line
        )
        for utterance in request.transcript.utterances
    )
    context = tuple(
        replace(event, summary=_renamed(event.summary, names)) for event in request.context
    )
    owner = _renamed(request.owner, names)
    request = replace(request, transcript=Transcript(utterances), owner=owner, context=context)
    return View(request, names)


def greeting(request: Request, chance: random.Random) -> View:
    utterances = request.transcript.utterances
    speaker = chance.choice(utterances).speaker
    if chance.random() < 0.5:
        utterances = (Utterance(speaker, chance.choice(GREETINGS), 0), *utterances)
    else:
        utterances = (*utterances, Utterance(speaker, chance.choice(FAREWELLS), 0))
    return View(replace(request, transcript=Transcript(utterances)))


def white_space(request: Request, chance: random.Random) -> View:
    utterances = tuple(
        replace_words(
            utterance, f" {chance.choice(('  ', chr(9), '   ')).join(utterance.words.split())} "
        )
        for utterance in request.transcript.utterances
    )
    return View(replace(request, transcript=Transcript(utterances)))


def replace_words(utterance: Utterance, words: str) -> Utterance:
    return Utterance(utterance.speaker, words, utterance.line)


def other_weeks(request: Request, chance: random.Random) -> View:
    later = timedelta(weeks=chance.randint(1, 40))
    context = tuple(
        replace(event, start=event.start + later, end=event.end and event.end + later)
        for event in request.context
    )
    return View(replace(request, now=request.now + later, context=context), later=later)


CHANGES: dict[str, Change] = {
    "another minute of the hour": other_minute,
    "another hour of the half day": other_hour,
    "1 to 8 unrelated events on other days": more_events,
    "1 to 8 unrelated events on days that are named": more_on_named_days,
    "other names": other_names,
    "a greeting before or after": greeting,
    "white space": white_space,
    "other weeks": other_weeks,
}


def compared(request: Request, answer: Sequence[Event], view: View) -> bool | None:
    """Whether a view has the answer of its request; None if the words now mean another time.

    Examples are dates by the month in other weeks, and "in an hour" at another minute.
    """
    mentions = (read_dialogue(each_request).mentions for each_request in (request, view.request))
    times = [
        [(mention.kind, _moved(mention, later)) for mention in mentions_of_view]
        for mentions_of_view, later in zip(mentions, (view.later, timedelta()), strict=True)
    ]
    if request.now != view.request.now and times[0] != times[1]:
        return None
    before = [_comparable(event, view.names, view.later) for event in answer]
    return before == [_comparable(event) for event in read_events(view.request)]


def _moved(mention: Mention, later: timedelta) -> object:
    value = mention.value
    return value + later if mention.kind in ("day", "week") else value  # type: ignore[operator]


def _comparable(
    event: Event, names: Sequence[tuple[str, str]] = (), later: timedelta = timedelta()
) -> tuple[object, ...]:
    """Return the parts of an event that are compared; without a day only the time of day."""
    start, end = (moment and moment + later for moment in (event.start_time, event.end_time))
    when: object = (start, end)
    if _NO_DAY in event.assumptions and start and end:
        when = (start.time(), end - start)
    title = _renamed(event.title, names)
    return event.action, title, when, event.confidence, event.existing_event_id


def _renamed(text: str, names: Iterable[tuple[str, str]]) -> str:
    new = dict(names)
    return re.sub(r"\w+", lambda match: new.get(match[0], match[0]), text)


def _at(now: datetime, ahead: int, hour: int) -> datetime:
    return now.replace(hour=hour, minute=0, second=0, microsecond=0) + timedelta(days=ahead)


def requests_of(folder: Path) -> list[Request]:
    return [sample.request for sample in load_samples(folder)]


def shares_changed(requests: Sequence[Request]) -> list[str]:
    """Return the share of conversations whose events change, and the counts, for each change."""
    same: dict[str, list[bool]] = {name: [] for name in CHANGES}
    for place, request in enumerate(requests):
        answer = read_events(request)
        for name, change in CHANGES.items():
            is_same = compared(request, answer, change(request, random.Random(str(place))))
            same[name] += [] if is_same is None else [is_same]
    return [
        f"{kept.count(False) / max(1, len(kept)):.1%} ({kept.count(False)} of {len(kept)})"
        for kept in same.values()
    ]


def main() -> None:
    kept_out = [
        conversation
        for conversation in read_conversations(CONVERSATIONS.glob("*.jsonl"))
        if is_dev(conversation)
    ]
    sets = {
        "bundled samples": requests_of(bundled_folder()),
        "kept out of training": [conversation.request for conversation in kept_out],
    }
    sets |= {folder: requests_of(Path(folder)) for folder in sys.argv[1:]}
    rows = tuple(zip(CHANGES, *map(shares_changed, sets.values()), strict=True))
    print(render(Table(("answers that change with", *sets), rows), "markdown"), end="")


if __name__ == "__main__":
    main()
