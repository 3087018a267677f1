"""The training code on the bundled talks: a few steps, an exported file, a model that runs."""

import random
from pathlib import Path

import numpy as np
import pytest

from sat_bench import Segmenter
from sat_bench.models.finding import BUNDLED_FOLDER

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: make test-training installs it and runs this"
)

pytestmark = [
    pytest.mark.training,
    # PyTorch's own code warns of its own plans; what is under test is ours.
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning:torch.*"),
]


def test_a_few_steps_make_a_file_that_the_loader_runs(tmp_path: Path) -> None:
    from training.export import build, read_member
    from training.network import SHAPES, Network
    from training.prepare import read_documents, train_tokenizer, write_passes
    from training.train import Schedule, batches, save, train

    documents = read_documents(BUNDLED_FOLDER / "talks")
    tokenizer = tmp_path / "sentencepiece.bpe.model"
    train_tokenizer(documents, tokenizer, SHAPES["smoke"].vocabulary - 1)
    write_passes(documents, tokenizer, tmp_path, passes=1, workers=1)
    torch.manual_seed(1)
    network = Network(SHAPES["smoke"])
    losses: list[str] = []
    train(
        [(network, Schedule(steps=50, seconds=300, rate=3e-3, warmup=5))],
        batches(tmp_path, 4, "cpu", random.Random(1)),
        teachers=[],
        device="cpu",
        report=lambda step, line: losses.append(line),
        guess_masked=True,
    )
    save(network, tmp_path, "smoke")
    assert losses

    model = tmp_path / "model.onnx"
    proto = build([read_member(tmp_path, "smoke")], quantize=True)
    model.write_bytes(proto.SerializeToString())
    text = "One short talk. Another sentence follows it."
    with Segmenter(model, tokenizer) as segmenter:
        assert "".join(segmenter.segment(text)) == text
        here = segmenter.probabilities(text)
    assert np.isfinite(here.values).all()


def test_the_exported_file_computes_what_the_network_computes(tmp_path: Path) -> None:
    import onnxruntime
    from training.export import build, read_member
    from training.network import SHAPES, Network
    from training.train import save

    torch.manual_seed(2)
    network = Network(SHAPES["smoke"]).eval()
    save(network, tmp_path, "smoke")
    proto = build([read_member(tmp_path, "smoke", share) for share in (0.25, 0.75)], quantize=False)
    session = onnxruntime.InferenceSession(proto.SerializeToString())
    ids = np.random.default_rng(3).integers(4, 500, (2, 40))
    mask = np.ones((2, 40), np.float16)
    mask[1, 25:] = 0
    (logits,) = session.run(None, {"input_ids": ids, "attention_mask": mask})
    with torch.no_grad():
        expected = network.logits(torch.from_numpy(ids), torch.from_numpy(mask).float()).numpy()
    assert logits[..., 0][mask > 0] == pytest.approx(expected[mask > 0], abs=1e-5)
