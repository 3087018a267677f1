"""The benchmark from command line to report, against a Gemini on loopback."""

from __future__ import annotations

from dataclasses import replace

import pytest
from testing.loopback import (
    Call,
    LoopbackLLM,
    Reply,
    Tokens,
    answer,
    blocked,
    cut,
    drop,
    hang,
    says,
    status,
)
from tests.cal_ai.sample_folders import (
    GOT_LUNCH,
    KEY,
    LUNCH,
    CommandLine,
    asked_sample,
    finds_lunch,
    write_sample,
    write_samples,
)

from cal_ai.defaults import EMBEDDED
from truemark.errors import TruemarkError
from truemark.services.retry import CallPolicy


@pytest.fixture
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """One retry, a hundredth of a second later; how to wait has its own tests."""
    policy = CallPolicy(attempts=2, backoff_s=0.01)
    monkeypatch.setattr(
        "cal_ai.extractors.choosing.model_policy",
        lambda timeout_s: replace(policy, timeout_s=timeout_s or policy.timeout_s),
    )


SUMMARY = """\
## What went well
- Every lunch was found.

**Failure patterns:**
1. None.

Calibration
High means right.

What to change in prompt or pipeline
* Nothing <script>alert(1)</script>.
"""


def answers_and_summary(call: Call) -> Reply:
    if asked_sample(call):
        return answer(events=[GOT_LUNCH], tokens=Tokens(1000, 100, 200))
    return Reply(text=SUMMARY, tokens=Tokens(2000, 300, 0))


def test_a_run_prints_each_sample_then_the_figures(gemini: CommandLine, llm: LoopbackLLM) -> None:
    write_samples(gemini.folder / "samples", 3)
    write_sample(gemini.folder / "samples", "adversarial/none", expected=())
    llm.set_script(answers_and_summary)
    ran = gemini.benchmark("--concurrency", "1")
    assert ran.status == 0
    lines = ran.said.splitlines()
    assert [line.rpartition(" (")[0] for line in lines] == [
        "[1/4] adversarial/none... P=0.00 R=1.00",
        "[2/4] crud/s000... P=1.00 R=1.00",
        "[3/4] crud/s001... P=1.00 R=1.00",
        "[4/4] crud/s002... P=1.00 R=1.00",
    ]
    assert all(line.endswith("s)") for line in lines)
    figures = ran.out.splitlines()
    assert figures[0] == "4 samples: 4 scored, 0 failed, 0 without sidecar"
    assert figures[2:6] == [
        "             scored  failed  precision  recall  f1     clean  tp  fp  fn",
        "overall           4       0  0.750      1.000   0.857  0.750   3   1   0",
        "adversarial       1       0  0.000      1.000   -      0.000   0   1   0",
        "crud              3       0  1.000      1.000   -      1.000   3   0   0",
    ]
    assert "high             4      3  0.750  0.301 to 0.954" in figures
    assert "mistakes   1 invented" in figures
    assert "tokens     prompt 6000, output 700, thinking 800" in figures
    assert "model      gemini-2.5-pro" in figures
    # 6,000 tokens in at $1.25 and 1,500 out at $10.00 per million, the summary included.
    assert "cost       $0.0225" in figures
    assert figures[-1].startswith("report     reports/benchmark_")


