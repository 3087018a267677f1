"""Remove keys, passwords and tokens from what servers say, in every common encoding."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterator
from functools import lru_cache

from truemark.text import one_line

_REPLACEMENT = "[key]"
_LONGEST_QUOTE = 300
_LINE_BREAK = r"(?:=\r?\n)?"  # how mail breaks long lines
LEAST_LENGTH = 8
"""A shorter secret may be any word of a text, or stand for "no key" on a local server."""


def without_secrets(
    text: str, *secrets: str | None, least: int = LEAST_LENGTH, cut: bool = False
) -> str:
    """Replace the secrets in a text, plain or escaped as in JSON, URLs, HTML, base64 and mail.

    If the text is `cut` out of a longer one, its ends may have parts of secrets: they go too.
    """
    for secret in secrets:
        if secret and len(secret) >= least:
            text = _pattern(secret).sub(_REPLACEMENT, text)
            text = _without_parts(text, secret) if cut else text
    return text


def _without_parts(text: str, secret: str) -> str:
    """Replace a part of the secret with which the text begins or ends, or of which it is one."""
    if len(text) >= LEAST_LENGTH and text in secret:
        return _REPLACEMENT
    sizes = range(min(len(secret), len(text)) - 1, LEAST_LENGTH - 1, -1)
    if size := next((size for size in sizes if text.startswith(secret[-size:])), 0):
        text = _REPLACEMENT + text[size:]
    if size := next((size for size in sizes if text.endswith(secret[:size])), 0):
        text = text[:-size] + _REPLACEMENT
    return text


def quoted(message: str, *secrets: str | None) -> str:
    """Fit a server's message on one line, without the secrets; empty for a web page."""
    is_cut = len(message) > 20 * _LONGEST_QUOTE
    message = without_secrets(message[: 20 * _LONGEST_QUOTE], *secrets, least=1, cut=is_cut)
    line = one_line(message[: 10 * _LONGEST_QUOTE]).rstrip(".")
    if line.startswith("<"):
        return ""
    return line if len(line) <= _LONGEST_QUOTE else f"{line[:_LONGEST_QUOTE]}..."


@lru_cache(maxsize=256)
def _pattern(secret: str) -> re.Pattern[str]:
    characters = (f"(?:{'|'.join(_forms(character))})" for character in secret)
    escaped = _LINE_BREAK.join(characters)
    return re.compile("|".join([escaped, re.escape(html.escape(secret)), *_base64(secret)]))


def _forms(character: str) -> Iterator[str]:
    """Yield patterns of one character: plain, and escaped in each way."""
    yield re.escape(character)
    yield rf"\\+{re.escape(character)}"
    code = ord(character)
    utf16 = character.encode("utf-16-be", "surrogatepass").hex()
    units = "".join(rf"\\+u{utf16[place : place + 4]}" for place in range(0, len(utf16), 4))
    octets = character.encode("utf-8", "surrogatepass")
    url = "".join(f"%{octet:02x}" for octet in octets)
    mail = _LINE_BREAK.join(f"={octet:02x}" for octet in octets)
    yield f"(?i:{units}|{url}|{mail}|&#0*{code};?|&#x0*{code:x};?)"


def _base64(secret: str) -> Iterator[str]:
    """Yield patterns of the characters that do not depend on the text around the secret."""
    data = secret.encode("utf-8", "surrogatepass")
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + data).rstrip(b"=").decode()
        first = -(-before * 8 // 6)
        last = (before + len(data)) * 8 // 6
        inner = re.escape(encoded[first:last])
        yield inner.replace(r"\+", "[+-]").replace("/", "[/_]")
