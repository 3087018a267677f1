"""Which files a model name stands for: bundled models, paths, and hub names, downloaded once."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from sat_bench.models.reach import Reach, reach_of, read_card
from truemark.errors import TruemarkError
from truemark.signature import checksum

DEFAULT_MODEL = "base"
BUNDLED_MODELS = ("nano", "small", DEFAULT_MODEL)
BUNDLED_FOLDER = Path(__file__).parents[1] / "bundled"
MODEL_NAMES = ("model_optimized.onnx", "model.onnx")
TOKENIZER_NAME = "sentencepiece.bpe.model"
INT8_SUFFIX = ":int8"

Int8Origin = Literal["made", "kept", "itself"]

TOKENIZER_REPOSITORY = "facebookAI/xlm-roberta-base"
_HUB_NAME = re.compile(r"\w[\w.-]*/\w[\w.-]*")
_TIMEOUT_S = 10


class ModelError(TruemarkError):
    """A model that cannot be found: what was looked for, where, and what to do."""


@dataclass(frozen=True)
class ModelFiles:
    """The files of a model, with the threshold that its card recommends, if it has one.

    Of an int8 copy, also whether it was made just now, kept from before, or is the model itself.
    """

    name: str
    model: Path
    tokenizer: Path
    threshold: float | None = None
    int8: Int8Origin | None = None
    given_reach: Reach | None = None

    @cached_property
    def reach(self) -> Reach:
        """The windows to read with; those of an int8 copy are its original's."""
        return self.given_reach or reach_of(self.model)

    @cached_property
    def checksums(self) -> tuple[str, str]:
        """The SHA-256 of the model and of the tokenizer."""
        return checksum(self.model), checksum(self.tokenizer)

    @property
    def identity(self) -> tuple[tuple[str, str], ...]:
        """What its answers depend on, short enough for a signature."""
        model, tokenizer = self.checksums
        return ("model", model[:12]), ("tokenizer", tokenizer[:12])


def is_bundled(name: str) -> bool:
    """Whether a name means a bundled model: a file of the same name goes before it."""
    base = name.removesuffix(INT8_SUFFIX)
    return base in BUNDLED_MODELS and not any(Path(file).is_file() for file in (name, base))


def int8_name(name: str) -> str:
    """The name of the model's int8 copy."""
    return name if _means_int8(name) else name + INT8_SUFFIX


def _means_int8(name: str) -> bool:
    return name.endswith(INT8_SUFFIX) and not Path(name).is_file()


def expanded(path: str) -> Path:
    """The path with a leading ~ replaced by the home folder, where there is such a one."""
    try:
        return Path(path).expanduser()
    except RuntimeError:  # no such user
        return Path(path)


def find_model(name: str, tokenizer: Path | None = None) -> ModelFiles:
    """The files that a model name stands for; a tokenizer that is given wins over all others.

    A name that ends in `:int8` stands for the int8 copy of the model, made if there is none yet.
    """
    if _means_int8(name):
        return _int8_copy(name, find_model(name.removesuffix(INT8_SUFFIX), tokenizer))
    if is_bundled(name):
        return _bundled(name, tokenizer)
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
        raise ModelError(f"{name}: no such file or folder")
    raise ModelError(
        f"{name}: no such model; give a bundled one ({', '.join(BUNDLED_MODELS)}), the path of an "
        "ONNX file or its folder, or a hub name such as segment-any-text/sat-3l-sm"
    )


def find_tokenizer(name: str, path: Path) -> Path:
    """The tokenizer of the named model: the file at the path, or the one that a folder holds."""
    if path.is_file():
        return path
    if not path.is_dir():
        raise ModelError(f"{name}: no such tokenizer file: {path}")
    usual = path / TOKENIZER_NAME
    if usual.is_file():
        return usual
    others = sorted(path.glob("*.model"))
    if len(others) == 1:
        return others[0]
    raise ModelError(
        f"{name}: no tokenizer found; looked for {TOKENIZER_NAME} or a single *.model file in "
        f"{path.resolve()}, found {_listed(others)}; give its path with -tokenizer"
    )


def _bundled(name: str, tokenizer: Path | None) -> ModelFiles:
    model = BUNDLED_FOLDER / f"{name}.onnx"
    if not model.is_file():
        raise ModelError(
            f"{name}: this installation has no bundled model of that name (looked for {model}); "
            "give the path of an ONNX file with -model"
        )
    card = read_card(model.with_suffix(".md"))
    own = find_tokenizer(name, tokenizer or BUNDLED_FOLDER / card.tokenizer)
    return ModelFiles(name, model, own, card.threshold)


def _int8_copy(name: str, original: ModelFiles) -> ModelFiles:
    from sat_bench.models.network import int8_path, quantized

    copy = int8_path(original.model)
    origin: Int8Origin = "kept"
    if not copy.is_file():
        copy = quantized(original.model)
        origin = "itself" if copy == original.model else "made"
    return replace(original, name=name, model=copy, int8=origin, given_reach=original.reach)


