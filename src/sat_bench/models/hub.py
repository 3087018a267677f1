"""Models from the Hugging Face hub: downloaded once, then read from its local cache."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sat_bench.models.protocol import ModelError
from truemark.imports import install_command

TOKENIZER_REPOSITORY = "facebookAI/xlm-roberta-base"
_HUB_NAME = re.compile(r"\w[\w.-]*/\w[\w.-]*")
_TIMEOUT_S = 10


def is_hub_name(name: str) -> bool:
    """Whether a name has the form owner/repository, without the ending of a model file."""
    return _HUB_NAME.fullmatch(name) is not None and not name.endswith(".onnx")


def download_model(repository: str, names: Sequence[str]) -> Path:
    """Download the first named file that the repository has, else its only ONNX file."""
    if path := _first(repository, names):
        return path
    with _client(repository) as hub:
        files = hub.HfApi().list_repo_files(repository)
    models = sorted(file for file in files if file.endswith(".onnx"))
    if len(models) == 1 and (path := _first(repository, models)):
        return path
    content = f"the ONNX files {', '.join(models)}" if models else "no ONNX file"
    raise ModelError(
        f"{repository}: the hub repository holds {content}; expected {' or '.join(names)}: "
        "download the right file and give its path"
    )


def download_tokenizer(repository: str, name: str) -> Path:
    """Download the repository's tokenizer, else that of XLM-RoBERTa, which SaT models build on."""
    for owner in (repository, TOKENIZER_REPOSITORY):
        if path := _first(owner, (name,)):
            return path
    raise ModelError(
        f"{repository}: neither it nor {TOKENIZER_REPOSITORY} holds {name}; "
        "give the tokenizer's path with -tokenizer"
    )


def _first(repository: str, names: Sequence[str]) -> Path | None:
    """Download the first of the files that exists; return None if none does."""
    with _client(repository) as hub:
        known = [hub.try_to_load_from_cache(repository, name) for name in names]
        for name, cached in zip(names, known, strict=True):
            if isinstance(cached, str):
                return Path(cached)
            if cached is not None:  # the cache knows that the file does not exist
                continue
            try:
                # Ask for metadata first: a download waits half a minute for a hub that is down.
                with suppress(hub.errors.EntryNotFoundError):
                    hub.get_hf_file_metadata(hub.hf_hub_url(repository, name), timeout=_TIMEOUT_S)
                return Path(hub.hf_hub_download(repository, name))
            except hub.errors.EntryNotFoundError:
                continue
            except Exception:
                if path := next((path for path in known if isinstance(path, str)), None):
                    return Path(path)
                raise
    return None


@contextmanager
def _client(repository: str) -> Iterator[Any]:
    """Import the library of the hub; turn its exceptions into errors about the repository."""
    try:
        import huggingface_hub.constants
        import huggingface_hub.errors
    except ImportError as error:
        raise ModelError(
            f"{repository}: no such file or folder here, and for hub names huggingface_hub is not "
            f"installed: {install_command('hub')}, or give the path of a model file"
        ) from error
    try:
        yield huggingface_hub
    except Exception as error:
        # The class of a connection error depends on the HTTP library that the client uses.
        raise _failure(huggingface_hub, repository, error) from error


def _failure(hub: Any, repository: str, error: Exception) -> ModelError:
    endpoint, errors = hub.constants.ENDPOINT, hub.errors
    nothing_here = f"{repository}: no such file or folder here"
    if isinstance(error, errors.GatedRepoError):
        return ModelError(f"{repository}: the hub requires a login for it; run: hf auth login")
    if isinstance(error, errors.RepositoryNotFoundError | errors.HFValidationError):
        return ModelError(f"{nothing_here}, and no such repository at {endpoint}")
    if isinstance(error, errors.OfflineModeIsEnabled):
        reason = "HF_HUB_OFFLINE is set"
    elif isinstance(error, errors.HfHubHTTPError):
        reason = f"status {error.response.status_code}"
    else:
        reason = str(error) or type(error).__name__
    return ModelError(
        f"{nothing_here}, not in the hub's local cache, and {endpoint} cannot be reached "
        f"({reason}); go online once, or copy model and tokenizer into a folder and give its path"
    )
