"""Chats that WhatsApp exports: a date and a time before each name.

Android writes `31/12/25, 22:01 - Alice: text`, the iPhone `[31/12/25, 22:01:15] Alice: text`, and
both write dates as is usual in the phone's country. Notices of WhatsApp are left out: on Android
they have no name, on the iPhone they begin with a mark that people do not type.
"""

from __future__ import annotations

import re

FORM = "WhatsApp export"
_DATE = r"\d{1,4}[./-]\s?\d{1,2}[./-]\s?\d{1,4}\.?"
_TIME = r"\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:\s?[AaPp]\.?\s?[Mm]\.?)?"
# French and Finnish phones put a word between date and time: `31/12/25 à 22:01`.
_BETWEEN = r",?\s+(?:(?:à|klo)\s+)?"
_MARKS = "[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]*"
_STAMP = re.compile(
    rf"{_MARKS}(?:\[{_DATE}{_BETWEEN}{_TIME}\]\s+|{_DATE}{_BETWEEN}{_TIME}\s+[-–]\s+){_MARKS}"
)
_SPEAKER = re.compile(r"([^:：\n]{1,60})[:：]\s")
_WRITTEN_BY_WHATSAPP = "\u200e"
_NOTICE = re.compile(
    rf"{_MARKS}(?:<[^<>]*omitted>|(?:image|video|audio|sticker|GIF|document|Contact card) omitted"
    r"|Missed (?:group )?(?:voice|video) call\.?"
    r"|This message was deleted\.?|You deleted this message\.?)\s*",
    re.IGNORECASE,
)
_EDITED = re.compile(r"\u200e?<This message was edited>\s*\Z", re.IGNORECASE)


def without_tag(line: str) -> str:
    """Return the line without the tag that WhatsApp adds to an edited message."""
    return _EDITED.sub("", line)


def speaker_of(line: str) -> tuple[str | None, str] | None:
    """Split a line into speaker, None for a notice, and words; None without date and time."""
    stamp = _STAMP.match(line)
    if stamp is None:
        return None
    rest = line[stamp.end() :]
    speaker = _SPEAKER.match(rest + " ")
    if speaker is None or _is_cut_quotation(speaker[1]):
        return None, ""
    words = without_tag(rest[speaker.end() :])
    if words.startswith(_WRITTEN_BY_WHATSAPP) or _NOTICE.fullmatch(words):
        return None, ""
    return speaker[1].strip("~ \u202f\xa0"), words


def _is_cut_quotation(text: str) -> bool:
    """Whether a quotation is open, as before the colon of `Alice created group "Plan: Friday"`."""
    return text.count('"') % 2 == 1 or text.count("“") > text.count("”")
