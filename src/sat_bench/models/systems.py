"""Any system under test, by the name that the command line and Python know it by."""

from __future__ import annotations

from pathlib import Path

from sat_bench.defaults import DEFAULT_TIMEOUT_S
from sat_bench.models.answers import TextSystem
from sat_bench.models.custom import callable_system, program_system
from sat_bench.models.finding import ModelFiles, find_model
from sat_bench.models.language_models import language_model_system
from sat_bench.models.libraries import library_system
from sat_bench.models.protocol import ModelError
from sat_bench.models.stored import StoredPredictions, stored_system
from truemark.errors import TruemarkError

System = ModelFiles | TextSystem | StoredPredictions

KINDS = ("lib", "py", "cmd", "cmd+", "file", "llm")


def find_system(
    name: str, tokenizer: Path | None = None, *, timeout_s: float = DEFAULT_TIMEOUT_S
) -> System:
    """Find the system of this name; a given tokenizer is for a SaT model.

    A program may take `timeout_s` for a text, a language model for an answer.

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
        return _find_other(name, timeout_s)
    except ModelError:
        raise
    except TruemarkError as error:
        raise ModelError(f"{name}: {error}") from error


def is_model_name(name: str) -> bool:
    """Whether the name stands for files of a SaT model."""
    kind, colon, _ = name.partition(":")
    return not (colon and kind in KINDS)


def _find_other(name: str, timeout_s: float) -> System:
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
