from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from testing.onnx_models import write_terminator_model

from sat_bench.cli import main
from sat_bench.defaults import BUNDLED_MODELS
from sat_bench.models.quantising import quantized
from sat_bench.models.systems import find_model, int8_name, is_bundled
from truemark.imports import install_command


@pytest.fixture
def copies(tokenizer_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of int8 copies, in a working folder with a model and a talk."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    Path("talks").mkdir()
    Path("talks/a.txt").write_text(
        "# Source: tape\n\nOne day. Two days! Three?\n", encoding="utf-8"
    )
    Path("sentencepiece.bpe.model").write_bytes(tokenizer_path.read_bytes())
    write_terminator_model(Path("sat.onnx"), tokenizer_path)
    return tmp_path / "xdg" / "truemark" / "models"


RUN = ["-model", "sat.onnx", "-corpus", "talks"]


def test_the_copy_is_made_once_and_named(copies: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*RUN, "-quantize"]) == 0
    [copy] = copies.iterdir()
    printed = capsys.readouterr()
    assert f"sat.onnx:int8: made the int8 copy {copy}\n" in printed.err
    assert "(TP: 3, FP: 0, FN: 0)" in printed.out
    assert main([*RUN, "-quantize"]) == 0
    assert f"sat.onnx:int8: uses the existing int8 copy {copy}\n" in capsys.readouterr().err


def test_a_comparison_shows_a_model_and_its_copy(
    copies: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["-models", "sat.onnx,sat.onnx:int8", "-corpus", "talks"]
    assert main(flags) == 0
    assert capsys.readouterr().out.splitlines()[5:] == [
        "sat.onnx                       0.025    1.00     1.00",
        "sat.onnx:int8                  0.025    1.00     1.00",
    ]
    assert main([*flags, "-format", "json"]) == 0
    exact, near = json.loads(capsys.readouterr().out)["results"]
    assert exact["signature"] == near["signature"]
    assert exact["system"] != near["system"]


def test_with_the_flag_every_model_of_a_comparison_is_int8(
    copies: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["-models", "sat.onnx,sat.onnx:int8", "-corpus", "talks", "-quantize"]) == 0
    rows = capsys.readouterr().out.splitlines()[5:]
    assert [row.split()[0] for row in rows] == ["sat.onnx:int8"] * 2


def test_a_model_that_is_int8_runs_as_it_is(
    copies: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("eight.onnx").write_bytes(quantized(Path("sat.onnx")).read_bytes())
    assert main(["-model", "eight.onnx:int8", "-corpus", "talks"]) == 0
    printed = capsys.readouterr().err
    assert "eight.onnx:int8: already has int8 weights and runs unchanged: eight.onnx\n" in printed
    assert len(list(copies.iterdir())) == 1


def test_a_model_that_cannot_be_quantised_is_named_and_the_others_measured(
    copies: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("broken.onnx").write_bytes(b"not a model")
    assert main(["-models", "broken.onnx:int8,gone:int8,sat.onnx", "-corpus", "talks"]) == 1
    printed = capsys.readouterr()
    assert "failed: broken.onnx:int8: " in printed.err
    assert "failed: gone:int8: gone: no such model" in printed.err
    assert "sat.onnx                       0.025    1.00     1.00" in printed.out


def test_without_the_package_onnx_the_error_says_what_to_install(
    copies: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert main([*RUN, "-quantize"]) == 1
    assert install_command("quantize") in capsys.readouterr().err


@pytest.mark.parametrize("name", BUNDLED_MODELS)
def test_a_bundled_model_is_its_own_copy_without_the_package_onnx(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert quantized(find_model(name).model, tmp_path) == find_model(name).model
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert find_model(f"{name}:int8").int8 == "itself"


def test_a_file_that_is_called_so_goes_before_a_copy(copies: Path) -> None:
    Path("sat.onnx").rename("sat.onnx:int8")
    files = find_model("sat.onnx:int8")
    assert (files.model, files.int8) == (Path("sat.onnx:int8"), None)
    assert int8_name("sat.onnx:int8") == "sat.onnx:int8:int8"


def test_an_int8_name_is_not_marked_twice(copies: Path) -> None:
    assert int8_name("a.onnx") == int8_name(int8_name("a.onnx")) == "a.onnx:int8"


def test_the_copy_of_a_bundled_model_keeps_its_threshold_and_tokenizer(copies: Path) -> None:
    assert is_bundled("small:int8")
    plain, near = find_model("small"), find_model("small:int8")
    assert (near.threshold, near.tokenizer) == (plain.threshold, plain.tokenizer)
    assert near.int8
