"""The command `sat-bench`: its flags, the checks of their values, and its subcommands.

Each subcommand imports its modules when it runs, so that `-h` is quick.
"""

from __future__ import annotations

import argparse
import re
import sys
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from sat_bench.defaults import (
    BUNDLED_CORPORA,
    BUNDLED_MODELS,
    CONDITION_MARK,
    CONDITIONS,
    DEFAULT_CORPUS,
    DEFAULT_GRID,
    DEFAULT_MODEL,
    DEFAULT_RUNTIME,
    DEFAULT_THRESHOLD,
    DEFAULT_TIMEOUT_S,
    DEFAULT_TOLERANCE,
    DEFAULT_WEIGHT,
    DEFAULT_WEIGHTING,
    FORMATS,
    HEADER_NAMES,
    LARGEST_OVERLAP,
    MODEL_MARK,
    MOST_LOCAL_WORKERS,
    RUNTIMES,
    STANDARD_INPUT,
    TRUTH_RULES,
    TRUTHS,
    WEIGHTINGS,
    WRITTEN,
    Condition,
    Options,
    SplitOptions,
)
from truemark import __version__
from truemark.command import (
    DONE,
    Parser,
    did_you_mean,
    note,
    number,
    parse_annotators,
    parse_seconds,
    parse_share,
    parse_text,
    run_command,
    tell,
    whole_number,
)
from truemark.files import expanded

