from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from testing.onnx_models import write_transformer

from sat_bench.models.network import Network
from truemark.errors import TruemarkError


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "model.onnx"
    return write_transformer(path, layers=2, width=96, heads=4, vocabulary=50)


def test_a_missing_openvino_is_named_with_its_extra(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("truemark.imports.find_spec", lambda name: None)
    expected = r"-runtime openvino needs openvino, .*: pip install '.+\[openvino\]'"
    with pytest.raises(TruemarkError, match=expected):
        Network(model, runtime="openvino")


def test_an_onnxruntime_without_cuda_says_what_it_has(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import onnxruntime

    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: ["CPUExecutionProvider"])
    expected = (
        "-runtime cuda: this onnxruntime has no CUDAExecutionProvider, "
        "only CPUExecutionProvider: pip install onnxruntime-gpu"
    )
    with pytest.raises(TruemarkError, match=expected):
        Network(model, runtime="cuda")


def test_openvino_has_logits_within_its_precision(model: Path) -> None:
    window = np.random.default_rng(1).integers(4, 50, 200, dtype=np.int32)
    expected = Network(model, 49).logits([window])[0]
    network = Network(model, 49, cores=2, runtime="openvino")
    for spread in (False, True, True):
        # bfloat16 keeps two to three digits.
        np.testing.assert_allclose(network.logits([window], spread=spread)[0], expected, atol=0.1)


def test_openvino_names_a_file_that_is_no_model(tmp_path: Path) -> None:
    path = tmp_path / "broken.onnx"
    path.write_bytes(b"no model")
    with pytest.raises(TruemarkError, match=r"broken.onnx: not an ONNX model that OpenVINO 20"):
        Network(path, runtime="openvino")
