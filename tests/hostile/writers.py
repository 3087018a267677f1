"""Every command that writes, and what must hold of what it leaves, however it ended."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from testing.loopback import LoopbackLLM
from testing.onnx_models import write_terminator_model, write_tokenizer
from tests.cal_ai.calendar_servers import (
    PASSWORD,
    USER,
    GoogleServer,
    Radicale,
    radicale_server,
)
from tests.cal_ai.sample_folders import LUNCH, asked_sample, finds_lunch
from tests.hostile.forked import Case, Main, Outcome
from tests.hostile.kinds import SECRETS, TRANSCRIPT
from tests.hostile.readers import TALK
from tests.truemark.runs_for_tests import many

from cal_ai.cli import main as cal_ai
from sat_bench.cli import main as sat_bench
from truemark.cli import main as truemark
from truemark.records import run_json

SAMPLES = 12
APPLY = ("--extractor", "gemini", "--apply", "medium", "--calendar")
SAID = {"talk.txt": TRANSCRIPT.encode()}
CORPUS = {f"corpus/t{number}.txt": TALK + b"More. " * number for number in range(6)}
NANO = ("-corpus", "corpus", "-model", "nano")
RECORDS = {name: run_json(many(name, 1)).encode() for name in ("a.run.json", "b.run.json")}
Check = Callable[[Path, Outcome], list[str]]


@dataclass(frozen=True, slots=True)
class Writer:
    """A command that writes.

    `check` says what is wrong with what it left in its folder. Where it enters events, `events`
    counts those in its calendar, which `prepare` makes where that is on a server.
    """

    name: str
    main: Main
    arguments: tuple[str, ...]
    files: Mapping[str, bytes]
    check: Check
    settings: Mapping[str, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()
    events: Callable[[Path], int] | None = None
    prepare: Callable[[Path], None] | None = None

    def case(self, place: Path, **changes: Any) -> Case:
        """A run of it in this folder, whose name may stand in the address of a calendar."""
        arguments = tuple(it.replace("{place}", place.name) for it in self.arguments)
        settings, secrets = self.settings, self.secrets
        case = Case(self.name, self.name, self.main, arguments, self.files, settings, secrets)
        return replace(case, **changes)

    def new_place(self, folder: str) -> Path:
        """A new folder for it."""
        place = Path(tempfile.mkdtemp(dir=folder))
        if self.prepare is not None:
            self.prepare(place)
        return place


@dataclass(frozen=True, slots=True)
class Servers:
    """What the writers ask."""

    llm: LoopbackLLM
    google: GoogleServer
    radicale: Radicale


@contextmanager
def servers() -> Iterator[Servers]:
    """A language model that finds a lunch in everything, and two empty calendar servers."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        yield Servers(
            stack.enter_context(LoopbackLLM(finds_lunch, delay_s=0.01)),
            stack.enter_context(GoogleServer()),
            stack.enter_context(radicale_server(folder)),
        )


def writers(asked: Servers) -> tuple[Writer, ...]:
    """Every command that writes."""
    keys = {"GEMINI_API_KEY": SECRETS["gemini"], "GOOGLE_GEMINI_BASE_URL": asked.llm.gemini_url}
    return (
        _applier("cal_ai run", "ics:c.ics", keys, _events_in_file),
        _caldav(asked.radicale, keys),
        _google(asked.google, keys),
        Writer(
            "cal_ai benchmark",
            cal_ai,
            ("benchmark", "samples", "--no-summary", "--resume", "--concurrency", "12"),
            _samples(),
            _Answers(asked.llm),
            keys,
            (SECRETS["gemini"],),
        ),
        *_of_talks(),
        *_of_records(),
    )


def _applier(
    name: str,
    calendar: str,
    settings: Mapping[str, str],
    events: Callable[[Path], int],
    **more: Any,
) -> Writer:
    """A command that enters the one event of a transcript into a calendar, once."""

    def check(place: Path, outcome: Outcome) -> list[str]:
        told = b"result      created" in outcome.out or outcome.status == 0
        found = events(place)
        return ["applied twice"] if found > 1 else ["a change is lost"] if told > found else []

    secrets = (SECRETS["gemini"], PASSWORD, "client-secret-55")
    arguments = ("talk.txt", *APPLY, calendar)
    files = {**SAID, **more.pop("files", {})}
    return Writer(name, cal_ai, arguments, files, check, settings, secrets, events, **more)


def _events_in_file(place: Path) -> int:
    path = place / "c.ics"
    text = path.read_text() if path.exists() else ""
    if text and not text.endswith("END:VCALENDAR\n"):
        raise ValueError(f"{path} must be whole, got {text[-40:]!r}")
    return text.count("BEGIN:VEVENT")


