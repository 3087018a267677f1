from pathlib import Path

import pytest

from sat_bench.corpus.importing import import_transcript
from sat_bench.corpus.loading import load_talk
from sat_bench.corpus.talks import CorpusError
from sat_bench.corpus.transcripts import parse_transcript

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


def test_subtitles_become_a_transcript(tmp_path: Path) -> None:
    file = tmp_path / "talk.srt"
    file.write_text("1\n00:00:01,000 --> 00:00:02,000\n- Hi. (Applause)\n", encoding="utf-8")
    path, talk = import_transcript(file, force=False)
    assert path.read_text(encoding="utf-8") == "# Source: talk.srt\n\nHi.\n"
    assert talk.source == "talk.srt"


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
    with pytest.raises(CorpusError, match=r"talk\.txt: exists already; add -force"):
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
    "corpus format": ("a.json", "{}", None, "a.json: is a corpus file already"),
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
