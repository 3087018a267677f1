"""How much of a conversation and of the calendar is read at once."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import date, timedelta

from cal_ai.events import ContextEvent
from cal_ai.extractors.protocol import Request
from cal_ai.extractors.reader.mentions import Dialogue, read_dialogue
from cal_ai.extractors.reader.patterns import occurs, pattern, words
from cal_ai.extractors.reader.reckoning import minute_of

_MOST_EVENTS, _MOST_ALONE, _MOST_TOGETHER = 11, 2, 8  # of a calendar
# Words for several events of a day or a week that are not named one by one.
_TOGETHER = (
    r"\b(?:everything|anything|nothing|all|both|each|every|whole|entire|rest of|the lot|none of"
    r"|clear(?:ed|ing|s)?|wipe[ds]?|wiping|empt(?:y|ied)|free up|block(?:ed)? off|cancel(?:l?ed)?"
    r" (?:my|the) (?:day|week|morning|afternoon|evening)|except|apart from|other than|besides"
    r"|(?:only|just) (?:the|my|keep|leave)|(?:keep|leave) (?:only|just)|what'?s left|whatever"
    r"|calendar|diary|schedule)\b"
)
LONG_WORD = re.compile(r"\w{3,}")
_COMMON = words(
    "the and for with from this that our your her his their call meeting appointment session"
)
_GREETING = (
    r"\b(?:hi|hiya|hey|hello|good (?:morning|afternoon|evening)|bye(?:[ -]bye)?|goodbye|take care"
    r"|(?:talk|speak)(?: to you)? (?:soon|later)|(?:good|nice|great) to (?:see|hear)(?: from)? you"
    r"|have a (?:good|nice|great|lovely) (?:one|day|evening|weekend)|how are you(?: doing)?)\b"
)
_POLITE = words("thanks thank you cheers there all everyone again too")


class TooLong(Exception):  # noqa: N818  # a reason to read less at once
    """A conversation is too long to be read at once."""


def halves(request: Request) -> tuple[Request, Request]:
    """Make a request for each half of the conversation."""
    transcript = request.transcript
    middle = len(transcript.utterances) // 2
    first, second = transcript.excerpt(0, middle), transcript.excerpt(middle, None)
    return replace(request, transcript=first), replace(request, transcript=second)


def read_relevant(request: Request) -> list[Dialogue]:
    """Read a conversation with the calendar events that share a word with it.

    Further readings have one more event each, which begins on a day that is named; those at an hour
    that is named come first.
    If several events may be meant together ("clear my Friday"), the last reading has those of the
    named days if they are at least two. The rest of the calendar, and greetings at either end,
    cannot change the answer.
    """
    utterances = request.transcript.utterances
    names = {name for turn in utterances for name in turn.speaker.lower().split()}
    telling = [place for place, turn in enumerate(utterances) if not _greets(turn.words, names)]
    if telling:
        excerpt = request.transcript.excerpt(telling[0], telling[-1] + 1)
        request = replace(request, transcript=excerpt)
    talk = read_dialogue(request)
    spoken = {
        stem_of(word) for line in (*talk.lines, *names) for word in LONG_WORD.findall(line.lower())
    }
    days = {mention.value for mention in talk.mentions if mention.kind == "day"}
    hours = {value % 720 for mention in talk.mentions if isinstance(value := mention.value, int)}

    def shared(event: ContextEvent) -> int:
        return len(title_words(event.summary) & spoken)

    related = sorted(filter(shared, request.context), key=shared, reverse=True)[:_MOST_EVENTS]
    context = tuple(event for event in request.context if event in related)
    unnamed = [event for event in request.context if not shared(event)]
    dated = [event for event in unnamed if event.start.date() in days]
    timed = [event for event in dated if minute_of(event.start) % 720 in hours]
    coming = [event for event in dated if event.start.replace(tzinfo=None) >= talk.now]
    alone = (*timed, *(event for event in coming if event not in timed))[:_MOST_ALONE]
    shown = [context, *((*context, event) for event in alone)]
    together = [
        event
        for event in _on_named_days(talk)
        if event in unnamed and event not in timed[:_MOST_ALONE]
    ]
    if len(together) > 1:
        shown.append((*context, *together[:_MOST_TOGETHER]))
    return [replace(talk, request=replace(request, context=events)) for events in shown]


def _on_named_days(talk: Dialogue) -> list[ContextEvent]:
    """Return the coming events on the days and in the weeks that are named, else those of today.

    None if nothing in the talk says that several events are meant.
    """
    if not any(occurs(_TOGETHER, line) for line in talk.lines):
        return []
    spans = []
    for mention in talk.mentions:
        if isinstance(mention.value, date):
            week = mention.value + timedelta(days=6)
            last = week if mention.kind == "week" else mention.last or mention.value
            spans.append((mention.value, last))
    today = talk.now.date()
    spans = spans or [(today, today)]
    return [
        event
        for event in talk.request.context
        if event.start.replace(tzinfo=None) >= talk.now
        if any(first <= event.start.date() <= last for first, last in spans)
    ]


def _greets(words: str, names: AbstractSet[str]) -> bool:
    rest, greetings = pattern(_GREETING).subn(" ", " ".join(words.split()))
    return greetings > 0 and set(re.findall(r"\w+", rest.lower())) <= _POLITE | names


def title_words(title: str) -> frozenset[str]:
    """Return the stems of the words of a title, without short and common ones."""
    long_words = LONG_WORD.findall(title.lower())
    return frozenset(stem_of(word) for word in long_words if word not in _COMMON)


def stem_of(word: str) -> str:
    return word[:-1] if len(word) > 4 and word.endswith("s") else word
