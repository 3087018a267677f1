from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest
from testing.answers import recorded_answer

from cal_ai.benchmark.samples import (
    Sample,
    bundled_folder,
    default_folder,
    load_samples,
)
from cal_ai.benchmark.sidecar import SidecarFields
from truemark.errors import TruemarkError

EMPTY = json.dumps({"expected_events": []})


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def ids(samples: tuple[Sample, ...]) -> list[str]:
    return [sample.id for sample in samples]


def warnings_about(folder: Path) -> list[str]:
    warnings: list[str] = []
    load_samples(folder, warnings=warnings)
    return warnings


def test_the_category_is_the_first_folder_below_the_one_given(tmp_path: Path) -> None:
    files = ["b/two.txt", "a/one.txt", "a/deep/er/three.txt", "four.txt", "a/v1.2.txt"]
    write(tmp_path, dict.fromkeys(files, "[A]: hello"))
    found = load_samples(tmp_path)
    assert sorted(ids(found)) == [
        "a/deep/er/three",
        "a/one",
        "a/v1.2",
        "b/two",
        "uncategorized/four",
    ]


def test_subtitles_are_transcripts_too(tmp_path: Path) -> None:
    cue = "00:00:01.000 --> 00:00:03.000\nAlice: hello\n"
    write(tmp_path, {"a.vtt": f"WEBVTT\n\n{cue}", "a.expected.json": EMPTY, "b.srt": f"1\n{cue}"})
    assert [sample.transcript.as_text() for sample in load_samples(tmp_path)] == [
        "[Alice]: hello",
        "[Alice]: hello",
    ]
    assert not any("no transcript" in warning for warning in warnings_about(tmp_path))
    write(tmp_path, {"b.txt": "[Alice]: the file in .txt is taken", "c.vtt": "WEBVTT"})
    _, b, c = load_samples(tmp_path)
    assert b.transcript.as_text() == "[Alice]: the file in .txt is taken"
    assert c.fault == f"{tmp_path}/c.vtt: nobody speaks in it, expected lines like [Speaker]: words"


def test_a_folder_that_is_a_link_is_followed(tmp_path: Path) -> None:
    write(tmp_path / "real", {"a/one.txt": "[A]: hello", "a/one.expected.json": EMPTY})
    (tmp_path / "samples").symlink_to("real")
    assert ids(load_samples(tmp_path / "samples")) == ["a/one"]


def test_hidden_files_are_left_alone(tmp_path: Path) -> None:
    write(tmp_path, {"a/._one.txt": "\x00", ".git/x.txt": "x", "a/one.txt": "[A]: hello"})
    assert ids(load_samples(tmp_path)) == ["a/one"]


def test_the_request_has_the_sidecars_owner_time_and_context(tmp_path: Path) -> None:
    truth = {
        "owner": "Mei",
        "reference_datetime": "2026-05-04T08:00:00",
        "calendar_context": [{"id": "x", "summary": "Gym", "start": "2026-05-04T18:00"}],
        "expected_events": [],
    }
    write(tmp_path, {"a/one.txt": "[Mei]: hello", "a/one.expected.json": json.dumps(truth)})
    request = load_samples(tmp_path)[0].request
    assert (request.owner, request.now) == ("Mei", datetime(2026, 5, 4, 8, 0))
    assert [(planned.id, planned.summary) for planned in request.context] == [(1, "Gym")]
    assert request.transcript.utterances[0].words == "hello"


def test_a_transcript_without_sidecar_is_loaded_with_a_warning(tmp_path: Path) -> None:
    write(tmp_path, {"a/one.txt": "[A]: hello"})
    (sample,) = load_samples(tmp_path)
    assert sample.sidecar is None
    assert sample.request.owner == "Alice"
    assert warnings_about(tmp_path) == [
        "1 of 1 sample has no sidecar (NAME.expected.json), extracted but not scored: a/one;"
        f" to draft sidecars: cal-ai label {tmp_path}",
    ]


def test_a_sidecar_without_transcript_is_warned_about(tmp_path: Path) -> None:
    write(tmp_path, {"one.txt": "[A]: x", "one.expected.json": EMPTY, "two.expected.json": EMPTY})
    assert warnings_about(tmp_path) == [
        f"{tmp_path}/two.expected.json: no transcript two.txt beside it, left out",
    ]


def test_a_transcript_without_utterances_is_a_sample(tmp_path: Path) -> None:
    write(tmp_path, {"one.txt": "", "one.expected.json": EMPTY})
    (sample,) = load_samples(tmp_path)
    assert sample.transcript.utterances == ()
    assert warnings_about(tmp_path) == []


