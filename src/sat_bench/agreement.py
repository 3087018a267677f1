"""How far two readings of talks agree: annotators, gold, or a system and gold."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sat_bench.corpus.loading import load_talk, transcript_files
from sat_bench.corpus.talks import Talk
from sat_bench.labelling import ModelProposals, read_label_text, words_of
from sat_bench.models.systems import find_system
from truemark.command import DONE, tell
from truemark.counts import Counts
from truemark.errors import TruemarkError
from truemark.labelling.agreement import (
    Agreement,
    TextAgreement,
    agreement_of,
    agreement_sections,
    keep_agreement,
)
from truemark.labelling.storage import EARLIER, FOLDER, is_annotation, read_annotation
from truemark.sections import Form, show

_CLOSED = re.compile(r"[\"'”’»›]$")
_BRACKET = re.compile(r"[)\]}）］]$")
_ELLIPSIS = re.compile(r"(?:…|\.\.)$")
_SHORT = re.compile(r"(?:\b\w{1,3}|\.\w+|\d)\.$")
_KINDS = (
    (_CLOSED, "closing quote"),
    (_BRACKET, "bracket"),
    (_ELLIPSIS, "ellipsis"),
    (_SHORT, "full stop of a short word or number"),
    (re.compile(r"[.。]$"), "full stop"),
    (re.compile(r"[?!？！]$"), "question or exclamation mark"),
    (re.compile(r"[,;:–—、，；：-]$"), "comma, colon or dash"),
)


@dataclass(frozen=True, slots=True)
class Reading:
    """Where one reader sees sentences end in a text."""

    text: str
    ends: frozenset[int]


def tell_agreement(first: str, second: str, form: Form) -> int:
    """Print how far two readings agree."""
    tell(show(agreement_sections(agreement(first, second), "talk"), form))
    return DONE


def keep_annotators_agreement(folder: Path, first: str, second: str) -> None:
    """Keep how far two annotators of a folder agree on the talks that both have done."""
    theirs, others = (
        {
            file.stem: _annotated(file)
            for file in _annotation_files(folder / FOLDER / annotator)
            if read_annotation(file).done
        }
        for annotator in (first, second)
    )
    common = [_compared(name, theirs[name], others[name]) for name in theirs if name in others]
    if common:
        keep_agreement(folder, agreement_of(first, second, common))


def agreement(first: str, second: str) -> Agreement:
    """Compare two folders of gold or annotations; the second may be the name of a system."""
    read = read_folder(Path(first))
    other = read_folder(Path(second)) if Path(second).exists() else _by_system(second, read)
    common = [name for name in read if name in other]
    if not common:
        raise TruemarkError(f"{first} and {second} have no talk in common")
    names = _short_names(first, second)
    return agreement_of(*names, [_compared(name, read[name], other[name]) for name in common])


def _short_names(first: str, second: str) -> tuple[str, str]:
    short, other = Path(first).name or first, Path(second).name or second
    return (first, second) if short == other or not Path(second).exists() else (short, other)


def read_folder(folder: Path) -> Mapping[str, Reading]:
    """Read the annotations, or the truth of the talks, of a folder, by talk."""
    if not folder.exists():
        raise TruemarkError(f"{folder}: no such folder; expected annotations or gold talks")
    if annotations := _annotation_files(folder):
        return {file.stem: _annotated(file) for file in annotations}
    return {file.stem: _gold(file) for file in transcript_files(folder)}


def _annotation_files(folder: Path) -> list[Path]:
    files = [file for file in sorted(folder.glob("*.json")) if is_annotation(file)]
    return [file for file in files if not file.name.endswith(EARLIER)]


def _annotated(file: Path) -> Reading:
    annotation = read_annotation(file)
    if not annotation.done:
        raise TruemarkError(f"{file}: {annotation.left} places were not looked at yet")
    return Reading(annotation.text, frozenset(annotation.content["ends"]))


def _gold(file: Path) -> Reading:
    read = read_label_text(file)
    if read.ends is not None:
        return Reading(read.text, frozenset(read.ends))
    talk = load_talk(file)  # its truth is a rule's
    words = words_of(talk.text)
    return Reading(talk.text, frozenset(map(words.place_at, talk.boundaries)))


def _by_system(name: str, readings: Mapping[str, Reading]) -> Mapping[str, Reading]:
    """Let a system read the texts, at its own threshold."""
    proposals = ModelProposals((find_system(name),))
    marked = {}
    for talk, reading in readings.items():
        [proposed] = proposals.propose(Talk(talk, talk, "", "", reading.text, ())).values()
        places = [place for place, p in proposed["places"] if p > proposed["threshold"]]
        marked[talk] = Reading(reading.text, frozenset(places))
    proposals.close()
    return marked


def _compared(name: str, reading: Reading, other: Reading) -> TextAgreement:
    """Compare two readings of a text; its end, which nobody can miss, is left out."""
    if "".join(reading.text.split()) != "".join(other.text.split()):
        raise TruemarkError(f"{name}: the two were made of different texts")
    words = words_of(reading.text)
    candidates = frozenset(words.places[:-1]) | reading.ends | other.ends
    last = words.places[-1]
    first, second = reading.ends - {last}, other.ends - {last}
    both = first & second
    before = dict(zip(words.places, words.pieces, strict=True))
    kinds = [
        (_kind(before.get(place, "")), "both" if place in both else who)
        for who, places in (("first", first), ("second", second - both))
        for place in sorted(places)
    ]
    counts = Counts(len(both), len(first - both), len(second - both))
    return TextAgreement(name, counts, len(candidates - first - second - {last}), tuple(kinds))


def _kind(word: str) -> str:
    """Name what stands before a place."""
    return next((kind for ending, kind in _KINDS if ending.search(word)), "no punctuation")
