from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sat_bench.corpus.conditions import (
    bare,
    under_condition,
    without_punctuation,
)
from sat_bench.corpus.loading import load_corpus, load_talk
from sat_bench.corpus.recognition import (
    number_words,
    ordinal_words,
    remark_on_languages,
    spoken,
    year_words,
)
from sat_bench.corpus.talks import CorpusError, Sentence, Talk, find_sentences
from sat_bench.corpus.transcripts import parse_lines
from sat_bench.defaults import (
    BUNDLED_CORPORA,
    BUNDLED_CORPUS,
    CONDITIONS,
    TRUTH_RULES,
    Condition,
    TruthRule,
)
from sat_bench.measure import evaluate
from sat_bench.models.protocol import Probabilities
from truemark.counts import Counts


def talk(text: str, rule: TruthRule = "plain", name: str = "a") -> Talk:
    return Talk(name, "test", "", "", text, find_sentences(text, rule))


def sentence_texts(one: Talk) -> list[str]:
    return [one.text[start:end] for start, end in one.sentences]


class Oracle:
    """A segmenter that knows where the sentences of every talk end."""

    def __init__(self, talks: Iterable[Talk]) -> None:
        self._ends = {one.text: one.boundaries for one in talks}

    def probabilities_many(self, texts: Iterable[str]) -> Iterator[Probabilities]:
        for text in texts:
            ends = np.array(self._ends[text], np.int32)
            yield Probabilities(ends, np.full(len(ends), 0.9, np.float32))


PIECES = st.sampled_from(
    [
        *".?!,;:-—…\"'()。」\n",
        *("Mr", "U.S", "etc", "don't", "well-known", "3.5", "10,000", "1984", "$5", "46%", "2nd"),
        *(
            "Word",
            "straße",
            "İstanbul",
            "ﬁn",
            "(Laughter)",
            "of",
            "x",
            "日本",
            "ไทย",
            "_",
            "7:30",
            "\u00a0",
        ),
    ]
)


@settings(derandomize=True, deadline=None, max_examples=300)
@given(
    st.lists(PIECES, min_size=1, max_size=40).map(" ".join),
    st.sampled_from(TRUTH_RULES),
    st.sampled_from(CONDITIONS),
)
def test_an_oracle_is_perfect_under_every_condition(
    text: str, rule: TruthRule, condition: Condition
) -> None:
    written = talk(text.strip(), rule)
    try:
        changed = under_condition(written, condition)
    except CorpusError:
        assert not any(map(bare, map(spoken, sentence_texts(written))))
        return
    counts = evaluate(Oracle([changed]), [changed], 0.5, 0).counts
    assert counts == Counts(len(changed.sentences), 0, 0)


@pytest.mark.parametrize("condition", CONDITIONS)
def test_an_oracle_is_perfect_on_the_bundled_talks(condition: Condition) -> None:
    talks = [under_condition(spoken, condition) for spoken in load_corpus(BUNDLED_CORPUS)]
    counts = evaluate(Oracle(talks), talks, 0.5, 0).counts
    assert counts.fp == counts.fn == 0
    assert counts.tp > 640


def test_as_written_nothing_changes() -> None:
    for one in load_corpus(BUNDLED_CORPUS):
        assert under_condition(one, "written") == one


LOOM = "“We met Mr. Fox -- at noon.”\n\nWhy? He's well-known, isn't he… (Laughter) In the U.S."
SHOWN = {
    "lower": LOOM.lower(),
    "upper": LOOM.upper(),
    "no-punctuation": "We met Mr Fox at noon\nWhy He's well-known isn't he Laughter In the US",
    "one-line": LOOM.replace("\n\n", " "),
    "bare": "we met mr fox at noon why he's well-known isn't he laughter in the us",
}


@pytest.mark.parametrize(("condition", "text"), SHOWN.items(), ids=SHOWN)
def test_a_talk_reads_as_the_condition_says(condition: Condition, text: str) -> None:
    assert under_condition(talk(LOOM), condition).text == text


