"""Decide from the scores of the network what was agreed, and how likely that is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from cal_ai.events import Action, Confidence, ContextEvent, Event
from cal_ai.extractors.reader.candidates import NONE, Candidates, find_candidates
from cal_ai.extractors.reader.limits import title_words
from cal_ai.extractors.reader.marks import Encoded, Look
from cal_ai.extractors.reader.mentions import Dialogue
from cal_ai.extractors.reader.network import Logits, Network
from cal_ai.extractors.reader.spans import Slot, changed_span, new_span
from cal_ai.extractors.reader.titles import FloatArray, agree, choose_title, log_softmax

KEEP, DELETE, UPDATE = range(3)
WHEN_KINDS = ("clock", "until", "part", "length", "shift")
DAY_KINDS = ("day", "week")
_WHEN, _DAY, _SETTLES = range(3)  # rows of the words of a look
_WORTH_A_LOOK, _MOST_LOOKS = 0.06, 8
_FIRST_WEIGHT = 0.4  # of the first reading; the second look has the rest
_MOST_CERTAIN, _NEGLIGIBLE = 0.9999, -7.0  # probability, log probability
_MOST_QUOTED = 4  # lines
_LIKELY = 0.7  # to be changed, of an event that is shown with others


@dataclass(frozen=True, slots=True)
class Levels:
    """The lowest probabilities of an event, and of medium and high confidence in it."""

    found: float = 0.5
    medium: float = 0.6
    high: float = 0.8


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The levels of each action, which `training/reader/tuning.py` chooses."""

    create: Levels = Levels()
    update: Levels = Levels()
    delete: Levels = Levels()


