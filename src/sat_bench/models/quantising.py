"""Int8 copies of model files, made once and kept."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from sat_bench.models.network import Network
from truemark.errors import TruemarkError
from truemark.files import checksum, write_atomically
from truemark.imports import require

if TYPE_CHECKING:
    from onnx import GraphProto

# Part of the file name, so that a change of the quantisation does not find older copies.
RECIPE = "int8-per-channel-1"


def quantized(model: str | Path, folder: Path | None = None) -> Path:
    """Return the int8 copy of a model; make it if the folder (the user's cache) has none.

    Its name contains the checksum of the model, so a changed model gets a new copy. A model that
    is int8 already is returned itself.
    """
    source = Path(model)
    if not source.is_file():
        Network(source)  # raises the error for a missing file
    copy = int8_path(source, folder)
    if copy.is_file():
        return copy
    content = _quantize(source)
    if content is None:
        return source
    write_atomically(copy, content)
    return copy


def int8_path(model: Path, folder: Path | None = None) -> Path:
    """Return the path at which the int8 copy of a model is stored."""
    if folder is None:
        import platformdirs

        folder = Path(platformdirs.user_cache_dir("truemark")) / "models"
    return folder / f"{checksum(model)}-{RECIPE}.onnx"


def _quantize(source: Path) -> bytes | None:
    require("quantize", "an int8 copy of a model", "onnx")
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    Network(source)
    model = onnx.load(source, load_external_data=False)
    weights = model.graph.initializer
    if any(tensor.data_location == onnx.TensorProto.EXTERNAL for tensor in weights):
        raise TruemarkError(
            f"{source}: keeps its weights in another file, and only a model in one file can be "
            "quantised; save it as one file"
        )
    int8 = (onnx.TensorProto.INT8, onnx.TensorProto.UINT8)
    if any(len(tensor.dims) > 1 and tensor.data_type in int8 for tensor in weights):
        return None
    _to_float32(model.graph)
    # Without this entry onnxruntime asks for preprocessing that a SaT model does not need.
    onnx.helper.set_model_props(model, {"onnx.quant.pre_process": "onnxruntime.quant"})
    with TemporaryDirectory() as temporary:
        path = Path(temporary) / source.name
        quantize_dynamic(model, path, weight_type=QuantType.QInt8, per_channel=True)
        Network(path)  # a copy that does not run must not be stored
        return path.read_bytes()


def _to_float32(graph: GraphProto) -> None:
    """Turn the half-precision numbers of the graph into float32, which can be quantised."""
    from onnx import TensorProto, numpy_helper

    def widen(tensor: TensorProto) -> None:
        if tensor.data_type == TensorProto.FLOAT16:
            values = numpy_helper.to_array(tensor).astype(np.float32)
            tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))

    for tensor in graph.initializer:
        widen(tensor)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                widen(attribute.t)
            elif node.op_type == "Cast" and attribute.i == TensorProto.FLOAT16:
                attribute.i = TensorProto.FLOAT
    for value in (*graph.input, *graph.output, *graph.value_info):
        if value.type.tensor_type.elem_type == TensorProto.FLOAT16:
            value.type.tensor_type.elem_type = TensorProto.FLOAT