def _samples() -> dict[str, bytes]:
    sidecar = json.dumps({"expected_events": [LUNCH]}).encode()
    return {
        f"samples/crud/s{number:02}{ending}": content
        for number in range(SAMPLES)
        for ending, content in (
            (".txt", f"[Alice]: sample <crud/s{number:02}>".encode()),
            (".expected.json", sidecar),
        )
    }


def _caldav(server: Radicale, keys: Mapping[str, str]) -> Writer:
    address = f"{server.url}/{USER}/{{place}}/"

    def events(place: Path) -> int:
        whole = server.request("GET", address.format(place=place.name))
        return whole.count("BEGIN:VEVENT")

    def prepare(place: Path) -> None:
        server.new_calendar(place.name)

    settings = {**keys, "CALDAV_USERNAME": USER, "CALDAV_PASSWORD": PASSWORD}
    calendar = f"caldav:{address}"
    return _applier("cal_ai run caldav", calendar, settings, events, prepare=prepare)


def _google(server: GoogleServer, keys: Mapping[str, str]) -> Writer:
    def events(place: Path) -> int:
        return len(server.events)

    def prepare(place: Path) -> None:
        server.events.clear()

    token = json.dumps(server.token()).encode()
    return _applier(
        "cal_ai run google",
        "google",
        {**keys, "GOOGLE_CALENDAR_ENDPOINT": server.url},
        events,
        files={"CONFIG/truemark/google-token.json": token},
        prepare=prepare,
    )


def _of_talks() -> Iterator[Writer]:
    cached = (*NANO, "-cache", "cache")
    yield Writer("sat-bench -cache", sat_bench, cached, CORPUS, _none_empty(".probabilities"))
    recorded = (*NANO, "-record", "out.run.json")
    whole = _whole("out.run.json", b"}")
    yield Writer("sat-bench -record", sat_bench, recorded, CORPUS, whole)
    with tempfile.TemporaryDirectory() as folder:
        tokenizer = write_tokenizer(Path(folder) / "t.model")
        model = write_terminator_model(Path(folder) / "m.onnx", tokenizer)
        files = {"m.onnx": model.read_bytes(), "t.model": tokenizer.read_bytes()}
    int8 = ("-corpus", "corpus", "-model", "m.onnx", "-quantize")
    yield Writer("sat-bench -quantize", sat_bench, int8, {**CORPUS, **files}, _none_empty(".onnx"))
    imported = ("import", "in.txt", "-o", "o.txt", "-force")
    whole = _whole("o.txt", b"Thank you.")
    yield Writer("sat-bench import", sat_bench, imported, {"in.txt": TALK * 400}, whole)


def _of_records() -> Iterator[Writer]:
    page = _whole("page.html", b"</html>")
    report = ("report", *RECORDS, "-o", "page.html")
    yield Writer("truemark report", truemark, report, RECORDS, page)
    history = ("history", ".", "-o", "page.html")
    yield Writer("truemark history", truemark, history, RECORDS, page)
    check = ("check", "a.run.json", "--fail-under", "0", "--junit", "j.xml")
    junit = _whole("j.xml", b"</testsuites>")
    settings = {"GITHUB_STEP_SUMMARY": "summary.md"}
    yield Writer("truemark check", truemark, check, RECORDS, junit, settings)


@dataclass(slots=True)
class _Answers:
    """Checks that each answer that was told is on file, and is not asked for again."""

    llm: LoopbackLLM
    _calls: int = 0
    _kept: dict[Path, set[str]] = field(default_factory=dict)

    def __call__(self, place: Path, outcome: Outcome) -> list[str]:
        before = self._kept.get(place, set())
        calls = self.llm.calls
        asked = {asked_sample(call) for call in calls[self._calls :]}
        self._calls = len(calls)
        kept = self._kept[place] = _answers_in(place / "reports")
        told = {
            line.split("] ", 1)[1].partition("... ")[0]
            for line in outcome.err.decode().splitlines()
            if line.startswith("[") and "... P=" in line
        }
        found = [f"lost {sorted(told - kept)}"] if told - kept else []
        return found + ([f"asked twice: {sorted(asked & before)}"] if asked & before else [])


def _answers_in(folder: Path) -> set[str]:
    lines = (
        line
        for path in folder.glob("*.answers.jsonl")
        for line in path.read_bytes().split(b"\n")[:-1]
    )
    return {json.loads(line)["sample"] for line in lines if line.strip()}


def _none_empty(ending: str) -> Check:
    """No file of this ending is empty."""

    def check(place: Path, outcome: Outcome) -> list[str]:
        sizes = [path.stat().st_size for path in place.rglob(f"*{ending}")]
        return ["an empty file"] if 0 in sizes else []

    return check


def _whole(name: str, end: bytes) -> Check:
    """The file is there after a good run, and ends as it should whenever it is there."""

    def check(place: Path, outcome: Outcome) -> list[str]:
        path = place / name
        if not path.exists():
            return ["not written"] if outcome.status == 0 else []
        return [] if path.read_bytes().rstrip().endswith(end) else ["torn"]

    return check
