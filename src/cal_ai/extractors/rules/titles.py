"""Activities named in a text, and how a calendar would call them."""

from __future__ import annotations

import re
from dataclasses import replace

from cal_ai.extractors.rules.activities import (
    AMBIGUOUS,
    TITLES,
    Activity,
    kinds,
    noun_pattern,
)
from cal_ai.extractors.rules.errands import find_errand
from cal_ai.extractors.rules.goals import with_topic
from cal_ai.extractors.rules.guesses import find_chore, find_due, find_label, find_unknown
from cal_ai.extractors.rules.patterns import (
    cased,
    found,
    inner_case,
    pattern,
    sentence_case,
    small,
    small_pattern,
    words,
)
from cal_ai.extractors.rules.people import find_people
from cal_ai.extractors.rules.spans import Spans, covers
from cal_ai.extractors.rules.verbs import VERBS, any_verb
from cal_ai.extractors.rules.vocabulary import (
    AFTER_VERBS,
    BEFORE_NOUNS,
    DEFINITE,
    DETERMINERS,
    FILLERS,
    HEADS,
    INDEFINITE,
    MODIFIERS,
    NOBODY,
    STOPS,
)

_PASSING = (
    r"\b(?:(?<!live )(?<!do )(?<!start )with|after|before|until|till|during|between|following"
    r"|done with|back from|by|out of"
    r"|further to|i'm in|i'm on|in time for|straight from|coming from|conflicts? with|clashes with"
    r"|because of|(?:something|anything|presents?|gifts?|cards?|cake|clothes|dress|shoes|food|wine"
    r"|shopping|ready|late|money) for)"
    r"(?: (?:the|my|our|that|a|an))?\s*$"
)


def find_activities(text: str, moments: Spans) -> list[Activity]:
    """The activities named in `text`; verbs count only where no noun names one."""
    nouns = [
        _activity(match, text, moments)
        for match in small_pattern(noun_pattern()).finditer(small(text))
        if not _lies_in_time(match, moments) and _is_noun(match, text, moments)
    ]
    task = find_chore(text, moments)
    if task is not None and not any(activity.start < task.start for activity in nouns):
        covered = pattern(r"(?:take|cover|do|join) ").match(task.title)
        if not (covered and any(each.start == task.start + covered.end() for each in nouns)):
            return [task]
    if nouns:
        return _joined(nouns, text)
    errand = find_errand(text)
    if errand is not None:
        return [errand]
    for verb in VERBS if found(any_verb(), text) else ():
        match = cased(verb.source).search(text)
        if match:
            what = match.groupdict().get("what") or ""
            named = "" if what.lower() in NOBODY else what
            title = sentence_case(verb.title.format(what=named).strip())
            noun = what.lower() if verb.title == "{what}" else verb.kind.name
            people = find_people(text, match.end(), moments)
            activity = Activity(
                match.start(), match.end(), noun, title, verb.kind, people, weak=not what
            )
            return [with_topic(activity, text, moments)]
    unknown = find_due(text) or find_label(text, moments) or find_unknown(text, moments)
    return [unknown] if unknown is not None else []


def _lies_in_time(match: re.Match[str], moments: Spans) -> bool:
    """Whether a noun is part of a time; "movie night" is more than the night in it."""
    inner = [(s, e) for s, e in moments if match.start() < s and e <= match.end()]
    return covers([span for span in moments if span not in inner], match.start(), match.end())


def _joined(activities: list[Activity], text: str) -> list[Activity]:
    """Nouns side by side are one activity ("lunch meeting", "budget review call"): the last's."""
    joined: list[Activity] = []
    for activity in activities:
        last = joined[-1] if joined else None
        if last is not None and text[last.end : activity.start].strip() == "":
            title = f"{last.title} {inner_case(activity.title)}"
            if last.noun in activity.title.lower():
                title = activity.title
            joined[-1] = replace(
                activity,
                start=last.start,
                title=title,
                definite=last.definite,
                indefinite=last.indefinite,
                denied=last.denied,
                passing=last.passing,
            )
        else:
            joined.append(activity)
    return joined


def _word_before(text: str, position: int) -> str:
    match = pattern(r"([\w':&-]+)\W{0,3}$").search(text[:position])
    return match[1].lower() if match else ""


def _word_after(text: str, position: int) -> str:
    match = pattern(r"^\s*([\w':&-]+)").search(text[position:])
    return match[1].lower() if match else ""


_PERSONS = words(
    """
    doctor dentist vet therapist plumber electrician orthodontist dermatologist optometrist optician
    pediatrician barber hairdresser technician contractor handyman hygienist mechanic chiropractor
    physiotherapist
    """
)
_ACTS = (
    r"^(?:'s| is| was)(?: \w+)?"
    r" (?:in|off|ill|sick|away|on holiday|late|very|so|a|an|the|never|always)\b"
)


