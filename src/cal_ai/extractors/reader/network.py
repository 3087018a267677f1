"""The bundled network, which scores the candidates of a talk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cal_ai.extractors.reader.limits import TooLong
from cal_ai.extractors.reader.marks import IntArray, Marker

FOLDER = Path(__file__).parent / "model"
MODEL, PIECES = FOLDER / "reader.onnx", FOLDER / "pieces.model"
FloatArray = npt.NDArray[np.float32]
MOST_WINDOWS = 12  # read at once; each takes about 30 MB


@dataclass(frozen=True, slots=True)
class Logits:
    """The output of the network.

    `create` has a logit per pair, `action` three per calendar event (kept, deleted, changed). The
    others have a row per second look. `verdict`: a pair is a new event, it is after noon, and three
    for what becomes of a calendar event. `words`, for each token: an event is moved to the clock
    time there, or to the day there (the first token stands for none), and the line settles it.
    `titles`, for each length and token: a title of that many tokens begins there.
    """

    create: FloatArray
    action: FloatArray
    verdict: FloatArray
    words: FloatArray
    titles: FloatArray


class Network:
    """A loaded model, which threads may share."""

    def __init__(self, model: Path = MODEL, pieces: Path = PIECES) -> None:
        import onnxruntime
        import sentencepiece

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.enable_mem_pattern = False  # it would keep the memory of every shape
        self._session = onnxruntime.InferenceSession(
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
    return Network()
