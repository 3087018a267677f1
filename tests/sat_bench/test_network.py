from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from testing.onnx_models import write_graph, write_transformer

from sat_bench.defaults import Runtime
from sat_bench.models import runtimes
from sat_bench.models.network import Network
from truemark.errors import TruemarkError

SIDES = ["batch", "sequence"]
IDS = helper.make_tensor_value_info("input_ids", TensorProto.INT64, SIDES)
MASK = helper.make_tensor_value_info("attention_mask", TensorProto.FLOAT, SIDES)


def write_signature(
    path: Path, inputs: list[onnx.ValueInfoProto], output: onnx.ValueInfoProto
) -> Path:
    """A model of that signature; its output is its first input, cast, with an axis if declared."""
    rank = len(output.type.tensor_type.shape.dim)
    nodes = [
        helper.make_node("Cast", [inputs[0].name], ["cast"], to=output.type.tensor_type.elem_type),
        helper.make_node("Unsqueeze", ["cast", "axis"], [output.name])
        if rank == 3
        else helper.make_node("Identity", ["cast"], [output.name]),
    ]
    axis = helper.make_tensor("axis", TensorProto.INT64, [1], [2])
    return write_graph(path, helper.make_graph(nodes, "signature", inputs, [output], [axis]))


def logits(kind: int = TensorProto.FLOAT, rank: int = 3) -> onnx.ValueInfoProto:
    sides: list[str | int] = ["batch", "sequence", 1]
    return helper.make_tensor_value_info("logits", kind, sides[:rank])


def renamed(value: onnx.ValueInfoProto, name: str) -> onnx.ValueInfoProto:
    copy = onnx.ValueInfoProto()
    copy.CopyFrom(value)
    copy.name = name
    return copy


@pytest.mark.parametrize(
    ("inputs", "output", "declared"),
    [
        pytest.param([IDS], logits(), "inputs input_ids (int64)", id="no mask"),
        pytest.param(
            [IDS, MASK, renamed(IDS, "token_type_ids")],
            logits(),
            "token_type_ids (int64) of [batch, sequence]",
            id="another input",
        ),
        pytest.param([renamed(IDS, "ids"), MASK], logits(), "ids (int64)", id="other name"),
        pytest.param(
            [helper.make_tensor_value_info("input_ids", TensorProto.INT32, SIDES), MASK],
            logits(),
            "input_ids (int32)",
            id="int32 ids",
        ),
        pytest.param(
            [IDS, helper.make_tensor_value_info("attention_mask", TensorProto.BOOL, SIDES)],
            logits(),
            "attention_mask (bool)",
            id="boolean mask",
        ),
        pytest.param(
            [helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, 512]), MASK],
            logits(),
            "input_ids (int64) of [1, 512]",
            id="fixed size",
        ),
        pytest.param([IDS, MASK], logits(TensorProto.INT64), "logits (int64)", id="integer logits"),
        pytest.param(
            [IDS, MASK], logits(rank=2), "logits (float32) of [batch, sequence]", id="rank 2"
        ),
        pytest.param(
            [IDS, MASK], renamed(logits(), "scores"), "outputs scores (float32)", id="no logits"
        ),
    ],
)
def test_another_signature_is_refused_with_what_the_file_declares(
    tmp_path: Path,
    inputs: list[onnx.ValueInfoProto],
    output: onnx.ValueInfoProto,
    declared: str,
) -> None:
    path = write_signature(tmp_path / "other.onnx", inputs, output)
    with pytest.raises(TruemarkError, match=r"other\.onnx: not a SaT model") as caught:
        Network(path)
    message = str(caught.value)
    assert declared in message
    assert "expected inputs input_ids (int64) and attention_mask" in message
    assert "\n" not in message


def test_logits_of_an_undeclared_wrong_rank_are_refused(tmp_path: Path) -> None:
    undeclared = onnx.ValueInfoProto(name="logits")
    undeclared.type.tensor_type.elem_type = TensorProto.FLOAT
    node = helper.make_node("Cast", ["input_ids"], ["logits"], to=TensorProto.FLOAT)
    graph = helper.make_graph([node], "undeclared", [IDS, MASK], [undeclared])
    # Without shape inference onnxruntime cannot know the rank before the model runs.
    path = write_graph(tmp_path / "rank.onnx", graph)
    with pytest.raises(TruemarkError, match="not a SaT model"):
        Network(path)


