"""Gold sentence ends: offsets in a `.json` file, sentences of a CoNLL-U treebank."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from sat_bench.corpus.talks import CorpusError, Sentence, Talk, spans_between, unify_line_breaks
from truemark.errors import TruemarkError
from truemark.jsontext import read_json, shown

_COLUMNS = 10
_LONGEST_ID = 9


@dataclass(frozen=True, slots=True)
class _Gold:
    """A gold file; offsets count characters, or bytes if the last boundary is the byte length."""

    text: str
    boundaries: tuple[int, ...]
    source: str | None = None
    speaker: str = ""
    name: str = ""
    language: str = ""
    documents: tuple[int, ...] = ()
    sentences: tuple[Any, ...] | int | None = None  # some files only give the count

    def __post_init__(self) -> None:
        for name in ("text", "source", "speaker", "name", "language"):
            try:
                (getattr(self, name) or "").encode()
            except UnicodeEncodeError as error:
                raise ValueError(
                    f"{name} holds half of a surrogate pair at character {error.start}"
                ) from None
        if not self.text.strip():
            raise ValueError("text is empty")
        if not self.boundaries:
            raise ValueError("boundaries must have at least one end offset, got an empty list")
        for index, (before, after) in enumerate(pairwise(self.boundaries), start=1):
            if after <= before:
                raise ValueError(
                    f"boundaries must ascend, but boundaries[{index}] is {shown(after)}"
                    f" after {shown(before)}"
                )
        if any(after <= before for before, after in pairwise(self.documents)):
            raise ValueError("documents must ascend")
        if isinstance(self.sentences, tuple) and len(self.sentences) not in (
            0,
            len(self.boundaries),
        ):
            raise ValueError(
                f"{len(self.sentences)} sentences but {len(self.boundaries)} boundaries; "
                "each sentence has one end"
            )


def parse_gold_json(path: Path, content: str) -> tuple[Talk, ...]:
    """Read the talks of a gold file: one per start in `documents`, or a single one.

    Offsets that count bytes are converted to characters.
    """
    try:
        gold = read_json(_Gold, content, str(path))
    except TruemarkError as error:
        raise CorpusError(str(error)) from None
    encoded = gold.text.encode()
    counts_bytes = gold.boundaries[-1] == len(encoded) > len(gold.text)
    length = len(encoded) if counts_bytes else len(gold.text)
    boundaries, starts = gold.boundaries, gold.documents
    for index, end in enumerate(() if counts_bytes else boundaries):
        if not 1 <= end <= length:
            raise CorpusError(
                f"{path}: boundaries[{index}] is {shown(end)}, "
                f"outside the text of {length} characters"
            )
    if starts and not 0 <= starts[0] <= starts[-1] < length:
        raise CorpusError(f"{path}: documents must start inside the text")
    if counts_bytes:
        boundaries = _characters_of_bytes(path, encoded, boundaries, "boundaries")
        starts = _characters_of_bytes(path, encoded, starts, "documents")
    sentences = spans_between(gold.text, boundaries, leftover=False)
    for index, sentence in enumerate(sentences):
        if sentence.start == sentence.end:
            raise CorpusError(
                f"{path}: boundaries[{index}] is {boundaries[index]}, but the sentence before it"
                f" has only white space"
            )
    talk = Talk(
        id=path.stem,
        source=path.name if gold.source is None else gold.source,
        speaker=gold.speaker,
        title=gold.name,
        text=gold.text,
        sentences=sentences,
        language=gold.language,
    )
    return tuple(_documents(path, talk, starts)) if starts else (talk,)


def _documents(path: Path, talk: Talk, starts: Sequence[int]) -> Iterator[Talk]:
    """Cut a talk at the starts of its documents into numbered talks."""
    cuts = sorted({0, *starts, len(talk.text)})
    for number, (start, stop) in enumerate(pairwise(cuts), start=1):
        inside = [sentence for sentence in talk.sentences if start <= sentence.start < stop]
        if not inside or inside[-1].end > stop:
            raise CorpusError(
                f"{path}: the document at {start} must have sentences of its own, "
                "and the last must end before the next document"
            )
        yield replace(
            talk,
            id=f"{talk.id}-{number}",
            text=talk.text[start:stop].rstrip(),
            sentences=tuple(Sentence(first - start, end - start) for first, end in inside),
        )


def _characters_of_bytes(
    path: Path, encoded: bytes, offsets: Sequence[int], name: str
) -> tuple[int, ...]:
    characters = 0
    start = 0
    converted = []
    for index, offset in enumerate(offsets):
        try:
            characters += len(encoded[start:offset].decode())
        except UnicodeDecodeError:
            raise CorpusError(
                f"{path}: {name} count bytes, and {name}[{index}] is {offset}, inside a character"
            ) from None
        start = offset
        converted.append(characters)
    return tuple(converted)


class _Annotated(NamedTuple):
    text: str
    starts_paragraph: bool
    document: str | None  # id of the document that starts with this sentence, if any
    space_after: bool


def parse_conllu(path: Path, content: str) -> tuple[Talk, ...]:
    """Read the talks of a treebank: one per document, or one in all if it marks no documents."""
    documents: list[list[_Annotated]] = []
    for sentence in _sentences(path, content):
        if not documents or sentence.document is not None:
            documents.append([])
        documents[-1].append(sentence)
    if not documents:
        raise CorpusError(f"{path}: no sentences found; expected CoNLL-U")
    return tuple(
        _joined(path, number, document, alone=len(documents) == 1)
        for number, document in enumerate(documents, start=1)
    )


def _joined(path: Path, number: int, document: Sequence[_Annotated], *, alone: bool) -> Talk:
    """Join the sentences of a document by the spaces and paragraphs that it annotates."""
    pieces: list[str] = []
    sentences: list[Sentence] = []
    length, joint = 0, ""
    for sentence in document:
        if pieces:
            pieces.append("\n" if sentence.starts_paragraph else joint)
            length += len(pieces[-1])
        sentences.append(Sentence(length, length + len(sentence.text)))
        pieces.append(sentence.text)
        length += len(sentence.text)
        joint = " " if sentence.space_after else ""
    return Talk(
        id=document[0].document or (path.stem if alone else f"{path.stem}-{number}"),
        source=path.name,
        speaker="",
        title="",
        text="".join(pieces),
        sentences=tuple(sentences),
    )


def _sentences(path: Path, content: str) -> Iterator[_Annotated]:
    lines: list[tuple[int, str]] = []
    has_tokens = False  # comments without tokens belong to the next sentence
    for number, line in enumerate((*unify_line_breaks(content).split("\n"), ""), start=1):
        if line.strip():
            lines.append((number, line))
            has_tokens = has_tokens or not line.startswith("#")
        elif has_tokens:
            yield _sentence(path, lines)
            lines, has_tokens = [], False


def _sentence(path: Path, lines: Sequence[tuple[int, str]]) -> _Annotated:
    """Read the numbered lines of a sentence: comments and tokens."""
    text, document = "", None
    starts_paragraph, space_after = False, True
    range_end = 0
    for number, line in lines:
        if line.startswith("#"):
            name, _, value = (part.strip() for part in line[1:].partition("="))
            if name == "text":
                text = value
            elif name.split(" ")[0] in ("newpar", "newdoc"):
                starts_paragraph = True
                if name.startswith("newdoc"):
                    document = value if name == "newdoc id" else ""
            continue
        columns = line.split("\t")
        first, _, last = columns[0].partition("-")
        parts = (*first.split("."), last or "0")
        numeric = all(part.isdecimal() and len(part) <= _LONGEST_ID for part in parts)
        if len(columns) != _COLUMNS or not numeric:
            raise CorpusError(
                f"{path}:{number}: not a CoNLL-U token: expected {_COLUMNS} columns "
                f"separated by tabs, the first a number, got {line[:40]!r}"
            )
        if "." in columns[0]:  # an empty node: not in the text
            continue
        if last:
            range_end = int(last)
        elif int(first) <= range_end:  # the range line already covers this word
            continue
        space_after = "SpaceAfter=No" not in columns[-1].split("|")
    if not text:
        raise CorpusError(f"{path}:{lines[0][0]}: a sentence without its '# text = …' comment")
    return _Annotated(text, starts_paragraph, document, space_after)
