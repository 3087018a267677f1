"""The models that ship: their files are what their cards say, and they find sentences at once."""

import re
from pathlib import Path

import pytest

from sat_bench import Segmenter
from sat_bench.defaults import BUNDLED_FOLDER, BUNDLED_MODELS
from sat_bench.models.systems import find_model
from truemark.files import checksum

LIMITS_BYTES = {"base": 18_000_000, "small": 8_000_000, "nano": 2_000_000, "world": 20_000_000}
PARAGRAPHS = "The kettle broke on Monday.\n\nWe bought another one.\nIt is red"


def card(name: str) -> str:
    return (BUNDLED_FOLDER / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", BUNDLED_MODELS)
def test_the_card_names_the_checksums_of_the_files_that_ship(name: str) -> None:
    found = dict(re.findall(r"^(\w+): (\S+)$", card(name).split("---")[1], re.MULTILINE))
    assert found["sha256"] == checksum(BUNDLED_FOLDER / f"{name}.onnx")
    assert found["tokenizer_sha256"] == checksum(find_model(name).tokenizer)


@pytest.mark.parametrize("name", BUNDLED_MODELS)
def test_model_and_tokenizer_together_stay_within_their_size(name: str) -> None:
    files = find_model(name)
    size = sum(Path(path).stat().st_size for path in (files.model, files.tokenizer))
    assert size <= LIMITS_BYTES[name]


@pytest.mark.parametrize("name", BUNDLED_MODELS)
@pytest.mark.parametrize("section", ["Data and licences", "Figures", "Limits", "Threshold"])
def test_the_card_has_every_section(name: str, section: str) -> None:
    assert f"## {section}\n" in card(name)


@pytest.mark.parametrize("name", BUNDLED_MODELS)
def test_sentences_end_at_line_breaks_in_text_of_ascii_only(name: str) -> None:
    files = find_model(name)
    with Segmenter(files.model, files.tokenizer, files.threshold or 0.0) as segmenter:
        assert segmenter.segment(PARAGRAPHS) == [
            "The kettle broke on Monday.\n\n",
            "We bought another one.\n",
            "It is red",
        ]


def test_sentences_are_found_without_case_and_punctuation() -> None:
    files = find_model("small")
    text = "thank you very much for having me i am really glad to be here what do you do"
    with Segmenter(files.model, files.tokenizer, files.threshold or 0.0) as segmenter:
        assert segmenter.segment(text) == [
            "thank you very much for having me ",
            "i am really glad to be here ",
            "what do you do",
        ]
