"""Commands that write: killed at random moments, on a full disk, four at once."""

from __future__ import annotations

import json
import os
import random
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from testing.loopback import LoopbackLLM, answer
from tests.cal_ai.sample_folders import GOT_LUNCH, LUNCH, finds_lunch
from tests.hostile.forked import Case, Main, Outcome, complaints, run
from tests.hostile.generated import TALK
from tests.hostile.kinds import SECRETS, TRANSCRIPT

from cal_ai.cli import main as cal_ai
from sat_bench.cli import main as sat_bench

KILLS = 200
SAMPLES = 12
Own = Callable[[Iterable[Any]], Iterator[Any]]
Finding = tuple[str, str, list[str]]
Check = Callable[[Path, Outcome], list[str]]


@dataclass(frozen=True, slots=True)
class Writer:
    """A command that writes, what lies in its folder, and what must hold of what it leaves."""

    name: str
    main: Main
    arguments: tuple[str, ...]
    files: Mapping[str, bytes]
    check: Check
    settings: Mapping[str, str]

    def case(self, **changes: Any) -> Case:
        secrets = tuple(it for it in self.settings.values() if it.startswith("canary"))
        case = Case(
            self.name, self.name, self.main, self.arguments, self.files, self.settings, secrets
        )
        return replace(case, **changes)


def writers(url: str) -> tuple[Writer, ...]:
    """Every command that writes."""
    sidecar = json.dumps({"expected_events": [LUNCH]}).encode()
    samples = {
        f"samples/crud/s{number:02}{ending}": content
        for number in range(SAMPLES)
        for ending, content in (
            (".txt", f"[Alice]: sample <s{number:02}>".encode()),
            (".expected.json", sidecar),
        )
    }
    keys = {"GEMINI_API_KEY": SECRETS["gemini"], "GOOGLE_GEMINI_BASE_URL": url}
    apply = ("talk.txt", "--calendar", "ics:c.ics", "--extractor", "gemini", "--apply", "medium")
    corpus = {f"corpus/t{number}.txt": TALK + b"More. " * number for number in range(6)}
    cached = ("-corpus", "corpus", "-model", "nano", "-cache", "cache")
    recorded = ("-corpus", "corpus", "-model", "nano", "-record", "out.run.json")
    return (
        Writer("cal_ai run", cal_ai, apply, {"talk.txt": TRANSCRIPT.encode()}, _applied, keys),
        Writer(
            "cal_ai benchmark",
            cal_ai,
            ("benchmark", "samples", "--no-summary", "--resume"),
            samples,
            _answered,
            keys,
        ),
        Writer("sat-bench -cache", sat_bench, cached, corpus, _cached, {}),
        Writer("sat-bench -record", sat_bench, recorded, corpus, _whole_json("out.run.json"), {}),
        Writer(
            "sat-bench import",
            sat_bench,
            ("import", "in.txt", "-o", "o.txt", "-force"),
            {"in.txt": TALK * 400},
            _imported,
            {},
        ),
    )


def _applied(folder: Path, outcome: Outcome) -> list[str]:
    """The calendar is whole and has the event once; what is journalled is in it."""
    path = folder / "c.ics"
    text = path.read_text() if path.exists() else ""
    found = []
    if text and not text.endswith("END:VCALENDAR\n"):
        found.append("the calendar is torn")
    if text.count("BEGIN:VEVENT") > 1:
        found.append("applied twice")
    if outcome.status == 0 and text.count("BEGIN:VEVENT") != 1:
        found.append("an acknowledged change is lost")
    return found


def _answered(folder: Path, outcome: Outcome) -> list[str]:
    """Every answer that a line on stderr acknowledged is on file; the history has whole lines."""
    kept = set()
    for path in (folder / "reports").glob("*.answers.jsonl"):
        for line in path.read_bytes().split(b"\n")[:-1]:
            if line.strip():
                kept.add(json.loads(line)["sample"])
    told = {
        line.split("] ", 1)[1].partition("... ")[0]
        for line in outcome.err.decode().splitlines()
        if line.startswith("[") and "... P=" in line
    }
    return [f"lost {sorted(told - kept)}"] if told - kept else []


def _cached(folder: Path, outcome: Outcome) -> list[str]:
    sizes = [path.stat().st_size for path in (folder / "cache").rglob("*.probabilities")]
    return ["an empty entry"] if 0 in sizes else []


def _whole_json(name: str) -> Check:
    def check(folder: Path, outcome: Outcome) -> list[str]:
        path = folder / name
        if not path.exists():
            return ["not written"] if outcome.status == 0 else []
        try:
            json.loads(path.read_bytes())
        except ValueError:
            return ["torn"]
        return []

    return check


def _imported(folder: Path, outcome: Outcome) -> list[str]:
    path = folder / "o.txt"
    if not path.exists():
        return ["not written"] if outcome.status == 0 else []
    return [] if path.read_bytes().endswith(b"Thank you.\n") else ["torn"]


