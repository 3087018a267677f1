"""Which event of the calendar a clause speaks of."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

from cal_ai.events import ContextEvent
from cal_ai.extractors.rules.activities import Activity
from cal_ai.extractors.rules.moments import Moments
from cal_ai.extractors.rules.patterns import cased, found, pattern, words
from cal_ai.extractors.rules.reading import Reading
from cal_ai.extractors.rules.reckoning import minute_of
from cal_ai.extractors.rules.remarks import is_about
from cal_ai.extractors.rules.spans import blanked

_LINKS = words("with the a an and of for from to at in on my our your re about")
_PLACES = words("room hall house office building place street road centre center")
_EMPTY = _LINKS - {"from"} | words("meeting event session appointment call")
GENERIC = words("meeting appointment call session event thing slot chat talk catch-up sync")
# Words that many titles share: alone they name no event.
_COMMON = words("team weekly daily monthly project client new family company plan group quick work")
_SAME = (
    {"1:1", "one-on-one", "one-to-one", "1-1"},
    {"standup", "stand-up", "scrum"},
    {"catch-up", "catchup", "check-in", "checkin"},
    {"doctor", "doctor's", "physician", "doc", "gp"},
    {"dentist", "dental", "dentist's"},
    {"retro", "retrospective"},
    {"kickoff", "kick-off"},
    {"workout", "gym"},
    {"movie", "movies", "film"},
    {"sync", "sync-up", "syncup"},
    {"drinks", "beers", "drink"},
    {"vet", "veterinarian"},
    {"physio", "physiotherapy"},
    {"haircut", "hairdresser", "barber"},
    {"presentation", "deck"},
    {"vaccination", "vaccine", "jab", "shot"},
    {"checkup", "check-up"},
    {"optician", "optometrist"},
)
_ALIASES = {word: min(group) for group in _SAME for word in group}


@lru_cache(maxsize=4096)
def content_words(text: str) -> frozenset[str]:
    """The words of a title or clause, without plurals, possessives and spelling variants."""
    content = set()
    for match in pattern(r"[\w:'-]+").finditer(text.lower()):
        word = match[0].strip("':-").removesuffix("'s")
        word = _ALIASES.get(word, word)
        if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
            word = word[:-1]
        word = _ALIASES.get(word, word)
        if word.endswith("ng"):
            word = pattern(r"(?<=[^aeiou][aeiou])([bdgmpt])\1ing$").sub(r"\1", word)
        content.add(word)
    return frozenset(content)


def matches(
    reading: Reading,
    old: Moments,
    events: Sequence[ContextEvent],
    starts: dict[int, datetime],
    partners: frozenset[str],
) -> list[ContextEvent]:
    """The events that the clause names by title, people, place, day or time, the best first."""
    if not events:
        return []
    vocabulary = _vocabulary(tuple((event.summary, event.location or "") for event in events))
    timed = old.clocks or (old.days and not partners.isdisjoint(vocabulary))
    if not timed and content_words(reading.named).isdisjoint(vocabulary):
        return []  # nothing of any event is said
    said = content_words(_without_times(reading))
    if said and said <= partners:
        return []  # somebody is called by name
    titles = [content_words(event.summary) for event in events]
    own = frozenset(word for word in said if sum(word in title for title in titles) == 1)
    both = _concerns_both(reading)
    scores = (_score(reading, said, own, old, e, starts[e.id], partners, both) for e in events)
    good = [(score, e) for score, e in zip(scores, events, strict=True) if score is not None]
    good.sort(key=lambda it: (-it[0], starts[it[1].id]))
    return [event for _, event in good]


@lru_cache(maxsize=64)
def _vocabulary(events: tuple[tuple[str, str], ...]) -> frozenset[str]:
    """The words by which any of the events, given by title and place, can be named."""
    words_ = frozenset[str]().union(*(content_words(title) - _LINKS for title, _ in events))
    places = frozenset[str]().union(*(content_words(place) - _LINKS for _, place in events))
    return words_ | places | {_acronym(title) for title, _ in events}


_PASSING = (
    r"\b(?:before|after|until|till|during|following|since)"
    r" (?:the |my |our |your |his |her )?[\w'-]+(?: (?!is|and|can|could|to|on|at|we|i)[\w'-]+)?"
)


_IN_BOOKS = (
    r"\b(?:off|out of|from|in|on|into) (?:the|my|your|our)"
    r" (?:books?|calendar|diary|schedule|list|system)\b"
)


def _without_times(reading: Reading) -> str:
    text = blanked(reading.named, reading.moments.spans)
    return pattern(_IN_BOOKS).sub(" ", pattern(_PASSING).sub(" ", text))


def _concerns_both(reading: Reading) -> bool:
    """Whether the clause may be about what speaker and hearer have together."""
    vague = reading.activity is not None and is_unspecific(reading.activity)
    together = reading.shared or reading.addressed or vague or is_about(reading.text)
    return together or reading.refuses or reading.moves or reading.cancels


def place_words(event: ContextEvent) -> frozenset[str]:
    """The words that tell the place of an event from others."""
    return content_words(event.location or "") - _LINKS - _PLACES


def _score(
    reading: Reading,
    said: frozenset[str],
    own: frozenset[str],
    old: Moments,
    event: ContextEvent,
    start: datetime,
    partners: frozenset[str],
    both: bool,
) -> float | None:
    title = content_words(event.summary) - _LINKS
    weights = {word: _weight(word) for word in title}
    shared = title if _acronym(event.summary) in said else title & said
    got = sum(weights[word] for word in shared)
    if shared or both:
        got += sum(0.6 * weights[name] for name in (partners & title) - shared)
    cover = got / (sum(weights.values()) or 1.0)
    place = place_words(event)
    if place <= said:
        near = reading.text.count(" ") < 5 or reading.cancels or reading.drops or reading.refuses
        cover = max(cover, (0.5 if near or len(place) > 1 else 0.4) if place else 0.0)
    fits = _time_score(old, start)
    if own & _names(event.summary) and (reading.activity is None or reading.activity.weak):
        cover, fits = max(cover, 0.5), max(fits, 0.0)
    score = cover + fits
    if _is_other_activity(reading.activity, said, title):
        score -= 0.5
    if not shared and cover < 0.4:
        # A day alone names no event, nor does a time together with another activity.
        new = reading.activity is not None and not reading.activity.weak
        new = new or reading.proposes or reading.question or reading.bare
        return score if score > 0.6 and not new else None
    known = reading.activity is None or reading.activity.definite
    known = known or reading.cancels or reading.moves or reading.refuses
    known = known or reading.text.count(" ") < 3
    return score if score >= (0.5 if known else 0.6) else None


@lru_cache(maxsize=1024)
def _names(title: str) -> frozenset[str]:
    """The words of a title after the first that are written with a capital: names, mostly."""
    return content_words(" ".join(cased(r"(?<=\S )[A-Z][\w'-]+").findall(title)))


def _weight(word: str) -> float:
    return 0.4 if word in GENERIC else 0.6 if word in _COMMON else 1.0


def _is_other_activity(
    activity: Activity | None, said: frozenset[str], title: frozenset[str]
) -> bool:
    """Whether the clause speaks of an activity that the title does not name."""
    if activity is None or activity.weak or activity.guessed or is_unspecific(activity):
        return False
    named = content_words(activity.title if activity.noun in GENERIC else activity.noun) - GENERIC
    return bool(named & said) and not named & title


def _time_score(old: Moments, start: datetime) -> float:
    """How well the day and the time named fit those of an event."""
    score = 0.0
    for day in old.days:
        if day.day == start.date():
            score += 0.3
        elif day.day is not None:
            score += 0.2 if day.weekday == start.weekday() else -0.25
    for clock in old.clocks:
        if clock.minute is not None:
            score += 0.4 if clock.minute % 720 == minute_of(start) % 720 else -0.1
    for part in old.parts:
        score += 0.1 if lies_in(part.part, start.hour) else -0.15
    return score


@lru_cache(maxsize=1024)
def _acronym(title: str) -> str:
    """The initials of a title of three or more words, else a word that nobody says."""
    initials = "".join(word[0] for word in pattern(r"[^\W\d_][\w']*").findall(title.lower()))
    return initials if len(initials) >= 3 else "\0"


def is_unspecific(activity: Activity) -> bool:
    """Whether the activity could be any event ("the meeting", but not "the client meeting")."""
    return activity.noun in GENERIC and content_words(activity.title) <= _EMPTY | GENERIC


def lies_in(part: str, hour: int) -> bool:
    low, high = {
        "morning": (5, 12),
        "lunchtime": (11, 15),
        "afternoon": (12, 18),
        "evening": (17, 24),
        "night": (18, 24),
    }[part]
    return low <= hour < high


def bulk_matches(
    reading: Reading, moments: Moments, events: Sequence[ContextEvent], starts: dict[int, datetime]
) -> list[ContextEvent]:
    """The events that "everything on Friday" or "my whole afternoon" stands for."""
    text = reading.text
    whole = r"\b(?:everything|all (?:my|our|of my|of our)|(?:my|the) (?:whole|entire))\b"
    if not (moments.days or moments.parts or found(whole, text)):
        return []
    chosen = [event for event in events if _on_days(moments, starts[event.id])]
    for part in moments.parts:
        chosen = [event for event in chosen if lies_in(part.part, starts[event.id].hour)]
    for clock in moments.clocks:
        if clock.minute is not None and clock.approximate:
            minute = clock.minute if clock.certain or clock.minute >= 8 * 60 else clock.minute + 720
            late = found(r"\b(?:after|from|past)\b", text[: clock.start])
            chosen = [e for e in chosen if (minute_of(starts[e.id]) >= minute) == late]
    spared = pattern(r"\b(?:except|but|besides|apart from|other than|keep|excluding)\b(.*)").search(
        text
    )
    if spared:
        words = content_words(spared[1]) - _EMPTY
        chosen = [event for event in chosen if not (content_words(event.summary) - _EMPTY) & words]
    kind = pattern(
        r"\b(?:all|every|both)\b (?:of )?(?:my |the |our )?(?:\w+ )?(meetings?|calls?"
        r"|appointments?|1:1s?|syncs?|interviews?|reviews?)"
    ).search(text)
    if kind and kind[1].lower().rstrip("s") not in ("meeting",):
        wanted = content_words(kind[1])
        chosen = [event for event in chosen if content_words(event.summary) & wanted]
    return chosen


def _on_days(moments: Moments, start: datetime) -> bool:
    if not moments.days:
        return True
    for day in moments.days:
        if day.day is not None and day.day <= start.date() <= (day.last or day.day):
            return True
        if day.week is not None and 0 <= (start.date() - day.week).days < 7:
            return True
    return False
