"""Measure how far two readings of conversations agree: annotators, sidecars, or an extractor."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cal_ai.benchmark.mistakes import mistakes_of
from cal_ai.benchmark.pairing import pair_events
from cal_ai.benchmark.samples import SIDECAR_SUFFIX, Sample
from cal_ai.benchmark.scoring import Scored, Spent, score
from cal_ai.benchmark.sidecar import Sidecar, parse_sidecar
from cal_ai.events import Event
from cal_ai.extractors.choosing import check_extractor, choose_extractor
from cal_ai.labelling import (
    ExtractorTask,
    events_of,
    extracted_event,
    sidecar_text,
)
from cal_ai.settings import load_settings
from cal_ai.transcripts.conversation import Transcript
from truemark.command import DONE, tell
from truemark.counts import Counts
from truemark.errors import TruemarkError
from truemark.files import read_text
from truemark.labelling.agreement import (
    Agreement,
    TextAgreement,
    agreement_between,
    agreement_sections,
    keep_agreement,
)
from truemark.labelling.storage import FOLDER, Annotation, Workspace, read_annotations
from truemark.sections import Form, show

_NO_TIME = Spent(0.0, 1, None)


@dataclass(frozen=True, slots=True)
class Reading:
    """What one reader sees in a conversation: a sidecar, or the events of an extractor."""

    sidecar: Sidecar
    given: tuple[Event, ...] | None = None

    @property
    def events(self) -> tuple[Event, ...]:
        """The events as if they had been extracted."""
        if self.given is not None:
            return self.given
        return tuple(
            extracted_event(event, event.existing_event_id_required)
            for event in self.sidecar.expected_events
        )


def tell_agreement(first: str, second: str, form: Form) -> int:
    """Print how far two readings agree."""
    tell(show(agreement_sections(agreement(first, second), "conversation"), form))
    return DONE


def agreement(first: str, second: str) -> Agreement:
    """Compare two folders of sidecars or annotations; the second may name an extractor."""
    folder = Path(first)
    readings = read_folder(folder)
    if Path(second).exists():
        others = read_folder(Path(second))
    else:
        others = _by_extractor(second, folder, readings)
    texts = _compare_all(readings, others, _texts_folder(folder))
    return agreement_between(first, second, texts, "conversation")


def keep_annotators_agreement(folder: Path, first: str, second: str) -> None:
    """Store how far two annotators of a folder agree on the conversations that both have done."""
    readings, others = (
        _annotated(place, read_annotations(place, done_only=True))
        for place in (folder / FOLDER / first, folder / FOLDER / second)
    )
    keep_agreement(folder, _compare_all(readings, others, folder))


def read_folder(folder: Path) -> Mapping[str, Reading]:
    """Read the annotations, or the sidecars, below a folder, by conversation."""
    readings = _annotated(folder, read_annotations(folder))
    for file in sorted(folder.rglob(f"*{SIDECAR_SUFFIX}")):
        below = file.relative_to(folder)
        if FOLDER not in below.parts:
            name = below.as_posix().removesuffix(SIDECAR_SUFFIX)
            readings[name] = Reading(parse_sidecar(read_text(file), file))
    if not readings:
        raise TruemarkError(f"{folder}: it has neither sidecars nor annotations")
    return readings


def _annotated(folder: Path, annotations: Mapping[str, Annotation]) -> dict[str, Reading]:
    return {
        name: Reading(
            parse_sidecar(sidecar_text(name, annotation.content), folder / f"{name}.json")
        )
        for name, annotation in annotations.items()
    }


def _texts_folder(folder: Path) -> Path:
    """Return the folder of the conversations that the annotations belong to."""
    parts = folder.parts
    return Path(*parts[: parts.index(FOLDER)]) if FOLDER in parts else folder


def _by_extractor(
    name: str, folder: Path, readings: Mapping[str, Reading]
) -> Mapping[str, Reading]:
    """Let an extractor read the conversations, each under the circumstances of its sidecar."""
    try:
        check_extractor(name)
    except TruemarkError as error:
        reason = str(error).removeprefix("--extractor ")
        raise TruemarkError(f"{name}: no such folder, and as an extractor {reason}") from error
    settings = load_settings(os.environ)
    task = ExtractorTask(
        _texts_folder(folder), tuple(readings), lambda: choose_extractor(name, settings)
    )
    extracted = {}
    for conversation, reading in readings.items():
        [given] = task.draft(conversation).values()
        fields = [event["fields"] for event in given["events"]]
        extracted[conversation] = replace(reading, given=events_of(fields, name))
    return extracted


def _compare_all(
    readings: Mapping[str, Reading], others: Mapping[str, Reading], root: Path
) -> list[TextAgreement]:
    return [
        _compare(name, readings[name], others[name], root) for name in readings if name in others
    ]


def _compare(name: str, reading: Reading, other: Reading, root: Path) -> TextAgreement:
    """Pair the events of two readings; events of an extractor count as predicted."""
    is_extracted = other.given is not None
    predicted, expected = (other, reading) if is_extracted else (reading, other)
    sample = Sample("", name, Transcript(()), expected.sidecar, "")
    scored = score(sample, predicted.events, _NO_TIME)
    assert isinstance(scored, Scored)
    counts, kinds = scored.counts, tuple(_kinds(scored))
    if is_extracted:  # the extractor is the second reading
        swapped = {"first": "second", "second": "first", "both": "both"}
        counts = Counts(counts.tp, counts.fn, counts.fp)
        kinds = tuple((kind, swapped[who]) for kind, who in kinds)
    return TextAgreement(name, counts, _neither(name, reading, other, root), kinds)


def _kinds(scored: Scored) -> Iterator[tuple[str, str]]:
    for _ in range(scored.counts.tp):
        yield "same event", "both"
    for mistake in mistakes_of(scored):
        if mistake.extracted is not None:
            yield ("missing event" if mistake.expected is None else mistake.kind), "first"
        if mistake.expected is not None:
            yield ("missing event" if mistake.extracted is None else mistake.kind), "second"


def _neither(name: str, reading: Reading, other: Reading, root: Path) -> int | None:
    """Count the events of the draft that neither reading has; None where there is no draft."""
    draft = Workspace(root).read_draft(name)
    if draft is None or other.given is not None:
        return None
    proposed = events_of(
        [event["fields"] for given in draft.systems.values() for event in given["events"]], name
    )
    kept = _matched(proposed, reading) | _matched(proposed, other)
    return len(proposed) - len(kept)


def _matched(proposed: Sequence[Event], reading: Reading) -> set[int]:
    pairs = pair_events(proposed, reading.sidecar)
    return {pair.extracted for pair in pairs if pair.is_match}
