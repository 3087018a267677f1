"""Folders of transcripts: which files belong to a corpus, and the talks they hold."""

import hashlib
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from sat_bench.corpus.gold import parse_conllu, parse_gold_json
from sat_bench.corpus.subtitles import parse_subtitles
from sat_bench.corpus.talks import CorpusError, Talk, count_ends, finds_too_few, unfit_rule
from sat_bench.corpus.transcripts import parse_transcript
from sat_bench.defaults import (
    BUNDLED_CORPORA,
    BUNDLED_CORPUS,
    LINES,
    TRUTH_RULES,
    Truth,
    TruthRule,
    TruthSource,
)
from truemark.errors import TruemarkError, os_reason
from truemark.files import read_text
from truemark.records import is_record
from truemark.text import counted

ENDINGS = (".txt", ".json", ".conllu", ".srt", ".vtt")
# Almost no sentence ends in more characters than this are an error. In fewer they are noted, down
# to texts so short that the lack of an end says nothing.
_LONG = 1_200
_SHORT = 100


class _ShortText(NamedTuple):
    """A short text in which the rule finds almost no ends."""

    name: str
    rule: TruthRule
    ends: int
    characters: int


@dataclass(frozen=True, slots=True)
class Corpus:
    """The talks of a folder, read one at a time and again for each iteration.

    `truth` is the requested source of sentence ends, `truths` are the sources that were used.
    """

    files: tuple[Path, ...]
    truth: Truth | None
    characters: int
    checksum: str
    talks: int
    truths: tuple[TruthSource, ...] = ()
    remarks: tuple[str, ...] = ()

    def __len__(self) -> int:
        return self.talks

    def __iter__(self) -> Iterator[Talk]:
        return (talk for file in self.files for talk in load_talks(file, self.truth))


def load_corpus(
    path: str | Path = BUNDLED_CORPUS,
    truth: Truth | None = None,
    watch: Callable[[Sequence[Path]], Iterable[Path]] = iter,
) -> Corpus:
    """Load the corpus of a folder or file, by default the bundled talks.

    `truth` applies to files without annotated sentence ends. By default the rule `plain` is used,
    and a long text in which it finds almost no ends is refused, as is a corpus that consists mostly
    of short ones.

    Every file is read once here, so that a bad one is reported before anything is measured. `watch`
    wraps the files, for example to show progress.
    """
    files = transcript_files(Path(path))
    characters = talks = 0
    remarks: list[str] = []
    unmarked: list[_ShortText] = []
    truths: set[TruthSource] = set()
    digest = hashlib.sha256()
    for file in watch(files):
        for talk in load_talks(file, truth):
            talks += 1
            characters += len(talk.text)
            remarks += talk.remarks
            truths.add(talk.truth)
            if short := _without_ends(file, talk):
                unmarked.append(short)
            for part in (talk.text, ",".join(map(str, talk.boundaries))):
                digest.update(hashlib.sha256(part.encode()).digest())
    remarks += _remark_on_short_texts(
        Path(path), unmarked, talks, characters, asked_for=truth is not None
    )
    return Corpus(
        files, truth, characters, digest.hexdigest(), talks, tuple(sorted(truths)), tuple(remarks)
    )


def transcript_files(path: Path) -> tuple[Path, ...]:
    """List the transcript files of a folder, sorted by name; a file is listed as it is."""
    try:
        if path.is_dir():
            files = tuple(sorted(file for file in path.iterdir() if _is_transcript(file)))
        elif path.exists():
            files = (path,) if path.suffix.lower() in ENDINGS else ()
        else:
            raise CorpusError(
                f"{path}: no such folder or file; -corpus takes a folder of transcripts, or "
                f"{' or '.join(BUNDLED_CORPORA)} for talks in the package"
            )
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read: {os_reason(error)}") from error
    if not files:
        problem = "no transcripts in this folder" if path.is_dir() else "not a transcript"
        raise CorpusError(f"{path}: {problem}; expected a name ending in {', '.join(ENDINGS)}")
    return files


def holds_transcripts(path: Path) -> bool:
    return path.is_dir() and any(map(_is_transcript, path.iterdir()))


def load_talk(path: Path, truth: Truth | None = None) -> Talk:
    """Read the talk of a file that has only one."""
    talk, *others = load_talks(path, truth)
    if others:
        raise CorpusError(f"{path}: holds {len(others) + 1} talks, expected one")
    return talk


