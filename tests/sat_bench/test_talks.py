import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sat_bench.corpus.talks import ABBREVIATIONS, find_sentences
from sat_bench.defaults import TRUTH_RULES, TruthRule

PLAIN = {
    "two sentences": ("Hello world. How are you?", ["Hello world.", "How are you?"]),
    "exclamation": ("Stop! Now.", ["Stop!", "Now."]),
    "title": ("Dr. Smith met Mrs. Lee. They left.", ["Dr. Smith met Mrs. Lee.", "They left."]),
    "title in capitals": ("MR. FOX RAN. HE FELL.", ["MR. FOX RAN.", "HE FELL."]),
    "country": ("The U.S. team won. Good.", ["The U.S. team won.", "Good."]),
    "for example": ("E.g. pears, i.e. food. Yes.", ["E.g. pears, i.e. food.", "Yes."]),
    "versus": ("Us vs. them. Why?", ["Us vs. them.", "Why?"]),
    "abbreviation after a bracket": ("Pets (etc. too). Oh.", ["Pets (etc. too).", "Oh."]),
    "abbreviation closes the text": ("We sell pens, ink, etc.", ["We sell pens, ink, etc."]),
    "word that ends like an abbreviation": ("Six items. So.", ["Six items.", "So."]),
    "abbreviation asked": ("Mr? Who.", ["Mr?", "Who."]),
    "decimal": ("It rose 46.2 percent. Fine.", ["It rose 46.2 percent.", "Fine."]),
    "number that closes": ("It cost 3.50. Cheap.", ["It cost 3.50.", "Cheap."]),
    "ellipsis": ("Well... maybe. Or…not. ", ["Well...", "maybe.", "Or…not."]),
    "question and exclamation": ("What?! No!!! Yes.", ["What?!", "No!!!", "Yes."]),
    "spaced dots": ("So . . . yes.", ["So .", ".", ".", "yes."]),
    "no space after the stop": ("One.Two three.", ["One.Two three."]),
    "left-over text": ("First. then nothing", ["First.", "then nothing"]),
    "no-break space": ("One.\u00a0Two.", ["One.", "Two."]),
    "line breaks": ("One.\n\n  Two.\n", ["One.", "Two."]),
    "quote after the stop": ('He said "Go." Then ran.', ['He said "Go." Then ran.']),
    "sound note": ("Fine. (Laughter) Next.", ["Fine.", "(Laughter) Next."]),
    "initials are not in the list": ("J. Doe came.", ["J.", "Doe came."]),
    "white space only": (" \n\t", []),
    "nothing": ("", []),
}

QUOTED = {
    "straight quotes": ('He said "Go." Then ran.', ['He said "Go."', "Then ran."]),
    "typographic quotes": ("“Why?” Because.", ["“Why?”", "Because."]),
    "bracket": ("(It rained.) We left.", ["(It rained.)", "We left."]),
    "quote and bracket": ('("Stop!") No.', ['("Stop!")', "No."]),
    "abbreviation in brackets": ("Pets (cats etc.) are fine.", ["Pets (cats etc.) are fine."]),
    "opening quote after the space": ('Yes. "No."', ["Yes.", '"No."']),
    "as plain without quotes": ("Hello world. How are you?", ["Hello world.", "How are you?"]),
    "quote at the end": ('She said "Go."', ['She said "Go."']),
}


UNICODE = {
    "full-width marks need no space": ("これは。次！？はい", ["これは。", "次！？", "はい"]),
    "corner brackets": ("「行こう。」と言った。", ["「行こう。」", "と言った。"]),
    "half-width stop": ("ｱ｡ｲ｡", ["ｱ｡", "ｲ｡"]),
    "full-width decimal point": ("３．５です．次", ["３．５です．", "次"]),
    "ideographic space": ("はい。　いいえ。", ["はい。", "いいえ。"]),
    "arabic": ("ما اسمك؟ أنا بخير. نعم", ["ما اسمك؟", "أنا بخير.", "نعم"]),
    "urdu": ("وہ آیا۔ میں گیا۔", ["وہ آیا۔", "میں گیا۔"]),
    "hindi": ("यह है। वह है॥", ["यह है।", "वह है॥"]),
    "armenian": ("Այո։ Ոչ։", ["Այո։", "Ոչ։"]),
    "amharic": ("አዎ። አይ።", ["አዎ።", "አይ።"]),
    "khmer": ("បាទ។ ទេ។", ["បាទ។", "ទេ។"]),
    "no space after a narrow mark": ("यह।वह", ["यह।वह"]),
    "ellipsis character": ("Well… maybe. Or…not.", ["Well…", "maybe.", "Or…not."]),
    "abbreviations": ("Dr. Lee (etc.) met Ms. Fox. Yes.", ["Dr. Lee (etc.) met Ms. Fox.", "Yes."]),
    "abbreviation asked": ("Pens, etc.? Yes.", ["Pens, etc.?", "Yes."]),
    "quotes as in the quoted rule": ('He said "Go." Then ran.', ['He said "Go."', "Then ran."]),
    "both kinds of marks": ("Ok?！はい", ["Ok?！", "はい"]),
}


