"""Language models as segmenters: on loopback, and under --local-llm a real small one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from testing.local_llm import served_model
from testing.loopback import Call, LoopbackLLM, Reply, hang, says, status
from testing.measuring import measured_at

from sat_bench import load_corpus
from sat_bench.cli import main
from sat_bench.corpus.talks import Talk, find_sentences
from sat_bench.models.language_models import SYSTEM, split_by_model
from sat_bench.models.protocol import ModelError
from sat_bench.models.systems import find_system
from sat_bench.running.inference import Inference

KEY = "sk-0123456789abcdef"


def split(text: str) -> str:
    return re.sub(r"(?<=[.?!]) ", "\n", text)


def well_behaved(call: Call) -> Reply:
    return says(split(call.prompt.removeprefix(SYSTEM).strip()))


@pytest.fixture
def llm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[LoopbackLLM]:
    monkeypatch.chdir(tmp_path)
    with LoopbackLLM(well_behaved) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("GEMINI_API_KEY", KEY)
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.gemini_url)
        yield server


def talk(text: str) -> Talk:
    return Talk("a", "s", "", "", text, find_sentences(text))


@pytest.mark.parametrize(
    ("name", "dialect"),
    [
        ("llm:some-model", "openai"),
        ("llm:gemini-2.5-flash", "gemini"),
        ("llm:openai:gemini-like", "openai"),
        ("llm:gemini:own", "gemini"),
    ],
)
def test_a_model_is_asked_where_its_name_says(llm: LoopbackLLM, name: str, dialect: str) -> None:
    found = measured_at(find_system(name), [talk("One. Two? Three!")], (0.5,))
    assert found.counts.tp == 3
    assert not found.graded
    assert not any(found.loss.rates)
    (call,) = llm.calls
    assert call.dialect == dialect
    assert call.prompt.startswith(SYSTEM)


def test_talks_are_read_in_pieces_and_no_sentence_is_cut(llm: LoopbackLLM) -> None:
    first = next(iter(load_corpus()))
    talks = [replace(first, sentences=find_sentences(first.text))]
    found = measured_at(find_system("llm:m"), talks, (0.5,))
    longest = max(len(call.prompt) - len(SYSTEM) for call in llm.calls)
    assert len(llm.calls) >= 3
    assert longest <= 2_100
    assert found.counts.fn == 0
    assert found.f1 > 0.9


@settings(derandomize=True, deadline=None)
@given(
    words=st.lists(st.text("abc.", min_size=1, max_size=9), min_size=1, max_size=60),
    piece=st.integers(8, 80),
)
def test_the_ends_do_not_depend_on_the_pieces(words: list[str], piece: int) -> None:
    text = " ".join(words)
    whole = split_by_model(split, text, 10_000)
    parts = split_by_model(split, text, piece)
    assert not any(parts.loss.rates)
    # A sentence of many pieces may be ended where a piece ends; others are not.
    longest = max(map(len, split(text).split("\n")))
    if longest < 4 * piece:
        assert parts.ends.tolist() == whole.ends.tolist()
    assert set(whole.ends.tolist()) <= set(parts.ends.tolist())


def test_what_a_model_changes_is_counted(
    llm: LoopbackLLM, capsys: pytest.CaptureFixture[str]
) -> None:
    def careless(call: Call) -> Reply:
        text = call.prompt.removeprefix(SYSTEM).strip()
        return says(
            "```\nSure!\n" + split(text).replace("the", "THE").replace(" a ", " ") + "\n```"
        )

    llm.set_script(careless)
    assert main(["-models", "llm:m,lib:pysbd", "-format", "json"]) == 0
    said = capsys.readouterr()
    careless_one, _ = json.loads(said.out)["results"]
    rates = careless_one["per_1000_characters"]
    assert rates["changed"] > 10
    assert rates["deleted"] > 1
    assert rates["invented"] > 0
    assert "per 1,000 characters" in said.err
    assert KEY not in said.err + said.out


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (status(401), "answered 401 Unauthorized; check OPENAI_API_KEY"),
        (status(404, "no such model"), "answered 404 Not Found: no such model"),
        (hang(), "no answer within 0.5 s; gave up after"),
    ],
)
def test_a_model_that_cannot_be_asked_is_one_line_and_the_others_are_measured(
    llm: LoopbackLLM,
    reply: Reply,
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(
        "truemark.services.retry.CallPolicy.__init__.__defaults__", (1.0, 2, 0.01, 1.0)
    )
    llm.set_script([reply])
    assert main(["-models", "llm:m,lib:pysbd", "-timeout", "0.5"]) == 1
    said = capsys.readouterr()
    [line] = [line for line in said.err.splitlines() if line.startswith("failed:")]
    assert reason in line
    assert KEY not in line
    assert "lib:pysbd" in said.out


def test_rubbish_of_a_model_finds_nothing_but_the_end(llm: LoopbackLLM) -> None:
    llm.set_script([says("I am sorry, I cannot do that.")])
    found = measured_at(find_system("llm:m"), [talk("One thing. Another thing. " * 30)], (0.5,))
    assert found.counts.tp <= 2
    assert found.loss.rates[1] > 500


def test_a_model_that_invents_more_than_it_keeps_is_refused(llm: LoopbackLLM) -> None:
    llm.set_script([says("Blah yadda quux!\n" * 20)])
    with pytest.raises(ModelError, match=r"^llm:m: .* it invents more text than it keeps$"):
        measured_at(find_system("llm:m"), [talk("One thing. Another thing.")], (0.5,))


def test_without_key_or_address_a_line_says_what_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ModelError, match="llm:m: neither OPENAI_API_KEY nor OPENAI_BASE_URL"):
        measured_at(find_system("llm:m"), [talk("One.")], (0.5,))
    with pytest.raises(ModelError, match="llm:gemini:m: GEMINI_API_KEY is not set"):
        measured_at(find_system("llm:gemini:m"), [talk("One.")], (0.5,))
    with pytest.raises(ModelError, match="no model is named"):
        find_system("llm:")


def test_answers_are_kept_and_not_paid_for_twice(llm: LoopbackLLM, tmp_path: Path) -> None:
    inference = Inference(cache=tmp_path / "cache")
    for _ in range(2):
        measured_at(find_system("llm:m"), [talk("One. Two.")], (0.5,), inference=inference)
    assert len(llm.calls) == 1


@pytest.mark.local_llm
def test_a_real_small_model_is_measured_as_far_as_it_goes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "We met at noon. Nobody was late. The room was cold, and we left early."
    with served_model() as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        found = measured_at(find_system("llm:smollm2-135m", timeout_s=240), [talk(text)], (0.5,))
    assert found.counts.tp >= 1  # the end of the text, at least
    assert found.loss.characters == len("".join(text.split()))
    assert found.measurement.seconds
