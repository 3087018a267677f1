"""Scores, intervals and verdicts in words: the same on a terminal, in Markdown and on a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from truemark.comparison import WORTH_SEEING, Comparison, Versus
from truemark.leaderboard import Board, Standing
from truemark.summary import Summary
from truemark.text import counted
from truemark.uncertainty import (
    FEWEST_FOR_INTERVAL,
    FEWEST_FOR_VERDICT,
    ROUGH_BELOW,
    Interval,
    PairedInterval,
)

_MOST_EQUALS = 3  # more would make no sentence; letters in a table show them
_WORTH_SAYING = 20  # times the present number of units: nobody would label more


def score_text(interval: Interval) -> str:
    """Show a score with its interval, where it has one: `0.714 (0.602 to 0.809)`."""
    shown = range_text(interval)
    return f"{interval.value:.3f}" if shown is None else f"{interval.value:.3f} ({shown})"


def range_text(interval: Interval) -> str | None:
    """Show an interval, `rough 0.602 to 0.809` for few clusters; None where there are too few."""
    if not interval.known:
        return None
    rough = "rough " if interval.rough else ""
    return f"{rough}{interval.low:.3f} to {interval.high:.3f}"


def signed_range(interval: PairedInterval) -> str | None:
    """Show the interval of a difference; None where it rules nothing out."""
    if not interval.known or interval.whole_range:
        return None
    return f"{interval.low:+.3f} to {interval.high:+.3f}"


def difference_text(interval: PairedInterval) -> str:
    """Show a difference with its interval, where it has one: `+0.182 (-0.031 to +0.402)`."""
    shown = signed_range(interval)
    return f"{interval.value:+.3f}" if shown is None else f"{interval.value:+.3f} ({shown})"


def interval_remarks(summary: Summary) -> list[str]:
    """Say why there are no intervals, or what is wrong with them; nothing where all is well."""
    if not summary.intervals:
        return []
    f1, nouns = summary.intervals["f1"], summary.nouns
    if not f1.known:
        count = counted(f1.clusters, *nouns)
        return [f"no intervals: {count}, and fewer than {FEWEST_FOR_INTERVAL} are too few"]
    remarks = []
    if f1.rough:
        count = counted(f1.clusters, *nouns)
        remarks.append(f"intervals are rough: {count}, and it takes {ROUGH_BELOW} or more")
    if f1.lopsided:
        remarks.append(
            f"one {nouns[0]} holds {f1.largest:.0%} of the items, so intervals are too narrow"
        )
    return remarks


def dash_remarks(comparison: Comparison) -> list[str]:
    """Say what a dash in place of the interval of a difference means, if there is one."""
    for versus in comparison.against:
        groups = (group.difference for group in versus.groups if not group.too_small)
        if any(signed_range(shown) is None for shown in (*versus.differences.values(), *groups)):
            return [
                "a dash in place of an interval means that it rules nothing out: too few"
                f" {versus.nouns[1]} differ, or a system marks nothing"
            ]
    return []


def interval_name(differences: Iterable[PairedInterval]) -> str:
    """Name the intervals by their confidence, where all have the same: `95% interval`."""
    shown = {f"{difference.confidence:.1%}".replace(".0%", "%") for difference in differences}
    return f"{shown.pop()} interval" if len(shown) == 1 else "interval"


def verdict_sentences(baseline: str, versus: Versus) -> list[str]:
    """Say how a system compares with the baseline and, where that is open, what could be seen."""
    f1 = versus.differences["f1"]
    start = f"{versus.name} against {baseline}: {versus.verdict}, f1 {f1.value:+.4f}"
    if not f1.known:
        return [f"{start}, {_in_both(versus)}"]
    if not f1.whole_range:
        start += f" ({interval_name([f1])} {f1.low:+.4f} to {f1.high:+.4f})"
    sentences = [f"{start}, p {f1.p_value:.4f}, {_in_both(versus)}"]
    if versus.verdict != "not distinguishable":
        return sentences
    if versus.power is None:
        sentences.append(
            f"too few {versus.nouns[1]}, or too few that differ, to say what could have been seen"
        )
        return sentences
    sentences.append(
        f"smallest difference that could have been seen (80% power): "
        f"{versus.power.smallest_difference:.3f}; a difference of {WORTH_SEEING} would need"
        f" about {versus.needed} {versus.nouns[1]} like these"
    )
    return sentences


def _in_both(versus: Versus) -> str:
    clusters = counted(versus.clusters, *versus.nouns)
    if versus.units == versus.clusters:
        return f"{clusters} in both"
    return f"{versus.units} measurements of {clusters} in both"


def answer(
    board: Board, words: Mapping[str, str], units_needed: tuple[str, int] | None = None
) -> str:
    """Say in a sentence or two which system to take, and which cannot be distinguished from which.

    Systems with the same highest score are named together. `units_needed` names another system and
    about how many units would show a difference of 0.02 from it.
    """
    if len(board.standings) < 2:
        return ""
    first = board.standings[0].summary
    highest = first.intervals["f1"].value
    best = [row for row in board.standings if row.summary.intervals["f1"].value == highest]
    others = board.standings[len(best) :]
    names = [standing.name for standing in best]
    clusters = f"{first.intervals['f1'].clusters} {first.nouns[1]}"
    more = _units_sentence(first, units_needed)
    found = f"{_found(best)} of 100 {words.get('items', 'items')}"
    if not others:
        return f"{_joined(names)} score the same and find {found}.{more}"
    alone = len(best) == 1
    lead = f"{_joined(names)} {'scores' if alone else 'score'} highest"
    if not board.known:
        are = "it is" if alone else "they are"
        few = f"{lead}, but {clusters} are too few to say that {are} better than the others"
        if first.intervals["f1"].clusters < FEWEST_FOR_VERDICT:
            return f"{few}."
        return (
            f"{few}: with all {len(board.standings)} systems compared in pairs, it takes"
            f" {board.enough}; `truemark compare` tests fewer pairs, each system against the first."
        )
    beaten = [row for row in others if all((name, row.name) in board.told_apart for name in names)]
    level = [row.name for row in others if row not in beaten]
    if not beaten:
        find, them = ("finds", "it") if alone else ("find", "them")
        close = _joined(level, "or")
        return f"{lead} and {find} {found}, but {clusters} cannot tell {them} from {close}.{more}"
    find, mark = ("it finds", "it marks") if alone else ("they find", "they mark")
    runner_up = beaten[:1]
    sentence = (
        f"Take {_joined(names, 'or')}: {find} {found} where {runner_up[0].name} finds"
        f" {_found(runner_up)}, and {_right(best)} of 100 that {mark} are right, against"
        f" {_right(runner_up)}"
    )
    if level:
        close = f"{_joined(level)} cannot be distinguished from {_joined(names, 'or')}"
        return f"{sentence}; {close}.{more}"
    equals = [
        f"{after.name} cannot be distinguished from {before.name}"
        for before, after in pairwise(beaten)
        if (before.name, after.name) not in board.told_apart
    ]
    return "; ".join((sentence, *(equals if len(equals) < _MOST_EQUALS else ()))) + "."


def _units_sentence(best: Summary, needed: tuple[str, int] | None) -> str:
    """Say how many units would tell another system apart; nothing if they are too many."""
    if needed is None or needed[1] > _WORTH_SAYING * best.intervals["f1"].clusters:
        return ""
    other, count = needed
    return (
        f" A difference of {WORTH_SEEING} from {other} would show with about"
        f" {counted(count, *best.nouns)}."
    )


def _found(standings: Sequence[Standing]) -> str:
    return _out_of_100([standing.summary.intervals["recall"].value for standing in standings])


def _right(standings: Sequence[Standing]) -> str:
    return _out_of_100([standing.summary.intervals["precision"].value for standing in standings])


def _out_of_100(shares: Sequence[float]) -> str:
    """Show the shares, or the one that all of them are: `84 and 80`, `90`."""
    rounded = [str(round(100 * share)) for share in shares]
    return _joined(rounded) if len(set(rounded)) > 1 else rounded[0]


def _joined(names: Sequence[str], word: str = "and") -> str:
    *first, last = names
    return f"{', '.join(first)} {word} {last}" if first else last