def test_the_history_line_has_every_field(gemini: CommandLine, llm: LoopbackLLM) -> None:
    write_samples(gemini.folder / "samples", 2)
    llm.set_script(answers_and_summary)
    ran = gemini.benchmark("--format", "json")
    (line,) = gemini.history
    assert list(line) == [
        "timestamp",
        "model",
        "extractor",
        "sample_count",
        "scored_count",
        "failed_count",
        "precision",
        "recall",
        "f1",
        "clean",
        "avg_latency_s",
        "prompt_tokens",
        "output_tokens",
        "thinking_tokens",
        "est_cost_usd",
        "replayed_count",
        "replayed_cost_usd",
        "repeats",
        "signature",
        "run",
        "system",
    ]
    assert (line["model"], line["extractor"]) == ("gemini-2.5-pro", "gemini")
    assert (line["sample_count"], line["scored_count"], line["failed_count"]) == (2, 2, 0)
    assert (line["precision"], line["recall"], line["f1"]) == (1.0, 1.0, 1.0)
    assert (line["prompt_tokens"], line["output_tokens"]) == (4000, 500)
    assert (line["thinking_tokens"], line["replayed_count"]) == (400, 0)
    assert line["est_cost_usd"] == pytest.approx((4000 * 1.25 + 900 * 10) / 1e6)
    assert line["signature"] == ran.json["signature"]
    assert line["avg_latency_s"] == pytest.approx(ran.json["latency"]["mean_s"])


def test_the_report_ends_with_the_models_own_summary(gemini: CommandLine, llm: LoopbackLLM) -> None:
    write_samples(gemini.folder / "samples", 1)
    llm.set_script(answers_and_summary)
    gemini.benchmark()
    ending = gemini.report.partition("## AI summary\n")[2]
    assert ending.strip().split("\n\n") == [
        "### What went well",
        "- Every lunch was found.",
        "### Failure patterns",
        "- None.",
        "### Calibration",
        "- High means right.",
        "### What to change in prompt or pipeline",
        "- Nothing &#60;script&#62;alert(1)&#60;/script&#62;.",
    ]


@pytest.mark.parametrize(
    ("flags", "summary", "reason"),
    [
        pytest.param(("--no-summary",), SUMMARY, "turned off by --no-summary", id="turned-off"),
        pytest.param((), None, "Gemini gave no answer: finish_reason STOP", id="no-text"),
    ],
)
def test_a_report_without_ai_summary_says_why_and_is_otherwise_complete(
    gemini: CommandLine, llm: LoopbackLLM, flags: tuple[str, ...], summary: str, reason: str
) -> None:
    write_samples(gemini.folder / "samples", 1)

    def script(call: Call) -> Reply:
        return finds_lunch(call) if asked_sample(call) else Reply(text=summary, finish="STOP")

    llm.set_script(script)
    ran = gemini.benchmark(*flags)
    assert ran.status == 0
    assert gemini.report.endswith(f"## AI summary\n\nAI summary unavailable: {reason}\n")
    assert "### crud/s000" in gemini.report
    assert len(llm.calls) == (1 if flags else 2)
    assert (f"warning: no AI summary: {reason}\n" in ran.err) == (not flags)


def test_a_summary_without_the_headings_asked_for_is_kept_as_it_is(
    gemini: CommandLine, llm: LoopbackLLM
) -> None:
    write_samples(gemini.folder / "samples", 1)
    llm.set_script(lambda call: finds_lunch(call) if asked_sample(call) else says("Lovely\n<b>!"))
    assert gemini.benchmark().status == 0
    assert gemini.report.endswith("## AI summary\n\n- Lovely\n\n- &#60;b&#62;!\n")


def test_what_the_summary_took_has_a_line_and_is_in_the_total(
    gemini: CommandLine, llm: LoopbackLLM
) -> None:
    write_samples(gemini.folder / "samples", 1)
    llm.set_script(answers_and_summary)
    ran = gemini.benchmark("--format", "json").json
    call = ran["ai_summary"]
    assert call["usage"]["prompt"] > 0
    assert 0 < call["cost_usd"] < ran["cost_usd"]
    assert call["latency_s"] < ran["latency"]["total_s"]
    assert "| summary | " in gemini.report


def test_each_attempt_is_told_while_a_server_is_retried(
    gemini: CommandLine, llm: LoopbackLLM, quick_retries: None
) -> None:
    write_samples(gemini.folder / "samples", 1)
    llm.set_script([status(503, "busy"), answer(events=[GOT_LUNCH])])
    ran = gemini.benchmark("--no-summary")
    assert (
        "attempt 1 of 2: Gemini answered 503 Service Unavailable: busy; asking again at once\n"
    ) in ran.err