@pytest.fixture(scope="module")
def valid(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("valid") / "model.onnx"
    return write_transformer(path, layers=1, width=8, heads=2, vocabulary=50).read_bytes()


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda content: content[: len(content) // 2], id="cut in half"),
        pytest.param(lambda content: content[:-1], id="last byte missing"),
        pytest.param(lambda content: b"", id="empty"),
        pytest.param(lambda content: b"<!DOCTYPE html><p>Not found", id="a web page"),
        pytest.param(lambda content: b"version https://git-lfs.example\n", id="a pointer file"),
    ],
)
def test_a_file_that_is_no_onnx_model_is_named(
    tmp_path: Path, valid: bytes, damage: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "broken.onnx"
    path.write_bytes(damage(valid))
    with pytest.raises(TruemarkError, match=r"broken\.onnx: not an ONNX model") as caught:
        Network(path)
    assert "onnxruntime_src" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_model_whose_names_are_damaged_is_named(tmp_path: Path) -> None:
    path = write_signature(tmp_path / "model.onnx", [IDS, MASK], logits())
    path.write_bytes(path.read_bytes().replace(b"Unsqueeze", b"\x95nsqueez\xb3"))
    with pytest.raises(TruemarkError, match=r"model\.onnx: not an ONNX model"):
        Network(path)


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(TruemarkError, match=r"none\.onnx: no such file"):
        Network(tmp_path / "none.onnx")
    with pytest.raises(TruemarkError, match="is a folder"):
        Network(tmp_path)


def test_a_model_of_a_later_format_is_refused_without_source_positions(
    tmp_path: Path, valid: bytes
) -> None:
    model = onnx.load_from_string(valid)
    model.ir_version = 99
    path = tmp_path / "later.onnx"
    path.write_bytes(model.SerializeToString())
    with pytest.raises(TruemarkError, match="Unsupported model IR version") as caught:
        Network(path)
    assert ".cc" not in str(caught.value)
    assert "::" not in str(caught.value)


def test_onnxruntime_prints_nothing(tmp_path: Path, valid: bytes) -> None:
    (tmp_path / "model.onnx").write_bytes(valid)
    (tmp_path / "broken.onnx").write_bytes(valid[:-1])
    code = (
        "import numpy as np\n"
        "from sat_bench.models.network import Network\n"
        "from truemark.errors import TruemarkError\n"
        "network = Network('model.onnx')\n"
        "for attempt in (lambda: Network('broken.onnx'),\n"
        "                lambda: network.logits([np.full(3, 999, np.int32)])):\n"
        "    try:\n"
        "        attempt()\n"
        "    except TruemarkError:\n"
        "        print('refused')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        env=os.environ,
    )
    assert done.stdout == "refused\nrefused\n"
    assert done.stderr == ""


def test_padding_does_not_change_logits(tmp_path: Path) -> None:
    path = write_transformer(tmp_path / "m.onnx", layers=2, width=16, heads=2, vocabulary=100)
    network = Network(path)
    rng = np.random.default_rng(1)
    windows = [rng.integers(4, 100, length).astype(np.int32) for length in (3, 17, 9)]
    together = network.logits(windows)
    for window, found in zip(windows, together, strict=True):
        assert len(found) == len(window)
        # Half precision keeps three digits.
        np.testing.assert_allclose(found, network.logits([window])[0], atol=2e-3)


def test_a_run_on_all_cores_has_the_same_logits(tmp_path: Path) -> None:
    path = write_transformer(tmp_path / "model.onnx", layers=2, width=96, heads=4, vocabulary=50)
    network = Network(path, 49, cores=2)
    window = np.random.default_rng(1).integers(4, 50, 200, dtype=np.int32)
    expected = network.logits([window])[0]
    for _ in range(3):  # from the second on, the run has a session of its own
        assert (network.logits([window], spread=True)[0] == expected).all()


@pytest.mark.parametrize(
    ("times", "sessions"), [(1, 1), (2, 2), (5, 2)], ids=["once", "twice", "often"]
)
def test_a_model_is_loaded_again_when_lone_windows_come_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int, sessions: int
) -> None:
    opened: list[int] = []

    def counted(path: Path, runtime: Runtime, *, threads: int = 1) -> runtimes.Session:
        opened.append(threads)
        return runtimes.open_session(path, runtime, threads=threads)

    monkeypatch.setattr("sat_bench.models.network.open_session", counted)
    path = write_transformer(tmp_path / "model.onnx", layers=1, width=16, heads=2, vocabulary=50)
    network = Network(path, 49, cores=3)
    for _ in range(times):
        network.logits([np.array([7, 8], np.int32)], spread=True)
    assert opened == [1, 3][:sessions]


def test_a_missing_onnxruntime_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(TruemarkError, match="onnxruntime is not installed: pip install truemark"):
        Network(tmp_path / "model.onnx")
