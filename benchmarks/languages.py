"""Compare F1 of `world` by language with other segmenters, measured by `sat-bench` itself.

    python -m benchmarks.languages [--write docs/segmenters.md]

reads the documents kept out of the training of `world` and prints a markdown table; --write puts it
into the guide. A library that is not installed is left out, with a line below the table.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from statistics import fmean

from training.world.tune import WRITTEN, kept_out, marked

from benchmarks.segmenters import Measured, measured, show, write_corpus
from truemark.tables import Table, render

NAME = "languages"
DOCUMENTS = Path(__file__).parent.parent / "training" / "world" / "documents.txt.xz"
MODELS = ("world", "base")
# Libraries that are given the language, or only use the marks of Unicode.
LIBRARIES = ("icu4py", "sentencex", "pysbd", "sentence-splitter", "sentencesplit")
BARE = ("world", "base", "lib:icu4py")
NOT_INSTALLED = "not installed"  # how the failure of such a library begins


def by_language(documents: Path) -> dict[str, Measured]:
    """Measure all systems on the documents of each language, at exact positions."""
    results = {}
    with tempfile.TemporaryDirectory() as room:
        for language, texts in kept_out(documents).items():
            folder = Path(room) / language
            write_corpus(folder, [marked(text, WRITTEN) for text in texts])
            systems = (*MODELS, *(f"lib:{library}:{language}" for library in LIBRARIES))
            results[language] = measured(language, folder, systems, timed=False)
    return results


def table(results: dict[str, Measured]) -> Table:
    """Make a row for each language, and one with the means over the languages of each system."""
    missing = not_installed(results)
    libraries = tuple(f"lib:{name}" for name in LIBRARIES if f"lib:{name}" not in missing)
    columns = [(system, WRITTEN) for system in (*MODELS, *libraries)]
    columns += [(system, "bare") for system in BARE if system not in missing]
    rows = [
        (language, *(_f1(sets, language, *column) for column in columns))
        for language, sets in results.items()
    ]
    means = [
        fmean(known) if (known := [f1 for f1 in scores if f1 is not None]) else None
        for scores in list(zip(*rows, strict=True))[1:]
    ]
    titles = [system if kind == WRITTEN else f"{system}, {kind}" for system, kind in columns]
    return Table(("language", *titles), (*rows, ("mean", *means)), (None, *(".3f",) * len(columns)))


def not_installed(results: dict[str, Measured]) -> dict[str, str]:
    """Return the libraries that are not installed, with how to install them."""
    failures = (
        (row["model"].rpartition(":")[0], row["failed"])
        for sets in results.values()
        for row in sets.rows
        if row["failed"].startswith(NOT_INSTALLED)
    )
    return dict(failures)


def _f1(sets: Measured, language: str, system: str, condition: str) -> float | None:
    name = f"{system}:{language}" if system.startswith("lib:") else system
    row = sets.row(name, condition)
    return float(row["f1"]) if row else None


def report(results: dict[str, Measured]) -> str:
    """Return the table and the libraries that are left out, as markdown."""
    lines = "".join(f"- left out: {name}: {why}\n" for name, why in not_installed(results).items())
    return render(table(results), "markdown") + ("\n" + lines if lines else "")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", type=Path, metavar="GUIDE", help="put the output into a guide")
    options = parser.parse_args()
    show(report(by_language(DOCUMENTS)), NAME, options.write)


if __name__ == "__main__":
    main()
