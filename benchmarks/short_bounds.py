"""Measure what limits the speed of short texts: the network, its tokens, its matrix products.

`benchmarks.short_texts` prints these figures beside its own.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from benchmarks.timing import seconds, undisturbed
from sat_bench.models.cards import MARKS
from sat_bench.models.protocol import IntArray
from sat_bench.models.segmenter import BATCH_TOKENS, Segmenter
from sat_bench.models.systems import ModelFiles
from sat_bench.models.windows import batches, windows
from truemark.tables import Table

TOKENS = 110  # of about 400 characters
RUNS = 30
SIZES = (
    (110, 768, 2304),
    (256, 768, 2304),
    (256, 768, 768),
)  # of matrix products; the fastest counts

Run = list[IntArray]  # windows that are run together


def runs_of(segmenter: Segmenter, files: ModelFiles, texts: Sequence[str]) -> list[Run]:
    """Return the runs of the network that a list of these texts needs."""
    windows_of_texts = [
        window.ids
        for text in texts
        for window in windows(
            [segmenter.tokenizer.encode(text).ids], files.windowing.window, files.windowing.overlap
        )
    ]
    lengths = [len(window) + MARKS for window in windows_of_texts]
    return [
        [windows_of_texts[index] for index in batch] for batch in batches(lengths, BATCH_TOKENS)
    ]


def network_alone(segmenter: Segmenter, calls: Sequence[list[Run]]) -> Callable[[], None]:
    """Return a function that only runs the network: in parallel, or a single run on all cores."""
    logits = segmenter.network.logits

    def run() -> None:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for runs in calls:
                if len(runs) == 1:
                    logits(runs[0], spread=True)
                else:
                    list(pool.map(logits, runs))

    return run


def tokens_read(calls: Sequence[list[Run]]) -> int:
    """Count the tokens of all runs, marks and padding included."""
    return sum(len(run) * (max(map(len, run)) + MARKS) for runs in calls for run in runs)


@dataclass(slots=True)
class Products:
    """A run on one core: its seconds, those in matrix products, and the operations of these."""

    run_s: float = 0.0
    product_s: float = 0.0
    operations: int = 0
    whole_numbers: bool = False


def product_table(models: Sequence[ModelFiles], folder: Path) -> Table:
    """Show the share of matrix products in a run, and how close they are to the fastest."""
    peaks = {whole_numbers: fastest_product(whole_numbers) for whole_numbers in (False, True)}
    rows = []
    for files in models:
        products = products_in(files.model, folder)
        rate, peak = products.operations / products.product_s / 1e9, peaks[products.whole_numbers]
        share = products.product_s / products.run_s
        rows.append((files.name, 1e3 * products.run_s, share, rate, peak, rate / peak))
    columns = (
        f"a run of {TOKENS} tokens on one core",
        "ms",
        "multiplying",
        "billion operations/s",
        "at most",
        "of that",
    )
    return Table(columns, tuple(rows), (None, ".2f", ".0%", ".0f", ".0f", ".0%"))


def products_in(model: Path, folder: Path) -> Products:
    """Profile runs with onnxruntime; the fastest time of each node counts."""
    session = _session(str(model), folder / "profile")
    ids = np.full((1, TOKENS), 5, np.int64)
    for _ in range(RUNS):
        session.run(["logits"], {"input_ids": ids, "attention_mask": np.ones_like(ids, np.float16)})
    nodes: dict[str, list[dict[str, Any]]] = {}
    for event in json.loads(Path(session.end_profiling()).read_text(encoding="utf-8")):
        if event["name"].endswith("_kernel_time"):
            nodes.setdefault(event["name"], []).append(event)
    products = Products()
    for events in nodes.values():
        node_s = min(event["dur"] for event in events) / 1e6
        products.run_s += node_s
        if operations := _operations(events[0]["args"]):
            products.product_s += node_s
            products.operations += operations
            products.whole_numbers |= "Quantize" in events[0]["args"]["op_name"]
    return products


def _operations(node: dict[str, Any]) -> int:
    """Count the multiplications and additions of a matrix product; 0 for other nodes."""
    if "MatMul" not in node["op_name"]:
        return 0
    left, result = (
        next(iter(node[shapes][0].values())) for shapes in ("input_type_shape", "output_type_shape")
    )
    operations: int = 2 * math.prod(left) * result[-1]
    return operations


def fastest_product(whole_numbers: bool) -> float:
    """Measure the most billion operations per second that onnxruntime does on one core."""
    rates = []
    for rows, depth, columns in SIZES:
        left_type = TensorProto.UINT8 if whole_numbers else TensorProto.FLOAT
        weights = np.ones((depth, columns), np.int8 if whole_numbers else np.float32)
        session = _session(_product(left_type, weights))
        left = np.ones((rows, depth), np.uint8 if whole_numbers else np.float32)
        taken = undisturbed(partial(_fastest_run, session, left), "a product of matrices")
        rates.append(2 * rows * depth * columns / taken / 1e9)
    return max(rates)


def _product(left_type: int, weights: NDArray[Any]) -> bytes:
    """Make a model that only multiplies by the weights."""
    whole_numbers = left_type == TensorProto.UINT8
    node = helper.make_node("MatMulInteger" if whole_numbers else "MatMul", ["x", "w"], ["y"])
    result = TensorProto.INT32 if whole_numbers else TensorProto.FLOAT
    graph = helper.make_graph(
        [node],
        "product",
        [helper.make_tensor_value_info("x", left_type, ["rows", len(weights)])],
        [helper.make_tensor_value_info("y", result, ["rows", weights.shape[1]])],
        [numpy_helper.from_array(weights, "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    serialized: bytes = model.SerializeToString()
    return serialized


def _session(model: str | bytes, profile: Path | None = None) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    if profile:
        options.enable_profiling = True
        options.profile_file_prefix = str(profile)
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _fastest_run(session: onnxruntime.InferenceSession, left: NDArray[Any]) -> float:
    return min(seconds(lambda: session.run(None, {"x": left})) for _ in range(RUNS))
