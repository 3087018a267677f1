"""Ctrl-C at moments that no clock finds: while Python imports, in callbacks, at the very end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sat_bench.defaults import DEFAULT_RUNTIME

# Runs a command as `python -m` does, after what a test does to the interpreter.
STARTED = """
import os, runpy, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)

def interrupt():
    os.kill(os.getpid(), signal.SIGINT)

class At:
    def __init__(self, name, act):
        self.name, self.act = name, act
        sys.meta_path.insert(0, self)

    def find_spec(self, name, path=None, target=None):
        if name == self.name:
            self.name = None
            self.act()

{prepared}
sys.argv = {argv}
runpy.run_module({module!r}, run_name="__main__", alter_sys=True)
"""
COMMANDS = {
    "cal_ai": ("talk.txt", "--dry-run", "--calendar", "ics:c.ics"),
    "sat_bench": ("-corpus", "corpus", "-model", "nano"),
    "truemark": ("history", "."),
}


def started(folder: Path, module: str, prepared: str) -> subprocess.CompletedProcess[str]:
    argv = [module, *COMMANDS[module]]
    script = STARTED.format(prepared=prepared, argv=argv, module=module)
    return subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("module", COMMANDS)
def test_a_command_that_is_let_be_ends_well(folder: Path, module: str) -> None:
    assert started(folder, module, "").returncode == 0


@pytest.mark.parametrize(
    ("module", "imported"),
    [
        *((module, "argparse") for module in COMMANDS),
        *((module, "truemark.command") for module in COMMANDS),
        *((module, f"{module}.cli") for module in COMMANDS),
        ("cal_ai", "cal_ai.extractors.choosing"),
        ("cal_ai", "icalendar"),
        ("cal_ai", "rapidfuzz"),
        ("sat_bench", "sat_bench.measure"),
        ("sat_bench", "numpy"),
        ("sat_bench", "onnxruntime"),
        ("truemark", "truemark.records"),
        ("truemark", "numpy"),
    ],
)
def test_an_interrupt_while_something_is_imported_is_130(
    folder: Path, module: str, imported: str
) -> None:
    done = started(folder, module, f"At({imported!r}, interrupt)")
    assert (done.returncode, done.stdout) == (130, "")
    assert "Traceback" not in done.stderr
    if imported not in ("argparse", "truemark.command"):  # what says so is not there yet
        assert done.stderr.endswith("interrupted\n")


@pytest.mark.parametrize("module", COMMANDS)
def test_nothing_is_imported_before_interrupts_are_answered(folder: Path, module: str) -> None:
    prepared = (
        "before = set(sys.modules)\n"
        "def show():\n"
        "    sys.exit(' '.join(sorted(set(sys.modules) - before)))\n"
        "At('truemark.command', show)"
    )
    done = started(folder, module, prepared)
    # What looks for modules is there in every interpreter that runs one.
    assert set(done.stderr.split()) <= {module, f"{module}.__main__", "truemark", "importlib.util"}


def test_an_interrupt_that_a_library_takes_for_a_missing_one_is_130(folder: Path) -> None:
    (folder / "onnxruntime.py").write_text(
        "try:\n    raise KeyboardInterrupt\n"
        "except KeyboardInterrupt as interrupt:\n"
        "    raise ImportError('initialization failed') from interrupt\n"
    )
    assert DEFAULT_RUNTIME == "onnx"
    done = started(folder, "sat_bench", "sys.path.insert(0, '.')")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (130, "interrupted")
    assert "error:" not in done.stderr


def test_an_interrupt_that_numpy_loses_is_130(folder: Path) -> None:
    said = 'PyCapsule_Import could not import module "datetime"'
    (folder / "onnxruntime.py").write_text(f"raise ImportError({said!r})\n")
    done = started(folder, "sat_bench", "sys.path.insert(0, '.')")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (130, "interrupted")


def test_an_interrupt_that_python_cannot_let_out_is_repeated(folder: Path) -> None:
    prepared = (
        "import weakref\n"
        "class Kept: pass\n"
        "kept = Kept()\n"
        "watch = weakref.ref(kept, lambda gone: interrupt())\n"
        "def drop():\n"
        "    global kept\n"
        "    del kept\n"
        "At('numpy', drop)"
    )
    done = started(folder, "sat_bench", prepared)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (130, "interrupted")
    assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize("module", COMMANDS)
def test_an_interrupt_when_all_is_done_changes_nothing(folder: Path, module: str) -> None:
    quiet = started(folder, module, "")
    done = started(folder, module, "import atexit; atexit.register(interrupt)")
    assert (done.returncode, done.stdout) == (0, quiet.stdout)
    assert "KeyboardInterrupt" not in done.stderr


WITHIN_TEXT = """
exec("import os, signal; os.kill(os.getpid(), signal.{})\\nfor _ in range(99): pass")
"""


@pytest.mark.parametrize(("name", "status"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_while_code_is_made_from_text_ends_like_any_other(
    tmp_path: Path, name: str, status: int
) -> None:
    """As that of dataclasses is, during imports."""
    (tmp_path / "work.py").write_text(WITHIN_TEXT.format(name))
    package = tmp_path / "command"
    package.mkdir()
    (package / "__main__.py").write_text(
        "import signal\n"
        "for number in (signal.SIGTERM, signal.SIGHUP): signal.signal(number, signal.SIG_DFL)\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from truemark.command import run_main\n"
        "raise SystemExit(run_main('work'))\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "command"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (status, "interrupted\n")
