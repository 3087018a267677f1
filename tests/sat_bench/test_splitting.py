import io
import json
from pathlib import Path

import pytest

from sat_bench import Segmenter
from sat_bench.cli import main
from sat_bench.defaults import BUNDLED_FOLDER
from sat_bench.models.protocol import InvalidModel, ModelError, ModelNotFound, TokenizerError
from truemark.errors import TruemarkError

TEXT = "We sat there.  Nobody spoke,\nnot even Dr. Ames. Why?\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_sentences_come_one_per_line(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["split", "-model", "nano", str(file)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        *("We sat there.", "Nobody spoke, not even Dr. Ames.", "Why?")
    ]


@pytest.mark.parametrize("name", ["talk.srt", "talk.VTT"])
def test_subtitles_are_split_without_numbers_and_times(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    cues = (
        "1\n00:00:01.000 --> 00:00:02.000\nWe sat\n\n2\n00:00:02.000 --> 00:00:03.000\nthere. Why?"
    )
    path.write_text(f"{cues}\n\n3\n00:03 -> later\nLost.\n", encoding="utf-8")
    assert main(["split", "-model", "nano", str(path)]) == 0
    said = capsys.readouterr()
    assert said.out == "We sat there.\nWhy?\n"
    assert said.err.count(f"{path}:10: not a timing line") == 1


def test_a_text_in_another_language_is_noted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "text.txt"
    path.write_text("On est arrivés trop tard à la gare. Il n'y avait plus personne.")
    assert main(["split", "-model", "nano", str(path)]) == 0
    assert "French text; nano reads English: try -model world" in capsys.readouterr().err
    assert main(["split", "-model", "world", str(path)]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("arguments", [["-"], []])
def test_standard_input_is_read(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    assert main(["split", *arguments, "-model=nano"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_json_has_ends_and_probabilities(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["split", str(file), "-model", "nano", "-format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["model"] == "nano"
    for row in document["sentences"]:
        assert TEXT[row["start"] : row["end"]] == row["text"]
        assert 0 < row["probability"] <= 1


@pytest.mark.parametrize(
    ("text", "said"), [("We sat there.", "complete"), ("We sat because of the", "incomp")]
)
def test_completeness_is_told(
    tmp_path: Path, text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.txt"
    path.write_text(text, encoding="utf-8")
    assert main(["split", str(path), "-model", "nano", "-complete"]) == 0
    assert capsys.readouterr().out.startswith(said)
    assert main(["split", str(path), "-model", "nano", "-complete", "-format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["complete"] is (said == "complete")


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        ("WE SAT THERE NOBODY SPOKE WHY", 1),
        ("WE SAT THERE. NOBODY SPOKE. WHY?", 0),
        ("we sat there nobody spoke why", 0),
        ("IBM 和 NATO 都没有说话", 0),
    ],
)
def test_capitals_without_punctuation_are_noted(
    text: str, noted: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "text.txt"
    path.write_text(text, encoding="utf-8")
    assert main(["split", str(path), "-model", "world"]) == 0
    assert capsys.readouterr().err.count("put it in lower case first") == noted


def test_a_system_without_probabilities_splits_but_knows_nothing_complete(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["split", str(file), "-model", "py:textwrap:wrap", "-format=json"]) == 0
    [row, *_] = json.loads(capsys.readouterr().out)["sentences"]
    assert row["probability"] is None
    assert main(["split", str(file), "-model", "py:textwrap:wrap", "-complete"]) == 1
    assert "has no probabilities" in capsys.readouterr().err


def test_what_is_wrong_with_a_model_has_a_class_of_its_own(tmp_path: Path) -> None:
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"no model")
    tokenizer = tmp_path / "no.model"
    with pytest.raises(ModelNotFound, match="missing"):
        Segmenter("missing")
    with pytest.raises(ModelNotFound, match=r"missing\.onnx"):
        Segmenter(tmp_path / "missing.onnx", tokenizer)
    with pytest.raises(TokenizerError, match="tokenizer"):
        Segmenter(broken)
    tokenizer.write_bytes(b"nothing")
    with pytest.raises(TokenizerError, match="not a SentencePiece model"):
        Segmenter(broken, tokenizer)
    with pytest.raises(InvalidModel, match="not an ONNX model"):
        Segmenter(broken, BUNDLED_FOLDER / "sentencepiece.bpe.model")
    for kind in (ModelNotFound, InvalidModel, TokenizerError):
        assert issubclass(kind, ModelError)
        assert issubclass(kind, TruemarkError)


def test_segment_says_that_it_takes_one_text() -> None:
    with Segmenter("nano") as segmenter, pytest.raises(TypeError, match="segment_many"):
        segmenter.segment(["One.", "Two."])  # type: ignore[arg-type]
