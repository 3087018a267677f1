"""The options of `sat-bench` and `sat-bench import`: flags in, checked values out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sat_bench import flags
from sat_bench.corpus.conditions import CONDITIONS, Condition
from sat_bench.corpus.talks import TRUTH_RULES, TruthRule
from sat_bench.corpus.transcripts import HEADER_NAMES
from sat_bench.evaluation import DEFAULTS
from sat_bench.flags import Flag, FlagParser
from sat_bench.models import DEFAULT_TIMEOUT_S
from sat_bench.models.finding import BUNDLED_MODELS, DEFAULT_MODEL, int8_name
from sat_bench.models.reach import DEFAULT_WEIGHTING, WEIGHTINGS, Weighting
from sat_bench.models.runtimes import DEFAULT_RUNTIME, RUNTIMES, Runtime
from sat_bench.models.systems import is_model_name
from sat_bench.recording import MODEL_MARK
from sat_bench.results import Mode
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
    overlap: int | None
    weighting: Weighting
    runtime: Runtime
    cache: Path | None
    cluster: str | None
    timeout_s: float
    conditions: tuple[Condition, ...]
    record: Path | None
    format: Format
    per_talk: bool
    without_effect: tuple[str, ...]

    @property
    def mode(self) -> Mode:
        if self.conditions:
            return "conditions"
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


FLAGS = (
    Flag(
        "-model",
        f"a bundled model ({', '.join(BUNDLED_MODELS)}), the path of an ONNX file or of its "
        "folder, a name owner/model on the hub; or lib:NAME, py:module:callable, cmd:COMMAND, "
        "file:FOLDER, llm:MODEL",
        "MODEL",
        DEFAULT_MODEL,
        flags.text,
    ),
    Flag(
        "-tokenizer",
        "path to a SentencePiece model file",
        "FILE",
        "the one beside the model",
        flags.path,
    ),
    Flag(
        "-corpus",
        "folder of transcripts, or one file; bundled names the talks of the package",
        "PATH",
        f"{DEFAULT_CORPUS} where it holds transcripts, else bundled",
        flags.corpus,
    ),
    Flag(
        "-truth",
        "rule for sentence ends in texts without gold ones: plain; quoted, where closing quotes "
        "and brackets belong to the sentence; or unicode, which is quoted with the terminators "
        "of all scripts",
        "RULE",
        TRUTH_RULES[0],
        choices=TRUTH_RULES,
    ),
    Flag(
        "-threshold",
        "a boundary is where the probability is above this",
        "P",
        f"{DEFAULTS.threshold}, or a bundled model's own",
        flags.probability,
    ),
    Flag(
        "-tolerance",
        "characters a prediction may be off and still match",
        "N",
        str(DEFAULTS.tolerance),
        flags.tolerance,
    ),
    Flag("-wp", "precision weight", "W", str(DEFAULTS.weights.precision), flags.weight),
    Flag("-wr", "recall weight", "W", str(DEFAULTS.weights.recall), flags.weight),
    Flag("-sweep", "evaluate a grid of thresholds instead of one"),
    *(
        Flag(name, meaning, "P", f"{DEFAULT_GRID[name]:.2f}", parse)
        for name, meaning, parse in (
            ("-sweep-min", "first threshold of the grid", flags.probability),
            ("-sweep-max", "end of the grid, itself not in it", flags.probability),
            ("-sweep-step", "distance from one threshold to the next", flags.step),
        )
    ),
    Flag(
        "-models",
        "models to compare, separated by commas; with -sweep each at its own best threshold",
        "A,B,…",
        parse=flags.model_names,
    ),
    Flag(
        "-quantize",
        "run int8 copies of the models, made once and kept in the user's cache folder; "
        "in -models, name:int8 is the int8 copy of that model",
    ),
    Flag(
        "-overlap",
        "tokens that neighbouring windows of a long text share; by default what suits the model",
        "N",
        parse=flags.overlap,
    ),
    Flag(
        "-weighting",
        "how the windows that share a token count for it: hat, less near their edges; or uniform, "
        "as wtpsplit averages them",
        "HOW",
        DEFAULT_WEIGHTING,
        choices=WEIGHTINGS,
    ),
    Flag(
        "-runtime",
        "what computes: onnx, onnxruntime on the processor; cuda, onnxruntime on a GPU; or "
        "openvino, which multiplies in bfloat16 where the processor can",
        "NAME",
        DEFAULT_RUNTIME,
        choices=RUNTIMES,
    ),
    Flag(
        "-cache",
        "folder in which probabilities are kept: texts that a model has read before "
        "need no inference",
        "FOLDER",
        parse=flags.path,
    ),
    Flag(
        "-cluster",
        "spread the talks over a Dask cluster: a scheduler's address such as tcp://host:8786, "
        "or local:N for N processes on this machine",
        "WHERE",
        parse=flags.cluster,
    ),
    Flag(
        "-timeout",
        "seconds that a program or a language model may take for one talk",
        "S",
        f"{DEFAULT_TIMEOUT_S:g}",
        flags.seconds,
    ),
    Flag(
        "-conditions",
        f"measure the talks under each of these, separated by commas: {', '.join(CONDITIONS)}; "
        "the loss is counted against written, which is always measured",
        "A,B,…",
        parse=flags.conditions,
    ),
    Flag(
        "-record",
        "write a run record, which truemark compares, draws and checks: a file, or a folder for "
        "MODEL.run.json; with -models a folder, or a path with {model} in it",
        "PATH",
        parse=flags.path,
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
    Flag("-o", "file or folder to write to", "OUT", "FILE with the ending .txt", flags.path),
    Flag(
        "-source",
        "where the talk comes from, such as its address",
        "TEXT",
        "the file name",
        flags.text,
    ),
    Flag("-speaker", "who speaks", "TEXT", parse=flags.text),
    Flag("-title", "what the talk is called", "TEXT", parse=flags.text),
    Flag("-language", "the language it is in, such as en", "TEXT", parse=flags.text),
    Flag("-force", "replace OUT if it exists"),
)


def parse_options(arguments: Sequence[str]) -> Options | None:
    """The options of a measurement, or nothing when only the version was asked for."""
    parser = FlagParser(
        "sat-bench",
        "sat-bench [flags]\n       sat-bench import FILE [flags]",
        "Measures how well a model finds sentence ends in talk transcripts.",
        "Every flag works with one dash and with two; switches also take =true and =false.\n"
        "sat-bench import -h: how to turn pasted text or subtitles into a corpus file.",
        FLAGS,
    )
    given = parser.parse(arguments)
    if "-version" in given:
        return None
    compare = "-models" in given
    models = given["-models"] if compare else (given.get("-model", DEFAULT_MODEL),)
    try:
        weights = Weights(
            given.get("-wp", DEFAULTS.weights.precision), given.get("-wr", DEFAULTS.weights.recall)
        )
        thresholds = _thresholds(given)
        _check_record(given, models)
    except ValueError as error:
        parser.error(str(error))
    return Options(
        models=tuple(map(_int8, models)) if "-quantize" in given else models,
        compare=compare,
        tokenizer=given.get("-tokenizer"),
        corpus=given.get("-corpus"),
        truth=given.get("-truth", TRUTH_RULES[0]),
        sweeps="-sweep" in given,
        thresholds=thresholds,
        tolerance=given.get("-tolerance", DEFAULTS.tolerance),
        weights=weights,
        overlap=given.get("-overlap"),
        weighting=given.get("-weighting", DEFAULT_WEIGHTING),
        runtime=given.get("-runtime", DEFAULT_RUNTIME),
        cache=given.get("-cache"),
        cluster=given.get("-cluster"),
        timeout_s=given.get("-timeout", DEFAULT_TIMEOUT_S),
        conditions=given.get("-conditions", ()),
        record=given.get("-record"),
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


def _int8(name: str) -> str:
    return int8_name(name) if is_model_name(name) else name


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


def _check_record(given: Mapping[str, Any], models: Sequence[str]) -> None:
    path = given.get("-record")
    if path and len(models) > 1 and path.suffix == ".json" and MODEL_MARK not in str(path):
        raise ValueError(
            f"-record must be a folder, or a path with {MODEL_MARK} in it, for "
            f"{len(models)} models, got {path}"
        )


def _without_effect(given: Mapping[str, Any]) -> Iterator[str]:
    if "-sweep" not in given:
        for name in DEFAULT_GRID:
            if name in given:
                yield f"{name} has no effect without -sweep"
    elif "-threshold" in given:
        yield "-threshold has no effect with -sweep"
    if "-models" in given and "-model" in given:
        yield "-model has no effect with -models"
