"""Read the notation in which conversations are written by hand, and write it as JSON lines."""

from __future__ import annotations

import argparse
import json
import re
import sys
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

_EVENT = re.compile(r"> (?:(create)|(update|delete) (\d+)) \| (.+)")
_SPOKEN = re.compile(r"\[([^\]]+)\]: (\S.*)")
_REPLACED = re.compile(r"(\d+) (\[[^\]]+\]: \S.*)")


class NotationError(ValueError):
    """Raised for a conversation that does not follow the notation; says where and why."""


@dataclass(slots=True)
class Draft:
    """A conversation as written: a base, or a variant of one."""

    id: str
    owner: str = ""
    now: str = ""
    calendar: list[dict[str, str]] = field(default_factory=list)
    transcript: list[str] = field(default_factory=list)
    events: list[dict[str, object]] = field(default_factory=list)
    says_none: bool = False


def _moment(text: str, day: str = "") -> str:
    text = text.strip()
    if day and re.fullmatch(r"\d\d:\d\d", text):
        text = f"{day} {text}"
    return datetime.strptime(text, "%Y-%m-%d %H:%M").isoformat()


def _end(start: str, text: str) -> str:
    end = _moment(text, start[:10])
    if end <= start and re.fullmatch(r"\d\d:\d\d", text.strip()):  # past midnight
        end = (datetime.fromisoformat(end) + timedelta(days=1)).isoformat()
    return end


def _calendar_entry(text: str) -> dict[str, str]:
    number, title, start, end, *place = (part.strip() for part in text.split("|"))
    begins = _moment(start)
    entry = {"id": number, "title": title, "start": begins, "end": _end(begins, end)}
    return entry | ({"location": place[0]} if place and place[0] else {})


def _event(line: str, draft: Draft) -> dict[str, object]:
    match = _EVENT.fullmatch(line)
    if match is None:
        raise NotationError(f"not an event line: {line!r}")
    action = match[1] or match[2]
    *fields, settled = (part.strip() for part in match[4].split("|"))
    event: dict[str, object] = {"action": action, "title": fields[0]}
    if match[3]:
        if int(match[3]) not in range(1, len(draft.calendar) + 1):
            raise NotationError(f"no event {match[3]} in the calendar: {line!r}")
        event["existing"] = int(match[3])
    if action != "delete":
        if len(fields) < 2:
            raise NotationError(f"expected title | start | end or - | lines: {line!r}")
        if fields[1] != "-":
            event["start"] = _moment(fields[1])
            if len(fields) > 2 and fields[2] not in {"-", ""}:
                event["end"] = _end(str(event["start"]), fields[2])
    event["lines"] = [int(number) for number in settled.split(",")]
    if not all(1 <= number <= len(draft.transcript) for number in event["lines"]):  # type: ignore[attr-defined]
        raise NotationError(f"lines out of range 1..{len(draft.transcript)}: {line!r}")
    return event


def _check(draft: Draft) -> Draft:
    if not draft.events and not draft.says_none:
        raise NotationError("neither events nor '> none'")
    if draft.events and draft.says_none:
        raise NotationError("both events and '> none'")
    if len(draft.transcript) < 2:
        raise NotationError("fewer than two lines")
    return draft


def _variant(base: Draft, letter: str) -> Draft:
    return Draft(f"{base.id}{letter}", base.owner, base.now, base.calendar, list(base.transcript))


def read_conversation(block: str) -> list[Draft]:
    """Read the conversation of a block, and its variants."""
    lines = [line.rstrip() for line in block.strip().splitlines() if line.strip()]
    drafts = [Draft(lines[0].strip())]
    for line in lines[1:]:
        draft = drafts[-1]
        if line.startswith("owner:"):
            draft.owner = line[6:].strip()
        elif line.startswith("now:"):
            draft.now = _moment(line[4:].strip()[:16])
        elif line.startswith("cal:"):
            draft.calendar.append(_calendar_entry(line[4:]))
        elif line.startswith("~"):
            _check(draft)
            drafts.append(_variant(drafts[0], chr(ord("a") + len(drafts))))
        elif line == "> none":
            draft.says_none = True
        elif line.startswith(">"):
            draft.events.append(_event(line, draft))
        elif len(drafts) > 1 and (replaced := _REPLACED.fullmatch(line)):
            number = int(replaced[1])
            if not 1 <= number <= len(draft.transcript):
                raise NotationError(f"no line {number} to replace")
            draft.transcript[number - 1] = replaced[2]
        elif len(drafts) == 1 and _SPOKEN.fullmatch(line):
            draft.transcript.append(line)
        else:
            raise NotationError(f"line not understood: {line[:80]!r}")
    _check(drafts[-1])
    if not drafts[0].owner or not drafts[0].now:
        raise NotationError("owner: or now: is missing")
    return drafts


def read_file(path: Path) -> tuple[list[Draft], list[str]]:
    """Read the conversations of a file; return them, and a line for each that is malformed."""
    drafts: list[Draft] = []
    problems: list[str] = []
    for block in re.split(r"^### ", path.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        try:
            drafts += read_conversation(block)
        except (NotationError, ValueError) as problem:
            problems.append(f"{path.name}: {block.splitlines()[0].strip()}: {problem}")
    return drafts, problems


def as_json(draft: Draft) -> str:
    """Write a conversation as one JSON line."""
    return json.dumps(
        {
            "id": draft.id,
            "owner": draft.owner,
            "now": draft.now,
            "calendar": draft.calendar,
            "transcript": draft.transcript,
            "events": draft.events,
        },
        ensure_ascii=False,
    )


def main() -> int:
    """Check the files, and write their JSON lines to `--output`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    drafts: list[Draft] = []
    problems: list[str] = []
    for path in options.files:
        read, unread = read_file(path)
        drafts += read
        problems += unread
    for problem in problems:
        print(problem)
    print(f"{len(drafts)} conversations, {len(problems)} problems")
    if options.output:
        options.output.write_text("".join(as_json(draft) + "\n" for draft in drafts), "utf-8")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