def test_sentences_stay_sentences() -> None:
    one = under_condition(talk("One, two. “Three!” Four? ... Five.", "quoted"), "bare")
    assert sentence_texts(one) == ["one two", "three", "four", "five"]
    assert one.text == "one two three four five"


UNSPACED = {
    "Chinese": (["我们走吧。", "他看VAR。", "比分3比2，", "再见！"], "我们走吧他看var比分3比2再见"),
    "Japanese": (["さあ、行こう。", "はい！　でも、", "雨だ。"], "さあ行こうはいでも雨だ"),
    "Thai": (["เราไปกัน", "เขาไม่มา แต่", "ฝนตก"], "เราไปกัน เขาไม่มา แต่ ฝนตก"),
    "Lao": (["ພວກເຮົາໄປ", "ຝົນຕົກ"], "ພວກເຮົາໄປ ຝົນຕົກ"),
    "Khmer": (["យើងទៅ។", "ភ្លៀង។"], "យើងទៅ ភ្លៀង"),
    "Burmese": (["သွားမယ်။", "မိုးရွာတယ်။"], "သွားမယ် မိုးရွာတယ်"),
    "Korean": (["우리는 가요.", "비가 와요."], "우리는 가요 비가 와요"),
    "English": (["We love 東京.", "It rains."], "we love 東京 it rains"),
}


@pytest.mark.parametrize(("lines", "text"), UNSPACED.values(), ids=UNSPACED)
def test_without_marks_no_space_gives_away_an_end(lines: list[str], text: str) -> None:
    joined, sentences = parse_lines("\n".join(lines))
    one = under_condition(Talk("a", "", "", "", joined, sentences), "bare")
    assert one.text == text
    assert sentence_texts(one) == [bare(line) for line in lines]


@pytest.mark.parametrize("condition", ["no-punctuation", "bare", "asr"])
@pytest.mark.parametrize("name", ["07_japanese", "08_chinese"])
def test_a_cut_at_spaces_finds_no_end_in_japanese_and_chinese(
    name: str, condition: Condition
) -> None:
    one = under_condition(load_talk(BUNDLED_CORPORA["languages"] / f"{name}.txt"), condition)
    assert " " not in one.text
    assert len(one.sentences) == 38


@pytest.mark.parametrize("condition", CONDITIONS)
def test_an_oracle_is_perfect_in_every_language(condition: Condition) -> None:
    talks = [under_condition(one, condition) for one in load_corpus(BUNDLED_CORPORA["languages"])]
    counts = evaluate(Oracle(talks), talks, 0.5, 0).counts
    assert counts == Counts(sum(len(one.sentences) for one in talks), 0, 0)


def test_paragraphs_stay_apart_without_punctuation() -> None:
    one = Talk("a", "", "", "", *parse_lines("走吧。\n\n他来了。"))
    assert under_condition(one, "no-punctuation").text == "走吧\n\n他来了"
    wrapped = talk("走吧! \n他来了!", "plain")
    assert under_condition(wrapped, "no-punctuation").text == "走吧\n他来了"


def test_unmarked_text_at_the_end_is_changed_too_and_is_no_sentence() -> None:
    gold = Talk("a", "", "", "", "One. Two. The rest.", (Sentence(0, 4), Sentence(5, 9)))
    one = under_condition(gold, "bare")
    assert (one.text, one.boundaries) == ("one two the rest", [3, 7])


