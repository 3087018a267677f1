import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import pytest

from sat_bench import compare, load_corpus
from sat_bench.defaults import DEFAULT_MODEL, Condition, Options
from sat_bench.report import Result, results_of

HEADER = ("Source", "Speaker", "Title", "Duration", "Truth")
SOURCE = "Original talk written for Truemark (MIT)"
NOTE = re.compile(r"\((?:Laughter|Applause|Pause|Silence|Cheer|Laughter and applause)\)")
LONG_ENOUGH_TO_BE_TOLD = 5  # words; "Yes." and "All right." are said by everyone

# Each trouble that transcripts give a segmenter, and what it looks like on the page.
TROUBLES = {
    "abbreviation before a name": r"\b(?:Mr|Mrs|Ms|Dr|Prof)\. [A-Z]",
    "abbreviation inside a sentence": r"\b(?:e\.g|i\.e|etc|vs)\.,? [a-z]",
    "country abbreviation": r"\bU\.[SK]\. [a-z]",
    "decimal": r"\b\d+\.\d+ [a-z]",
    "decimal that opens a sentence": r"[.?!] \d+\.\d+ [a-z]",
    "digits that open a sentence": r"[.?!] \d+ [a-z]",
    "thousands separator": r"\b\d{1,3},\d{3}\b",
    "clock time with periods": r"\b\d{1,2} [ap]\.m\.",
    "ellipsis of three periods": r"\w\.\.\.",
    "ellipsis character": r"\w…",
    "em dash": r"\w—\w",
    "double hyphen": r" -- ",
    "question inside a straight quote": r'\?" [a-z]',
    "question inside a typographic quote": r"\?” [a-z]",
    "full stop inside a closing quote": r'\w\."',
    "laughter note": r"\(Laughter\)",
    "applause note": r"\(Applause\)",
    "one-word sentence": r"[.?!] (?!Mrs?\.|Ms|Dr|Prof)[A-Z][a-z]+\. ",
    "sentence that begins with a conjunction": r"[.?!] (?:And|But|So) ",
}


@dataclass(frozen=True, slots=True)
class Page:
    stem: str
    header: dict[str, str]
    paragraphs: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n\n".join(paragraph.replace("\n", " ") for paragraph in self.paragraphs)

    @property
    def sentences(self) -> frozenset[str]:
        """The distinct sentences without sound notes, surrounding quotes and letter case."""
        lines = NOTE.sub("", "\n".join(self.paragraphs)).split("\n")
        return frozenset(" ".join(line.split()).strip('"“”').casefold() for line in lines) - {""}


def read_page(name: str) -> Page:
    raw = (files("sat_bench") / "bundled" / "talks" / name).read_text(encoding="utf-8")
    head, _, body = raw.partition("\n\n")
    pairs = [line.removeprefix("# ").split(": ", 1) for line in head.splitlines()]
    return Page(
        stem=name.removesuffix(".txt"),
        header=dict(pairs),
        paragraphs=tuple(body.rstrip("\n").split("\n\n")),
    )


NAMES = sorted(
    entry.name
    for entry in (files("sat_bench") / "bundled" / "talks").iterdir()
    if entry.name.endswith(".txt")
)


@pytest.fixture(scope="module")
def pages() -> tuple[Page, ...]:
    return tuple(read_page(name) for name in NAMES)


def test_there_are_24_talks_numbered_in_order() -> None:
    assert [name[:3] for name in NAMES] == [f"{number:02}_" for number in range(1, 25)]


@pytest.mark.parametrize("name", NAMES)
def test_a_talk_opens_with_its_five_header_lines(name: str) -> None:
    page = read_page(name)
    assert tuple(page.header) == HEADER
    assert page.header["Source"] == SOURCE
    assert page.header["Truth"] == "lines"
    assert re.fullmatch(r"\d\d:[0-5]\d", page.header["Duration"])


@pytest.mark.parametrize("name", NAMES)
def test_a_talk_is_long_enough_and_is_spoken_at_a_human_pace(name: str) -> None:
    page = read_page(name)
    words = len(NOTE.sub("", page.text).split())
    minutes, seconds = map(int, page.header["Duration"].split(":"))
    assert words >= 500
    assert 90 <= words / (minutes + seconds / 60) <= 205


@pytest.mark.parametrize("name", NAMES)
def test_each_sentence_is_one_clean_line(name: str) -> None:
    for paragraph in read_page(name).paragraphs:
        for line in paragraph.split("\n"):
            assert line == " ".join(line.split())
            assert line
            assert not line.startswith("#")


def test_no_two_talks_share_a_title_or_a_speaker(pages: tuple[Page, ...]) -> None:
    assert len({page.header["Title"] for page in pages}) == len(pages)
    assert len({page.header["Speaker"] for page in pages}) == len(pages)


def test_no_sentence_is_spoken_in_two_talks(pages: tuple[Page, ...]) -> None:
    first_said_in: dict[str, str] = {}
    for page in pages:
        for sentence in page.sentences:
            if len(sentence.split()) < LONG_ENOUGH_TO_BE_TOLD:
                continue
            earlier = first_said_in.setdefault(sentence, page.stem)
            assert earlier == page.stem, f"{sentence!r} is in {earlier} and {page.stem}"


@pytest.mark.parametrize("pattern", TROUBLES.values(), ids=TROUBLES.keys())
def test_the_corpus_carries_each_trouble(pattern: str, pages: tuple[Page, ...]) -> None:
    assert any(re.search(pattern, page.text) for page in pages)


def test_quotes_are_typographic_in_a_third_of_the_talks_and_straight_in_the_rest(
    pages: tuple[Page, ...],
) -> None:
    typographic = {page.stem for page in pages if re.search("[“”‘’]", page.text)}
    straight = {page.stem for page in pages if re.search("[\"']", page.text)}
    assert len(typographic) == 8
    assert len(straight) == 16
    assert not typographic & straight


@pytest.mark.parametrize("condition", ["written", "bare"])
def test_the_regex_of_the_guide_loses_to_the_default_model(
    condition: Condition, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    guide = (Path(__file__).parents[2] / "docs" / "systems.md").read_text(encoding="utf-8")
    code = re.search(r'```python title="mine.py"\n(.*?)```', guide, re.DOTALL)
    assert code
    (tmp_path / "mine.py").write_text(code[1], encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    options = Options(compare=True, conditions=(condition,))
    talks = load_corpus()
    measured = compare([DEFAULT_MODEL, "py:mine:split"], talks, conditions=(condition,))
    _, regex = results_of(list(measured), options, talks.checksum)
    assert isinstance(regex, Result)
    assert regex.versus
    assert regex.versus.verdict == "worse"
