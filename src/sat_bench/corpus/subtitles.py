"""Subtitle files: the spoken text of `.srt` and `.vtt` cues."""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sat_bench.corpus.talks import CorpusError, Talk, find_sentences, unify_line_breaks
from sat_bench.defaults import TruthRule

SUBTITLES = (".srt", ".vtt")
_TIME = r"(?:(\d{1,5}):)?(\d{1,2}):(\d{2})(?:[.,](\d{1,3}))?"
_TIMING = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}(?:\s.*)?")
_LIKE_TIMING = re.compile(r"\s*\d+:\d{2}.*-+>|.*-->")
_WORD_TIME = re.compile(r"<\d+:[\d:.]+>")

_TAG = re.compile(r"</?[a-zA-Z][^<>]*>|<\d[\d:.]*>|\{\\[^{}]*\}")
# Notes alone at the end of a line are music; what follows others in a line are lyrics, up to the
# next note, to a line that begins with one, or to the end of the cue.
_LYRICS = re.compile(r"[♪♫♬♩][♪♫♬♩ ]*(?:(?=\n|\Z)|[^♪♫♬♩]*?(?:(?=\n[♪♫♬♩])|[♪♫♬♩]+|\Z))")
# A hyphen before a digit is a minus sign, not a change of speaker.
_TURN = re.compile(r"\s*>{2,}\s*|\A\s*[-‐–—]\s*(?!\d)")
_SPEAKER = re.compile(r"\A[A-Z][A-Z0-9 .'’&-]*[A-Z0-9.]:\s+")
_LONE_NOTE = re.compile(r"\s*(?:\([^()]*\)|\[[^][]*\])\s*")
# Next to speech, only what looks like a sound note: "(Laughter)", not "(which I liked)".
_NOTE = re.compile(r"\[[^][]{0,80}\]|\((?=[A-Z])[^().?!\s]*(?: [^().?!\s]+){0,3}\)")
# Where somebody begins to speak, also in lower case: "(upbeat music)", "(sighs)".
_OPENING = re.compile(r"\s*\(([^\W\d_]+(?:[-'’ ][^\W\d_]+)*)\)")
_MOST_WORDS = 3
# Words of remarks such as "(which I liked)", "(of course)", and not of sound notes.
_REMARKING = """
i you he she it we they me him her us them this that these those which who what where when why how
is am are was were be been isn't wasn't it's that's i'm do does did don't didn't have has had can
could will would should may might must or but so as if for at not no yes too also course maybe
perhaps probably actually again sorry please thanks
"""


@dataclass(frozen=True, slots=True)
class _Cue:
    start_ms: int
    end_ms: int
    lines: tuple[str, ...]


def parse_subtitles(path: Path, content: str, rule: TruthRule) -> Talk:
    """Read a subtitle file; the rule finds the sentence ends in the joined cue texts."""
    text, remarks = read_cues(path, content)
    return Talk(
        id=path.stem,
        source=path.name,
        speaker="",
        title="",
        text=text,
        sentences=find_sentences(text, rule),
        truth=rule,
        remarks=remarks,
    )


def spoken_text(path: Path, content: str) -> str:
    """Join the speech of the cues by spaces, without tags, speaker marks and sound notes."""
    return read_cues(path, content)[0]


def read_cues(path: Path, content: str) -> tuple[str, tuple[str, ...]]:
    """Return the speech, and remarks on cues left out because of a malformed timing line."""
    malformed: list[str] = []
    cues = tuple(_cues(path, unify_line_breaks(content), malformed))
    if not cues and malformed:
        raise CorpusError(f"{malformed[0]}; expected one such as 00:00:01,000 --> 00:00:04,000")
    if not cues:
        raise CorpusError(
            f"{path}: no subtitle cues found; "
            "expected timing lines such as 00:00:01,000 --> 00:00:04,000"
        )
    rolls_up = _WORD_TIME.search(content) is not None
    said: list[str] = []
    before: _Cue | None = None
    for cue in cues:
        repeats = before is not None and (rolls_up or cue.start_ms < before.end_ms)
        said.append(_speech(_new_lines(before, cue) if before and repeats else cue.lines))
        before = cue
    text = " ".join(_NOTE.sub(" ", " ".join(said)).split())
    if not text:
        raise CorpusError(f"{path}: nothing is said in any of the {len(cues)} cues")
    more = f" (and {len(malformed) - 1} more such cues)" if len(malformed) > 1 else ""
    return text, tuple(f"{line}; the cue is left out{more}" for line in malformed[:1])


def _cues(path: Path, content: str, malformed: list[str]) -> Iterator[_Cue]:
    """Yield the cues in order; add timing lines that cannot be read to `malformed`."""
    timing: re.Match[str] | None = None
    body: list[str] = []
    for number, line in enumerate(content.split("\n"), start=1):
        if not _LIKE_TIMING.match(line):
            body.append(line)
            continue
        if timing:
            numbered = body and body[-1].strip().isdecimal()
            yield _cue(path, timing, body[:-1] if numbered else body)
        timing, body = _TIMING.fullmatch(line), []
        if timing is None:
            malformed.append(f"{path}:{number}: not a timing line: {line.strip()[:40]!r}")
    if timing:
        yield _cue(path, timing, body)


def _cue(path: Path, timing: re.Match[str], body: list[str]) -> _Cue:
    if path.suffix.lower() == ".vtt" and "" in body:
        # A blank line is followed by a note or the name of the next cue; .srt files have neither.
        body = body[: body.index("")]
    groups = [int(group or 0) for group in timing.groups()]
    start_ms, end_ms = (
        ((hours * 60 + minutes) * 60 + seconds) * 1000 + milliseconds
        for hours, minutes, seconds, milliseconds in (groups[:4], groups[4:])
    )
    lines = (html.unescape(_TAG.sub("", line)).strip() for line in body)
    return _Cue(start_ms, end_ms, tuple(line for line in lines if line))


def _new_lines(before: _Cue, cue: _Cue) -> tuple[str, ...]:
    """Return the lines of a cue without those that the previous cue already showed."""
    for size in range(min(len(before.lines), len(cue.lines)), 0, -1):
        if before.lines[-size:] == cue.lines[:size]:
            return cue.lines[size:]
    return cue.lines


def _speech(lines: tuple[str, ...]) -> str:
    """Join the lines of a cue without lyrics, speaker marks, and sound notes that stand alone."""
    unsung = _LYRICS.sub(" ", "\n".join(lines)).split("\n")
    return _without_opening_note(" ".join(map(_spoken, unsung)))


def _spoken(line: str) -> str:
    speech = _SPEAKER.sub("", _TURN.sub(" ", line).lstrip())
    if _LONE_NOTE.fullmatch(speech):
        return ""
    begins = speech != line.lstrip()
    return _without_opening_note(speech) if begins else speech


def _without_opening_note(speech: str) -> str:
    """Remove a sound note in lower case at the start; leave what may be a remark."""
    opening = _OPENING.match(speech)
    if opening is None or not opening[1].islower():
        return speech
    words = opening[1].replace("’", "'").split()
    if len(words) > _MOST_WORDS or not set(words).isdisjoint(_REMARKING.split()):
        return speech
    return speech[opening.end() :]
