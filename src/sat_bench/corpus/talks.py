"""A talk: a text with its true sentences, annotated or found by a rule."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from sat_bench.defaults import WRITTEN, Condition, TruthRule, TruthSource
from truemark.errors import TruemarkError
from truemark.languages import main_script

ABBREVIATIONS = (
    *("mr", "mrs", "ms", "dr", "prof", "sr", "jr"),
    *("vs", "etc", "i.e", "e.g", "u.s", "u.k"),
)

# Sentence_Terminal of Unicode 15.1, and the ellipsis: three full stops end a sentence too.
_TERMINATORS = """
0021 002E 003F 0589 061D-061F 06D4 0700-0702 07F9 0837 0839 083D-083E 0964-0965 104A-104B 1362
1367-1368 166E 1735-1736 17D4-17D5 1803 1809 1944-1945 1AA8-1AAB 1B5A-1B5B 1B5E-1B5F 1B7D-1B7E
1C3B-1C3C 1C7E-1C7F 2026 203C-203D 2047-2049 2E2E 2E3C 2E53-2E54 3002 A4FF A60E-A60F A6F3 A6F7
A876-A877 A8CE-A8CF A92F A9C8-A9C9 AA5D-AA5F AAF0-AAF1 ABEB FE12 FE15-FE16 FE52 FE56-FE57 FF01
FF0E FF1F FF61 10A56-10A57 10F55-10F59 10F86-10F89 11047-11048 110BE-110C1 11141-11143
111C5-111C6 111CD 111DE-111DF 11238-11239 1123B-1123C 112A9 1144B-1144C 115C2-115C3 115C9-115D7
11641-11642 1173C-1173E 11944 11946 11A42-11A43 11A9B-11A9C 11C41-11C42 11EF7-11EF8 11F43-11F44
16A6E-16A6F 16AF5 16B37-16B38 16B44 16E98 1BC9F 1DA88
"""
_ANY = "".join(
    "-".join(chr(int(code, 16)) for code in codes.split("-")) for codes in _TERMINATORS.split()
)
_WIDE = "。！？．｡︒︕︖﹒﹖﹗"  # in scripts without white space between sentences
_CLOSERS = r"""["'”’»›)\]}]"""
_WIDE_CLOSERS = _CLOSERS.removesuffix("]") + "」』）］｝〉》】〕｣]"

_ENDS: dict[TruthRule, re.Pattern[str]] = {
    "plain": re.compile(r"([.?!])(?=\s|\Z)"),
    "quoted": re.compile(rf"([.?!]){_CLOSERS}*(?=\s|\Z)"),
    # A run of terminators is matched from its start, so that a long one is read only once. A
    # full-width full stop between digits is a decimal point.
    "unicode": re.compile(
        rf"(?<![{_ANY}])([{_ANY}]+)(?:{_WIDE_CLOSERS}*(?=\s|\Z)"
        rf"|(?<=[{_WIDE}])(?!(?<=．)\d){_WIDE_CLOSERS}*)"
    ),
}
_ABBREVIATION = re.compile(
    rf"(?<!\w)(?:{'|'.join(map(re.escape, ABBREVIATIONS))})\Z", re.IGNORECASE
)
# Terminators that the rules `plain` and `quoted` do not know.
_FOREIGN_MARKS = re.compile(rf"(?![.?!\u2026\u203c-\u2049])[{_ANY}]")
_SCRIPT_READ = 10_000  # characters that tell the script of a text
# Scripts whose texts may quote others, but end no sentence with their marks.
_EUROPEAN = (None, "LATIN", "CYRILLIC", "GREEK")
# Marks that Unicode does not count as terminators, since they are none in most texts.
_KNOWN_TO_NO_RULE = {
    "GREEK": ("Greek", re.compile(r"[;\u037e](?=\s|\Z)")),
    "TIBETAN": ("Tibetan", re.compile(r"[\u0f0d\u0f0e]")),
}
_UNMARKED = re.compile(r"[\u0e01-\u0e4e\u0e81-\u0ece]")  # Thai and Lao
_LETTERS = re.compile(r"[^\W\d_]")
# Ranges of the scripts that put spaces neither between words nor between sentences (kana, Bopomofo,
# Chinese characters, half-width kana), and of all that put none between words: Thai, Lao, Burmese
# and Khmer too, in which spaces separate phrases and sentences.
WITHOUT_SPACES = (
    "\u3005-\u3007\u3040-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff"
)
UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0eff\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f\u1780-\u17ff"
    + WITHOUT_SPACES
)
# A text should have, on average, an end in every so many characters.
_CHARACTERS_PER_END = 600
# Outside Europe, marks that a rule does not know count this much against the ends that it finds.
_OWN_MARKS_WEIGH = 5
# Length of the longest abbreviation and the character before it, which must not be a letter.
_LOOK_BACK = max(map(len, ABBREVIATIONS)) + 1