@pytest.fixture(params=["gemini", "openai"])
def provider(request: pytest.FixtureRequest, cal_ai: CommandLine, llm: LoopbackLLM) -> CommandLine:
    """The command line with either provider on loopback."""
    if request.param == "gemini":
        cal_ai.set(GEMINI_API_KEY=KEY, GOOGLE_GEMINI_BASE_URL=llm.gemini_url)
    else:
        cal_ai.set(OPENAI_API_KEY=KEY, OPENAI_BASE_URL=llm.openai_url, OPENAI_MODEL="loopback")
    cal_ai.extractor = str(request.param)
    return cal_ai


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        pytest.param(blocked(), "gave no answer", id="blocked"),
        pytest.param(says('{"events": [{"act'), "the JSON is cut off", id="truncated"),
        pytest.param(
            says('{"events": [{"action": "create", "title": 5, "start_time": "soon"}]}'),
            "events[0].start_time is 'soon'",
            id="wrong-types",
        ),
        pytest.param(status(422, "no"), "answered 422", id="refused"),
        pytest.param(status(503, "busy"), "answered 503", id="unavailable"),
        pytest.param(hang(), "no answer within 1 s", id="hang"),
        pytest.param(drop(), "broke", id="dropped"),
        pytest.param(cut(), "broke", id="cut-off"),
        pytest.param(
            status(429, retry_after="3600"), "asked to wait", id="asked-to-wait-for-an-hour"
        ),
    ],
)
def test_a_fault_costs_one_sample_and_no_other(
    provider: CommandLine, llm: LoopbackLLM, reply: Reply, reason: str, quick_retries: None
) -> None:
    write_samples(provider.folder / "samples", 4)

    def script(call: Call) -> Reply:
        return reply if asked_sample(call) == "crud/s001" else finds_lunch(call)

    llm.set_script(script)
    ran = provider.benchmark("--extractor", provider.extractor, "--timeout", "1", "--no-summary")
    assert ran.status == 1
    (failed,) = [line for line in ran.err.splitlines() if "FAILED" in line]
    assert "crud/s001... FAILED (" in failed
    assert reason in failed
    assert "4 samples: 3 scored, 1 failed, 0 without sidecar" in ran.out
    assert "failed     crud/s001: " in ran.out
    assert "| crud/s001 | " in provider.report.partition("## Failed samples")[2]
    (line,) = provider.history
    assert (line["scored_count"], line["failed_count"], line["f1"]) == (3, 1, 1.0)
    unusable = [kept for kept in provider.answers if kept["sample"] == "crud/s001"]
    assert all(kept["unusable"] and kept["raw"] for kept in unusable)
    assert KEY not in ran.out + ran.err + "".join(provider.files().values())


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(status(429, retry_after="0"), id="429-with-retry-after"),
        pytest.param(status(429), id="429"),
        pytest.param(status(500), id="500"),
        pytest.param(drop(), id="dropped"),
        pytest.param(says('```json\n{"events": [{"act'), id="unusable-answer"),
    ],
)
def test_a_fault_that_passes_costs_nothing_but_an_attempt(
    provider: CommandLine, llm: LoopbackLLM, fault: Reply, quick_retries: None
) -> None:
    write_samples(provider.folder / "samples", 1)
    llm.set_script([fault, answer(events=[GOT_LUNCH])])
    ran = provider.benchmark("--extractor", provider.extractor, "--no-summary")
    assert ran.status == 0
    assert "[1/1] crud/s000... P=1.00 R=1.00 (" in ran.err
    assert [kept["attempts"] for kept in provider.answers] == [2]
    assert " · 2 attempts" in provider.report


