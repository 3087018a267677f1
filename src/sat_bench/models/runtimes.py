"""Runtimes that compute the logits of a model file: onnxruntime on CPU or GPU, or OpenVINO."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np
import numpy.typing as npt

from sat_bench.defaults import DEFAULT_RUNTIME, Runtime
from sat_bench.models.protocol import InvalidModel
from truemark.errors import TruemarkError
from truemark.files import open_regular
from truemark.imports import require

SILENT = 4  # onnxruntime's severity of fatal errors

_PROVIDERS: dict[Runtime, str] = {"onnx": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}
_CODE = re.compile(r"^\[ONNXRuntimeError\] : \d+ : \w+ : (Load model from .*? failed: ?)?")
_SOURCE_POSITION = re.compile(r"\S+\.(?:cc|h|hpp|cpp):\d+:? ?(?:.*\)|\S+:?) ")
_OPENVINO_TYPES = {"f16": "float16", "f32": "float", "i64": "int64", "i32": "int32"}
# OpenVINO sends telemetry on every import, unless its telemetry module is missing.
sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Port:
    """An input or output that a model declares; its type is named as in onnxruntime."""

    name: str
    type: str
    shape: tuple[int | str | None, ...]


@dataclass(frozen=True, slots=True)
class Session:
    """A loaded model; `run` returns the logits of ids and mask, on many threads at a time.

    `errors` are the exceptions that the runtime may raise.
    """

    inputs: Sequence[Port]
    outputs: Sequence[Port]
    errors: tuple[type[Exception], ...]
    run: Callable[[npt.NDArray[np.int64], npt.NDArray[Any]], npt.NDArray[Any]]


def open_session(path: Path, runtime: Runtime = DEFAULT_RUNTIME, *, threads: int = 1) -> Session:
    """Load the model; each run uses this many threads."""
    if runtime == "openvino":
        require("openvino", "-runtime openvino", "openvino")
        import openvino as library

        name = f"OpenVINO {library.__version__.partition('-')[0]}"
        errors: tuple[type[Exception], ...] = (RuntimeError,)
    else:
        library = _onnxruntime(runtime)
        name = f"onnxruntime {library.__version__}"
        errors = _onnxruntime_errors(library)
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
    try:
        if runtime == "openvino":
            return _openvino_session(library, path, threads, errors)
        return _onnxruntime_session(library, path, threads, errors, _PROVIDERS[runtime])
    except errors as error:
        raise InvalidModel(
            f"{path}: not an ONNX model that {name} can load "
            f"({size} bytes): {reason(error)}; fetch the file again or name another"
        ) from None


def _onnxruntime(runtime: Runtime) -> Any:
    """Import the library; if it cannot use the device, raise an error that says what to install."""
    try:
        import onnxruntime
    except ImportError:
        raise TruemarkError("onnxruntime is not installed: pip install truemark") from None
    if _PROVIDERS[runtime] not in (available := onnxruntime.get_available_providers()):
        raise TruemarkError(
            f"-runtime {runtime}: this onnxruntime has no {_PROVIDERS[runtime]}, only "
            f"{', '.join(available)}: pip install onnxruntime-gpu in place of onnxruntime"
        )
    return onnxruntime


def _onnxruntime_errors(library: Any) -> tuple[type[Exception], ...]:
    """Return every exception class of onnxruntime; they have no common base."""
    names = vars(library.capi.onnxruntime_pybind11_state).values()
    classes = [value for value in names if isinstance(value, type)]
    # A message that quotes a damaged name may be undecodable.
    return (*(value for value in classes if issubclass(value, Exception)), UnicodeDecodeError)


def reason(error: Exception) -> str:
    """Remove error codes, file names and C++ signatures from the message of a runtime."""
    text = " ".join(str(error).split()).split("Status Message: ")[-1]
    text = _CODE.sub("", text)
    return shorten(_SOURCE_POSITION.sub("", text), 200, placeholder=" ...").rstrip(".")


def _onnxruntime_session(
    library: Any,
    path: Path,
    threads: int,
    errors: tuple[type[Exception], ...],
    provider: str,
) -> Session:
    library.set_default_logger_severity(SILENT)
    options = library.SessionOptions()
    options.log_severity_level = SILENT
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = library.InferenceSession(str(path), sess_options=options, providers=[provider])

    def run(ids: npt.NDArray[np.int64], mask: npt.NDArray[Any]) -> npt.NDArray[Any]:
        logits: npt.NDArray[Any]
        (logits,) = session.run(["logits"], {"input_ids": ids, "attention_mask": mask})
        return logits

    inputs, outputs = (
        [Port(node.name, node.type, tuple(node.shape)) for node in nodes]
        for nodes in (session.get_inputs(), session.get_outputs())
    )
    return Session(inputs, outputs, errors, run)


def _openvino_session(
    library: Any, path: Path, threads: int, errors: tuple[type[Exception], ...]
) -> Session:
    """Load the model for the CPU; it multiplies in bfloat16 if the CPU supports it."""
    core = library.Core()
    model = core.read_model(path)
    # One run at a time on all threads, or as many runs in parallel as there are cores.
    hint = "LATENCY" if threads > 1 else "THROUGHPUT"
    streams = 1 if threads > 1 else available_cores()
    compiled = core.compile_model(model, "CPU", {"PERFORMANCE_HINT": hint, "NUM_STREAMS": streams})
    of_thread = threading.local()

    def run(ids: npt.NDArray[np.int64], mask: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if not hasattr(of_thread, "request"):
            of_thread.request = compiled.create_infer_request()
        of_thread.request.infer({"input_ids": ids, "attention_mask": mask})
        logits: npt.NDArray[Any] = of_thread.request.get_tensor("logits").data.copy()
        return logits

    inputs, outputs = (list(map(_openvino_port, nodes)) for nodes in (model.inputs, model.outputs))
    return Session(inputs, outputs, errors, run)


def available_cores() -> int:
    """Count the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _openvino_port(node: Any) -> Port:
    kind = node.get_element_type().get_type_name()
    shape = node.get_partial_shape()
    sides = () if shape.rank.is_dynamic else tuple(shape)
    return Port(
        node.get_any_name(),
        f"tensor({_OPENVINO_TYPES.get(kind, kind)})",
        tuple(None if side.is_dynamic else side.get_length() for side in sides),
    )