class Sentence(NamedTuple):
    """A span of characters: `text[start:end]` is the sentence."""

    start: int
    end: int


class CorpusError(TruemarkError):
    """Raised for a corpus that cannot be read; the message names the file and the problem."""


@dataclass(frozen=True, slots=True)
class Talk:
    """One transcript; `id` is the name of its file without the ending."""

    id: str
    source: str
    speaker: str
    title: str
    text: str
    sentences: tuple[Sentence, ...]
    language: str = ""
    condition: Condition = WRITTEN
    truth: TruthSource = "gold"  # where the sentences come from
    remarks: tuple[str, ...] = ()  # oddities of the file, for the user

    @property
    def boundaries(self) -> list[int]:
        """The true sentence ends in ascending order."""
        return [sentence.end for sentence in self.sentences]


def find_sentences(text: str, rule: TruthRule = "plain") -> tuple[Sentence, ...]:
    """Find the sentences of a text; text after the last terminator is a sentence too."""
    return spans_between(text, _ends(text, rule), leftover=True)


def finds_too_few(talk: Talk, rule: TruthRule) -> bool:
    """Whether the rule finds so few ends in the text that they can hardly be the true ones."""
    length = len(talk.text)
    if (len(talk.sentences) - 1) * _CHARACTERS_PER_END >= length:
        return False
    return count_ends(talk.text, rule) * _CHARACTERS_PER_END < length


def unfit_rule(text: str, rule: TruthRule) -> str | None:
    """Return why the rule cannot find the sentences of a text in its script, or None if it can."""
    if text.isascii():
        return None
    if 2 * len(_UNMARKED.findall(text)) > len(_LETTERS.findall(text)):
        return "Thai and Lao are written without sentence marks, so no rule finds their sentences"
    script = main_script(text[:_SCRIPT_READ])
    if script in _KNOWN_TO_NO_RULE:
        language, marks = _KNOWN_TO_NO_RULE[script]
        if found := marks.search(text):
            return f"no rule knows {found[0]} of {language} as a sentence's end; try -truth lines"
    foreign = _FOREIGN_MARKS.findall(text) if rule != "unicode" else []
    weight = 1 if script in _EUROPEAN else _OWN_MARKS_WEIGH
    if weight * len(foreign) <= count_ends(text, rule):
        return None
    shown = " ".join(dict.fromkeys(foreign))
    return f"the rule {rule} does not know the marks {shown} of this text; try -truth unicode"


def count_ends(text: str, rule: TruthRule) -> int:
    """Count the ends that the rule finds; the end of the text counts only if it has a mark."""
    return sum(1 for _ in _ends(text, rule))


def spans_between(text: str, ends: Iterable[int], *, leftover: bool) -> tuple[Sentence, ...]:
    """Return the spans between ascending ends, without the white space around sentences."""
    sentences = []
    start = 0
    for end in ends:
        sentences.append(_trimmed(text, start, end))
        start = end
    if leftover and text[start:].strip():
        sentences.append(_trimmed(text, start, len(text)))
    return tuple(sentences)


def _ends(text: str, rule: TruthRule) -> Iterator[int]:
    for match in _ENDS[rule].finditer(text):
        stop = match.start()
        before = text[max(0, stop - _LOOK_BACK) : stop]
        if match[1] != "." or not _ABBREVIATION.search(before):
            yield match.end()


def _trimmed(text: str, start: int, end: int) -> Sentence:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Sentence(start, end)


def unify_line_breaks(content: str) -> str:
    """Replace every line break by a single line feed."""
    return content.replace("\r\n", "\n").replace("\r", "\n")
