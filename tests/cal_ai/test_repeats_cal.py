"""`--repeat N`: the same question several times, every answer kept apart."""

from __future__ import annotations

from collections import Counter

import pytest
from testing.loopback import Call, LoopbackLLM, Reply, answer, blocked
from tests.cal_ai.sample_folders import (
    KEY,
    CommandLine,
    asked_sample,
    finds_lunch,
    write_sample,
    write_samples,
)

from truemark.records import load_run
from truemark.uncertainty import clustered_share

FLAGS = ("--no-summary", "--format", "json", "--concurrency", "1")


class Flipping:
    """Finds the lunch of the first sample always, of the second every other time."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def __call__(self, call: Call) -> Reply:
        name = asked_sample(call)
        self.asked[name] += 1
        if name == "crud/s001" and self.asked[name] % 2 == 0:
            return answer(events=[])
        return answer(events=[]) if name == "crud/s002" else finds_lunch(call)


@pytest.fixture
def flipping(gemini: CommandLine, llm: LoopbackLLM) -> CommandLine:
    write_samples(gemini.folder / "samples", 3)
    llm.set_script(Flipping())
    return gemini


def test_every_repeat_is_asked_for_and_kept_apart(flipping: CommandLine, llm: LoopbackLLM) -> None:
    ran = flipping.benchmark(*FLAGS, "--repeat", "4")
    assert len(llm.calls) == 12
    kept = Counter((it["sample"], it.get("repeat", 0)) for it in flipping.answers)
    assert kept == Counter({(f"crud/s00{n}", r): 1 for n in range(3) for r in range(4)})
    assert (ran.json["samples"], ran.json["repeats"], ran.json["scored"]) == (3, 4, 12)
    units = load_run(ran.json["record"]).units
    assert {unit.key for unit in units} == set(kept)
    assert [unit.tp for unit in units if unit.id == "crud/s001"] == [1, 0, 1, 0]
    assert ran.json["intervals"]["f1"]["clusters"] == 3


def test_what_repeats_show(flipping: CommandLine) -> None:
    ran = flipping.benchmark("--no-summary", "--concurrency", "1", "--repeat", "2")
    assert "3 samples, 2 repeats, 6 answers: 6 scored, 0 failed, 0 without sidecar" in ran.out
    for line in (
        "right in all 2 repeats (pass^2): 1 of 3 samples, 0.333, 95% interval 0.061 to 0.792",
        "right in any of them: 2 of 3 samples, 0.667, 95% interval 0.208 to 0.939",
        "variance of F1 between samples 0.1667, between repeats of one 0.1667",
        "1 sample flips between right and wrong: crud/s001",
    ):
        assert line in ran.out
        assert line in flipping.report
    assert "[4/6] crud/s000 #2... P=1.00 R=1.00" in ran.err
    flips = flipping.report.partition("### crud/s001")[2].partition("###")[0]
    assert flips.count("**Repeat") == 2
    assert flips.count("| missed |") == flips.count("| match |") == 1
    assert flipping.history[-1]["repeats"] == 2


def test_repeats_of_a_sample_are_one_cluster_of_the_calibration(flipping: CommandLine) -> None:
    ran = flipping.benchmark(*FLAGS, "--repeat", "4")
    reliability = load_run(ran.json["record"]).reliability
    assert reliability is not None
    high = reliability.rows[0]
    expected = clustered_share([4, 2], [4, 2])
    assert expected is not None
    assert (high.label, high.count, high.correct) == ("high", 6, 6)
    assert (high.low, high.high) == (expected.low, expected.high)
    assert ran.json["calibration"]["high"]["interval"]["low"] == expected.low


def test_resume_completes_the_repeats_that_are_missing(
    flipping: CommandLine, llm: LoopbackLLM
) -> None:
    flipping.benchmark(*FLAGS, "--repeat", "2")
    assert len(llm.calls) == 6
    llm.set_script(finds_lunch)
    ran = flipping.benchmark(*FLAGS, "--repeat", "3", "--resume")
    assert "6 of 9 questions are answered" in ran.err
    assert Counter(map(asked_sample, llm.calls)) == Counter(f"crud/s00{n}" for n in range(3))
    assert ran.json["replayed"]["count"] == 6
    units = load_run(ran.json["record"]).units
    assert [unit.replayed for unit in units] == [True] * 6 + [False] * 3
    assert ran.json["cost_usd"] == pytest.approx(ran.json["replayed"]["cost_usd"] / 2)


def test_a_repeat_that_failed_is_asked_for_again(gemini: CommandLine, llm: LoopbackLLM) -> None:
    write_samples(gemini.folder / "samples", 1)
    llm.set_script([answer(events=[]), blocked(), answer(events=[])])
    ran = gemini.benchmark(*FLAGS, "--repeat", "3")
    assert (ran.status, ran.json["failed"]) == (1, 1)
    assert ran.json["repeated"]["right_in_any"]["value"] == 0
    llm.set_script([answer(events=[])])
    assert gemini.benchmark(*FLAGS, "--repeat", "3", "--resume").status == 0
    assert len(llm.calls) == 1


def test_replay_has_all_repeats_unless_told_otherwise(
    flipping: CommandLine, llm: LoopbackLLM
) -> None:
    first = flipping.benchmark(*FLAGS, "--repeat", "3").json
    replay = ("--extractor", f"replay:{first['answers']}")
    again = flipping.benchmark(*FLAGS, *replay).json
    assert (again["repeats"], again["overall"], again["repeated"]) == (
        3,
        first["overall"],
        first["repeated"],
    )
    assert flipping.benchmark(*FLAGS, *replay, "--repeat", "1").json["scored"] == 3
    ran = flipping.benchmark(*FLAGS, *replay, "--repeat", "4")
    assert (ran.status, ran.json["scored"], ran.json["failed"]) == (1, 9, 3)
    assert "no stored answer of repeat 4 in" in ran.err
    assert len(llm.calls) == 9


@pytest.mark.parametrize(
    ("model", "price"),
    [("gemini-2.5-pro", "for about $0.01"), ("my-own-model", "for an unknown price")],
)
def test_the_cost_of_repeats_is_announced_before_the_first_call(
    gemini: CommandLine, llm: LoopbackLLM, model: str, price: str
) -> None:
    write_samples(gemini.folder / "samples", 3)
    llm.set_script(finds_lunch)
    ran = gemini.benchmark("--no-summary", "--repeat", "2", "--model", model)
    line = ran.said.splitlines()[0]
    assert line.startswith("2 repeats of 3 samples: 6 calls, about ")
    assert f"prompt tokens {price};" in line
    assert 3000 < _tokens(line) < 9000
    assert KEY not in ran.err


def _tokens(line: str) -> int:
    return int(line.partition("about ")[2].partition(" ")[0])


def test_the_calls_of_a_program_are_announced_too(cal_ai: CommandLine) -> None:
    write_samples(cal_ai.folder / "samples", 2)
    cmd = ("--extractor", "cmd:echo []", "--no-summary")
    first, *_ = cal_ai.benchmark(*cmd, "--repeat", "2").said.splitlines()
    assert first == "2 repeats of 2 samples: 4 calls"
    assert "repeats of" not in cal_ai.benchmark(*cmd).err


def test_only_what_is_missing_is_announced(gemini: CommandLine, llm: LoopbackLLM) -> None:
    write_samples(gemini.folder / "samples", 3)
    llm.set_script(finds_lunch)
    gemini.benchmark("--no-summary")
    write_sample(gemini.folder / "samples", "crud/new")
    ran = gemini.benchmark("--no-summary", "--repeat", "2", "--resume")
    assert "2 repeats of 4 samples: 5 calls, about " in ran.err


def test_one_question_per_sample_announces_nothing(gemini: CommandLine, llm: LoopbackLLM) -> None:
    write_samples(gemini.folder / "samples", 1)
    llm.set_script(finds_lunch)
    assert "repeats" not in gemini.benchmark("--no-summary").err
    assert "pass^" not in gemini.report
