from pathlib import Path

import pytest

from sat_bench.defaults import BUNDLED_FOLDER, BUNDLED_MODELS
from sat_bench.models.protocol import ModelError
from sat_bench.models.systems import find_model, is_bundled

TOKENIZER = "sentencepiece.bpe.model"


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def touch(*names: str) -> None:
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(b"")


def test_a_file_takes_the_tokenizer_beside_it() -> None:
    touch("m/sat.onnx", f"m/{TOKENIZER}", "m/other.model")
    files = find_model("m/sat.onnx")
    assert (files.model, files.tokenizer) == (Path("m/sat.onnx"), Path("m") / TOKENIZER)
    assert files.threshold is None


def test_the_only_model_file_beside_it_is_the_tokenizer_whatever_its_name() -> None:
    touch("sat.onnx", "pieces.model")
    assert find_model("sat.onnx").tokenizer == Path("pieces.model")


def test_a_tokenizer_that_is_given_wins() -> None:
    touch("m/sat.onnx", f"m/{TOKENIZER}", "t/mine.spm")
    assert find_model("m/sat.onnx", Path("t/mine.spm")).tokenizer == Path("t/mine.spm")


@pytest.mark.parametrize(
    ("present", "chosen"),
    [
        (("model.onnx", "model_optimized.onnx", "x.onnx"), "model_optimized.onnx"),
        (("model.onnx", "x.onnx"), "model.onnx"),
        (("x.onnx",), "x.onnx"),
    ],
    ids=["optimized first", "then the usual name", "then the only one"],
)
def test_a_folder_stands_for_the_model_in_it(present: tuple[str, ...], chosen: str) -> None:
    touch(*(f"folder/{name}" for name in (*present, TOKENIZER)))
    assert find_model("folder").model == Path("folder") / chosen


FAILURES = {
    "no such file": ("gone.onnx", (), "gone.onnx: no such file or folder"),
    "no such path": ("a/b/gone", (), "a/b/gone: no such file or folder"),
    "unknown name": (
        "large",
        (),
        "large: no such model; give a bundled one (nano, small, base, world), the",
    ),
    "empty folder": ("f", ("f/notes.md",), "a single .onnx file in this folder, found notes.md;"),
    "two models": ("f", ("f/a.onnx", "f/b.onnx"), "found a.onnx, b.onnx; give the path"),
    "many files": ("f", tuple(f"f/{n}.x" for n in range(10)), "4.x, 5.x, 4 more; give"),
    "no tokenizer": ("f/a.onnx", ("f/a.onnx",), "no tokenizer found; looked for sentencepiece"),
    "two tokenizers": (
        "f/a.onnx",
        ("f/a.onnx", "f/b.model", "f/c.model"),
        "found b.model, c.model; give its path with -tokenizer",
    ),
}


@pytest.mark.parametrize(("name", "present", "message"), FAILURES.values(), ids=FAILURES)
def test_what_cannot_be_found_is_named_with_what_is_there(
    name: str, present: tuple[str, ...], message: str
) -> None:
    touch(*present)
    with pytest.raises(ModelError) as raised:
        find_model(name)
    assert str(raised.value).startswith(f"{name}: ")
    assert message in str(raised.value)


def test_a_missing_tokenizer_says_in_which_folder_it_was_looked_for(tmp_path: Path) -> None:
    touch("a.onnx")
    with pytest.raises(ModelError, match=str(tmp_path)):
        find_model("a.onnx")
    with pytest.raises(ModelError, match=r"a\.onnx: no such tokenizer file: t\.model"):
        find_model("a.onnx", Path("t.model"))


@pytest.mark.parametrize("name", BUNDLED_MODELS)
def test_a_bundled_name_yields_only_to_a_file(name: str) -> None:
    assert is_bundled(name)
    Path(name).mkdir()
    assert is_bundled(name)
    Path(name).rmdir()
    touch(name)
    assert not is_bundled(name)
    assert not is_bundled(f"./{name}")


@pytest.mark.parametrize("name", BUNDLED_MODELS)
def test_a_bundled_model_is_found_or_its_absence_told(name: str) -> None:
    if (BUNDLED_FOLDER / f"{name}.onnx").is_file():
        files = find_model(name)
        assert files.model == BUNDLED_FOLDER / f"{name}.onnx"
        assert files.tokenizer.parent == BUNDLED_FOLDER
        assert files.threshold is not None
        assert 0 < files.threshold < 1
    else:
        with pytest.raises(ModelError, match=f"{name}: this installation has no bundled model"):
            find_model(name)


@pytest.mark.parametrize("name", ["", " "])
def test_an_empty_name_is_no_folder(name: str) -> None:
    with pytest.raises(ModelError, match="the name of the model is empty"):
        find_model(name)
