"""Measure how far two readings of talks agree: annotators, gold, or a system and gold."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from sat_bench.corpus.loading import load_talk, transcript_files
from sat_bench.corpus.talks import Talk
from sat_bench.defaults import BUNDLED_CORPORA, DEFAULT_TIMEOUT_S
from sat_bench.labelling import propose_ends, read_label_text, words_of
from sat_bench.models.systems import find_system
from sat_bench.running.inference import Inference
from truemark.command import DONE, tell
from truemark.counts import Counts
from truemark.errors import TruemarkError
from truemark.labelling.agreement import (
    Agreement,
    TextAgreement,
    agreement_between,
    agreement_sections,
    keep_agreement,
)
from truemark.labelling.storage import FOLDER, Annotation, read_annotations
from truemark.sections import Form, Section, show

_WITHOUT_LAST = (
    "Ends agree at exactly the same place. The end of each text, which every reading has, is left"
    " out. The F1 of a run counts it, and has a -tolerance."
)
_KINDS = (
    (re.compile(r"[\"'”’»›]$"), "closing quote"),
    (re.compile(r"[)\]}）］]$"), "bracket"),
    (re.compile(r"(?:…|\.\.)$"), "ellipsis"),
    (re.compile(r"(?:\b\w{1,3}|\.\w+|\d)\.$"), "full stop of a short word or number"),
    (re.compile(r"[.。]$"), "full stop"),
    (re.compile(r"[?!？！]$"), "question or exclamation mark"),
    (re.compile(r"[,;:–—、，；：-]$"), "comma, colon or dash"),
)


Reading = tuple[str, frozenset[int]]
"""A text, and the places where one reader sees its sentences end."""


def tell_agreement(first: str, second: str, form: Form) -> int:
    """Print how far two readings agree."""
    sections = agreement_sections(agreement(first, second), "talk")
    tell(show([*sections, Section(sentences=[_WITHOUT_LAST])], form))
    return DONE


def keep_annotators_agreement(folder: Path, first: str, second: str) -> None:
    """Store how far two annotators of a folder agree on the talks that both have done."""
    readings, others = (
        _annotated(read_annotations(folder / FOLDER / annotator, done_only=True))
        for annotator in (first, second)
    )
    keep_agreement(folder, _compare_all(readings, others))


def agreement(first: str, second: str) -> Agreement:
    """Compare two folders of gold or annotations; the second may be the name of a system.

    The talks in the package have names, as in `-corpus`.
    """
    folder, other = (BUNDLED_CORPORA.get(name, Path(name)) for name in (first, second))
    readings = read_folder(folder)
    others = read_folder(other) if other.exists() else _by_system(second, readings)
    return agreement_between(first, second, _compare_all(readings, others), "talk")


def read_folder(folder: Path) -> Mapping[str, Reading]:
    """Read the annotations, or the truth of the talks, of a folder, by talk."""
    if not folder.exists():
        raise TruemarkError(f"{folder}: no such folder; expected annotations or gold talks")
    if annotations := read_annotations(folder):
        return _annotated(annotations)
    return {file.stem: _gold(file) for file in transcript_files(folder)}


def _annotated(annotations: Mapping[str, Annotation]) -> Mapping[str, Reading]:
    return {
        name: (annotation.text, frozenset(annotation.content["ends"]))
        for name, annotation in annotations.items()
    }


def _gold(file: Path) -> Reading:
    read = read_label_text(file)
    if read.ends is not None:
        return read.text, frozenset(read.ends)
    talk = load_talk(file)  # its ends come from a rule
    words = words_of(talk.text)
    return talk.text, frozenset(map(words.place_at, talk.boundaries))


def _by_system(name: str, readings: Mapping[str, Reading]) -> Mapping[str, Reading]:
    """Let a system mark the texts, at its default threshold."""
    system = find_system(name)
    marked = {}
    with Inference(timeout_s=DEFAULT_TIMEOUT_S).opened(system) as read:
        for talk, (text, _) in readings.items():
            proposed = propose_ends(system, read, Talk(talk, talk, "", "", text, ()))
            places = [place for place, p in proposed["places"] if p > proposed["threshold"]]
            marked[talk] = text, frozenset(places)
    return marked


def _compare_all(
    readings: Mapping[str, Reading], others: Mapping[str, Reading]
) -> list[TextAgreement]:
    return [_compare(name, readings[name], others[name]) for name in readings if name in others]


def _compare(name: str, reading: Reading, other: Reading) -> TextAgreement:
    """Compare two readings of a text; its end, which nobody can miss, is left out."""
    (text, ends), (other_text, other_ends) = reading, other
    if "".join(text.split()) != "".join(other_text.split()):
        raise TruemarkError(f"{name}: the two readings are of different texts")
    words = words_of(text)
    candidates = frozenset(words.places) | ends | other_ends
    last = words.places[-1]
    first, second = ends - {last}, other_ends - {last}
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
    """Classify the word before a place by its end."""
    return next((kind for ending, kind in _KINDS if ending.search(word)), "no punctuation")
