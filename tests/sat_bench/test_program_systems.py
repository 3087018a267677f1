"""Programs as segmenters, and whole comparisons of systems of every kind."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from testing.measuring import measured_at

from sat_bench import compare, load_corpus
from sat_bench.cli import main, parse_model_names
from sat_bench.corpus.talks import Talk, find_sentences
from sat_bench.defaults import BUNDLED_CORPUS
from sat_bench.models.systems import find_system
from sat_bench.record import Failed, Measured
from sat_bench.running.cluster import connected
from sat_bench.running.inference import Inference

SPLITTER = """
import json, re, sys

def ends(text):
    return [match.end() for match in re.finditer(r"[.?!](?=\\s|$)", text)]

def printed(text):
    if "--json" in sys.argv:
        return "".join(json.dumps({"end": end, "p": 0.5}) + "\\n" for end in ends(text))
    return "\\n".join(" ".join(part.split()) for part in re.split(r"(?<=[.?!])\\s", text))

if "--stay" in sys.argv:
    while line := sys.stdin.buffer.readline():
        answer = printed(sys.stdin.buffer.read(int(line)).decode()).encode()
        sys.stdout.buffer.write(b"%d\\n%b" % (len(answer), answer))
        sys.stdout.buffer.flush()
elif __name__ == "__main__":
    print(printed(sys.stdin.buffer.read().decode()))

def split(text):
    return re.split(r"(?<=[.?!])\\s", text)
"""


@pytest.fixture
def splitter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The command of a program that splits, in the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "splitter.py").write_text(SPLITTER, encoding="utf-8")
    return f"{sys.executable} splitter.py"


def talk(text: str) -> Talk:
    return Talk("a", "s", "", "", text, find_sentences(text))


@pytest.mark.parametrize(
    "form", ["cmd:{}", "cmd:{} --json", "cmd+:{} --stay", "cmd+:{} --stay --json"]
)
def test_a_program_is_measured_in_each_form(splitter: str, form: str) -> None:
    system = find_system(form.format(splitter))
    found = measured_at(system, [talk("One. Two? É漢😀! Four."), talk("Fünf.\n\nSechs.")], (0.4,))
    assert found.counts.tp == 6
    assert found.counts.fp == found.counts.fn == 0
    assert found.graded == ("--json" in form)
    assert not any(found.loss.rates)


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("cmd:no-such-splitter", "no-such-splitter: cannot be started: No such file"),
        ("cmd+:no-such-splitter", "no-such-splitter: cannot be started: No such file"),
        ("cmd:", "no command is given"),
        ("cmd:sh -c 'echo out of memory >&2; exit 3'", "ended with status 3: out of memory"),
        ("cmd+:sh -c 'cat; echo out of memory >&2; exit 3'", "ended with status 3: out of memory"),
        ("cmd:sleep 60", "gave no answer within 0.7 s and was stopped"),
        ("cmd+:sleep 60", "gave no answer within 0.7 s and was stopped"),
        ("cmd:yes", "bytes for one text and was stopped"),
        ("cmd:echo 0123456789 ok", "characters of a text in its answer"),
        ("cmd:printf '\\377\\376'", "prints bytes that are not UTF-8, at 0"),
        ("cmd:true", "has 0% of the 17 characters"),
        ('cmd:echo \'{"end": 5, "p": 1e999}\'', "expected one from 0 to 1"),
        ("cmd:echo '{\"end\": 700}'", "answers the end 700 at place 0"),
    ],
)
def test_a_program_that_fails_is_one_line_and_the_others_are_measured(
    splitter: str, monkeypatch: pytest.MonkeyPatch, command: str, reason: str
) -> None:
    limit = 0.7 if "within" in reason else 30.0
    failed, measured = compare(
        [command, "py:splitter:split"],
        [talk("Here is one. And two.")],
        inference=Inference(timeout_s=limit),
    )
    assert isinstance(failed, Failed)
    assert reason in failed.reason
    assert isinstance(measured, Measured)


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("a,b", ("a", "b")),
        ("small, lib:pysbd", ("small", "lib:pysbd")),
        ("cmd:sed 's/a,b/c/',nano", ("cmd:sed 's/a,b/c/'", "nano")),
        ('cmd+:x "a,\\"b",y', ('cmd+:x "a,\\"b"', "y")),
        ("it's.onnx,b's.onnx", ("it's.onnx", "b's.onnx")),
        ("cmd:tr a\\,b,c", ("cmd:tr a\\,b", "c")),
    ],
)
def test_names_are_split_at_commas_outside_of_quotes(value: str, names: tuple[str, ...]) -> None:
    assert parse_model_names(value) == names


def test_systems_of_every_kind_are_in_one_table(
    splitter: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "stored").mkdir()
    for one in load_corpus(BUNDLED_CORPUS):
        ends = [sentence.end for sentence in one.sentences]
        (tmp_path / "stored" / f"{one.id}.json").write_text(json.dumps({"ends": ends}))
    names = f"nano,lib:pysbd,lib:nupunkt,cmd:{splitter},py:splitter:split,file:stored,cmd:false"
    status = main(["-models", names, "-format", "markdown"])
    said = capsys.readouterr()
    assert status == 1
    first_table = said.out.split("\n\n")[1]
    rows = [line.split(" | ") for line in first_table.splitlines()]
    assert rows[0][0] == "| model"
    assert rows[0][-2:] == ["seconds", "characters_per_s |"]
    assert [row[0].removeprefix("| ") for row in rows[2:]] == names.split(",")
    by_name = {row[0].removeprefix("| "): row for row in rows}
    assert by_name["file:stored"][1:7] == ["-", *["1.000"] * 4, "2516"]
    assert by_name["cmd:false"][1] == "failed"
    assert float(by_name["nano"][-2]) > 0
    assert "failed: cmd:false: ended with status 1" in said.err


def test_a_sweep_of_a_system_without_probabilities_is_a_point_and_says_so(
    splitter: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["-model", f"cmd:{splitter}", "-sweep", "-truth", "plain"]) == 0
    said = capsys.readouterr()
    rows = said.out.split("-" * 50 + "\n")
    assert rows[1].splitlines()[1].startswith("-        0.")
    assert len(rows[1].splitlines()) == 2
    assert rows[2].startswith("Optimal: - (Weighted: 0.")
    assert "has no probabilities, so its sweep is a single point" in said.err
    assert main(["-model", "lib:pysbd", "-sweep", "-format", "json"]) == 0
    [result] = json.loads(capsys.readouterr().out)["results"]
    assert [point["threshold"] for point in result["points"]] == [None]


def test_what_a_system_does_to_the_text_is_told(
    splitter: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shout = "cmd:sed -e 's/[.] /.\\n/g' -e 's/w/@/g' -e 's/i//g'"
    assert main(["-models", f"{shout},lib:pysbd", "-format", "json"]) == 0
    said = capsys.readouterr()
    changed, kept = json.loads(said.out)["results"]
    assert changed["per_1000_characters"]["changed"] > 10
    assert changed["per_1000_characters"]["deleted"] > 50
    assert changed["per_1000_characters"]["invented"] < 1
    assert kept["per_1000_characters"] == {"changed": 0, "deleted": 0, "invented": 0}
    assert "deleted" in said.err
    assert "lib:pysbd: 0.0 changed" not in said.err
    assert said.err.count(" deleted, ") == 1
    assert main(["-models", f"{shout},lib:pysbd", "-format", "markdown"]) == 0
    assert "| changed | deleted | invented |" in capsys.readouterr().out


def test_answers_of_programs_are_kept_in_a_cache(splitter: str, tmp_path: Path) -> None:
    notes: list[str] = []
    system = find_system(f"cmd:{splitter}")
    inference = Inference(cache=tmp_path / "cache", note=notes.append)
    texts = [talk("One. Two."), talk("Three. Four.")]
    first, again = (measured_at(system, texts, (0.5,), inference=inference) for _ in range(2))
    assert first == again
    assert first.measurement.seconds is None
    assert "0 of 2" in notes[0]
    assert "2 of 2" in notes[1]


def test_callables_libraries_and_programs_run_on_workers(splitter: str) -> None:
    names = [f"cmd:{splitter}", f"cmd+:{splitter} --stay", "py:splitter:split", "lib:pysbd"]
    talks = [talk(f"This is talk {number}. It has two sentences.") for number in range(6)]
    with connected("local:2") as cluster:
        for name in names:
            there = measured_at(
                find_system(name), talks, (0.5,), inference=Inference(cluster=cluster)
            )
            assert there == measured_at(find_system(name), talks, (0.5,))
        failing = ["py:splitter:raises", "cmd:false", f"cmd+:sh -c '{splitter} --stay; exit 3'"]
        failed, absent, late = compare(failing, talks, inference=Inference(cluster=cluster))
    assert isinstance(failed, Failed)
    assert isinstance(absent, Failed)
    assert isinstance(late, Failed)
    assert "ended with status 1" in absent.reason
    assert "ended with status 3" in late.reason


@pytest.mark.parametrize("value", ["0", "1e300", "nan"])
def test_a_timeout_is_a_number_above_zero(value: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-timeout", value]) == 2
    assert "a number of seconds above 0" in capsys.readouterr().err


LEAKS = """
import os