def test_a_talk_of_which_nothing_is_left_is_named() -> None:
    with pytest.raises(CorpusError, match="a: nothing is left of this talk under bare"):
        under_condition(talk("... !!!"), "bare")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("10,000 at 7:30, or 3.5!", "10,000 at 7:30 or 3.5"),
        ("i.e. this—that/those", "ie this that those"),
        ("'tis the boys' o'clock", "tis the boys o'clock"),
        ("46% of R&D @home #1", "46% of R&D @home #1"),
        ("« Oui. »", "Oui"),
        ("日本。", "日本"),
        ("我说：“好，走吧”……他笑了。", "我说好走吧他笑了"),
        ("「はい」と、言った。", "はいと言った"),
        ("네, 알겠어요.", "네 알겠어요"),
    ],
)
def test_punctuation_goes_and_words_stay(text: str, left: str) -> None:
    assert without_punctuation(text) == left


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("In 1984 and 2005", "In nineteen eighty four and two thousand five"),
        ("$1,250.50", "one thousand two hundred and fifty point five zero dollars"),
        ("up 46.2%", "up forty six point two percent"),
        ("the 21st, at 10:30", "the twenty first, at ten thirty"),
        ("1000000 of A4", "one million of A4"),
        ("Fine. (Laughter) Go", "Fine.   Go"),
        ("(which I liked)", "(which I liked)"),
    ],
)
def test_numbers_are_said_in_words(said: str, words: str) -> None:
    assert spoken(said) == words


def test_number_words_read_back() -> None:
    values = {number_words(number): number for number in range(3_000)}
    assert len(values) == 3_000
    assert number_words(10**15 - 1).startswith("nine hundred and ninety nine trillion nine")
    assert [ordinal_words(n) for n in (1, 12, 20, 103)] == [
        *("first", "twelfth", "twentieth", "one hundred and third")
    ]
    assert [year_words(n) for n in (1906, 1900, 2009, 2026, 999)] == [
        *("nineteen oh six", "nineteen hundred", None, "twenty twenty six", None)
    ]


def test_recognition_hears_the_same_talk_alike_and_others_otherwise() -> None:
    [first, *_] = load_corpus(BUNDLED_CORPUS)
    heard = under_condition(first, "asr")
    assert heard == under_condition(first, "asr")
    assert heard.text != under_condition(replace(first, id="other"), "asr").text


def test_recognition_adds_fillers_repetitions_and_wrong_words_at_its_rates() -> None:
    words = wrong = repeated = fillers = 0
    for one in load_corpus(BUNDLED_CORPUS):
        said = bare(spoken(one.text)).split()
        heard = under_condition(one, "asr").text.split()
        words += len(said)
        fillers += sum(heard.count(filler) - said.count(filler) for filler in ("uh", "um"))
        repeated += sum(a == b for a, b in pairwise(heard))
        changes = SequenceMatcher(None, said, heard, autojunk=False).get_opcodes()
        wrong += sum(end - start for kind, start, end, _, _ in changes if kind == "replace")
    assert 0.005 < fillers / words < 0.02
    assert 0.01 < repeated / words < 0.03
    assert 0.02 < wrong / words < 0.06


GERMAN = "Wir haben 12 Leute und 3 Hunde im Haus, und wir gehen an der See mit ihnen. " * 40


@pytest.mark.parametrize(
    "spoken_talk",
    [talk(GERMAN), replace(talk("We had 12 dogs, and we met at the sea. " * 40), language="de")],
    ids=["guessed", "stated"],
)
def test_recognition_puts_no_english_into_other_languages(spoken_talk: Talk) -> None:
    said, heard = bare(spoken_talk.text).split(), under_condition(spoken_talk, "asr").text.split()
    assert set(heard) == set(said)
    assert len(heard) > len(said)
    assert heard != said


def test_recognition_writes_numbers_of_english_talks_in_words() -> None:
    one = replace(talk("We had 12 dogs."), language="en-GB")
    assert "twelve" in under_condition(one, "asr").text


def test_recognition_says_how_many_talks_are_not_in_english() -> None:
    talks = list(load_corpus(BUNDLED_CORPORA["languages"]))
    assert remark_on_languages([*talks, talk("We had 12 dogs.")]) == (
        "asr: 8 of 9 talks are not in English, so without the English fillers and number words"
    )
    assert remark_on_languages(talks[:1]) == (
        "asr: the talk is not in English, so without the English fillers and number words"
    )
    assert remark_on_languages(load_corpus()) is None