def _is_noun(match: re.Match[str], text: str, moments: Spans) -> bool:
    noun = match["noun"]
    if noun in _PERSONS and found(_ACTS, text[match.end() :]):
        return False
    before, after = _word_before(text, match.start()), _word_after(text, match.end())
    if after in HEADS and not found(r"^\W*[,.;:?!]", text[match.end() :]):
        return False
    if noun not in AMBIGUOUS or (not before and covers(moments, match.end() + 1, match.end() + 2)):
        return True
    if noun == "class" and not (before or after) and not text.endswith("?"):
        return False
    if noun in ("fair", "talk") and not (before in DETERMINERS or before in MODIFIERS):
        return False
    if (before, noun) == ("of", "course"):
        return False
    if noun == "date" and (
        before in ("new", "no", "another", "what", "which", "other") or after == "night"
    ):
        return False
    if noun == "date" and found(r"\bit's a $", text[: match.start()]):
        return False
    if noun == "date" and after in ("works", "is", "for", "and", "that", "yet", "in", "on"):
        return False
    if any(
        end <= match.start() and not text[end : match.start()].strip(" ,'s") for _, end in moments
    ):
        return after not in AFTER_VERBS
    if before in DETERMINERS or before in MODIFIERS or before in FILLERS:
        return True
    if before.endswith("'s") and not found(
        r"^(?:let|it|that|what|how|there|he|she|who|where)'s$", before
    ):
        return True
    if noun == "date":
        return False
    if _modifiers(text, match.start(), moments)[1]:
        return after not in AFTER_VERBS
    starts_clause = before == "" or text[: match.start()].rstrip()[-1:] in (",", ":", ";")
    return (starts_clause or before in BEFORE_NOUNS) and after not in AFTER_VERBS


def _activity(match: re.Match[str], text: str, moments: Spans) -> Activity:
    noun = match["noun"]
    modifiers, determiner, start = _modifiers(text, match.start(), moments)
    title = TITLES.get(noun) or text[match.start("noun") : match.end("noun")]
    if len(modifiers) == 1 and noun == "appointment":
        title = modifiers[0].removesuffix("'s") + " appointment"
    elif modifiers:
        title = " ".join((*modifiers, inner_case(title)))
    activity = Activity(
        start,
        match.end(),
        noun,
        sentence_case(title),
        kinds()[noun],
        find_people(text, match.end(), moments),
        definite=determiner in DEFINITE or determiner.endswith("'s"),
        indefinite=determiner in INDEFINITE,
        denied=found(
            r"(?:instead of|rather than|\bnot|no longer)(?: the| a| our)?\s*$", text[:start]
        ),
        passing=found(_PASSING, text[:start]) or _is_place(noun, text[:start]),
    )
    return with_topic(activity, text, moments)


def _is_place(noun: str, before: str) -> bool:
    return noun in ("town hall", "theater", "theatre", "museum", "reception") and found(
        r"\b(?:at|in)\s*$", before
    )


def _modifiers(text: str, position: int, moments: Spans) -> tuple[list[str], str, int]:
    """The words before a noun that belong to it, its determiner, and where all of it starts."""
    before = list(pattern(r"[\w'&:/-]+").finditer(text[:position]))
    taken: list[re.Match[str]] = []
    determiner, start = "", position
    for word in reversed(before[-6:]):
        lower = word[0].lower()
        between = text[word.end() : (taken[-1].start() if taken else position)]
        if between.strip() not in ("", "-", "/", "&"):
            break
        if covers(moments, word.start(), word.end()):
            determiner = _determiner_beyond(before, word, moments)
            break
        if lower in DETERMINERS:
            determiner, start = lower, word.start()
            break
        adverb = lower.endswith(("ly", "n't")) and lower not in MODIFIERS and lower not in FILLERS
        if lower in STOPS or adverb or len(taken) == 4:
            break
        taken.append(word)
    if not determiner:
        taken = _surely_joined(taken, before[0] if before else None)
    kept = [word[0] for word in reversed(taken) if word[0].lower() not in FILLERS]
    if not determiner and kept and kept[0].endswith("'s"):
        determiner = kept[0].lower()
    return kept, determiner, min([start, *(word.start() for word in taken)])


def _determiner_beyond(before: list[re.Match[str]], word: re.Match[str], moments: Spans) -> str:
    """The determiner in front of a day or time before a noun ("our Thursday lunch")."""
    if word[0].lower().endswith("'s"):
        return "the"
    for earlier in reversed([w for w in before if w.start() < word.start()]):
        if not covers(moments, earlier.start(), earlier.end()):
            lower = earlier[0].lower()
            return lower if lower in DETERMINERS else ""
    return ""


def _surely_joined(taken: list[re.Match[str]], first: re.Match[str] | None) -> list[re.Match[str]]:
    """Of the words in front of a noun without determiner, those that belong to it beyond doubt."""
    kept: list[re.Match[str]] = []
    for word in taken:
        lower = word[0].lower()
        at_start = first is not None and word.start() == first.start()
        name = word[0][:1].isupper() and (not at_start or word[0].isupper())
        known = lower in MODIFIERS or lower in FILLERS or lower.endswith(("'s", "ing"))
        if not (known or name or lower[:1].isdigit()):
            break
        kept.append(word)
    while kept and kept[-1][0].lower() in FILLERS:
        kept.pop()
    return kept
