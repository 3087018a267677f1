"""Import when needed: public names, optional libraries, users' callables."""

from __future__ import annotations

import inspect
import json
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from truemark.errors import TruemarkError, foreign_reason
from truemark.files import checksum


def lazy_attribute(package: str, homes: Mapping[str, Sequence[str]], name: str) -> object:
    """Import a public name of a package when it is first used.

    `homes` lists the names of each module. Importing the package then costs nothing, and a command
    loads only what it uses.
    """
    for module, names in homes.items():
        if name in names:
            return getattr(import_module(f"{package}.{module}"), name)
    raise AttributeError(f"module {package!r} has no attribute {name!r}")


class NotInstalled(TruemarkError):  # noqa: N818 - names a state, not an error
    """An optional library is missing; the message says how to install it."""


def require(extra: str, purpose: str, *modules: str) -> None:
    """Raise `NotInstalled` when a module that the extra brings is missing."""
    for module in modules:
        if not _is_installed(module):
            raise NotInstalled(
                f"{purpose} needs {module}, which is not installed: {install_command(extra)}"
            )


def install_command(extra: str) -> str:
    """Return the command that adds an extra to this installation."""
    return f"pip install {shlex.quote(f'{_origin()}[{extra}]')}"


def _origin() -> str:
    """Return the folder or file of the installation if it still exists, else the package's name."""
    try:
        stated = metadata.distribution("truemark").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return "truemark"
    address = urlsplit(json.loads(stated)["url"] if stated else "")
    path = url2pathname(address.path)
    return path if address.scheme == "file" and Path(path).exists() else "truemark"


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # its package is missing too
        return False


def import_callable(name: str) -> Callable[..., object]:
    """Import the callable of `module:callable`; the name after the colon may have dots in it."""
    module_name, _, path = name.partition(":")
    if not all(part.isidentifier() for part in f"{module_name}.{path}".split(".")):
        raise TruemarkError(f"{name!r} is not module:callable, such as my_module:split")
    value: object = _module(module_name)
    for part in path.split("."):
        if not hasattr(value, part):
            raise TruemarkError(f"{module_name} has no {path}")
        value = getattr(value, part)
    if not callable(value):
        raise TruemarkError(f"{path} is a {type(value).__name__}, not a callable")
    return value


def source_checksum(function: Callable[..., object]) -> str:
    """Return the SHA-256 of the file that defines the callable; empty where there is none."""
    try:
        file = inspect.getsourcefile(inspect.unwrap(function))
    except TypeError:  # an object with __call__, or a built-in
        module = inspect.getmodule(type(function))
        file = getattr(module, "__file__", None)
    return checksum(Path(file)) if file and Path(file).is_file() else ""


def _module(module: str) -> object:
    # Python itself looks in the working folder; an installed command does not.
    folder = str(Path.cwd())
    added = folder not in sys.path and "" not in sys.path
    if added:
        sys.path.append(folder)
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name and module.startswith(error.name):
            raise TruemarkError(
                f"no module {module} in the working folder or among the installed ones"
            ) from None
        raise TruemarkError(f"{module} needs {error.name}, which is missing") from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # such as SystemExit, of a script that works when imported
        raise TruemarkError(f"{module} cannot be imported: {foreign_reason(error)}") from error
