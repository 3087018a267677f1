"""Split a text into SentencePiece pieces, each with its span in the original text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sat_bench.models.protocol import IntArray, TokenizerError
from truemark.errors import TruemarkError
from truemark.files import read_bytes

if TYPE_CHECKING:
    from sentencepiece import SentencePieceProcessor

# XLM-RoBERTa puts <pad> at 1, so every piece has its SentencePiece id + 1, and <unk> is 3.
BOS_ID, PAD_ID, EOS_ID, UNK_ID = 0, 1, 2, 3
ID_SHIFT = 1
WORD_BEGINNING = "▁"

CHUNK_CHARACTERS = 16_384
# Context that is encoded with a chunk and dropped afterwards: without it, SentencePiece would take
# the first piece of the chunk for the first of a text, which begins a word.
CONTEXT_CHARACTERS = 32

_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Tokens:
    """Piece ids in XLM-RoBERTa's numbering; `text[starts[i]:ends[i]]` is what piece i was made of.

    `ends` never decreases. Pieces of one expanded character share that character's end.
    """

    ids: IntArray
    starts: IntArray
    ends: IntArray

    def __len__(self) -> int:
        return len(self.ids)


class Tokenizer:
    """A SentencePiece model file; safe to share between threads."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._processor = _load(self.path)
        self._unknown = self._processor.unk_id()
        self._lone_beginning = self._processor.piece_to_id(WORD_BEGINNING) + ID_SHIFT
        self.highest_id = self._processor.get_piece_size() - 1 + ID_SHIFT

    def encode(self, text: str, *, chunk: int = CHUNK_CHARACTERS) -> Tokens:
        parts = list(self.encode_chunks(text, chunk=chunk))
        if len(parts) == 1:
            return parts[0]
        empty = np.zeros(0, np.int32)
        return Tokens(
            ids=np.concatenate([empty, *(part.ids for part in parts)]),
            starts=np.concatenate([empty, *(part.starts for part in parts)]),
            ends=np.concatenate([empty, *(part.ends for part in parts)]),
        )

    def encode_chunks(self, text: str, *, chunk: int = CHUNK_CHARACTERS) -> Iterator[Tokens]:
        """Encode the text, a bounded number of pieces at a time.

        Chunks begin where a word ends, so the pieces are the same as for the whole text, except
        that a run without spaces, or of only spaces, that is longer than a chunk is cut.
        """
        start = 0
        while start < len(text):
            end = _chunk_end(text, start, chunk)
            yield self._encode_part(text, start, end)
            start = end

    def _encode_part(self, text: str, start: int, end: int) -> Tokens:
        before = min(start, CONTEXT_CHARACTERS)
        part = text[start - before : end]
        if not (ascii_only := part.isascii()):
            # SentencePiece takes UTF-8, which cannot encode a lone surrogate.
            part = _SURROGATES.sub("\ufffd", part)
        encoded = self._processor.encode(part, return_type="offset_mapping")
        pieces, offsets = encoded["ids"], encoded["offsets"]
        spans = np.fromiter(
            chain.from_iterable(offsets), dtype=np.int32, count=2 * len(offsets)
        ).reshape(-1, 2)
        ids = np.array(pieces, dtype=np.int32)
        ids += ID_SHIFT
        if self._unknown in pieces:
            ids[ids == self._unknown + ID_SHIFT] = UNK_ID
        # The usual normalisation expands no ASCII character. If a tokenizer's does, as with line
        # breaks that become a piece and a space, there are pieces without characters.
        bare = spans[:, 0] == spans[:, 1]
        some_bare = bare.any()
        if expanded := not ascii_only or (some_bare and bare[1:].any()):
            self._complete_expansions(part, encoded["pieces"], spans)
        if self._lone_beginning - ID_SHIFT in pieces:
            self._complete_beginnings(part, ids, encoded["pieces"], spans)
        ends = _ends_of_covered_characters(spans) if expanded or some_bare else spans[:, 1]
        first = int(ends.searchsorted(before, side="right"))
        shift = start - before
        return Tokens(
            ids=ids[first:],
            starts=np.maximum(spans[first:, 0], before) + np.int32(shift),
            ends=ends[first:] + np.int32(shift),
        )

    def _complete_beginnings(
        self, part: str, ids: IntArray, pieces: list[str], spans: IntArray
    ) -> None:
        """Let a lone `▁` end after the first character of its word, as SaT does.

        SentencePiece ends it before the word, so its probability would go to the sentence before.
        """
        for index in np.flatnonzero(ids[:-1] == self._lone_beginning).tolist():
            start, end = spans[index + 1].tolist()
            if not pieces[index + 1].startswith(WORD_BEGINNING) and part[start:end].strip():
                # One normalised character may stand for several, such as a letter and its accent.
                spans[index, 1] = end if len(pieces[index + 1]) == 1 else start + 1

    def _complete_expansions(self, part: str, pieces: list[str], spans: IntArray) -> None:
        """Let a piece that ends inside an expanded character end after that character.

        SentencePiece ends it before the character: `▁f` of " ﬁne" would end at the space, and its
        probability would go to the sentence before.
        """
        normalised, origins = self._processor.normalize(part, with_offsets=True)
        cuts = np.cumsum(np.fromiter(map(len, pieces), np.int64, len(pieces)))
        if not len(cuts) or cuts[-1] != len(normalised):
            return  # byte pieces do not spell the text
        # The expansion of the last character may be trimmed, and its end with it.
        origin = np.array([*origins, len(part)], np.int32)
        inside = origin[cuts] == origin[cuts - 1]
        inside[0] &= pieces[0] != WORD_BEGINNING  # added before the text, not part of it
        spans[inside, 1] = origin[np.searchsorted(origin, spans[inside, 1], side="right")]


def _load(path: Path) -> SentencePieceProcessor:
    try:
        import sentencepiece
    except ImportError:
        raise TruemarkError("sentencepiece is not installed: pip install truemark") from None
    serialized = read_bytes(path)
    try:
        # With an empty file, the processor would have no model and fail only at its first use.
        if serialized:
            return sentencepiece.SentencePieceProcessor(model_proto=serialized)
    except RuntimeError:
        pass
    raise TokenizerError(
        f"{path}: not a SentencePiece model ({len(serialized)} bytes); "
        "expected a file such as XLM-RoBERTa's sentencepiece.bpe.model"
    )


def _ends_of_covered_characters(spans: IntArray) -> IntArray:
    """Let a piece without characters end with the next piece.

    An example is the lone `▁` that SentencePiece puts before the first piece of a text.
    """
    ends = np.where(spans[:, 0] == spans[:, 1], np.iinfo(np.int32).max, spans[:, 1])
    if len(ends) and ends[-1] > spans[-1, 1]:
        ends[-1] = spans[-1, 1]
    reverse: IntArray = np.minimum.accumulate(ends[::-1])
    return reverse[::-1]


def _chunk_end(text: str, start: int, size: int) -> int:
    limit = start + size
    if limit >= len(text):
        return len(text)
    # A space begins a word in every model; a line break only if it is normalised to a space.
    for separator in (" ", "\n"):
        place = text.rfind(separator, start + size // 2, limit)
        if place > start:
            word_end = start + len(text[start:place].rstrip())
            return word_end if word_end > start else place
    return limit
