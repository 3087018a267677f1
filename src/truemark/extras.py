"""Optional libraries: what is missing, and the one command that installs it."""

from __future__ import annotations

from importlib.util import find_spec

from truemark.errors import TruemarkError


class NotInstalled(TruemarkError):  # noqa: N818 - what is the case, not what went wrong
    """A library that only some users need is not there; the message says how to get it."""


def require(extra: str, purpose: str, *modules: str) -> None:
    """Raises `NotInstalled` when a module that the extra brings is missing."""
    for module in modules:
        if not _is_there(module):
            raise NotInstalled(
                f"{purpose} needs {module.partition('.')[0]}, which is not installed:"
                f" pip install 'truemark[{extra}]'"
            )


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # not even the package around it
        return False
