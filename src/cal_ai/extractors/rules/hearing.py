"""Clauses as they are to be understood after what was said before them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from cal_ai.extractors.rules.activities import CHORE
from cal_ai.extractors.rules.date_forms import Day
from cal_ai.extractors.rules.memory import FAR
from cal_ai.extractors.rules.patterns import cased, found, pattern
from cal_ai.extractors.rules.reading import Reading
from cal_ai.extractors.rules.references import content_words
from cal_ai.extractors.rules.scene import Scene
from cal_ai.extractors.rules.spans import covers
from cal_ai.extractors.rules.vocabulary import NOBODY, STOPS

_NOT_PERSONS = STOPS | NOBODY
_WOULD = r"\b(?:i|we|you|he|she|they|it)'d\b|\b(?:would|could)\b"


_SOMEBODY = (
    r"\b(?i:he|she|they)\b"
    r"|\b(?!(?i:what|who|how|when|where|that|it|there|let|here|why|today|tomorrow|\w+day)'s)"
    r"[A-Z]\w+'s (?:week|weekend|day|plan|plans|schedule|timetable)\b"
)
_PROMISED = r"\b(?:told|promised|said)(?: \w+)? (?:i|we)'d\b|\b(?:would|'d) like\b"


def heard(scene: Scene, reading: Reading) -> Reading:
    """`reading` as part of what is being supposed or told ("We had lunch. At one.")."""
    reading = _as_end(scene, _without_places(scene, _near_day_talked_about(scene, reading)))
    reading = _named_for_pronoun(scene, _at_time_just_said(scene, reading))
    if _is_rescheduled(scene, reading):
        reading = replace(reading, void="")
    if reading.void == "hypothetical" and found(r"\bif\b", reading.text):
        scene.supposed = scene.turn
    supposed = scene.turn - scene.supposed <= 3 and found(_WOULD, reading.text)
    supposed = supposed and not found(_PROMISED, reading.text)
    if supposed and not (reading.void or reading.question):
        scene.supposed = scene.turn
        return replace(reading, void="hypothetical")
    if not reading.void and _is_asked_about_others(scene, reading):
        return replace(reading, void="others")
    answers = reading.question or reading.void or reading.agrees or reading.corrects
    told = scene.turn <= scene.story_ends
    if scene.story and told and (reading.is_fragment or reading.bare) and not answers:
        return replace(reading, void=scene.story)
    return reading


def _is_asked_about_others(scene: Scene, reading: Reading) -> bool:
    """Whether the clause answers a question about others ("What's Leo doing?" "Golf at six.")."""
    asked = scene.question
    near = scene.near(1)
    if not scene.is_asked(reading) or reading.question:
        return False
    if near is not None and near.is_open:
        return False
    ours = r"\b(?:i|i'm|i've|i'll|me|my|we|we're|we've|we'll|us|our|you|your|you're|let's)\b"
    if found(ours, asked.text) or found(ours, reading.text) or scene.tells_when(reading):
        return False
    return cased(_SOMEBODY).search(asked.text) is not None


def _as_end(scene: Scene, reading: Reading) -> Reading:
    """`reading` with a time as the end that was asked for ("Till when?" "Six.")."""
    asked = r"\b(?:until when|till when|finish|ends?|how long till|over)\b"
    recent = 0 <= scene.turn - scene.question.turn <= 1
    if not (recent and reading.bare and len(reading.moments.clocks) == 1):
        return reading
    if not found(asked, scene.question.text) or reading.moments.days:
        return reading
    return replace(reading, moments=reading.moments.as_ends())


def _without_places(scene: Scene, reading: Reading) -> Reading:
    """`reading` without an activity that is only where an event takes place ("Town Hall")."""
    if reading.activity is None:
        return reading
    named = content_words(reading.activity.title)
    places = (content_words(event.location) for event in scene.agenda.events if event.location)
    return replace(reading, activity=None) if named in places else reading


def _at_time_just_said(scene: Scene, reading: Reading) -> Reading:
    """`reading` with the time said right before it ("Thursday, 4:30, I'll fetch the car")."""
    if reading.activity is not None and found(
        r"^(?:pick|fetch|collect|meet)\b", reading.activity.title
    ):
        reading = _at_arrival(scene, reading)
    before, activity = scene.said[-1] if scene.said else None, reading.activity
    if before is None or before.utterance is not reading.utterance or activity is None:
        return reading
    said = before.bare and bool(before.moments.dates and before.moments.minutes)
    taken = scene.focus is not None and scene.focus.touched == scene.turn
    tells = activity.kind is CHORE and reading.announces and not (reading.void or reading.question)
    if not (said and tells) or taken or reading.moments:
        return reading
    return replace(reading, moments=before.moments)


_ARRIVING = r"\b(?:lands?|landing|arriv\w+|gets? in|comes? in|plane|train|flight|bus)\b"


def _at_arrival(scene: Scene, reading: Reading) -> Reading:
    """`reading` with the time at which whoever is to be fetched arrives."""
    if reading.moments or reading.void or reading.question or not reading.announces:
        return reading
    for before in reversed(scene.said[-6:]):
        told = before.moments.dates and before.moments.minutes
        if told and found(_ARRIVING, before.text):
            return replace(reading, moments=before.moments)
    return reading


def _is_rescheduled(scene: Scene, reading: Reading) -> bool:
    """Whether whoever is expected comes at another time ("He's coming on Thursday now")."""
    comes = r"^\W*(?:and |but |so )?(?:he|she|they|it)(?:'s|'re|'ll| is| are| can)?(?: now)? com"
    if reading.void != "others" or not reading.moments.dates or not found(comes, reading.text):
        return False
    return scene.event_just_named() is not None


_PRONOUN = r"\b(?:him|her|them)\b"
_PERSON = (
    r"(?<![.!?] )(?<!^)\b(?P<name>(?:(?:Aunt|Uncle|Auntie|Mrs|Mr|Ms|Dr) )?[A-Z][\w-]+)"
    r"|^(?:[Aa]nd |[Bb]ut |[Ss]o |[Oo]h )?"
    r"(?P<first>(?:(?:Aunt|Uncle|Auntie|Mrs|Mr|Ms|Dr) )?[A-Z][\w-]+)"
    r"(?= (?:arrives|lands|comes|gets|flies|has|needs|is|will|wants)\b|'s )"
    r"|\b(?:[Mm]y|[Yy]our|[Oo]ur|[Hh]is|[Hh]er) (?P<kin>mum|mom|dad|mother|father|sister|brother"
    r"|aunt|uncle|gran|grandma|grandpa|parents|son|daughter|cousin|nephew|niece)\b"
)


def _named_for_pronoun(scene: Scene, reading: Reading) -> Reading:
    """`reading` with the person named last in a chore ("pick her up")."""
    activity = reading.activity
    if activity is None or activity.kind is not CHORE or not found(_PRONOUN, activity.title):
        return reading
    person = next(filter(None, map(_person_named, reversed(scene.said))), "")
    if not person:
        return reading
    title = pattern(_PRONOUN).sub(lambda _: person, activity.title)
    return replace(reading, activity=replace(activity, title=title))


def _person_named(reading: Reading) -> str:
    """The last person named in a clause, "" if there is none."""
    named = ""
    for match in cased(_PERSON).finditer(reading.text):
        name = match["name"] or match["first"] or match["kin"]
        timed = covers(reading.moments.spans, *match.span())
        if name.lower().split(" ")[-1] not in _NOT_PERSONS and not timed:
            named = name
    return named


def _near_day_talked_about(scene: Scene, reading: Reading) -> Reading:
    """`reading` with "the Friday" as the one next to the day that was talked about."""
    if scene.last_day is None or scene.turn - scene.day_turn > FAR:
        return reading
    said = (day for day in reading.moments.days if not found(_EXPLAINED, reading.text[: day.start]))
    days = tuple(_nearest(scene, reading.text, day) for day in said)
    if days == reading.moments.days:
        return reading
    return replace(reading, moments=replace(reading.moments, days=days))


_EXPLAINED = r"(?:'s|\bis|\bbe) an? $"


def _nearest(scene: Scene, text: str, day: Day) -> Day:
    if day.offset == 0 and day.weekday is None and scene.turn - scene.day_turn <= 1:
        focus = scene.focus if scene.focus and scene.focus.touched == scene.day_turn else None
        planned = focus.when.day if focus is not None else None
        return replace(day, day=planned or scene.last_day, offset=None)  # "that day"
    if not day.is_plain or scene.last_day is None or day.weekday is None:
        return day
    if not found(r"\bthe $", text[: day.start]) or found(r"^ (?:after|next)", text[day.end :]):
        return day
    apart = (day.weekday - scene.last_day.weekday() + 3) % 7 - 3
    meant = scene.last_day + timedelta(days=apart)
    return replace(day, day=meant) if meant >= scene.setting.now.date() else day
