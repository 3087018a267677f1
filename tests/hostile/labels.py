"""Label pages: servers killed at random moments, hostile texts, requests of others and bad ones."""

from __future__ import annotations

import json
import random
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator
from http.client import HTTPException
from pathlib import Path
from typing import Any

from testing.label_server import call, label_server, opened, request
from tests.hostile.mutations import NASTY, mutated

from cal_ai.benchmark.samples import bundled_folder
from sat_bench.corpus.loading import load_talk
from truemark.errors import TruemarkError
from truemark.labelling.storage import read_annotation

KILLS = 30
TEXTS = 120
REQUESTS = 600
WORDS = 60
TALK = ("sat_bench", "-models", "none", "-no-browser")
CONVERSATION = ("cal_ai", "--extractor", "reader", "--no-browser")
SAMPLE = "crud/boiler_check"
OTHERS: tuple[dict[str, str], ...] = (
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Host": "evil.example"},
    {"Sec-Fetch-Site": "cross-site"},
)
METHODS = ("PUT", "PUT", "GET", "POST")
PATHS = ("texts/0", "texts/0", "texts/9", "texts/0/draft", "../x", "files/..")
Own = Callable[[Iterable[Any]], Iterator[Any]]
Finding = tuple[str, str, list[str]]


def label_cases(folder: str, seed: int, own: Own) -> Iterator[Finding]:
    """Every case of the label pages."""
    place = Path(folder)
    yield from killed_talks(place / "killed talks", seed, own)
    yield from killed_conversations(place / "killed conversations", seed, own)
    yield from hostile_texts(place / "texts", seed, own)
    yield from hostile_requests(place / "requests", seed, own)


def killed_talks(folder: Path, seed: int, own: Own) -> Iterator[Finding]:
    """A talk whose ends are marked while the server is killed, again and again."""
    folder.mkdir()
    (folder / "talk.txt").write_text(" ".join(["word"] * WORDS), encoding="utf-8")
    dice = random.Random(f"{seed} killed talks")

    def content_of(state: Any) -> Iterator[tuple[Any, Any]]:
        ends = set(state["content"]["ends"])
        for place in dice.sample(state["places"], WORDS - 1):
            ends.add(place)
            yield place, {"ends": sorted(ends)}

    def keeps(state: Any, answered: Any) -> bool:
        return set(answered["ends"]) <= set(state["content"]["ends"])

    yield from _killed(
        "killed label of talks", folder, TALK, own(range(KILLS)), dice, content_of, keeps
    )


def killed_conversations(folder: Path, seed: int, own: Own) -> Iterator[Finding]:
    """A conversation whose event is renamed while the server is killed, again and again."""
    folder.mkdir()
    shutil.copy(bundled_folder() / f"{SAMPLE}.txt", folder / "talk.txt")
    dice = random.Random(f"{seed} killed conversations")

    def content_of(state: Any) -> Iterator[tuple[Any, Any]]:
        events = [event for event in state["content"]["events"] if event["id"] != "mine"]
        for number in range(WORDS):
            event = {
                "id": "mine",
                "fields": {"action": "create", "title": f"{_number(state) + number}"},
            }
            yield "whole", {**state["content"], "events": [*events, event]}

    def keeps(state: Any, answered: Any) -> bool:
        return _number(state) >= _number({"content": answered})

    kind = "killed label of conversations"
    yield from _killed(kind, folder, CONVERSATION, own(range(KILLS)), dice, content_of, keeps)


def _number(state: Any) -> int:
    """The title of the event that is renamed, a number that grows."""
    titles = [
        event["fields"]["title"] for event in state["content"]["events"] if event["id"] == "mine"
    ]
    return int(titles[0]) if titles else 0


def _killed(
    kind: str,
    folder: Path,
    command: tuple[str, ...],
    rounds: Iterable[int],
    dice: random.Random,
    contents: Callable[[Any], Iterator[tuple[Any, Any]]],
    keeps: Callable[[Any, Any], bool],
) -> Iterator[Finding]:
    """What was answered as saved has to be there when the server is started again."""
    module, *flags = command
    answered: Any = None
    for number in rounds:
        found: list[str] = []
        with label_server(module, str(folder), *flags) as (address, process):
            state = opened(address, 0)
            if "error" in state:
                found.append(f"does not open: {state['error']}")
            elif answered is not None and not keeps(state, answered):
                found.append("lost what it had answered")
            elif state["theirs"] is not None:
                found.append("takes its own gold for somebody else's")
            timer = threading.Timer(dice.uniform(0.01, 0.3), process.kill)
            timer.start()
            stamp = state.get("stamp", "")
            for count, (place, content) in enumerate(contents(state) if not found else ()):
                change = {"session": "s", "count": count, "stamp": stamp, "seen": [place]}
                try:
                    said = call(address, "PUT", "texts/0", change | {"content": content})
                except (OSError, HTTPException, ValueError):
                    break
                if "stamp" not in said:
                    found.append(f"not saved: {said}")
                    break
                stamp, answered = said["stamp"], content
            timer.join()
        yield kind, f"{number}", found


