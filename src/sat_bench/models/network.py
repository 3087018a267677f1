"""A SaT model file: its signature checked, run by onnxruntime."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sat_bench.models.arrays import FloatArray, IntArray
from sat_bench.models.tokenizer import BOS_ID, EOS_ID, PAD_ID, UNK_ID
from truemark.errors import TruemarkError
from truemark.files import open_regular

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

MASK_TYPES: dict[str, type[np.generic]] = {
    "tensor(float16)": np.float16,
    "tensor(float)": np.float32,
    "tensor(int64)": np.int64,
}
LOGIT_TYPES = ("tensor(float16)", "tensor(float)")
EXPECTED = (
    "expected inputs input_ids (int64) and attention_mask (float16, float32 or int64) of "
    "[batch, sequence] and output logits (float16 or float32) of [batch, sequence, labels]"
)
SILENT = 4  # onnxruntime's severity of what ends the process

_CODE = re.compile(r"^\[ONNXRuntimeError\] : \d+ : \w+ : (Load model from .*? failed: ?)?")
_SOURCE_POSITION = re.compile(r"\S+\.(?:cc|h):\d+ (?:.*\)|\S+) ")


class Network:
    """A loaded model; `logits` may be called from many threads at a time."""

    def __init__(self, path: str | Path, highest_id: int = UNK_ID) -> None:
        self.path = Path(path)
        self._session = _open_session(self.path)
        self._mask_type = _checked_mask_type(self.path, self._session)
        self._try_run(highest_id)

    def logits(self, windows: Sequence[IntArray]) -> list[FloatArray]:
        """For each window, run together in one batch, its tokens' logits of a sentence end."""
        longest = max(len(window) for window in windows)
        ids = np.full((len(windows), longest + 2), PAD_ID, np.int64)
        mask = np.zeros(ids.shape, self._mask_type)
        ids[:, 0] = BOS_ID
        for row, window in enumerate(windows):
            ids[row, 1 : len(window) + 1] = window
            ids[row, len(window) + 1] = EOS_ID
            mask[row, : len(window) + 2] = 1
        first_label = self._run(ids, mask)[:, :, 0].astype(np.float32)
        found = [first_label[row, 1 : len(window) + 1] for row, window in enumerate(windows)]
        if not all(np.isfinite(logits).all() for logits in found):
            raise TruemarkError(f"{self.path}: the model answers with logits that are not finite")
        return found

    def _run(self, ids: npt.NDArray[np.int64], mask: npt.NDArray[Any]) -> npt.NDArray[Any]:
        try:
            outputs = self._session.run(["logits"], {"input_ids": ids, "attention_mask": mask})
        except _runtime_errors() as error:
            raise TruemarkError(
                f"{self.path}: the model fails on {ids.shape[1]} tokens with ids up to "
                f"{ids.max()}: {_reason(error)}; use the tokenizer and window it was trained with"
            ) from None
        logits: npt.NDArray[Any] = outputs[0]
        return logits

    def _try_run(self, highest_id: int) -> None:
        # A file may declare no shape for its logits, or another than it computes; and ids that
        # the model does not know must not come to light in the middle of a long text.
        ids = np.array([[BOS_ID, highest_id, EOS_ID]])
        shape = self._run(ids, np.ones(ids.shape, self._mask_type)).shape
        if len(shape) != 3 or shape[:2] != ids.shape or shape[2] < 1:
            raise TruemarkError(
                f"{self.path}: not a SaT model: its logits for {list(ids.shape)} tokens have the "
                f"shape {list(shape)}; {EXPECTED}"
            )


def _open_session(path: Path) -> InferenceSession:
    try:
        import onnxruntime
    except ImportError:
        raise TruemarkError("onnxruntime is not installed: pip install truemark") from None
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
    onnxruntime.set_default_logger_severity(SILENT)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = SILENT
    # Windows run side by side, one thread each: faster than all threads on one window.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    try:
        return onnxruntime.InferenceSession(
            str(path), sess_options=options, providers=["CPUExecutionProvider"]
        )
    except _runtime_errors() as error:
        raise TruemarkError(
            f"{path}: not an ONNX model that onnxruntime {onnxruntime.__version__} can load "
            f"({size} bytes): {_reason(error)}; fetch the file again or name another"
        ) from None


def _runtime_errors() -> tuple[type[Exception], ...]:
    """Every exception class of onnxruntime; they have no base of their own."""
    from onnxruntime.capi import (
        onnxruntime_pybind11_state as state,
    )

    classes = [value for value in vars(state).values() if isinstance(value, type)]
    # Its own message, where that quotes a damaged name, may be no text.
    return (*(value for value in classes if issubclass(value, Exception)), UnicodeDecodeError)


def _reason(error: Exception) -> str:
    """What onnxruntime says, without its codes, file names and C++ signatures."""
    text = " ".join(str(error).split()).split("Status Message: ")[-1]
    text = _CODE.sub("", text)
    return shorten(_SOURCE_POSITION.sub("", text), 200, placeholder=" ...").rstrip(".")


def _checked_mask_type(path: Path, session: InferenceSession) -> type[np.generic]:
    inputs = {node.name: node for node in session.get_inputs()}
    outputs = {node.name: node for node in session.get_outputs()}
    fits = (
        inputs.keys() == {"input_ids", "attention_mask"}
        and inputs["input_ids"].type == "tensor(int64)"
        and inputs["attention_mask"].type in MASK_TYPES
        and all(_takes_any_batch(node.shape) for node in inputs.values())
        and "logits" in outputs
        and outputs["logits"].type in LOGIT_TYPES
        and len(outputs["logits"].shape) in (0, 3)
    )
    if not fits:
        raise TruemarkError(
            f"{path}: not a SaT model: it declares inputs {_declared(session.get_inputs())} and "
            f"outputs {_declared(session.get_outputs())}; {EXPECTED}"
        )
    return MASK_TYPES[inputs["attention_mask"].type]


def _takes_any_batch(shape: Sequence[int | str | None]) -> bool:
    return len(shape) == 2 and not any(isinstance(side, int) for side in shape)


def _declared(nodes: Sequence[Any]) -> str:
    return ", ".join(
        f"{node.name} ({_plain(node.type)}) of [{', '.join(str(side) for side in node.shape)}]"
        for node in nodes
    )


def _plain(kind: str) -> str:
    return {"float": "float32"}.get(name := kind.removeprefix("tensor(").removesuffix(")"), name)
