"""Run a command and write the modules of which it calls a function, one a line, to a file.

`python tests/traced.py FILE MODULE ARGUMENT…` calls `main` of the module. Everything is imported
before, so that what runs while a module is imported does not count; neither do the constructors
that dataclasses generate.
"""

from __future__ import annotations

import inspect
import pkgutil
import sys
import threading
from datetime import datetime, tzinfo
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any, Self

PACKAGES = ("truemark", "sat_bench", "cal_ai")


def import_everything() -> None:
    for package in PACKAGES:
        for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
            if not module.name.endswith("__main__"):
                import_module(module.name)


class Stopped(datetime):
    """A clock that stands still."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return cls(2026, 2, 20, 10, tzinfo=tz)


def stop_the_clock() -> None:
    """Let every conversation be read at one time: what is found in it may depend on the minute."""
    for name in ("cal_ai.settings", "cal_ai.applying.pipeline"):
        module: Any = import_module(name)
        module.datetime = Stopped


def called_modules(module: str, arguments: list[str]) -> set[str]:
    """Run `main` of the module with the arguments and return the modules it called into."""
    called: set[str] = set()

    def notice(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_flags & inspect.CO_OPTIMIZED and code.co_filename[0] != "<":
            called.add(frame.f_globals.get("__name__", ""))

    main = import_module(module).main
    threading.setprofile(notice)
    sys.setprofile(notice)
    try:
        status = main(arguments)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    if status:
        sys.exit(status)
    return {name for name in called if name.partition(".")[0] in PACKAGES}


if __name__ == "__main__":
    import_everything()
    stop_the_clock()
    found = called_modules(sys.argv[2], sys.argv[3:])
    Path(sys.argv[1]).write_text("\n".join(sorted(found)), encoding="utf-8")
