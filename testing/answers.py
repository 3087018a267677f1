"""Answers of models as tests and benchmarks store and replay them."""

from __future__ import annotations

import json
from pathlib import Path

from cal_ai.benchmark.samples import sidecar_path
from cal_ai.extractors.replay import Recorded, recorded_fields
from truemark import history
from truemark.files import read_text


def recorded_answer(transcript_path: Path) -> str | None:
    """The sidecar's `mock_llm_response` as the text a model would have sent; None without one."""
    path = sidecar_path(transcript_path)
    answer = json.loads(read_text(path)).get("mock_llm_response")
    if answer is None or isinstance(answer, str):
        return answer
    return json.dumps(answer, ensure_ascii=False)


def store_answer(path: Path, answer: Recorded) -> None:
    """Adds one answer to a recording."""
    history.append(path, recorded_fields(answer))