@dataclass(frozen=True, slots=True)
class Found:
    """An event with the probability that it is right, and the lines that settle it."""

    event: Event
    probability: float
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A pair or a calendar event, by its index, that is likely enough for a second look."""

    chance: float
    place: int
    is_pair: bool
    look: Look


@dataclass(frozen=True, slots=True)
class Reading:
    """A talk with everything that decisions depend on; `scores` has a row per proposal."""

    talk: Dialogue
    candidates: Candidates
    encoded: Encoded
    proposals: tuple[Proposal, ...]
    scores: Logits | None


def read_each(network: Network, talks: Sequence[Dialogue]) -> list[Reading]:
    """Read a talk with each set of calendar events; new events are looked for in the first only."""
    return [read_twice(network, talk, new=place == 0) for place, talk in enumerate(talks)]


def read_twice(network: Network, talk: Dialogue, *, new: bool = True) -> Reading:
    """Read a talk as a whole, then again for each likely candidate."""
    candidates = find_candidates(talk)
    encoded = network.marker.encode(talk, candidates)
    proposals = _proposals(candidates, encoded, network.scores(encoded.arrays), new=new)
    if not proposals:
        return Reading(talk, candidates, encoded, (), None)
    scores = network.scores(encoded.looks([proposal.look for proposal in proposals]))
    return Reading(talk, candidates, encoded, proposals, scores)


def _proposals(
    candidates: Candidates, encoded: Encoded, scores: Logits, *, new: bool
) -> tuple[Proposal, ...]:
    created = np.clip(1 / (1 + np.exp(-scores.create.astype(np.float64))), 0, _MOST_CERTAIN)
    kept = np.exp(log_softmax(scores.action.astype(np.float64))[:, KEEP])
    changed = np.clip(1 - kept, 0, _MOST_CERTAIN)
    count = len(candidates.pairs) if new else 0
    pairs = [(float(created[place]), place, True) for place in range(count)]
    events = [(float(changed[place]), place, False) for place in range(len(encoded.events) - 1)]
    proposals = []
    for chance, place, is_pair in sorted(pairs + events, reverse=True)[:_MOST_LOOKS]:
        if chance >= _WORTH_A_LOOK:
            look = encoded.at_pair(candidates, place) if is_pair else encoded.at_event(place)
            proposals.append(Proposal(chance, place, is_pair, look))
    return tuple(proposals)


def decide(reading: Reading, *others: Reading) -> list[Found]:
    """Return what may have been agreed, with probabilities; changes of the calendar come first.

    The other readings have further calendar events; only changes of these are taken from them. Of
    the events that are shown alone, the likeliest is changed. Of several that nobody names, none is
    changed alone: they are only meant together.
    """
    first = {event.id for event in reading.talk.request.context}
    alone, together = list[Found](), list[Found]()
    for other in others:
        added = [c for c in _changes(other) if c.event.existing_event_id not in first]
        if len(other.talk.request.context) == len(first) + 1:
            alone += added
        elif sum(c.probability > _LIKELY for c in added) > 1:
            together += added
    likeliest = sorted(alone, key=lambda change: -change.probability)[:1]
    found = (*_changes(reading), *likeliest, *together)
    changes = {change.event.existing_event_id or 0: change for change in found}
    return [*(changes[event] for event in sorted(changes)), *_likeliest(_new_events(reading))]


def likely(findings: Iterable[Found], thresholds: Thresholds) -> list[Found]:
    """Keep what is likely enough; an event that was moved is not created at its new time too."""
    kept = [
        finding
        for finding in findings
        if finding.probability >= getattr(thresholds, finding.event.action).found
    ]
    moved = {finding.event.start_time for finding in kept if finding.event.action == "update"}
    return [
        finding
        for finding in kept
        if finding.event.action != "create" or finding.event.start_time not in moved
    ]


def confidence(finding: Found, thresholds: Thresholds, *, is_clear: bool = True) -> Confidence:
    levels: Levels = getattr(thresholds, finding.event.action)
    if finding.probability >= levels.high and is_clear:
        return "high"
    return "medium" if finding.probability >= levels.medium else "low"


def _looked(reading: Reading, *, pairs: bool) -> Iterator[tuple[Proposal, list[FloatArray]]]:
    """Yield each proposal of one kind with the scores of its look: verdict, words and titles."""
    for row, proposal in enumerate(reading.proposals):
        if proposal.is_pair == pairs and reading.scores is not None:
            scores = (reading.scores.verdict, reading.scores.words, reading.scores.titles)
            yield proposal, [rows[row].astype(np.float64) for rows in scores]


def _changes(reading: Reading) -> Iterator[Found]:
    talk = reading.talk
    for proposal, (verdict, words, _) in _looked(reading, pairs=False):
        calendar = talk.request.context[proposal.place]
        kept, *changed = verdict[2:]
        chance_of_change = _chance(proposal, float(np.logaddexp(*changed) - kept))
        delete, update = np.exp(log_softmax(np.array(changed))) * chance_of_change
        lines = _settling(reading.encoded, proposal.look, words)
        event, chance = Event("delete", calendar.summary), float(delete)
        if update > delete:
            span, surely = _moved(reading, calendar, proposal.look, words)
            event, chance = _timed("update", calendar.summary, span, talk), float(update) * surely
        yield Found(replace(event, existing_event_id=calendar.id), chance, lines)


def _chance(proposal: Proposal, second: float) -> float:
    """Combine the chance after the first reading with the logit of the second look."""
    first = np.log(proposal.chance) - np.log1p(-proposal.chance)
    return float(1 / (1 + np.exp(-_FIRST_WEIGHT * first - (1 - _FIRST_WEIGHT) * second)))


def _moved(
    reading: Reading, event: ContextEvent, look: Look, words: FloatArray
) -> tuple[Slot, float]:
    """Find the likeliest span, other than its present one, to which an event is moved."""
    talk, spoken = reading.talk, reading.candidates.spoken
    whens = _by_node(reading, look, words[_WHEN], WHEN_KINDS)
    days = _by_node(reading, look, words[_DAY], DAY_KINDS)
    present = changed_span(talk, event, None, None)
    chances = {present: 0.0}
    for when, day in product(
        *(np.flatnonzero(chance > _NEGLIGIBLE).tolist() for chance in (whens, days))
    ):
        span = changed_span(talk, event, spoken(talk, when - 1), spoken(talk, day - 1))
        chances[span] = chances.get(span, 0.0) + float(np.exp(whens[when] + days[day]))
    chances[present] = 0.0
    return max(chances.items(), key=lambda item: item[1])


def _by_node(reading: Reading, look: Look, words: FloatArray, kinds: Sequence[str]) -> FloatArray:
    """Return the log probability of no node, then of each node over all its mentions."""
    scores = np.full(len(reading.candidates.nodes) + 1, -np.inf)
    scores[0] = words[0]
    for number, node in enumerate(reading.candidates.nodes, 1):
        spans = (reading.encoded.span(look.window, mention) for mention in node.mentions)
        logits = [words[span[0]] for span in spans if span is not None]
        if logits and node.kind in kinds:
            scores[number] = np.logaddexp.reduce(logits)
    return log_softmax(scores)


def _settling(encoded: Encoded, look: Look, words: FloatArray) -> tuple[int, ...]:
    """Find the lines that settle a candidate: the likeliest line, and all others above 0."""
    line, start, _ = encoded.origins[look.window].T
    begins = np.flatnonzero((line >= 0) & (start < 0))
    best = max(begins, key=lambda at: float(words[_SETTLES, at]))
    likely = [at for at in begins if words[_SETTLES, at] > 0 or at == best]
    return tuple(sorted({int(line[at]) for at in likely}))[-_MOST_QUOTED:]


def _new_events(reading: Reading) -> Iterator[Found]:
    talk, candidates = reading.talk, reading.candidates
    for proposal, (verdict, words, titles) in _looked(reading, pairs=True):
        pair = candidates.pairs[proposal.place]
        origins = reading.encoded.origins[proposal.look.window]
        title, surely = choose_title(talk.lines, origins, titles)
        when, day = candidates.spoken(talk, pair.when), candidates.spoken(talk, pair.day)
        span = new_span(talk, when, day, title, late=bool(verdict[1] > 0))
        if span is None or _is_planned(span, title, talk):
            continue
        lines = _settling(reading.encoded, proposal.look, words)
        mentioned = {talk.mentions[place].line for place in pair.near if place != NONE}
        others = _others(talk, sorted({*lines, *mentioned}))
        event = _timed("create", title, span, talk)
        if when is not None and when.clock is not None and not when.clock.certain:
            surely /= 1 + float(np.exp(-abs(verdict[1])))  # before or after noon
        chance = surely * _chance(proposal, float(verdict[0]))
        yield Found(replace(event, attendees=others), chance, lines)


def _is_planned(span: Slot, title: str, talk: Dialogue) -> bool:
    """Whether a new event is in the calendar already: same start, and a word in common."""
    words = title_words(title)
    alike = (event for event in talk.request.context if words & title_words(event.summary))
    return any(changed_span(talk, event, None, None).start == span.start for event in alike)


def _likeliest(new_events: Iterable[Found]) -> list[Found]:
    """Of events that start together or look like one event, keep the likeliest."""
    kept: list[Found] = []
    for new in sorted(new_events, key=lambda new: -new.probability):
        if not any(
            new.event.start_time == other.event.start_time or _may_be_one(new, other)
            for other in kept
        ):
            kept.append(new)
    return sorted(kept, key=lambda new: str(new.event.start_time))


def _may_be_one(new: Found, other: Found) -> bool:
    """Whether two events have the same title, and one day or lines that settle both."""
    start, other_start = new.event.start_time, other.event.start_time
    same_day = start and other_start and start.date() == other_start.date()
    one_line = not set(new.lines).isdisjoint(other.lines)
    return agree(new.event.title, other.event.title) and bool(same_day or one_line)


def _others(talk: Dialogue, lines: Sequence[int]) -> tuple[str, ...]:
    """Return the other people who speak in the lines that settle an event, or next to them."""
    transcript, owner = talk.request.transcript, talk.request.owner
    near = range(max(0, min(lines) - 1), min(len(transcript.utterances), max(lines) + 2))
    speakers = dict.fromkeys(transcript.utterances[line].speaker for line in near)
    return tuple(name for name in speakers if not transcript.is_owner(name, owner))


def _timed(action: Action, title: str, span: Slot, talk: Dialogue) -> Event:
    zone = talk.request.now.tzinfo
    start, end = span.start.replace(tzinfo=zone), span.end.replace(tzinfo=zone)
    return Event(action, title, start, end, assumptions=span.assumptions)
