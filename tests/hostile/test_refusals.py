"""A refusal of one request: its own conversation's trouble, or everybody's."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from testing.loopback import Call, LoopbackLLM, Reply, status
from tests.cal_ai.sample_folders import (
    CommandLine,
    asked_sample,
    finds_lunch,
    write_samples,
)

REFUSALS = (400, 402, 403, 404)


def refuses(code: int, *names: str) -> Callable[[Call], Reply]:
    def script(call: Call) -> Reply:
        return status(code, "no") if asked_sample(call) in names else finds_lunch(call)

    return script


@pytest.mark.parametrize("code", REFUSALS)
@pytest.mark.parametrize("refused", [0, 3, 5])
def test_one_refused_sample_fails_alone_wherever_it_stands(
    gemini: CommandLine, llm: LoopbackLLM, code: int, refused: int
) -> None:
    names = write_samples(gemini.folder / "samples", 6)
    llm.set_script(refuses(code, names[refused]))
    ran = gemini.benchmark("--format", "json", "--no-summary")
    assert ran.status == 1
    failed = [it["sample"] for it in ran.json["results"] if it["status"] == "failed"]
    assert (failed, ran.json["scored"]) == ([names[refused]], 5)
    assert f"{names[refused]}... FAILED (Gemini answered {code}" in ran.err


def test_a_sample_that_failed_is_tried_again_by_resume_and_no_other(
    gemini: CommandLine, llm: LoopbackLLM
) -> None:
    names = write_samples(gemini.folder / "samples", 6)
    llm.set_script(refuses(400, names[2]))
    assert gemini.benchmark("--no-summary").status == 1
    llm.set_script(refuses(400, names[2]))
    again = gemini.benchmark("--no-summary", "--resume", "--format", "json")
    assert (again.status, again.json["scored"], again.json["failed"]) == (1, 5, 1)
    assert [asked_sample(call) for call in llm.calls] == [names[2]]
    llm.set_script(finds_lunch)
    last = gemini.benchmark("--no-summary", "--resume", "--format", "json")
    assert (last.status, last.json["scored"], last.json["failed"]) == (0, 6, 0)
    assert [asked_sample(call) for call in llm.calls] == [names[2]]


@pytest.mark.parametrize("code", [*REFUSALS, 401])
@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_refusal_of_all_stops_the_run_after_the_calls_in_flight(
    gemini: CommandLine, llm: LoopbackLLM, code: int, concurrency: int
) -> None:
    write_samples(gemini.folder / "samples", 12)
    llm.set_script([status(code, "no")])
    ran = gemini.benchmark("--concurrency", str(concurrency))
    assert (ran.status, ran.out) == (1, "")
    assert f"error: Gemini answered {code}" in ran.err
    assert len(llm.calls) <= concurrency


def test_a_refused_key_stops_the_run_even_after_answers(
    gemini: CommandLine, llm: LoopbackLLM
) -> None:
    names = write_samples(gemini.folder / "samples", 6)
    llm.set_script(refuses(401, *names[3:]))
    ran = gemini.benchmark("--concurrency", "1")
    assert (ran.status, len(llm.calls)) == (1, 4)
