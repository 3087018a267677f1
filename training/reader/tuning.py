"""Choose thresholds on conversations kept out of training, and report the scores there.

python -m training.reader.tuning CONVERSATIONS MODEL PIECES [--write]
python -m training.reader.tuning CONVERSATIONS MODEL PIECES --files p q    # whole files, as shipped
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, product
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
    read_each,
)
from cal_ai.extractors.reader.limits import read_relevant
from cal_ai.extractors.reader.network import Network
from training.reader.conversations import Conversation, is_dev, read_conversations
from truemark.counts import total

_CREATE = (0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.88, 0.9, 0.93)
_CHANGE = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
_LEFT_ALONE = 0.92  # share of the conversations without events, to get 0.9 on others
_NOISE = 0.003  # among F1 this close to the best, precision decides
HIGH_IS_RIGHT, MEDIUM_IS_RIGHT = 0.9, 0.6  # also of those that only just have this confidence
ACTIONS: tuple[Action, ...] = ("create", "update", "delete")


@dataclass(frozen=True, slots=True)
class Read:
    """A conversation with the events that may be in it; `judged` caches scores."""

    sample: Sample
    found: tuple[Found, ...]
    judged: dict[tuple[int, ...], Scored] = field(default_factory=dict)

    def findings(self, thresholds: Thresholds) -> list[Found]:
        """Return the events at these thresholds."""
        return likely(self.found, thresholds)

    def scored(self, findings: Sequence[Found]) -> Scored:
        """Score the findings, once for the same findings."""
        key = tuple(map(id, findings))
        if key not in self.judged:
            events = tuple(finding.event for finding in findings)
            result = score(self.sample, events, Spent(0.0, 1, None))
            assert isinstance(result, Scored), "every conversation has its truth"
            self.judged[key] = result
        return self.judged[key]


class Judgement(NamedTuple):
    """An event that was found: its probability, its confidence, and whether it is right."""

    probability: float
    action: Action
    word: Confidence
    is_right: bool


def as_sample(conversation: Conversation) -> Sample:
    """Turn a conversation into a sample of the benchmark."""
    expected = tuple(
        ExpectedEvent(
            event.action,
            event.title,
            event.start if event.action != "delete" else None,
            event.end,
            existing_event_id_required=False if event.target is None else event.target + 1,
        )
        for event in conversation.events
    )
    request = conversation.request
    sidecar = Sidecar(expected, "moderate", request.owner, request.now, request.context)
    return Sample("training", conversation.id, request.transcript, sidecar, "")


def read_all(network: Network, samples: Iterable[Sample]) -> Iterator[Read]:
    """Read each sample once."""
    for sample in samples:
        readings = read_each(network, read_relevant(sample.request))
        yield Read(sample, tuple(decide(*readings)))


def scored(reads: Sequence[Read], thresholds: Thresholds) -> list[Scored]:
    """Score each sample at these thresholds."""
    return [read.scored(read.findings(thresholds)) for read in reads]


def best_thresholds(reads: Sequence[Read]) -> Thresholds:
    """Choose the thresholds of events, then those of confidence.

    Of the thresholds that find nothing in enough conversations without events, take those with the
    best F1, and of these the most precise.
    """
    tried = [Thresholds(*map(Levels, levels)) for levels in product(_CREATE, _CHANGE, _CHANGE)]
    results = {thresholds: scored(reads, thresholds) for thresholds in tried}
    calm = [thresholds for thresholds in tried if left_alone(results[thresholds]) >= _LEFT_ALONE]
    reached = {
        thresholds: event_scores(total(result.counts for result in results[thresholds]))
        for thresholds in calm or tried
    }
    best = max(scores.f1 for scores in reached.values())
    good = [thresholds for thresholds in reached if reached[thresholds].f1 >= best - _NOISE]
    chosen = max(good, key=lambda thresholds: reached[thresholds].precision)
    judged = list(judgements(reads, chosen))
    return Thresholds(*(_with_words(action, chosen, judged) for action in ACTIONS))


def _with_words(action: Action, thresholds: Thresholds, judged: Sequence[Judgement]) -> Levels:
    same_action = [judgement for judgement in judged if judgement.action == action]
    high = level(same_action, HIGH_IS_RIGHT)
    levels: Levels = getattr(thresholds, action)
    return replace(levels, medium=min(high, level(same_action, MEDIUM_IS_RIGHT)), high=high)


def left_alone(results: Sequence[Scored]) -> float:
    """Return the share of conversations without events in which none is found."""
    empty = [result for result in results if not result.sidecar.expected_events]
    return sum(not result.extracted for result in empty) / max(1, len(empty))


def judgements(reads: Sequence[Read], thresholds: Thresholds) -> Iterator[Judgement]:
    """Yield each finding with whether it is right."""
    for read in reads:
        findings = read.findings(thresholds)
        result = read.scored(findings)
        right = {pair.extracted for pair in result.pairs if pair.is_match}
        for place, found in enumerate(findings):
            word = confidence(found, thresholds)
            yield Judgement(found.probability, found.event.action, word, place in right)


def level(judged: Iterable[Judgement], share: float) -> float:
    """Return the lowest probability at which at least this share of events is right.

    That holds for the events with about this probability, not only in the mean with likelier ones:
    the shares are those of an isotonic regression.
    """
    blocks: list[tuple[float, int, int]] = []  # lowest probability, right events, events
    for lowest, alike in groupby(sorted(judged), key=lambda judgement: judgement.probability):
        verdicts = [judgement.is_right for judgement in alike]
        right, count = sum(verdicts), len(verdicts)
        while blocks and blocks[-1][1] * count >= right * blocks[-1][2]:
            lowest, more_right, more = blocks.pop()
            right, count = right + more_right, count + more
        blocks.append((lowest, right, count))
    return next((round(p, 3) for p, right, count in blocks if right >= share * count), 1.0)


def report(name: str, reads: Sequence[Read], thresholds: Thresholds) -> None:
    """Print scores, also by action, and how often each confidence is right."""
    results = scored(reads, thresholds)
    counts = total(result.counts for result in results)
    overall = event_scores(counts)
    print(
        f"{name}: F1 {overall.f1:.3f} P {overall.precision:.3f} R {overall.recall:.3f}"
        f" (tp {counts.tp} fp {counts.fp} fn {counts.fn}) of {len(reads)}"
    )
    print(f"  without events: {left_alone(results):.3f} left alone")
    kinds: Counter[tuple[str, str]] = Counter()
    for result in results:
        matched = {pair.expected for pair in result.pairs if pair.is_match}
        right = {pair.extracted for pair in result.pairs if pair.is_match}
        kinds.update(
            (e.action, "tp" if n in matched else "fn")
            for n, e in enumerate(result.sidecar.expected_events)
        )
        kinds.update((e.action, "fp") for n, e in enumerate(result.extracted) if n not in right)
    for action in ACTIONS:
        tp, fp, fn = (kinds[action, kind] for kind in ("tp", "fp", "fn"))
        print(f"  {action}: F1 {2 * tp / max(1, 2 * tp + fp + fn):.3f} (tp {tp} fp {fp} fn {fn})")
    judged = list(judgements(reads, thresholds))
    for word in ("high", "medium", "low"):
        right_ones = [judgement.is_right for judgement in judged if judgement.word == word]
        print(f"  {word}: {sum(right_ones)} of {len(right_ones)} right")


def main() -> None:
    """Choose and print the thresholds, and with `--write` store them."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("conversations", "model", "pieces"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--files", nargs="+", default=(), metavar="NAME", help="report on these")
    options = parser.parse_args()
    network = Network(options.model, options.pieces)
    for name in options.files:
        whole = read_conversations([options.conversations / f"{name}.jsonl"])
        report(name, list(read_all(network, map(as_sample, whole))), stored.THRESHOLDS)
    if options.files:
        return
    dev = [
        conversation
        for conversation in read_conversations(options.conversations.glob("*.jsonl"))
        if is_dev(conversation)
    ]
    reads = list(read_all(network, map(as_sample, dev)))
    chosen = best_thresholds(reads)
    print(chosen)
    report("kept out of training", reads, chosen)
    if options.write:
        path = Path(stored.__file__)
        before, _, _ = path.read_text("utf-8").partition("THRESHOLDS = ")
        path.write_text(f"{before}THRESHOLDS = {chosen!r}\n", "utf-8")


if __name__ == "__main__":
    main()
