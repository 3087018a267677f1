"""The options of `sat-bench` and `sat-bench import`: flags in, checked values out."""

import math
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sat_bench.evaluation import DEFAULTS
from sat_bench.flags import Flag, FlagParser
from sat_bench.models import DEFAULT_MODEL, expanded
from sat_bench.report import Mode
from sat_bench.sentences import TRUTH_RULES, TruthRule
from sat_bench.transcripts import HEADER_NAMES
from truemark.counts import Weights
from truemark.sweep import MAX_GRID_POINTS, grid
from truemark.tables import FORMATS, Format

DEFAULT_CORPUS = Path("testdata/ted")
DEFAULT_GRID = dict(zip(("-sweep-min", "-sweep-max", "-sweep-step"), DEFAULTS.grid, strict=True))


@dataclass(frozen=True, slots=True)
class Options:
    """What one call of `sat-bench` is to measure, and how to show it."""

    models: tuple[str, ...]
    compare: bool
    tokenizer: Path | None
    corpus: Path | None
    truth: TruthRule
    sweeps: bool
    thresholds: tuple[float, ...] | None  # nothing: each model's own
    tolerance: int
    weights: Weights
    format: Format
    per_talk: bool
    without_effect: tuple[str, ...]

    @property
    def mode(self) -> Mode:
        if self.compare:
            return "comparison"
        return "sweep" if self.sweeps else "evaluation"


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """Which file to turn into a corpus file, where to, under which header."""

    file: Path
    out: Path | None
    header: Mapping[str, str]
    force: bool


def _number(low: float, high: float, wanted: str) -> Callable[[str], float]:
    def parse(value: str) -> float:
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not (low <= number <= high and math.isfinite(number)):
            raise ArgumentTypeError(f"must be {wanted}, got {value!r}")
        return number

    return parse


def _step(value: str) -> float:
    step = _number(0, 1, "a number above 0, at most 1")(value)
    if step == 0:
        raise ArgumentTypeError(f"must be a number above 0, at most 1, got {value!r}")
    return step


def _tolerance(value: str) -> int:
    if not (value.isascii() and value.isdecimal()):
        raise ArgumentTypeError(f"must be a whole number of characters, 0 or more, got {value!r}")
    return int(value)


def _text(value: str) -> str:
    if not value.strip():
        raise ArgumentTypeError("must not be empty")
    return value


def _path(value: str) -> Path:
    return expanded(_text(value))


def _models(value: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in value.split(","))
    if not all(names):
        raise ArgumentTypeError(
            f"must be model names separated by commas, got an empty one in {value!r}"
        )
    return names


_probability = _number(0, 1, "a number from 0 to 1")
_weight = _number(0, math.inf, "a number of 0 or more")

FLAGS = (
    Flag(
        "-model",
        "a bundled model (small, nano), the path of an ONNX file or of its folder, "
        "or a name owner/model on the hub",
        "MODEL",
        DEFAULT_MODEL,
        _text,
    ),
    Flag(
        "-tokenizer",
        "path to a SentencePiece model file",
        "FILE",
        "the one beside the model",
        _path,
    ),
    Flag(
        "-corpus",
        "folder of transcripts, or one file",
        "PATH",
        f"{DEFAULT_CORPUS} where it holds transcripts, else the bundled talks",
        _path,
    ),
    Flag(
        "-truth",
        "rule for sentence ends in texts without gold ones: plain, or quoted, "
        "where closing quotes and brackets belong to the sentence",
        "RULE",
        TRUTH_RULES[0],
        choices=TRUTH_RULES,
    ),
    Flag(
        "-threshold",
        "a boundary is where the probability is above this",
        "P",
        f"{DEFAULTS.threshold}, or a bundled model's own",
        _probability,
    ),
    Flag(
        "-tolerance",
        "characters a prediction may be off and still match",
        "N",
        str(DEFAULTS.tolerance),
        _tolerance,
    ),
    Flag("-wp", "precision weight", "W", str(DEFAULTS.weights.precision), _weight),
    Flag("-wr", "recall weight", "W", str(DEFAULTS.weights.recall), _weight),
    Flag("-sweep", "evaluate a grid of thresholds instead of one"),
    *(
        Flag(name, meaning, "P", f"{DEFAULT_GRID[name]:.2f}", parse)
        for name, meaning, parse in (
            ("-sweep-min", "first threshold of the grid", _probability),
            ("-sweep-max", "end of the grid, itself not in it", _probability),
            ("-sweep-step", "distance from one threshold to the next", _step),
        )
    ),
    Flag(
        "-models",
        "models to compare, separated by commas; with -sweep each at its own best threshold",
        "A,B,…",
        parse=_models,
    ),
    Flag("-per-talk", "show each talk too, at the threshold used or found best"),
    Flag(
        "-format",
        "how to print the results: text, json, csv or markdown",
        "FORMAT",
        FORMATS[0],
        choices=FORMATS,
    ),
    Flag("-version", "print the version and exit"),
)