def kill_cases(folder: str, seed: int, own: Own) -> Iterator[Finding]:
    """Each writer killed at random moments, the same folder taken up again and again."""
    with LoopbackLLM(finds_lunch, delay_s=0.01) as llm:
        for writer in writers(llm.gemini_url):
            dice = random.Random(f"{seed} {writer.name}")
            whole_s = _whole_run_s(writer, folder)
            place, life = None, 0
            for number, after_s in own((number, dice.uniform(0, 1.1)) for number in range(KILLS)):
                if place is None or life >= 8:
                    place, life = Path(tempfile.mkdtemp(dir=folder)), 0
                life += 1
                outcome = run(writer.case(kill_after_s=after_s * whole_s), place)
                found = writer.check(place, outcome)
                if outcome.status != -9:
                    found += complaints(writer.case(), outcome, place)
                if life >= 8:
                    found += _ends_well(writer, place, llm)
                yield f"killed {writer.name}", f"{number}", found


def _whole_run_s(writer: Writer, folder: str) -> float:
    return run(writer.case(), Path(tempfile.mkdtemp(dir=folder))).seconds


def _ends_well(writer: Writer, place: Path, llm: LoopbackLLM) -> list[str]:
    """A run that is let be does the rest, and asks for nothing that was answered before."""
    kept = len(_kept(place))
    before = len(llm.calls)
    outcome = run(writer.case(), place)
    found = writer.check(place, outcome) + complaints(writer.case(), outcome, place)
    if outcome.status != 0:
        found.append(f"the run after the kills ends with {outcome.status}: {outcome.err[-200:]!r}")
    if writer.name == "cal_ai benchmark" and len(llm.calls) - before > SAMPLES - kept:
        found.append("asked twice")
    return found


def _kept(place: Path) -> set[str]:
    newest = sorted((place / "reports").glob("*.answers.jsonl"))[-1:]
    lines = [
        line for path in newest for line in path.read_bytes().split(b"\n")[:-1] if line.strip()
    ]
    return {json.loads(line)["sample"] for line in lines}


def full_disk_cases(folder: str, seed: int, own: Own) -> Iterator[Finding]:
    """Files that can grow no further at any size, and output that cannot be written."""
    with LoopbackLLM(finds_lunch) as llm:
        dice = random.Random(f"{seed} disks")
        sizes = [0, 1, 100, *(dice.randrange(200, 20_000) for _ in range(17))]
        for writer, size in own((it, size) for it in writers(llm.gemini_url) for size in sizes):
            place = Path(tempfile.mkdtemp(dir=folder))
            # Standard error would be a file that cannot grow either.
            case = writer.case(largest_file=size, streams=("/dev/null", "/dev/null"))
            outcome = run(case, place)
            found = complaints(case, outcome, place) + writer.check(place, outcome)
            leftovers = [path.name for path in place.rglob("*.tmp")]
            found += [f"left behind {leftovers}"] if leftovers else []
            yield f"full disk {writer.name}", f"{size}", found
        streams = (("/dev/full", "err"), ("out", "/dev/full"), ("/dev/full", "/dev/full"))
        help_ = Writer("help", cal_ai, ("--help",), {}, lambda folder, outcome: [], {})
        usage = Writer("-h", sat_bench, ("-h",), {}, lambda folder, outcome: [], {})
        for writer, pair in own(
            (it, pair) for it in (*writers(llm.gemini_url), help_, usage) for pair in streams
        ):
            case = writer.case(streams=pair)
            outcome = run(case, Path(tempfile.mkdtemp(dir=folder)))
            found = complaints(case, outcome, Path(folder) / "none")
            expected = 1 if pair[0] == "/dev/full" else 0
            found += [f"status {outcome.status}"] if outcome.status != expected else []
            yield "full output", f"{writer.name} {pair}", found


def writer_cases(folder: str, own: Own) -> Iterator[Finding]:
    """Four runs at once on one calendar, and on one folder of reports."""
    with LoopbackLLM(lambda call: answer(events=[GOT_LUNCH]), delay_s=0.02) as llm:
        apply, bench, *_ = writers(llm.gemini_url)
        for number in own(range(20)):
            place = Path(tempfile.mkdtemp(dir=folder))
            talks = {
                f"t{one}.txt": TRANSCRIPT.replace("Bob", f"Bob{one}").encode() for one in range(4)
            }
            cases = [
                apply.case(
                    arguments=(f"t{one}.txt", *apply.arguments[1:]),
                    files=talks,
                    streams=(str(place / f".o{one}"), str(place / f".e{one}")),
                )
                for one in range(4)
            ]
            statuses = _at_once(cases, place)
            events = (place / "c.ics").read_text().count("BEGIN:VEVENT")
            found = [] if statuses == [0] * 4 else [f"statuses {statuses}"]
            found += [] if events == 4 else [f"{events} events of 4"]
            yield "four writers of a calendar", f"{number}", found
            place = Path(tempfile.mkdtemp(dir=folder))
            command = ("benchmark", "samples", "--no-summary")
            cases = [
                bench.case(
                    arguments=command, streams=(str(place / f".o{one}"), str(place / f".e{one}"))
                )
                for one in range(4)
            ]
            statuses = _at_once(cases, place)
            lines = (place / "reports" / "benchmark_history.jsonl").read_bytes().splitlines()
            found = [] if statuses == [0] * 4 else [f"statuses {statuses}"]
            found += [] if len([json.loads(line) for line in lines]) == 4 else ["lines are lost"]
            yield "four benchmarks at once", f"{number}", found


def _at_once(cases: list[Case], place: Path) -> list[int]:
    children = []
    for case in cases:
        child = os.fork()
        if child == 0:
            os._exit(max(0, run(case, place).status))
        children.append(child)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
