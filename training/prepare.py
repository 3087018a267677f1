"""Make a tokenizer, and windows of tokens with labels, from documents.

python -m training.prepare thin MIX_ALL.txt.xz MIX.txt.xz
python -m training.prepare tokenizer MIX.txt.xz OUT.model
python -m training.prepare windows MIX.txt.xz TOKENIZER.model OUT_DIR --passes 10
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sat_bench.models.tokenizer import ID_SHIFT, Tokenizer
from training.corruption import DASHES, MarkedText, draw
from training.documents import Document, read_mix, read_talks, write_thinned

SEED = 20261115
Shard = Callable[[int, int, int], tuple[Any, Any, Any]]  # part, parts, seed -> columns
WINDOW = 508  # two windows of 254 tokens, which are 256 positions with their marks
# A token's label byte: bit 0 = a sentence ends, bits 1-3 = the mark removed, bit 4 = marks removed,
# bit 5 = a sentence ends at a dash, where teachers do not count.
END, MARK_SHIFT, MARKS_KNOWN, CUT_SHORT = 1, 1, 16, 32
# Unify white space and quotes. A line break, which separates sentences, becomes a piece; the space
# after it gives the first word of a line its usual piece.
LINE_BREAK = "␤"
NORMALISATION = {
    "\t": " ", "\u00a0": " ", "\u2009": " ", "\u200b": "", "\ufeff": "", "\u00ad": "",
    "‘": "'", "’": "'", "“": '"', "”": '"', "„": '"', "…": "...", "―": "—",
    **dict.fromkeys(
        ("\n", "\n\n", "\n\n\n", "\r\n", "\r\n\r\n", "\r", "\u2028", "\u2029"), LINE_BREAK + " "
    ),
}  # fmt: skip


def train_tokenizer(documents: Sequence[Document], out: Path, vocabulary: int) -> None:
    """Train a unigram SentencePiece model on a sample of the text, 40% of it lower-cased."""
    import sentencepiece

    rng = random.Random(SEED)
    sentences = [s for d in documents for s in d.sentences]
    sample = rng.sample(sentences, min(len(sentences), 600_000))
    rules = out.with_suffix(".tsv")
    rules.write_text(
        "".join(
            f"{' '.join(f'{ord(c):X}' for c in old)}\t{' '.join(f'{ord(c):X}' for c in new)}\n"
            for old, new in NORMALISATION.items()
        )
    )
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=(s.lower() if rng.random() < 0.4 else s for s in sample),
        model_prefix=str(out.with_suffix("")),
        vocab_size=vocabulary,
        model_type="unigram",
        character_coverage=0.9997,
        normalization_rule_tsv=str(rules),
        user_defined_symbols=[LINE_BREAK],
        split_digits=True,
        max_sentencepiece_length=14,
        hard_vocab_limit=False,
        num_threads=os.cpu_count(),
        minloglevel=1,
    )
    rules.unlink()
    out.with_suffix(".vocab").unlink()


def piece_names(tokenizer: Path) -> tuple[str, ...]:
    """Return the pieces of a SentencePiece model in the order of the network's ids."""
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor(model_file=str(tokenizer))
    names = (processor.id_to_piece(i) for i in range(processor.get_piece_size()))
    return ("",) * ID_SHIFT + tuple(names)


def labelled(
    tokenizer: Tokenizer, marked: MarkedText
) -> tuple[NDArray[np.int16], NDArray[np.int8]]:
    """Return the token ids of a marked text, with a label byte for each."""
    tokens = tokenizer.encode(marked.text)
    ids, token_ends = tokens.ids.astype(np.int16), tokens.ends
    labels = np.zeros(len(ids), dtype=np.int8)
    if not len(ids):
        return ids, labels
    if marked.removed is not None:
        last = np.clip(token_ends - 1, 0, len(marked.removed) - 1)
        labels |= (marked.removed[last] << MARK_SHIFT) | MARKS_KNOWN
    owners = np.searchsorted(token_ends, marked.ends, side="right") - 1
    labels[owners[owners >= 0]] |= END
    at_dash = np.array([marked.text[end - 1] in DASHES for end in marked.ends], dtype=bool)
    labels[owners[at_dash & (owners >= 0)]] |= CUT_SHORT
    return ids, labels


