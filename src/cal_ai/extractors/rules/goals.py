"""What an activity is for, which makes the better half of its title."""

from __future__ import annotations

from dataclasses import replace

from cal_ai.extractors.rules.activities import Activity
from cal_ai.extractors.rules.patterns import cased, inner_case, pattern, sentence_case
from cal_ai.extractors.rules.spans import Spans, covers
from cal_ai.extractors.rules.vocabulary import DETERMINERS, MODIFIERS, STOPS

_GOAL = (
    r"to (?:discuss|go over|talk about|talk through|review|plan|walk through|look at|hash out|work"
    r" on"
    r"|finalize|finalise|sort out|prep for|prepare for|cover|nail down|go through)"
)
_TOPIC = (
    rf"^\W*(?P<link>{_GOAL}|about|regarding|re:?|on|for|of)"
    r" (?:(?:the|our|my|your|this|that|some) )?(?P<topic>[\w'&-]+(?: [\w'&-]+){0,2})"
)
_LATER_GOAL = rf"^.{{0,60}}?(?=\b(?:{_GOAL})\b)"
_DESTINATION = r"^ (?:out )?to ((?:(?!\w+day\b)[A-Z][\w-]+ ?){1,3})"
_GENERIC = {
    *("meeting", "call", "sync", "chat", "discussion", "session", "review", "meet-up", "meetup"),
    *("catch-up", "check-in", "huddle", "working session", "planning session", "video call"),
    *("phone call", "zoom", "zoom call", "presentation", "class", "lesson", "workshop"),
    *("walkthrough", "walk-through"),
}
_TRIPS = {"flight", "trip", "train", "ride", "red-eye", "road trip"}


def with_topic(activity: Activity, text: str, moments: Spans) -> Activity:
    """`activity` titled after its topic or goal, if one follows ("a meeting about the budget")."""
    rest = text[activity.end :]
    if activity.noun in _TRIPS:
        to = cased(_DESTINATION).search(rest)
        return replace(activity, title=f"{activity.title} to {to[1].strip()}") if to else activity
    one_word = " " not in activity.title
    if not (activity.weak or (activity.noun in _GENERIC and one_word)):
        return activity
    match = pattern(_TOPIC).search(rest) or pattern(_TOPIC).search(
        pattern(_LATER_GOAL).sub("", rest, count=1)
    )
    if match is None:
        return activity
    topic = _topic_words(match["topic"], activity.end + rest.find(match["topic"]), moments)
    loose = match["link"].lower() in ("on", "for", "of")
    named = all(word.lower() in MODIFIERS or word[:1].isupper() for word in topic)
    if not topic or (loose and (activity.weak or not named)):
        return activity
    if match["link"].lower() == "for" and topic[0][:1].isupper():
        return activity  # "a call for Ben"
    if topic[-1].lower() == activity.title.lower():
        return replace(activity, title=sentence_case(" ".join(topic)))
    return replace(activity, title=sentence_case(" ".join((*topic, inner_case(activity.title)))))


def _topic_words(said: str, at: int, moments: Spans) -> list[str]:
    taken: list[str] = []
    for match in pattern(r"[\w'&-]+").finditer(said):
        lower = match[0].lower()
        if lower in STOPS or lower in DETERMINERS:
            break
        if lower in ("everything", "things", "stuff", "something", "details"):
            break
        if covers(moments, at + match.start(), at + match.end()):
            break
        taken.append(match[0])
    return taken
