"""Whole numbers as they are said in English."""

from __future__ import annotations

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


def number_words(number: int) -> str:
    """The number in words, such as "three hundred and five"."""
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
    """The number as a place in a row, such as "twenty first"."""
    *before, last = number_words(number).split()
    if last in _ORDINALS:
        last = _ORDINALS[last]
    else:
        last = f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th"
    return " ".join((*before, last))


def year_words(number: int) -> str | None:
    """The number as a year, such as "nineteen eighty four"; nothing if it does not read as one."""
    century, year = divmod(number, 100)
    if not 11 <= century <= 20 or (century == 20 and year < 10):
        return None
    if year == 0:
        return f"{number_words(century)} hundred"
    tail = f"oh {_SMALL[year]}" if year < 10 else number_words(year)
    return f"{number_words(century)} {tail}"


def _joined(words: str, rest: int) -> str:
    return f"{words} {number_words(rest)}" if rest else words
