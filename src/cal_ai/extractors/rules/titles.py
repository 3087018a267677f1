"""Activities, people and places named in a text, and the title an event gets from them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from cal_ai.extractors.rules.activities import (
    AMBIGUOUS,
    TITLES,
    VERBS,
    Kind,
    kinds,
    noun_pattern,
)
from cal_ai.extractors.rules.patterns import cased, found, pattern

Spans = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Activity:
    """Something one can do at a time, named at text[start:end].

    `noun` identifies it, `title` is how a calendar would call it, `people` are those it is said to be
    with. `definite` says that it is spoken of as known ("our lunch"), `weak` that only a verb names it.
    """

    start: int
    end: int
    noun: str
    title: str
    kind: Kind
    people: tuple[str, ...] = ()
    definite: bool = False
    indefinite: bool = False
    weak: bool = False


_DEFINITE = frozenset(["the", "our", "my", "your", "this", "that", "his", "her", "their"])
_INDEFINITE = frozenset(["a", "an", "another", "some", "one", "any"])
_FILLERS = frozenset(
    [
        "quick",
        "short",
        "little",
        "nice",
        "big",
        "another",
        "new",
        "brief",
        "small",
        "regular",
        "usual",
        "whole",
        "proper",
        "real",
        "good",
        "great",
        "fun",
        "fancy",
        "early",
        "late",
        "long",
        "same",
        "next",
        "first",
        "last",
        "upcoming",
        "scheduled",
        "planned",
        "little-bit",
        "fast",
        "super",
        "very",
        "kind",
        "other",
        "casual",
        "formal",
        "important",
        "mandatory",
        "weekly",
        "daily",
        "monthly",
        "quarterly",
        "biweekly",
        "bi-weekly",
        "annual",
        "recurring",
        "half-hour",
        "hour-long",
        "hour",
        "minute",
        "30-minute",
        "15-minute",
        "45-minute",
        "60-minute",
        "20-minute",
        "10-minute",
        "90-minute",
        "two-hour",
        "one-hour",
        "1-hour",
        "2-hour",
        "actual",
        "damn",
        "stupid",
        "boring",
        "dreaded",
        "huge",
    ]
)
_STOPS = frozenset(
    [
        "i",
        "you",
        "he",
        "she",
        "it",
        "we",
        "they",
        "me",
        "him",
        "us",
        "them",
        "i'm",
        "i'll",
        "i've",
        "i'd",
        "we're",
        "we'll",
        "we've",
        "you're",
        "you'll",
        "he's",
        "she's",
        "they're",
        "it's",
        "that's",
        "let's",
        "and",
        "or",
        "but",
        "so",
        "because",
        "if",
        "when",
        "while",
        "then",
        "than",
        "as",
        "to",
        "at",
        "in",
        "on",
        "by",
        "for",
        "from",
        "of",
        "with",
        "about",
        "into",
        "over",
        "after",
        "before",
        "until",
        "during",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "am",
        "do",
        "does",
        "did",
        "done",
        "have",
        "has",
        "had",
        "having",
        "got",
        "get",
        "getting",
        "go",
        "going",
        "went",
        "come",
        "coming",
        "can",
        "could",
        "will",
        "would",
        "should",
        "shall",
        "may",
        "might",
        "must",
        "need",
        "want",
        "wanna",
        "like",
        "think",
        "know",
        "see",
        "say",
        "said",
        "make",
        "makes",
        "made",
        "take",
        "takes",
        "took",
        "do",
        "doing",
        "put",
        "add",
        "schedule",
        "scheduled",
        "book",
        "booked",
        "set",
        "move",
        "moved",
        "push",
        "pushed",
        "cancel",
        "canceled",
        "cancelled",
        "reschedule",
        "rescheduled",
        "postpone",
        "skip",
        "keep",
        "change",
        "grab",
        "plan",
        "planned",
        "meet",
        "meeting's",
        "join",
        "attend",
        "host",
        "hosting",
        "hold",
        "run",
        "thinking",
        "maybe",
        "perhaps",
        "please",
        "just",
        "also",
        "still",
        "really",
        "not",
        "no",
        "yes",
        "yeah",
        "yep",
        "ok",
        "sure",
        "well",
        "actually",
        "sorry",
        "hey",
        "hi",
        "hello",
        "oh",
        "great",
        "cool",
        "perfect",
        "thanks",
        "what",
        "when",
        "where",
        "who",
        "why",
        "how",
        "which",
        "there",
        "here",
        "up",
        "out",
        "off",
        "down",
        "today",
        "tomorrow",
        "tonight",
        "yesterday",
        "re",
        "fwd",
        "per",
        "via",
        "forget",
        "remind",
        "confirm",
        "finish",
        "start",
        "started",
        "starts",
        "ends",
        "end",
        "our's",
        "too",
        "again",
        "already",
        "always",
        "never",
        "ever",
        "even",
        "only",
        "sometime",
        "somewhere",
        "someday",
        "rather",
        "instead",
        "works",
        "work",
        "free",
        "busy",
        "available",
        "both",
        "either",
        "neither",
        "all",
        "every",
        "each",
        "much",
        "many",
        "more",
        "most",
        "few",
        "lot",
        "bit",
        "let",
        "give",
        "call",
        "do",
        "squeeze",
        "delete",
        "remove",
        "drop",
        "clear",
        "block",
        "pencil",
        "swap",
        "bring",
        "due",
        "miss",
        "missed",
        "missing",
        "dread",
        "love",
        "hate",
        "enjoy",
        "forgot",
        "told",
        "asked",
        "heard",
        "organize",
        "organise",
        "arrange",
        "arranging",
        "planning",
        "prep",
        "prepare",
        "wrap",
        "finalize",
        "finalise",
        "double",
    ]
)
_MODIFIERS = frozenset(
    [
        "team",
        "project",
        "budget",
        "design",
        "client",
        "sales",
        "product",
        "sprint",
        "marketing",
        "code",
        "status",
        "roadmap",
        "strategy",
        "engineering",
        "leadership",
        "hr",
        "finance",
        "legal",
        "board",
        "staff",
        "department",
        "company",
        "customer",
        "vendor",
        "investor",
        "partner",
        "onboarding",
        "security",
        "architecture",
        "data",
        "api",
        "launch",
        "release",
        "planning",
        "quarterly",
        "performance",
        "salary",
        "contract",
        "proposal",
        "hiring",
        "recruiting",
        "candidate",
        "final",
        "technical",
        "ux",
        "ui",
        "research",
        "content",
        "social",
        "media",
        "campaign",
        "event",
        "wedding",
        "birthday",
        "anniversary",
        "graduation",
        "farewell",
        "welcome",
        "holiday",
        "christmas",
        "thanksgiving",
        "family",
        "school",
        "kids",
        "parent",
        "parents",
        "group",
        "study",
        "piano",
        "guitar",
        "violin",
        "swim",
        "swimming",
        "soccer",
        "baseball",
        "basketball",
        "tennis",
        "yoga",
        "dance",
        "dentist",
        "dental",
        "doctor",
        "doctor's",
        "eye",
        "vet",
        "physical",
        "therapy",
        "therapist",
        "hair",
        "nail",
        "car",
        "tire",
        "apartment",
        "house",
        "home",
        "book",
        "movie",
        "game",
        "poker",
        "trivia",
        "board",
        "coffee",
        "lunch",
        "dinner",
        "brunch",
        "breakfast",
        "beach",
        "camping",
        "ski",
        "business",
        "work",
        "job",
        "phone",
        "video",
        "zoom",
        "conference",
        "town",
        "pta",
        "volunteer",
        "charity",
        "science",
        "history",
        "math",
        "chemistry",
        "biology",
        "english",
        "spanish",
        "french",
        "piano",
        "training",
        "safety",
        "fire",
        "kickoff",
        "retro",
        "demo",
        "planning",
        "mentoring",
        "mentor",
        "career",
        "thesis",
        "lab",
        "faculty",
        "department",
        "chess",
        "hockey",
        "football",
        "rugby",
        "volleyball",
        "cricket",
        "rehearsal",
        "band",
        "choir",
        "pitch",
        "fundraising",
        "grant",
        "audit",
        "tax",
        "mortgage",
        "bank",
        "insurance",
        "passport",
        "visa",
        "dmv",
        "q1",
        "q2",
        "q3",
        "q4",
        "1:1",
        "biweekly",
        "tech",
        "it",
        "qa",
        "ops",
        "devops",
        "infra",
        "platform",
        "mobile",
        "web",
        "backend",
        "frontend",
        "growth",
        "analytics",
        "partnership",
        "community",
        "neighborhood",
        "hoa",
        "condo",
        "landlord",
        "tenant",
        "support",
        "annual",
        "all-hands",
        "webinar",
        "sunset",
        "morning",
        "evening",
        "afternoon",
        "night",
        "steering",
        "committee",
        "executive",
        "exec",
        "weekly",
        "daily",
        "monthly",
        "morning-after",
        "postmortem",
        "incident",
        "cross-team",
        "stakeholder",
        "discovery",
        "user",
        "usability",
        "pricing",
        "migration",
        "budget-planning",
        "inventory",
        "supplier",
        "photo",
        "podcast",
        "recording",
        "studio",
        "cooking",
        "pottery",
        "art",
        "painting",
        "museum",
        "garden",
        "charity",
        "blood",
        "flu",
        "vaccine",
        "knee",
        "dental",
        "emissions",
        "roof",
        "plumbing",
        "furniture",
        "couch",
    ]
)
_TOPIC = (
    r"^\W*(?:to (?:discuss|go over|talk about|talk through|review|plan|walk through|look at|hash"
    r" out|work on|finalize|finalise|sort out|prep for|prepare for|cover|nail down)"
    r"|about|regarding|re:?|on|for|of) (?:(?:the|our|my|your|this|that|some)"
    r" )?(?P<topic>[\w'&-]+(?: [\w'&-]+){0,2})"
)
_PLACE_WORDS = (
    r"(?:office|room|conference room|boardroom|cafe|café|restaurant|bar|pub|park|house|place|gym"
    r"|library|lobby|cafeteria|studio|church"
    r"|school|hospital|clinic|airport|station|mall|museum|theater|theatre|beach|downtown|building"
    r"|diner|bistro|bakery|market|hotel|club"
    r"|center|centre|hall|court|courts|stadium|arena|gallery|garden|brewery|pizzeria|steakhouse"
    r"|spot|joint|plaza|pool|campus|kitchen|patio)"
)
_ONLINE = (
    r"\b(?:on|over|via|through|by|using) (?P<place>zoom|teams|google meet|meet|skype|slack"
    r"|webex|facetime|discord|phone|the phone|video)\b"
)
_ROOM = (
    r"\b(?:in|to|at) (?:the )?(?P<place>(?:conference |meeting |board )?room (?:[A-Z]?\d+\w*"
    r"|[A-Z]\b|[A-Z]\w+)|[A-Z]\w+ (?:conference )?room|(?:building|suite|hall) \w+)"
)
_NAMED = (
    r"(?:\bat|\bin|@|\bover at|\bto) (?:the )?(?P<place>[A-Z][\w'&.-]*(?:(?: (?:of|on|and|&"
    r"|the|de|la))? [A-Z0-9][\w'&-]*){0,4}(?: (?:st|street|ave|avenue|cafe|office|room|park"
    r"|bar|grill|library))?)"
)
_COMMON = (
    rf"(?:\bat|\bin) (?P<place>(?:the|my|your|our|that|mom's|his|her|their|[A-Z]?\w+'s)"
    rf" (?:(?:new|old|little|usual|main|big) )?(?:[\w'&-]+ ){{0,2}}?{_PLACE_WORDS})\b"
)
_NOT_PLACES = frozenset(
    [
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "i",
        "noon",
        "eastern",
        "pacific",
        "central",
        "am",
        "pm",
        "q1",
        "q2",
        "q3",
        "q4",
        "christmas",
    ]
)


def find_activities(text: str, moments: Spans, names: Iterable[str]) -> list[Activity]:
    """The activities named in `text`; verbs count only where no noun names one."""
    activities = []
    for match in pattern(noun_pattern()).finditer(text):
        if any(match.start() < end and start < match.end() for start, end in moments):
            continue
        if not _is_noun(match, text, moments):
            continue
        activities.append(_activity(match, text, moments))
    if activities:
        return _joined(activities, text)
    for source, title, kind in VERBS:
        verb = pattern(source).search(text)
        if verb:
            what = verb.groupdict().get("what") or ""
            title = _sentence_case(title.format(what=what)) if what else title
            people = find_people(text, verb.end(), moments)
            noun = kind.name if not what else what.lower()
            found_activity = Activity(
                verb.start(), verb.end(), noun, title, kind, people, weak=True
            )
            return [_with_topic(found_activity, text, moments)]
    return []


def _joined(activities: list[Activity], text: str) -> list[Activity]:
    """Nouns side by side are one activity ("lunch meeting", "budget review call"): the last one's."""
    joined: list[Activity] = []
    for activity in activities:
        if joined and text[joined[-1].end : activity.start].strip() == "":
            first = joined.pop()
            title = f"{first.title} {activity.title[0].lower()}{activity.title[1:]}"
            if first.noun == activity.noun:
                title = first.title
            activity = replace(
                activity,
                start=first.start,
                title=title,
                definite=first.definite,
                indefinite=first.indefinite,
            )
        joined.append(activity)
    return joined


