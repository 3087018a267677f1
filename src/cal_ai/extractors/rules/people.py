"""People whom a text names as company."""

from __future__ import annotations

from cal_ai.extractors.rules.activities import kinds
from cal_ai.extractors.rules.patterns import pattern
from cal_ai.extractors.rules.spans import Spans, covers
from cal_ai.extractors.rules.vocabulary import DEFINITE, INDEFINITE, NOBODY, STOPS

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
        elif lower in DEFINITE | INDEFINITE and not current:
            continue
        elif _ends_name(word[0], current):
            break
        else:
            current.append(word[0].rstrip("."))
    people.append(" ".join(current))
    return tuple(_capital(name) for name in people if name and name.lower() not in NOBODY)


def _ends_name(word: str, current: list[str]) -> bool:
    lower = word.lower()
    if lower in STOPS or lower in NOBODY or lower in kinds() or len(current) == 3:
        return True
    return bool(current) and word[:1].islower() and _is_name(current[0])


def _is_name(word: str) -> bool:
    return word[:1].isupper() and word.lower() not in ("dr", "mr", "mrs", "ms", "prof")


def _capital(name: str) -> str:
    return name.capitalize() if name.lower() in _RELATIONS else name
