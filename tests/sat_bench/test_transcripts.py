import json
from pathlib import Path

import pytest

from sat_bench.cli import main
from sat_bench.corpus.loading import load_corpus, load_talk
from sat_bench.corpus.talks import CorpusError
from sat_bench.corpus.transcripts import parse_transcript
from sat_bench.importing import MANIFEST, import_transcript

PASTED = """\
00:13
Good morning. How are you?
(Laughter)

01:02:30
It's been great,
hasn't it?
[02:10] I've been blown away.
"""


def test_pasted_text_loses_its_timestamps_and_keeps_its_paragraphs(tmp_path: Path) -> None:
    file = tmp_path / "pasted.text"
    file.write_text(PASTED, encoding="utf-8")
    header = {"source": "https://example.org/talk", "speaker": "Ada", "title": "Looms"}
    path, talk = import_transcript(file, header=header, force=False)
    assert path == tmp_path / "pasted.txt"
    assert path.read_text(encoding="utf-8") == (
        "# Source: https://example.org/talk\n# Speaker: Ada\n# Title: Looms\n\n"
        "Good morning. How are you? (Laughter)\n\n"
        "It's been great, hasn't it? I've been blown away.\n"
    )
    assert load_talk(path) == talk
    assert len(talk.sentences) == 4


def test_a_time_that_is_said_stays(tmp_path: Path) -> None:
    file = tmp_path / "talk.md"
    file.write_text("10:30 was late. We left at 10:45\n", encoding="utf-8")
    _, talk = import_transcript(file, force=False)
    assert talk.text == "10:30 was late. We left at 10:45"


@pytest.mark.parametrize(
    ("pasted", "text"),
    [
        ("0:05 Today.\n0:09 At 5:30, not\nat 6:30 sharp.", "Today. At 5:30, not at 6:30 sharp."),
        ("00:00:01 Hello.\n\n00:00:04.250 Bye.", "Hello.\n\nBye."),
        ("0:05 - Today.\n[0:09]Now.\n0:11\n(0:12) Then.", "Today. Now. Then."),
        ("We met.\n10:30 was late.\n9:15 was early.\nSo.", None),
    ],
    ids=["minutes", "hours", "mixed", "few"],
)
def test_times_are_removed_where_most_lines_begin_with_one(
    tmp_path: Path, pasted: str, text: str | None
) -> None:
    file = tmp_path / "talk.md"
    file.write_text(pasted, encoding="utf-8")
    _, talk = import_transcript(file, force=False)
    assert talk.text == (text or " ".join(pasted.split()))


def test_subtitles_become_a_transcript(tmp_path: Path) -> None:
    file = tmp_path / "talk.srt"
    file.write_text("1\n00:00:01,000 --> 00:00:02,000\n- Hi. (Applause)\n", encoding="utf-8")
    path, talk = import_transcript(file, force=False)
    assert path.read_text(encoding="utf-8") == "# Source: talk.srt\n\nHi.\n"
    assert talk.source == "talk.srt"


def test_an_imported_text_without_punctuation_is_noted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "hello who is this on line two " * 12
    (tmp_path / "talk.srt").write_text(f"1\n00:00:01,000 --> 00:00:02,000\n{words}", "utf-8")
    target = tmp_path / "out.txt"
    assert main(["import", str(tmp_path / "talk.srt"), "-o", str(target)]) == 0
    assert capsys.readouterr().err == (
        f"{target}: the rule plain finds 0 sentence ends in 359 characters: scores say little"
        f" there; mark the ends with sat-bench label {tmp_path}\n"
    )


def test_a_header_that_is_there_is_kept_and_may_be_overridden(tmp_path: Path) -> None:
    file = tmp_path / "talk.txt"
    file.write_text("# Source: s\n# Title: old\n# Duration: 3:00\n\nHi.\n", encoding="utf-8")
    path, _ = import_transcript(file, tmp_path / "out.txt", {"title": "new"}, force=False)
    assert path.read_text(encoding="utf-8") == (
        "# Source: s\n# Title: new\n# Duration: 3:00\n\nHi.\n"
    )


def test_importing_a_corpus_file_again_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "talk.txt"
    file.write_text(PASTED, encoding="utf-8")
    import_transcript(file, force=True)
    once = file.read_bytes()
    import_transcript(file, force=True)
    assert file.read_bytes() == once


def test_an_existing_file_is_replaced_only_by_force(tmp_path: Path) -> None:
    file, out = tmp_path / "talk.srt", tmp_path / "talk.txt"
    file.write_text("00:01.000 --> 00:02.000\nHi.\n", encoding="utf-8")
    out.write_text("precious", encoding="utf-8")
    with pytest.raises(CorpusError, match=r"talk\.txt: already exists; add -force"):
        import_transcript(file, force=False)
    assert out.read_text(encoding="utf-8") == "precious"
    import_transcript(file, force=True)
    assert load_talk(out).text == "Hi."


def test_a_folder_as_target_gets_a_file_named_after_the_source(tmp_path: Path) -> None:
    file = tmp_path / "talk.md"
    file.write_text("Hi.", encoding="utf-8")
    (tmp_path / "corpus").mkdir()
    path, _ = import_transcript(file, tmp_path / "corpus", force=False)
    assert path == tmp_path / "corpus" / "talk.txt"


BAD = {
    "empty": ("a.md", "\n00:13\n", None, "a.md: no transcript text in it"),
    "corpus format": ("a.json", "{}", None, "a.json: is already a corpus file"),
    "wrong ending": ("a.md", "Hi.", "out.md", "out.md: a corpus file must end in .txt"),
    "no cues": ("a.vtt", "WEBVTT", None, "a.vtt: no subtitle cues found"),
}