def test_half_of_the_calls_failing_leaves_the_scores_of_the_other_half(
    gemini: CommandLine, llm: LoopbackLLM
) -> None:
    names = write_samples(gemini.folder / "samples", 6)

    def script(call: Call) -> Reply:
        fails = names.index(asked_sample(call)) % 2
        return blocked() if fails else answer(events=[GOT_LUNCH, GOT_LUNCH])

    llm.set_script(script)
    ran = gemini.benchmark("--format", "json", "--no-summary")
    assert ran.status == 1
    assert (ran.json["scored"], ran.json["failed"]) == (3, 3)
    assert (ran.json["overall"]["tp"], ran.json["overall"]["fp"], ran.json["overall"]["fn"]) == (
        3,
        3,
        0,
    )
    assert ran.json["overall"]["precision"] == 0.5
    failed = [it["sample"] for it in ran.json["results"] if it["status"] == "failed"]
    assert failed == names[1::2]


def test_all_calls_failing_gives_no_score_at_all(gemini: CommandLine, llm: LoopbackLLM) -> None:
    write_samples(gemini.folder / "samples", 3)
    write_sample(gemini.folder / "samples", "adversarial/none", expected=())
    llm.set_script([blocked()])
    ran = gemini.benchmark()
    assert ran.status == 1
    printed = ran.out + ran.err + gemini.report
    assert "1.00" not in printed
    assert "No sample was scored" in ran.out
    assert "AI summary unavailable: no sample was scored" in gemini.report
    (line,) = gemini.history
    assert (line["sample_count"], line["scored_count"], line["failed_count"]) == (4, 0, 4)
    assert (line["precision"], line["recall"], line["f1"]) == (None, None, None)
    assert line["avg_latency_s"] is None


def test_a_refused_key_stops_the_run_with_one_line_and_keeps_what_was_answered(
    gemini: CommandLine, llm: LoopbackLLM
) -> None:
    names = write_samples(gemini.folder / "samples", 8)

    def script(call: Call) -> Reply:
        return finds_lunch(call) if asked_sample(call) in names[:3] else status(401, f"bad {KEY}")

    llm.set_script(script)
    ran = gemini.benchmark("--concurrency", "1")
    assert ran.status == 1
    assert ran.out == ""
    errors = [line for line in ran.said.splitlines() if not line.startswith("[")]
    (path,) = (gemini.folder / "reports").glob("*.answers.jsonl")
    assert errors == [
        "error: Gemini answered 401 Unauthorized; check GEMINI_API_KEY; "
        f"3 answers are kept in reports/{path.name}, --resume continues from there"
    ]
    assert len(llm.calls) == 4
    assert [kept["sample"] for kept in gemini.answers] == names[:3]
    assert not list((gemini.folder / "reports").glob("*.md"))


def test_a_stored_answer_has_all_that_a_later_scoring_needs(
    gemini: CommandLine, llm: LoopbackLLM
) -> None:
    write_samples(gemini.folder / "samples", 1)
    llm.set_script(answers_and_summary)
    gemini.benchmark("--model", "gemini-2.5-flash")
    (kept,) = gemini.answers
    assert (kept["sample"], kept["extractor"], kept["model"]) == (
        "crud/s000",
        "gemini",
        "gemini-2.5-flash",
    )
    assert kept["usage"] == {"prompt": 1000, "output": 100, "thinking": 200, "total": 1300}
    assert kept["attempts"] == 1
    assert kept["latency_s"] > 0
    assert '"Lunch"' in kept["raw"]


def test_samples_without_a_stored_answer_do_not_count_as_replayed(
    gemini: CommandLine, llm: LoopbackLLM
) -> None:
    write_samples(gemini.folder / "samples", 2)
    llm.set_script(answers_and_summary)
    first = gemini.benchmark("--format", "json", "--no-summary").json
    write_sample(gemini.folder / "samples", "crud/new", text="[Alice]: Nobody asked about this.")
    ran = gemini.benchmark("--extractor", f"replay:{first['answers']}")
    [line] = [line for line in ran.err.splitlines() if "crud/new" in line]
    assert "no stored answer" in line
    assert "replayed" not in line
    assert "| replayed | 2 of 3 answers, not asked for again |" in gemini.report
    assert gemini.history[-1]["replayed_count"] == 2


