"""What flags take: each function returns the value of what was typed, or says what it must be."""

import math
import re
from argparse import ArgumentTypeError
from collections.abc import Callable
from pathlib import Path

from sat_bench.corpus.conditions import CONDITIONS, WRITTEN, Condition
from sat_bench.corpus.loading import BUNDLED_CORPUS
from sat_bench.models import LARGEST_OVERLAP
from sat_bench.models.finding import expanded

MOST_LOCAL_WORKERS = 256
_MOST_DIGITS = 9
# A comma in a quoted part of a command does not end it.
_WORDS = r"""(?:[^,'"\\]|\\.|'[^']*'|"(?:\\.|[^"\\])*")*"""
_NAME = re.compile(rf"(?:(?<=,)|^)(?:\s*cmd\+?:{_WORDS}|[^,]*)(?=,|$)", re.DOTALL)
_SCHEDULER = re.compile(r"tcp://([^\s/:\[\]]+|\[[0-9A-Fa-f:.]+\]):(?P<port>[0-9]{1,5})")


def _number(low: float, high: float, wanted: str) -> Callable[[str], float]:
    def parse(value: str) -> float:
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not (low <= number <= high and math.isfinite(number)):
            raise ArgumentTypeError(f"must be {wanted}, got {value!r}")
        return number

    return parse


def step(value: str) -> float:
    number = _number(0, 1, "a number above 0, at most 1")(value)
    if number == 0:
        raise ArgumentTypeError(f"must be a number above 0, at most 1, got {value!r}")
    return number


def _whole(value: str, wanted: str, least: int = 0, most: float = math.inf) -> int:
    digits = value.isascii() and value.isdecimal() and len(value) <= _MOST_DIGITS
    if not (digits and least <= int(value) <= most):
        raise ArgumentTypeError(f"must be {wanted}, got {value!r}")
    return int(value)


def tolerance(value: str) -> int:
    return _whole(value, "a whole number of characters, 0 or more")


def overlap(value: str) -> int:
    wanted = f"a whole number of tokens from 0 to {LARGEST_OVERLAP}"
    return _whole(value, wanted, most=LARGEST_OVERLAP)


def cluster(value: str) -> str:
    """The address of a scheduler, or `local:` with a number of workers."""
    kind, _, workers = value.partition(":")
    if kind == "local" and workers:
        wanted = f"local:N with N from 1 to {MOST_LOCAL_WORKERS} workers"
        return f"local:{_whole(workers, wanted, least=1, most=MOST_LOCAL_WORKERS)}"
    scheduler = _SCHEDULER.fullmatch(value)
    if not scheduler or not 1 <= int(scheduler["port"]) <= 65_535:
        raise ArgumentTypeError(
            f"must be a scheduler's address such as tcp://host:8786, or local:N, got {value!r}"
        )
    return value


def text(value: str) -> str:
    if not value.strip():
        raise ArgumentTypeError("must not be empty")
    return value


def path(value: str) -> Path:
    return expanded(text(value))


def corpus(value: str) -> Path:
    """The folder or file; `bundled` is the folder of the bundled talks."""
    return BUNDLED_CORPUS if value == "bundled" else path(value)


def conditions(value: str) -> tuple[Condition, ...]:
    """The conditions, `written` first: what the others lose is counted against it."""
    found: list[Condition] = [WRITTEN]
    for name in value.split(","):
        known = next((one for one in CONDITIONS if one == name.strip()), None)
        if known is None:
            raise ArgumentTypeError(
                f"must be conditions separated by commas, of {', '.join(CONDITIONS)}, "
                f"got {name.strip()!r}"
            )
        if known not in found:
            found.append(known)
    return tuple(found)


def model_names(value: str) -> tuple[str, ...]:
    names = tuple(match[0].strip() for match in _NAME.finditer(value))
    if not all(names):
        raise ArgumentTypeError(
            f"must be model names separated by commas, got an empty one in {value!r}"
        )
    return names


probability = _number(0, 1, "a number from 0 to 1")


def seconds(value: str) -> float:
    number = _number(0, math.inf, "a number of seconds above 0")(value)
    if number == 0:
        raise ArgumentTypeError(f"must be a number of seconds above 0, got {value!r}")
    return number


weight = _number(0, math.inf, "a number of 0 or more")