SWEEP_FLAGS = dict(zip(("-sweep-min", "-sweep-max", "-sweep-step"), DEFAULT_GRID, strict=True))
_OF_SAT_MODELS = ("-tokenizer", "-quantize", "-overlap", "-weighting", "-runtime")
_TRUTH = {"true": True, "1": True, "t": True, "false": False, "0": False, "f": False}
_NEGATIVE_NUMBER = re.compile(r"-\.?\d.*")
# A comma inside quotes does not end a command.
_WORDS = r"""(?:[^,'"\\]|\\.|'[^']*'|"(?:\\.|[^"\\])*")*"""
_NAME = re.compile(rf"(?:(?<=,)|^)(?:\s*cmd\+?:{_WORDS}|[^,]*)(?=,|$)", re.DOTALL)
_SCHEDULER = re.compile(r"(tcp|tls)://([^\s/:\[\]]+|\[[0-9A-Fa-f:.]+\]):(?P<port>[0-9]{1,5})")


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag, named with a single dash; a flag without a placeholder is a switch."""

    name: str
    meaning: str
    placeholder: str = ""
    default: str = ""
    parse: Callable[[str], object] = str
    choices: tuple[str, ...] = ()


parse_step = number("a number above 0, at most 1", lambda step: 0 < step <= 1)
parse_weight = number("a number of 0 or more", lambda weight: weight >= 0)
parse_tolerance = whole_number("a whole number of characters, 0 or more", 0)
parse_overlap = whole_number(
    f"a whole number of tokens from 0 to {LARGEST_OVERLAP}", 0, LARGEST_OVERLAP
)
_parse_workers = whole_number(
    f"local:N with N from 1 to {MOST_LOCAL_WORKERS} workers", 1, MOST_LOCAL_WORKERS
)


def parse_cluster(value: str) -> str:
    """Accept the address of a scheduler, or `local:` with a number of workers."""
    kind, _, workers = value.partition(":")
    if kind == "local" and workers:
        return f"local:{_parse_workers(workers)}"
    scheduler = _SCHEDULER.fullmatch(value)
    if not scheduler or not 1 <= int(scheduler["port"]) <= 65_535:
        raise ArgumentTypeError(
            f"must be a scheduler's address such as tcp://host:8786, or local:N, got {value!r}"
        )
    return value


def parse_path(value: str) -> Path:
    return expanded(parse_text(value))


def parse_corpus(value: str) -> Path:
    """Read the path of a corpus, or the name of a bundled one."""
    return BUNDLED_CORPORA.get(value) or parse_path(value)


def parse_conditions(value: str) -> tuple[Condition, ...]:
    """Read the conditions; `written` comes first, since losses are relative to it."""
    chosen: list[Condition] = [WRITTEN]
    for name in value.split(","):
        known = next((condition for condition in CONDITIONS if condition == name.strip()), None)
        if known is None:
            raise ArgumentTypeError(
                f"must be conditions separated by commas, of {', '.join(CONDITIONS)}, "
                f"got {name.strip()!r}"
            )
        if known not in chosen:
            chosen.append(known)
    return tuple(chosen)


def parse_model_names(value: str) -> tuple[str, ...]:
    names = tuple(match[0].strip() for match in _NAME.finditer(value))
    if not all(names):
        raise ArgumentTypeError(
            f"must be model names separated by commas, got an empty one in {value!r}"
        )
    return names


FLAGS = (
    Flag(
        "-model",
        f"a bundled model ({', '.join(BUNDLED_MODELS)}), the path of an ONNX file or of its "
        "folder, a name owner/model on the hub; or lib:NAME, py:module:callable, cmd:COMMAND, "
        "file:FOLDER, llm:MODEL",
        "MODEL",
        DEFAULT_MODEL,
        parse_text,
    ),
    Flag(
        "-tokenizer",
        "path to a SentencePiece model file",
        "FILE",
        "the one beside the model",
        parse_path,
    ),
    Flag(
        "-corpus",
        "folder of transcripts, or one file; bundled means the English talks in the package,"
        " languages its eight talks in other languages",
        "PATH",
        f"{DEFAULT_CORPUS} if it contains transcripts, else bundled",
        parse_corpus,
    ),
    Flag(
        "-truth",
        "rule for sentence ends in texts without gold: plain; quoted, where closing quotes and"
        " brackets belong to the sentence; unicode, which is quoted with the terminators of all"
        " scripts; or lines, where every line is a sentence",
        "RULE",
        TRUTH_RULES[0],
        choices=TRUTHS,
    ),
    Flag(
        "-threshold",
        "predict a boundary where the probability is above this",
        "P",
        f"{DEFAULT_THRESHOLD}, or a bundled model's own",
        parse_share,
    ),
    Flag(
        "-tolerance",
        "characters a prediction may be off and still match",
        "N",
        str(DEFAULT_TOLERANCE),
        parse_tolerance,
    ),
    Flag("-wp", "precision weight", "W", str(DEFAULT_WEIGHT), parse_weight),
    Flag("-wr", "recall weight", "W", str(DEFAULT_WEIGHT), parse_weight),
    Flag("-sweep", "evaluate a grid of thresholds instead of one"),
    *(
        Flag(name, meaning, "P", f"{SWEEP_FLAGS[name]:.2f}", parse)
        for name, meaning, parse in (
            ("-sweep-min", "first threshold of the grid", parse_share),
            ("-sweep-max", "end of the grid, not included", parse_share),
            ("-sweep-step", "distance from one threshold to the next", parse_step),
        )
    ),
    Flag(
        "-models",
        "models to compare, separated by commas; with -sweep each at its own best threshold",
        "A,B,…",
        parse=parse_model_names,
    ),
    Flag(
        "-quantize",
        "run int8 copies of the models, made once and kept in the user's cache folder; "
        "in -models, name:int8 is the int8 copy of that model",
    ),
    Flag(
        "-overlap",
        "tokens that neighbouring windows of a long text share; the default depends on the model",
        "N",
        parse=parse_overlap,
    ),
    Flag(
        "-weighting",
        "how to average the windows that share a token: hat, with less weight near their edges;"
        " or uniform, as wtpsplit does",
        "HOW",
        DEFAULT_WEIGHTING,
        choices=WEIGHTINGS,
    ),
    Flag(
        "-runtime",
        "inference engine: onnx, onnxruntime on the CPU; cuda, onnxruntime on a GPU; or"
        " openvino, which multiplies in bfloat16 if the CPU supports it",
        "NAME",
        DEFAULT_RUNTIME,
        choices=RUNTIMES,
    ),
    Flag(
        "-cache",
        "folder for caching probabilities: texts that a model has read before need no inference",
        "FOLDER",
        parse=parse_path,
    ),
    Flag(
        "-cluster",
        "spread the talks over a Dask cluster: a scheduler's address such as tcp://host:8786, "
        "or local:N for N processes on this machine",
        "WHERE",
        parse=parse_cluster,
    ),
    Flag(
        "-timeout",
        "seconds that a program or a language model may take for one talk",
        "S",
        f"{DEFAULT_TIMEOUT_S:g}",
        parse_seconds,
    ),
    Flag(
        "-conditions",
        f"measure the talks under each of these, separated by commas: {', '.join(CONDITIONS)}; "
        "the loss is relative to written, which is always measured",
        "A,B,…",
        parse=parse_conditions,
    ),
    Flag(
        "-record",
        "write a run record, which truemark can compare, draw and check: a file, or a folder for "
        "MODEL.ID.run.json and MODEL.CONDITION.ID.run.json with the id of the run; for several runs"
        " a folder, or a path with {model} and {condition} in it",
        "PATH",
        parse=parse_path,
    ),
    Flag(
        "-inner",
        "show the additional measures without the end of each text, which every system gets for"
        " free; JSON and records have both",
    ),
    Flag("-per-talk", "also show each talk, at the threshold used or the best one found"),
    Flag(
        "-format",
        "how to print the results: text, json, csv or markdown",
        "FORMAT",
        FORMATS[0],
        choices=FORMATS,
    ),
    Flag("-v", "also show what makes the numbers comparable: systems and signatures, on stderr"),
    Flag("-version", "print the version and exit"),
)

IMPORT_FLAGS = (
    Flag(
        "-o",
        "file or folder to write to; for several files a folder, which is created if needed and"
        " gets a manifest",
        "OUT",
        "FILE with the extension .txt",
        parse_path,
    ),
    Flag(
        "-reference",
        "a punctuated transcript of the same speech; its sentence ends are moved onto the words "
        "of FILE, which becomes gold",
        "REF",
        parse=parse_path,
    ),
    Flag(
        "-source",
        "where the talk comes from, such as its URL",
        "TEXT",
        "the file name",
        parse_text,
    ),
    Flag("-speaker", "who speaks", "TEXT", parse=parse_text),
    Flag("-title", "what the talk is called", "TEXT", parse=parse_text),
    Flag("-language", "the language it is in, such as en", "TEXT", parse=parse_text),
    Flag("-force", "replace OUT if it exists"),
)


_NAMED_FLAGS = {flag.name: flag for flag in FLAGS}
SPLIT_FLAGS = (
    _NAMED_FLAGS["-model"],
    _NAMED_FLAGS["-tokenizer"],
    _NAMED_FLAGS["-threshold"],
    _NAMED_FLAGS["-timeout"],
    Flag("-complete", "say whether the text ends with a whole sentence, and how probable that is"),
    Flag(
        "-format",
        "how to print: text, a sentence per line; or json, with offsets and probabilities",
        "FORMAT",
        "text",
        choices=("text", "json"),
    ),
)

LABEL_FLAGS = (
    Flag(
        "-models",
        "models that make the draft, separated by commas; none for no draft",
        "A,B,…",
        DEFAULT_MODEL,
        parse_model_names,
    ),
    Flag(
        "-annotator",
        "keep these marks separate from those of others, under this name",
        "NAME",
        parse=parse_text,
    ),
    Flag(
        "-adjudicate",
        "decide where these two annotators differ, and write the gold",
        "A,B",
        parse=parse_annotators,
    ),
    Flag(
        "-from",
        "review the mistakes of a run record, or the marks of a report page, to see whether the"
        " truth is wrong there",
        "FILE",
        parse=parse_path,
    ),
    _NAMED_FLAGS["-timeout"],
    Flag("-no-browser", "only print the address of the page"),
)

AGREE_FLAGS = (
    Flag(
        "-format",
        "how to print the results: text, json or markdown",
        "FORMAT",
        "text",
        choices=("text", "json", "markdown"),
    ),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0 when done, 1 on failure, 2 on a bad command line, 130 on Ctrl-C."""
    return run_command(lambda: _work(list(sys.argv[1:] if arguments is None else arguments)))


