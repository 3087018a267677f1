"""Texts in a language that a model does not read are named, once."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace

import pytest

from sat_bench import Segmenter, load_corpus
from sat_bench.cli import main
from sat_bench.defaults import BUNDLED_CORPORA
from sat_bench.models.cards import ForeignTextWarning, foreign_talks, foreign_text
from sat_bench.models.systems import languages_of

FRENCH = (
    "On est arrivés trop tard à la gare. Il n'y avait plus personne pour nous aider, et le "
    "dernier train était parti depuis une heure."
)
ENGLISH = "We drove out to the lake on Sunday, and the dog would not get out of the car again."
LANGUAGES = BUNDLED_CORPORA["languages"]


def test_a_foreign_text_is_named_with_the_model_to_try() -> None:
    assert (
        foreign_text("base", {"en"}, FRENCH) == "French text; base reads English: try -model world"
    )
    assert foreign_text("base", {"en"}, ENGLISH) is None
    assert foreign_text("mine", frozenset(), FRENCH) is None


def test_talks_are_counted_by_language() -> None:
    talks = list(load_corpus(LANGUAGES))
    assert foreign_talks("base", {"en"}, talks) == (
        "8 of 8 talks are in Spanish, German, French and 5 more languages; "
        "base reads English: try -model world"
    )
    assert foreign_talks("world", languages_of("world"), talks) is None


@pytest.mark.parametrize("stated", ["fr", "fr-CA", "French", "FR", "fra", "French (Canada)"])
def test_the_language_of_the_header_is_heeded(stated: str) -> None:
    talk = replace(next(iter(load_corpus())), language=stated)
    line = foreign_talks("base", {"en"}, [talk])
    assert line == "the talk is in French; base reads English: try -model world"


@pytest.mark.parametrize("stated", ["no", "deu", "fil", "iw", "Malay", "und", "en, fr"])
def test_a_header_gives_no_false_note(stated: str) -> None:
    talk = replace(next(iter(load_corpus())), language=stated)
    assert foreign_talks("world", languages_of("world"), [talk]) is None


def test_no_bundled_talk_is_taken_for_a_foreign_one() -> None:
    assert foreign_talks("base", languages_of("base"), load_corpus()) is None


def test_a_segmenter_warns_once() -> None:
    with Segmenter("nano") as segmenter:
        with pytest.warns(ForeignTextWarning, match="French text; nano reads English"):
            segmenter.segment(FRENCH)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            segmenter.segment(FRENCH)
            segmenter.segment(ENGLISH)


@pytest.mark.parametrize(
    "ask",
    [
        pytest.param(lambda segmenter: segmenter.segment_many([ENGLISH, FRENCH]), id="many"),
        pytest.param(lambda segmenter: segmenter.boundaries(FRENCH), id="boundaries"),
        pytest.param(lambda segmenter: segmenter.scored_boundaries(FRENCH), id="scored"),
        pytest.param(lambda segmenter: segmenter.probabilities(FRENCH), id="probabilities"),
        pytest.param(
            lambda segmenter: list(segmenter.probabilities_many([FRENCH, ENGLISH])),
            id="probabilities of many",
        ),
        pytest.param(lambda segmenter: segmenter.is_complete(FRENCH), id="complete"),
        pytest.param(lambda segmenter: segmenter.segment(FRENCH * 20), id="of several windows"),
    ],
)
def test_every_method_warns_once_at_the_line_that_calls_it(
    ask: Callable[[Segmenter], object],
) -> None:
    with Segmenter("nano") as segmenter, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ask(segmenter)
        ask(segmenter)
    assert [(warning.category, warning.filename) for warning in caught] == [
        (ForeignTextWarning, __file__)
    ]


def test_short_first_texts_do_not_use_up_the_looks() -> None:
    with Segmenter("nano") as segmenter:
        for text in ("Yes.", "No.", "", "Okay, fine.", "Hm.", "Why not?", "I see."):
            segmenter.segment(text)
        with pytest.warns(ForeignTextWarning, match="French text"):
            segmenter.segment(FRENCH)


def test_texts_are_looked_at_until_thousands_of_characters_were_seen() -> None:
    with Segmenter("nano") as segmenter, warnings.catch_warnings():
        warnings.simplefilter("error")
        segmenter.segment_many([ENGLISH] * 100)
        segmenter.segment(FRENCH)


def test_the_command_says_it_in_one_note(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-model", "nano", "-corpus", "languages"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("Loaded 8 talks from the bundled talks in eight languages\n")
    assert said.err.count("nano reads English: try -model world") == 1


def test_a_note_says_that_asr_is_english(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-model", "nano", "-corpus", "languages", "-conditions", "asr"]) == 0
    assert capsys.readouterr().err.count("asr: 8 of 8 talks are not in English") == 1


def test_world_reads_eight_languages_that_base_does_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["-models", "nano,world", "-corpus", "languages", "-format", "csv"]) == 0
    rows = capsys.readouterr().out.splitlines()
    world = next(row for row in rows if row.startswith("world,"))
    assert any(0.95 <= float(cell) <= 1 for cell in world.split(",")[2:4])
