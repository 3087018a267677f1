from __future__ import annotations

import sys
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sat_bench
from sat_bench.models.tokenizer import UNK_ID, Tokenizer, Tokens
from truemark.errors import TruemarkError

WHOLE = 1 << 30
BUNDLED = Path(sat_bench.__file__).parent / "bundled" / "sentencepiece.bpe.model"

WORDS = st.sampled_from(
    ["the", "rain", "left.", "(ﬁne)", "½", "cafe\u0301", "Ｏｆﬁce", "😀", "ﷺ", "x\u200by", "12.5"]
)
GAPS = st.sampled_from([" ", " ", "  ", "\n", "\r\n", "\t", "\u3000", " \n\n "])


@pytest.fixture(scope="module", params=["plain", "line breaks as pieces", "bundled"])
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    fixtures = {"plain": "tokenizer_path", "line breaks as pieces": "line_tokenizer_path"}
    if request.param == "bundled":
        return Tokenizer(BUNDLED)
    return Tokenizer(request.getfixturevalue(fixtures[request.param]))


@pytest.fixture(scope="module")
def plain(tokenizer_path: Path) -> Tokenizer:
    return Tokenizer(tokenizer_path)


def surfaces(text: str, tokens: Tokens) -> list[str]:
    return [text[start:end] for start, end in zip(tokens.starts, tokens.ends, strict=True)]


def assert_spans_are_sound(text: str, tokens: Tokens) -> None:
    assert len(tokens.ids) == len(tokens.starts) == len(tokens.ends)
    assert (tokens.ends[1:] >= tokens.ends[:-1]).all()
    assert (tokens.starts <= tokens.ends).all()
    assert (tokens.starts >= 0).all()
    assert (tokens.ends <= len(text)).all()


def test_ids_are_those_of_sentencepiece_shifted_by_one(tokenizer_path: Path) -> None:
    import sentencepiece

    pieces = sentencepiece.SentencePieceProcessor(model_file=str(tokenizer_path))
    text = "The ferry left at nine."
    expected = [number + 1 for number in pieces.encode(text)]
    assert Tokenizer(tokenizer_path).encode(text).ids.tolist() == expected


def test_an_unknown_piece_has_the_id_of_xlm_roberta(plain: Tokenizer) -> None:
    tokens = plain.encode("the 😀")
    assert tokens.ids[-1] == UNK_ID
    assert UNK_ID not in plain.encode("the").ids


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("the rain", ["the", " rain"], id="words"),
        pytest.param("  the   rain  ", ["the", "   rain"], id="collapsed spaces"),
        pytest.param("the\n\nrain", ["the", "\n\nrain"], id="paragraph break"),
        pytest.param("the\r\nrain", ["the", "\r\nrain"], id="CRLF"),
        pytest.param("the\u3000\u3000rain", ["the", "\u3000\u3000rain"], id="wide spaces"),
        pytest.param("ｔｈｅ ｒain", ["ｔｈｅ", " ｒain"], id="full width"),
        pytest.param("the 😀", ["the", " 😀", "😀"], id="emoji"),
        pytest.param("the 👨‍👩‍👧", ["the", " 👨", "👨‍👩‍👧"], id="joined emoji"),
        pytest.param("the e\u0301", ["the", " e\u0301", "e\u0301"], id="combining mark"),
        pytest.param("the ㍿ rain", ["the", " ㍿", "㍿", " rain"], id="expansion to one piece"),
        pytest.param("the ½ and", ["the", " ½", "½", "½", "½", " and"], id="expansion to three"),
        pytest.param("the  ﬁne", ["the", "  ﬁ", "ﬁne"], id="ligature over two pieces"),
        pytest.param("the…", ["the", "…", "…", "…"], id="ellipsis"),
        pytest.param("the\x00", ["the", "\x00"], id="NUL"),
        pytest.param("\ufeffthe rain", ["the", " rain"], id="byte order mark"),
        pytest.param("the\ud800rain", ["the", "\ud800rain"], id="lone surrogate"),
        pytest.param("😀 the", ["😀", "😀", " the"], id="lone word beginning"),
        pytest.param("", [], id="empty"),
        pytest.param(" \n\t ", [], id="only white space"),
    ],
)
def test_spans_are_in_the_text_as_given(plain: Tokenizer, text: str, expected: list[str]) -> None:
    assert surfaces(text, plain.encode(text)) == expected


