"""Every input that a command reads: what it looks like when it is good, and who reads it."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from tests.cal_ai.calendar_texts import REAL_WORLD
from tests.cal_ai.sample_folders import GOT_LUNCH, LUNCH
from tests.hostile.forked import ODD, Case, Main, run
from tests.hostile.kinds import SECRETS, TRANSCRIPT
from tests.hostile.mutations import Mutation, mutated

from cal_ai.cli import main as cal_ai
from sat_bench.cli import main as sat_bench
from sat_bench.models.systems import find_model
from truemark.cli import main as truemark

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
        "calendar_context": [
            {
                "id": "a",
                "summary": "Old",
                "start": "2026-02-21T10:00:00",
                "end": "2026-02-21T11:00:00",
            }
        ],
        "expected_events": [{**LUNCH, "attendees_contain": ["Bob"], "location": "Luigi's"}],
    }
).encode()
DOTENV = b"OWNER_NAME=Alice\nTIMEZONE=Europe/Berlin\nOPENAI_MODEL='m'\nexport X=\"${Y}\"\n"
EVENTS = json.dumps({"events": [GOT_LUNCH]}).encode()
SENTENCES = b"Hello there.\nHow are you?\nI am fine!\nThank you.\n"
ENDS = json.dumps({"ends": [12, 25, 36, 47], "probabilities": [0.9, 0.8, 0.7, 0.6]}).encode()
SCORED = b"".join(b'{"end": %d, "p": 0.%d}\n' % pair for pair in ((12, 9), (25, 8), (36, 7)))
MODULE = b"import re\n\ndef split(text):\n    return re.split('(?<=[.?!]) ', text)\n"
RETURNS = b"import json\n\ndef given(asked):\n    return json.load(open('answer.json'))\n"
DRY = ("--dry-run", "--calendar", "ics:none.ics")
NANO = ("-corpus", "corpus", "-model", "nano")
CORPUS = {"corpus/talk.txt": TALK}
SAID = {"talk.txt": TRANSCRIPT.encode()}
SAMPLE = {"samples/crud/one.txt": TRANSCRIPT.encode(), "samples/crud/one.expected.json": SIDECAR}
BY_PROGRAM = ("--extractor", "cmd:cat answer.json")


@dataclass(frozen=True, slots=True)
class Reader:
    """One input of a command; `shows` is printed only when a good one was read.

    What is not read by us is opened by a user's own code, which may do what it likes.
    """

    kind: str
    count: int
    name: str
    good: bytes
    main: Main
    arguments: tuple[str, ...]
    beside: Mapping[str, bytes] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()
    spoil: Mutation = mutated
    statuses: frozenset[int] = frozenset({0, 1})
    good_statuses: frozenset[int] = frozenset({0})
    shows: str = ""
    read_by_us: bool = True

    def cases(self, dice: random.Random) -> Iterator[Case]:
        """The good one, which must be taken, then what is no file, and as many that were spoilt."""
        case = Case(
            self.kind,
            f"{self.kind}, good",
            self.main,
            self.arguments,
            {**self.beside, self.name: self.good},
            self.settings,
            self.secrets,
            statuses=self.good_statuses,
            shows=self.shows,
        )
        yield case
        case = replace(case, statuses=self.statuses, shows="")
        for kind in ODD if self.read_by_us else ():
            yield replace(case, name=f"{self.kind}, {kind}", odd={self.name: kind})
        for number in range(self.count):
            files = {**self.beside, self.name: self.spoil(self.good, dice)}
            yield replace(case, name=f"{self.kind} {number}", files=files)


def made_files(place: Path) -> Mapping[str, bytes]:
    """What the commands themselves write, by its path in the folder, in which they run."""
    answer = {"answer.json": EVENTS}
    commands: tuple[tuple[Main, tuple[str, ...], Mapping[str, bytes]], ...] = (
        (sat_bench, (*NANO, "-cache", "cache"), CORPUS),
        (sat_bench, (*NANO, "-record", "talks.run.json"), CORPUS),
        (cal_ai, ("benchmark", "samples", *BY_PROGRAM), {**SAMPLE, **answer}),
        (
            cal_ai,
            ("talk.txt", "--calendar", "ics:c.ics", *BY_PROGRAM),
            {**SAID, "answer.json": EVENTS.replace(b"2026-02", b"2099-02")},
        ),
    )
    for main, arguments, files in commands:
        outcome = run(Case("made", "made", main, arguments, files), place)
        if outcome.status != 0:
            raise RuntimeError(f"{arguments} failed: {outcome.err.decode()}")
    return {
        str(path.relative_to(place)): path.read_bytes()
        for path in place.rglob("*")
        if path.is_file()
    }


def _found(made: Mapping[str, bytes], ending: str) -> tuple[str, bytes]:
    ((name, content),) = ((name, made[name]) for name in made if name.endswith(ending))
    return name, content


def readers(made: Mapping[str, bytes]) -> Iterator[Reader]:
    """All of them, but for the answers of servers."""
    yield from _talks()
    yield from _systems()
    yield from _models()
    yield from _calendar_files(made)
    yield from _benchmark_files(made)
    yield from _records(made)
    yield from _caches(made)


def _talks() -> Iterator[Reader]:
    formats = ("text", "csv", "json", "markdown", "text")
    contents = {".txt": TALK, ".json": GOLD, ".conllu": CONLLU, ".srt": SRT, ".vtt": VTT}
    for (ending, good), form in zip(contents.items(), formats, strict=True):
        flags = (*NANO, "-format", form)
        yield Reader(ending, 60, f"corpus/talk{ending}", good, sat_bench, flags)
    conditions = (
        *NANO,
        "-conditions",
        "bare,asr",
        "-per-talk",
        "-record",
        "out.{condition}.run.json",
    )
    yield Reader("-conditions", 25, "corpus/talk.txt", TALK, sat_bench, conditions)
    for ending, good in ((".txt", TALK), (".srt", SRT), (".vtt", VTT)):
        arguments = ("import", f"in{ending}", "-o", "out.txt")
        yield Reader(f"import {ending}", 32, f"in{ending}", good, sat_bench, arguments)


def _systems() -> Iterator[Reader]:
    """What systems under test answer."""
    stays = b"%d\n%b" % (len(SENTENCES), SENTENCES)
    for kind, name, good, model in (
        ("file: .txt", "given/talk.txt", SENTENCES, "file:given"),
        ("file: .json", "given/talk.json", ENDS, "file:given"),
        ("file: .jsonl", "given/talk.jsonl", SCORED, "file:given"),
        ("cmd: sentences", "answer.txt", SENTENCES, "cmd:cat answer.txt"),
        ("cmd: ends", "answer.txt", SCORED, "cmd:cat answer.txt"),
        ("cmd+:", "answer.txt", stays, "cmd+:cat answer.txt"),
        ("py: module", "mine.py", MODULE, "py:mine:split"),
    ):
        flags = ("-corpus", "corpus", "-model", model, "-timeout", "2", "-record", "out.run.json")
        yield Reader(kind, 32, name, good, sat_bench, flags, CORPUS)
    pairs = json.dumps([[12, 0.9], [25, 0.8]]).encode()
    sweep = ("-corpus", "corpus", "-model", "py:mine:given", "-sweep")
    beside = {**CORPUS, "mine.py": RETURNS}
    yield Reader("py: ends", 32, "answer.json", pairs, sat_bench, sweep, beside, read_by_us=False)
    one = json.dumps([GOT_LUNCH]).encode()
    for kind, good, extractor in (
        ("cal_ai cmd:", EVENTS, "cmd:cat answer.json"),
        ("cal_ai py:", one, "py:mine:given"),
    ):
        arguments = ("talk.txt", *DRY, "--extractor", extractor, "--timeout", "2")
        beside = {**SAID, "mine.py": RETURNS}
        ours = extractor.startswith("cmd:")
        yield Reader(kind, 60, "answer.json", good, cal_ai, arguments, beside, read_by_us=ours)


def _models() -> Iterator[Reader]:
    bundled = find_model("nano")
    onnx, pieces = bundled.model.read_bytes(), bundled.tokenizer.read_bytes()
    card = bundled.model.with_suffix(".md").read_bytes()
    whole = {**CORPUS, "m.onnx": onnx, "m.md": card, "t.model": pieces}
    flags = ("-corpus", "corpus", "-model", "m.onnx", "-tokenizer", "t.model")
    for kind, name, good in (("ONNX", "m.onnx", onnx), ("SentencePiece", "t.model", pieces)):
        yield Reader(kind, 32, name, good, sat_bench, flags, whole, spoil=_spoilt_model)
    yield Reader("model card", 32, "m.md", card, sat_bench, flags, whole)
    int8 = (*flags, "-quantize")
    yield Reader("-quantize", 15, "m.onnx", onnx, sat_bench, int8, whole, spoil=_spoilt_model)


def _spoilt_model(content: bytes, dice: random.Random) -> bytes:
    """A model that breaks off, or has a broken frame; other weights are just another model."""
    if dice.random() < 0.5:
        return content[: dice.randrange(len(content))]
    data = bytearray(content)
    for _ in range(dice.choice((1, 5, 50))):
        data[dice.randrange(min(len(data), 2_000))] = dice.randrange(256)
    return bytes(data)


def _calendar_files(made: Mapping[str, bytes]) -> Iterator[Reader]:
    yield Reader("transcript", 100, "talk.txt", TRANSCRIPT.encode(), cal_ai, ("talk.txt", *DRY))
    into = ("talk.txt", "--calendar", "ics:c.ics")
    yield Reader(".ics", 150, "c.ics", REAL_WORLD, cal_ai, into, SAID)
    key = SECRETS["caldav"]
    good = DOTENV + f"CALDAV_PASSWORD={key}\n".encode()
    yield Reader(".env", 60, ".env", good, cal_ai, ("talk.txt", *DRY), SAID, secrets=(key,))
    name, journal = _found(made, "applied.jsonl")
    beside = {
        **SAID,
        "answer.json": EVENTS.replace(b"2026-02", b"2099-02"),
        "c.ics": made["c.ics"],
    }
    again = (*into, *BY_PROGRAM)
    applied = "unchanged: applied on"
    yield Reader("journal", 80, name, journal, cal_ai, again, beside, shows=applied)


def _benchmark_files(made: Mapping[str, bytes]) -> Iterator[Reader]:
    plain = ("benchmark", "samples", "--no-summary", "--extractor", "reader")
    sidecar = "samples/crud/one.expected.json"
    yield Reader(".expected.json", 150, sidecar, SIDECAR, cal_ai, plain, SAMPLE)
    _, answers = _found(made, ".answers.jsonl")
    replay = ("benchmark", "samples", "--extractor", "replay:r.jsonl")
    yield Reader(".answers.jsonl", 80, "r.jsonl", answers * 2, cal_ai, replay, SAMPLE)
    based = (*plain, "--baseline", "b.answers.jsonl")
    yield Reader("--baseline answers", 40, "b.answers.jsonl", answers, cal_ai, based, SAMPLE)
    beside = {**SAMPLE, "answer.json": EVENTS}
    resumed = ("benchmark", "samples", "--resume", *BY_PROGRAM)
    name, _ = _found(made, ".answers.jsonl")
    taken = "resuming"
    yield Reader("--resume", 40, name, answers, cal_ai, resumed, beside, shows=taken)
    name, history = _found(made, "benchmark_history.jsonl")
    yield Reader("history", 40, name, history, cal_ai, plain, SAMPLE)


def _records(made: Mapping[str, bytes]) -> Iterator[Reader]:
    records = {Path(name).parent.name: made[name] for name in made if name.endswith(".run.json")}
    done, gate = frozenset({0}), frozenset({0, 1, 3, 4})
    unsure = frozenset({3})  # one talk or sample is no basis for a comparison
    for kind, record in (("talks", records[""]), ("samples", records["reports"])):
        beside = {"b.run.json": record}
        for arguments, good_statuses, statuses in (
            (("compare", "b.run.json", "a.run.json"), done, frozenset({0, 1})),
            (("report", "a.run.json", "b.run.json", "-o", "page.html"), done, frozenset({0, 1})),
            (("history", ".", "-o", "page.html"), done, frozenset({0, 1})),
            (("check", "a.run.json", "--fail-under", "0", "--junit", "j.xml"), done, gate),
            (("check", "b.run.json", "--against", "a.run.json", "--fail-if-worse"), unsure, gate),
        ):
            yield Reader(
                f"record {arguments[0]} {kind}",
                22,
                "a.run.json",
                record,
                truemark,
                arguments,
                beside,
                statuses=statuses,
                good_statuses=good_statuses,
            )
    based = ("benchmark", "samples", "--no-summary", "--extractor", "reader")
    flags = (*based, "--baseline", "b.run.json")
    yield Reader("--baseline record", 40, "b.run.json", records["reports"], cal_ai, flags, SAMPLE)


def _caches(made: Mapping[str, bytes]) -> Iterator[Reader]:
    name, entry = _found(made, ".probabilities")
    flags, spoil = (*NANO, "-cache", "cache"), _spoilt_entry
    taken = "1 of 1 talks taken from the cache"
    yield Reader("cache", 40, name, entry, sat_bench, flags, CORPUS, spoil=spoil, shows=taken)


def _spoilt_entry(entry: bytes, dice: random.Random) -> bytes:
    """Spoil one array of a cache entry, in an archive that is sound otherwise."""
    with ZipFile(BytesIO(entry)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = dice.choice(sorted(members))
    what = dice.randrange(3)
    if what == 0:
        members[name] = mutated(members[name], dice)
    elif what == 1:
        members[name] += b"\0" * dice.choice((0, 1, 7, 8, 64, 10**6, 400 * 10**6))
    else:
        del members[name]
    content = BytesIO()
    with ZipFile(content, "w", ZIP_DEFLATED) as archive:
        for kept, array in members.items():
            archive.writestr(kept, array)
    return content.getvalue()
