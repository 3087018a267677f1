"""Measure how varied the conversations are, and find near-duplicates.

    python -m training.conversations.diversity [FILES] [--drop]

Variants (ids that end in a letter) share all but a line or two with their base by design, so they
are compared with all other conversations only. `--drop` removes near-duplicates from the files.
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
NEAR = 0.3  # two conversations that share this many of their five-word runs are near-duplicates
_RUN = 5
_OPENING = 6  # words
_WORD = re.compile(r"[\w']+")

Conversation = dict[str, object]


def words(conversation: Conversation) -> list[str]:
    """Return the spoken words, without the names of the speakers."""
    lines: Sequence[str] = conversation["transcript"]  # type: ignore[assignment]
    speech = " ".join(line.partition("]: ")[2] for line in lines)
    return _WORD.findall(speech.lower())


def base(identity: str) -> str:
    """Return the id without the letter of a variant."""
    return identity.rstrip("bcdefgh") if identity[-2:-1].isdigit() else identity


def near_duplicates(conversations: Iterable[Conversation]) -> list[tuple[str, str, float]]:
    """Return the pairs that share too many runs of words, the later one first, with the share."""
    owners: dict[tuple[str, ...], list[str]] = defaultdict(list)
    runs: dict[str, set[tuple[str, ...]]] = {}
    pairs = []
    for conversation in conversations:
        identity, spoken = str(conversation["id"]), words(conversation)
        new_runs = {tuple(spoken[at : at + _RUN]) for at in range(len(spoken) - _RUN + 1)}
        shared: Counter[str] = Counter(other for run in new_runs for other in owners[run])
        for other, count in shared.items():
            alike = count / max(1, min(len(new_runs), len(runs[other])))
            if alike >= NEAR and base(other) != base(identity):
                pairs.append((identity, other, alike))
        runs[identity] = new_runs
        for run in new_runs:
            owners[run].append(identity)
    return pairs


def summary(conversations: Sequence[Conversation]) -> str:
    """Summarise counts, openings, lengths and the balance of labels."""
    bases = [
        conversation
        for conversation in conversations
        if base(str(conversation["id"])) == conversation["id"]
    ]
    openings = Counter(tuple(words(conversation)[:_OPENING]) for conversation in bases)
    lengths = sorted(len(conversation["transcript"]) for conversation in bases)  # type: ignore[arg-type]
    runs = Counter(
        tuple(spoken[at : at + _RUN])
        for spoken in map(words, bases)
        for at in range(len(spoken) - _RUN + 1)
    )
    repeated = sum(count for count in runs.values() if count > 1) / max(1, sum(runs.values()))
    events = [event for conversation in conversations for event in conversation["events"]]  # type: ignore[attr-defined]
    actions = Counter(event["action"] for event in events)
    numbers = Counter(min(len(conversation["events"]), 6) for conversation in conversations)  # type: ignore[arg-type]
    calendars = Counter(len(conversation["calendar"]) for conversation in conversations)  # type: ignore[arg-type]
    titles = len({event["title"].lower() for event in events})
    quarter = [lengths[len(lengths) * part // 4] for part in (1, 3)]
    return "\n".join(
        (
            f"conversations    {len(conversations)} ({len(bases)} bases, the rest variants)",
            f"openings         {len(openings)} different of {len(bases)} ({_OPENING} words)",
            f"runs of {_RUN} words  {repeated:.1%} occur in more than one place",
            f"lines            {lengths[0]} to {lengths[-1]}, median {median(lengths):g},"
            f" half of them {quarter[0]} to {quarter[1]}",
            f"events           {len(events)}: {_listed(actions)}; {titles} different titles",
            f"events per talk  {_listed(dict(sorted(numbers.items())))}",
            f"calendar events  {_listed(dict(sorted(calendars.items())))}",
        )
    )


def _listed(counts: dict[object, int] | Counter[object]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def read(path: Path) -> list[Conversation]:
    """Read the conversations of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def main() -> None:
    """Print the summary and the near-duplicates."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, default=sorted(FOLDER.glob("*.jsonl")))
    parser.add_argument("--drop", action="store_true")
    options = parser.parse_args()
    everything = {path: read(path) for path in options.files}
    conversations = [conversation for talks in everything.values() for conversation in talks]
    print(summary(conversations))
    alike = near_duplicates(conversations)
    for later, earlier, share in alike:
        print(f"near-duplicate   {later} is {share:.0%} like {earlier}")
    print(f"near-duplicates  {len(alike)}")
    if options.drop:
        dropped = {later for later, _, _ in alike}
        for path, talks in everything.items():
            kept = [
                conversation for conversation in talks if str(conversation["id"]) not in dropped
            ]
            text = "".join(
                json.dumps(conversation, ensure_ascii=False) + "\n" for conversation in kept
            )
            path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
