"""The command `sat-bench`: its flags, checked values from them, and the work they start.

The work is imported when it is known what is asked for, so that `-h` is quick.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sat_bench import flags
from sat_bench.defaults import (
    BUNDLED_MODELS,
    CONDITION_MARK,
    CONDITIONS,
    DEFAULT_CORPUS,
    DEFAULT_MODEL,
    DEFAULT_RUNTIME,
    DEFAULT_TIMEOUT_S,
    DEFAULT_WEIGHTING,
    DEFAULTS,
    HEADER_NAMES,
    MODEL_MARK,
    RUNTIMES,
    TRUTH_RULES,
    WEIGHTINGS,
    WRITTEN,
    Options,
)
from sat_bench.flags import Flag, FlagParser
from truemark.command import run_command
from truemark.tables import FORMATS

DEFAULT_GRID = dict(zip(("-sweep-min", "-sweep-max", "-sweep-step"), DEFAULTS.grid, strict=True))


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
    Flag("-wp", "precision weight", "W", str(DEFAULTS.precision_weight), flags.weight),
    Flag("-wr", "recall weight", "W", str(DEFAULTS.recall_weight), flags.weight),
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
        "MODEL.run.json and MODEL.CONDITION.run.json; for several runs a folder, or a path with "
        "{model} and {condition} in it",
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 0 done, 1 the work failed, 2 the command line is wrong, 130 Ctrl-C."""
    return run_command("", lambda: _work(list(sys.argv[1:] if arguments is None else arguments)))


def _work(arguments: list[str]) -> int:
    if arguments[:1] == ["import"]:
        import_options = parse_import_options(arguments[1:])
        from sat_bench.commands import import_talk

        return import_talk(
            import_options.file,
            import_options.out,
            import_options.header,
            force=import_options.force,
        )
    options = parse_options(arguments)
    from sat_bench.commands import measure, tell_version

    return measure(options) if options else tell_version()


def parse_options(arguments: Sequence[str]) -> Options | None:
    """Read the options of a measurement; None when only the version was asked for."""
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
    options = Options(
        models=given.get("-models", (given.get("-model", DEFAULT_MODEL),)),
        compare="-models" in given,
        tokenizer=given.get("-tokenizer"),
        corpus=given.get("-corpus"),
        truth=given.get("-truth", TRUTH_RULES[0]),
        sweeps="-sweep" in given,
        tolerance=given.get("-tolerance", DEFAULTS.tolerance),
        precision_weight=given.get("-wp", DEFAULTS.precision_weight),
        recall_weight=given.get("-wr", DEFAULTS.recall_weight),
        overlap=given.get("-overlap"),
        weighting=given.get("-weighting", DEFAULT_WEIGHTING),
        runtime=given.get("-runtime", DEFAULT_RUNTIME),
        cache=given.get("-cache"),
        cluster=given.get("-cluster"),
        timeout_s=given.get("-timeout", DEFAULT_TIMEOUT_S),
        conditions=given.get("-conditions", (WRITTEN,)),
        shows_conditions="-conditions" in given,
        record=given.get("-record"),
        format=given.get("-format", FORMATS[0]),
        per_talk="-per-talk" in given,
        without_effect=tuple(_without_effect(given)),
    )
    try:
        _check_weights(options)
        _check_record(options)
        thresholds = _thresholds(given)
    except ValueError as error:
        parser.error(str(error))
    models = tuple(map(_int8, options.models)) if "-quantize" in given else options.models
    return replace(options, models=models, thresholds=thresholds)


def parse_import_options(arguments: Sequence[str]) -> ImportOptions:
    """Read the options of `sat-bench import`."""
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
    from sat_bench.models.finding import int8_name
    from sat_bench.models.systems import is_model_name

    return int8_name(name) if is_model_name(name) else name


def _thresholds(given: Mapping[str, Any]) -> tuple[float, ...] | None:
    if "-sweep" not in given:
        return (given["-threshold"],) if "-threshold" in given else None
    from truemark.curve import MAX_GRID_POINTS, grid

    first, end, step = (given.get(name, default) for name, default in DEFAULT_GRID.items())
    if end <= first:
        raise ValueError(f"-sweep-max must be above -sweep-min ({first}), got {end}")
    if (end - first) / step > MAX_GRID_POINTS:
        raise ValueError(
            f"-sweep-step must give at most {MAX_GRID_POINTS} thresholds "
            f"between {first} and {end}, got {step}"
        )
    return grid(first, end, step)


def _check_weights(options: Options) -> None:
    _ = options.weights  # raises a ValueError where their sum is infinite


def _check_record(options: Options) -> None:
    """Refuse one file for the records of several runs."""
    path = str(options.record or "")
    if not (path.endswith(".json") or MODEL_MARK in path or CONDITION_MARK in path):
        return  # a folder
    for mark, values, what in (
        (MODEL_MARK, options.models, "models"),
        (CONDITION_MARK, options.conditions, "conditions"),
    ):
        if len(values) > 1 and mark not in path:
            raise ValueError(
                f"-record must be a folder, or a path with {mark} in it, for "
                f"{len(values)} {what}, got {path}"
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
