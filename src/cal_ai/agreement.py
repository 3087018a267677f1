"""Measure how far two readings of conversations agree: annotators, sidecars, or an extractor."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from cal_ai.benchmark.mistakes import mistakes_of
from cal_ai.benchmark.pairing import meant_event, pair_events
from cal_ai.benchmark.samples import SIDECAR_SUFFIX, Sample
from cal_ai.benchmark.scoring import Scored, Spent, score
from cal_ai.benchmark.sidecar import ExpectedEvent, Sidecar, parse_sidecar
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


def tell_agreement(first: str, second: str, form: Form) -> int:
    """Print how far two readings agree."""
    tell(show(agreement_sections(agreement(first, second), "conversation"), form))
    return DONE


def agreement(first: str, second: str) -> Agreement:
    """Compare two folders of sidecars or annotations; the second may name an extractor."""
    folder = Path(first)
    sidecars = read_folder(folder)
    if Path(second).exists():
        texts = _compare_sidecars(sidecars, read_folder(Path(second)), _texts_folder(folder))
    else:
        texts = _compare_with_extractor(sidecars, second, folder)
    return agreement_between(first, second, texts, "conversation")


def keep_annotators_agreement(folder: Path, first: str, second: str) -> None:
    """Store how far two annotators of a folder agree on the conversations that both have done."""
    sidecars, others = (
        _annotated(place, read_annotations(place, done_only=True))
        for place in (folder / FOLDER / first, folder / FOLDER / second)
    )
    keep_agreement(folder, _compare_sidecars(sidecars, others, folder))


def read_folder(folder: Path) -> dict[str, Sidecar]:
    """Read the annotations, or the sidecars, below a folder, by conversation."""
    sidecars = _annotated(folder, read_annotations(folder))
    for file in sorted(folder.rglob(f"*{SIDECAR_SUFFIX}")):
        below = file.relative_to(folder)
        if FOLDER not in below.parts:
            name = below.as_posix().removesuffix(SIDECAR_SUFFIX)
            sidecars[name] = parse_sidecar(read_text(file), file)
    if not sidecars:
        raise TruemarkError(f"{folder}: it has neither sidecars nor annotations")
    return sidecars


def _annotated(folder: Path, annotations: Mapping[str, Annotation]) -> dict[str, Sidecar]:
    return {
        name: parse_sidecar(sidecar_text(name, annotation.content), folder / f"{name}.json")
        for name, annotation in annotations.items()
    }


def _texts_folder(folder: Path) -> Path:
    """Return the folder of the conversations that the annotations belong to."""
    parts = folder.parts
    return Path(*parts[: parts.index(FOLDER)]) if FOLDER in parts else folder


def _compare_with_extractor(
    sidecars: Mapping[str, Sidecar], name: str, folder: Path
) -> list[TextAgreement]:
    """Let an extractor read the conversations, each under the circumstances of its sidecar."""
    try:
        check_extractor(name)
    except TruemarkError as error:
        reason = str(error).removeprefix("--extractor ")
        raise TruemarkError(f"{name}: no such folder, and as an extractor {reason}") from error
    settings = load_settings(os.environ)
    task = ExtractorTask(
        _texts_folder(folder), tuple(sidecars), lambda: choose_extractor(name, settings)
    )
    swapped = {"first": "second", "second": "first", "both": "both"}
    texts = []
    for conversation, sidecar in sidecars.items():
        [given] = task.draft(conversation).values()
        counts, kinds = _compare(events_of(given["events"], name), sidecar)
        # The extractor is the second reading, although its events count as predicted.
        counts = Counts(counts.tp, counts.fn, counts.fp)
        swapped_kinds = tuple((kind, swapped[who]) for kind, who in kinds)
        texts.append(TextAgreement(conversation, counts, None, swapped_kinds))
    return texts


def _compare_sidecars(
    sidecars: Mapping[str, Sidecar], others: Mapping[str, Sidecar], root: Path
) -> list[TextAgreement]:
    """Compare the sidecars of the conversations that both readings have."""
    texts = []
    for name, sidecar in sidecars.items():
        if (other := others.get(name)) is not None:
            events = [
                extracted_event(event, _number_of(event, sidecar))
                for event in sidecar.expected_events
            ]
            counts, kinds = _compare(events, other)
            neither = _neither(name, sidecar, other, root)
            texts.append(TextAgreement(name, counts, neither, kinds))
    return texts


def _number_of(event: ExpectedEvent, sidecar: Sidecar) -> int | None:
    """Return the number of the planned event that an event is about, named or described."""
    meant = meant_event(event, sidecar)
    number = meant.id if meant else event.existing_event_id_required
    return None if isinstance(number, bool) else number


def _compare(
    events: Sequence[Event], expected: Sidecar
) -> tuple[Counts, tuple[tuple[str, str], ...]]:
    """Pair the events of a first reading with a second; return counts, and kinds of differences."""
    scored = score(Sample("", "", Transcript(()), expected, ""), events, _NO_TIME)
    assert isinstance(scored, Scored)
    kinds = [("same event", "both")] * scored.counts.tp
    for mistake in mistakes_of(scored):
        if mistake.extracted is not None:
            kind = "missing event" if mistake.expected is None else mistake.kind
            kinds.append((kind, "first"))
        if mistake.expected is not None:
            kind = "missing event" if mistake.extracted is None else mistake.kind
            kinds.append((kind, "second"))
    return scored.counts, tuple(kinds)


def _neither(name: str, sidecar: Sidecar, other: Sidecar, root: Path) -> int | None:
    """Count the events of the draft that neither reading has; None where there is no draft."""
    draft = Workspace(root).read_draft(name)
    if draft is None:
        return None
    drafted = [event for given in draft.systems.values() for event in given["events"]]
    proposed = events_of(drafted, name)
    pairs = [*pair_events(proposed, sidecar), *pair_events(proposed, other)]
    return len(proposed) - len({pair.extracted for pair in pairs if pair.is_match})
