"""Update the cards of bundled models: checksums, sizes, and scores on gold documents.

python -m training.cards GOLD_DIR base small
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from sat_bench.models.systems import ModelFiles, find_model
from training.evaluate import table_of
from truemark.files import checksum, write_atomically
from truemark.tables import render

_TABLE = re.compile(r"^\| model \|.*?\n(?!\|)", re.MULTILINE | re.DOTALL)


def refreshed(card: str, files: ModelFiles, figures: str) -> str:
    """Return the card with the checksums and sizes of the files, and these scores as its table."""
    facts = {
        "sha256": checksum(files.model),
        "tokenizer_sha256": checksum(files.tokenizer),
        "bytes": str(files.model.stat().st_size + files.tokenizer.stat().st_size),
    }
    for key, value in facts.items():
        card, count = re.subn(rf"^{key}: .*$", f"{key}: {value}", card, count=1, flags=re.MULTILINE)
        if not count:
            raise ValueError(f"the card of {files.name} must have a line {key}: between --- lines")
    card, count = _TABLE.subn(lambda _: figures, card, count=1)
    if not count:
        raise ValueError(f"the card of {files.name} must have a table of figures")
    return card


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("gold", type=Path)
    parser.add_argument("models", nargs="+")
    options = parser.parse_args()
    for name in options.models:
        files = find_model(name)
        path = files.model.with_suffix(".md")
        figures = render(table_of(options.gold, [name]), "markdown")
        text = refreshed(path.read_text(encoding="utf-8"), files, figures)
        write_atomically(path, text.encode("utf-8"))
        print(f"{path}: brought up to date")


if __name__ == "__main__":
    main()
