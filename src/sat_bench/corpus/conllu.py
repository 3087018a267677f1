"""CoNLL-U treebanks: the running text of a file, with its gold sentence ends."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sat_bench.corpus.talks import CorpusError, Sentence, Talk
from sat_bench.corpus.transcripts import unify_line_breaks

_COLUMNS = 10
_LONGEST_ID = 9


@dataclass(slots=True)
class _Annotated:
    line: int
    text: str = ""
    starts_paragraph: bool = False
    space_after: bool = True
    tokens: int = 0
    range_end: int = 0


def parse_conllu(path: Path, content: str) -> Talk:
    """The talk of a treebank: sentence texts joined as their annotation says, with gold ends."""
    pieces: list[str] = []
    sentences: list[Sentence] = []
    length = 0
    before: _Annotated | None = None
    for sentence in _sentences(path, content):
        if before is not None:
            pieces.append(_joint(before, sentence))
            length += len(pieces[-1])
        sentences.append(Sentence(length, length + len(sentence.text)))
        pieces.append(sentence.text)
        length += len(sentence.text)
        before = sentence
    if not sentences:
        raise CorpusError(f"{path}: no sentences found; expected CoNLL-U")
    return Talk(
        id=path.stem,
        source=path.name,
        speaker="",
        title="",
        text="".join(pieces),
        sentences=tuple(sentences),
    )


def _joint(before: _Annotated, after: _Annotated) -> str:
    if after.starts_paragraph:
        return "\n"
    return " " if before.space_after else ""


def _sentences(path: Path, content: str) -> Iterator[_Annotated]:
    sentence: _Annotated | None = None
    for number, line in enumerate((*unify_line_breaks(content).split("\n"), ""), start=1):
        if not line.strip():
            if sentence is not None and sentence.tokens:
                yield _complete(path, sentence)
                sentence = None
            continue
        if sentence is None:
            sentence = _Annotated(number)
        if line.startswith("#"):
            _read_comment(sentence, line)
        else:
            _read_token(path, number, sentence, line)


def _complete(path: Path, sentence: _Annotated) -> _Annotated:
    if not sentence.text:
        raise CorpusError(f"{path}:{sentence.line}: a sentence without its '# text = …' comment")
    return sentence


def _read_comment(sentence: _Annotated, line: str) -> None:
    name, _, value = line[1:].partition("=")
    name = name.strip()
    if name == "text":
        sentence.text = value.strip()
    elif name.split(" ")[0] in ("newpar", "newdoc"):
        sentence.starts_paragraph = True


def _read_token(path: Path, number: int, sentence: _Annotated, line: str) -> None:
    columns = line.split("\t")
    token_id = columns[0]
    first, _, last = token_id.partition("-")
    parts = (*first.split("."), last or "0")
    numeric = all(part.isdecimal() and len(part) <= _LONGEST_ID for part in parts)
    if len(columns) != _COLUMNS or not numeric:
        raise CorpusError(
            f"{path}:{number}: not a CoNLL-U token: expected {_COLUMNS} columns "
            f"separated by tabs, the first a number, got {line[:40]!r}"
        )
    sentence.tokens += 1
    if "." in token_id:  # an empty node: not in the text
        return
    if last:
        sentence.range_end = int(last)
    elif int(first) <= sentence.range_end:  # the range line speaks for the words it covers
        return
    sentence.space_after = "SpaceAfter=No" not in columns[-1].split("|")
