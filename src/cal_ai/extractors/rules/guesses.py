"""Activities that no table knows: chores, things due, and what stands where an activity would."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cal_ai.extractors.rules.activities import CHORE, Activity, kinds
from cal_ai.extractors.rules.patterns import (
    found,
    pattern,
    sentence_case,
    small,
    small_pattern,
    words,
)
from cal_ai.extractors.rules.people import find_people
from cal_ai.extractors.rules.places import PLACE_KIND
from cal_ai.extractors.rules.spans import Spans, covers
from cal_ai.extractors.rules.vocabulary import FILLERS, NOBODY, STOPS

_TOLD_TO = (
    r"\b(?:remind (?:me|us) to|don't forget to|reminder to"
    r"|I (?:promised|told|said)(?: to)?(?: [A-Z]\w+)?(?: (?:I|we)(?:'d|'ll| would)| to))"
    r"(?: maybe| probably| perhaps)? "
)
_WILLING_TO = (
    r"\b(?:(?:I|we)(?:'ve| have)? (?:got|have|need) to|I'll|we'll|I'm going to|I can|can you|could"
    r" you"
    r"|would you|will you|please|I should|I must|can (?:somebody|someone|anyone|anybody|one of you)"
    r"|(?:\w+day|today|tomorrow) (?:we|I)(?:'ll)?) "
)
_ASKING_WHEN = r"\b(?:when|what time) (?:can|shall|should|could) (?:I|we) "
_HANDING = r"(?:bring|give|return|hand|drop|collect|fetch|pick up|show)\b"
_PLAINLY = r"^\W*(?:(?:and|also|then|plus|next),? )?"
_CHORES = (
    r"(?:pick (?:(?:him|her|them|mom|dad|\w+|the \w+|my \w+) )?up|drop (?:(?:the|my|your) \w+ )?off"
    r"|take|return|renew|submit|pay|water|feed|walk|collect|mail|ship|drive|call (?:the|my)"
    r"|email"
    r"|turn in|file|hand in|sign|fetch|babysit|watch the|help|get (?:the|some)|grab (?:the|some)"
    r"|buy|clean"
    r"|cover (?:for|the)|fill in for|sub for|paint|visit|fix|pack|decorate|assemble|bake)\b"
)
_NOT_CHORES = (
    r"(?:have|be|stay|think|check|see|let|get back|try|rather|love|like|do|take (?:\w+ )?off"
    r"|cancel|move|delete|remove|take (?:it|that|over|the call)|bring up|sign (?:me|us|you|up))\b"
)


_ERRANDS = (
    (_TOLD_TO, r"[a-z]+"),
    (_WILLING_TO, _CHORES),
    (_ASKING_WHEN, _HANDING),
    (_PLAINLY, _CHORES),
)


def find_chore(text: str, moments: Spans) -> Activity | None:
    """A chore named by a verb and its object; after "remind me to", any verb will do."""
    verb = _chore_verb(text)
    if verb is None:
        return None
    end = min([len(text), *(start for start, _ in moments if start > verb.start())])
    said = text[verb.start() : end]
    said = pattern(r"\s+(?:at|on|by|around|before|after|this|next|for|from|in)(?: the)?\s*$").sub(
        "", said
    )
    said = pattern(r"(?:,| if | when | because | since | and then | so ).*$").sub("", said)
    said = said.strip(" .,!?")
    taken = said.split(" ")
    if not 2 <= len(taken) <= 8 or (
        (len(taken) == 2 and taken[1].lower() in NOBODY) or taken[-1].lower() == "one"
    ):
        return None
    title = sentence_case(pattern(r"\b(?:my|your|our|the|an?)\b ").sub("", said))
    return Activity(verb.start(), verb.start() + len(said), title.lower(), title, CHORE)


def _chore_verb(text: str) -> re.Match[str] | None:
    lower = small(text)
    for lead, verbs in _ERRANDS:
        led = small_pattern(lead).search(lower)
        if led is not None and not small_pattern(_NOT_CHORES).match(lower, led.end()):
            verb = small_pattern(verbs).match(lower, led.end())
            if verb is not None:
                return verb
    return None


def find_due(text: str) -> Activity | None:
    """What is to be handed in or done ("the report is due", "the car is due for service")."""
    due = pattern(r"\b(?:the|my|our|your) ((?:[\w'-]+ ){1,3})(?:is|are) due\b( for)?").search(text)
    if due is None:
        return None
    title, kind = f"{due[1].strip()} due", kinds()["deadline"]
    if due[2]:
        service = pattern(r" (?:an? |its |the )?(\w+)").match(text, due.end())
        if service is None:
            return None
        title, kind = f"{due[1].strip()} {service[1]}", kinds()["appointment"]
    return Activity(due.start(), due.end(), title.lower(), sentence_case(title), kind)


_LABEL = (
    r"^(?:for )?(?:(?:the|our|your|my|a|an) )?(?P<label>[A-Za-z][\w'-]+(?: [a-z][\w'-]+){0,2})$"
)
_PURPOSE = r"\bfor (?:the |our |your |my )?(?P<label>[a-z][\w'-]+(?: [a-z][\w'-]+){0,2})\W*$"
_SUBJECT = (
    r"^\W*(?:(?:the|our|your|my) )?(?P<label>[A-Za-z][\w-]+(?: [a-z][\w-]+){0,2}?)(?:'s| is) $"
)


def find_label(text: str, moments: Spans) -> Activity | None:
    """What a note of day and time calls the thing ("Thursday the 12th, 2:10, stitches")."""
    if len(moments) < 2:
        return None
    for match in _labels(text, moments):
        label = match["label"]
        said = [word.lower().removesuffix("'s") for word in label.split(" ")]
        if any(word in _NO_LABELS or word.endswith("ly") for word in said):
            continue
        if label[:1].isupper() and not text.startswith(label):
            continue  # a name
        if any(word[:1].isupper() for word in label.split(" ")[1:]):
            continue  # an address
        if found(rf"\b{PLACE_KIND}$", label) or len(label) < 3:
            continue
        start, kind = text.find(label), kinds()["appointment"]
        title = sentence_case(label)
        return Activity(start, start + len(label), label.lower(), title, kind, guessed=True)
    return None


def _labels(text: str, moments: Spans) -> Iterator[re.Match[str]]:
    first = min(start for start, _ in moments)
    before = pattern(_SUBJECT).search(text[:first])
    if before:
        yield before
    position = 0
    for part in text.split(","):
        end = position + len(part)
        said = part.strip(" .!?")
        label = pattern(_LABEL).search(said)
        if label and not covers(moments, position, end):
            yield label
        position = end + 1
    last = max(end for _, end in moments)
    after = pattern(_PURPOSE).search(text[last:])
    if after:
        yield after


_DOING = (
    r"\b(?:have|have got|'ve got|i got|put|add|schedule|book|booked|reserved|scheduled|set up"
    r"|attend(?:ing)?|going to|go to"
    r"|com(?:e|ing) to|signed up for|need you (?:for|at)"
    r"|i need|we need|i'd like|called about|calling about"
    r"|asked about|block(?: off| out)?|host(?:ing)?|let's do|let's have|enter"
    r"|don't forget|lock in|running|doing|seeing|presenting|present [\w' ]{1,20} at|speak(?:ing)?"
    r" at|perform(?:ing)? at|visiting|watching|time for"
    r"|date for"
    r"|day for|slot for|plan|organi[sz]e|confirm|about|reschedule|move|(?:thing|something|party"
    r"|dinner|drinks|get-together) for|(?:minutes|hours?) (?:of|for)|prepare|prep for)"
    r"(?: out| off| in)? (?P<article>(?:a|an|the|my|our|that|another) )?"
)
_DAY_IS = r"^\W*(?:\w+day|tomorrow|the \d+\w*) is (?P<article>(?:the|my|our|a|an) |(?=\w+'s ))"
_HEADING = (
    r"^\W*(?:(?:and|so|then|next|now|also|ok),? )*(?P<article>(?:the|our|my) )"
    r"(?=(?:[\w'-]+ ){1,3}(?:thing|itself)\W*$)"
)
_IT_IS = (
    r"^\W*(?:(?:also|and|so|oh|last thing|reminder|fyi|ok|hey),? )*(?P<article>(?:the|our|my|your)"
    r" )"
    r"(?=(?:[\w'-]+ ){1,3}?(?:is|are|starts|begins) (?:\w+day|tomorrow|tonight|today|at|on|from"
    r"|next)\b)"
)
_TODAY_IS = (
    r"\bit's (?P<article>(?:the |my |our |a |an )?)"
    r"(?=(?:[\w'-]+ ){1,3}(?:tomorrow|today|tonight|on \w+day|this \w+|next \w+|\w+day)\b)"
)
_ALONE = (
    r"^(?P<article>)(?=[a-z'-]+ [a-z'-]+\?$"
    r"|(?!some|any|noth|every|morn|even|kidd|jok)[a-z]{4,}ing\?$)"
)
_LEADS = (_TODAY_IS, _DOING, _DAY_IS, _HEADING, _ALONE, _IT_IS)
_NO_FIRST_WORDS = words("mr mrs ms dr mine yours anything something nothing")
_NO_LAST_WORDS = words("hundred time minutes hours people questions stuff days things")
_NO_ACTIVITIES = words(
    """
    enough
    time thing things something nothing anything plan plans minute minutes hour hours people lots
    fun stuff room slot slots opening openings gap question questions idea problem issue look
    feeling favor favour chance choice way point moment second place day week kids kid baby dog
    cat car house job work sense deal bit lot couple rest phone laptop email link invite calendar
    weekend one ones fever cold flu headache migraine hangover feeling dream meantime part parts
    reason money news conflict store same bus train bed home bathroom office
    settled booked confirmed agreed fixed
    right correct normal usual mr mrs ms dr final finally done deal sorted earliest latest
    soonest best worst other desk door table shop weather traffic grand lovely brilliant madam sir
    darling love mate dear honey shut closed open floor
    """
)


_NO_LABELS = STOPS | NOBODY | FILLERS | _NO_ACTIVITIES


def find_unknown(text: str, moments: Spans) -> Activity | None:
    """What follows "I have", "going to" or "let's do", if it can be the name of an activity."""
    lower = small(text)
    lead = next((m for m in (small_pattern(p).search(lower) for p in _LEADS) if m), None)
    if lead is None:
        return None
    taken, end = _words_from(text, lead.end(), moments)
    vague = bool(taken) and taken[-1].lower() in ("thing", "event")
    named = [word for word in (taken[:-1] if vague else taken) if word.lower() not in FILLERS]
    if not named or not _can_be_activity(named):
        return None
    sure = vague or lead["article"] is not None or lead[0].endswith("for ")
    goes_on = covers(moments, end, end + 6) or found(
        r"^\W*(?:on|at|from|with|for|in)\b", text[end:]
    )
    if not (sure or goes_on):
        return None
    kind = kinds().get(named[-1].lower())
    if kind is None and len(named) == 1 and named[0].endswith("ing") and text.endswith("?"):
        kind = kinds()["hike"]
    title = sentence_case(" ".join(named))
    return Activity(
        lead.end(),
        end,
        title.lower(),
        title,
        kind or kinds()["appointment"],
        find_people(text, end, moments),
        definite=(lead["article"] or "").strip() in ("the", "my", "our", "that"),
        guessed=kind is None,
    )


def _words_from(text: str, start: int, moments: Spans) -> tuple[list[str], int]:
    """The words from `start` that can belong to a name, four at most, and where they end."""
    taken: list[str] = []
    end = start
    for word in pattern(r"[\w'&:/-]+").finditer(text, start):
        said = word[0].lower()
        if text[end : word.start()].strip() or covers(moments, word.start(), word.end()):
            break
        known = said.removesuffix("'s")
        if known in STOPS or known in NOBODY or said.endswith("ly") or len(taken) == 4:
            break
        taken.append(word[0])
        end = word.end()
    return taken, end


def _can_be_activity(named: list[str]) -> bool:
    first, last = named[0].lower(), named[-1].lower()
    if len(named) == 1 and first in _NO_ACTIVITIES:
        return False
    return first not in _NO_FIRST_WORDS and last not in _NO_LAST_WORDS
