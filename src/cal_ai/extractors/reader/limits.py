"""How much of a conversation and its calendar the reader takes in at once."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from dataclasses import replace

from cal_ai.events import ContextEvent
from cal_ai.extractors.protocol import Request
from cal_ai.extractors.reader.mentions import Dialogue, read_dialogue
from cal_ai.extractors.reader.patterns import pattern, words
from cal_ai.extractors.reader.reckoning import minute_of
from cal_ai.transcripts.conversation import Transcript
from truemark.services.calls import CallFailed

_MOST_EVENTS, _MOST_TIMED = 11, 2  # of a calendar
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
    """A conversation has more in it than is read at once."""


def length_of(transcript: Transcript) -> int:
    """Count the characters of what is said and of the speakers' names."""
    return sum(len(speaker) + len(words) for speaker, words, _ in transcript.utterances)


def refusal(request: Request, most: int) -> CallFailed:
    """Make the failure that says that the conversation is too long."""
    length, lines = length_of(request.transcript), len(request.transcript.utterances)
    return CallFailed(
        f"the conversation is too long: {length:,} characters in {lines:,} lines, expected"
        f" about {most:,} at most: give a part, or take an --extractor that reads more"
    )


def halves(request: Request) -> tuple[Request, Request]:
    """Split a request into one for each half of the conversation."""
    utterances = request.transcript.utterances
    middle = len(utterances) // 2
    first, second = Transcript(utterances[:middle]), Transcript(utterances[middle:])
    return replace(request, transcript=first), replace(request, transcript=second)


def read_relevant(request: Request) -> list[Dialogue]:
    """Read a conversation with the events of the calendar that share a word with it.

    Then with one more that begins at an hour of a day that it names, for each of some of those.
    Whatever else is in the calendar cannot change the answer. Greetings at either end are left out
    for the same reason.
    """
    utterances = request.transcript.utterances
    names = {name for said in utterances for name in said.speaker.lower().split()}
    telling = [place for place, said in enumerate(utterances) if not _greets(said.words, names)]
    if telling:
        utterances = utterances[telling[0] : telling[-1] + 1]
        request = replace(request, transcript=Transcript(utterances))
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
    timed = [
        event
        for event in request.context
        if event.start.date() in days and minute_of(event.start) % 720 in hours
        if not shared(event)
    ]
    shown = [context, *((*context, event) for event in timed[:_MOST_TIMED])]
    return [replace(talk, request=replace(request, context=events)) for events in shown]


def _greets(said: str, names: AbstractSet[str]) -> bool:
    rest, greetings = pattern(_GREETING).subn(" ", said)
    return greetings > 0 and set(re.findall(r"\w+", rest.lower())) <= _POLITE | names


def title_words(title: str) -> frozenset[str]:
    """Return the stems of the words that tell a title from others."""
    spoken = LONG_WORD.findall(title.lower())
    return frozenset(stem_of(word) for word in spoken if word not in _COMMON)


def stem_of(word: str) -> str:
    return word[:-1] if len(word) > 4 and word.endswith("s") else word
