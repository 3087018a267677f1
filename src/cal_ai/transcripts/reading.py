"""Read a conversation from a file and recognise the form that it is written in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from cal_ai.transcripts import brackets, captions, clock, names, subtitles, whatsapp
from cal_ai.transcripts.conversation import BRACKETS, Start, Transcript, gather, split_lines
from cal_ai.transcripts.dates import find_dating
from truemark.files import read_standard_input, read_text
from truemark.languages import language_code, language_name, language_outside
from truemark.text import counted

LARGEST_TRANSCRIPT = 5_000_000
"""Bytes; more than a hundred hours of talk."""
STANDARD_INPUT = Path("-")
NOBODY_SPEAKS = "nobody speaks in it, expected lines like [Speaker]: words"


def parse_transcript(text: str) -> Transcript:
    """Split a conversation into utterances.

    The first lines tell subtitles, and a single line `[Name]: text` settles the form of any other
    text, unless it is within a chat of WhatsApp. Otherwise the form that most lines have is taken.
    """
    lines = split_lines(text)
    if (form := subtitles.subtitle_form(lines)) is not None:
        words, starts = subtitles.read_cues(lines)
        return gather(words, starts, form)
    chat = _find_starts(lines, whatsapp.speaker_of)
    if len(starts := _find_starts(lines, brackets.speaker_of)) > _line_count(chat):
        return gather(lines, starts, BRACKETS)
    # Of forms that equally many lines have, the first one is taken.
    readings = (
        (whatsapp.FORM, chat),
        (clock.FORM, _find_starts(lines, clock.speaker_of)),
        (captions.FORM, captions.find_starts(lines)),
        (names.FORM, _find_starts(lines, names.speaker_of)),
    )
    form, starts = max(readings, key=lambda reading: _line_count(reading[1]))
    if not _line_count(starts):
        return gather(lines, (), BRACKETS)
    dating = find_dating(
        (start.place + 1, lines[start.place], start.speaker is not None) for start in starts
    )
    if form == captions.FORM:
        lines = captions.without_headings(lines, starts)
    if form == whatsapp.FORM:
        lines = [whatsapp.without_tag(line) for line in lines]
    return replace(gather(lines, starts, form), dating=dating)


def _find_starts(
    lines: Sequence[str], speaker_of: Callable[[str], tuple[str | None, str] | None]
) -> list[Start]:
    splits = enumerate(map(speaker_of, lines))
    return [Start(place, *split) for place, split in splits if split is not None]


def _line_count(starts: Sequence[Start]) -> int:
    """Count the lines that have a form, its notices too; none count if nobody speaks."""
    return len(starts) if any(start.speaker is not None for start in starts) else 0


def form_line(transcript: Transcript) -> str:
    """Tell in which form a conversation was read, and how many lines were left out."""
    return f"read as {transcript.form}, {counted(len(transcript.skipped_lines), 'line')} left out"


def foreign_language(transcript: Transcript) -> str | None:
    """Name the language of a conversation that is not in English; None for English or unsure.

    A line `# Language:` is believed if it states one known language.
    """
    code = language_code(transcript.language or "")
    if code is None:
        words = "\n".join(utterance.words for utterance in transcript.utterances)
        code = language_outside(words, {"en"})
    return None if code in (None, "en") else language_name(code)


def load_transcript(path: Path) -> Transcript:
    """Read the conversation in a UTF-8 file; `-` is standard input."""
    if path == STANDARD_INPUT:
        return parse_transcript(read_standard_input(LARGEST_TRANSCRIPT))
    return parse_transcript(read_text(path, LARGEST_TRANSCRIPT))