def _word_before(text: str, position: int) -> str:
    match = pattern(r"([\w':&-]+)\W{0,3}$").search(text[:position])
    return match[1].lower() if match else ""


def _word_after(text: str, position: int) -> str:
    match = pattern(r"^\s*([\w':&-]+)").search(text[position:])
    return match[1].lower() if match else ""


_NOUN_BEFORE = frozenset(
    [
        "for",
        "about",
        "of",
        "get",
        "have",
        "having",
        "schedule",
        "book",
        "do",
        "grab",
        "cancel",
        "move",
        "reschedule",
        "push",
        "up",
        "got",
        "into",
        "and",
        "add",
        "before",
        "after",
        "join",
        "skip",
        "postpone",
        "make",
        "plan",
        "host",
        "attend",
        "miss",
        "during",
        "than",
        "doing",
        "had",
        "has",
        "getting",
        "cancelled",
        "canceled",
        "moved",
        "another",
        "no",
        "or",
        "shift",
        "bump",
        "at",
        "to's",
        "from",
        "in",
        "catch",
        "see",
        "our",
        "next",
        "with",
        "delay",
        "delete",
        "remove",
        "drop",
        "change",
        "extend",
        "arrange",
        "confirm",
        "your",
    ]
)
_OBJECT_AFTER = frozenset(
    [
        "you",
        "me",
        "him",
        "her",
        "them",
        "us",
        "it",
        "the",
        "a",
        "an",
        "your",
        "my",
        "that",
        "this",
        "late",
        "off",
        "out",
        "up",
        "by",
        "into",
        "over",
        "there",
        "back",
        "home",
        "mom",
        "dad",
        "errands",
        "to",
        "through",
        "around",
    ]
)