def test_a_replayed_run_spends_nothing_and_shows_apart_what_its_answers_took(
    gemini: CommandLine, llm: LoopbackLLM
) -> None:
    write_samples(gemini.folder / "samples", 3)
    llm.set_script(answers_and_summary)
    first = gemini.benchmark("--format", "json", "--no-summary").json
    calls = len(llm.calls)
    ran = gemini.benchmark("--format", "json", "--extractor", f"replay:{first['answers']}")
    assert ran.status == 0
    assert len(llm.calls) == calls
    again = ran.json
    for same in ("overall", "categories", "signature", "system", "model"):
        assert again[same] == first[same], same
    assert (again["extractor"], again["answers"]) == ("replay", None)
    assert (again["cost_usd"], set(again["tokens"].values()), again["latency"]) == (0, {0}, None)
    then = again["replayed"]
    assert then == {
        "count": 3,
        "usage": first["tokens"],
        "cost_usd": first["cost_usd"],
        "latency": first["latency"],
    }
    line = gemini.history[-1]
    assert (line["est_cost_usd"], line["prompt_tokens"], line["avg_latency_s"]) == (0, 0, None)
    assert (line["replayed_count"], line["replayed_cost_usd"]) == (3, first["cost_usd"])
    assert "| replayed | 3 of 3 answers, not asked for again |" in gemini.report
    assert "| extractor | replay (answers of gemini) |" in gemini.report
    assert ran.err.startswith(
        "extractor: replay (--extractor), answers of gemini, model: gemini-2.5-pro (as recorded)\n"
    )
    assert f"| cost then | ${first['cost_usd']:.4f} |" in gemini.report
    assert all(line.endswith("s then)") for line in ran.said.splitlines())
    assert "AI summary unavailable: the replay extractor has no language model" in gemini.report


def test_an_unknown_price_is_unknown_and_not_zero(gemini: CommandLine, llm: LoopbackLLM) -> None:
    write_samples(gemini.folder / "samples", 1)
    llm.set_script(answers_and_summary)
    ran = gemini.benchmark("--model", "my-own-model")
    assert "cost       unknown" in ran.out.splitlines()
    assert "| cost | unknown |" in gemini.report
    assert gemini.history[0]["est_cost_usd"] is None
    assert gemini.history[0]["prompt_tokens"] == 3000


def test_an_answer_without_token_counts_makes_the_cost_unknown(
    gemini: CommandLine, llm: LoopbackLLM
) -> None:
    write_samples(gemini.folder / "samples", 2)

    def script(call: Call) -> Reply:
        tokens = Tokens() if asked_sample(call) == "crud/s000" else None
        return answer(events=[GOT_LUNCH], tokens=tokens)

    llm.set_script(script)
    ran = gemini.benchmark("--format", "json", "--no-summary")
    assert ran.json["cost_usd"] is None
    assert ran.json["tokens"]["prompt"] == 100


def test_a_transcript_without_sidecar_is_extracted_and_left_out_of_the_scores(
    gemini: CommandLine, llm: LoopbackLLM
) -> None:
    write_sample(gemini.folder / "samples", "crud/known")
    write_sample(gemini.folder / "samples", "crud/new", expected=None)
    llm.set_script(finds_lunch)
    ran = gemini.benchmark("--no-summary", "--concurrency", "1")
    assert ran.status == 0
    assert ran.said.splitlines()[0] == (
        "warning: 1 of 2 samples has no sidecar (NAME.expected.json), extracted but not scored:"
        " crud/new; to draft sidecars: cal-ai label samples"
    )
    assert "[2/2] crud/new... no sidecar (" in ran.err
    assert "2 samples: 1 scored, 0 failed, 1 without sidecar" in ran.out
    assert len(llm.calls) == 2
    (line,) = gemini.history
    assert (line["sample_count"], line["scored_count"], line["failed_count"]) == (2, 1, 0)