def _work(arguments: list[str]) -> int:
    if arguments and arguments[0] in COMMANDS:
        return COMMANDS[arguments[0]](arguments[1:])
    options = parse_options(arguments)
    if options is None:
        tell(f"sat-bench (truemark {__version__})\n")
        return DONE
    from sat_bench.measure import measure_and_report

    return measure_and_report(options)


def parse_options(arguments: Sequence[str]) -> Options | None:
    """Read the options of a measurement; return None for `-version`."""
    parser = FlagParser(
        "sat-bench",
        "Measures how well a model finds sentence ends in talk transcripts.",
        FLAGS,
        more_usage=(
            "sat-bench import FILE… [flags]",
            "sat-bench split [FILE] [flags]",
            "sat-bench label FOLDER [flags]",
            "sat-bench agree A B [flags]",
        ),
        epilog="Every flag works with one dash and with two; switches also take =true and =false.\n"
        "sat-bench import -h: how to turn pasted text or subtitles into a corpus file.\n"
        "sat-bench split -h: how to split your own text into sentences.\n"
        "sat-bench label -h: how to mark sentence ends; sat-bench agree -h: how to compare two"
        " readings.",
    )
    if arguments and not arguments[0].startswith("-"):
        meant = did_you_mean(arguments[0], COMMANDS)
        hint = meant or "; -corpus says what to measure on, sat-bench split splits a text"
        parser.error(f"unexpected argument {arguments[0]!r}{hint}")
    given = parser.parse(arguments)
    if "-version" in given:
        return None
    from truemark.counts import Weights

    try:
        weights = Weights(given.get("-wp", DEFAULT_WEIGHT), given.get("-wr", DEFAULT_WEIGHT))
        thresholds = _thresholds(given)
        _check_record(given)
    except ValueError as error:
        parser.error(str(error))
    return Options(
        models=_models(given),
        compare="-models" in given,
        sweeps="-sweep" in given,
        thresholds=thresholds,
        weights=weights,
        timeout_s=given.get("-timeout", DEFAULT_TIMEOUT_S),
        shows_conditions="-conditions" in given,
        per_talk="-per-talk" in given,
        inner="-inner" in given,
        verbose="-v" in given,
        without_effect=tuple(_without_effect(given)),
        **_values(given, "tokenizer", "corpus", "truth", "tolerance", "overlap", "weighting"),
        **_values(given, "runtime", "cache", "cluster", "conditions", "record", "format"),
    )


