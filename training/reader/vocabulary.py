"""The pieces that conversations need, of a larger SentencePiece model, and their rows of weights.

    python -m training.reader.vocabulary LARGE.model WEIGHTS NAME CONVERSATIONS TEXT OUT

writes `pieces.model` and `NAME.npz` into OUT.
"""

from __future__ import annotations

import argparse
import lzma
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import sentencepiece

from training.reader.conversations import read_conversations
from training.weights import read_parts, write_small

SIZE = 7_600
_SPECIAL = 4  # <s>, <pad>, </s>, <unk> come before the pieces in the rows of weights


def useful_pieces(
    processor: sentencepiece.SentencePieceProcessor,
    talk: Iterable[str],
    text: Iterable[str],
    size: int,
) -> list[int]:
    """The pieces in small letters that talk needs, filled up with the commonest of other text."""
    spoken: Counter[int] = Counter()
    written: Counter[int] = Counter()
    for line in talk:
        spoken.update(processor.encode(line.lower()))
    for line in text:
        written.update(processor.encode(line.lower()))
    kept = {it for it in range(processor.get_piece_size()) if _is_needed(processor, it)}
    for it, _ in [*spoken.most_common(), *written.most_common()]:
        if len(kept) >= size:
            break
        kept.add(it)
    return sorted(kept)


def _is_needed(processor: sentencepiece.SentencePieceProcessor, piece: int) -> bool:
    """Whether a piece is one that every text may need: a control piece or a single character."""
    written = processor.id_to_piece(piece)
    special = processor.is_control(piece) or processor.is_unknown(piece)
    return special or (len(written.lstrip("▁")) <= 1 and written == written.lower())


def cut(model: bytes, kept: list[int]) -> bytes:
    """A SentencePiece model with these pieces only."""
    from sentencepiece import sentencepiece_model_pb2

    proto: Any = sentencepiece_model_pb2.ModelProto()  # type: ignore[attr-defined]
    proto.ParseFromString(model)
    pieces = [proto.pieces[it] for it in kept]
    del proto.pieces[:]
    proto.pieces.extend(pieces)
    proto.trainer_spec.vocab_size = len(pieces)
    result: bytes = proto.SerializeToString()
    return result


def _some_text(path: Path, every: int = 40) -> Iterator[str]:
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if number % every == 0 and not line.startswith("###"):
                yield line.strip()


def main() -> None:
    """Writes the cut model and its rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("weights", type=Path)
    parser.add_argument("name")
    for name in ("conversations", "text", "out"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--positions", help="weights to take the later positions from")
    asked = parser.parse_args()
    processor = sentencepiece.SentencePieceProcessor(model_file=str(asked.model))
    talks = read_conversations(asked.conversations.glob("*.jsonl"))
    talk = (line.words for it in talks for line in it.request.transcript.utterances)
    kept = useful_pieces(processor, talk, _some_text(asked.text), SIZE)
    asked.out.mkdir(parents=True, exist_ok=True)
    (asked.out / "pieces.model").write_bytes(cut(asked.model.read_bytes(), kept))
    arrays = read_parts(asked.weights, asked.name)
    if asked.positions:
        more = read_parts(asked.weights, asked.positions)["positions.weight"]
        own = arrays["positions.weight"]
        arrays["positions.weight"] = np.concatenate([own, more[len(own) :]])
    rows = arrays["pieces.weight"]
    # Row k belongs to piece k - 1, but the first four rows are the special tokens'.
    special = [rows[it] for it in range(_SPECIAL)]
    arrays["pieces.weight"] = np.stack(
        [*special, *(rows[it + 1] for it in kept if it + 1 >= _SPECIAL)]
    )
    write_small(arrays, asked.out / f"{asked.name}.npz")
    print(f"{len(kept)} of {processor.get_piece_size()} pieces kept")


if __name__ == "__main__":
    main()
