"""Every flag, argument and setting with values that are none."""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Mapping, Sequence

from testing.hostile_server import Answer, HostileServer
from tests.hostile.forked import Case, Main
from tests.hostile.mutations import NASTY
from tests.hostile.readers import CORPUS, DRY, SAID, SAMPLE

from cal_ai.cli import benchmark_parser, prompt_parser, run_parser
from cal_ai.cli import main as cal_ai
from sat_bench.cli import FLAGS, IMPORT_FLAGS
from sat_bench.cli import main as sat_bench
from truemark.cli import COMMANDS
from truemark.cli import main as truemark
from truemark.command import Parser

VALUES = (
    *(value for value in NASTY if "\0" not in value),  # no system hands a program such an argument
    *("", "-1", "0", "nan", "1e5", "/dev/zero", "/dev/null", "/dev/full", "/", "."),
    *("nowhere/at/all", "a,b,,", "~nobody-at-all/x", "{model}", "-", "--"),
)
SYSTEMS = ("lib:", "py:", "cmd:", "cmd+:", "file:", "llm:", "llm:gemini:", "llm:openai:")
EXTRACTORS = ("py:", "cmd:", "replay:")
CALENDARS = ("ics:", "caldav:", "caldav:http://", "google")
SETTINGS = (
    *("GEMINI_API_KEY", "GEMINI_MODEL", "GOOGLE_GEMINI_BASE_URL", "OPENAI_API_KEY"),
    *("OPENAI_BASE_URL", "OPENAI_MODEL", "OWNER_NAME", "TIMEZONE", "CALDAV_USERNAME"),
    *("CALDAV_PASSWORD", "GOOGLE_CREDENTIALS", "GOOGLE_CALENDAR_ENDPOINT", "TZ", "HOME"),
    *("XDG_DATA_HOME", "XDG_CONFIG_HOME", "COLUMNS", "GITHUB_STEP_SUMMARY"),
)
ADDRESSES = ("GOOGLE_GEMINI_BASE_URL", "OPENAI_BASE_URL", "GOOGLE_CALENDAR_ENDPOINT")
TALK = ("talk.txt", "--timeout", "0.5")
PASSES = ("--fail-under", "0")
PER_FLAG = 6
SEARCHES = ("benchmark", "history")
WRONG_USE_TOO = frozenset({0, 1, 2, 3})
Plan = tuple[str, str, Main, tuple[str, ...], Mapping[str, str]]


def flag_cases(dice: random.Random, record: bytes) -> Iterator[Case]:
    """Each flag of each command, each kind of system, each setting, with values of `VALUES`."""
    files = {**SAID, **CORPUS, **SAMPLE, "a.run.json": record, "b.run.json": record}
    # Whoever gets as far as asking a server is refused at once.
    with HostileServer(Answer(404)) as server:
        settings = dict.fromkeys(ADDRESSES, server.url)
        for kind, name, main, arguments, own in (*_flags(dice), *_systems(dice), *_settings(dice)):
            given = {**settings, **own}
            yield Case(kind, name, main, arguments, files, given, statuses=WRONG_USE_TOO)


def _flags(dice: random.Random) -> Iterator[Plan]:
    for command, main, arguments, flags in _commands():
        for flag in flags:
            for value in dice.sample(VALUES, PER_FLAG):
                if not flag and command in SEARCHES and value == "/":
                    continue  # to read a whole disk is much work, not bad input
                given = (*arguments, *((flag,) if flag else ()), value)
                yield f"flags of {command}", f"{flag} {value[:20]!r}", main, given, {}


def _systems(dice: random.Random) -> Iterator[Plan]:
    nano = ("-corpus", "corpus", "-timeout", "2")
    for flag, main, arguments, prefixes in (
        ("-model", sat_bench, nano, SYSTEMS),
        ("-models", sat_bench, nano, SYSTEMS),
        ("--extractor", cal_ai, (*TALK, *DRY), EXTRACTORS),
        ("--calendar", cal_ai, TALK, CALENDARS),
    ):
        for prefix in prefixes:
            for value in dice.sample(VALUES, PER_FLAG):
                name = f"{flag} {prefix}{value[:20]!r}"
                yield "kinds of systems", name, main, (*arguments, flag, prefix + value), {}


def _settings(dice: random.Random) -> Iterator[Plan]:
    for setting in SETTINGS:
        for value in dice.sample(VALUES, PER_FLAG):
            name, own = f"{setting}={value[:20]!r}", {setting: value}
            if setting == "GITHUB_STEP_SUMMARY":
                yield "settings", name, truemark, ("check", "a.run.json", *PASSES), own
            else:
                yield "settings", name, cal_ai, (*TALK, *DRY), own


def _commands() -> Iterator[tuple[str, Main, tuple[str, ...], Sequence[str]]]:
    """A command, its `main`, arguments that are good, and its flags; "" is an argument."""
    run = ("talk.txt", *DRY)
    yield "run", cal_ai, run, _flags_of(run_parser())
    yield "run", cal_ai, (), [""]
    yield "benchmark", cal_ai, ("benchmark", "samples"), _flags_of(benchmark_parser())
    yield "benchmark", cal_ai, ("benchmark",), [""]
    yield "prompt", cal_ai, ("prompt",), [*_flags_of(prompt_parser()), ""]
    nano = ("-corpus", "corpus", "-model", "nano")
    yield "sat-bench", sat_bench, nano, [*(flag.name for flag in FLAGS), ""]
    imported = ("import", "talk.txt", "-o", "out.txt")
    yield "import", sat_bench, imported, [flag.name for flag in IMPORT_FLAGS]
    yield "import", sat_bench, ("import",), [""]
    good = {
        "compare": ("a.run.json", "b.run.json"),
        "report": ("a.run.json", "-o", "page.html"),
        "history": (".",),
        "leaderboard": (".",),
        "check": ("a.run.json", "--fail-under", "0.1"),
    }
    for name, (_, add_arguments) in COMMANDS.items():
        own = Parser()
        add_arguments(own)
        yield name, truemark, (name, *good[name]), _flags_of(own)
        yield name, truemark, (name,), [""]


def _flags_of(parser: argparse.ArgumentParser) -> list[str]:
    return [action.option_strings[-1] for action in parser._actions if action.option_strings]