def test_line_breaks_can_be_pieces(line_tokenizer_path: Path) -> None:
    text = "the rain\n\nand"
    found = surfaces(text, Tokenizer(line_tokenizer_path).encode(text))
    assert found[:4] == ["the", " rain", "\n", "\n"]
    assert "".join(found) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("the\nand", ["the", "\n", "\nand"], id="line break"),
        pytest.param("the\n\nand", ["the", "\n\n", "\n\nand"], id="paragraph break"),
        pytest.param("the\r\nand", ["the", "\r\n", "\r\nand"], id="CRLF"),
        pytest.param("the\n", ["the", "\n"], id="last line break"),
        pytest.param("the \n\n", ["the", " ", "\n\n"], id="space before it"),
        pytest.param("thé\n", ["th", "é", "\n"], id="not only ASCII"),
    ],
)
def test_line_breaks_of_the_bundled_tokenizer_have_their_place(
    text: str, expected: list[str]
) -> None:
    assert surfaces(text, Tokenizer(BUNDLED).encode(text)) == expected


@given(
    words=st.lists(
        st.sampled_from(["the", "ﬁne", "ｏｆﬁce", "rain", "½", "cafe\u0301"]), min_size=1
    ),
    gap=GAPS,
)
@settings(derandomize=True, deadline=None)
def test_a_span_holds_what_its_piece_was_made_of(
    tokenizer_path: Path, words: list[str], gap: str
) -> None:
    import sentencepiece

    pieces = sentencepiece.SentencePieceProcessor(model_file=str(tokenizer_path))
    text = gap.join(words)
    tokens = Tokenizer(tokenizer_path).encode(text)
    encoded = pieces.encode(text, return_type="offset_mapping")
    for piece, start, end in zip(encoded["pieces"], tokens.starts, tokens.ends, strict=True):
        made_of = unicodedata.normalize("NFKC", text[start:end])
        assert piece.strip("▁") in made_of
        assert piece.strip("▁") or len(text[start:end].strip()) <= 1 or start == 0


@given(st.text(max_size=200), st.integers(2, 60))
@settings(derandomize=True, deadline=None, max_examples=300)
def test_spans_are_sound_for_any_text_and_chunk(
    tokenizer: Tokenizer, text: str, chunk: int
) -> None:
    assert_spans_are_sound(text, tokenizer.encode(text, chunk=chunk))


@given(st.lists(st.tuples(WORDS, GAPS), max_size=40), st.integers(32, 100))
@settings(derandomize=True, deadline=None, max_examples=300)
def test_chunks_give_the_pieces_of_the_whole_text(
    tokenizer: Tokenizer, pairs: list[tuple[str, str]], chunk: int
) -> None:
    text = "".join(word + gap for word, gap in pairs)
    whole, chunked = tokenizer.encode(text, chunk=WHOLE), tokenizer.encode(text, chunk=chunk)
    assert chunked.ids.tolist() == whole.ids.tolist()
    assert chunked.ends.tolist() == whole.ends.tolist()


def test_a_long_run_without_spaces_is_cut(plain: Tokenizer) -> None:
    text = "rain" * 1250
    chunks = list(plain.encode_chunks(text, chunk=256))
    assert len(chunks) > 10
    tokens = plain.encode(text, chunk=256)
    assert_spans_are_sound(text, tokens)
    assert tokens.ends[-1] == len(text)
    # Pieces differ at the cuts only, and no cut makes a word's beginning.
    whole = plain.encode(text, chunk=WHOLE)
    assert abs(len(tokens) - len(whole)) <= 2 * len(chunks)


def test_a_long_run_of_spaces_is_passed_over(tokenizer: Tokenizer) -> None:
    text = "the" + " " * 1000 + "rain"
    whole, chunked = tokenizer.encode(text, chunk=WHOLE), tokenizer.encode(text, chunk=64)
    assert chunked.ids.tolist() == whole.ids.tolist()
    assert chunked.ends.tolist() == whole.ends.tolist()


def test_no_chunk_is_longer_than_asked(plain: Tokenizer) -> None:
    text = "the rain left " * 500
    ends = [int(tokens.ends[-1]) for tokens in plain.encode_chunks(text, chunk=100)]
    assert np.diff([0, *ends]).max() <= 100


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"not a model at all", id="text"),
        pytest.param(b"\x0a\x00" * 5, id="empty pieces"),
    ],
)
def test_a_file_that_is_no_sentencepiece_model_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "tokens.model"
    path.write_bytes(content)
    with pytest.raises(TruemarkError, match=r"tokens\.model: not a SentencePiece model"):
        Tokenizer(path)


def test_a_truncated_model_is_named(tmp_path: Path, tokenizer_path: Path) -> None:
    path = tmp_path / "tokens.model"
    path.write_bytes(tokenizer_path.read_bytes()[:-100])
    with pytest.raises(TruemarkError, match=r"tokens\.model: not a SentencePiece model"):
        Tokenizer(path)


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(TruemarkError, match=r"none\.model: no such file"):
        Tokenizer(tmp_path / "none.model")
    with pytest.raises(TruemarkError, match="is a folder"):
        Tokenizer(tmp_path)


def test_a_missing_sentencepiece_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(TruemarkError, match="sentencepiece is not installed: pip install truemark"):
        Tokenizer(tmp_path / "tokens.model")
