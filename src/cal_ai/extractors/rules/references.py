"""Which event of the calendar a clause speaks of."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

from cal_ai.events import ContextEvent
from cal_ai.extractors.rules.activities import Activity
from cal_ai.extractors.rules.moments import Moments
from cal_ai.extractors.rules.patterns import found, pattern, words
from cal_ai.extractors.rules.reading import Reading

_EMPTY = words(
    """
    with the a an and of for to at in on my our your re meeting event about session appointment call
    """
)
GENERIC = words("meeting appointment call session event thing slot chat talk catch-up sync")
# Words that many titles share: alone they name no event.
_COMMON = words("team weekly daily monthly project client new family company plan group quick work")
_SAME = (
    {"1:1", "one-on-one", "1-1"},
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
        content.add(pattern(r"(?<=[^aeiou][aeiou])([bdgmpt])\1ing$").sub(r"\1", word))
    return frozenset(content)


def best_matches(
    reading: Reading, old: Moments, events: Sequence[ContextEvent], starts: dict[int, datetime]
) -> list[ContextEvent]:
    """The events that the clause names by title, people, day or time, each by words of its own.

    The first is the one that fits best; there is none if no event fits well.
    """
    left = content_words(reading.named)
    chosen: list[ContextEvent] = []
    while len(chosen) < len(events):
        scored = [
            (_score(reading, left, old, event, starts[event.id]), event)
            for event in events
            if event not in chosen
        ]
        top = max(score for score, _ in scored)
        if top < _ENOUGH:
            break
        best = [event for score, event in scored if score == top]
        chosen.append(min(best, key=lambda event: starts[event.id]))
        used = content_words(chosen[-1].summary) & left
        if not used - _EMPTY:
            break
        left -= used
    return chosen


_ENOUGH = 2.0


def _score(
    reading: Reading, said: frozenset[str], old: Moments, event: ContextEvent, start: datetime
) -> float:
    title = content_words(event.summary)
    telling = title - _EMPTY
    shared = telling if _acronym(event.summary) in said else telling & said
    score = sum(0.9 if word in _COMMON else 2.0 for word in shared)
    if telling and shared == telling:
        score += 0.5
    generic = (title - telling) & said & GENERIC
    score += 0.6 * bool(generic)
    speaker = reading.speaker.lower().split(" ")[0]
    score += 1.0 * (speaker in title)
    other = _is_other_activity(reading.activity, said, title)
    score -= 2.0 * other
    named_time = _time_score(old, start)
    if not shared and not generic and speaker not in title:
        # A day alone names no event, nor does a time together with another activity.
        new = reading.activity is not None and reading.activity.indefinite
        return 0.0 if other or new or not old.minutes else named_time
    return score + named_time


@lru_cache(maxsize=1024)
def _acronym(title: str) -> str:
    """The initials of a title of three or more words, else a word that nobody says."""
    initials = "".join(word[0] for word in pattern(r"[^\W\d_][\w']*").findall(title.lower()))
    return initials if len(initials) >= 3 else "\0"


def is_unspecific(activity: Activity) -> bool:
    """Whether the activity could be any event ("the meeting", but not "the client meeting")."""
    return activity.noun in GENERIC and content_words(activity.title) <= _EMPTY | GENERIC


def _is_other_activity(
    activity: Activity | None, said: frozenset[str], title: frozenset[str]
) -> bool:
    """Whether the clause speaks of an activity that the title does not name."""
    if activity is None or activity.weak:
        return False
    if is_unspecific(activity):
        return False
    named = content_words(activity.title if activity.noun in GENERIC else activity.noun) - GENERIC
    return bool(named & said) and not named & title


def _time_score(old: Moments, start: datetime) -> float:
    """How well the day and the time named fit those of an event."""
    score = 0.0
    for day in old.days:
        if day.day == start.date():
            score += 1.5
        elif day.day is not None:
            score += 1.0 if day.weekday == start.weekday() else -2.0
    for clock in old.clocks:
        if clock.minute is not None:
            same = clock.minute % 720 == minute_of(start) % 720
            score += 2.0 if same else -1.5
    for part in old.parts:
        score += 0.5 if lies_in(part.part, start.hour) else -1.0
    return score


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


def minute_of(moment: datetime) -> int:
    return moment.hour * 60 + moment.minute


def _on_days(moments: Moments, start: datetime) -> bool:
    if not moments.days:
        return True
    for day in moments.days:
        if day.day is not None and day.day <= start.date() <= (day.last or day.day):
            return True
        if day.week is not None and 0 <= (start.date() - day.week).days < 7:
            return True
    return False
