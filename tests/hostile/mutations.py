"""Bad input made from good: what people, crashes, other programs and enemies do to files."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable

NASTY = (
    "\x1b]0;owned\x07\x1b[2J",
    "\u202eevil\u202c",
    "\u2066x\x9b31m",
    "\x00",
    "\ufeff",
    "\u2028",
    "=1+1",
    "../../../../etc/passwd",
    "<script>alert(1)</script>",
    "%s%n%d",
    "${HOME}${HOME}",
    "9" * 5_000,
    "-" + "9" * 400,
    "1e999",
    "NaN",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-14:00",
    "x" * 20_000,
    "[" * 3_000,
    "FREQ=SECONDLY",
    "FREQ=DAILY;INTERVAL=0",
    "P99999999999W",
    "\r",
    "\N{GRINNING FACE}\u200d",
)
NASTY_VALUES: tuple[object, ...] = (
    None,
    True,
    0,
    -1,
    10**300,
    10**4_000,
    1.5,
    float("nan"),
    float("inf"),
    "",
    [],
    {},
    [[]],
    [None],
    {"a": {"b": []}},
    *NASTY,
)
Mutation = Callable[[bytes, random.Random], bytes]


def mutated(content: bytes, dice: random.Random) -> bytes:
    """The content after one to three mutations; JSON is also changed by its structure."""
    for _ in range(dice.choice((1, 1, 2, 3))):
        mutations = STRUCTURAL if content[:1] in b"{[" and dice.random() < 0.6 else TEXTUAL
        content = dice.choice(mutations)(content, dice)
    return content


def _cut(content: bytes, dice: random.Random) -> bytes:
    return content[: dice.randrange(len(content) + 1)]


def _flip(content: bytes, dice: random.Random) -> bytes:
    data = bytearray(content)
    for _ in range(dice.choice((1, 3, 30))):
        if data:
            data[dice.randrange(len(data))] = dice.randrange(256)
    return bytes(data)


def _insert(content: bytes, dice: random.Random) -> bytes:
    place = dice.randrange(len(content) + 1)
    return content[:place] + dice.choice(NASTY).encode() + content[place:]


def _replace_word(content: bytes, dice: random.Random) -> bytes:
    words = content.split(b" ")
    words[dice.randrange(len(words))] = dice.choice(NASTY).encode()
    return b" ".join(words)


def _lines(content: bytes, dice: random.Random) -> bytes:
    lines = content.splitlines(keepends=True) or [b""]
    place = dice.randrange(len(lines))
    what = dice.randrange(5)
    if what == 0:
        del lines[place]
    elif what == 1:
        lines[place:place] = [lines[place]] * dice.choice((1, 50, 2_000))
    elif what == 2:
        dice.shuffle(lines)
    elif what == 3:
        name, colon, _ = lines[place].partition(b":")
        lines[place] = name + colon + dice.choice(NASTY).encode() + b"\r\n"
    else:
        lines[place] = lines[place].rstrip(b"\r\n")
    return b"".join(lines)


def _other_encoding(content: bytes, dice: random.Random) -> bytes:
    text = content.decode("utf-8", "replace")
    return text.encode(dice.choice(("utf-16", "utf-32", "latin-1", "utf-7")), "replace")


def _repeat(content: bytes, dice: random.Random) -> bytes:
    return content * dice.choice((2, 20))


def _nothing(content: bytes, dice: random.Random) -> bytes:
    return dice.choice((b"", b"\n", b" ", b"\x00" * 100, b"null", b"[]", b"{}", b"\xff" * 50))


TEXTUAL: tuple[Mutation, ...] = (
    _cut,
    _flip,
    _insert,
    _insert,
    _replace_word,
    _lines,
    _lines,
    _other_encoding,
    _repeat,
    _nothing,
)


def _structural(content: bytes, dice: random.Random) -> bytes:
    """One value of a JSON document, or of one of its lines, replaced, removed or added."""
    lines = content.split(b"\n")
    whole = _parsed(content)
    if whole is not _UNREADABLE:
        return _dumped(_changed(whole, dice))
    place = dice.randrange(len(lines))
    one = _parsed(lines[place])
    if one is _UNREADABLE:
        return _insert(content, dice)
    lines[place] = _dumped(_changed(one, dice))
    return b"\n".join(lines)


STRUCTURAL: tuple[Mutation, ...] = (_structural,)
_UNREADABLE = object()


def _parsed(content: bytes) -> object:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return _UNREADABLE


def _dumped(value: object) -> bytes:
    try:
        return json.dumps(value).encode()
    except ValueError:  # an integer of more digits than Python writes
        return b'{"number": ' + b"9" * 5_000 + b"}"


def _changed(value: object, dice: random.Random) -> object:
    value = copy.deepcopy(value)
    node, key = value, None
    parent: dict[str, object] | list[object] | None = None
    for _ in range(dice.randrange(1, 7)):
        if isinstance(node, dict) and node:
            parent, key = node, dice.choice(sorted(node))
            node = node[key]
        elif isinstance(node, list) and node:
            parent, key = node, dice.randrange(len(node))
            node = node[key]
        else:
            break
    if parent is None:
        return dice.choice(NASTY_VALUES)
    what = dice.randrange(4)
    if what == 0 and isinstance(parent, dict):
        parent[dice.choice(NASTY)] = dice.choice(NASTY_VALUES)
    elif what == 1:
        del parent[key]  # type: ignore[arg-type]  # a key of its own kind
    else:
        parent[key] = dice.choice(NASTY_VALUES)  # type: ignore[index]  # likewise
    return value
