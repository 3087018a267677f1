"""Thresholds chosen on conversations that were kept out of training, and how good they are there.

python -m training.reader.tuning CONVERSATIONS MODEL PIECES [--write]
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from cal_ai.benchmark.samples import Sample
from cal_ai.benchmark.scoring import Scored, Spent, event_scores, overall_counts, score
from cal_ai.benchmark.sidecar import ExpectedEvent, Sidecar
from cal_ai.extractors.reader import thresholds as stored
from cal_ai.extractors.reader.candidates import Candidates, find_candidates
from cal_ai.extractors.reader.decide import Found, Thresholds, decide
from cal_ai.extractors.reader.marks import IntArray
from cal_ai.extractors.reader.mentions import Dialogue, read_dialogue
from cal_ai.extractors.reader.network import Logits, Network
from training.reader.conversations import Conversation, is_dev, read_conversations

_CREATE = (0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.93, 0.95)
_CHANGE = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
_NOISE = 0.01  # F1 that close to the best is as good; precision decides
HIGH_IS_RIGHT = 0.85
MEDIUM_IS_RIGHT = 0.7


@dataclass(frozen=True, slots=True)
class Read:
    """A conversation with what the network says of it."""

    sample: Sample
    talk: Dialogue
    candidates: Candidates
    scores: Logits
    tokens: IntArray

    def findings(self, thresholds: Thresholds) -> list[Found]:
        """The events at these thresholds."""
        return decide(self.talk, self.candidates, self.scores, self.tokens, thresholds)


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
        talk = read_dialogue(sample.request)
        candidates = find_candidates(talk)
        encoded = network.marker.encode(talk, candidates)
        yield Read(sample, talk, candidates, network.scores(encoded.arrays), encoded.tokens)


def scored(reads: Sequence[Read], thresholds: Thresholds) -> list[Scored]:
    """Each sample scored at these thresholds."""
    return [_judged(it, it.findings(thresholds)) for it in reads]


def _judged(read: Read, findings: Sequence[Found]) -> Scored:
    result = score(read.sample, tuple(it.event for it in findings), Spent(0.0, 1, None))
    assert isinstance(result, Scored), "every conversation has its truth"
    return result


def best_thresholds(reads: Sequence[Read]) -> Thresholds:
    """The most precise thresholds of those near the best F1, and from where on events are right."""
    tried = [Thresholds(create, change, change) for create, change in product(_CREATE, _CHANGE)]
    reached = {it: event_scores(overall_counts(scored(reads, it))) for it in tried}
    best = max(it.f1 for it in reached.values())
    good = [it for it in tried if reached[it].f1 >= best - _NOISE]
    found = max(good, key=lambda it: reached[it].precision)
    judged = sorted(judgements(reads, found), reverse=True)
    high = level(judged, HIGH_IS_RIGHT)
    return replace(found, medium=min(high, level(judged, MEDIUM_IS_RIGHT)), high=high)


def judgements(reads: Sequence[Read], thresholds: Thresholds) -> Iterator[tuple[float, bool]]:
    """The probability of each event that was found, and whether it is right."""
    for it in reads:
        findings = it.findings(thresholds)
        result = _judged(it, findings)
        right = {pair.extracted for pair in result.pairs if pair.is_match}
        for place, found in enumerate(findings):
            yield found.probability, place in right


def level(judged: Sequence[tuple[float, bool]], wanted: float) -> float:
    """The lowest probability above which at least the wanted share is right."""
    right, lowest = 0, 1.0
    for count, (probability, is_right) in enumerate(judged, 1):
        right += is_right
        if right / count >= wanted:
            lowest = probability
    return round(lowest, 3)


def report(name: str, reads: Sequence[Read], thresholds: Thresholds) -> None:
    """Prints scores, by action too, and how often each confidence is right."""
    results = scored(reads, thresholds)
    counts = overall_counts(results)
    found = event_scores(counts)
    print(
        f"{name}: F1 {found.f1:.3f} P {found.precision:.3f} R {found.recall:.3f}"
        f" (tp {counts.tp} fp {counts.fp} fn {counts.fn}) of {len(reads)}"
    )
    empty = [it for it in results if not it.sidecar.expected_events]
    quiet = sum(not it.extracted for it in empty)
    print(f"  without events: {quiet} of {len(empty)} left alone")
    kinds: Counter[tuple[str, str]] = Counter()
    for it in results:
        matched = {pair.expected for pair in it.pairs if pair.is_match}
        right = {pair.extracted for pair in it.pairs if pair.is_match}
        kinds.update(
            (e.action, "tp" if n in matched else "fn")
            for n, e in enumerate(it.sidecar.expected_events)
        )
        kinds.update((e.action, "fp") for n, e in enumerate(it.extracted) if n not in right)
    for action in ("create", "update", "delete"):
        tp, fp, fn = (kinds[action, kind] for kind in ("tp", "fp", "fn"))
        print(f"  {action}: F1 {2 * tp / max(1, 2 * tp + fp + fn):.3f} (tp {tp} fp {fp} fn {fn})")
    judged = list(judgements(reads, thresholds))
    for word, low, high in (
        ("high", thresholds.high, 2.0),
        ("medium", thresholds.medium, thresholds.high),
        ("low", 0.0, thresholds.medium),
    ):
        own = [is_right for probability, is_right in judged if low <= probability < high]
        print(f"  {word}: {sum(own)} of {len(own)} right")


def main() -> None:
    """Chooses, prints and, if asked, writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("conversations", "model", "pieces"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    network = Network(asked.model, asked.pieces)
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
