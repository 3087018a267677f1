"""Thresholds chosen on conversations that were kept out of training, and how good they are there.

python -m training.reader.tuning CONVERSATIONS MODEL PIECES [--write]
python -m training.reader.tuning CONVERSATIONS MODEL PIECES --files p q    # whole files, as shipped
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

from cal_ai.benchmark.samples import Sample
from cal_ai.benchmark.scoring import Scored, Spent, event_scores, score
from cal_ai.benchmark.sidecar import ExpectedEvent, Sidecar
from cal_ai.events import Action, Confidence
from cal_ai.extractors.reader import thresholds as stored
from cal_ai.extractors.reader.decide import (
    Found,
    Levels,
    Thresholds,
    confidence,
    decide,
    likely,
    read_twice,
)
from cal_ai.extractors.reader.limits import read_relevant
from cal_ai.extractors.reader.network import Network
from training.reader.conversations import Conversation, is_dev, read_conversations
from truemark.counts import total

_CREATE = (0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.88, 0.9, 0.93)
_CHANGE = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
_LEFT_ALONE = 0.92  # of the conversations without events, for 0.9 elsewhere
_NOISE = 0.003  # F1 that close to the best is as good; precision decides
HIGH_IS_RIGHT = 0.92  # a little more than what is promised, since it is chosen where it is measured
MEDIUM_IS_RIGHT = 0.72
_SOME = 10  # events that say something of a share
ACTIONS: tuple[Action, ...] = ("create", "update", "delete")


@dataclass(frozen=True, slots=True)
class Read:
    """A conversation with what may have been agreed in it; `judged` keeps what was scored."""

    sample: Sample
    found: tuple[Found, ...]
    judged: dict[tuple[int, ...], Scored] = field(default_factory=dict)

    def findings(self, thresholds: Thresholds) -> list[Found]:
        """The events at these thresholds."""
        return likely(self.found, thresholds)

    def scored(self, findings: Sequence[Found]) -> Scored:
        """What they are worth, worked out once for the same ones."""
        key = tuple(map(id, findings))
        if key not in self.judged:
            events = tuple(it.event for it in findings)
            result = score(self.sample, events, Spent(0.0, 1, None))
            assert isinstance(result, Scored), "every conversation has its truth"
            self.judged[key] = result
        return self.judged[key]


class Judgement(NamedTuple):
    """An event that was found: how likely, how sure in a word, and whether it is right."""

    probability: float
    action: Action
    word: Confidence
    is_right: bool


def as_sample(one: Conversation) -> Sample:
    """A conversation in the form in which samples are scored."""
    expected = tuple(
        ExpectedEvent(
            it.action,
            it.title,
            it.start if it.action != "delete" else None,
            it.end,
            existing_event_id_required=False if it.target is None else it.target + 1,
        )
        for it in one.events
    )
    request = one.request
    sidecar = Sidecar(expected, "moderate", request.owner, request.now, request.context)
    return Sample("training", one.id, request.transcript, sidecar, "")


def read_all(network: Network, samples: Iterable[Sample]) -> Iterator[Read]:
    """Each sample, read once."""
    for sample in samples:
        readings = (read_twice(network, talk) for talk in read_relevant(sample.request))
        yield Read(sample, tuple(decide(*readings)))


def scored(reads: Sequence[Read], thresholds: Thresholds) -> list[Scored]:
    """Each sample scored at these thresholds."""
    return [it.scored(it.findings(thresholds)) for it in reads]


def best_thresholds(reads: Sequence[Read]) -> Thresholds:
    """The most precise of the best thresholds that leave quiet talk alone, and of confidence."""
    tried = [Thresholds(*map(Levels, each)) for each in product(_CREATE, _CHANGE, _CHANGE)]
    results = {it: scored(reads, it) for it in tried}
    calm = [it for it in tried if left_alone(results[it]) >= _LEFT_ALONE]
    reached = {it: event_scores(total(one.counts for one in results[it])) for it in calm or tried}
    best = max(it.f1 for it in reached.values())
    good = [it for it in reached if reached[it].f1 >= best - _NOISE]
    found = max(good, key=lambda it: reached[it].precision)
    judged = sorted(judgements(reads, found), reverse=True)
    return Thresholds(*(_with_words(action, found, judged) for action in ACTIONS))


def _with_words(action: Action, found: Thresholds, judged: Sequence[Judgement]) -> Levels:
    own = [it for it in judged if it.action == action]
    high = level(own, HIGH_IS_RIGHT)
    levels: Levels = getattr(found, action)
    return replace(levels, medium=min(high, level(own, MEDIUM_IS_RIGHT)), high=high)


def left_alone(results: Sequence[Scored]) -> float:
    """The share of conversations without events in which none is found."""
    empty = [it for it in results if not it.sidecar.expected_events]
    return sum(not it.extracted for it in empty) / max(1, len(empty))


def judgements(reads: Sequence[Read], thresholds: Thresholds) -> Iterator[Judgement]:
    """What was found, and whether it is right."""
    for it in reads:
        findings = it.findings(thresholds)
        result = it.scored(findings)
        right = {pair.extracted for pair in result.pairs if pair.is_match}
        for place, found in enumerate(findings):
            word = confidence(found, thresholds)
            yield Judgement(found.probability, found.event.action, word, place in right)


def level(judged: Sequence[Judgement], wanted: float) -> float:
    """The lowest probability above which at least the wanted share of some events is right."""
    right, lowest = 0, 1.0
    for count, it in enumerate(judged, 1):
        right += it.is_right
        if count >= _SOME and right / count >= wanted:
            lowest = it.probability
    return round(lowest, 3)


def report(name: str, reads: Sequence[Read], thresholds: Thresholds) -> None:
    """Prints scores, by action too, and how often each confidence is right."""
    results = scored(reads, thresholds)
    counts = total(result.counts for result in results)
    found = event_scores(counts)
    print(
        f"{name}: F1 {found.f1:.3f} P {found.precision:.3f} R {found.recall:.3f}"
        f" (tp {counts.tp} fp {counts.fp} fn {counts.fn}) of {len(reads)}"
    )
    print(f"  without events: {left_alone(results):.3f} left alone")
    kinds: Counter[tuple[str, str]] = Counter()
    for it in results:
        matched = {pair.expected for pair in it.pairs if pair.is_match}
        right = {pair.extracted for pair in it.pairs if pair.is_match}
        kinds.update(
            (e.action, "tp" if n in matched else "fn")
            for n, e in enumerate(it.sidecar.expected_events)
        )
        kinds.update((e.action, "fp") for n, e in enumerate(it.extracted) if n not in right)
    for action in ACTIONS:
        tp, fp, fn = (kinds[action, kind] for kind in ("tp", "fp", "fn"))
        print(f"  {action}: F1 {2 * tp / max(1, 2 * tp + fp + fn):.3f} (tp {tp} fp {fp} fn {fn})")
    judged = list(judgements(reads, thresholds))
    for word in ("high", "medium", "low"):
        own = [it.is_right for it in judged if it.word == word]
        print(f"  {word}: {sum(own)} of {len(own)} right")


def main() -> None:
    """Chooses, prints and, if asked, writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("conversations", "model", "pieces"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--files", nargs="+", default=(), metavar="NAME", help="report on these")
    asked = parser.parse_args()
    network = Network(asked.model, asked.pieces)
    for name in asked.files:
        whole = read_conversations([asked.conversations / f"{name}.jsonl"])
        report(name, list(read_all(network, map(as_sample, whole))), stored.THRESHOLDS)
    if asked.files:
        return
    kept = [it for it in read_conversations(asked.conversations.glob("*.jsonl")) if is_dev(it)]
    reads = list(read_all(network, map(as_sample, kept)))
    chosen = best_thresholds(reads)
    print(chosen)
    report("kept out of training", reads, chosen)
    if asked.write:
        path = Path(stored.__file__)
        before, _, _ = path.read_text("utf-8").partition("THRESHOLDS = ")
        path.write_text(f"{before}THRESHOLDS = {chosen!r}\n", "utf-8")


if __name__ == "__main__":
    main()