def _is_noun(match: re.Match[str], text: str, moments: Spans) -> bool:
    noun = match["noun"].lower()
    if noun not in AMBIGUOUS:
        return True
    before, after = _word_before(text, match.start()), _word_after(text, match.end())
    if any(
        end <= match.start() and not text[end : match.start()].strip(" ,'s") for _, end in moments
    ):
        return True
    if before in _DEFINITE or before in _INDEFINITE or before in _MODIFIERS or before in _FILLERS:
        return noun not in ("date",) or after not in ("works", "is", "for", "and", "that", "yet")
    if before.endswith("'s") and before not in (
        "let's",
        "it's",
        "that's",
        "what's",
        "how's",
        "there's",
        "he's",
        "she's",
    ):
        return True
    if noun == "date":
        return False
    if before == "" or before in _NOUN_BEFORE:
        return after not in _OBJECT_AFTER
    return text[: match.start()].rstrip()[-1:] in ",:;" and after not in _OBJECT_AFTER


def _activity(match: re.Match[str], text: str, moments: Spans) -> Activity:
    noun = match["noun"].lower()
    kind = kinds()[noun]
    modifiers, determiner, start = _modifiers(text, match.start(), moments)
    title = TITLES.get(noun) or match["noun"]
    if len(modifiers) == 1 and noun == "appointment":
        title = modifiers[0].removesuffix("'s") + " appointment"
    elif modifiers:
        title = " ".join(
            (
                *modifiers,
                title if title.isupper() or noun in ("q&a",) else title[0].lower() + title[1:],
            )
        )
    activity = Activity(
        start,
        match.end(),
        noun,
        _sentence_case(title),
        kind,
        find_people(text, match.end(), moments),
        definite=determiner in _DEFINITE or determiner.endswith("'s"),
        indefinite=determiner in _INDEFINITE,
    )
    return _with_topic(activity, text, moments)


