"""Generated cases: every reader with mutated files, and every flag with values that are none."""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from tests.cal_ai.calendar_texts import REAL_WORLD
from tests.cal_ai.sample_folders import GOT_LUNCH, LUNCH
from tests.hostile.forked import Case, Main
from tests.hostile.kinds import SECRETS, TRANSCRIPT
from tests.hostile.mutations import NASTY, mutated

from cal_ai.cli import benchmark_parser, run_parser
from cal_ai.cli import main as cal_ai
from sat_bench.cli import main as sat_bench
from sat_bench.options import FLAGS, IMPORT_FLAGS
from truemark.cli import main as truemark

BUNDLED = Path(__file__).parents[2] / "src" / "sat_bench" / "bundled"
TALK = b"# Source: here\n# Title: Talk\n\nHello there. How are you? I am fine! Thank you.\n"
GOLD = json.dumps(
    {"name": "Talk", "source": "here", "text": "One. Two. Three.", "boundaries": [4, 9, 16]}
).encode()
CONLLU = "".join(
    f"# sent_id = {number}\n# text = Yes sir.\n"
    + "".join(
        f"{word}\t{form}\t_\t_\t_\t_\t_\t_\t_\t_\n" for word, form in ((1, "Yes"), (2, "sir."))
    )
    + "\n"
    for number in range(3)
).encode()
SRT = b"1\n00:00:01,000 --> 00:00:02,000\nHello there.\n\n2\n00:00:02,000 --> 00:00:04,000\nBye.\n"
VTT = b"WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ann>Hello there.\n\n00:02.000 --> 00:04.000\nBye.\n"
SIDECAR = json.dumps(
    {
        "tolerance": "strict",
        "owner": "Alice",
        "reference_datetime": "2026-02-20T10:00:00",
        "calendar_context": [{"id": "a", "summary": "Old", "start": "2026-02-21T10:00:00"}],
        "expected_events": [{**LUNCH, "attendees_contain": ["Bob"], "location": "Luigi's"}],
    }
).encode()
DOTENV = b"OWNER_NAME=Alice\nTIMEZONE=Europe/Berlin\nOPENAI_MODEL='m'\nexport X=\"${Y}\"\n"
DRY = ("--dry-run", "--calendar", "ics:none.ics")


def generated_cases(seed: int) -> Iterator[Case]:
    """All of them, the same for the same seed."""
    for number, make in enumerate(_MAKERS):
        yield from make(random.Random(f"{seed} {number}"))
    yield from _flags(random.Random(f"{seed} flags"))


def _reader(
    kind: str,
    count: int,
    name: str,
    good: bytes,
    main: Main,
    arguments: Sequence[str],
    dice: random.Random,
    beside: dict[str, bytes] | None = None,
    **settings: str,
) -> Iterator[Case]:
    for number in range(count):
        files = {**(beside or {}), name: mutated(good, dice)}
        secrets = tuple(value for value in settings.values() if value.startswith("canary"))
        yield Case(kind, f"{kind} {number}", main, tuple(arguments), files, settings, secrets)


def _corpus(kind: str, good: bytes, dice: random.Random) -> Iterator[Case]:
    flags = ("-corpus", "corpus", "-model", "nano", "-format", dice.choice(("text", "csv", "json")))
    yield from _reader(kind, 90, f"corpus/talk{kind}", good, sat_bench, flags, dice)


def _imports(dice: random.Random) -> Iterator[Case]:
    for ending, good in ((".txt", TALK), (".srt", SRT), (".vtt", VTT)):
        arguments = ("import", f"in{ending}", "-o", "out.txt")
        yield from _reader(f"import {ending}", 50, f"in{ending}", good, sat_bench, arguments, dice)


def _samples(dice: random.Random) -> Iterator[Case]:
    arguments = ("benchmark", "samples", "--no-summary")
    talk = {"samples/crud/one.txt": TRANSCRIPT.encode()}
    name = "samples/crud/one.expected.json"
    yield from _reader(".expected.json", 220, name, SIDECAR, cal_ai, arguments, dice, talk)


def _transcripts(dice: random.Random) -> Iterator[Case]:
    good = TRANSCRIPT.encode()
    yield from _reader("transcript", 150, "talk.txt", good, cal_ai, ("talk.txt", *DRY), dice)


