"""The campaign: thousands of bad inputs and faults, kills, writers at once, full disks.

    python -m tests.hostile.campaign [--seed N] [--only PART] [--write]

Everything is generated from the seed. Each case runs in a process of its own and is held to the
same criteria (`forked.complaints`); the exit status is 1 when one of them is not met, and what
lay in the folder of a bad input is kept. `--write` puts the figures into docs/reliability.md.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import queue
import random
import resource
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from tests.hostile.forked import Case

T = TypeVar("T")
SEED = 20260220
PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
WAITERS = 6  # processes for the parts that do little but wait, for servers that are asked again
WAITING = ("servers", "answers", "addresses", "secrets", "environment", "signals")
Finding = tuple[str, str, list[str]]


@dataclass(frozen=True, slots=True)
class Share:
    """The cases that fall to one process of several."""

    number: int
    of: int

    def __call__(self, cases: Iterable[T]) -> Iterator[T]:
        return (case for index, case in enumerate(cases) if index % self.of == self.number)


def inputs_part(seed: int, own: Share, folder: str) -> Iterator[Finding]:
    """Every reader, every flag."""
    from tests.hostile.flags import flag_cases
    from tests.hostile.readers import made_files, readers

    place = Path(folder) / "case"
    place.mkdir()
    made = made_files(place)
    for reader in readers(made):
        yield from _checked(own(reader.cases(random.Random(f"{seed} {reader.kind}"))), place)
    record = made["talks.run.json"]
    yield from _checked(own(flag_cases(random.Random(f"{seed} flags"), record)), place)


def _checked(cases: Iterable[Case], place: Path) -> Iterator[Finding]:
    """Each case run in a folder of the same name; that of a bad one is kept."""
    from tests.hostile.forked import complaints, run

    for case in cases:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        outcome = run(case, place)
        found = complaints(case, outcome, place)
        if found:
            kept = Path(tempfile.mkdtemp(prefix="hostile-finding-")) / "case"
            place.rename(kept)
            found += [outcome.err.decode("utf-8", "replace")[-300:], str(kept)]
        yield case.kind, case.name, found


def answers_part(seed: int, own: Share, folder: str) -> Iterator[Finding]:
    """Every answer of a server, nearly as it should be."""
    from tests.hostile.server_answers import answer_cases

    place = Path(folder) / "case"
    yield from _checked(own(answer_cases(random.Random(f"{seed} answers"))), place)


def servers_part(seed: int, own: Share, folder: str) -> Iterator[Finding]:
    """Every fault of each of the four kinds of server, at once or on the way."""
    from tests.hostile.server_faults import fault_cases, faults_on_the_way

    yield from fault_cases(folder, own)
    yield from faults_on_the_way(folder, own)


def kills_part(seed: int, own: Share, folder: str) -> Iterator[Finding]:
    """Each command that writes, killed at random moments."""
    from tests.hostile.kills import kill_cases

    yield from kill_cases(folder, seed, own)


def interrupts_part(seed: int, own: Share, folder: str) -> Iterator[Finding]:
    """Each command that writes, with Ctrl-C at random moments."""
    from tests.hostile.kills import interrupt_cases

    yield from interrupt_cases(folder, seed, own)


def disks_part(seed: int, own: Share, folder: str) -> Iterator[Finding]:
    """Each command that writes, on a disk that is full, and with output that cannot be written."""
    from tests.hostile.disks import full_disk_cases, full_output_cases, odd_output_cases

    yield from full_disk_cases(folder, seed, own)
    yield from full_output_cases(folder, own)
    yield from odd_output_cases(folder, own)


def writers_part(seed: int, own: Share, folder: str) -> Iterator[Finding]:
    """Four at once of each command that writes, one of them killed in every second case."""
    from tests.hostile.disks import writer_cases

    yield from writer_cases(folder, seed, own)


def addresses_part(seed: int, own: Share, folder: str) -> Iterator[Finding]:
    """Servers that send their clients to other servers."""
    from tests.hostile.addresses import address_cases

    yield from address_cases(folder, own)


def secrets_part(seed: int, own: Share, folder: str) -> Iterator[Finding]:
    """Servers that give secrets back, escaped in every way."""
    from tests.hostile.echoes import echo_cases

    yield from echo_cases(folder, seed, own)


def environment_part(seed: int, own: Share, folder: str) -> Iterator[Finding]:
    """Settings of proxies and clouds."""
    from tests.hostile.surroundings import environment_cases

    yield from environment_cases(folder, seed, own)


def limits_part(seed: int, own: Share, folder: str) -> Iterator[Finding]:
    """Too little memory, and calendars that are large in one way."""
    from tests.hostile.large_calendars import large_calendar_cases
    from tests.hostile.surroundings import limit_cases

    yield from limit_cases(folder, seed, own)
    cases = own(large_calendar_cases(random.Random(f"{seed} calendars"), rounds=0))
    yield from _checked(cases, Path(folder) / "case")


def signals_part(seed: int, own: Share, folder: str) -> Iterator[Finding]:
    """Signals to commands that have started programs."""
    from tests.hostile.surroundings import signal_cases

    yield from signal_cases(folder, seed, own)


def labels_part(seed: int, own: Share, folder: str) -> Iterator[Finding]:
    """The servers of label pages: killed, given hostile texts and requests."""
    from tests.hostile.labels import label_cases

    yield from label_cases(folder, seed, own)


PARTS: dict[str, Callable[[int, Share, str], Iterator[Finding]]] = {
    "servers": servers_part,
    "answers": answers_part,
    "inputs": inputs_part,
    "kills": kills_part,
    "interrupts": interrupts_part,
    "disks": disks_part,
    "writers": writers_part,
    "labels": labels_part,
    "addresses": addresses_part,
    "secrets": secrets_part,
    "environment": environment_part,
    "limits": limits_part,
    "signals": signals_part,
}
_IMPORTED = (
    "caldav.davclient",
    "google.genai",
    "google_auth_httplib2",
    "googleapiclient.discovery",
    "httpx2",
    "icalendar",
    "onnxruntime",
    "rapidfuzz",
    "recurring_ical_events",
    "sentencepiece",
    "cal_ai.applying.pipeline",
    "cal_ai.benchmark.run",
    "cal_ai.calendars.caldav",
    "cal_ai.calendars.google",
    "cal_ai.calendars.ics",
    "cal_ai.extractors.reader.extractor",
    "sat_bench.measure",
    "truemark.comparison",
    "truemark.pages.report",
    "truemark.services.gemini",
    "truemark.services.openai",
    "truemark.sections",
)


def import_all() -> None:
    """Imports what the commands import, so that each child starts at once."""
    for name in _IMPORTED:
        import_module(name)


def _work(share: Share, seed: int, parts: Sequence[str], results: Any) -> None:
    import_all()
    for part in parts:
        with tempfile.TemporaryDirectory(prefix="hostile", ignore_cleanup_errors=True) as folder:
            for finding in PARTS[part](seed, share, folder):
                results.put((part, finding))
    results.put(None)


def findings(jobs: int, seed: int, parts: Sequence[str]) -> Iterator[tuple[str, Finding]]:
    """What each case came to, with its part, from as many processes as there are jobs."""
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    busy = [part for part in parts if part not in WAITING]
    idle = [part for part in parts if part in WAITING]
    shares = [(Share(number, jobs), busy) for number in range(jobs) if busy]
    shares += [(Share(number, WAITERS), idle) for number in range(WAITERS) if idle]
    workers = [
        context.Process(target=_work, args=(share, seed, own, results)) for share, own in shares
    ]
    for worker in workers:
        worker.start()
    left = len(workers)
    while left:
        try:
            result = results.get(timeout=5)
        except queue.Empty:
            if any(worker.exitcode for worker in workers):
                raise RuntimeError("a process of the campaign itself has failed") from None
            continue
        if result is None:
            left -= 1
        else:
            yield result
    for worker in workers:
        worker.join()


def main() -> int:
    """The exit status; prints the figures, and what was not as it should be as it happens."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--only", choices=sorted(PARTS))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--write", action="store_true", help="put the figures into the page")
    options = parser.parse_args()
    parts = [options.only] if options.only else list(PARTS)
    begun_s = time.monotonic()
    counts: Counter[tuple[str, str]] = Counter()
    bad: Counter[tuple[str, str]] = Counter()
    for part, (kind, name, found) in findings(options.jobs, options.seed, parts):
        counts[part, kind] += 1
        if found:
            bad[part, kind] += 1
            print(f"NOT AS IT SHOULD BE {kind}: {name}: {found}", file=sys.stderr, flush=True)
    printed = figures(counts, bad, time.monotonic() - begun_s, options.seed)
    print(printed)
    if options.write:
        from docs import outputs

        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(outputs.with_measurement(page, "campaign", printed), encoding="utf-8")
    return 1 if bad else 0


def figures(
    counts: Counter[tuple[str, str]], bad: Counter[tuple[str, str]], seconds: float, seed: int
) -> str:
    """The campaign in numbers, as Markdown."""
    from benchmarks.machine import machine

    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    lines = [f"{machine()}, seed {seed}", "", "| part | cases | failed | of which |"]
    lines.append("| --- | ---: | ---: | --- |")
    for part in PARTS:
        kinds = sorted((kind, count) for (of, kind), count in counts.items() if of == part)
        if kinds:
            total = sum(count for _, count in kinds)
            failed = sum(count for (of, _), count in bad.items() if of == part)
            each = ", ".join(f"{kind} {count:,}" for kind, count in kinds)
            lines.append(f"| {part} | {total:,} | {failed:,} | {each} |")
    lines.append(f"| all | {counts.total():,} | {bad.total():,} | |")
    processor_s = spent.ru_utime + spent.ru_stime
    lines += ["", f"{seconds:,.0f} s, of which the processors worked {processor_s:,.0f} s."]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
