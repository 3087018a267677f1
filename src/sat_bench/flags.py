"""Command line flags as data: parsed, listed by `-h` and tabulated in the guide."""

import argparse
import difflib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from truemark.command import Parser

_TRUTH = {"true": True, "1": True, "t": True, "false": False, "0": False, "f": False}
_NEGATIVE_NUMBER = re.compile(r"-\.?\d.*")


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
        usage: str,
        description: str,
        epilog: str,
        flags: Sequence[Flag],
        positional: tuple[str, str] | None = None,
    ) -> None:
        self._names = {flag.name for flag in flags} | {"-h", "-help"}
        self._valued = {flag.name for flag in flags if flag.placeholder}
        self._parser = Parser(
            prog=program,
            usage=usage,
            description=description,
            epilog=epilog,
            add_help=False,
            allow_abbrev=False,
            argument_default=argparse.SUPPRESS,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if positional:
            self._parser.add_argument(positional[0], help=positional[1])
        for flag in flags:
            self._add(flag)
        self._parser.add_argument("-h", "-help", action="help", help="show this help and exit")

    def parse(self, arguments: Sequence[str]) -> dict[str, Any]:
        """The values of the flags that were given, by name; exits with status 2 on a bad line."""
        namespace, rest = self._parser.parse_known_args(self._canonical(arguments))
        if rest:
            self.error(f"unexpected argument {rest[0]!r}")
        return vars(namespace)

    def error(self, message: str) -> NoReturn:
        """Exits with status 2, the usage and the reason on stderr."""
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
        """Of a switch that is given several times the last counts."""
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
    """The flags as a Markdown table."""
    lines = ["| flag | default | meaning |", "| --- | --- | --- |"]
    for flag in flags:
        name = " ".join(filter(None, (flag.name, flag.placeholder)))
        default = flag.default if flag.placeholder else "off"
        shown = f"`{default}`" if default and " " not in default and flag.placeholder else default
        lines.append(" ".join(filter(None, ("|", f"`{name}`", "|", shown, "|", flag.meaning, "|"))))
    return "\n".join(lines) + "\n"