def _calendars(dice: random.Random) -> Iterator[Case]:
    talk = {"talk.txt": TRANSCRIPT.encode()}
    arguments = ("talk.txt", "--calendar", "ics:c.ics")
    yield from _reader(".ics", 220, "c.ics", REAL_WORLD, cal_ai, arguments, dice, talk)


def _dotenvs(dice: random.Random) -> Iterator[Case]:
    talk = {"talk.txt": TRANSCRIPT.encode()}
    good = DOTENV + f"CALDAV_PASSWORD={SECRETS['caldav']}\n".encode()
    for case in _reader(".env", 90, ".env", good, cal_ai, ("talk.txt", *DRY), dice, talk):
        yield Case(
            case.kind, case.name, case.main, case.arguments, case.files, {}, (SECRETS["caldav"],)
        )


def _recordings(dice: random.Random) -> Iterator[Case]:
    files = {"samples/crud/one.txt": TRANSCRIPT.encode(), "samples/crud/one.expected.json": SIDECAR}
    line = json.dumps(
        {
            "sample": "crud/one",
            "fingerprint": "0" * 16 + "-" + "1" * 16,
            "extractor": "gemini",
            "model": "m",
            "raw": json.dumps({"events": [GOT_LUNCH]}),
            "usage": {"prompt": 1, "output": 2, "thinking": 3, "total": 6},
            "latency_s": 1.5,
            "attempts": 1,
        }
    ).encode()
    good = line + b"\n" + line + b"\n"
    replay = ("benchmark", "samples", "--extractor", "replay:r.answers.jsonl")
    yield from _reader(".answers.jsonl", 120, "r.answers.jsonl", good, cal_ai, replay, dice, files)
    history = ("benchmark", "samples", "--resume", "--no-summary")
    old = json.dumps(
        {"timestamp": "2026-01-01T00:00:00+00:00", "f1": 0.5, "signature": "x"}
    ).encode()
    name = "reports/benchmark_history.jsonl"
    yield from _reader("history", 60, name, old + b"\n", cal_ai, history, dice, files)


def _journals(dice: random.Random) -> Iterator[Case]:
    talk = {"talk.txt": TRANSCRIPT.encode()}
    change = {"action": "create", "title": "Lunch", "start_time": "2026-01-01T10:00:00"}
    head = {"at": "2026-01-01 10:00", "calendar": "", "transcript": "x"}
    good = b"".join(
        json.dumps({**head, **rest}).encode() + b"\n"
        for rest in ({"key": "k", "change": change}, {"settled": True})
    )
    arguments = ("talk.txt", "--calendar", "ics:c.ics")
    yield from _reader(
        "journal", 120, "DATA/truemark/applied.jsonl", good, cal_ai, arguments, dice, talk
    )


def _tokens(dice: random.Random) -> Iterator[Case]:
    talk = {"talk.txt": TRANSCRIPT.encode()}
    token = {
        "token": SECRETS["google"],
        "refresh_token": SECRETS["refresh"],
        "token_uri": "http://127.0.0.1:9/token",
        "client_id": "someone",
        "client_secret": SECRETS["client"],
        "expiry": "2999-01-01T00:00:00",
    }
    arguments = ("talk.txt", "--calendar", "google", "--timeout", "1")
    name, good = "CONFIG/truemark/google-token.json", json.dumps(token).encode()
    endpoint = {"GOOGLE_CALENDAR_ENDPOINT": "http://127.0.0.1:9"}
    for case in _reader("token", 60, name, good, cal_ai, arguments, dice, talk, **endpoint):
        secrets = (SECRETS["refresh"], SECRETS["client"])
        yield Case(case.kind, case.name, case.main, case.arguments, case.files, endpoint, secrets)


def _models(dice: random.Random) -> Iterator[Case]:
    talk = {"corpus/talk.txt": TALK}
    onnx = (BUNDLED / "nano.onnx").read_bytes()
    pieces = (BUNDLED / "sentencepiece.bpe.model").read_bytes()
    flags = ("-corpus", "corpus", "-model", "m.onnx", "-tokenizer", "t.model")
    for kind, name, good, other in (
        ("ONNX", "m.onnx", onnx, {"t.model": pieces}),
        ("SentencePiece", "t.model", pieces, {"m.onnx": onnx}),
    ):
        for number in range(50):
            # What flips bits inside the weights gives other numbers, not an error; so the frame.
            spoiled = good[: dice.randrange(len(good))] if number % 2 else _framed(good, dice)
            files = {**talk, **other, name: spoiled}
            yield Case(kind, f"{kind} {number}", sat_bench, flags, files)


