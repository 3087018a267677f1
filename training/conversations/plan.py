"""Draw the plan that conversations are written from: a line of circumstances for each.

python -m training.conversations.plan --seed 1 --count 320 --prefix a > plan.txt
python -m training.conversations.plan --seed 2 --count 420 --prefix p --voice chat > plan.txt
"""

from __future__ import annotations

import argparse
import random
import tomllib
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

TABLES: dict[str, list[str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
VOICES: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("voices.toml").read_text("utf-8")
)
LENGTHS = ((3, 7, 33), (8, 14, 37), (15, 25, 20), (26, 50, 8), (60, 110, 2))
TRUE_EVENTS = ((0, 27), (1, 40), (2, 18), (3, 9), (4, 4), (5, 2))


def _weighted(chance: random.Random, table: Sequence[tuple[int, int]]) -> int:
    return chance.choices([value for value, _ in table], [weight for _, weight in table])[0]


def _happenings(chance: random.Random, events: int, calendar: int) -> list[str]:
    happenings = []
    changed = 0
    for _ in range(events):
        kind = chance.choices(("create", "update", "delete"), (48, 30, 22))[0]
        if kind != "create" and changed >= calendar:
            kind = "create"
        changed += kind != "create"
        happenings.append(f"{kind.upper()}: {chance.choice(TABLES[f'{kind}d'])}")
    spared = chance.choice((1, 1, 2)) if events < 4 else 1
    return [
        *happenings,
        *(f"NOTHING: {topic}" for topic in chance.sample(TABLES["nothing"], spared)),
    ]


def plan_line(chance: random.Random, identity: str) -> str:
    """Draw the circumstances of one conversation."""
    low, high, _ = chance.choices(LENGTHS, [weight for *_, weight in LENGTHS])[0]
    lines = chance.randint(low, high)
    events = min(_weighted(chance, TRUE_EVENTS), max(1, lines // 3))
    calendar = chance.choices(range(9), (22, 14, 16, 15, 12, 9, 6, 4, 2))[0]
    speakers = chance.choices((2, 3, 4, 5, 6), (62, 20, 10, 5, 3))[0] if lines >= 8 else 2
    now = datetime(2024, 1, 1) + timedelta(
        days=chance.randrange(1400), minutes=5 * chance.randrange(78, 260)
    )
    days = " ".join(
        f"{day:%a}{day.day}" for day in (now + timedelta(days=ahead) for ahead in range(15))
    )
    people = ", ".join(chance.sample(TABLES["names"], speakers))
    return " | ".join(
        (
            identity,
            f"domain: {chance.choice(TABLES['domains'])}",
            f"register: {chance.choice(TABLES['registers'])}",
            f"speakers: {people} (owner is the first)",
            chance.choice(TABLES["roles"]),
            f"{lines} lines",
            f"now: {now:%Y-%m-%d %H:%M} ({days})",
            f"calendar: {calendar} events",
            "; ".join(_happenings(chance, events, calendar)),
            "times such as: " + ", ".join(chance.sample(TABLES["times"], 3)),
            "WITH VARIANT" if chance.random() < 0.56 else "no variant",
        )
    )


def voiced_line(chance: random.Random, identity: str, voice: Mapping[str, Any]) -> str:
    """Draw the circumstances of one conversation in a voice."""
    low, high, _ = chance.choices(voice["lengths"], [weight for *_, weight in voice["lengths"]])[0]
    lines = chance.randint(low, high)
    events = min(_weighted(chance, TRUE_EVENTS), max(1, lines // 3))
    calendar = chance.choices(range(9), (30, 14, 16, 13, 10, 8, 5, 3, 1))[0]
    now = datetime(2024, 1, 1) + timedelta(
        days=chance.randrange(1400), minutes=chance.randrange(60 * 6, 60 * 23)
    )
    days = " ".join(
        f"{day:%a}{day.day}" for day in (now + timedelta(days=ahead) for ahead in range(15))
    )
    people = ", ".join(chance.sample(TABLES["names"], chance.choice(voice["speakers"])))
    return " | ".join(
        (
            identity,
            f"domain: {chance.choice(TABLES['domains'])}",
            f"manner: {chance.choice(voice['manners'])}",
            f"names: {people} (owner is the first)",
            f"{lines} lines",
            f"now: {now:%Y-%m-%d %H:%M} ({days})",
            f"calendar: {calendar} events",
            "; ".join(_happenings(chance, events, calendar)),
            "times such as: " + ", ".join(chance.sample(TABLES["times"], 2)),
            "WITH VARIANT" if chance.random() < 0.7 else "no variant",
        )
    )


def main() -> None:
    """Print the plan of a seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--prefix", required=True)
    parser.add_argument("--voice", choices=VOICES)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    for number in range(1, options.count + 1):
        identity = f"{options.prefix}-{number:03}"
        if options.voice:
            print(voiced_line(chance, identity, VOICES[options.voice]))
        else:
            print(plan_line(chance, identity))


if __name__ == "__main__":
    main()
