"""Windows belong to the model: its card says them, or the positions in its file do."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from testing.onnx_models import write_table_model, write_transformer

from sat_bench.defaults import BUNDLED_MODELS
from sat_bench.models.cards import Card, Windowing, longest_window, read_card, windowing_of
from sat_bench.models.systems import find_model
from truemark.errors import TruemarkError

CARD = "---\nthreshold: 0.45\ntokenizer: t.model\nwindow: 254\noverlap: 32\n---\n# Card\n"


@pytest.mark.parametrize(
    ("rows", "window", "overlap"),
    [(514, 510, 64), (512, 510, 64), (258, 254, 32), (256, 254, 32), (100, 94, 12)],
)
def test_positions_in_the_file_give_window_and_overlap(
    tmp_path: Path, rows: int, window: int, overlap: int
) -> None:
    model = tmp_path / "m.onnx"
    write_transformer(model, layers=1, width=8, heads=2, vocabulary=50, positions=rows)
    assert windowing_of(model) == Windowing(window, overlap)


@pytest.mark.parametrize("name", BUNDLED_MODELS)
def test_a_bundled_model_reads_the_windows_of_its_card(name: str) -> None:
    files = find_model(name)
    assert files.windowing == windowing_of(files.model)
    assert files.windowing.window <= longest_window(files.model)


def test_a_file_that_does_not_tell_reads_510_tokens(tmp_path: Path) -> None:
    import numpy as np

    model = write_table_model(tmp_path / "m.onnx", np.zeros((50, 1), np.float32))
    assert windowing_of(model) == Windowing(510, 64)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.binary(max_size=200))
def test_any_bytes_give_a_window(content: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "m.onnx"
        model.write_bytes(content)
        assert 0 < longest_window(model) <= 510


def test_a_card_goes_before_the_positions(tmp_path: Path) -> None:
    model = write_transformer(tmp_path / "m.onnx", layers=1, width=8, heads=2, vocabulary=50)
    assert windowing_of(model) == Windowing(510, 64)
    (tmp_path / "m.md").write_text(CARD, encoding="utf-8")
    assert windowing_of(model) == Windowing(254, 32)
    (tmp_path / "m.md").write_text("# Notes on my model\n", encoding="utf-8")
    assert windowing_of(model) == Windowing(510, 64)


def test_a_card_says_what_the_model_is_run_with(tmp_path: Path) -> None:
    path = tmp_path / "m.md"
    path.write_text(CARD, encoding="utf-8")
    assert read_card(path) == Card(0.45, "t.model", Windowing(254, 32))


@pytest.mark.parametrize(
    "text",
    [
        CARD.removeprefix("---\n"),
        CARD.replace("\n---\n", "\n"),
        CARD.replace("0.45", "high"),
        CARD.replace("0.45", "4"),
        CARD.replace("overlap: 32\n", ""),
        CARD.replace("32", "254"),
        "",
    ],
    ids=[
        "no front matter",
        "not closed",
        "not a number",
        "out of range",
        "no overlap",
        "overlap too long",
        "empty",
    ],
)
def test_a_card_that_lacks_something_is_named(tmp_path: Path, text: str) -> None:
    card = tmp_path / "card.md"
    card.write_text(text, encoding="utf-8")
    with pytest.raises(TruemarkError, match=r"card\.md: the model card must have a threshold"):
        read_card(card)


def test_an_overlap_longer_than_the_window_is_refused() -> None:
    assert Windowing(254, 32).with_overlap(None) == Windowing(254, 32)
    assert Windowing(254, 32).with_overlap(253) == Windowing(254, 253)
    with pytest.raises(TruemarkError, match="reads 254 at a time: give at most 253"):
        Windowing(254, 32).with_overlap(254)
