"""Measure how far two readings of the same texts agree: F1 with its interval, Cohen's kappa.

Neither reading is the truth, and F1 is the same whichever of the two is taken for it.

>>> cohens_kappa(both=45, first_only=15, second_only=25, neither=15)  # 0.6 against 0.54 by chance
0.13043478260869568
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from truemark.counts import Counts, total
from truemark.errors import TruemarkError
from truemark.files import read_bytes
from truemark.jsontext import read_json, to_json
from truemark.labelling.storage import FOLDER, Workspace
from truemark.records import WRITTEN
from truemark.sections import Section, facts_of
from truemark.tables import Table
from truemark.text import counted
from truemark.uncertainty import Interval, Scoring, intervals_of
from truemark.wording import range_text

_KEPT = ".agreement.json"


@dataclass(frozen=True, slots=True)
class TextAgreement:
    """Two readings of one text.

    `counts` has as tp what both have, as fp what only the first has, as fn what only the second
    has; `neither` is the number of candidate places that neither took, None if unknown.
    `kinds` has a row of kind and who has it (both, first, second) for each difference and match.
    """

    name: str
    counts: Counts
    neither: int | None
    kinds: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Agreement:
    """All texts together; `kinds` has rows of kind, both, first only, second only."""

    first: str
    second: str
    texts: tuple[TextAgreement, ...]
    f1: Interval
    kappa: float | None
    kinds: tuple[tuple[str, int, int, int], ...]

    @property
    def counts(self) -> Counts:
        return total(text.counts for text in self.texts)


def cohens_kappa(*, both: int, first_only: int, second_only: int, neither: int) -> float | None:
    """Return agreement beyond chance over yes-or-no decisions; None where chance explains all."""
    count = both + first_only + second_only + neither
    if not count:
        return None
    first, second = (both + first_only) / count, (both + second_only) / count
    by_chance = first * second + (1 - first) * (1 - second)
    if by_chance == 1:
        return None
    return ((both + neither) / count - by_chance) / (1 - by_chance)


def agreement_of(first: str, second: str, texts: Sequence[TextAgreement]) -> Agreement:
    """Sum up the texts; intervals resample whole texts."""
    rows = [(text.counts.tp, text.counts.fp, text.counts.fn) for text in texts]
    (f1,) = intervals_of(np.array(rows, dtype=np.int64), (Scoring("f1", 1.0),))
    counts = total(text.counts for text in texts)
    kappa = None
    neither = [text.neither for text in texts if text.neither is not None]
    if len(neither) == len(texts):
        kappa = cohens_kappa(
            both=counts.tp, first_only=counts.fp, second_only=counts.fn, neither=sum(neither)
        )
    return Agreement(first, second, tuple(texts), f1, kappa, _kinds(texts))


def agreement_between(
    first: str, second: str, texts: Sequence[TextAgreement], unit: str
) -> Agreement:
    """Sum up the texts of two folders, or of a folder and a system."""
    if not texts:
        raise TruemarkError(f"{first} and {second} have no {unit} in common")
    one, other = Path(first).name or first, Path(second).name or second
    is_clear = one != other and Path(second).exists()
    return agreement_of(one if is_clear else first, other if is_clear else second, texts)


def _kinds(texts: Sequence[TextAgreement]) -> tuple[tuple[str, int, int, int], ...]:
    counted = Counter(pair for text in texts for pair in text.kinds)
    names = dict.fromkeys(kind for kind, _ in counted)
    rows = [
        (kind, counted[kind, "both"], counted[kind, "first"], counted[kind, "second"])
        for kind in names
    ]
    return tuple(sorted(rows, key=lambda row: (-row[2] - row[3], row[0])))


@dataclass(frozen=True, slots=True)
class KnownAgreement:
    """How far the annotators of a truth agree, as stored; ends are None for too few texts."""

    texts: int
    f1: float
    low: float | None
    high: float | None
    kappa: float | None


def keep_agreement(folder: Path, texts: Sequence[TextAgreement]) -> None:
    """Store how far two annotators of a folder agree, for the pages of later runs."""
    if not texts:
        return
    agreement = agreement_of("", "", texts)
    f1 = agreement.f1
    low, high = (f1.low, f1.high) if f1.known else (None, None)
    known = KnownAgreement(len(texts), f1.value, low, high, agreement.kappa)
    kept = {**_kept_agreements(folder), WRITTEN: known}
    content = {name: asdict(value) for name, value in kept.items()}
    Workspace(folder).write_file(folder / FOLDER / _KEPT, to_json(content, indent=2) + "\n")


def known_agreement(folder: Path, unit: str, condition: str = WRITTEN) -> str | None:
    """Say how far the annotators of a folder's truth agree; None where it is not known."""
    known = _kept_agreements(folder).get(condition)
    if known is None:
        return None
    ends = "" if known.low is None else f" (95% interval {known.low:.3f} to {known.high:.3f})"
    kappa = "" if known.kappa is None else f", kappa {known.kappa:.3f}"
    texts = counted(known.texts, unit)
    return (
        f"the annotators of {texts} agree with F1 {known.f1:.3f}{ends}{kappa}: "
        "a system cannot be expected to do better"
    )


def _kept_agreements(folder: Path) -> dict[str, KnownAgreement]:
    path = folder / FOLDER / _KEPT
    if not path.is_file():
        return {}
    return read_json(dict[str, KnownAgreement], read_bytes(path), str(path))


def agreement_sections(agreement: Agreement, unit: str) -> list[Section]:
    """Show all texts together, each kind, and each text; `unit` is the noun for a text."""
    counts, f1 = agreement.counts, agreement.f1
    kappa = "not known" if agreement.kappa is None else f"{agreement.kappa:.3f}"
    one, other = f"only {agreement.first}", f"only {agreement.second}"
    if one == other:
        one, other = "only the first", "only the second"
    texts = counted(len(agreement.texts), unit)
    ends = range_text(f1)
    interval = "too few for an interval" if ends is None else f"95% interval {ends}"
    sentence = (
        f"{agreement.first} and {agreement.second} agree with F1 {f1.value:.3f} on {texts}"
        f" ({interval}), kappa {kappa}: {counts.tp} in both, {counts.fp} {one}, {counts.fn} {other}"
    )
    facts = {**facts_of(agreement), "counts": facts_of(counts)}
    scoring = Scoring("f1", 1.0)
    rows = [
        (text.name, scoring(text.counts), text.counts.tp, text.counts.fp, text.counts.fn)
        for text in agreement.texts
    ]
    return [
        Section(sentences=[sentence], facts=facts),
        Section(tables=[Table(("kind", "both", one, other), agreement.kinds)]),
        Section(
            tables=[
                Table(
                    (unit, "f1", "both", one, other), tuple(rows), (None, ".3f", None, None, None)
                )
            ]
        ),
    ]
