"""The command line: parse the flags of each command, and call it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

from cal_ai.defaults import CALLS_AT_ONCE, EMBEDDED, EXTRACTORS, MOST_REPEATS, OUTPUT_FOLDER
from truemark import __version__
from truemark.command import (
    WRONG_USE,
    Parser,
    did_you_mean,
    note,
    number,
    parse_annotators,
    parse_seconds,
    parse_share,
    quietly,
    run_command,
    tell,
    whole_number,
)
from truemark.errors import TruemarkError

PROGRAM = "python -m cal_ai"
_how_many = whole_number("a whole number from 1 to 999999", 1, 999_999)

_USAGE = f"""\
usage: {PROGRAM} [run] FILE... [flags]
       {PROGRAM} benchmark [DIR] [flags]
       {PROGRAM} label DIR [flags]
       {PROGRAM} agree A B [flags]
       {PROGRAM} prompt
"""
_DESCRIPTION = """\
Finds the calendar changes that the owner of a conversation agreed to.

If the first argument is not a command, run is assumed, so `FILE.txt` alone is enough;
for a file that has the name of a command, write ./benchmark.
"""
_EXIT_CODES = """\
exit status: 0 done, 1 failed (a sample, --fail-under, a change, a setting), 2 wrong usage,
130 interrupted