@pytest.mark.parametrize(("name", "content", "out", "message"), BAD.values(), ids=BAD)
def test_what_cannot_be_imported_is_named_and_nothing_is_written(
    tmp_path: Path, name: str, content: str, out: str | None, message: str
) -> None:
    file = tmp_path / name
    file.write_text(content, encoding="utf-8")
    with pytest.raises(CorpusError) as raised:
        import_transcript(file, tmp_path / out if out else None, force=False)
    assert message in str(raised.value)
    assert list(tmp_path.iterdir()) == [file]


def test_a_talk_in_lines_says_itself_where_sentences_end() -> None:
    content = "# Source: x\n# Truth: lines\n\nWe sat\nThere. Yes?\n\n\nThen he left\n"
    talk = parse_transcript(Path("a.txt"), content, "plain")
    assert talk.text == "We sat There. Yes?\n\nThen he left"
    sentences = [talk.text[start:end] for start, end in talk.sentences]
    assert sentences == ["We sat", "There. Yes?", "Then he left"]


def test_a_header_without_a_source_gets_the_name_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "talk.txt"
    file.write_text("# Source:\n\nOne. Two.\n", encoding="utf-8")
    _, talk = import_transcript(file, tmp_path / "mended.txt", force=False)
    assert talk.source == "talk.txt"


def test_a_folder_is_imported_whole_with_a_manifest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, out = tmp_path / "mine", tmp_path / "made" / "corpus"
    folder.mkdir()
    (folder / "a.txt").write_text("One. Two.", encoding="utf-8")
    (folder / "b.srt").write_text("00:01.000 --> 00:02.000\nHi.\n", encoding="utf-8")
    (folder / "c.json").write_text('{"text": "Yes. No.", "boundaries": [4, 8]}', encoding="utf-8")
    (folder / "d.txt").write_text("", encoding="utf-8")
    (folder / "e.txt").write_text("# Truth: lines\n\nso it goes\non. and on\n", encoding="utf-8")
    assert main(["import", str(folder), "-o", str(out)]) == 1
    printed = capsys.readouterr()
    assert printed.out.count("Wrote ") == 4
    assert "failed: " in printed.err
    assert "d.txt: no transcript text in it" in printed.err
    (folder / "d.txt").unlink()
    assert main(["import", str(folder), "-o", str(out), "-force"]) == 0
    assert [len(talk.sentences) for talk in load_corpus(out)] == [2, 1, 2, 2]
    entries = [json.loads(line) for line in (out / MANIFEST).read_text("utf-8").splitlines()]
    assert [entry["file"] for entry in entries] == ["a.txt", "b.txt", "c.json", "e.txt"]
    assert entries[1]["from"] == str(folder / "b.srt")


def test_no_other_file_that_is_read_is_overwritten_even_by_force(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, cues = tmp_path / "talk.txt", tmp_path / "talk.srt"
    text.write_text("[00:01] Hi.", encoding="utf-8")
    cues.write_text("00:01.000 --> 00:02.000\nHi.\n", encoding="utf-8")
    for arguments in (
        [str(tmp_path), "-o", str(tmp_path)],
        [str(cues), "-reference", str(text)],
    ):
        assert main(["import", *arguments, "-force"]) == 1
        assert "talk.txt: is read here too and would be lost" in capsys.readouterr().err
        assert text.read_text(encoding="utf-8") == "[00:01] Hi."


def test_two_files_of_one_name_are_not_imported_over_each_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = tmp_path / "a.md", tmp_path / "a.srt"
    first.write_text("One.", encoding="utf-8")
    second.write_text("00:01.000 --> 00:02.000\nHi.\n", encoding="utf-8")
    out = tmp_path / "out"
    assert main(["import", str(first), str(second), "-o", str(out)]) == 1
    assert "a.srt: would be" in capsys.readouterr().err
    assert load_talk(out / "a.txt").text == "One."


def test_the_ends_of_a_reference_are_moved_onto_the_words_of_a_recogniser(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reference, heard = tmp_path / "ref.txt", tmp_path / "heard.srt"
    reference.write_text(
        'We went home, late. "Where?" she said. Mr. Smith had 3 dogs. Nobody knew.',
        encoding="utf-8",
    )
    heard.write_text(
        "00:01.000 --> 00:02.000\nwe went um home late where she\n\n"
        "00:02.000 --> 00:03.000\nsaid mister smith had three dogs nobody new\n",
        encoding="utf-8",
    )
    assert main(["import", "-reference", str(reference), str(heard)]) == 0
    talk = load_talk(tmp_path / "heard.txt")
    assert talk.truth == "lines"
    assert [talk.text[start:end] for start, end in talk.sentences] == [
        "we went um home late",
        "where",
        "she said",
        "mister smith had three dogs",
        "nobody new",
    ]
    assert "of its characters are in" in capsys.readouterr().err


def test_a_reference_of_another_speech_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ref.txt").write_text("Völlig andere Wörter. Gar nichts gleich.", encoding="utf-8")
    (tmp_path / "heard.md").write_text("0123456789 " * 9, encoding="utf-8")
    arguments = ["-reference", str(tmp_path / "ref.txt"), str(tmp_path / "heard.md")]
    assert main(["import", *arguments]) == 1
    assert "are they of the same speech?" in capsys.readouterr().err
    assert not (tmp_path / "heard.txt").exists()
