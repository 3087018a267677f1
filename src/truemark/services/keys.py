"""Remove the user's keys from what his own programs and callables say."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from truemark.errors import TruemarkError
from truemark.services.calls import CallFailed
from truemark.services.models import DOTENV, read_dotenv
from truemark.services.secrets import without_secrets

_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD)$", re.I)


def without_keys(text: str, *, cut: bool = False) -> str:
    """Replace the keys and passwords that the environment and `.env` hold, whoever they are for.

    Programs inherit the environment, and nobody knows which of its keys they use. If the text is
    `cut` out of a longer one, parts of keys at its ends are replaced too.
    """
    return without_secrets(text, *_keys(), cut=cut)


@contextmanager
def keys_removed_from_errors() -> Iterator[None]:
    """Remove keys from the text of an error that a user's own code raises."""
    try:
        yield
    except CallFailed as failure:
        failure.reason = without_keys(failure.reason)
        failure.raw = failure.raw and without_keys(failure.raw)
        raise
    except TruemarkError as error:
        error.args = (without_keys(str(error)),)
        raise


def _keys() -> Iterator[str]:
    sources = [dict[str, str | None](os.environ)]
    with suppress(TruemarkError):  # a file that cannot be read gave nobody a key
        sources.append(dict(read_dotenv(DOTENV)))
    for source in sources:
        yield from ((value or "").strip() for name, value in source.items() if _NAME.search(name))