settings: flags, then environment, then .env: GEMINI_API_KEY, GEMINI_MODEL, OPENAI_API_KEY,
OPENAI_BASE_URL, OPENAI_MODEL, OWNER_NAME, TIMEZONE, CALDAV_USERNAME, CALDAV_PASSWORD,
GOOGLE_CREDENTIALS
"""


_MODEL_HELP = "model for the gemini or openai extractor"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    return run_command(lambda: _dispatch(list(sys.argv[1:] if arguments is None else arguments)))


def _dispatch(given: list[str]) -> int:
    if not given:
        for line in f"{_USAGE}error: a FILE or benchmark is missing; see --help".splitlines():
            note(line)
        return WRONG_USE
    if given[0] in ("-h", "--help"):
        tell(help_text())
        return 0
    if given[0] == "--version":
        tell(f"cal-ai {__version__}\n")
        return 0
    command, rest = given[0], given[1:]
    if command not in _PARSERS:
        is_word = command.isalpha() and not Path(command).exists()
        if is_word and (meant := did_you_mean(command, tuple(_PARSERS))):
            note(f"error: {command} is neither a file nor a command{meant}")
            return WRONG_USE
        command, rest = "run", given
    parser = _PARSERS[command]()
    options = parser.parse_args(rest)
    with quietly(options.quiet):
        if command == "prompt":
            from cal_ai.extractors.prompt import BUILT_IN

            tell(str(BUILT_IN))
            return 0
        if command == "run":
            from cal_ai.applying.pipeline import apply_command

            return apply_command(options)
        if command == "label":
            return _label(options, parser)
        if command == "agree":
            from cal_ai.agreement import tell_agreement

            return tell_agreement(options.first, options.second, options.format)
        if options.resume and (options.extractor or "").startswith("replay:"):
            parser.error("argument --resume: replay calls nothing, so there is nothing to resume")
        from cal_ai.benchmark.run import benchmark_command

        return benchmark_command(options)


def _label(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    if sum(map(bool, (options.annotator, options.adjudicate, options.review))) > 1:
        parser.error("--annotator, --adjudicate and --from cannot be given together")
    from cal_ai.agreement import keep_annotators_agreement
    from cal_ai.labelling import label_conversations
    from truemark.folders import find_record
    from truemark.labelling.storage import LabelOptions

    chosen = LabelOptions(
        folder=options.folder,
        annotator=options.annotator or "",
        adjudicate=options.adjudicate,
        review=find_record(options.review, note) if options.review else None,
        open_browser=not options.no_browser,
    )
    if chosen.adjudicate:
        keep_annotators_agreement(chosen.folder, *chosen.adjudicate)
    return label_conversations(
        chosen, options.extractor, options.model, options.prompt, options.timeout
    )


def help_text() -> str:
    """Return the help of all commands with all their flags."""
    parts = [_USAGE, _DESCRIPTION]
    for name in _PARSERS:
        parser = _PARSERS[name]()
        parser.epilog = None
        parts.append(f"-- {name} " + "-" * (92 - len(name)) + f"\n{parser.format_help()}")
    return "\n".join([*parts, _EXIT_CODES])


def label_parser() -> argparse.ArgumentParser:
    parser = _parser(
        "label", "Open a page for making sidecars by confirming and correcting events."
    )
    parser.add_argument(
        "folder",
        metavar="DIR",
        type=_path,
        help="transcripts; the sidecars are written next to them",
    )
    parser.add_argument(
        "--annotator",
        metavar="NAME",
        type=_name,
        help="keep these marks separate from those of others",
    )
    parser.add_argument(
        "--adjudicate",
        metavar="A,B",
        type=parse_annotators,
        help="decide where these two annotators differ, and write the sidecars",
    )
    parser.add_argument(
        "--from",
        dest="review",
        metavar="FILE",
        type=_path,
        help="review the mistakes of a run record, or the marks of a report page",
    )
    parser.add_argument("--model", metavar="NAME", help=_MODEL_HELP)
    _add_extractor_flags(parser)
    parser.add_argument(
        "--no-browser", action="store_true", help="only print the address of the page"
    )
    _add_verbosity(parser)
    return parser


def agree_parser() -> argparse.ArgumentParser:
    parser = _parser("agree", "Show how far two readings of the same conversations agree.")
    parser.add_argument(
        "first", metavar="A", help="folder of sidecars, or of annotations: DIR/.annotations/anna"
    )
    parser.add_argument("second", metavar="B", help="the same, or the name of an extractor")
    parser.add_argument(
        "--format", choices=("text", "markdown", "json"), default="text", help="output format"
    )
    _add_verbosity(parser)
    return parser


def prompt_parser() -> argparse.ArgumentParser:
    parser = _parser("prompt", "Print the built-in prompt as a starting point for your own.")
    _add_verbosity(parser)
    return parser


def run_parser() -> argparse.ArgumentParser:
    parser = _parser("run", "Find the calendar changes in each conversation and apply them.")
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        type=_path,
        help="conversation: lines [Name]: words, subtitles or the export of a chat; - for stdin",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="show each decision and change nothing"
    )
    parser.add_argument(
        "--owner", metavar="NAME", type=_name, help="whose calendar it is (default: Alice)"
    )
    parser.add_argument(
        "--calendar",
        metavar="WHERE",
        type=_calendar,
        help="ics:PATH, caldav:URL or google (default: calendar.ics in the user's data folder)",
    )
    parser.add_argument(
        "--now",
        metavar="DATETIME",
        type=_moment,
        help="what dates such as tomorrow count from, as ISO 8601 (default: the time of the last"
        " message where the lines carry dates, else the present)",
    )
    parser.add_argument(
        "--again",
        action="store_true",
        help="apply a transcript again; events that still exist are not duplicated",
    )
    parser.add_argument(
        "--apply",
        choices=("high", "medium", "low"),
        help="minimum confidence for entering new events; changes and removals always need high"
        f" (default: medium for a language model, high for {EMBEDDED})",
    )
    parser.add_argument("--model", metavar="NAME", help=_MODEL_HELP)
    _add_extractor_flags(parser)
    _add_output_flags(parser)
    return parser


def benchmark_parser() -> argparse.ArgumentParser:
    parser = _parser("benchmark", "Score the extraction of every sample against its sidecar.")
    parser.add_argument(
        "folder",
        metavar="DIR",
        nargs="?",
        type=_path,
        help="folder of samples (default: samples/ here, else the bundled ones)",
    )
    parser.add_argument(
        "--output",
        metavar="DIR",
        type=_path,
        default=Path(OUTPUT_FOLDER),
        help=f"where answers, report and history go (default: {OUTPUT_FOLDER})",
    )
    parser.add_argument(
        "--model",
        metavar="NAME",
        action="append",
        default=[],
        dest="models",
        help=f"{_MODEL_HELP}; if repeated, each model is run and compared with the first",
    )
    _add_extractor_flags(parser)
    parser.add_argument(
        "--concurrency",
        metavar="N",
        type=_how_many,
        default=CALLS_AT_ONCE,
        help=f"calls at the same time (default: {CALLS_AT_ONCE})",
    )
    parser.add_argument(
        "--rpm",
        metavar="N",
        type=number("a number above 0", lambda calls: calls > 0),
        help="maximum calls per minute (default: unlimited)",
    )
    parser.add_argument(
        "--only",
        metavar="PATTERN",
        help="use only these samples: part of a name, or a pattern such as crud/*",
    )
    parser.add_argument("--limit", metavar="N", type=_how_many, help="use only the first N samples")
    parser.add_argument(
        "--name",
        metavar="NAME",
        type=_name,
        help="what records and pages call the system (default: its model, and its --prompt)",
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="continue the latest run in --output and ask only for what is missing",
    )
    parser.add_argument(
        "--baseline",
        metavar="FILE",
        type=_path,
        help="record of another run, a folder of them, FOLDER/ID, or stored answers; says whether"
        " this one is better or worse",
    )
    parser.add_argument(
        "--repeat",
        metavar="N",
        type=whole_number(f"a whole number from 1 to {MOST_REPEATS}", 1, MOST_REPEATS),
        help="ask N times per sample, to see how much answers vary (default: 1, in replay all)",
    )
    parser.add_argument(
        "--no-summary", action="store_true", help="do not ask the model for an AI summary"
    )
    parser.add_argument(
        "--redact",
        action="store_true",
        help="leave conversations and answers out of the record; stored answers and report keep"
        " them",
    )
    parser.add_argument(
        "--fail-under", metavar="F1", type=parse_share, help="exit with 1 when F1 is lower (0 to 1)"
    )
    _add_output_flags(parser)
    return parser


def _parser(command: str, description: str) -> argparse.ArgumentParser:
    return Parser(
        prog=f"{PROGRAM} {command}",
        description=description,
        epilog=_EXIT_CODES,
        # In one width for all terminals, so that the guide can quote it.
        formatter_class=partial(
            argparse.RawDescriptionHelpFormatter, max_help_position=24, width=96
        ),
    )


def _add_extractor_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--extractor",
        metavar="NAME",
        type=_extractor,
        help=f"{', '.join(EXTRACTORS)} (default: gemini with a GEMINI_API_KEY, else {EMBEDDED})",
    )
    parser.add_argument(
        "--prompt",
        metavar="FILE",
        type=_path,
        help="prompt for the gemini or openai extractor (default: what `prompt` prints)",
    )
    parser.add_argument(
        "--timeout",
        metavar="S",
        type=parse_seconds,
        help="seconds to wait for one answer (default: 120 for a model's, 30 for a calendar's)",
    )


def _add_output_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=("text", "json"), default="text", help="output format")
    _add_verbosity(parser)


def _add_verbosity(parser: argparse.ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group()
    group.add_argument("-v", "--verbose", action="store_true", help="print more on stderr")
    group.add_argument(
        "-q", "--quiet", action="store_true", help="print only warnings and errors on stderr"
    )


def _extractor(text: str) -> str:
    from cal_ai.extractors.choosing import check_extractor

    try:
        return check_extractor(text)
    except TruemarkError as error:
        raise argparse.ArgumentTypeError(str(error).removeprefix("--extractor ")) from error


def _calendar(text: str) -> str:
    from cal_ai.calendars.choosing import check_calendar

    try:
        return check_calendar(text)
    except TruemarkError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = datetime.min
    if not 1990 <= moment.year < 2100:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not an ISO 8601 date-time such as 2026-03-05T19:03"
        )
    return moment


def _path(text: str) -> Path:
    if not text or "\0" in text:
        raise argparse.ArgumentTypeError(f"{text!r} is not the name of a file or folder")
    return Path(text)


def _name(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not a name")
    return text


_PARSERS = {
    "run": run_parser,
    "benchmark": benchmark_parser,
    "label": label_parser,
    "agree": agree_parser,
    "prompt": prompt_parser,
}
