"""Load finished networks from their files, and run them on texts without an export."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import torch

from sat_bench.defaults import DEFAULT_WEIGHTING
from sat_bench.models.protocol import FloatArray, IntArray, Probabilities
from sat_bench.models.tokenizer import BOS_ID, EOS_ID, Tokenizer
from sat_bench.models.windows import WindowAverage, windows
from training.language import LanguageModel
from training.network import Network, load
from training.shapes import LANGUAGE, known_shape
from training.shipped import read_onnx
from training.weights import Arrays, layer_count, read_network

AnyNetwork = Network | LanguageModel
WINDOW, OVERLAP, TOGETHER = 254, 32, 256


def started(path: Path) -> Arrays:
    """Read weights: a file or the parts of `training.weights`, or a shipped ONNX file."""
    return read_onnx(path) if path.suffix == ".onnx" else read_network(path)


def finished_network(arrays: Arrays) -> AnyNetwork:
    """Make the network of these weights, in evaluation mode."""
    if "positions.weight" in arrays:
        return load(known_shape(len(arrays["pieces.weight"]), layer_count(arrays)), arrays)
    network = LanguageModel(LANGUAGE)
    network.take(arrays)
    return network.eval().requires_grad_(False)  # type: ignore[no-any-return, unused-ignore]


class AskedNetwork:
    """A network that is run as the engine would run its exported file."""

    def __init__(self, network: AnyNetwork, tokenizer: Path) -> None:
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.network = network.to(self.device)
        self.tokenizer = Tokenizer(tokenizer)

    def probabilities_many(self, texts: Iterable[str]) -> Iterator[Probabilities]:
        """Yield the probabilities of each text, in order."""
        for text in texts:
            tokens = self.tokenizer.encode(text)
            cut = list(windows([tokens.ids], WINDOW, OVERLAP))
            average = WindowAverage(DEFAULT_WEIGHTING)
            for start in range(0, len(cut), TOGETHER):
                some = cut[start : start + TOGETHER]
                logits = self._logits(np.stack([window.ids for window in some]))
                for window, values in zip(some, logits, strict=True):
                    average.add(window.start, values)
            yield Probabilities(tokens.ends, average.finish())

    def _logits(self, ids: IntArray) -> FloatArray:
        framed = np.pad(ids.astype(np.int64), ((0, 0), (1, 1)))
        framed[:, 0], framed[:, -1] = BOS_ID, EOS_ID
        with (
            torch.no_grad(),
            torch.autocast(self.device, dtype=torch.bfloat16, enabled=self.device == "cuda"),
        ):
            hidden = self.network(torch.from_numpy(framed).to(self.device))
        logits = self.network.boundary(hidden.float())[:, 1:-1, 0]
        return logits.detach().cpu().numpy()  # type: ignore[no-any-return, unused-ignore]
