"""Guesses at the language of a text."""

from __future__ import annotations

import pytest

from truemark.languages import (
    NAMES,
    language_code,
    language_name,
    language_outside,
    main_script,
)

ENGLISH = (
    "We drove out to the lake on Sunday, and the dog would not get out of the car. "
    "My sister said he could smell the thunder coming. She was right about that, as it turned out."
)
TEXTS = {
    "fr": "On est arrivés trop tard à la gare, et il n'y avait plus personne pour nous aider.",
    "de": "Der Zug kam nicht, und wir haben eine Stunde gewartet, bis es ganz dunkel war.",
    "es": "No me acuerdo de dónde dejé las llaves, pero creo que están en la mesa de la cocina.",
    "it": "Non so perché mio fratello abbia detto che la macchina era già venduta.",
    "ru": "Мы не знали, что делать, и он сказал, что надо ждать до утра, потому что так лучше.",
    "pl": "Nie wiem, czy to jest dobry pomysł, ale nie ma już czasu, żeby się nad tym zastanawiać.",
    "tr": "Bu akşam eve geç geldim çünkü yolda çok trafik vardı ve bir türlü ilerlemedi.",
    "ja": "昨日は雨がひどくて、傘を持っていなかったので、駅でしばらく待っていました。",
    "zh": "我们昨天在河边走了很久，后来天黑了，只好坐车回家，路上还遇见了一个老同学。",
    "ko": "어제는 비가 너무 많이 와서 집에 늦게 들어갔고, 저녁도 먹지 못하고 잠이 들었습니다.",
    "el": "Δεν ξέρω πού άφησα τα κλειδιά μου, αλλά νομίζω ότι είναι πάνω στο τραπέζι της κουζίνας.",
    "th": "เมื่อวานฝนตกหนักมากจนเราต้องรออยู่ที่สถานีเกือบสองชั่วโมงกว่าจะได้กลับบ้าน แล้วก็ลืมร่มไว้บนรถ",
}


@pytest.mark.parametrize("language", TEXTS)
def test_a_text_in_another_language_is_named(language: str) -> None:
    assert language_outside(TEXTS[language], {"en"}) == language


@pytest.mark.parametrize("language", TEXTS)
def test_a_text_without_case_and_marks_is_named_too(language: str) -> None:
    bare = "".join(c for c in TEXTS[language].lower() if c not in ".,。、")
    assert language_outside(bare, {"en"}) == language


@pytest.mark.parametrize("text", [ENGLISH, ENGLISH.lower(), ENGLISH.upper()])
def test_english_is_not_outside_english(text: str) -> None:
    assert language_outside(text, {"en"}) is None


@pytest.mark.parametrize(
    "text",
    ["", "Hello there.", "12:30 14.5 %&/", "Okay. Okay. Okay.", "Bonjour !", "x" * 500],
    ids=["empty", "short", "numbers", "few words", "one word", "no word"],
)
def test_too_little_text_is_not_sure(text: str) -> None:
    assert language_outside(text, {"en"}) is None


def test_a_language_that_the_model_reads_is_no_surprise() -> None:
    assert language_outside(TEXTS["fr"], {"en", "fr"}) is None


def test_english_with_foreign_names_stays_english() -> None:
    text = (
        "Then Herr Vogelsang and Madame Lefebvre went to see Señor Ibáñez about the Straßenbahn, "
        "and none of them could agree on who should pay for the tickets to Kraków."
    )
    assert language_outside(text, {"en"}) is None


def test_japanese_is_known_by_its_kana_among_chinese_characters() -> None:
    assert main_script(TEXTS["ja"]) == "HIRAGANA"


def test_names_are_english_and_codes_stay_where_there_is_none() -> None:
    assert language_name("fr") == "French"
    assert language_name("tlh") == "tlh"
    assert set(TEXTS) <= set(NAMES)


@pytest.mark.parametrize(
    ("stated", "code"),
    [
        *(("en", "en"), ("eng", "en"), ("English (US)", "en"), ("British English", "en")),
        *(("English [auto-generated]", "en"), ("en_US.UTF-8", "en"), ("FR", "fr"), ("fr-CA", "fr")),
        *(("no", "nb"), ("Norwegian Bokmål", "nb"), ("Norwegian Nynorsk", "nn"), ("deu", "de")),
        *(("ger", "de"), ("fil", "tl"), ("cmn", "zh"), ("zh-Hant-TW", "zh"), ("iw", "he")),
        *(("Mandarin Chinese", "zh"), ("Brazilian Portuguese", "pt"), ("Farsi", "fa")),
        *(("Azerbaijani", "az"), ("Scottish Gaelic", "gd"), ("Latin", "la"), ("Malay", "ms")),
        *(("Uzbek", "uz"), ("Zulu", "zu"), ("tlh", "tlh")),
    ],
)
def test_codes_regions_and_names_state_a_language(stated: str, code: str) -> None:
    assert language_code(stated) == code


@pytest.mark.parametrize(
    "stated",
    ["", "und", "unknown", "?", "mul", "tbd", "en, fr", "en/fr", "English and French", "Wookiee"],
)
def test_a_header_may_state_no_language_or_several(stated: str) -> None:
    assert language_code(stated) is None


def test_every_code_of_a_language_has_a_name() -> None:
    assert all(language_code(name) == code for code, name in NAMES.items())
    assert all(language_code(code) == code for code in NAMES)