IMPORT_FLAGS = (
    Flag("-o", "file or folder to write to", "OUT", "FILE with the ending .txt", _path),
    Flag(
        "-source", "where the talk comes from, such as its address", "TEXT", "the file name", _text
    ),
    Flag("-speaker", "who speaks", "TEXT", parse=_text),
    Flag("-title", "what the talk is called", "TEXT", parse=_text),
    Flag("-force", "replace OUT if it exists"),
)


def parse_options(arguments: Sequence[str]) -> Options | None:
    """The options of a measurement, or nothing when only the version was asked for."""
    parser = FlagParser(
        "sat-bench",
        "sat-bench [flags]\n       sat-bench import FILE [flags]",
        "Measures how well a model finds sentence ends in talk transcripts.",
        "Every flag works with one dash and with two.\n"
        "sat-bench import -h: how to turn pasted text or subtitles into a corpus file.",
        FLAGS,
    )
    given = parser.parse(arguments)
    if "-version" in given:
        return None
    models = given.get("-models", ())
    try:
        weights = Weights(
            given.get("-wp", DEFAULTS.weights.precision), given.get("-wr", DEFAULTS.weights.recall)
        )
        thresholds = _thresholds(given)
    except ValueError as error:
        parser.error(str(error))
    return Options(
        models=models or (given.get("-model", DEFAULT_MODEL),),
        compare=bool(models),
        tokenizer=given.get("-tokenizer"),
        corpus=given.get("-corpus"),
        truth=given.get("-truth", TRUTH_RULES[0]),
        sweeps="-sweep" in given,
        thresholds=thresholds,
        tolerance=given.get("-tolerance", DEFAULTS.tolerance),
        weights=weights,
        format=given.get("-format", FORMATS[0]),
        per_talk="-per-talk" in given,
        without_effect=tuple(_without_effect(given)),
    )


def parse_import_options(arguments: Sequence[str]) -> ImportOptions:
    """The options of `sat-bench import`."""
    parser = FlagParser(
        "sat-bench import",
        "sat-bench import FILE [flags]",
        "Turns pasted transcript text, .srt or .vtt into a corpus file with its header.",
        "Every flag works with one dash and with two.",
        IMPORT_FLAGS,
        positional=("FILE", "text pasted from a page, or a subtitle file"),
    )
    given = parser.parse(arguments)
    return ImportOptions(
        file=Path(given["FILE"]),
        out=given.get("-o"),
        header={name: given[f"-{name}"] for name in HEADER_NAMES if f"-{name}" in given},
        force="-force" in given,
    )


def _thresholds(given: Mapping[str, Any]) -> tuple[float, ...] | None:
    if "-sweep" not in given:
        return (given["-threshold"],) if "-threshold" in given else None
    first, end, step = (given.get(name, default) for name, default in DEFAULT_GRID.items())
    if end <= first:
        raise ValueError(f"-sweep-max must be above -sweep-min ({first}), got {end}")
    if (end - first) / step > MAX_GRID_POINTS:
        raise ValueError(
            f"-sweep-step must give at most {MAX_GRID_POINTS} thresholds "
            f"between {first} and {end}, got {step}"
        )
    return grid(first, end, step)


def _without_effect(given: Mapping[str, Any]) -> Iterator[str]:
    if "-sweep" not in given:
        for name in DEFAULT_GRID:
            if name in given:
                yield f"{name} has no effect without -sweep"
    elif "-threshold" in given:
        yield "-threshold has no effect with -sweep"
    if "-models" in given and "-model" in given:
        yield "-model has no effect with -models"
