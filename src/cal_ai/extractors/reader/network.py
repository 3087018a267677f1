"""The network in its file: arrays of a talk in, scores of its candidates out."""

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
MOST_WINDOWS = 12  # at once: what is kept of each while they are read takes some 30 MB


@dataclass(frozen=True, slots=True)
class Logits:
    """What the network says, before any decision.

    `create` has a logit per pair, `action` three per event of the calendar (kept, deleted,
    changed). The others are of second looks, a row for each: `verdict` says whether a pair is a new
    event, whether it is after noon, and what becomes of an event (three); `words` has for each
    token how likely a title begins and ends there, how likely an event is moved to the clock time
    and to the day there (the first token stands for none), and how likely its line settles it.
    """

    create: FloatArray
    action: FloatArray
    verdict: FloatArray
    words: FloatArray


class Scorer(Protocol):
    """What reads the arrays of a talk."""

    @property
    def marker(self) -> Marker:
        """What makes the arrays."""

    def scores(self, arrays: Mapping[str, IntArray]) -> Logits:
        """The scores for the arrays of one talk, or of second looks at it."""


class Network:
    """A loaded model; threads may share it."""

    def __init__(self, model: Path = MODEL, pieces: Path = PIECES) -> None:
        import onnxruntime
        import sentencepiece

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.enable_mem_pattern = False  # would hold the memory of each shape once more
        self._session: InferenceSession = onnxruntime.InferenceSession(
            str(model), options, providers=["CPUExecutionProvider"]
        )
        self._inputs = [it.name for it in self._session.get_inputs()]
        self.marker = Marker(sentencepiece.SentencePieceProcessor(model_file=str(pieces)))

    def scores(self, arrays: Mapping[str, IntArray]) -> Logits:
        """The scores for the arrays of one talk, or of second looks at it."""
        if len(arrays["ids"]) > MOST_WINDOWS:
            raise TooLong
        given: dict[str, Any] = {name: arrays[name] for name in self._inputs}
        return Logits(*self._session.run(None, given))


@cache
def shared_network() -> Network:
    """The bundled model, loaded once."""
    return Network()