def raises(text):
    raise KeyError(os.environ["OPENAI_API_KEY"])

def answers(text):
    return {"message": 55 * "a" + os.environ["OPENAI_API_KEY"]}
"""


@pytest.mark.parametrize(
    "model",
    [
        "cmd:sh -c 'echo \"> Authorization: Bearer $OPENAI_API_KEY\" >&2; exit 22'",
        "cmd:sh -c 'echo \"Here you are: $OPENAI_API_KEY\"'",
        "cmd+:sh -c 'echo \"$OPENAI_API_KEY\"; sleep 9'",
        "py:leaks:raises",
        "py:leaks:answers",
    ],
)
def test_a_key_that_a_users_own_system_quotes_is_not_shown(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    model: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "leaks", raising=False)
    (tmp_path / "leaks.py").write_text(LEAKS, encoding="utf-8")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789-0123456789")
    main(["-model", model])
    printed = "".join(capsys.readouterr())
    assert "[key]" in printed
    assert "sk-canary" not in printed


def test_a_key_that_the_shell_wrote_into_a_name_is_in_no_table_record_or_file_name(
    splitter: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    key = "sk-canary-0123456789-0123456789"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    models = f"cmd:env KEY={key} {splitter},cmd:false {key}"
    for more in ([], ["-cluster", "local:1"]):
        assert main(["-models", models, "-record", str(tmp_path / "runs"), "-v", *more]) == 1
    printed = "".join(capsys.readouterr())
    records = list((tmp_path / "runs").iterdir())
    assert "KEY=[key]" in printed
    assert "false [key]" in printed
    assert key not in printed
    assert records
    assert not [file for file in records if key in file.name or key in file.read_text("utf-8")]
