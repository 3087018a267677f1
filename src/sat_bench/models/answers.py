"""Systems that read one text at a time, and the forms that their answers may have."""

from __future__ import annotations

import json
import operator
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

import numpy as np

from sat_bench.models.alignment import aligned
from sat_bench.models.protocol import CERTAIN, Loss, ModelError, Probabilities, certain_ends
from truemark.errors import TruemarkError, foreign_reason
from truemark.jsontext import shown
from truemark.services.keys import printed_on_stderr, without_keys

LEAST_KEPT = 0.2  # of the characters of a text
_FEW_INVENTED = 40  # characters; an answer to a very short text may contain a remark
FORMS = "a list of sentences, or of pairs (end, probability)"
_WHOLE = (Probabilities, str, bytes, Mapping)  # answers of which the items are not read one by one
# Answers a text; `read_answer` says which forms are accepted.
Split = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class TextSystem:
    """A system that reads one text at a time: a library, a callable, a program.

    `start` opens the system and provides its function; `identity` names what its answers depend on.
    `given` is the name as the user gave it, perhaps with a key from the shell; `name` has none.
    """

    given: str
    identity: Mapping[str, str]
    start: Callable[[], AbstractContextManager[Split]]

    @property
    def name(self) -> str:
        return without_keys(self.given)

    @contextmanager
    def opened(self) -> Iterator[Callable[[str], Probabilities]]:
        """Start the system, and provide the function that answers a text with probabilities."""
        with ExitStack() as stack:
            try:
                with printed_on_stderr():
                    split = stack.enter_context(self.start())
            except TruemarkError as error:
                raise ModelError(without_keys(f"{self.name}: {error}")) from error
            except Exception as error:
                reason = without_keys(foreign_reason(error))
                raise ModelError(f"{self.name}: does not start: {reason}") from error
            yield partial(self._probabilities, split)
            try:
                stack.close()
            except TruemarkError as error:  # a program that keeps running ended badly
                raise ModelError(f"{self.name}: {error}") from error

    def _probabilities(self, split: Split, text: str) -> Probabilities:
        """Answer one text; any failure of the system becomes a one-line error."""
        begun = time.perf_counter()
        try:
            probabilities = read_answer(text, _ask(split, text))
        except TruemarkError as error:
            raise ModelError(without_keys(f"{self.name}: {error}")) from error
        return replace(probabilities, seconds=time.perf_counter() - begun)


def _ask(split: Split, text: str) -> object:
    """Ask a system; read what it returns here too, to catch what its own code raises then."""
    most, items = len(text) + 1, list[object]()
    try:
        with printed_on_stderr():
            answer = split(text)
            is_list = isinstance(answer, Iterable) and not isinstance(answer, _WHOLE)
            if isinstance(answer, Iterable) and is_list:
                items += islice(answer, most + 1)
    except (TruemarkError, KeyboardInterrupt):
        raise
    except BaseException as error:  # SystemExit and GeneratorExit are no Exception
        raise TruemarkError(
            f"fails on a text of {len(text):,} characters: {foreign_reason(error)}"
        ) from error
    if isinstance(answer, Coroutine):
        answer.close()  # else Python warns that nobody waited for it
        raise TruemarkError("is an async function, expected a plain one")
    if len(items) > most:
        raise TruemarkError(
            f"answers more than {most:,} sentences to a text of {len(text):,} characters"
        )
    return items if is_list else answer


def read_answer(text: str, answer: object) -> Probabilities:
    """Turn an answer into probabilities; refuse one of the wrong form.

    Sentences are located in the text. They are refused if they have too little of it, or more that
    is not from it.
    """
    if isinstance(answer, Probabilities):
        return answer
    if isinstance(answer, _WHOLE) or not isinstance(answer, Iterable):
        raise TruemarkError(f"answers {shown(answer, without_keys)}, expected {FORMS}")
    items = list(answer)
    if all(isinstance(item, str) for item in items):
        return _located(text, items)
    if isinstance(items[0], str):
        number = next(place for place, item in enumerate(items) if not isinstance(item, str))
        found = shown(items[number], without_keys)
        raise TruemarkError(f"answers {found} at place {number}, expected a sentence as before it")
    return _scored(text, items)


def printed_answer(output: str) -> Sequence[object]:
    """Parse the output of a program: a sentence per line, or JSON lines {"end": …, "p": …}."""
    lines = [line for line in output.split("\n") if line.strip()]
    first = _json(lines[0]) if lines else None
    if isinstance(first, dict) and "end" in first:
        return [_json(line) for line in lines]
    return lines


def _json(line: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return line


def _located(text: str, sentences: Sequence[str]) -> Probabilities:
    located = aligned(text, sentences)
    if located.kept < LEAST_KEPT:
        raise TruemarkError(
            f"has {located.kept:.0%} of the {located.loss.characters:,} characters of a text in "
            "its answer, expected its sentences; it begins with "
            f"{shown(''.join(sentences[:1]), without_keys)}"
        )
    refuse_inventions(located.loss)
    return certain_ends(located.ends, located.loss)


def refuse_inventions(loss: Loss) -> None:
    """Refuse an answer of which more characters are invented than are from the text."""
    kept, added = loss.characters - loss.changed - loss.deleted, loss.changed + loss.invented
    if added > max(kept, _FEW_INVENTED):
        raise TruemarkError(
            f"answers {kept + added:,} characters of which {kept:,} are in the text of "
            f"{loss.characters:,}: it invents more text than it keeps"
        )


def _scored(text: str, items: Sequence[object]) -> Probabilities:
    ends, values = np.empty(len(items), np.int32), np.empty(len(items), np.float32)
    before = 0
    for number, item in enumerate(items):
        try:
            end, probability = _pair(item)
        except TruemarkError:
            raise
        except Exception:  # an object of foreign code, which may raise anything
            end = probability = None
        if end is None or probability is None:
            found = shown(item, without_keys)
            raise TruemarkError(f"answers {found} at place {number}, expected {FORMS}")
        if not before <= end <= len(text):
            raise TruemarkError(
                f"answers the end {shown(end)} at place {number}, expected ends that ascend "
                f"and stay within the {len(text):,} characters of the text"
            )
        ends[number], values[number], before = end, probability, end
    return Probabilities(ends, values)


def _pair(item: object) -> tuple[int | None, float | None]:
    if isinstance(item, Mapping):
        return _whole(item.get("end")), _probability(item["p"]) if "p" in item else CERTAIN
    if isinstance(item, tuple | list):
        return (_whole(item[0]), _probability(item[1])) if len(item) == 2 else (None, None)
    return _whole(item), CERTAIN  # an end alone


def _whole(value: object) -> int | None:
    # numpy integers are accepted; numpy arrays have __index__ too, but it raises.
    try:
        return None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def _probability(value: object) -> float | None:
    if isinstance(value, bool | str | bytes):
        return None
    try:
        probability = float(value)  # type: ignore[arg-type]  # anything else raises
    except (TypeError, ValueError, OverflowError):
        return None
    if not 0 <= probability <= 1:  # infinity would mean CERTAIN
        raise TruemarkError(
            f"answers the probability {shown(probability)}, expected one from 0 to 1"
        )
    return probability