def hostile_texts(folder: Path, seed: int, own: Own) -> Iterator[Finding]:
    """Texts of every kind: each opens and becomes gold that reads back, or says why not."""
    folder.mkdir()
    dice = random.Random(f"{seed} hostile texts")
    good = b"# Source: tape\n\nWe sat there. Nobody spoke.\n\nThen he left, and so did I."
    texts = [mutated(good, dice) for _ in range(TEXTS - len(NASTY))]
    texts += [f"We sat. {text} So did I.".encode() for text in NASTY]
    chosen = list(own(enumerate(texts)))
    for number, text in chosen:
        (folder / f"t{number:03}.txt").write_bytes(text)
    with label_server("sat_bench", str(folder), *TALK[1:]) as (address, process):
        for place, (number, _) in enumerate(chosen):
            found = list(_labelled(folder, address, place, f"t{number:03}"))
            if process.poll() is not None:
                found.append("the server has ended")
            yield "text to label", f"{number}", found


def _labelled(folder: Path, address: str, number: int, name: str) -> Iterator[str]:
    status, content = request(address, "GET", f"texts/{number}")
    if status == 400:
        if "\n" in json.loads(content)["error"]:
            yield "an error of several lines"
        return
    state = opened(address, number)
    change = {"session": "s", "count": 1, "stamp": state["stamp"], "seen": state["places"]}
    said = call(address, "PUT", f"texts/{number}", change | {"content": state["content"]})
    if said.get("problem"):
        return
    gold = folder / "gold" / f"{name}.txt"
    if not gold.is_file():  # the text is gold itself
        gold = folder / f"{name}.txt"
    try:
        ends = len(load_talk(gold).sentences)
    except TruemarkError as error:
        yield f"gold that cannot be read: {error}"
        return
    if ends != len(state["content"]["ends"]):
        yield f"gold of {ends} sentences for {len(state['content']['ends'])} ends"


def hostile_requests(folder: Path, seed: int, own: Own) -> Iterator[Finding]:
    """Requests of other origins, and bodies that are nearly right: refused, and nothing is lost."""
    inside = folder / "inside"
    inside.mkdir(parents=True)
    (inside / "talk.txt").write_text("one two three four", encoding="utf-8")
    dice = random.Random(f"{seed} hostile requests")
    with label_server("sat_bench", str(inside), *TALK[1:]) as (address, _):
        state = opened(address, 0)
        change: Any = {"session": "s", "count": 1, "stamp": state["stamp"], "seen": [3]}
        change |= {"content": {"ends": [3, 15]}}
        call(address, "PUT", "texts/0", change)
        for number, body in own(
            enumerate(mutated(json.dumps(change).encode(), dice) for _ in range(REQUESTS))
        ):
            others = dice.choice(({}, {}, {}, *OTHERS))
            path = dice.choice(
                ("texts/0", "texts/0", "texts/9", "texts/0/draft", "../x", "files/..")
            )
            found = []
            try:
                status, _ = request(
                    address, dice.choice(("PUT", "PUT", "GET", "POST")), path, body, others
                )
            except (OSError, HTTPException) as error:
                found.append(f"no answer: {error!r}")
                status = 0
            if status >= 500:
                found.append(f"status {status}")
            if others and status != 403:
                found.append(f"status {status} for {others}")
            found += _intact(folder, address)
            yield "request to label", f"{number}", found


def _intact(folder: Path, address: str) -> Iterator[str]:
    """What is wrong in the folder, where nothing but the annotation may be written."""
    if sorted(path.name for path in folder.iterdir()) != ["inside"]:
        yield "wrote outside of its folder"
    annotation = read_annotation(folder / "inside" / ".annotations" / ".gold" / "talk.json")
    ends = annotation.content.get("ends")
    if not isinstance(ends, list) or not set(ends) <= {3, 6, 11, 15}:
        yield f"keeps the ends {ends}"
    if "error" in opened(address, 0):
        yield "does not open any more"