def test_a_bad_sidecar_costs_its_own_sample_and_no_call(
    gemini: CommandLine, llm: LoopbackLLM
) -> None:
    write_samples(gemini.folder / "samples", 2)
    llm.set_script(finds_lunch)
    write_sample(gemini.folder / "samples", "crud/bad", tolerence="strict")
    write_sample(gemini.folder / "samples", "crud/worse", expected=[{"action": "create"}])
    ran = gemini.benchmark("--format", "json", "--no-summary")
    assert (ran.status, len(llm.calls)) == (1, 2)
    assert (ran.json["scored"], ran.json["failed"], ran.json["overall"]["f1"]) == (2, 2, 1.0)
    failed = [line for line in ran.err.splitlines() if "FAILED" in line]
    assert [
        line.partition("... ")[2].partition(" is ")[0].partition(", exp")[0] for line in failed
    ] == [
        "FAILED (samples/crud/bad.expected.json: unknown key 'tolerence'",
        "FAILED (samples/crud/worse.expected.json: expected_events[0].title",
    ]


def test_a_key_is_in_no_file_and_no_output_whatever_happens(
    gemini: CommandLine, llm: LoopbackLLM, quick_retries: None
) -> None:
    names = write_samples(gemini.folder / "samples", 6)
    faults = [
        status(500, f"key {KEY} is broken"),
        says(f"not JSON but {KEY}"),
        drop(),
        status(422, f"{KEY}?"),
    ]

    def script(call: Call) -> Reply:
        name = asked_sample(call)
        if name in names[:4]:
            return faults[names.index(name)]
        told = {**GOT_LUNCH, "title": f"Lunch {KEY}", "reasoning": KEY}
        return answer(events=[told]) if name else status(403, f"{KEY} is not allowed")

    llm.set_script(script)
    ran = gemini.benchmark("-v")
    assert ran.status == 1
    assert llm.calls[0].headers["x-goog-api-key"] == KEY
    assert KEY not in ran.out + ran.err
    written = gemini.files()
    assert {path.suffix for path in written} >= {".md", ".jsonl"}
    assert [path for path, text in written.items() if KEY in text] == []


@pytest.mark.parametrize(
    ("least", "expected"), [("0.66", 0), ("0.67", 1), ("1", 1), ("0", 0)], ids=str
)
def test_fail_under_gates_a_build(
    gemini: CommandLine, llm: LoopbackLLM, least: str, expected: int
) -> None:
    write_samples(gemini.folder / "samples", 1)
    llm.set_script([answer(events=[GOT_LUNCH, GOT_LUNCH])])
    ran = gemini.benchmark("--fail-under", least, "--no-summary")
    assert ran.status == expected
    assert ("f1 0.6667 is below --fail-under" in ran.err) == bool(expected)


@pytest.mark.parametrize("writes", ["write_run", "write_atomically", "append"])
def test_scores_are_printed_before_the_error_of_a_disk_that_is_full(
    gemini: CommandLine, llm: LoopbackLLM, monkeypatch: pytest.MonkeyPatch, writes: str
) -> None:
    def full(*_: object) -> None:
        raise TruemarkError("x: cannot be written: No space left on device")

    monkeypatch.setattr(f"cal_ai.benchmark.run.{writes}", full)
    write_samples(gemini.folder / "samples", 2)
    llm.set_script(answers_and_summary)
    ran = gemini.benchmark()
    assert ran.status == 1
    assert ran.out.startswith("2 samples: 2 scored, 0 failed")
    assert ("report  " in ran.out) == (writes == "append")
    last = ran.said.splitlines()[-1]
    assert last.startswith("error: x: cannot be written: No space left on device; 2 answers are")


