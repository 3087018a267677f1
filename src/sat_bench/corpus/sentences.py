"""Where sentences end in a transcript: the rule that stands in for a gold annotation."""

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

TruthRule = Literal["plain", "quoted"]
TRUTH_RULES: tuple[TruthRule, ...] = ("plain", "quoted")

ABBREVIATIONS = (
    *("mr", "mrs", "ms", "dr", "prof", "sr", "jr"),
    *("vs", "etc", "i.e", "e.g", "u.s", "u.k"),
)

_ENDS: dict[TruthRule, re.Pattern[str]] = {
    "plain": re.compile(r"[.?!](?=\s|\Z)"),
    "quoted": re.compile(r"""[.?!]["'”’»›)\]}]*(?=\s|\Z)"""),
}
_ABBREVIATION = re.compile(
    rf"(?<!\w)(?:{'|'.join(map(re.escape, ABBREVIATIONS))})\Z", re.IGNORECASE
)
# The longest abbreviation and the character before it, which must not be a letter.
_LOOK_BACK = max(map(len, ABBREVIATIONS)) + 1


class Sentence(NamedTuple):
    """A span of characters such that `text[start:end]` is the sentence."""

    start: int
    end: int


def find_sentences(text: str, rule: TruthRule = "plain") -> tuple[Sentence, ...]:
    """The sentences of a text in order; text left over without a terminator is the last one."""
    return spans_between(text, _ends(text, rule), leftover=True)


def spans_between(text: str, ends: Iterable[int], *, leftover: bool) -> tuple[Sentence, ...]:
    """The sentences that close at the given ascending ends, without the white space around them."""
    sentences = []
    start = 0
    for end in ends:
        sentences.append(_trimmed(text, start, end))
        start = end
    if leftover and text[start:].strip():
        sentences.append(_trimmed(text, start, len(text)))
    return tuple(sentences)


def _ends(text: str, rule: TruthRule) -> Iterator[int]:
    for match in _ENDS[rule].finditer(text):
        if text[match.start()] == "." and _closes_abbreviation(text, match.start()):
            continue
        yield match.end()


def _closes_abbreviation(text: str, stop: int) -> bool:
    return _ABBREVIATION.search(text[max(0, stop - _LOOK_BACK) : stop]) is not None


def _trimmed(text: str, start: int, end: int) -> Sentence:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Sentence(start, end)