def _only_model(folder: Path) -> Path:
    for name in MODEL_NAMES:
        if (folder / name).is_file():
            return folder / name
    models = sorted(folder.glob("*.onnx"))
    if len(models) == 1:
        return models[0]
    raise ModelError(
        f"{folder}: expected {' or '.join(MODEL_NAMES)} or a single .onnx file in this folder, "
        f"found {_listed(models or folder.iterdir())}; give the path of the file"
    )


def _listed(files: Iterable[Path], most: int = 6) -> str:
    names = sorted(file.name for file in files if not file.name.startswith("."))
    more = [f"{len(names) - most} more"] if len(names) > most else []
    return ", ".join(names[:most] + more) or "nothing"


def is_hub_name(name: str) -> bool:
    """Whether a name has the form owner/repository and does not end like a model file."""
    return _HUB_NAME.fullmatch(name) is not None and not name.endswith(".onnx")


def download_model(repository: str, names: Sequence[str]) -> Path:
    """The first of the named files that the repository has, else its only ONNX file."""
    if path := _first(repository, names):
        return path
    models = _onnx_files(repository)
    if len(models) == 1 and (path := _first(repository, models)):
        return path
    found = f"the ONNX files {', '.join(models)}" if models else "no ONNX file"
    raise ModelError(
        f"{repository}: the hub repository holds {found}; expected {' or '.join(names)}: "
        "download the right file and give its path"
    )


def download_tokenizer(repository: str, name: str) -> Path:
    """The repository's tokenizer, else that of XLM-RoBERTa, on which SaT models are built."""
    for owner in (repository, TOKENIZER_REPOSITORY):
        if path := _first(owner, (name,)):
            return path
    raise ModelError(
        f"{repository}: neither it nor {TOKENIZER_REPOSITORY} holds {name}; "
        "give the tokenizer's path with -tokenizer"
    )


def _first(repository: str, names: Sequence[str]) -> Path | None:
    """The first of the files that exists; nothing when the repository has none of them."""
    _require_client(repository)
    try:
        return _first_of(repository, names)
    except Exception as error:
        # Which class a connection error has depends on the HTTP library beneath the client.
        raise _failure(repository, error) from error


def _first_of(repository: str, names: Sequence[str]) -> Path | None:
    from huggingface_hub import (
        get_hf_file_metadata,
        hf_hub_download,
        hf_hub_url,
        try_to_load_from_cache,
    )
    from huggingface_hub.errors import EntryNotFoundError

    known = [try_to_load_from_cache(repository, name) for name in names]
    for name, cached in zip(names, known, strict=True):
        if isinstance(cached, str):
            return Path(cached)
        if cached is not None:  # the hub said once that it does not exist
            continue
        try:
            # Asked first, because a download waits half a minute for a hub that is not there.
            with suppress(EntryNotFoundError):
                get_hf_file_metadata(hf_hub_url(repository, name), timeout=_TIMEOUT_S)
            return Path(hf_hub_download(repository, name))
        except EntryNotFoundError:
            continue
        except Exception:
            if path := next((path for path in known if isinstance(path, str)), None):
                return Path(path)
            raise
    return None


def _onnx_files(repository: str) -> list[str]:
    from huggingface_hub import HfApi

    try:
        files = HfApi().list_repo_files(repository)
    except Exception as error:
        raise _failure(repository, error) from error
    return sorted(file for file in files if file.endswith(".onnx"))


def _require_client(repository: str) -> None:
    try:
        import huggingface_hub  # noqa: F401
    except ImportError as error:
        raise ModelError(
            f"{repository}: no such file or folder here, and for hub names huggingface_hub is not "
            "installed: pip install 'truemark[hub]', or give the path of a model file"
        ) from error


def _failure(repository: str, error: Exception) -> ModelError:
    from huggingface_hub.constants import ENDPOINT
    from huggingface_hub.errors import (
        GatedRepoError,
        HfHubHTTPError,
        HFValidationError,
        OfflineModeIsEnabled,
        RepositoryNotFoundError,
    )

    nothing_here = f"{repository}: no such file or folder here"
    if isinstance(error, GatedRepoError):
        return ModelError(f"{repository}: the hub wants a login for it; run: hf auth login")
    if isinstance(error, RepositoryNotFoundError | HFValidationError):
        return ModelError(f"{nothing_here}, and no such repository at {ENDPOINT}")
    if isinstance(error, OfflineModeIsEnabled):
        reason = "HF_HUB_OFFLINE is set"
    elif isinstance(error, HfHubHTTPError):
        reason = f"status {error.response.status_code}"
    else:
        reason = str(error) or type(error).__name__
    return ModelError(
        f"{nothing_here}, not in the hub's local cache, and {ENDPOINT} cannot be reached "
        f"({reason}); go online once, or copy model and tokenizer into a folder and give its path"
    )
