"""Numbers of thousands of digits, and others that cannot be, wherever a number is read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from testing.loopback import LoopbackLLM, Tokens, answer
from tests.cal_ai.sample_folders import GOT_LUNCH, CommandLine, write_samples
from tests.hostile.readers import CONLLU, GOLD, SRT, VTT

from sat_bench.cli import main as sat_bench

DIGITS = "9" * 5_000
MANY = "9" * 400  # fits Python's own limit, and no floating point number

TALKS = {
    "gold end": ("t.json", GOLD.decode().replace("[4, ", "[" + DIGITS + ", ")),
    "gold end, shorter": ("t.json", GOLD.decode().replace("[4, ", "[" + MANY + ", ")),
    "gold sentences": ("t.json", GOLD.decode().replace("{", '{"sentences": ' + DIGITS + ", ", 1)),
    "gold fraction": ("t.json", GOLD.decode().replace("[4, ", "[4.5, ")),
    "conllu id": ("t.conllu", CONLLU.decode().replace("\n1\t", f"\n{DIGITS}\t")),
    "conllu range": ("t.conllu", CONLLU.decode().replace("\n1\t", f"\n1-{DIGITS}\tYes\t_\n1\t", 1)),
    "conllu decimal": ("t.conllu", CONLLU.decode().replace("\n1\t", f"\n{DIGITS}.{DIGITS}\t", 1)),
    "srt hours": ("t.srt", SRT.decode().replace("00:00:01", f"{DIGITS}:00:01")),
    "srt milliseconds": ("t.srt", SRT.decode().replace("01,000", f"01,{DIGITS}")),
    "srt number": ("t.srt", DIGITS + SRT.decode()[1:]),
    "vtt hours": ("t.vtt", VTT.decode().replace("00:01.000", f"{DIGITS}:00:01.000")),
}


@pytest.mark.parametrize(("name", "content"), TALKS.values(), ids=TALKS)
def test_a_talk_with_such_a_number_is_read_or_refused_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: str
) -> None:
    (tmp_path / name).write_text(content)
    assert content not in (GOLD.decode(), CONLLU.decode(), SRT.decode(), VTT.decode())
    status = sat_bench(["-corpus", str(tmp_path), "-model", "nano"])
    err = capsys.readouterr().err
    errors = [line for line in err.splitlines() if line.startswith("error: ")]
    assert (status, len(errors)) in ((0, 0), (1, 1))
    assert len(err) < 3_000


@pytest.mark.parametrize(
    "number", [DIGITS, MANY, "-1", "Infinity", "1.5"], ids=lambda number: number[:9]
)
def test_a_sidecar_with_such_a_number_costs_its_sample(cal_ai: CommandLine, number: str) -> None:
    write_samples(cal_ai.folder / "samples", 2)
    event = f'{{"action": "delete", "title": "x", "existing_event_id": {number}}}'
    sidecar = f'{{"expected_events": [{event}]}}'
    (cal_ai.folder / "samples" / "crud" / "s001.expected.json").write_text(sidecar)
    ran = cal_ai.benchmark("--format", "json", "--no-summary")
    assert (ran.status, ran.json["scored"], ran.json["failed"]) == (1, 1, 1)
    assert len(ran.err) < 3_000


@pytest.mark.parametrize("number", [DIGITS, MANY, "-1", "1e999", "-0.5", "NaN", "true", '"5"'])
@pytest.mark.parametrize("name", ["latency_s", "attempts", "repeat", "prompt", "output", "total"])
def test_a_stored_number_that_cannot_be_is_unknown_or_damages_its_line(
    gemini: CommandLine, llm: LoopbackLLM, name: str, number: str
) -> None:
    write_samples(gemini.folder / "samples", 2)
    llm.set_script([answer(events=[GOT_LUNCH])])
    assert gemini.benchmark("--no-summary").status == 0
    (stored,) = (gemini.folder / "reports").glob("*.answers.jsonl")
    first, second = (json.loads(line) for line in stored.read_text().splitlines())
    place = first if name in ("latency_s", "attempts", "repeat") else first["usage"]
    place[name] = "HERE"
    spoilt = json.dumps(first).replace('"HERE"', number)
    (gemini.folder / "r.jsonl").write_text(f"{spoilt}\n{json.dumps(second)}\n")
    ran = gemini.benchmark("--extractor", "replay:r.jsonl", "--format", "json")
    assert ran.json["scored"] + ran.json["failed"] == 2
    assert ran.json["scored"] >= 1
    for record in (gemini.folder / "reports").glob("*.run.json"):
        costs = [unit.get("cost") for unit in json.loads(record.read_text())["units"]]
        assert all(cost is None or cost >= 0 for cost in costs)


@pytest.mark.parametrize(
    "tokens", [Tokens(-1_000_000, 5), Tokens(5, -1_000_000), Tokens(10**30, 5), Tokens(5, 10**400)]
)
def test_usage_that_cannot_be_lowers_no_cost(
    gemini: CommandLine, llm: LoopbackLLM, tokens: Tokens
) -> None:
    write_samples(gemini.folder / "samples", 2)
    llm.set_script([answer(events=[GOT_LUNCH], tokens=tokens), answer(events=[GOT_LUNCH])])
    ran = gemini.benchmark("--format", "json", "--no-summary", "--concurrency", "1")
    assert ran.status == 0
    (line,) = gemini.history
    assert line["est_cost_usd"] is None or line["est_cost_usd"] >= 0
    assert line["prompt_tokens"] is None or 0 <= line["prompt_tokens"] < 10**12
    assert line["output_tokens"] is None or 0 <= line["output_tokens"] < 10**12
