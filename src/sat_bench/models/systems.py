"""Any system under test, by the name that the command line and Python know it by."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from sat_bench.models.finding import ModelError, ModelFiles, find_model
from sat_bench.models.protocol import TextSystem
from sat_bench.models.stored import StoredPredictions, stored_predictions

System = ModelFiles | TextSystem | StoredPredictions


def find_system(name: str, tokenizer: Path | None = None) -> System:
    """The system of this name; a tokenizer that is given is for a SaT model.

    | form | is |
    | --- | --- |
    | `small`, `nano`, a path, `owner/name` | files of a SaT model |
    | `lib:NAME[:ARGUMENT]` | a segmenter installed beside Truemark |
    | `py:module:callable` | a Python callable |
    | `file:FOLDER` | predictions made elsewhere, a file per talk |
    """
    kind, colon, _ = name.partition(":")
    if colon and kind in _KINDS:
        return _KINDS[kind](name)
    return find_model(name, tokenizer)


def is_model_name(name: str) -> bool:
    """Whether the name stands for files of a SaT model."""
    kind, colon, _ = name.partition(":")
    return not (colon and kind in _KINDS)


def _library(name: str) -> System:
    from sat_bench.models.libraries import library_system

    return library_system(name)


def _callable(name: str) -> System:
    from truemark.callables import import_callable, source_checksum
    from truemark.errors import TruemarkError

    try:
        split = import_callable(name.removeprefix("py:"))
    except TruemarkError as error:
        raise ModelError(f"py:{error}") from error
    identity = (("callable", name), ("source", source_checksum(split)[:12]))
    return TextSystem(name, identity, lambda: nullcontext(split))


_KINDS: dict[str, Callable[[str], System]] = {
    "lib": _library,
    "py": _callable,
    "file": stored_predictions,
}
