"""Gold sentence ends: offsets in a `.json` file, sentences of a CoNLL-U treebank."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from sat_bench.corpus.talks import CorpusError, Sentence, Talk, spans_between, unify_line_breaks
from truemark.jsontext import shown

_COLUMNS = 10
_LONGEST_ID = 9


def parse_gold_json(path: Path, content: str) -> tuple[Talk, ...]:
    """Read the talks of a gold file: one, or one from each start in `documents` on.

    Offsets that count bytes are converted to characters.
    """
    document = _json_object(path, content)
    text = _string(path, document, "text")
    if not text.strip():
        raise CorpusError(f"{path}: text is empty")
    boundaries = _boundaries(path, document, text)
    sentences = spans_between(text, boundaries, leftover=False)
    for index, sentence in enumerate(sentences):
        if sentence.start == sentence.end:
            raise CorpusError(
                f"{path}: boundaries[{index}] is {boundaries[index]}, "
                "but the sentence before it holds only white space"
            )
    talk = Talk(
        id=path.stem,
        source=_string(path, document, "source", default=path.name),
        speaker=_string(path, document, "speaker", default=""),
        title=_string(path, document, "name", default=""),
        text=text,
        sentences=sentences,
        language=_string(path, document, "language", default=""),
    )
    starts = _document_starts(path, document, text)
    return tuple(_documents(path, talk, starts)) if starts else (talk,)


def _document_starts(path: Path, document: dict[str, object], text: str) -> Sequence[int]:
    """Read where documents start, in the unit of the boundaries; the first starts at 0."""
    values = document.get("documents", [])
    if not isinstance(values, list) or not all(
        isinstance(value, int) and not isinstance(value, bool) for value in values
    ):
        raise CorpusError(f"{path}: documents must be a list of start offsets")
    if any(after <= before for before, after in pairwise(values)):
        raise CorpusError(f"{path}: documents must ascend")
    encoded, boundaries = text.encode(), document["boundaries"]
    counts_bytes = (
        isinstance(boundaries, list) and boundaries[-1] == len(encoded) and len(encoded) > len(text)
    )
    if values and not 0 <= values[0] <= values[-1] < (len(encoded) if counts_bytes else len(text)):
        raise CorpusError(f"{path}: documents must start inside the text")
    if counts_bytes:
        return _characters_of_bytes(path, encoded, values, "documents")
    return values


def _documents(path: Path, talk: Talk, starts: Sequence[int]) -> Iterator[Talk]:
    """Cut a talk at the starts of its documents; each is a talk with a number."""
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


def _json_object(path: Path, content: str) -> dict[str, object]:
    try:
        document = json.loads(content)
    except json.JSONDecodeError as error:
        raise CorpusError(
            f"{path}:{error.lineno}: not JSON: {error.msg} (column {error.colno})"
        ) from None
    except (RecursionError, ValueError) as error:
        raise CorpusError(f"{path}: not readable as JSON: {error}") from None
    if not isinstance(document, dict):
        raise CorpusError(
            f"{path}: must be a JSON object with text and boundaries, got {_json_type(document)}"
        )
    return document


def _string(
    path: Path, document: dict[str, object], key: str, *, default: str | None = None
) -> str:
    value = document.get(key, default)
    if not isinstance(value, str):
        got = _json_type(value) if key in document else "nothing"
        raise CorpusError(f"{path}: {key} must be a string, got {got}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise CorpusError(
            f"{path}: {key} holds half of a surrogate pair at character {error.start}"
        ) from None
    return value


def _boundaries(path: Path, document: dict[str, object], text: str) -> Sequence[int]:
    values = document.get("boundaries")
    if not isinstance(values, list) or not values:
        got = "nothing" if values is None else _json_type(values)
        raise CorpusError(
            f"{path}: boundaries must be a list of at least one end offset, got {got}"
        )
    for index, value in enumerate(values):
        if not isinstance(value, int) or isinstance(value, bool):
            raise CorpusError(
                f"{path}: boundaries[{index}] must be a whole number, got {shown(value)}"
            )
    for index, (before, after) in enumerate(pairwise(values), start=1):
        if after <= before:
            raise CorpusError(
                f"{path}: boundaries must ascend, but boundaries[{index}] is {shown(after)}"
                f" after {shown(before)}"
            )
    _check_sentence_count(path, document, len(values))
    encoded = text.encode()
    if values[-1] == len(encoded) != len(text):
        return _characters_of_bytes(path, encoded, values)
    if values[0] < 1 or values[-1] > len(text):
        index = 0 if values[0] < 1 else next(i for i, v in enumerate(values) if v > len(text))
        raise CorpusError(
            f"{path}: boundaries[{index}] is {shown(values[index])}, "
            f"outside the text of {len(text)} characters"
        )
    return values


def _check_sentence_count(path: Path, document: dict[str, object], boundaries: int) -> None:
    sentences = document.get("sentences")
    if not sentences or (isinstance(sentences, int) and not isinstance(sentences, bool)):
        return  # some files only give the number of sentences
    if not isinstance(sentences, list):
        raise CorpusError(
            f"{path}: sentences must be a list or a whole number, got {_json_type(sentences)}"
        )
    if len(sentences) != boundaries:
        raise CorpusError(
            f"{path}: {len(sentences)} sentences but {boundaries} boundaries; "
            "each sentence has one end"
        )


def _characters_of_bytes(
    path: Path, encoded: bytes, offsets: Sequence[int], name: str = "boundaries"
) -> list[int]:
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
    return converted


def _json_type(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a truth value"
    names = {dict: "an object", list: "a list", str: "a string", int: "a number", float: "a number"}
    if isinstance(value, list) and not value:
        return "an empty list"
    return names[type(value)]


@dataclass(slots=True)
class _Annotated:
    line: int
    text: str = ""
    starts_paragraph: bool = False
    document: str | None = None  # the id of the document that begins here, if one does
    space_after: bool = True
    tokens: int = 0
    range_end: int = 0


def parse_conllu(path: Path, content: str) -> tuple[Talk, ...]:
    """Read the talks of a treebank: its documents, or all of it where it names none."""
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
    """Join the sentences of a document as their annotation says."""
    pieces: list[str] = []
    sentences: list[Sentence] = []
    length = 0
    before: _Annotated | None = None
    for sentence in document:
        if before is not None:
            pieces.append(_joint(before, sentence))
            length += len(pieces[-1])
        sentences.append(Sentence(length, length + len(sentence.text)))
        pieces.append(sentence.text)
        length += len(sentence.text)
        before = sentence
    return Talk(
        id=document[0].document or (path.stem if alone else f"{path.stem}-{number}"),
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
        if name.startswith("newdoc"):
            sentence.document = value.strip() if name == "newdoc id" else ""


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
