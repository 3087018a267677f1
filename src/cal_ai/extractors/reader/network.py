"""The bundled network: from the arrays of a talk to scores of its candidates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from cal_ai.extractors.reader.limits import TooLong
from cal_ai.extractors.reader.marks import IntArray, Marker

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

FOLDER = Path(__file__).parent / "model"
MODEL, PIECES = FOLDER / "reader.onnx", FOLDER / "pieces.model"
FloatArray = npt.NDArray[np.float32]
MOST_WINDOWS = 12  # at once: each takes about 30 MB while they are read


@dataclass(frozen=True, slots=True)
class Logits:
    """The output of the network.

    `create` has a logit per pair, `action` three per event of the calendar (kept, deleted,
    changed). The others are of second looks, a row for each: `verdict` says whether a pair is a new
    event, whether it is after noon, and what becomes of an event (three); `words` has for each
    token how likely an event is moved to the clock time and to the day there (the first token
    stands for none), and how likely its line settles it; `titles` has for each length how likely
    a title of so many tokens begins at each token.
    """

    create: FloatArray
    action: FloatArray
    verdict: FloatArray
    words: FloatArray
    titles: FloatArray


class Scorer(Protocol):
    """Scores the arrays of a talk."""

    @property
    def marker(self) -> Marker:
        """Makes the arrays."""

    def scores(self, arrays: Mapping[str, IntArray]) -> Logits:
        """Score the arrays of one talk, or of second looks at it."""


class Network:
    """A loaded model; threads may share it."""

    def __init__(self, model: Path = MODEL, pieces: Path = PIECES) -> None:
        import onnxruntime
        import sentencepiece

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.enable_mem_pattern = False  # it would keep the memory of every shape
        self._session: InferenceSession = onnxruntime.InferenceSession(
            str(model), options, providers=["CPUExecutionProvider"]
        )
        self._inputs = [array.name for array in self._session.get_inputs()]
        self.marker = Marker(sentencepiece.SentencePieceProcessor(model_file=str(pieces)))

    def scores(self, arrays: Mapping[str, IntArray]) -> Logits:
        """Score the arrays of one talk, or of second looks at it."""
        if len(arrays["ids"]) > MOST_WINDOWS:
            raise TooLong
        given: dict[str, Any] = {name: arrays[name] for name in self._inputs}
        return Logits(*self._session.run(None, given))


@cache
def shared_network() -> Network:
    """Load the bundled model, once."""
    return Network()
