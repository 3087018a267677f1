"""Compare F1 and speed of the bundled models with other segmenters, measured by `sat-bench` itself.

    python -m benchmarks.segmenters [--gold DIR] [--write docs/segmenters.md]

prints a markdown table; --write puts it into the guide. DIR holds clones of UD treebanks (EWT and
GUM), or gold documents as `.jsonl.gz` files with a JSON object with `sentences` on each line.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from docs import outputs
from training.corruption import MarkedText, join
from training.documents import GOLD_ENDING, read_gold_folder

from benchmarks.machine import machine
from benchmarks.timing import undisturbed
from sat_bench.corpus.gold import parse_conllu
from sat_bench.defaults import BUNDLED_CORPUS, ENGLISH_MODELS
from sat_bench.models.libraries import LIBRARIES
from truemark.errors import TruemarkError
from truemark.files import read_text, write_atomically
from truemark.tables import Table, render

NAME = "segmenters"
CONDITIONS = ("written", "bare")
# Left out, since their models must be downloaded from elsewhere.
NOT_ON_PYPI = ("stanza", "wtpsplit", "wtpsplit-lite")
SYSTEMS = (
    *reversed(ENGLISH_MODELS),
    *(f"lib:{name}" for name in LIBRARIES if name not in NOT_ON_PYPI),
)
# The parts of UD treebanks that the bundled models were not trained on.
PARTS = {"ewt": ("dev",), "gum": ("dev", "test")}
SPOKEN = ("conversation", "court", "interview", "podcast", "speech", "vlog")  # genres of GUM
MARKS = {"better": " ↑", "worse": " ↓", "not distinguishable": " ="}

_TREEBANK = re.compile(r"en_(?P<name>[a-z]+)-ud-(?P<part>[a-z]+)\.conllu")

Row = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Measured:
    """The results of `sat-bench` on one set of texts: a row for each system and condition."""

    name: str
    rows: tuple[Row, ...]

    def row(self, system: str, condition: str) -> Row | None:
        """Return the row of a system, or None if it was not measured."""
        for row in self.rows:
            if (row["model"], row["condition"]) == (system, condition) and not row["failed"]:
                return row
        return None

    @property
    def failed(self) -> Iterator[str]:
        """A line for each system that failed."""
        return (f"{row['model']}: {row['failed']}" for row in self.rows if row["failed"])


@contextmanager
def corpora(gold: Path | None) -> Iterator[dict[str, Path]]:
    """Write each set of gold documents to a folder for `sat-bench`; without gold use the talks."""
    with tempfile.TemporaryDirectory() as room:
        folders = {} if gold else {"talks": BUNDLED_CORPUS}
        for name, texts in (read_texts(gold) if gold else {}).items():
            folders[name] = Path(room) / name
            write_corpus(folders[name], texts)
        yield folders


def read_texts(gold: Path) -> dict[str, list[MarkedText]]:
    """Read the sets of gold documents of a folder, each document joined by single spaces."""
    texts = {
        name: [join(document.sentences) for document in documents]
        for name, documents in read_gold_folder(gold).items()
    }
    texts = texts or read_treebanks(gold)
    if not texts:
        names = ", ".join(f"en_{name}-ud-{part}.conllu" for name in PARTS for part in PARTS[name])
        raise TruemarkError(f"{gold}: expected clones of UD treebanks ({names}) or *{GOLD_ENDING}")
    return texts


def read_treebanks(folder: Path) -> dict[str, list[MarkedText]]:
    """Read the documents of UD treebanks below a folder; those of GUM by genre."""
    texts: dict[str, list[MarkedText]] = {}
    for path in sorted(folder.rglob("*.conllu")):
        named = _TREEBANK.fullmatch(path.name)
        if named is None or named["part"] not in PARTS.get(named["name"], ()):
            continue
        for talk in parse_conllu(path, read_text(path)):
            genre = talk.id.split("_")[1] if talk.id.startswith("GUM_") else None
            style = f"_{'spoken' if genre in SPOKEN else 'written'}" if genre else ""
            name = f"{named['name']}{style}_{''.join(PARTS[named['name']])}"
            sentences = [talk.text[start:end] for start, end in talk.sentences]
            texts.setdefault(name, []).append(join(sentences))
    return dict(sorted(texts.items()))


def write_corpus(folder: Path, texts: Sequence[MarkedText]) -> None:
    """Write texts with their ends as a folder that `sat-bench` reads."""
    folder.mkdir()
    for number, marked in enumerate(texts):
        talk = {"name": f"{number:04}", "text": marked.text, "boundaries": marked.ends.tolist()}
        (folder / f"{number:04}.json").write_text(json.dumps(talk), encoding="utf-8")


def measured(
    name: str, corpus: Path, systems: Sequence[str] = SYSTEMS, *, timed: bool = True
) -> Measured:
    """Measure systems on one set of texts, at exact positions; `timed` needs an idle machine."""
    print(f"{name} ...", file=sys.stderr)
    flags = {
        "-models": ",".join(systems),
        "-corpus": str(corpus),
        "-conditions": ",".join(CONDITIONS),
        "-tolerance": "0",
        "-format": "csv",
    }
    words = (word for flag in flags.items() for word in flag)
    command = [sys.executable, "-m", "sat_bench", *words]
    run = partial(subprocess.run, command, capture_output=True, text=True, check=False)
    done = undisturbed(run, name) if timed else run()
    if not done.stdout:
        raise TruemarkError(f"{name}: sat-bench failed: {done.stderr.strip()}")
    return Measured(name, tuple(csv.DictReader(io.StringIO(done.stdout))))


def table(sets: Sequence[Measured]) -> Table:
    """Make a row per system: F1, its interval, the verdict against the first system, the speed."""
    columns = [(texts, condition) for condition in CONDITIONS for texts in sets]
    titles = [
        texts.name if condition == "written" else f"{texts.name}, {condition}"
        for texts, condition in columns
    ]
    rows = [
        (
            system,
            *(_cell(texts.row(system, condition)) for texts, condition in columns),
            _speed(sets, system),
        )
        for system in SYSTEMS
        if sets[0].row(system, "written")
    ]
    return Table(
        ("segmenter", *titles, "characters/s"), tuple(rows), (*[None] * (len(titles) + 1), ",.0f")
    )


def _cell(row: Row | None) -> str:
    if row is None:
        return "-"
    interval = f"{float(row['f1']):.3f} ({float(row['f1_low']):.3f} to {float(row['f1_high']):.3f})"
    return interval + MARKS.get(row["verdict"], "")


def _speed(sets: Sequence[Measured], system: str) -> float:
    rows = [row for texts in sets if (row := texts.row(system, "written"))]
    seconds = sum(float(row["seconds"]) for row in rows)
    return sum(float(row["seconds"]) * float(row["characters_per_s"]) for row in rows) / seconds


def report(gold: Path | None) -> str:
    """Return the machine, the table and the systems left out, as markdown."""
    with corpora(gold) as folders:
        sets = [measured(name, corpus) for name, corpus in folders.items()]
    parts = [
        machine(),
        render(table(sets), "markdown").rstrip(),
        "\n".join(f"- left out: {line}" for line in sets[0].failed),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def show(report: str, name: str, guide: Path | None) -> None:
    """Print the output, or put it between its marks in the guide."""
    if guide is None:
        print(report, end="")
        return
    text = read_text(guide)
    if name not in dict(outputs.measurements(text)):
        raise TruemarkError(
            f"{guide}: expected '<!-- output of: python -m benchmarks.{name} ... -->' and, "
            "further down, '<!-- end of output -->'; add these two lines where the table shall be"
        )
    write_atomically(guide, outputs.with_measurement(text, name, report))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--gold", type=Path, metavar="DIR", help="treebanks or gold documents; else the talks alone"
    )
    parser.add_argument("--write", type=Path, metavar="GUIDE", help="put the output into a guide")
    options = parser.parse_args()
    try:
        show(report(options.gold), NAME, options.write)
    except TruemarkError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
