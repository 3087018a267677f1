"""The tests end, whatever hangs in one of them: the run names it and goes on with the others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.hostile.forked import fork
from tests.hostile.surroundings import is_running

ROOT = Path(__file__).parents[1]
HANGING = """
import ctypes, time

def test_in_python():
    time.sleep(60)

def test_in_python_and_again_while_cleaning_up():
    try:
        time.sleep(60)
    finally:
        time.sleep(60)

def test_in_c_code_that_lets_no_python_run():
    lock, mutex = ctypes.PyDLL(None).pthread_mutex_lock, ctypes.create_string_buffer(64)
    lock(mutex)
    lock(mutex)

def test_nowhere():
    pass
"""


def test_a_test_that_hangs_anywhere_fails_and_the_others_run(tmp_path: Path) -> None:
    (tmp_path / "test_hanging.py").write_text(HANGING)
    limits = ("timeout=1", "faulthandler_timeout=2", "testpaths=")
    command = [sys.executable, "-m", "pytest", "-q", "-n2", "--dist=worksteal", str(tmp_path)]
    command += [f"--override-ini={limit}" for limit in limits]
    command += ["-c", str(ROOT / "pyproject.toml"), "-p", "no:cacheprovider"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert "3 failed, 1 passed" in ran.stdout
    for name in ("in_python -", "again_while_cleaning_up - worker", "no_python_run - worker"):
        assert name in ran.stdout


def test_a_forked_child_does_not_outlive_its_parent() -> None:
    """It would hold the pipe through which the run learns that a process of tests has died."""
    reading, writing = os.pipe()
    parent = os.fork()
    if parent == 0:
        child = fork()
        if child == 0:
            time.sleep(60)
        os.write(writing, str(child).encode())
        time.sleep(60)
        os._exit(0)
    child = int(os.read(reading, 20))
    os.close(reading)
    os.close(writing)
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    until_s = time.monotonic() + 10
    while is_running(child) and time.monotonic() < until_s:
        time.sleep(0.02)
    assert not is_running(child)
