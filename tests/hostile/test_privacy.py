"""What libraries would tell their makers, or leave in the home of whoever uses them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.hostile.kinds import TRANSCRIPT
from tests.hostile.readers import TALK

COMMANDS = {
    "cal_ai": ("cal_ai", "talk.txt", "--dry-run", "--calendar", "ics:c.ics"),
    "sat_bench": ("sat_bench", "-corpus", "corpus", "-model", "nano"),
    "openvino": ("sat_bench", "-corpus", "corpus", "-model", "nano", "-runtime", "openvino"),
}


@pytest.mark.parametrize("has_home", [True, False], ids=["home", "no home"])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_leaves_no_trace_of_its_libraries(
    tmp_path: Path, command: str, has_home: bool
) -> None:
    """OpenVINO and onnxruntime count their users, and keep a number for each in their homes."""
    if command == "openvino":
        pytest.importorskip("openvino")
    (tmp_path / "home").mkdir()
    (tmp_path / "talk.txt").write_text(TRANSCRIPT)
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "talk.txt").write_bytes(TALK)
    home = {"HOME": str(tmp_path / "home")} if has_home else {}
    done = subprocess.run(
        [sys.executable, "-m", *COMMANDS[command]],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", **home},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "home").rglob("*")) == []
    assert "\x1b" not in done.stderr
    assert "telemetry" not in done.stderr
