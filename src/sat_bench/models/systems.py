"""Find the system that a name stands for: files of a SaT model, a library, a program, predictions.

The files of a model are bundled, at a path, or on the hub.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from sat_bench.defaults import BUNDLED_FOLDER, BUNDLED_MODELS, DEFAULT_TIMEOUT_S
from sat_bench.models.answers import TextSystem
from sat_bench.models.cards import Windowing, read_card, windowing_of
from sat_bench.models.custom import callable_system, program_system
from sat_bench.models.hub import download_model, download_tokenizer, is_hub_name
from sat_bench.models.language_models import language_model_system
from sat_bench.models.libraries import library_system
from sat_bench.models.protocol import ModelError, ModelNotFound, TokenizerError
from sat_bench.models.quantising import int8_path, quantized
from sat_bench.models.stored import StoredPredictions, stored_system
from truemark.errors import TruemarkError
from truemark.files import checksum, expanded
from truemark.services.keys import without_keys
from truemark.text import listed

KINDS = ("lib", "py", "cmd", "cmd+", "file", "llm")
MODEL_NAMES = ("model_optimized.onnx", "model.onnx")
TOKENIZER_NAME = "sentencepiece.bpe.model"
INT8_SUFFIX = ":int8"

Int8Origin = Literal["made", "kept", "itself"]


@dataclass(frozen=True)
class ModelFiles:
    """The files of a model, with the threshold that its card recommends, if it has one.

    `int8` tells whether an int8 copy is new, kept from before, or the model itself.
    """

    name: str
    model: Path
    tokenizer: Path
    threshold: float | None = None
    int8: Int8Origin | None = None
    original_windowing: Windowing | None = None
    languages: frozenset[str] = frozenset()  # codes; empty: not known

    @cached_property
    def windowing(self) -> Windowing:
        """The windows of the model; an int8 copy has those of the original."""
        return self.original_windowing or windowing_of(self.model)

    @cached_property
    def checksums(self) -> tuple[str, str]:
        """The SHA-256 of the model and of the tokenizer."""
        return checksum(self.model), checksum(self.tokenizer)

    @property
    def identity(self) -> dict[str, str]:
        """What the answers depend on, short enough for a signature."""
        model, tokenizer = self.checksums
        return {"model": model[:12], "tokenizer": tokenizer[:12]}


System = ModelFiles | TextSystem | StoredPredictions


def find_system(
    name: str, tokenizer: Path | None = None, *, timeout_s: float = DEFAULT_TIMEOUT_S
) -> System:
    """Find the system of this name; a given tokenizer is for a SaT model.

    `timeout_s` limits a program for each text, a language model for each answer.

    | form | is |
    | --- | --- |
    | `small`, `nano`, a path, `owner/name` | files of a SaT model |
    | `lib:NAME[:ARGUMENT]` | a segmenter installed beside Truemark |
    | `py:module:callable` | a Python callable |
    | `cmd:COMMAND`, `cmd+:COMMAND` | a program, started for each text, or once for all |
    | `file:FOLDER` | predictions made elsewhere, a file per talk |
    | `llm:MODEL` | a language model, by the keys and addresses in the environment |
    """
    if is_model_name(name):
        return find_model(name, tokenizer)
    try:
        match name.partition(":")[0]:
            case "lib":
                return library_system(name)
            case "py":
                return callable_system(name)
            case "file":
                return stored_system(name)
            case "llm":
                return language_model_system(name, timeout_s)
            case _:
                return program_system(name, timeout_s)
    except ModelError:
        raise
    except TruemarkError as error:
        raise ModelError(without_keys(f"{name}: {error}")) from error


def is_model_name(name: str) -> bool:
    """Whether the name refers to the files of a SaT model."""
    kind, colon, _ = name.partition(":")
    return not (colon and kind in KINDS)


def is_bundled(name: str) -> bool:
    """Whether a name means a bundled model, and not a file of the same name."""
    base = name.removesuffix(INT8_SUFFIX)
    return base in BUNDLED_MODELS and not any(Path(file).is_file() for file in (name, base))


def languages_of(name: str) -> frozenset[str]:
    """Read the languages of a bundled model from its card; return none if it has no card."""
    card = BUNDLED_FOLDER / f"{name.removesuffix(INT8_SUFFIX)}.md"
    return read_card(card).languages if card.is_file() else frozenset()


def int8_name(name: str) -> str:
    return name if _means_int8(name) else name + INT8_SUFFIX


def _means_int8(name: str) -> bool:
    return name.endswith(INT8_SUFFIX) and not Path(name).is_file()


def find_model(name: str, tokenizer: Path | None = None) -> ModelFiles:
    """Find the files of a model by its name; a given tokenizer takes precedence.

    A name that ends in `:int8` stands for the int8 copy of the model, which is made if missing.
    """
    if _means_int8(name):
        return _int8_copy(name, find_model(name.removesuffix(INT8_SUFFIX), tokenizer))
    if is_bundled(name):
        return _bundled(name, tokenizer)
    if not name.strip():
        raise ModelNotFound("the name of the model is empty")
    path = expanded(name)
    if path.exists():
        model = _only_model(path) if path.is_dir() else path
        return ModelFiles(name, model, find_tokenizer(name, tokenizer or model.parent))
    if is_hub_name(name):
        model = download_model(name, MODEL_NAMES)
        if tokenizer:
            return ModelFiles(name, model, find_tokenizer(name, tokenizer))
        return ModelFiles(name, model, download_tokenizer(name, TOKENIZER_NAME))
    if "/" in name or os.sep in name or name.endswith(".onnx"):
        raise ModelNotFound(f"{name}: no such file or folder")
    raise ModelNotFound(
        f"{name}: no such model; give a bundled one ({', '.join(BUNDLED_MODELS)}), the path of an "
        "ONNX file or its folder, or a hub name such as segment-any-text/sat-3l-sm"
    )


def find_tokenizer(name: str, path: Path) -> Path:
    """Find the tokenizer of the named model: the file at the path, or the one in the folder."""
    if path.is_file():
        return path
    if not path.is_dir():
        raise TokenizerError(f"{name}: no such tokenizer file: {path}")
    usual = path / TOKENIZER_NAME
    if usual.is_file():
        return usual
    others = sorted(path.glob("*.model"))
    if len(others) == 1:
        return others[0]
    raise TokenizerError(
        f"{name}: no tokenizer found; looked for {TOKENIZER_NAME} or a single *.model file in "
        f"{path.resolve()}, found {_names(others)}; give its path with -tokenizer"
    )


def _bundled(name: str, tokenizer: Path | None) -> ModelFiles:
    model = BUNDLED_FOLDER / f"{name}.onnx"
    if not model.is_file():
        raise ModelNotFound(
            f"{name}: this installation has no bundled model of that name (looked for {model}); "
            "give the path of an ONNX file with -model"
        )
    card = read_card(model.with_suffix(".md"))
    path = find_tokenizer(name, tokenizer or BUNDLED_FOLDER / card.tokenizer)
    return ModelFiles(name, model, path, card.threshold, languages=card.languages)


def _int8_copy(name: str, original: ModelFiles) -> ModelFiles:
    if original.model.parent == BUNDLED_FOLDER:  # all of them are int8
        return replace(original, name=name, int8="itself")
    copy = int8_path(original.model)
    origin: Int8Origin = "kept"
    if not copy.is_file():
        copy = quantized(original.model)
        origin = "itself" if copy == original.model else "made"
    return replace(
        original, name=name, model=copy, int8=origin, original_windowing=original.windowing
    )


def _only_model(folder: Path) -> Path:
    for name in MODEL_NAMES:
        if (folder / name).is_file():
            return folder / name
    models = sorted(folder.glob("*.onnx"))
    if len(models) == 1:
        return models[0]
    raise ModelNotFound(
        f"{folder}: expected {' or '.join(MODEL_NAMES)} or a single .onnx file in this folder, "
        f"found {_names(models or folder.iterdir())}; give the path of the file"
    )


def _names(files: Iterable[Path]) -> str:
    return listed(sorted(file.name for file in files if not file.name.startswith(".")), 6)
