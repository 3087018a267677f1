"""Name the stage at which the reader loses each event of the conversations kept out of training.

python -m training.reader.mistakes CONVERSATIONS [MODEL PIECES] [--show STAGE]

Prints for each stage how many expected events are lost there first, how many wrong events were
found in their place, and what F1 would be if this stage alone were perfect; then how many events
were found of those in conversations with one, two and more. With `--show`, it prints the events
that a stage loses instead, with the lines that settle them.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from cal_ai.benchmark.pairing import TOLERANCES, compare_events, time_within, title_similarity
from cal_ai.benchmark.scoring import Scored, event_scores
from cal_ai.benchmark.sidecar import ExpectedEvent
from cal_ai.events import Event
from cal_ai.extractors.reader.candidates import NONE
from cal_ai.extractors.reader.decide import DAY_KINDS, WHEN_KINDS, Reading, decide, read_each
from cal_ai.extractors.reader.limits import read_relevant
from cal_ai.extractors.reader.network import MODEL, PIECES, Network
from cal_ai.extractors.reader.spans import Slot, changed_span, new_span
from cal_ai.extractors.reader.thresholds import THRESHOLDS
from training.reader.conversations import Conversation, TrueEvent, is_dev, read_conversations
from training.reader.tuning import Read, as_sample
from truemark.counts import Counts, total
from truemark.tables import Table, render

_TOLERANCE = TOLERANCES["moderate"]
_LONGEST_TITLE = 8  # words
_SPURIOUS = "found, though nothing was agreed"


@dataclass(frozen=True, slots=True)
class Lost:
    """An expected event that was not found, or one found that nobody expected, and its stage."""

    stage: str
    conversation: Conversation
    expected: TrueEvent | None
    found: Event | None


def losses(conversation: Conversation, readings: Sequence[Reading]) -> tuple[Scored, list[Lost]]:
    """Score a conversation at the shipped thresholds and name the stage of each loss."""
    read = Read(as_sample(conversation), tuple(decide(*readings)))
    result = read.scored(read.findings(THRESHOLDS))
    instead = {pair.expected: result.extracted[pair.extracted] for pair in result.near_misses}
    matched = {pair.expected for pair in result.pairs if pair.is_match}
    lost = [
        Lost(_stage(event, expected, readings, read, result), conversation, event, instead.get(n))
        for n, (event, expected) in enumerate(
            zip(conversation.events, result.sidecar.expected_events, strict=True)
        )
        if n not in matched
    ]
    return result, lost + [Lost(_SPURIOUS, conversation, None, event) for event in result.spurious]


def _stage(
    event: TrueEvent,
    expected: ExpectedEvent,
    readings: Sequence[Reading],
    read: Read,
    result: Scored,
) -> str:
    """Return the first stage after which the expected event can no longer be found."""
    found = [finding.event for finding in read.found]
    if any(compare_events(each, expected, result.sidecar).within(_TOLERANCE) for each in found):
        return f"{event.action}: too improbable"
    if event.action == "create":
        return f"create: {_lost_creation(event, readings[0], found)}"
    return f"{event.action}: {_lost_change(event, readings, found, result)}"


def _lost_creation(event: TrueEvent, reading: Reading, found: Sequence[Event]) -> str:
    talk, candidates = reading.talk, reading.candidates
    assert event.start is not None

    def slots(when: int, day: int) -> Iterator[Slot]:
        for late in (False, True):
            spoken = candidates.spoken(talk, when), candidates.spoken(talk, day)
            slot = new_span(talk, *spoken, event.title, late=late)
            if slot is not None:
                yield slot

    right = [
        place
        for place, pair in enumerate(candidates.pairs)
        if any(_is_near(slot.start - event.start) for slot in slots(pair.when, pair.day))
    ]
    if not right:
        days = {node.value for node in candidates.nodes if node.kind == "day"}
        hours = {
            (slot.start.hour, slot.start.minute)
            for number, node in enumerate(candidates.nodes)
            if node.kind in ("clock", "part")
            for slot in slots(number, NONE)
        }
        if event.start.date() not in days:
            return "no mention of the day"
        named = (event.start.hour, event.start.minute) in hours
        return "time and day too far apart" if named else "no mention of the time"
    looked = {proposal.place for proposal in reading.proposals if proposal.is_pair}
    if looked.isdisjoint(right):
        return "time on day not proposed"
    near = [each for each in found if each.start_time and _is_near(each.start_time - event.start)]
    creations = [each for each in near if each.action == "create"]
    if any(_same_title(each.title, event.title) for each in creations):
        return "end"
    if creations:
        said = max(_said_titles(reading, event.title), default=0.0)
        enough = said >= (_TOLERANCE.title_similarity or 0)
        return "another title ranks higher" if enough else "title is not said"
    if near:
        return "taken for a change"
    half_day = timedelta(hours=12)
    if any(
        each.start_time and _is_near(abs(each.start_time - event.start) - half_day)
        for each in found
    ):
        return "before or after noon"
    return "dropped for another time, or as planned already"


def _said_titles(reading: Reading, title: str) -> Iterator[float]:
    """Yield how similar each span of words is to the title."""
    for line in reading.talk.lines:
        spoken = line.split()
        for first in range(len(spoken)):
            for last in range(first + 1, min(len(spoken), first + _LONGEST_TITLE) + 1):
                yield title_similarity(" ".join(spoken[first:last]).strip(" ,.;:?!-\"'()"), title)


def _lost_change(
    event: TrueEvent, readings: Sequence[Reading], found: Sequence[Event], result: Scored
) -> str:
    if event.target is None:
        return "its calendar event is not known"
    target = result.sidecar.calendar_context[event.target]
    shown = [
        (reading, place)
        for reading in readings
        for place, planned in enumerate(reading.talk.request.context)
        if planned.id == target.id
    ]
    if not shown:
        return "its calendar event is not read"
    reading, place = shown[0]
    if all((proposal.is_pair, proposal.place) != (False, place) for proposal in reading.proposals):
        return "not proposed"
    own = [each for each in found if each.existing_event_id == target.id]
    if any(each.action != event.action for each in own):
        return "taken for another kind of change"
    reached = [
        slot
        for slot in _reachable(reading, place)
        if event.start is None or _is_near(slot.start - event.start)
    ]
    if not reached:
        return "no mention gives the new time"
    if event.end and not any(_is_near(slot.end - event.end) for slot in reached):
        return "no mention gives the new end"
    if event.start and not any(
        each.start_time and _is_near(each.start_time - event.start) for each in own
    ):
        return "another new time ranks higher"
    return "end"


def _reachable(reading: Reading, place: int) -> Iterator[Slot]:
    """Yield where an event of the calendar could be moved."""
    talk, candidates = reading.talk, reading.candidates
    numbered = list(enumerate(candidates.nodes))
    for when in (NONE, *(number for number, node in numbered if node.kind in WHEN_KINDS)):
        for day in (NONE, *(number for number, node in numbered if node.kind in DAY_KINDS)):
            spoken = candidates.spoken(talk, when), candidates.spoken(talk, day)
            yield changed_span(talk, talk.request.context[place], *spoken)


def _is_near(apart: timedelta) -> bool:
    return time_within(apart, _TOLERANCE)


def _same_title(title: str, other: str) -> bool:
    return title_similarity(title, other) >= (_TOLERANCE.title_similarity or 0)


def report(results: Sequence[Scored], lost: Sequence[Lost]) -> str:
    """Return the table of stages, most frequent first, and that of events by their number."""
    counts = total(result.counts for result in results)
    stages: dict[str, list[Lost]] = defaultdict(list)
    for loss in lost:
        stages[loss.stage].append(loss)
    rows = []
    for stage, lost_here in sorted(stages.items(), key=lambda item: -len(item[1])):
        missed = sum(loss.expected is not None for loss in lost_here)
        wrong = sum(loss.found is not None for loss in lost_here)
        perfect = Counts(counts.tp + missed, counts.fp - wrong, counts.fn - missed)
        rows.append((stage, missed, wrong, event_scores(perfect).f1))
    columns = ("stage", "missed", "wrong instead", "F1 if perfect")
    by_stage = Table(columns, tuple(rows), (None, None, None, ".3f"))
    expected: dict[int, list[int]] = defaultdict(list)
    for result in results:
        expected[len(result.sidecar.expected_events)].append(result.counts.tp)
    by_number = tuple(
        (number, number * len(found), sum(found))
        for number, found in sorted(expected.items())
        if number
    )
    events = Table(("events in a conversation", "expected", "found"), by_number)
    overall = event_scores(counts)
    head = f"F1 {overall.f1:.3f}, precision {overall.precision:.3f}, recall {overall.recall:.3f}"
    return f"{head}\n\n{render(by_stage, 'markdown')}\n{render(events, 'markdown')}"


def shown(loss: Lost) -> str:
    """Return an event that was lost, what was found instead, and the lines that settle it."""
    request, settling = loss.conversation.request, loss.expected.lines if loss.expected else None
    lines = [f"{loss.conversation.id}, {loss.stage}; {request.owner}, {request.now:%A %d %B %H:%M}"]
    lines += [f"  calendar: {event.id} {event.summary}, {event.start}" for event in request.context]
    lines += [f"  expected: {loss.expected}", f"  found: {loss.found}"]
    for number, (speaker, words, _) in enumerate(request.transcript.utterances):
        if settling is None or number in settling:
            lines.append(f"  {number + 1} {speaker}: {words}")
    return "\n".join(lines)


def main() -> None:
    """Read the conversations kept out of training, and print where their events are lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("conversations", type=Path)
    parser.add_argument("model", type=Path, nargs="?", default=MODEL)
    parser.add_argument("pieces", type=Path, nargs="?", default=PIECES)
    parser.add_argument("--show", metavar="STAGE", help="part of a stage's name")
    options = parser.parse_args()
    network = Network(options.model, options.pieces)
    results: list[Scored] = []
    lost: list[Lost] = []
    for conversation in read_conversations(options.conversations.glob("*.jsonl")):
        if is_dev(conversation):
            readings = read_each(network, read_relevant(conversation.request))
            result, lost_here = losses(conversation, readings)
            results.append(result)
            lost += lost_here
    if options.show is None:
        print(report(results, lost), end="")
    else:
        print("\n\n".join(shown(loss) for loss in lost if options.show in loss.stage))


if __name__ == "__main__":
    main()