def test_lines_before_the_first_speaker_are_reported_with_their_numbers(tmp_path: Path) -> None:
    write(tmp_path, {"one.txt": "Meeting\n\nnotes\n[A]: hi", "one.expected.json": EMPTY})
    (warning,) = warnings_about(tmp_path)
    assert warning == f"{tmp_path}/one.txt: lines 1, 3 skipped: no [Speaker]: yet"


def test_a_bad_file_costs_its_own_sample_alone(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a/one.txt": "[A]: x",
            "a/one.expected.json": '{"expected_event": []}',
            "b/two.txt": "[A]: x",
            "b/two.expected.json": "{",
            "c/fine.txt": "[A]: x",
            "c/fine.expected.json": EMPTY,
        },
    )
    (tmp_path / "d.txt").write_bytes(b"[A]: caf\xe9")
    faults = {sample.id: sample.fault or "" for sample in load_samples(tmp_path)}
    assert faults["c/fine"] == ""
    assert faults["a/one"] == (
        f"{tmp_path}/a/one.expected.json: unknown key 'expected_event', expected"
        f" {', '.join(SidecarFields.__struct_fields__)};"
        f" {tmp_path}/a/one.expected.json: expected_events is missing"
    )
    assert faults["b/two"].startswith(f"{tmp_path}/b/two.expected.json: not valid JSON: ")
    assert faults["uncategorized/d"].startswith(f"{tmp_path}/d.txt:1: not UTF-8 text")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nowhere", "does not exist, expected a folder of transcripts"),
        ("file.md", "is a file, expected a folder of transcripts"),
        ("empty", "no transcripts (.txt, .vtt, .srt) in it or below it"),
    ],
)
def test_a_folder_without_samples_is_refused(tmp_path: Path, name: str, expected: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file.md").touch()
    with pytest.raises(TruemarkError) as caught:
        load_samples(tmp_path / name)
    assert str(caught.value) == f"{tmp_path / name}: {expected}"


def test_two_transcripts_of_one_name_are_refused_before_anything_is_paid_for(
    tmp_path: Path,
) -> None:
    (tmp_path / "uncategorized").mkdir()
    for path in (tmp_path / "x.txt", tmp_path / "uncategorized" / "x.txt"):
        path.write_text("[Ann]: Lunch on Friday?\n")
    with pytest.raises(TruemarkError) as refused:
        load_samples(tmp_path)
    assert str(refused.value) == (
        f"{tmp_path}/x.txt: would be called uncategorized/x, as "
        f"{tmp_path}/uncategorized/x.txt is: rename one of them"
    )


def test_samples_are_as_they_were_when_they_were_read(tmp_path: Path) -> None:
    truth = json.dumps({"expected_events": []})
    write(tmp_path, {f"{name}.txt": f"[A]: {name}" for name in "abc"} | {"b.expected.json": truth})
    found = load_samples(tmp_path)
    before = tuple(found)
    write(tmp_path, {"a.txt": "[A]: something else", "b.expected.json": "no longer JSON"})
    (tmp_path / "c.txt").unlink()
    assert tuple(found) == before
    assert [it.transcript.utterances[0].words for it in before] == ["a", "b", "c"]
    assert (found[-1], tuple(found[1:])) == (before[2], before[1:])
    with pytest.raises(IndexError):
        found[3]


def test_the_digest_follows_the_transcript_and_the_truth_but_not_the_notes(tmp_path: Path) -> None:
    def digest(text: str, **fields: object) -> str:
        truth = json.dumps({"expected_events": [], **fields})
        write(tmp_path, {"one.txt": text, "one.expected.json": truth})
        return load_samples(tmp_path)[0].digest

    first = digest("[A]: x")
    assert digest("[A]: x", notes="seen again", mock_llm_response={"events": []}) == first
    assert digest("[A]: y") != first
    assert digest("[A]: x", tolerance="strict") != first


def test_a_recorded_answer_is_the_text_a_model_would_have_sent(tmp_path: Path) -> None:
    transcript = tmp_path / "one.txt"
    for mock, expected in (
        ({"events": []}, '{"events": []}'),
        ("```json\n[]\n```", "```json\n[]\n```"),
        (None, None),
    ):
        fields: dict[str, object] = {"expected_events": [], "mock_llm_response": mock}
        write(tmp_path, {"one.txt": "", "one.expected.json": json.dumps(fields)})
        assert recorded_answer(transcript) == expected


def test_samples_of_the_working_folder_come_before_the_bundled_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert default_folder() == bundled_folder()
    (tmp_path / "samples").mkdir()
    assert default_folder() == Path("samples")


@pytest.mark.parametrize("name", ["crud/simple_lunch", "adversarial/no_events"])
def test_the_samples_that_documentation_elsewhere_names_are_there(name: str) -> None:
    assert name in ids(load_samples(bundled_folder()))