def _runs(documents: Sequence[Document], rng: random.Random) -> Iterator[tuple[Document, int, int]]:
    chosen = [
        d for d in documents for _ in range(int(d.draws) + (rng.random() < d.draws - int(d.draws)))
    ]
    rng.shuffle(chosen)
    for document in chosen:
        start = 0
        while start < len(document.sentences):
            stop = start + rng.randint(20, 80)
            yield document, start, stop
            start = stop


def windows(
    documents: Sequence[Document], tokenizer: Tokenizer, newline: int, seed: int
) -> tuple[NDArray[np.int16], NDArray[np.int8], NDArray[np.float16]]:
    """Return ids, labels and trust of full windows of one corrupted pass through the documents."""
    rng = random.Random(seed)
    all_ids, all_labels, all_trust = [], [], []
    for document, start, stop in _runs(documents, rng):
        sentences = document.sentences[start:stop]
        paragraphs = frozenset(i - start for i in document.paragraphs if start <= i < stop)
        ids, labels = labelled(tokenizer, draw(sentences, paragraphs, document.trust == 1.0, rng))
        if rng.random() < 0.5:
            ids, labels = np.append(ids, np.int16(newline)), np.append(labels, np.int8(0))
        all_ids.append(ids)
        all_labels.append(labels)
        all_trust.append(np.full(len(ids), document.trust, dtype=np.float16))
    count = sum(map(len, all_ids)) // WINDOW
    shape = (count, WINDOW)

    def cut(parts: list[Any]) -> Any:
        return np.concatenate(parts)[: count * WINDOW].reshape(shape)

    return cut(all_ids), cut(all_labels), cut(all_trust)


_documents: list[Document] = []


def _shard(tokenizer_path: Path, part: int, parts: int, seed: int) -> tuple[Any, Any, Any]:
    tokenizer, newline = _pieces_of(tokenizer_path)
    return windows(_documents[part::parts], tokenizer, newline, seed * 1000 + part)


@cache
def _pieces_of(path: Path) -> tuple[Tokenizer, int]:
    """Load the tokenizer; return it with its piece for a line break."""
    return Tokenizer(path), piece_names(path).index(LINE_BREAK)


def write_passes(shard: Shard, out: Path, passes: int, workers: int) -> None:
    """Write a `.npz` file of shuffled windows for each pass; it appears when it is complete.

    `shard(part, parts, seed)` makes one worker's part of a pass.
    """
    out.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(workers, mp_context=get_context("fork")) as pool:
        for number in range(passes):
            temporary = out / f".{number}.npz"
            temporary.touch()  # tells a reader that more passes are coming
            jobs = [pool.submit(shard, part, workers, SEED + number) for part in range(workers)]
            parts = [job.result() for job in jobs]
            ids, labels, trust = (np.concatenate(column) for column in zip(*parts, strict=True))
            order = np.random.default_rng(SEED + number).permutation(len(ids))
            np.savez(temporary, ids=ids[order], labels=labels[order], trust=trust[order])
            temporary.rename(out / f"pass_{number:02d}.npz")
            print(f"pass {number}: {len(ids)} windows", flush=True)


def write_document_passes(
    documents: Sequence[Document], tokenizer: Path, out: Path, passes: int, workers: int
) -> None:
    """Write passes through the documents, each with new corruptions."""
    _documents[:] = documents
    write_passes(partial(_shard, tokenizer), out, passes, workers)


def read_documents(source: Path) -> list[Document]:
    """Read the documents of a training mix, or of a folder of talks."""
    return read_talks(source) if source.is_dir() else list(read_mix(source))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    thin = commands.add_parser("thin")
    thin.add_argument("mix", type=Path)
    thin.add_argument("out", type=Path)
    thin.add_argument("--share", type=float, help="of every source split by rule")
    tokenizer = commands.add_parser("tokenizer")
    tokenizer.add_argument("mix", type=Path)
    tokenizer.add_argument("out", type=Path)
    tokenizer.add_argument("--vocabulary", type=int, default=16_000)
    passes = commands.add_parser("windows")
    passes.add_argument("mix", type=Path)
    passes.add_argument("tokenizer", type=Path)
    passes.add_argument("out", type=Path)
    passes.add_argument("--passes", type=int, default=10)
    passes.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    if options.command == "thin":
        write_thinned(options.mix, options.out, options.share)
        return
    documents = read_documents(options.mix)
    if options.command == "tokenizer":
        train_tokenizer(documents, options.out, options.vocabulary)
    else:
        write_document_passes(
            documents, options.tokenizer, options.out, options.passes, options.workers
        )


if __name__ == "__main__":
    main()