def _modifiers(text: str, position: int, moments: Spans) -> tuple[list[str], str, int]:
    """The words before a noun that belong to it, its determiner, and where all of it starts."""
    words = list(pattern(r"[\w'&:/-]+").finditer(text[:position]))
    taken: list[re.Match[str]] = []
    determiner, start = "", position
    for word in reversed(words[-6:]):
        lower = word[0].lower()
        between = text[word.end() : (taken[-1].start() if taken else position)]
        if between.strip() and between.strip() not in ("-", "/", "&"):
            break
        if any(s <= word.start() < e for s, e in moments):
            determiner = determiner or _beyond(words, word, moments)
            break
        if lower in _DEFINITE or lower in _INDEFINITE:
            determiner = lower
            start = word.start()
            break
        if lower in _STOPS or (
            lower.endswith(("ly", "n't")) and lower not in _MODIFIERS and lower not in _FILLERS
        ):
            break
        taken.append(word)
        if len(taken) == 4:
            break
    if not determiner:
        taken = _known_only(taken, first=words[0] if words else None)
    kept = [word[0] for word in reversed(taken) if word[0].lower() not in _FILLERS]
    if not determiner and kept and kept[0].endswith("'s"):
        determiner = kept[0].lower()
    return kept, determiner, min([start, *(word.start() for word in taken)])


