"""Where run records go: one path per model, made ready before anything is measured."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from truemark.errors import TruemarkError, os_reason
from truemark.record_files import SUFFIX

MODEL_MARK = "{model}"
_NOT_IN_NAMES = re.compile(r"[^\w.+-]+")


def record_paths(path: Path, models: Sequence[str]) -> tuple[Path, ...]:
    """The file for each model's record; its folder exists afterwards.

    A path with `{model}` in it is a pattern, one that ends in .json a file, any other a folder.
    """
    found = tuple(_path(path, name) for name in _file_names(models))
    for file in found:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise TruemarkError(
                f"{file.parent}: no folder for run records can be made here: {os_reason(error)}"
            ) from error
        if file.is_dir():
            raise TruemarkError(f"{file}: is a folder; expected a place for a run record")
    return found


def _path(path: Path, name: str) -> Path:
    if MODEL_MARK in str(path):
        return Path(str(path).replace(MODEL_MARK, name))
    if path.suffix == ".json" and not path.is_dir():
        return path
    return path / f"{name}{SUFFIX}"


def _file_names(models: Sequence[str]) -> list[str]:
    """The models as parts of file names; of equal ones the later are numbered."""
    seen: Counter[str] = Counter()
    names = []
    for model in models:
        name = _NOT_IN_NAMES.sub("-", model).strip("-.") or "model"
        seen[name] += 1
        names.append(f"{name}-{seen[name]}" if seen[name] > 1 else name)
    return names
