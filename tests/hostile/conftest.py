from __future__ import annotations

from pathlib import Path

import pytest
from tests.cal_ai.conftest import cal_ai, gemini, google, llm, radicale
from tests.hostile.kinds import TRANSCRIPT
from tests.hostile.readers import TALK
from tests.truemark.runs_for_tests import made

from truemark.records import write_run

__all__ = ["cal_ai", "folder", "gemini", "google", "llm", "radicale"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What a command of each tool needs: a conversation, a corpus, and the record of a run."""
    (tmp_path / "talk.txt").write_text(TRANSCRIPT)
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "talk.txt").write_bytes(TALK)
    write_run(tmp_path / "a.run.json", made("s", {"a": (1, 0, 1)}))
    return tmp_path