def texts_of(text: str, rule: TruthRule) -> list[str]:
    return [text[start:end] for start, end in find_sentences(text, rule)]


def test_offsets_start_inclusive_and_end_exclusive() -> None:
    assert find_sentences("Hello world. How are you?") == ((0, 12), (13, 25))


@pytest.mark.parametrize(("text", "expected"), PLAIN.values(), ids=PLAIN)
def test_plain_rule(text: str, expected: list[str]) -> None:
    assert texts_of(text, "plain") == expected


@pytest.mark.parametrize(("text", "expected"), QUOTED.values(), ids=QUOTED)
def test_quoted_rule(text: str, expected: list[str]) -> None:
    assert texts_of(text, "quoted") == expected


@pytest.mark.parametrize(("text", "expected"), UNICODE.values(), ids=UNICODE)
def test_unicode_rule(text: str, expected: list[str]) -> None:
    assert texts_of(text, "unicode") == expected


@settings(derandomize=True, deadline=None)
@given(st.lists(st.sampled_from([*".?! \n\"')x9", "etc", "U.S", "a"]), max_size=30).map("".join))
def test_on_english_without_runs_of_marks_unicode_is_the_quoted_rule(text: str) -> None:
    single = re.sub(r"[.?!]{2,}", ".", text)
    assert find_sentences(single, "unicode") == find_sentences(single, "quoted")


@pytest.mark.parametrize("abbreviation", ABBREVIATIONS)
def test_no_sentence_ends_at_an_abbreviation(abbreviation: str) -> None:
    for spelling in (abbreviation, abbreviation.upper(), abbreviation.capitalize()):
        assert len(find_sentences(f"We met {spelling}. Then we left.")) == 1


def ends_by_looking_at_each_character(text: str) -> list[int]:
    """The plain rule once more, one character at a time."""
    ends = []
    for index, character in enumerate(text):
        follows = text[index + 1 : index + 2]
        if character not in ".?!" or (follows and not follows.isspace()):
            continue
        word_start = index
        while word_start and (text[word_start - 1].isalnum() or text[word_start - 1] in "._"):
            word_start -= 1
        word = text[word_start:index].lower()
        closes = any(
            word == short or (word.endswith(short) and not is_letter(word[-len(short) - 1]))
            for short in ABBREVIATIONS
        )
        if not (character == "." and closes):
            ends.append(index + 1)
    if text.strip() and (not ends or text[ends[-1] :].strip()):
        ends.append(len(text.rstrip()))
    return ends


def is_letter(character: str) -> bool:
    return character.isalnum() or character == "_"


PIECES = st.sampled_from(
    [*".?! \n\"')x_9\u00a0\u2003é", "Mr", "mrs", "etc", "e.g", "U.S", "i.e", "word", "..."]
)


@settings(derandomize=True, deadline=None, max_examples=1000)
@given(st.lists(PIECES, max_size=30).map("".join))
def test_plain_rule_agrees_with_a_walk_over_the_characters(text: str) -> None:
    sentences = find_sentences(text)
    assert [end for _, end in sentences] == ends_by_looking_at_each_character(text)


@settings(derandomize=True, deadline=None)
@given(
    st.text(alphabet=st.sampled_from("ab.?!\"') \n。」．5।"), max_size=60),
    st.sampled_from(TRUTH_RULES),
)
def test_sentences_cover_all_but_white_space(text: str, rule: TruthRule) -> None:
    sentences = find_sentences(text, rule)
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in sentences)
    left = list(text)
    for start, end in sentences:
        left[start:end] = " " * (end - start)
    assert not "".join(left).strip()
