"""How varied the conversations are, and which of them are too much like another.

    python -m training.conversations.diversity [FILES] [--drop]

Variants (ids that end in a letter) share all but a line or two with their base by design; they are
compared with everything else. `--drop` takes near-duplicates out of the files.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median

FOLDER = Path(__file__).parent
NEAR = 0.3  # share of five-word runs in common from which on two are near-duplicates
_RUN = 5
_OPENING = 6  # words
_WORD = re.compile(r"[\w']+")

Conversation = dict[str, object]


def words(one: Conversation) -> list[str]:
    """The words spoken, without the names of the speakers."""
    lines: Sequence[str] = one["transcript"]  # type: ignore[assignment]
    said = " ".join(line.partition("]: ")[2] for line in lines)
    return _WORD.findall(said.lower())


def base(identity: str) -> str:
    """The id without the letter of a variant."""
    return identity.rstrip("bcdefgh") if identity[-2:-1].isdigit() else identity


def near_duplicates(conversations: Iterable[Conversation]) -> list[tuple[str, str, float]]:
    """Pairs of different conversations that share too many runs of words, the later one first."""
    owners: dict[tuple[str, ...], list[str]] = defaultdict(list)
    runs: dict[str, set[tuple[str, ...]]] = {}
    found = []
    for one in conversations:
        identity, said = str(one["id"]), words(one)
        own = {tuple(said[at : at + _RUN]) for at in range(len(said) - _RUN + 1)}
        shared: Counter[str] = Counter(other for run in own for other in owners[run])
        for other, count in shared.items():
            alike = count / max(1, min(len(own), len(runs[other])))
            if alike >= NEAR and base(other) != base(identity):
                found.append((identity, other, alike))
        runs[identity] = own
        for run in own:
            owners[run].append(identity)
    return found


def summary(conversations: Sequence[Conversation]) -> str:
    """Counts, openings, lengths and the balance of labels, for people."""
    bases = [it for it in conversations if base(str(it["id"])) == it["id"]]
    openings = Counter(tuple(words(it)[:_OPENING]) for it in bases)
    lengths = sorted(len(it["transcript"]) for it in bases)  # type: ignore[arg-type]
    runs = Counter(
        tuple(said[at : at + _RUN])
        for said in map(words, bases)
        for at in range(len(said) - _RUN + 1)
    )
    repeated = sum(count for count in runs.values() if count > 1) / max(1, sum(runs.values()))
    events = [event for it in conversations for event in it["events"]]  # type: ignore[attr-defined]
    actions = Counter(event["action"] for event in events)
    numbers = Counter(min(len(it["events"]), 6) for it in conversations)  # type: ignore[arg-type]
    calendars = Counter(len(it["calendar"]) for it in conversations)  # type: ignore[arg-type]
    titles = len({event["title"].lower() for event in events})
    quarter = [lengths[len(lengths) * part // 4] for part in (1, 3)]
    return "\n".join(
        (
            f"conversations    {len(conversations)} ({len(bases)} bases, the rest variants)",
            f"openings         {len(openings)} different of {len(bases)} ({_OPENING} words)",
            f"runs of {_RUN} words  {repeated:.1%} occur in more than one place",
            f"lines            {lengths[0]} to {lengths[-1]}, median {median(lengths):g},"
            f" half of them {quarter[0]} to {quarter[1]}",
            f"events           {len(events)}: {_told(actions)}; {titles} different titles",
            f"events per talk  {_told(dict(sorted(numbers.items())))}",
            f"calendar events  {_told(dict(sorted(calendars.items())))}",
        )
    )


def _told(counts: dict[object, int] | Counter[object]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def read(path: Path) -> list[Conversation]:
    """The conversations of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def main() -> None:
    """Prints the summary and the near-duplicates."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, default=sorted(FOLDER.glob("*.jsonl")))
    parser.add_argument("--drop", action="store_true")
    asked = parser.parse_args()
    everything = {path: read(path) for path in asked.files}
    conversations = [it for found in everything.values() for it in found]
    print(summary(conversations))
    alike = near_duplicates(conversations)
    for one, other, share in alike:
        print(f"near-duplicate   {one} is {share:.0%} like {other}")
    print(f"near-duplicates  {len(alike)}")
    if asked.drop:
        dropped = {one for one, _, _ in alike}
        for path, found in everything.items():
            kept = [it for it in found if str(it["id"]) not in dropped]
            text = "".join(json.dumps(it, ensure_ascii=False) + "\n" for it in kept)
            path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
