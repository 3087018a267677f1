"""Imitates a speech recogniser: numbers in words, fillers, repetitions, wrong words.

Number words, fillers and words that sound alike are English, and only in English talks.

The random generator is seeded with the talk's name, so that a talk is always changed the same way.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator

from sat_bench.corpus.talks import UNSPACED, Talk
from truemark.languages import language_code, language_outside

SEED = 1
FILLER_RATE, REPEAT_RATE, WRONG_RATE = 0.02, 0.015, 0.04
_ENGLISH = "en"
FILLERS = ("uh", "um", "uh", "you know", "i mean", "like")
# Groups of words that sound alike.
_ALIKE = (
    "their there", "to too two", "its it's", "your you're", "hear here", "no know", "by buy",
    "write right", "were where", "then than", "for four", "son sun", "week weak", "would wood",
    "our hour", "one won", "see sea", "be bee", "or oar", "an and", "whole hole", "new knew",
    "wait weight", "piece peace", "plain plane", "way weigh", "meet meat", "made maid",
    "through threw", "road rode", "wear where", "which witch", "affect effect", "passed past",
)  # fmt: skip
_SOUNDS_LIKE = {
    word: tuple(other for other in words.split() if other != word)
    for words in _ALIKE
    for word in words.split()
}
_NOTE = re.compile(r"\[[^][]*\]|\((?=[A-Z])[^().?!\s]*(?: [^().?!\s]+){0,3}\)")
_NUMBER = re.compile(
    r"(?P<money>[$€£])?(?<![\w.])(?P<digits>\d{1,3}(?:,\d{3})+|\d{1,15})"
    r"(?:\.(?P<fraction>\d+)|(?P<ordinal>st|nd|rd|th)|:(?P<minutes>[0-5]\d))?(?P<percent>%)?"
    r"(?![\w%])"
)
_UNSPACED_CHARACTER = re.compile(rf"[{UNSPACED}]")
_MONEY = {"$": "dollars", "€": "euros", "£": "pounds"}

_SMALL = [
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_SCALES = ((10**12, "trillion"), (10**9, "billion"), (10**6, "million"), (1000, "thousand"))
_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}


def is_english(talk: Talk) -> bool:
    """Whether a talk is in English: as its header states, else unless it reads otherwise."""
    code = language_code(talk.language) or language_outside(talk.text, {_ENGLISH})
    return code in (_ENGLISH, None)


def remark_on_languages(talks: Iterable[Talk]) -> str | None:
    """Return a remark on the talks that are not in English, if there are any."""
    english = [is_english(talk) for talk in talks]
    others = english.count(False)
    if not others:
        return None
    are = "are" if others > 1 else "is"
    which = f"{others} of {len(english)} talks {are}" if len(english) > 1 else "the talk is"
    return f"asr: {which} not in English, so without the English fillers and number words"


def spoken(sentence: str) -> str:
    """Drop sound notes and write numbers in English words."""
    return _NUMBER.sub(_in_words, without_notes(sentence))


def without_notes(sentence: str) -> str:
    """Drop sound notes such as "(Laughter)"."""
    return _NOTE.sub(" ", sentence)


def _in_words(match: re.Match[str]) -> str:
    digits = match["digits"]
    number = int(digits.replace(",", ""))
    if match["ordinal"]:
        words = ordinal_words(number)
    elif match["minutes"]:
        words = f"{number_words(number)} {number_words(int(match['minutes']))}"
    elif match["fraction"]:
        tail = " ".join(number_words(int(digit)) for digit in match["fraction"])
        words = f"{number_words(number)} point {tail}"
    elif "," not in digits and not match["money"] and not match["percent"]:
        words = year_words(number) or number_words(number)
    else:
        words = number_words(number)
    unit = _MONEY.get(match["money"] or "", "percent" if match["percent"] else "")
    return f"{words} {unit}".rstrip()


def recogniser(talk: Talk) -> Callable[[str], str]:
    """Return a function that makes mistakes in the bare sentences of one talk, in order.

    Some words are replaced by others, repeated or, in English, preceded by a filler. In scripts
    without spaces between words, where words are not known, nothing is changed.
    """
    english = is_english(talk)
    sounds_like = _SOUNDS_LIKE if english else {}
    chance = random.Random(f"{SEED} {talk.id}")
    by_initial: dict[str, list[str]] = {}
    for word in sorted({word for word in talk.text.lower().split() if word.isalpha()}):
        by_initial.setdefault(word[0], []).append(word)

    def recognised(word: str) -> Iterator[str]:
        # Every word draws equally often, so that changing one rate does not change other words.
        filler, repeat, wrong, pick = (chance.random() for _ in range(4))
        if _UNSPACED_CHARACTER.search(word):
            yield word
            return
        if english and filler < FILLER_RATE:
            yield FILLERS[int(pick * len(FILLERS))]
        if wrong < WRONG_RATE:
            choices = sounds_like.get(word) or tuple(by_initial.get(word[0], ())) or (word,)
            word = choices[int(pick * len(choices))]
        if repeat < REPEAT_RATE:
            yield word
        yield word

    return lambda sentence: " ".join(
        heard for word in sentence.split() for heard in recognised(word)
    )


def number_words(number: int) -> str:
    """Write a number in words, such as "three hundred and five"."""
    if number < 20:
        return _SMALL[number]
    if number < 100:
        tens, rest = divmod(number, 10)
        return _joined(_TENS[tens - 2], rest)
    if number < 1000:
        hundreds, rest = divmod(number, 100)
        words = f"{_SMALL[hundreds]} hundred"
        return f"{words} and {number_words(rest)}" if rest else words
    for size, name in _SCALES:
        if number >= size:
            many, rest = divmod(number, size)
            return _joined(f"{number_words(many)} {name}", rest)
    raise AssertionError(number)


def ordinal_words(number: int) -> str:
    """Write an ordinal number in words, such as "twenty first"."""
    *before, last = number_words(number).split()
    if last in _ORDINALS:
        last = _ORDINALS[last]
    else:
        last = f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th"
    return " ".join((*before, last))


def year_words(number: int) -> str | None:
    """Write a year in words, such as "nineteen eighty four"; None if it does not read as one."""
    century, year = divmod(number, 100)
    if not 11 <= century <= 20 or (century == 20 and year < 10):
        return None
    if year == 0:
        return f"{number_words(century)} hundred"
    tail = f"oh {_SMALL[year]}" if year < 10 else number_words(year)
    return f"{number_words(century)} {tail}"


def _joined(words: str, rest: int) -> str:
    return f"{words} {number_words(rest)}" if rest else words