def _beyond(words: list[re.Match[str]], word: re.Match[str], moments: Spans) -> str:
    """The determiner in front of a day or time that stands before a noun ("our Thursday lunch")."""
    if word[0].lower().endswith("'s"):
        return "the"
    for earlier in reversed([w for w in words if w.start() < word.start()]):
        if any(s <= earlier.start() < e for s, e in moments):
            continue
        lower = earlier[0].lower()
        return lower if lower in _DEFINITE or lower in _INDEFINITE else ""
    return ""


def _known_only(taken: list[re.Match[str]], first: re.Match[str] | None) -> list[re.Match[str]]:
    """Of the words in front of a noun without determiner, those that surely belong to it."""
    kept = []
    for word in taken:
        lower = word[0].lower()
        capital = word[0][:1].isupper() and (word is not first or word[0].isupper())
        if (
            lower in _MODIFIERS
            or lower in _FILLERS
            or lower.endswith("'s")
            or capital
            or lower[:1].isdigit()
        ):
            kept.append(word)
        else:
            break
    while kept and kept[-1][0].lower() in _FILLERS:
        kept.pop()
    return kept


_GENERIC = frozenset(
    [
        "meeting",
        "call",
        "sync",
        "chat",
        "discussion",
        "session",
        "review",
        "meet-up",
        "meetup",
        "catch-up",
        "check-in",
        "appointment",
        "huddle",
        "working",
        "session",
        "planning",
        "session",
        "video",
        "call",
        "phone",
        "call",
        "zoom",
        "zoom",
        "call",
        "presentation",
        "interview",
        "1:1",
        "class",
        "lesson",
    ]
) | {"working session", "planning session", "video call", "phone call", "zoom call"}


def _with_topic(activity: Activity, text: str, moments: Spans) -> Activity:
    """`activity` titled after its topic or goal, where one follows ("a meeting about the budget")."""
    rest = text[activity.end :]
    if activity.noun in (
        "flight",
        "trip",
        "train",
        "ride",
        "red-eye",
        "road trip",
        "business trip",
    ):
        to = pattern(r"^ (?:out )?to ((?:[A-Z][\w-]+ ?){1,3})").search(rest)
        return (
            replace(activity, title=f"{activity.title} to {to[1].strip()}")
            if to and to[1][0].isupper()
            else activity
        )
    if activity.noun not in _GENERIC and not activity.weak:
        return activity
    if " " in activity.title and not activity.weak:
        return activity
    match = pattern(_TOPIC).search(rest) or pattern(_TOPIC).search(
        pattern(r"^.{0,60}?(?=\bto (?:discuss|go over|talk about|review|plan)\b)").sub(
            "", rest, count=1
        )
    )
    if match is None:
        return activity
    at = activity.end + rest.find(match["topic"])
    topic = _topic_words(match["topic"], at, moments)
    weak_link = found(r"^\W*(?:on|for|of) ", match[0])
    if not topic or (
        weak_link and not all(word.lower() in _MODIFIERS or word[:1].isupper() for word in topic)
    ):
        return activity
    if activity.weak and weak_link:
        return activity
    if match[0].strip().lower().startswith("for ") and topic[0][:1].isupper():
        return activity
    noun = (
        activity.title[0].lower() + activity.title[1:]
        if not activity.title.isupper()
        else activity.title
    )
    if topic[-1].lower() == noun.lower():
        return replace(activity, title=_sentence_case(" ".join(topic)))
    return replace(activity, title=_sentence_case(" ".join((*topic, noun))))


