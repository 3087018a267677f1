"""People whom a text names as company."""

from __future__ import annotations

from cal_ai.extractors.rules.activities import kinds
from cal_ai.extractors.rules.patterns import cased, pattern, words
from cal_ai.extractors.rules.spans import Spans, covers
from cal_ai.extractors.rules.vocabulary import DEFINITE, DETERMINERS, NOBODY, STOPS

_RELATIONS = {"mom", "dad", "mum", "grandma", "grandpa", "mama", "papa", "nana"}


def find_people(text: str, position: int, moments: Spans) -> tuple[str, ...]:
    """Who comes after "with": names, or relations and groups such as "client", "design team"."""
    match = pattern(r"\bwith ").search(text, position)
    if match is None:
        return ()
    people: list[str] = []
    current: list[str] = []
    end = match.end()
    for word in pattern(r"[\w'.-]+|,|&").finditer(text, match.end()):
        lower = word[0].lower()
        if text[end : word.start()].strip() or covers(moments, word.start(), word.end()):
            break
        end = word.end()
        if lower in ("and", ",", "&"):
            people.append(" ".join(current))
            current = []
        elif lower in DETERMINERS and not current:
            continue
        elif _ends_name(word[0], current):
            break
        else:
            current.append(word[0].rstrip("."))
    people.append(" ".join(current))
    return tuple(_capital(name) for name in people if name and name.lower() not in NOBODY)


_ASKING = (
    r"(?:^|[,.] )(?i:(?:and|so|oh|also|but|well|by the way|apparently|listen),? )*"
    r"(?P<who>(?:(?i:the|my|your|our|his|her) )?[A-Za-z][\w'-]+(?: [A-Z][\w'-]+){0,2})"
    r"(?:,? (?:from|at|in|of) [^,]{2,30}?|, [^,]{2,30},| just| also| (?:called|rang|phoned) and)?"
    r"(?:'d like| would (?:like|love)| wants?| needs?| asked| asks| invited| has (?:asked|invited)"
    r"| (?:has )?(?:suggested|proposed|offered)"
    r"| can (?:only |just |also )?(?:come|meet|see|talk|do)"
    r"| is (?:asking|inviting))\b"
)
_NOT_ASKING = words(
    """
    that this it which who what there everybody everyone nobody somebody someone anybody anyone he
    she they we you i let us all none both people
    """
)


def find_asker(text: str) -> str:
    """Who, not being here, asks for something ("Dr Ode would like a word"), "" if nobody."""
    match = cased(_ASKING).search(text)
    if match is None:
        return ""
    said = match["who"].split(" ")
    named = said[1:] if said[0].lower() in DEFINITE else said
    if not named or {word.lower() for word in named} & (_NOT_ASKING | STOPS | kinds().keys()):
        return ""
    return _capital(" ".join(named))


def _ends_name(word: str, current: list[str]) -> bool:
    lower = word.lower()
    if lower in STOPS or lower in NOBODY or lower in kinds() or len(current) == 3:
        return True
    return bool(current) and word[:1].islower() and _is_name(current[0])


def _is_name(word: str) -> bool:
    return word[:1].isupper() and word.lower() not in ("dr", "mr", "mrs", "ms", "prof")


def _capital(name: str) -> str:
    return name.capitalize() if name.lower() in _RELATIONS else name