def test_verbose_tells_why_a_sample_has_less_than_full_scores(
    gemini: CommandLine, llm: LoopbackLLM
) -> None:
    missed = {"action": "delete", "title": "Gym"}
    late = {**GOT_LUNCH, "start_time": "2026-02-21T19:00:00", "end_time": "2026-02-21T13:00:00"}
    write_sample(gemini.folder / "samples", "a/near", expected=[missed, LUNCH])
    write_sample(gemini.folder / "samples", "b/more", expected=[])
    llm.set_script([answer(events=[late])])
    ran = gemini.benchmark("-v", "--no-summary", "--concurrency", "1")
    assert [line for line in ran.err.splitlines() if line.startswith("  ")] == [
        "  wrong time: Lunch: start expected 2026-02-21 12:00, got 2026-02-21 19:00 (7 h later)",
        "  missed: delete Gym",
        "  invented: create Lunch",
    ]


@pytest.mark.parametrize(
    ("flags", "settings", "expected"),
    [
        ((), {}, f"extractor: {EMBEDDED} (GEMINI_API_KEY is not set)"),
        (("--extractor", EMBEDDED), {}, f"extractor: {EMBEDDED} (--extractor)"),
        (
            (),
            {"GEMINI_API_KEY": KEY},
            "extractor: gemini (GEMINI_API_KEY is set), model: gemini-2.5-pro (default)",
        ),
        (
            (),
            {"GEMINI_API_KEY": KEY, "GEMINI_MODEL": "gemini-2.5-flash"},
            "extractor: gemini (GEMINI_API_KEY is set), model: gemini-2.5-flash (GEMINI_MODEL)",
        ),
        (
            ("--extractor", "openai"),
            {"OPENAI_MODEL": "tiny"},
            "extractor: openai (--extractor), model: tiny (OPENAI_MODEL)",
        ),
        (
            ("--extractor", "openai", "--model", "other"),
            {"OPENAI_MODEL": "tiny"},
            "extractor: openai (--extractor), model: other (--model)",
        ),
    ],
)
@pytest.mark.parametrize("command", ["run", "benchmark"])
def test_the_first_line_tells_which_extractor_runs_and_why(
    cal_ai: CommandLine,
    llm: LoopbackLLM,
    command: str,
    flags: tuple[str, ...],
    settings: dict[str, str],
    expected: str,
) -> None:
    write_sample(cal_ai.folder / "samples", "crud/new", text="Minutes\n[A]: hello", expected=None)
    cal_ai.set(GOOGLE_GEMINI_BASE_URL=llm.gemini_url, OPENAI_BASE_URL=llm.openai_url, **settings)
    where = ("samples/crud/new.txt", "--dry-run") if command == "run" else ("samples",)
    ran = cal_ai(command, *where, *flags)
    assert ran.err.splitlines()[0] == expected
    assert KEY not in ran.err


@pytest.mark.usefixtures("quick_retries")
def test_a_run_that_failed_on_too_many_requests_is_told_of_rpm(
    gemini: CommandLine, llm: LoopbackLLM
) -> None:
    names = write_samples(gemini.folder / "samples", 3)
    busy = status(429, retry_after="3600")
    llm.set_script(lambda call: busy if asked_sample(call) != names[0] else finds_lunch(call))
    ran = gemini.benchmark("--no-summary")
    assert ran.status == 1
    assert ran.err.splitlines()[-1] == (
        "2 samples failed on 429 Too Many Requests: --rpm N makes N calls per minute at most,"
        " and --resume asks for what is missing"
    )
    llm.set_script([status(500)] * 99)
    assert "--rpm" not in gemini.benchmark("--no-summary").err


def test_what_a_program_spends_is_unknown_and_the_embedded_extractor_spends_nothing(
    cal_ai: CommandLine,
) -> None:
    write_samples(cal_ai.folder / "samples", 2)
    for extractor, expected in (("cmd:echo []", None), (EMBEDDED, 0.0)):
        found = cal_ai.benchmark("--extractor", extractor, "--format", "json").json
        assert found["cost_usd"] == expected
        assert (found["tokens"] is None) == (expected is None)
        again = cal_ai.benchmark(
            "--extractor", f"replay:{found['answers']}", "--format", "json"
        ).json
        assert (again["cost_usd"], again["replayed"]["cost_usd"]) == (0.0, expected)
