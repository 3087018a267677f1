"""Read the dialogue of a game's campaigns in all its translations, in the order it is spoken.

The Debian packages `wesnoth-1.16-*` have the scenarios, with English lines, and the translations.
"""

from __future__ import annotations

import gettext
import re
from collections.abc import Iterator
from pathlib import Path

from training.world.languages import plain_code

SOURCE, LICENCE = "Battle for Wesnoth campaigns", "GPL 2+"
_DOMAIN = re.compile(r"#textdomain (\S+)")
# A quote inside a line is doubled.
_LINE = re.compile(r'(?:message|story|text|speech)\s*=\s*_\s*"((?:[^"]|"")*)"')
_MARKUP = re.compile(r"<[^>]+>")


def lines_of(scenario: str) -> list[str]:
    """List the lines that are spoken or told in a scenario."""
    return [match[1].replace('""', '"') for match in _LINE.finditer(scenario)]


def campaign_pages(root: Path) -> Iterator[tuple[str, str, str, list[str]]]:
    """Yield source, licence, language and lines of each unpacked scenario and translation."""
    scenarios: dict[str, list[list[str]]] = {}
    for path in sorted(root.glob("usr/share/games/wesnoth/*/data/campaigns/**/*.cfg")):
        content = path.read_text(encoding="utf-8", errors="replace")
        domain, lines = _DOMAIN.search(content), lines_of(content)
        if domain and lines:
            scenarios.setdefault(domain[1], []).append(lines)
    for pages in scenarios.values():
        yield from ((SOURCE, LICENCE, "en", [_plain(line) for line in lines]) for lines in pages)
    for path in sorted(root.glob("usr/share/**/LC_MESSAGES/*.mo")):
        name, pages = path.parts[-3], scenarios.get(path.stem, [])
        if "@" in name or name == "racv" or not pages:  # Valencian is Catalan too
            continue
        with path.open("rb") as stream:
            translated = gettext.GNUTranslations(stream).gettext
        for lines in pages:
            said = [_plain(translated(line)) for line in lines if translated(line) != line]
            yield SOURCE, LICENCE, plain_code(name), said


def _plain(line: str) -> str:
    return " ".join(_MARKUP.sub("", line).split())