def load_talks(path: Path, truth: Truth | None = None) -> tuple[Talk, ...]:
    """Read the talks of a file, whose ending tells the format; only gold files hold several."""
    try:
        content = read_text(path)
    except TruemarkError as error:
        raise CorpusError(str(error)) from error
    match path.suffix.lower():
        case ".json":
            return parse_gold_json(path, content)
        case ".conllu":
            return parse_conllu(path, content)
        case ".srt" | ".vtt":
            rule = TRUTH_RULES[0] if truth is None or truth == LINES else truth
            talk = parse_subtitles(path, content, rule)
        case _:
            talk = parse_transcript(path, content, truth or TRUTH_RULES[0])
    return (_with_enough_ends(path, talk, asked_for=truth is not None),)


def _with_enough_ends(path: Path, talk: Talk, *, asked_for: bool) -> Talk:
    """Refuse a long text in which the default rule finds almost no ends.

    If the user chose the rule, add a remark instead; also if it does not know the marks of the
    script.
    """
    rule = _rule_of(talk)
    if rule is None:
        return talk
    unfit = unfit_rule(talk.text, rule)
    if len(talk.text) <= _LONG or not finds_too_few(talk, rule):
        return replace(talk, remarks=(*talk.remarks, f"{path}: {unfit}")) if unfit else talk
    line = _ends_line(path, rule, count_ends(talk.text, rule), len(talk.text))
    if unfit:
        line += f" ({unfit})"
    if asked_for:
        return replace(talk, remarks=(*talk.remarks, f"{line}: scores say little about this talk"))
    raise CorpusError(f"{line}{_no_truth(path.parent)}")


def _remark_on_short_texts(
    path: Path, texts: Sequence[_ShortText], talks: int, characters: int, *, asked_for: bool
) -> Iterator[str]:
    """Yield a remark on the short texts of a corpus in which the rule finds almost no ends.

    Refuse the corpus if they are most of it and together a long text, unless the user chose the
    rule.
    """
    length = sum(text.characters for text in texts)
    if length <= _SHORT:
        return
    folder = path if path.is_dir() else path.parent
    line = _ends_line(path, texts[0].rule, sum(text.ends for text in texts), length)
    if talks > 1:
        line += f" of {len(texts)} of {talks} talks, such as {texts[0].name}"
    if length > _LONG and 2 * length > characters and not asked_for:
        raise CorpusError(f"{line}{_no_truth(folder)}")
    yield f"{line}: scores say little there; {_marking(folder)}"


def remarks_on_ends(path: Path, talk: Talk) -> Iterator[str]:
    """Yield a remark if a rule finds almost no ends in a text of more than a few words."""
    rule = _rule_of(talk)
    if rule and len(talk.text) > _SHORT and finds_too_few(talk, rule):
        line = _ends_line(path, rule, count_ends(talk.text, rule), len(talk.text))
        yield f"{line}: scores say little there; {_marking(path.parent)}"


def _without_ends(file: Path, talk: Talk) -> _ShortText | None:
    """Return what is known of a short text with almost no ends; None for any other text.

    Texts with marks that the rule does not know have a remark of their own.
    """
    rule = _rule_of(talk)
    if rule is None or len(talk.text) > _LONG or not finds_too_few(talk, rule):
        return None
    if unfit_rule(talk.text, rule):
        return None
    return _ShortText(file.name, rule, count_ends(talk.text, rule), len(talk.text))


def _rule_of(talk: Talk) -> TruthRule | None:
    return next((rule for rule in TRUTH_RULES if rule == talk.truth), None)


def _ends_line(path: Path, rule: TruthRule, ends: int, characters: int) -> str:
    found = f"finds {counted(ends, 'sentence end')} in {characters:,} characters"
    return f"{path}: the rule {rule} {found}"


def _no_truth(folder: Path) -> str:
    return (
        f", so there is no truth to score against; {_marking(folder)}, or name a rule with -truth"
    )


def _marking(folder: Path) -> str:
    return f"mark the ends with sat-bench label {shlex.quote(str(folder))}"


def _is_transcript(path: Path) -> bool:
    if path.suffix.lower() not in ENDINGS or path.name.startswith("."):
        return False
    if path.suffix.lower() == ".json" and is_record(path):  # -record FOLDER may be the same folder
        return False
    # A broken link counts, so that the missing talk is reported.
    return path.is_file() or not path.exists()
