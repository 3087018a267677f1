"""Run wtpsplit-lite on the files that the segmenter reads, for comparisons.

    python -m benchmarks.wtpsplit_peer

stores its sentence ends for the tests that compare the segmenter with it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import onnxruntime
import sentencepiece
from sentencepiece import sentencepiece_model_pb2

from sat_bench.models.cards import longest_window

INSTALL = "pip install wtpsplit-lite==0.2.0 protobuf"


class WtpsplitPeer:
    """wtpsplit-lite with a model and a SentencePiece tokenizer in the form that it loads."""

    def __init__(self, folder: Path, model: Path, tokenizer: Path) -> None:
        from wtpsplit_lite import SaT

        folder.mkdir()
        shutil.copy(model, folder / "model_optimized.onnx")
        labels = {str(label): str(label) for label in range(_labels(model))}
        config = {"model_type": "xlm-token", "id2label": labels}
        (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
        _write_tokenizer_json(folder / "tokenizer.json", tokenizer)
        self._sat = SaT(folder, folder, hub_prefix=None)
        self._window = longest_window(model)

    def boundaries(
        self, text: str, threshold: float, stride: int = 64, batch_size: int = 32
    ) -> list[int]:
        """Return sentence ends, each after the last character before white space."""
        sentences = self._sat.split(
            text, threshold=threshold, stride=stride, block_size=self._window, batch_size=batch_size
        )
        return ends(sentences)

    def boundaries_of_many(self, texts: Sequence[str], threshold: float) -> list[list[int]]:
        """Return the `boundaries` of each text, passed to wtpsplit-lite as one list."""
        splits = self._sat.split(list(texts), threshold=threshold, block_size=self._window)
        return [ends(sentences) for sentences in splits]

    @contextmanager
    def counting_tokens(self) -> Iterator[list[int]]:
        """Collect the token counts of the network runs in the block, marks and padding included."""
        network: Any = self._sat.model
        counted = _CountingSession(network.ort_session)
        network.ort_session = counted
        try:
            yield counted.tokens
        finally:
            network.ort_session = counted.session


class _CountingSession:
    def __init__(self, session: onnxruntime.InferenceSession) -> None:
        self.session, self.tokens = session, list[int]()

    def run(self, names: list[str], inputs: dict[str, Any]) -> Any:
        self.tokens.append(inputs["input_ids"].size)
        return self.session.run(names, inputs)


def ends(sentences: Sequence[str]) -> list[int]:
    """Return the offset after the last character of each sentence; joined, they are the text."""
    offsets, start = [], 0
    for sentence in sentences:
        offsets.append(start + len(sentence.rstrip()))
        start += len(sentence)
    return offsets


def _labels(model: Path) -> int:
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    labels: int = session.get_outputs()[0].shape[2]
    return labels


def _write_tokenizer_json(path: Path, tokenizer: Path) -> None:
    """Write XLM-RoBERTa's tokenizer with the pieces of a SentencePiece model."""
    from tokenizers import (
        Regex,
        Tokenizer,
        models,
        normalizers,
        pre_tokenizers,
    )

    proto: Any = sentencepiece_model_pb2.ModelProto()  # type: ignore[attr-defined]  # generated
    proto.ParseFromString(tokenizer.read_bytes())
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(tokenizer))
    special = [(piece, 0.0) for piece in ("<s>", "<pad>", "</s>", "<unk>")]
    scored = [
        (pieces.id_to_piece(number), pieces.get_score(number))
        for number in range(3, pieces.get_piece_size())
    ]
    converted = Tokenizer(models.Unigram([*special, *scored], unk_id=3, byte_fallback=False))
    converted.normalizer = normalizers.Sequence(
        [
            normalizers.Precompiled(proto.normalizer_spec.precompiled_charsmap),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    converted.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    converted.save(str(path))


def main() -> None:
    """Store the sentence ends of wtpsplit-lite for a test of the segmenter."""
    from testing.wtpsplit_cases import STORED, TEXTS, THRESHOLDS, long_text, write_lookup_model

    from sat_bench.models.systems import find_model

    files = find_model("small")
    with TemporaryDirectory() as name:
        folder = Path(name)
        small = WtpsplitPeer(folder / "small", files.model, files.tokenizer)
        lookup = write_lookup_model(folder / "lookup.onnx", files.tokenizer)
        peer = WtpsplitPeer(folder / "lookup", lookup, files.tokenizer)
        stored = {
            "long text": {
                # In an int8 model, windows of one batch share the range used for rounding.
                str(threshold): small.boundaries(long_text(), threshold, batch_size=1)
                for threshold in THRESHOLDS
            },
            "short texts": [peer.boundaries(text, 0.5) for text in TEXTS],
        }
    STORED.write_text(json.dumps(stored) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