def _framed(content: bytes, dice: random.Random) -> bytes:
    data = bytearray(content)
    for _ in range(dice.choice((1, 5, 50))):
        data[dice.randrange(min(len(data), 2_000))] = dice.randrange(256)
    return bytes(data)


def _caches(dice: random.Random) -> Iterator[Case]:
    """Entries with a valid checksum and a wrong body, under every name that may be asked for."""
    flags = ("-corpus", "corpus", "-model", "nano", "-cache", "cache")
    for number in range(60):
        body = mutated(zlib.compress(b"\0" * dice.choice((0, 8, 64, 7))), dice)
        content = hashlib.sha256(TALK).digest() + bytes(dice.randrange(40)) + body
        entry = b"truemark probabilities 2\n" + hashlib.sha256(content).digest() + content
        names = [
            f"cache/{part:02x}/{part:02x}{'0' * 62}.probabilities" for part in range(0, 256, 16)
        ]
        yield Case(
            "cache",
            f"cache {number}",
            sat_bench,
            flags,
            {"corpus/t.txt": TALK, **dict.fromkeys(names, entry)},
        )


def _records(dice: random.Random) -> Iterator[Case]:
    run = {
        "format": "truemark-run/1",
        "benchmark": {"name": "b", "version": "1"},
        "system": {"name": "s"},
        "units": [{"id": "a", "tp": 1, "fp": 0, "fn": 1}, {"id": "b", "tp": 2, "fp": 1, "fn": 0}],
    }
    good = json.dumps(run).encode()
    for arguments in (
        ("compare", "a.run.json", "b.run.json"),
        ("history", "."),
        ("check", "a.run.json", "--fail-under", "0.5"),
    ):
        kind = f"record {arguments[0]}"
        yield from _reader(
            kind, 60, "a.run.json", good, truemark, arguments, dice, {"b.run.json": good}
        )


_MAKERS: tuple[Callable[[random.Random], Iterator[Case]], ...] = (
    *(
        partial(_corpus, kind, good)
        for kind, good in (
            (".txt", TALK),
            (".json", GOLD),
            (".conllu", CONLLU),
            (".srt", SRT),
            (".vtt", VTT),
        )
    ),
    _imports,
    _samples,
    _transcripts,
    _calendars,
    _dotenvs,
    _recordings,
    _journals,
    _tokens,
    _models,
    _caches,
    _records,
)
_VALUES = (
    *NASTY,
    "",
    "-1",
    "0",
    "nan",
    "/dev/zero",
    "/dev/null",
    "/",
    ".",
    "nowhere/at/all",
    "a,b,,",
)


def _flags(dice: random.Random) -> Iterator[Case]:
    talk = {"talk.txt": TRANSCRIPT.encode(), "corpus/talk.txt": TALK}
    commands: list[tuple[str, Main, tuple[str, ...], Sequence[str]]] = [
        ("run", cal_ai, ("talk.txt", *DRY), _flags_of(run_parser())),
        ("benchmark", cal_ai, ("benchmark", "nowhere"), _flags_of(benchmark_parser())),
        (
            "sat-bench",
            sat_bench,
            ("-corpus", "corpus", "-model", "nano"),
            [it.name for it in FLAGS],
        ),
        ("import", sat_bench, ("import", "talk.txt"), [it.name for it in IMPORT_FLAGS]),
    ]
    for name, main, arguments, flags in commands:
        for flag in flags:
            for value in dice.sample(_VALUES, 9):
                if "\0" in value:
                    continue  # no system hands such an argument to a program
                yield Case(
                    f"flags of {name}",
                    f"{flag} {value[:20]!r}",
                    main,
                    (*arguments, flag, value),
                    talk,
                )


def _flags_of(parser: argparse.ArgumentParser) -> list[str]:
    return [action.option_strings[-1] for action in parser._actions if action.option_strings]
