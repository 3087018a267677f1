"""Utterances read clause by clause."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise

from cal_ai.extractors.rules import doubts
from cal_ai.extractors.rules.activities import CHORE, Activity
from cal_ai.extractors.rules.clauses import Clause, clauses
from cal_ai.extractors.rules.moments import Moments, find_moments
from cal_ai.extractors.rules.patterns import found, pattern
from cal_ai.extractors.rules.people import find_asker
from cal_ai.extractors.rules.places import find_place
from cal_ai.extractors.rules.reading import Reading
from cal_ai.extractors.rules.setting import Setting
from cal_ai.extractors.rules.spans import blanked
from cal_ai.extractors.rules.spelling import plain
from cal_ai.extractors.rules.titles import find_activities
from cal_ai.transcript import Utterance


def read_utterance(utterance: Utterance, setting: Setting) -> list[Reading]:
    """The clauses of an utterance, read in order."""
    text = pattern(r'"[^"]{12,}"').sub(" ", plain(utterance.words))
    parts = [part for clause in clauses(text) for part in _split_list(clause, setting.now)]
    joking = doubts.is_sarcastic(text)
    return [_read(clause, utterance, setting, joking) for clause in parts]


def _split_list(clause: Clause, now: datetime) -> list[Clause]:
    """A clause that lists several activities with a time each, cut between them."""
    moments = find_moments(clause.text, now)
    if len(moments.spans) < 2:
        return [clause]
    activities = [each for each in find_activities(clause.text, moments.spans) if not each.weak]
    cuts = []
    for one, other in pairwise(activities):
        between = clause.text[one.end : other.start]
        has_time = any(one.end <= start < other.start for start, _ in moments.spans)
        separators = list(
            pattern(r",\s+(?:and |then )?|\s+and (?:then )?|\s+then ").finditer(between)
        )
        if has_time and separators:
            cuts.append(one.end + separators[-1].end())
    bounds = [0, *cuts, len(clause.text)]
    pieces = [clause.text[start:end] for start, end in pairwise(bounds)]
    return [
        replace(clause, text=pattern(r"[,\s]+(?:and|then)?[,\s]*$").sub("", piece))
        for piece in pieces
    ]


def _read(clause: Clause, utterance: Utterance, setting: Setting, joking: bool) -> Reading:
    text = clause.text
    moments = find_moments(text, setting.now)
    activities = find_activities(text, moments.spans)
    place = find_place(text, moments.spans, setting.names)
    return Reading(
        text=text,
        utterance=utterance,
        question=clause.question,
        contrasted=clause.contrasted,
        moments=moments,
        activity=_asked_for(
            _spoken_for(
                _meant(text, [each for each in activities if not (each.denied or each.passing)]),
                utterance.speaker,
                setting,
            ),
            text,
        ),
        denied=next((each for each in activities if each.denied), None),
        place=place,
        named=blanked(text, [(each.start, each.end) for each in activities if each.passing]),
        void="sarcasm" if joking else _void(text, moments, setting.owner),
    )


def _meant(text: str, activities: Sequence[Activity]) -> Activity | None:
    """Of the activities named, the one that somebody comes for, or else the first."""
    for each in activities[1:]:
        if each.indefinite and found(r"\bcome(?: in| over| round| by)? for $", text[: each.start]):
            return each
    return activities[0] if activities else None


def _spoken_for(activity: Activity | None, speaker: str, setting: Setting) -> Activity | None:
    """`activity` with a name for "me" or "you" ("cover for me on Friday"); a name is none."""
    if activity is not None and activity.guessed:
        return None if activity.noun in setting.names else activity
    if activity is None or activity.kind is not CHORE:
        return activity
    others = sorted(setting.others)
    name, said = speaker.split(" ")[0], r"\bme\b"
    if speaker == setting.owner:
        name, said = others[0] if len(others) == 1 else "you", r"\byou\b"
    return replace(activity, title=pattern(said).sub(lambda _: name, activity.title))


def _asked_for(activity: Activity | None, text: str) -> Activity | None:
    """`activity` with whoever asked for it ("Grandma invited us to lunch")."""
    if activity is None or activity.people or not activity.kind.shared:
        return activity
    asker = find_asker(text)
    return replace(activity, people=(asker,)) if asker else activity


def _void(text: str, moments: Moments, owner: str) -> str:
    """Why the clause plans nothing; "others" if it tells of other people, "" if it may plan."""
    if doubts.is_told(text):
        return "told"
    if doubts.is_hypothetical(text):
        return "hypothetical"
    past = any(day.past for day in moments.days) and not found(r" can (?:come|do|see)\b", text)
    if past or doubts.is_past(text) or doubts.is_habitual(text):
        return "past"
    if doubts.is_negated(text):
        return "negated"
    return "others" if doubts.is_about_others(text, owner) else ""
