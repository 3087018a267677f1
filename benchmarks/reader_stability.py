"""How often the embedded extractor changes its mind over what must not matter.

    python -m benchmarks.reader_stability [FOLDER ...]

Each conversation is read as it is and with one thing changed. An answer is another one if an event
is, in action, title, time, confidence or the event of the calendar that it is about. The sets are
the bundled samples, the conversations kept out of training, and the folders of samples named.
Ten minutes; the figures do not depend on the machine.
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
    """A request with one thing changed, and how that changes the words and dates of its answer."""

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
    """Put one to eight events among those of the calendar that share no word with the talk.

    They are on days that it does not name, or at hours that it does not name of days that it does.
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
    titles = [title for title in TITLES if not any(w in spoken for w in _words(title))]
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
    """Give the speakers other names, wherever they are named."""
    old = dict.fromkeys(utterance.speaker for utterance in request.transcript.utterances)
    named = [name for name in old if name.isalpha() and name.istitle()]
    free = [name for name in NAMES if name.lower() not in request.transcript.as_text().lower()]
    names = tuple(zip(named, chance.sample(free, len(free)), strict=False))
    utterances = tuple(
        Utterance(_renamed(it.speaker, names), _renamed(it.words, names), it.line)
        for it in request.transcript.utterances
    )
    context = tuple(replace(it, summary=_renamed(it.summary, names)) for it in request.context)
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
        replace_words(it, f" {chance.choice(('  ', chr(9), '   ')).join(it.words.split())} ")
        for it in request.transcript.utterances
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
    """Whether a view has the answer of its request; None where what is said means another time.

    So it is with dates by the month in other weeks, and with "in an hour" at another minute.
    """
    mentions = (read_dialogue(it).mentions for it in (request, view.request))
    times = [
        [(mention.kind, _moved(mention, later)) for mention in mentions_of_view]
        for mentions_of_view, later in zip(mentions, (view.later, timedelta()), strict=True)
    ]
    if request.now != view.request.now and times[0] != times[1]:
        return None
    before = [_told(event, view.names, view.later) for event in answer]
    return before == [_told(event) for event in read_events(view.request)]


def _moved(mention: Mention, later: timedelta) -> object:
    value = mention.value
    return value + later if mention.kind in ("day", "week") else value  # type: ignore[operator]


def _told(
    event: Event, names: Sequence[tuple[str, str]] = (), later: timedelta = timedelta()
) -> tuple[object, ...]:
    """Return what counts of an event; of a time without a day only the time of day."""
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


def _words(title: str) -> list[str]:
    return title.casefold().split()


def requests_of(folder: Path) -> list[Request]:
    return [sample.request for sample in load_samples(folder).samples]


def shares_changed(requests: Sequence[Request]) -> list[str]:
    """The share of conversations whose events change with each change, and the counts."""
    same: dict[str, list[bool]] = {name: [] for name in CHANGES}
    for place, request in enumerate(requests):
        answer = read_events(request)
        for name, change in CHANGES.items():
            found = compared(request, answer, change(request, random.Random(str(place))))
            same[name] += [] if found is None else [found]
    return [
        f"{it.count(False) / max(1, len(it)):.1%} ({it.count(False)} of {len(it)})"
        for it in same.values()
    ]


def main() -> None:
    kept_out = [it for it in read_conversations(CONVERSATIONS.glob("*.jsonl")) if is_dev(it)]
    sets = {
        "bundled samples": requests_of(bundled_folder()),
        "kept out of training": [it.request for it in kept_out],
    }
    sets |= {folder: requests_of(Path(folder)) for folder in sys.argv[1:]}
    rows = tuple(zip(CHANGES, *map(shares_changed, sets.values()), strict=True))
    print(render(Table(("answers that change with", *sets), rows), "markdown"), end="")


if __name__ == "__main__":
    main()
