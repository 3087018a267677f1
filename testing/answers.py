"""Answers of models as tests and benchmarks store and replay them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

from cal_ai.benchmark.samples import SIDECAR_SUFFIX, Sample
from cal_ai.extractors.replay import Recorded, recorded_fields, request_fingerprint
from truemark import jsonlines
from truemark.files import read_text
from truemark.services.calls import Usage

MODEL = "gemini-2.5-pro"


def recorded_answer(transcript_path: Path) -> str | None:
    """Return the sidecar's `mock_llm_response` as a model would have sent it, if there is one."""
    path = transcript_path.with_name(transcript_path.stem + SIDECAR_SUFFIX)
    answer = json.loads(read_text(path)).get("mock_llm_response")
    if answer is None or isinstance(answer, str):
        return answer
    return json.dumps(answer, ensure_ascii=False)


def store_answer(path: Path, answer: Recorded) -> None:
    """Add an answer to a recording."""
    jsonlines.append(path, recorded_fields(answer))


def record_answers(
    path: Path, samples: Iterable[Sample], answer_of: Callable[[Sample], str]
) -> None:
    """Write a recording of one model's answers to every sample, as a run would store it."""
    with closing(jsonlines.Appender(path)) as file:
        for number, sample in enumerate(samples):
            line = Recorded(
                sample=sample.id,
                fingerprint=request_fingerprint(sample.request, "gemini", MODEL),
                extractor="gemini",
                model=MODEL,
                raw=answer_of(sample),
                usage=Usage(900 + number, 200 + number % 97, 50, 1150 + number + number % 97),
                latency_s=1.0,
                attempts=1,
            )
            file.write(recorded_fields(line))
