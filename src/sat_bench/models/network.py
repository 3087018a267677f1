"""A SaT model file: its signature checked, run on one core or on all of them, copied to int8."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sat_bench.models.runtimes import DEFAULT_RUNTIME, Port, Runtime, Session, open_session, reason
from sat_bench.models.tokenizer import BOS_ID, EOS_ID, PAD_ID, UNK_ID, IntArray
from truemark.errors import TruemarkError
from truemark.files import write_atomically
from truemark.imports import require
from truemark.signature import checksum

if TYPE_CHECKING:
    from onnx import GraphProto, TensorProto

FloatArray = npt.NDArray[np.float32]

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

# Part of the file name: another way to quantise must not find the copies of this one.
RECIPE = "int8-per-channel-1"


class Network:
    """A loaded model; `logits` may be called from many threads at a time.

    `cores` are how many may work on one run where `logits` is asked to spread it.
    """

    def __init__(
        self,
        path: str | Path,
        highest_id: int = UNK_ID,
        *,
        cores: int = 1,
        runtime: Runtime = DEFAULT_RUNTIME,
    ) -> None:
        self.path = Path(path)
        # Windows run side by side, one thread each: faster than all threads on one window.
        self._session = open_session(self.path, runtime)
        self._runtime: Runtime = runtime
        self._mask_type = _checked_mask_type(self.path, self._session)
        self._try_run(highest_id)
        self._cores = 1 if runtime == "cuda" else cores
        self._opening = threading.Lock()
        self._spreading: Session | None = None
        self._asked_to_spread = False

    def logits(self, windows: Sequence[IntArray], *, spread: bool = False) -> list[FloatArray]:
        """For each window, run together in one batch, its tokens' logits of a sentence end.

        `spread` lets all cores work on this one run, for when there is no other. The logits are
        the same.
        """
        longest = max(len(window) for window in windows)
        ids = np.full((len(windows), longest + 2), PAD_ID, np.int64)
        mask = np.zeros(ids.shape, self._mask_type)
        ids[:, 0] = BOS_ID
        for row, window in enumerate(windows):
            ids[row, 1 : len(window) + 1] = window
            ids[row, len(window) + 1] = EOS_ID
            mask[row, : len(window) + 2] = 1
        session = self._spread_session() if spread else self._session
        first_label = self._run(ids, mask, session)[:, :, 0].astype(np.float32)
        found = [first_label[row, 1 : len(window) + 1] for row, window in enumerate(windows)]
        # Padding may have any logits, but seldom has others than finite ones.
        if not np.isfinite(first_label).all() and not all(
            np.isfinite(logits).all() for logits in found
        ):
            raise TruemarkError(f"{self.path}: the model answers with logits that are not finite")
        return found

    def _spread_session(self) -> Session:
        """A session whose runs take all cores, from the second time that one is asked for.

        The first may be the only one, and the model is loaded once more for it.
        """
        with self._opening:
            if self._cores > 1 and self._asked_to_spread and self._spreading is None:
                self._spreading = open_session(self.path, self._runtime, threads=self._cores)
            self._asked_to_spread = True
            return self._spreading or self._session

    def _run(
        self, ids: npt.NDArray[np.int64], mask: npt.NDArray[Any], session: Session
    ) -> npt.NDArray[Any]:
        try:
            return session.run(ids, mask)
        except session.errors as error:
            raise TruemarkError(
                f"{self.path}: the model fails on {ids.shape[1]} tokens with ids up to "
                f"{ids.max()}: {reason(error)}; use the tokenizer and window it was trained with"
            ) from None

    def _try_run(self, highest_id: int) -> None:
        # A file may declare no shape for its logits, or another than it computes; and ids that
        # the model does not know must not come to light in the middle of a long text.
        ids = np.array([[BOS_ID, highest_id, EOS_ID]])
        shape = self._run(ids, np.ones(ids.shape, self._mask_type), self._session).shape
        if len(shape) != 3 or shape[:2] != ids.shape or shape[2] < 1:
            raise TruemarkError(
                f"{self.path}: not a SaT model: its logits for {list(ids.shape)} tokens have the "
                f"shape {list(shape)}; {EXPECTED}"
            )


def _checked_mask_type(path: Path, session: Session) -> type[np.generic]:
    inputs = {node.name: node for node in session.inputs}
    outputs = {node.name: node for node in session.outputs}
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
            f"{path}: not a SaT model: it declares inputs {_declared(session.inputs)} and "
            f"outputs {_declared(session.outputs)}; {EXPECTED}"
        )
    return MASK_TYPES[inputs["attention_mask"].type]


def _takes_any_batch(shape: Sequence[int | str | None]) -> bool:
    return len(shape) == 2 and not any(isinstance(side, int) for side in shape)


def _declared(nodes: Sequence[Port]) -> str:
    return ", ".join(
        f"{node.name} ({_plain(node.type)}) of [{', '.join(str(side) for side in node.shape)}]"
        for node in nodes
    )


def _plain(kind: str) -> str:
    return {"float": "float32"}.get(name := kind.removeprefix("tensor(").removesuffix(")"), name)


def quantized(model: str | Path, folder: Path | None = None) -> Path:
    """The int8 copy of a model, from the folder (by default the user's cache) if it is there.

    Its name is the checksum of the model, so a changed model has another copy. A model that is
    int8 already stands for itself.
    """
    source = Path(model)
    if not source.is_file():
        Network(source)  # says what is wrong with it
    copy = int8_path(source, folder)
    if copy.is_file():
        return copy
    content = _quantize(source)
    if content is None:
        return source
    write_atomically(copy, content)
    return copy


def int8_path(model: Path, folder: Path | None = None) -> Path:
    """Where the int8 copy of a model is kept once it is made."""
    return (folder or _cache_folder()) / f"{checksum(model)}-{RECIPE}.onnx"


def _cache_folder() -> Path:
    import platformdirs

    return Path(platformdirs.user_cache_dir("truemark")) / "models"


def _quantize(source: Path) -> bytes | None:
    require("quantize", "an int8 copy of a model", "onnx")
    import onnx
    from onnxruntime.quantization import (
        QuantType,
        quantize_dynamic,
    )

    Network(source)
    model = onnx.load(source, load_external_data=False)
    if any(tensor.data_location == onnx.TensorProto.EXTERNAL for tensor in model.graph.initializer):
        raise TruemarkError(
            f"{source}: keeps its weights in another file, and only a model in one file can be "
            "quantised; save it as one file"
        )
    if any(_is_int8_weight(tensor) for tensor in model.graph.initializer):
        return None
    _to_float32(model.graph)
    # Without this mark onnxruntime advises on preparations that a SaT model does not need.
    onnx.helper.set_model_props(model, {"onnx.quant.pre_process": "onnxruntime.quant"})
    with TemporaryDirectory() as temporary:
        path = Path(temporary) / source.name
        quantize_dynamic(model, path, weight_type=QuantType.QInt8, per_channel=True)
        Network(path)  # a copy that does not run must not be kept
        return path.read_bytes()


def _is_int8_weight(tensor: TensorProto) -> bool:
    from onnx import TensorProto

    return len(tensor.dims) > 1 and tensor.data_type in (TensorProto.INT8, TensorProto.UINT8)


def _to_float32(graph: GraphProto) -> None:
    """Makes every half-precision number of the graph a float32; only those can be quantised."""
    from onnx import TensorProto

    for tensor in graph.initializer:
        _widen(tensor)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                _widen(attribute.t)
            elif node.op_type == "Cast" and attribute.i == TensorProto.FLOAT16:
                attribute.i = TensorProto.FLOAT
    for value in (*graph.input, *graph.output, *graph.value_info):
        if value.type.tensor_type.elem_type == TensorProto.FLOAT16:
            value.type.tensor_type.elem_type = TensorProto.FLOAT


def _widen(tensor: TensorProto) -> None:
    from onnx import TensorProto, numpy_helper

    if tensor.data_type == TensorProto.FLOAT16:
        values = numpy_helper.to_array(tensor).astype(np.float32)
        tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))