def _values(given: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return the values of the named flags that are on the command line."""
    return {name: given[f"-{name}"] for name in names if f"-{name}" in given}


def _import(arguments: Sequence[str]) -> int:
    parser = FlagParser(
        "sat-bench import",
        "Turns pasted transcript text, .srt or .vtt into a corpus file with its header.",
        IMPORT_FLAGS,
        positional=(
            ("FILE…", "text pasted from a page, a subtitle file, or a folder of such files"),
        ),
    )
    given = parser.parse(arguments)
    paths = tuple(map(Path, given["FILE"]))
    if "-reference" in given and (len(paths) > 1 or paths[0].is_dir()):
        parser.error("-reference goes with one FILE")
    from sat_bench.importing import import_files

    header = _values(given, *HEADER_NAMES)
    reference, out, force = given.get("-reference"), given.get("-o"), "-force" in given
    return import_files(paths, reference, out, header, force=force)


def _split(arguments: Sequence[str]) -> int:
    parser = FlagParser(
        "sat-bench split",
        "Splits a text into sentences, one per line; without FILE, or with -, it reads standard"
        " input.",
        SPLIT_FLAGS,
        positional=(("[FILE]", "the text, in UTF-8; - is standard input"),),
    )
    given = parser.parse(arguments)
    file = given.get("FILE", STANDARD_INPUT)
    options = SplitOptions(
        file=None if file == STANDARD_INPUT else expanded(file),
        complete="-complete" in given,
        as_json=given.get("-format") == "json",
        timeout_s=given.get("-timeout", DEFAULT_TIMEOUT_S),
        **_values(given, "model", "tokenizer", "threshold"),
    )
    from sat_bench.splitting import tell_sentences

    return tell_sentences(options)


def _label(arguments: Sequence[str]) -> int:
    given = parse_label_flags(arguments)
    from sat_bench.agreement import keep_annotators_agreement
    from sat_bench.labelling import label_talks
    from truemark.folders import find_record
    from truemark.labelling.storage import LabelOptions

    options = LabelOptions(
        folder=Path(given["FOLDER"]),
        annotator=given.get("-annotator", ""),
        adjudicate=given.get("-adjudicate"),
        review=find_record(given["-from"], note) if "-from" in given else None,
        open_browser="-no-browser" not in given,
    )
    if options.adjudicate:
        keep_annotators_agreement(options.folder, *options.adjudicate)
    models = given.get("-models", (DEFAULT_MODEL,))
    return label_talks(
        options,
        () if models == ("none",) else models,
        given.get("-timeout", DEFAULT_TIMEOUT_S),
    )


def parse_label_flags(arguments: Sequence[str]) -> dict[str, Any]:
    parser = FlagParser(
        "sat-bench label",
        "Opens a page for marking sentence ends; the gold is written to FOLDER/gold.",
        LABEL_FLAGS,
        positional=(("FOLDER", "transcripts: .txt, .srt, .vtt; gold to correct: .json, .conllu"),),
    )
    given = parser.parse(arguments)
    modes = [name for name in ("-annotator", "-adjudicate", "-from") if name in given]
    if len(modes) > 1:
        parser.error(f"{modes[0]} and {modes[1]} cannot be given together")
    return given


def _agree(arguments: Sequence[str]) -> int:
    parser = FlagParser(
        "sat-bench agree",
        "Shows how far two readings of the same talks agree.",
        AGREE_FLAGS,
        positional=(("A", "one reading"), ("B", "the other, or a system")),
        epilog="A and B are folders of gold, or of annotations such as FOLDER/.annotations/anna,\n"
        "or bundled or languages for talks in the package; B may also be the name of a system,\n"
        "as for -model. Ends agree at exactly the same place, and the end of each text, which\n"
        "every reading has, is left out; the F1 of a run counts it, and has a -tolerance.",
    )
    given = parser.parse(arguments)
    from sat_bench.agreement import tell_agreement

    return tell_agreement(given["A"], given["B"], given.get("-format", "text"))


COMMANDS = {"import": _import, "split": _split, "label": _label, "agree": _agree}


def _models(given: Mapping[str, Any]) -> tuple[str, ...]:
    names: tuple[str, ...] = given.get("-models", (given.get("-model", DEFAULT_MODEL),))
    if "-quantize" not in given:
        return names
    from sat_bench.models.systems import int8_name, is_model_name

    return tuple(int8_name(name) if is_model_name(name) else name for name in names)


def _thresholds(given: Mapping[str, Any]) -> tuple[float, ...] | None:
    if "-sweep" not in given:
        return (given["-threshold"],) if "-threshold" in given else None
    from truemark.curve import MAX_GRID_POINTS, grid

    first, end, step = (given.get(name, default) for name, default in SWEEP_FLAGS.items())
    if end <= first:
        raise ValueError(f"-sweep-max must be above -sweep-min ({first}), got {end}")
    if (end - first) / step > MAX_GRID_POINTS:
        raise ValueError(
            f"-sweep-step must give at most {MAX_GRID_POINTS} thresholds "
            f"between {first} and {end}, got {step}"
        )
    return grid(first, end, step)


def _check_record(given: Mapping[str, Any]) -> None:
    """Refuse unknown patterns, and to write the records of several runs to one file."""
    path = str(given.get("-record", ""))
    marks = re.findall(r"\{\w*\}", path)
    for mark in marks:
        if mark not in (MODEL_MARK, CONDITION_MARK):
            raise ValueError(
                f"-record has the unknown placeholder {mark}, expected {MODEL_MARK} or "
                f"{CONDITION_MARK}, got {path}"
            )
    if marks and not path.endswith(".json"):
        raise ValueError(
            f"-record with {marks[0]} in it must end in .json, such as {path}.run.json, got {path}"
        )
    if not path.endswith(".json"):
        return  # a folder
    for mark, values, what in (
        (MODEL_MARK, given.get("-models", ()), "models"),
        (CONDITION_MARK, given.get("-conditions", ()), "conditions"),
    ):
        if len(values) > 1 and mark not in path:
            raise ValueError(
                f"-record must be a folder, or a path with {mark} in it, for "
                f"{len(values)} {what}, got {path}"
            )


def _without_effect(given: Mapping[str, Any]) -> Iterator[str]:
    if "-sweep" not in given:
        for name in SWEEP_FLAGS:
            if name in given:
                yield f"{name} has no effect without -sweep"
    elif "-threshold" in given:
        yield "-threshold has no effect with -sweep"
    if "-models" in given and "-model" in given:
        yield "-model has no effect with -models"
    if flags := [name for name in given if name in _OF_SAT_MODELS]:
        from sat_bench.models.systems import is_model_name

        if not any(map(is_model_name, _models(given))):
            yield from (f"{name} has no effect without a SaT model" for name in flags)


class FlagParser(Parser):
    """Parses flags written with one dash or two, never abbreviated."""

    def __init__(
        self,
        program: str,
        description: str,
        flags: Sequence[Flag],
        positional: Sequence[tuple[str, str]] = (),
        *,
        more_usage: Sequence[str] = (),
        epilog: str = "Every flag works with one dash and with two.",
    ) -> None:
        names = [name for name, _ in positional]
        super().__init__(
            prog=program,
            usage="\n       ".join((" ".join((program, *names, "[flags]")), *more_usage)),
            description=description,
            epilog=epilog,
            add_help=False,
            argument_default=argparse.SUPPRESS,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        self._names = {flag.name for flag in flags} | {"-h", "-help"}
        self._valued = {flag.name for flag in flags if flag.placeholder}
        for name, meaning in positional:
            # FILE… stands for one or more, [FILE] for an optional one.
            times = {"…": "+", "]": "?"}.get(name[-1])
            self.add_argument(name.strip("[]…"), help=meaning, nargs=times)
        for flag in flags:
            meaning = flag.meaning + (f" (default: {flag.default})" if flag.default else "")
            meaning = meaning.replace("%", "%%")
            if not flag.placeholder:
                self.add_argument(flag.name, dest=flag.name, action="store_true", help=meaning)
                continue
            self.add_argument(
                flag.name,
                dest=flag.name,
                metavar=flag.placeholder,
                type=flag.parse,
                choices=flag.choices or None,
                help=meaning,
            )
        self.add_argument("-h", "-help", action="help", help="show this help and exit")

    def parse(self, arguments: Sequence[str]) -> dict[str, Any]:
        """Return the given values by flag name; exit with status 2 on a bad command line."""
        namespace, rest = self.parse_known_args(self._canonical(arguments))
        if rest:
            self.error(f"unexpected argument {rest[0]!r}")
        return vars(namespace)

    def error(self, message: str) -> NoReturn:
        """Print the usage and the reason to stderr, and exit with status 2."""
        self.print_usage(sys.stderr)
        super().error(message)

    def _canonical(self, arguments: Sequence[str]) -> list[str]:
        # argparse would take -thresh for -threshold, and -1e-3 for a flag.
        canonical: list[str] = []
        for argument in arguments:
            if _NEGATIVE_NUMBER.fullmatch(argument) and canonical and canonical[-1] in self._valued:
                canonical[-1] += f"={argument}"
            elif argument.startswith("-") and argument not in ("-", "--"):
                typed, equals, value = argument.partition("=")
                name = typed[1:] if typed.startswith("--") else typed
                if name not in self._names:
                    self.error(f"unknown flag {typed}{did_you_mean(name, self._names)}")
                if equals and name not in self._valued:
                    self._switch(canonical, name, value)
                else:
                    canonical.append(name + equals + value)
            else:
                canonical.append(argument)
        return canonical

    def _switch(self, canonical: list[str], name: str, value: str) -> None:
        """Set a switch; the last occurrence counts."""
        if name in ("-h", "-help"):
            self.error(f"argument {name}: takes no value")
        if value.lower() not in _TRUTH:
            self.error(f"argument {name}: must be true or false, got {value!r}")
        if _TRUTH[value.lower()]:
            canonical.append(name)
        else:
            canonical[:] = [argument for argument in canonical if argument != name]
