"""Locate the sentences that a system returned in the text that it was given.

Most systems return the same characters apart from white space, so nothing has to be searched.
Language models, and systems that clean up text, change, lose and invent characters. Then the text
and the answer are read side by side; where they differ, the next place at which both continue alike
is searched in growing windows, so that the time is linear in the length of both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sat_bench.models.boundaries import space_characters
from sat_bench.models.protocol import Loss

# Sizes of the search windows, and how many equal characters in a row make a match in them: more in
# larger windows, since short runs occur more than once.
WINDOWS = ((32, 5), (64, 8), (512, 16), (4_096, 24), (32_768, 32))
SMALL_GAP = 64  # gaps of up to this many characters are aligned character by character
_COMPARED = 1_024


class Stretch(NamedTuple):
    """A run of characters equal but for case: its offsets in text and answer, and its length."""

    text: int
    answer: int
    length: int


@dataclass(frozen=True, slots=True)
class Aligned:
    """Ascending sentence ends in the text, and how the sentences differ from it.

    `kept` is the share of the text's characters that the sentences contain, case aside.
    """

    ends: tuple[int, ...]
    loss: Loss
    kept: float = 1.0


def aligned(text: str, sentences: Sequence[str]) -> Aligned:
    """Find the end of each sentence in the text, after its last non-space character."""
    offsets = np.flatnonzero(~space_characters(text))
    solid = "".join(text.split())
    parts = ["".join(sentence.split()) for sentence in sentences]
    answer = "".join(parts)
    cuts = np.cumsum([len(part) for part in parts if part], dtype=np.int64)
    if answer == solid:
        return Aligned(tuple((offsets[cuts - 1] + 1).tolist()), Loss(characters=len(solid)))
    runs = list(matching_runs(_folded(solid), _folded(answer)))
    gone = _unmatched(len(solid), runs)
    ends = {_end_in_text(text, offsets, gone, end) for end in _mapped(cuts.tolist(), runs)}
    kept = sum(run.length for run in runs) / len(solid) if solid else 1.0
    return Aligned(tuple(sorted(ends - {0})), _loss(solid, answer, runs), kept)


def matching_runs(text: str, answer: str) -> Iterator[Stretch]:
    """Yield the stretches that text and answer have in common, in order."""
    at_text = at_answer = 0
    while True:
        length = _common_prefix(text, answer, at_text, at_answer)
        if length:
            yield Stretch(at_text, at_answer, length)
        at_text, at_answer = at_text + length, at_answer + length
        if at_text == len(text) or at_answer == len(answer):
            return
        skipped, added = _next_alike(text, answer, at_text, at_answer)
        if max(skipped, added) <= SMALL_GAP:
            gap = text[at_text : at_text + skipped], answer[at_answer : at_answer + added]
            for run in _nearest_edit(*gap):
                yield Stretch(at_text + run.text, at_answer + run.answer, run.length)
        at_text, at_answer = at_text + skipped, at_answer + added


def _common_prefix(text: str, answer: str, at_text: int, at_answer: int) -> int:
    """Count the equal characters from these offsets on."""
    length, step = 0, _COMPARED
    most = min(len(text) - at_text, len(answer) - at_answer)
    while step:
        first, second = at_text + length, at_answer + length
        if length + step <= most and text[first : first + step] == answer[second : second + step]:
            length += step
        else:
            step //= 2
    return length


def _next_alike(text: str, answer: str, at_text: int, at_answer: int) -> tuple[int, int]:
    """Return how many characters of text and answer to skip so that both continue alike.

    The nearest such place counts; without one, skip all of the answer that was searched.
    """
    for window, anchor in WINDOWS:
        here, there = text[at_text : at_text + window], answer[at_answer : at_answer + window]
        if skipped := _nearest_anchor(here, there, anchor):
            return skipped
        if len(here) < window and len(there) < window:
            return len(here), len(there)  # all that is left
    searched = min(len(there), window - anchor)
    # This part of the answer is not in the text nearby: invented, unless the answer ends here.
    return (0, searched) if at_answer + searched < len(answer) else (len(text) - at_text, searched)


def _nearest_anchor(here: str, there: str, anchor: int) -> tuple[int, int] | None:
    first: dict[str, int] = {}
    for place in range(len(here) - anchor, -1, -1):
        first[here[place : place + anchor]] = place
    best: tuple[int, int] | None = None
    for place in range(len(there) - anchor + 1):
        if best and place >= sum(best):
            break
        match = first.get(there[place : place + anchor])
        if match is not None and (best is None or match + place < sum(best)):
            best = match, place
    return best


def _nearest_edit(text: str, answer: str) -> Iterator[Stretch]:
    """Return the characters that a shortest edit from text to answer keeps."""
    rows = [list(range(len(answer) + 1))]
    for count, char in enumerate(text, 1):
        above, row = rows[-1], [count]
        for place, other in enumerate(answer):
            row.append(min(above[place] + (char != other), above[place + 1] + 1, row[place] + 1))
        rows.append(row)
    kept, left, right = [], len(text), len(answer)
    while left and right:
        cost = rows[left][right]
        if text[left - 1] == answer[right - 1] and cost == rows[left - 1][right - 1]:
            left, right = left - 1, right - 1
            kept.append(Stretch(left, right, 1))
        elif cost == rows[left - 1][right - 1] + 1:
            left, right = left - 1, right - 1
        elif cost == rows[left - 1][right] + 1:
            left -= 1
        else:
            right -= 1
    return reversed(kept)


def _gaps(text: int, answer: int, runs: Sequence[Stretch]) -> Iterator[tuple[int, int]]:
    """Yield the number of characters of text and answer between the runs."""
    at_text = at_answer = 0
    for run in (*runs, Stretch(text, answer, 0)):
        yield run.text - at_text, run.answer - at_answer
        at_text, at_answer = run.text + run.length, run.answer + run.length


def _loss(text: str, answer: str, runs: Sequence[Stretch]) -> Loss:
    changed = sum(
        here != there
        for run in runs
        for here, there in zip(
            text[run.text : run.text + run.length],
            answer[run.answer : run.answer + run.length],
            strict=True,
        )
    )
    deleted = invented = 0
    for skipped, added in _gaps(len(text), len(answer), runs):
        both = min(skipped, added)
        changed, deleted, invented = (
            changed + both,
            deleted + skipped - both,
            invented + added - both,
        )
    return Loss(changed, deleted, invented, len(text))


def _mapped(cuts: Sequence[int], runs: Sequence[Stretch]) -> Iterator[int]:
    """Map each place in the answer to a place in the text, both counted in characters."""
    following = iter((*runs, None))
    run, at_text, at_answer = next(following), 0, 0  # where the previous run ends
    for cut in cuts:
        while run and run.answer + run.length <= cut:
            at_text, at_answer = run.text + run.length, run.answer + run.length
            run = next(following)
        if run and run.answer < cut:
            yield run.text + cut - run.answer
        elif run and cut == run.answer and cut > at_answer:
            yield run.text  # after everything that was changed here
        else:
            yield at_text


def _unmatched(characters: int, runs: Sequence[Stretch]) -> npt.NDArray[np.bool_]:
    gone = np.ones(characters, np.bool_)
    for run in runs:
        gone[run.text : run.text + run.length] = False
    return gone


def _end_in_text(
    text: str, offsets: npt.NDArray[np.intp], gone: npt.NDArray[np.bool_], before: int
) -> int:
    """Return the offset after this many characters and any lost ones that follow directly.

    If a system drops a full stop, the sentence still ends after it.
    """
    if not before:
        return 0
    end = int(offsets[before - 1]) + 1
    while end < len(text) and before < len(gone) and gone[before] and offsets[before] == end:
        before, end = before + 1, end + 1
    return end


def _folded(text: str) -> str:
    """Return the text in lower case, except characters whose length would change."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
