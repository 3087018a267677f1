"""Flags written with one dash or two, and the values that they take."""

from __future__ import annotations

import argparse
import difflib
import math
import re
from argparse import ArgumentTypeError
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from sat_bench.defaults import (
    BUNDLED_CORPORA,
    CONDITIONS,
    LARGEST_OVERLAP,
    MOST_LOCAL_WORKERS,
    WRITTEN,
    Condition,
)
from truemark.command import LONGEST_WAIT_S, Parser
from truemark.files import expanded

_TRUTH = {"true": True, "1": True, "t": True, "false": False, "0": False, "f": False}
_NEGATIVE_NUMBER = re.compile(r"-\.?\d.*")

_MOST_DIGITS = 9
# A comma in a quoted part of a command does not end it.
_WORDS = r"""(?:[^,'"\\]|\\.|'[^']*'|"(?:\\.|[^"\\])*")*"""
_NAME = re.compile(rf"(?:(?<=,)|^)(?:\s*cmd\+?:{_WORDS}|[^,]*)(?=,|$)", re.DOTALL)
_SCHEDULER = re.compile(r"(tcp|tls)://([^\s/:\[\]]+|\[[0-9A-Fa-f:.]+\]):(?P<port>[0-9]{1,5})")


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag, named with a single dash; a flag without a placeholder is a switch."""

    name: str
    meaning: str
    placeholder: str = ""
    default: str = ""
    parse: Callable[[str], object] = str
    choices: tuple[str, ...] = ()


class FlagParser:
    """Parses flags written with one dash or two, never abbreviated."""

    def __init__(
        self,
        program: str,
        description: str,
        flags: Sequence[Flag],
        positional: Sequence[tuple[str, str]] = (),
        *,
        more_usage: Sequence[str] = (),
        epilog: str = "Every flag works with one dash and with two.",
    ) -> None:
        self._names = {flag.name for flag in flags} | {"-h", "-help"}
        names = [name for name, _ in positional]
        self._valued = {flag.name for flag in flags if flag.placeholder}
        self._parser = Parser(
            prog=program,
            usage="\n       ".join((" ".join((program, *names, "[flags]")), *more_usage)),
            description=description,
            epilog=epilog,
            add_help=False,
            allow_abbrev=False,
            argument_default=argparse.SUPPRESS,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        for name, meaning in positional:
            # FILE… stands for one or more, [FILE] for one that may be left out.
            times = {"…": "+", "]": "?"}.get(name[-1])
            self._parser.add_argument(name.strip("[]…"), help=meaning, nargs=times)
        for flag in flags:
            self._add(flag)
        self._parser.add_argument("-h", "-help", action="help", help="show this help and exit")

    def parse(self, arguments: Sequence[str]) -> dict[str, Any]:
        """Return the values of the given flags by name; exit with status 2 on a bad line."""
        namespace, rest = self._parser.parse_known_args(self._canonical(arguments))
        if rest:
            self.error(f"unexpected argument {rest[0]!r}")
        return vars(namespace)

    def error(self, message: str) -> NoReturn:
        """Exit with status 2, the usage and the reason on stderr."""
        self._parser.error(message)

    def _add(self, flag: Flag) -> None:
        meaning = flag.meaning + (f" (default: {flag.default})" if flag.default else "")
        meaning = meaning.replace("%", "%%")
        if not flag.placeholder:
            self._parser.add_argument(flag.name, dest=flag.name, action="store_true", help=meaning)
            return
        self._parser.add_argument(
            flag.name,
            dest=flag.name,
            metavar=flag.placeholder,
            type=flag.parse,
            choices=flag.choices or None,
            help=meaning,
        )

    def _canonical(self, arguments: Sequence[str]) -> list[str]:
        # argparse would take -thresh for -threshold, and -1e-3 for a flag.
        canonical: list[str] = []
        for argument in arguments:
            if _NEGATIVE_NUMBER.fullmatch(argument) and canonical and canonical[-1] in self._valued:
                canonical[-1] += f"={argument}"
            elif argument.startswith("-") and argument not in ("-", "--"):
                name, equals, value = argument.partition("=")
                name = self._known(name)
                if equals and name not in self._valued and value.lower() in _TRUTH:
                    self._switch(canonical, name, on=_TRUTH[value.lower()])
                else:
                    canonical.append(name + equals + value)
            else:
                canonical.append(argument)
        return canonical

    def _switch(self, canonical: list[str], name: str, *, on: bool) -> None:
        """Set a switch; the last time that it is given counts."""
        if name in ("-h", "-help"):
            self.error(f"argument {name}: takes no value")
        if on:
            canonical.append(name)
        else:
            canonical[:] = [argument for argument in canonical if argument != name]

    def _known(self, name: str) -> str:
        single = name[1:] if name.startswith("--") else name
        if single not in self._names:
            close = difflib.get_close_matches(single, self._names, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            self.error(f"unknown flag {name}{hint}")
        return single


def flag_table(flags: Sequence[Flag]) -> str:
    """Write the flags as a Markdown table."""
    lines = ["| flag | default | meaning |", "| --- | --- | --- |"]
    for flag in flags:
        name = " ".join(filter(None, (flag.name, flag.placeholder)))
        default = flag.default if flag.placeholder else "off"
        shown = f"`{default}`" if default and " " not in default and flag.placeholder else default
        lines.append(" ".join(filter(None, ("|", f"`{name}`", "|", shown, "|", flag.meaning, "|"))))
    return "\n".join(lines) + "\n"


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


def parse_step(value: str) -> float:
    number = _number(0, 1, "a number above 0, at most 1")(value)
    if number == 0:
        raise ArgumentTypeError(f"must be a number above 0, at most 1, got {value!r}")
    return number


def _whole(value: str, wanted: str, least: int = 0, most: float = math.inf) -> int:
    digits = value.isascii() and value.isdecimal() and len(value) <= _MOST_DIGITS
    if not (digits and least <= int(value) <= most):
        raise ArgumentTypeError(f"must be {wanted}, got {value!r}")
    return int(value)


def parse_tolerance(value: str) -> int:
    return _whole(value, "a whole number of characters, 0 or more")


def parse_overlap(value: str) -> int:
    wanted = f"a whole number of tokens from 0 to {LARGEST_OVERLAP}"
    return _whole(value, wanted, most=LARGEST_OVERLAP)


def parse_cluster(value: str) -> str:
    """Accept the address of a scheduler, or `local:` with a number of workers."""
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


def parse_text(value: str) -> str:
    if not value.strip():
        raise ArgumentTypeError("must not be empty")
    return value


def parse_path(value: str) -> Path:
    return expanded(parse_text(value))


def parse_corpus(value: str) -> Path:
    """Read the path of a corpus, or the name of one that the package has."""
    return BUNDLED_CORPORA.get(value) or parse_path(value)


def parse_conditions(value: str) -> tuple[Condition, ...]:
    """Read the conditions; `written` comes first, since losses are counted against it."""
    chosen: list[Condition] = [WRITTEN]
    for name in value.split(","):
        known = next((condition for condition in CONDITIONS if condition == name.strip()), None)
        if known is None:
            raise ArgumentTypeError(
                f"must be conditions separated by commas, of {', '.join(CONDITIONS)}, "
                f"got {name.strip()!r}"
            )
        if known not in chosen:
            chosen.append(known)
    return tuple(chosen)


def parse_model_names(value: str) -> tuple[str, ...]:
    names = tuple(match[0].strip() for match in _NAME.finditer(value))
    if not all(names):
        raise ArgumentTypeError(
            f"must be model names separated by commas, got an empty one in {value!r}"
        )
    return names


parse_probability = _number(0, 1, "a number from 0 to 1")


def parse_seconds(value: str) -> float:
    expected = f"a number of seconds above 0, at most {LONGEST_WAIT_S}"
    number = _number(0, LONGEST_WAIT_S, expected)(value)
    if number == 0:
        raise ArgumentTypeError(f"must be {expected}, got {value!r}")
    return number


parse_weight = _number(0, math.inf, "a number of 0 or more")