def _topic_words(said: str, at: int, moments: Spans) -> list[str]:
    words: list[str] = []
    for match in pattern(r"[\w'&-]+").finditer(said):
        position = at + match.start()
        if match[0].lower() in _STOPS or any(start <= position < end for start, end in moments):
            break
        if match[0].lower() in _DEFINITE | _INDEFINITE | {
            "everything",
            "things",
            "stuff",
            "something",
        }:
            break
        words.append(match[0])
    return words


_NOBODY = frozenset(
    [
        "me",
        "you",
        "us",
        "it",
        "that",
        "this",
        "him",
        "her",
        "them",
        "everything",
        "no",
        "my",
        "the",
        "our",
        "your",
        "his",
        "their",
        "all",
        "a",
        "an",
        "what",
        "which",
        "these",
        "those",
        "some",
        "everyone",
        "everybody",
        "anyone",
        "anybody",
        "someone",
        "somebody",
    ]
)


def find_people(text: str, position: int, moments: Spans) -> tuple[str, ...]:
    """Who comes after "with": names, or relations and groups such as "client" and "design team"."""
    match = pattern(r"\b(?:with|w/) ").search(text, position) or pattern(
        r"\b(?:meet(?:ing)?(?: up)? with|seeing|call with) "
    ).search(text)
    if match is None:
        return ()
    people: list[str] = []
    current: list[str] = []
    end = match.end()
    for word in pattern(r"[\w'.-]+|,|&").finditer(text, match.end()):
        lower = word[0].lower()
        if text[end : word.start()].strip() or any(s <= word.start() < e for s, e in moments):
            break
        end = word.end()
        if lower in ("and", ",", "&"):
            if current:
                people.append(" ".join(current))
            current = []
            continue
        if lower in ("the", "my", "our", "your", "a", "an", "his", "her", "their") and not current:
            continue
        if lower in _STOPS or lower in _NOBODY or kinds().get(lower) or len(current) == 3:
            break
        if (
            current
            and word[0][:1].islower()
            and current[0][:1].isupper()
            and current[0].lower() not in ("dr", "mr", "mrs", "ms")
        ):
            break
        current.append(word[0].rstrip("."))
        if word[0].endswith("."):
            break
    if current:
        people.append(" ".join(current))
    return tuple(_personal(name) for name in people if name.lower() not in _NOBODY)


_RELATIONS = frozenset(["mom", "dad", "mum", "grandma", "grandpa", "mama", "papa", "nana"])


def _personal(name: str) -> str:
    return name.capitalize() if name.lower() in _RELATIONS else name


def _sentence_case(title: str) -> str:
    return title[:1].upper() + title[1:]


def find_place(text: str, moments: Spans, names: frozenset[str]) -> str | None:
    """The place named in `text`, if any; people, days and times are none."""
    for source, capitals in ((_ONLINE, False), (_ROOM, True), (_NAMED, True), (_COMMON, False)):
        regex = cased(source) if capitals else pattern(source)
        for match in regex.finditer(text):
            start, end = match.span("place")
            if any(start < e and s < end for s, e in moments):
                cut = min(s for s, e in moments if start < e and s < end)
                if cut <= start:
                    continue
                end = cut
            place = text[start:end].strip(" ,.'")
            first = place.split(" ")[0].lower().removesuffix("'s")
            if (
                not place
                or first in _NOT_PLACES
                or place.lower() in names
                or place.lower() in _STOPS
            ):
                continue
            return _tidy_place(place)
    return None


def _tidy_place(place: str) -> str:
    lower = place.lower()
    if lower in ("phone", "the phone"):
        return "Phone"
    if lower.startswith("the "):
        place = place[4:]
    return place[:1].upper() + place[1:]
