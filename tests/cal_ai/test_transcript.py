from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cal_ai.transcripts.conversation import Transcript, Utterance
from cal_ai.transcripts.reading import load_transcript, parse_transcript
from truemark.errors import TruemarkError

DETERMINISTIC = settings(derandomize=True, deadline=None)

words = st.text(
    st.characters(exclude_categories=("C", "Z"), exclude_characters="[]:："),
    min_size=1,
    max_size=12,
)
conversations = st.lists(st.tuples(words, words), max_size=6)


def spoken(text: str) -> list[tuple[str, str, int]]:
    return [(said.speaker, said.words, said.line) for said in parse_transcript(text).utterances]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("[Alice]: Hello", [("Alice", "Hello", 1)], id="one line"),
        pytest.param("[Alice]:Hello", [("Alice", "Hello", 1)], id="no space after the colon"),
        pytest.param("  [ Alice ] : Hello  ", [("Alice", "Hello", 1)], id="spaces around"),
        pytest.param(
            "[A]: x\r\n[B]: y\r[C]: z",
            [("A", "x", 1), ("B", "y", 2), ("C", "z", 3)],
            id="line ends",
        ),
        pytest.param(
            "[A]: one\n\ntwo\n  three\n[B]: x",
            [("A", "one two three", 1), ("B", "x", 5)],
            id="continued",
        ),
        pytest.param("[A]:\nlater", [("A", "later", 1)], id="words on the next line"),
        pytest.param(
            "[A]: at 10: [maybe]: no", [("A", "at 10: [maybe]: no", 1)], id="brackets in the words"
        ),
        pytest.param("[A]: x\n[]: y", [("A", "x []: y", 1)], id="a speaker without a name"),
        pytest.param(
            "[A]: x\n[10:30] Bob: y", [("A", "x [10:30] Bob: y", 1)], id="a time is no speaker"
        ),
        pytest.param("[Юлия]: Завтра в пять", [("Юлия", "Завтра в пять", 1)], id="Cyrillic"),
        pytest.param("[王芳]：明天见", [("王芳", "明天见", 1)], id="Chinese with its own colon"),
        pytest.param("\u200f[דנה]: מחר", [("דנה", "מחר", 1)], id="right to left mark"),
        pytest.param("\ufeff[A]: x", [("A", "x", 1)], id="byte order mark"),
        pytest.param(
            "[A]: one\u2028two\x0bthree",
            [("A", "one\u2028two\x0bthree", 1)],
            id="separators that end no line",
        ),
        pytest.param("", [], id="empty"),
        pytest.param("\n \t\n", [], id="blank"),
    ],
)
def test_speakers_and_words_are_found(text: str, expected: list[tuple[str, str, int]]) -> None:
    assert spoken(text) == expected
    assert parse_transcript(text).skipped_lines == ()


def test_a_speaker_without_words_is_a_line_that_is_left_out() -> None:
    transcript = parse_transcript("[A]: x\n[B]:\n[C]: y")
    assert [said.speaker for said in transcript.utterances] == ["A", "C"]
    assert transcript.skipped_lines == (2,)


def test_lines_before_the_first_speaker_are_skipped_and_counted() -> None:
    transcript = parse_transcript("Call of 3 March\n\nrecorded\n[Alice]: Hello\nthere")

    assert transcript.skipped_lines == (1, 3)
    assert [said.words for said in transcript.utterances] == ["Hello there"]


@pytest.mark.parametrize(
    ("speakers", "owner", "owners"),
    [
        pytest.param(["Dana Ruiz", "Tom"], "Dana", ["Dana Ruiz"], id="a longer name"),
        pytest.param(["dana", "Tom"], "Dana Ruiz", ["dana"], id="a shorter name"),
        pytest.param(["Dana", "Dana Smith"], "Dana", ["Dana"], id="one has exactly this name"),
        pytest.param(["Mr Haas", "Tom"], "Mr Okafor", [], id="only the title is the same"),
        pytest.param(["Dana Smith", "Tom"], "Dana Ruiz", [], id="another surname"),
    ],
)
def test_the_owner_is_known_among_the_speakers(
    speakers: list[str], owner: str, owners: list[str]
) -> None:
    transcript = parse_transcript("\n".join(f"[{speaker}]: x" for speaker in speakers))
    assert [speaker for speaker in speakers if transcript.is_owner(speaker, owner)] == owners
    assert transcript.has_speaker(owner) == bool(owners)


@DETERMINISTIC
@given(conversations)
def test_a_conversation_survives_being_written_and_read(said: list[tuple[str, str]]) -> None:
    transcript = Transcript(
        tuple(Utterance(speaker, text, line) for line, (speaker, text) in enumerate(said, start=1))
    )

    assert parse_transcript(transcript.as_text()) == transcript


@DETERMINISTIC
@given(st.lists(words, max_size=5), st.sampled_from(["\n", "\r\n", "\n\n", "\n \t\n"]))
def test_no_word_of_a_continued_utterance_is_lost(lines: list[str], line_end: str) -> None:
    transcript = parse_transcript(line_end.join(["[A]: so", *lines]))

    assert [said.words for said in transcript.utterances] == [" ".join(["so", *lines])]


@DETERMINISTIC
@given(st.text(max_size=80))
def test_any_text_is_read(text: str) -> None:
    transcript = parse_transcript(text)

    assert all(said.speaker and said.words for said in transcript.utterances)
    assert parse_transcript(text) == transcript


def test_a_file_is_read_as_utf_8(tmp_path: Path) -> None:
    file = tmp_path / "talk.txt"
    file.write_bytes("\ufeff[José]: mañana a las ocho\r\n".encode())

    assert load_transcript(file).utterances == (Utterance("José", "mañana a las ocho", 1),)


def test_a_file_that_is_not_utf_8_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "talk.txt"
    file.write_bytes(b"[A]: x\n[B]: ma\xf1ana\n")

    with pytest.raises(TruemarkError, match=r"talk\.txt:2: not UTF-8"):
        load_transcript(file)
