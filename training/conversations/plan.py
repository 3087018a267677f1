"""The seeded plan that conversations are written from: one line of circumstances for each.

    python -m training.conversations.plan --seed 1 --count 320 --prefix a > plan.txt
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from datetime import datetime, timedelta

DOMAINS = (
    "family with small children|parents of teenagers|grandparents|siblings far apart|flatmates|"
    "neighbours|couple|old school friends|clinic reception|dentist|physiotherapy|vet|hairdresser|"
    "tattoo studio|optician|car garage|bicycle workshop|driving school|football club|rowing club|"
    "climbing gym|choir|amateur orchestra|dance school|chess club|primary school office|"
    "parent-teacher meeting|university seminar|PhD supervision|language tandem|library|museum|"
    "film crew|theatre company|radio station|newspaper desk|wedding planning|funeral arrangements|"
    "catering|restaurant kitchen|bakery|coffee roaster|farm|vineyard|beekeepers|forestry|"
    "allotment garden|fishing boat|hospital night shift|ambulance station|care home|fire brigade|"
    "police station|call centre|warehouse|parcel depot|building site|architect's office|plumber|"
    "electrician|painter and client|landlord and tenant|estate agent|bank advice|tax adviser|"
    "law firm|notary|insurance|software team|design agency|sales team|recruiting|hotel reception|"
    "travel group|airline crew|railway staff|ferry crew|town council|volunteers' food bank|"
    "church parish|mosque committee|scouts|animal shelter|dog walkers|band rehearsal|podcast hosts|"
    "game night|book club|running group|yoga studio|ski trip|sailing course|start-up founders|"
    "laboratory|observatory|translation bureau|charity run|flea market|repair café|carpool|"
    "house move|kitchen renovation|study abroad office|orthodontist|midwife|speech therapist"
).split("|")
REGISTERS = (
    "chatty and warm|clipped text messages with typos, lower case|formal e-mail tone|dry humour|"
    "hurried phone call|voice notes with fillers (um, like, you know)|polite and roundabout|"
    "teenage slang|non-native but fluent English|group chat with cross-talk|tired and grumpy|"
    "precise, almost military|rambling storyteller|dialect-tinged British|breezy American|"
    "Indian English|Irish English|bossy and affectionate|businesslike|spoken, with false starts"
).split("|")
ROLES = (
    "owner asks|owner is asked|owner mostly listens and confirms at the end|owner organises for all|"
    "owner speaks little|owner is the client|owner is the service|owner comes late to the talk|"
    "owner is the one who declines|owner relays what a third person settled"
).split("|")
CREATED = (
    "proposed and accepted|countered once, then accepted|countered twice, then accepted|"
    "first time refused because of the calendar, second accepted|announced as the owner's firm plan|"
    "day settled early, clock settled many lines later|corrected after a slip of the tongue|"
    "partly agreed (day and place now, the clock later in the talk)|accepted with a nod of one word|"
    "accepted only after doubt|two options, one chosen by a short answer|"
    "settled by reference ('same time as the other thing', 'right after it')|"
    "others agree to much, owner joins only this one"
).split("|")
UPDATED = (
    "moved to another day|moved to another clock on the same day|pushed back by a length of time|"
    "brought forward|made longer or shorter|moved twice in one talk, the last one counts|"
    "moved, told in passing amid other talk|swapped with another event"
).split("|")
DELETED = (
    "cancelled outright|cancelled by the other side, owner accepts|owner backs out|"
    "falls away because something else took its place|cancelled half-jokingly but meant|"
    "cancelled after a long search for another date"
).split("|")
NOTHING = (
    "proposed and declined|proposed and left open ('let me check')|hypothetical|past events retold|"
    "someone else's plan, owner takes no part|sarcasm|agreed and then withdrawn again|"
    "an event of the calendar only confirmed as it is|an event doubted but kept|wish or dream|"
    "quoted or read aloud from a book, film, old message|vague intention without a date|"
    "a request that nobody answers|news, rumours and times of shows nobody will see|"
    "moving was discussed, then all stays as it was"
).split("|")
TIMES = (
    "weekday and clock|'tomorrow' or 'today' or 'tonight'|'next' + weekday|'this' + weekday|"
    "day and month in words|numeric date|'the 14th'-style ordinal|'in N days/weeks'|"
    "'a week on Tuesday' or 'Tuesday week'|'the day after tomorrow'|half past / quarter to in words|"
    "24-hour clock|am/pm|bare hour ('at 4')|noon or midnight|from … to …|'for N minutes/hours'|"
    "part of day (morning, evening)|'end of the month', 'first Monday of'|"
    "relative to another event ('an hour before')|clock without 'at' in a text message|"
    "'the weekend'|military or radio style|approximate ('around seven')|other time zone, converted aloud"
).split("|")
NAMES = (
    "Marta Ruben Ayşe Tobias Imani Kwame Saoirse Declan Priya Arjun Mei Haruto Yuki Lucía Mateo Inês "
    "Duarte Chiara Paolo Zofia Marek Katya Dmitri Leila Omar Nadia Yusuf Amara Chidi Thandi Sipho Elif "
    "Emre Freya Lars Ingrid Bjorn Aino Eero Hanna Jonas Greta Felix Colette Benoît Odile Étienne Rosa "
    "Pablo Camila Diego Noor Farid Shirin Babak Rina Avi Tamar Noam Linh Minh Anh Somchai Malee Putri "
    "Budi Aroha Tane Keiko Daichi Sunita Rahul Deepa Vikram Gwen Rhys Morag Hamish Niamh Oisin Alice "
    "Bob George Winnie Clyde Dot Earl Faye Gus Hattie Ike June Kit Lou Mabel Ned Olive Percy Quinn "
    "Roz Stan Tess Una Vic Wanda Xavier Yara Zack Bruno Carla Dario Elena Fabio Giulia Hugo Irene "
    "Jorge Kira Lidia Milan Nina Oskar Petra Radu Sanna Timo Ulla Vera Wout Anneke Pim Sven Ebba "
    "Dr_Osei Mrs_Albright Mr_Tanaka Ms_Novak Coach_Bell Father_Quigley Nurse_Adeyemi Prof_Lindqvist"
).split()
LENGTHS = ((3, 7, 33), (8, 14, 37), (15, 25, 20), (26, 50, 8), (60, 110, 2))
TRUE_EVENTS = ((0, 27), (1, 40), (2, 18), (3, 9), (4, 4), (5, 2))


def _weighted(chance: random.Random, table: Sequence[tuple[int, int]]) -> int:
    return chance.choices([value for value, _ in table], [weight for _, weight in table])[0]


def _happenings(chance: random.Random, events: int, calendar: int) -> list[str]:
    told = []
    changed = 0
    for _ in range(events):
        kind = chance.choices(("create", "update", "delete"), (48, 30, 22))[0]
        if kind != "create" and changed >= calendar:
            kind = "create"
        changed += kind != "create"
        table = {"create": CREATED, "update": UPDATED, "delete": DELETED}[kind]
        told.append(f"{kind.upper()}: {chance.choice(table)}")
    told += [
        f"NOTHING: {what}" for what in chance.sample(NOTHING, chance.choice((1, 1, 2)) if events < 4 else 1)
    ]
    return told


def plan_line(chance: random.Random, identity: str) -> str:
    """The circumstances of one conversation, in one line."""
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
    people = ", ".join(name.replace("_", " ") for name in chance.sample(NAMES, speakers))
    return " | ".join(
        (
            identity,
            f"domain: {chance.choice(DOMAINS)}",
            f"register: {chance.choice(REGISTERS)}",
            f"speakers: {people} (owner is the first)",
            chance.choice(ROLES),
            f"{lines} lines",
            f"now: {now:%Y-%m-%d %H:%M} ({days})",
            f"calendar: {calendar} events",
            "; ".join(_happenings(chance, events, calendar)),
            "times such as: " + ", ".join(chance.sample(TIMES, 3)),
            "WITH VARIANT" if chance.random() < 0.56 else "no variant",
        )
    )


def main() -> None:
    """Print the plan of a seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--prefix", required=True)
    asked = parser.parse_args()
    chance = random.Random(asked.seed)
    for number in range(1, asked.count + 1):
        print(plan_line(chance, f"{asked.prefix}-{number:03}"))


if __name__ == "__main__":
    main()
