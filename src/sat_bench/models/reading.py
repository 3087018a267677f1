"""Texts in a language that a model does not read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from sat_bench.corpus.talks import Talk
from truemark.languages import NAMES, language_name, language_outside

WORLD = "world"
_CODES = {name.lower(): code for code, name in NAMES.items()}


class ForeignTextWarning(UserWarning):
    """A model is given a text in a language that it does not read."""


def foreign_text(model: str, languages: Collection[str], text: str) -> str | None:
    """Say of a text in a language that the model does not read what it is and what to try."""
    code = language_outside(text, languages) if languages else None
    return None if code is None else f"{language_name(code)} text; {_advice(model, languages)}"


def foreign_talks(model: str, languages: Collection[str], talks: Iterable[Talk]) -> str | None:
    """Say how many of the talks are in languages that the model does not read."""
    found: Counter[str] = Counter()
    count = 0
    for talk in talks if languages else ():
        count += 1
        code = _stated(talk) or language_outside(talk.text, languages)
        if code is not None and code not in languages:
            found[language_name(code)] += 1
    if not found:
        return None
    names = ", ".join(name for name, _ in found.most_common(3))
    more = f" and {len(found) - 3} more languages" if len(found) > 3 else ""
    many = f"{found.total()} of {count} talks" if count > 1 else "text"
    return f"{names}{more} ({many}); {_advice(model, languages)}"


def _stated(talk: Talk) -> str | None:
    """Read the language of a talk's header: a code such as fr or pt-BR, or an English name."""
    stated = talk.language.strip().lower().replace("_", "-")
    return _CODES.get(stated, stated.split("-")[0]) or None


def _advice(model: str, languages: Collection[str]) -> str:
    reads = "English" if languages == {"en"} else f"{len(languages)} other languages"
    hint = "" if model == WORLD else f": try -model {WORLD}"
    return f"{model} reads {reads}{hint}"
