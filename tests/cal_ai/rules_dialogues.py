"""Conversations with the events that a careful reader finds in them, from `dialogues/`.

A file holds calendars, each headed `@ calendar NAME` with one `title | start | end` line per event,
and dialogues, each headed `# name` with `owner:`, `now:` and `calendar:` lines where they differ
from Alice, Friday 20 February 2026 at ten, and an empty calendar. After the lines spoken,
`=> action id | title | start | end` lines say what is expected; `=> nothing` if nothing is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from cal_ai.events import ContextEvent
from cal_ai.extractors.protocol import Request
from cal_ai.transcript import parse_transcript

FOLDER = Path(__file__).with_name("dialogues")


@dataclass(frozen=True, slots=True)
class Expected:
    """An event; start and end are None where the conversation leaves them open."""

    action: str
    existing: int | None
    title: str
    start: datetime | None
    end: datetime | None


@dataclass(frozen=True, slots=True)
class Dialogue:
    name: str
    request: Request
    expected: tuple[Expected, ...]


def load_dialogues() -> Iterator[Dialogue]:
    """Yield all dialogues, named by file and heading."""
    for path in sorted(FOLDER.glob("*.txt")):
        calendars: dict[str, tuple[ContextEvent, ...]] = {"": ()}
        for block in re.split(r"^(?=[#@] )", path.read_text(encoding="utf-8"), flags=re.M):
            heading, _, rest = block.partition("\n")
            if heading.startswith("@ "):
                calendars[heading.removeprefix("@ calendar ")] = _calendar(rest)
            elif heading.startswith("# "):
                yield _dialogue(f"{path.stem}: {heading[2:]}", rest, calendars)


def _calendar(lines: str) -> tuple[ContextEvent, ...]:
    rows = [line.split(" | ") for line in lines.splitlines() if line]
    return tuple(
        ContextEvent(number, title, datetime.fromisoformat(start), datetime.fromisoformat(end))
        for number, (title, start, end) in enumerate(rows, 1)
    )


def _dialogue(name: str, text: str, calendars: dict[str, tuple[ContextEvent, ...]]) -> Dialogue:
    given = dict(re.findall(r"^(owner|now|calendar): (.+)$", text, flags=re.M))
    spoken = "\n".join(line for line in text.splitlines() if line.startswith("["))
    now = datetime.fromisoformat(given.get("now", "2026-02-20T10:00:00"))
    context = calendars[given.get("calendar", "")]
    request = Request(parse_transcript(spoken), given.get("owner", "Alice"), now, context)
    expected = (_expected(line) for line in re.findall(r"^=> (?!nothing)(.+)$", text, flags=re.M))
    return Dialogue(name, request, tuple(expected))


def _expected(line: str) -> Expected:
    action, title, *times = line.split(" | ")
    verb, _, existing = action.partition(" ")
    start, end, *_ = (*map(datetime.fromisoformat, times), None, None)
    return Expected(verb, int(existing) if existing else None, title, start, end)


DIALOGUES = tuple(load_dialogues())
