"""Guesses at the language of a text."""

from __future__ import annotations

import unicodedata

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
# What people say to each other, unlike manuals.
EVERYDAY = {
    "ru": "Слушай, я вчера тебе звонил, а ты трубку не взял. Ну и где ты был весь вечер, дома?",
    "uk": "Та я ж тобі казала, що ми поїдемо до бабусі в суботу. Чи ти вже забув, як завжди?",
    "sk": "Včera som bol u babky a ona mi povedala, že už nechce, aby sme sa kvôli tomu hádali.",
    "bn": "আমি কাল তোমাকে বলেছিলাম যে আমি আর যাব না, কিন্তু তুমি আমার কথা শুনলে না, তাই না?",
    "as": "মই কালি তেওঁক কৈছিলোঁ যে এই কামটো মই কৰিব নোৱাৰোঁ, কিন্তু সি মোৰ কথা নুশুনিলে।",
    "lt": "Vakar buvau pas mamą, ir ji man pasakė, kad tu jau nebenori važiuoti kartu su mumis.",
    "uz": "Kecha men u bilan gaplashdim, lekin u menga hech narsa demadi keyin uyga ketib qoldi.",
    "so": "Shalay waxaan la hadlay hooyaday, waxayna ii sheegtay in ay tahay maalin aad u fiican.",
    "az": "Dünən mən anamla danışdım və o dedi ki, bu axşam evə gec gələcək, çünki çox işi var.",
}
# Each has short words in common with several languages.
NOT_SURE = {
    "Luxembourgish": "Gëschter hunn ech mäi Brudder um Maart getraff, an hien huet mir gesot, datt "
    "hie sech en neien Auto kaaft huet. Mir hunn e Kaffi gedronk a laang geschwat.",
    "Arabic in Latin letters": "ya akhi wallah ana ma3reftesh eh elli 7asal embare7, enta ro7t el "
    "beit wala lessa fel sho8l? kallemni lama terga3 3ashan 3ayez a2ollak 7aga",
    "pinyin": "Wǒ de péngyou shì lǎoshī, tā zài Běijīng de yí ge xuéxiào jiāo Yīngwén. Tā hěn "
    "xǐhuan xuésheng, xuésheng yě hěn xǐhuan tā, women mingtian qu chi fan.",
    "Yoruba": "Mo lọ sí ọjà ní àná láti ra ẹ̀fọ́ àti ẹja. Ìyá mi sọ pé òun fẹ́ se ọbẹ̀ fún wa ní alẹ́.",
    "SQL": "CREATE TABLE a (id INT PRIMARY KEY, ime VARCHAR(20), b_id INT REFERENCES b(id)); "
    "INSERT INTO a (id, ime, b_id) VALUES (1, 'x', 2); SELECT u.id FROM u JOIN o ON o.u_id = u.id;",
    "HTML": "<body><h1>y</h1><p><a href='z'>v</a> <a href='k'>s</a></p><ol><li>a</li><li>o</li>"
    "<li>z</li></ol><a href='#'>do</a></body>",
    "chess": "1. e4 c5 2. Nf3 d6 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3 a6 6. Be3 e5 7. Nb3 Be6 8. f3 Be7 "
    "9. Qd2 O-O 10. O-O-O Nbd7 11. g4 b5 12. g5 b4 13. Ne2 Ne8 14. f4 a5 15. f5 a4",
    "song": "la la la na na hey hey la la la na na na hey hey hey goodbye la la la la na na na",
    "names": "José García, María Fernández, Juan de la Cruz, Antonio López, Carmen de los Santos, "
    "Jan van der Berg, Pieter de Vries, Willem van den Heuvel, Nguyen Van An, Tran Thi Binh",
    "cities": "Buenos Aires, São Paulo, Rio de Janeiro, Los Angeles, San Francisco, Las Vegas, La "
    "Paz, El Paso, San Diego, Porto Alegre, Belo Horizonte, Santa Cruz de la Sierra",
    "units": "5 kg, 3 m, 20 km, 10 cm, 2 l, 50 ml, 7 g, 4 t, 12 h, 30 min, 15 s, 220 V, 3 A, 60 W, "
    "50 Hz, 8 bar, 2 ha, 4 m, 9 kg, 1 l, 3 dl",
}


@pytest.mark.parametrize("language", EVERYDAY)
def test_everyday_speech_is_not_taken_for_a_sister_language(language: str) -> None:
    assert language_outside(EVERYDAY[language], {"en"}) == language


# Dense news, with few of the frequent words.
DENSE = {
    "Cyrillic script": "Нарач, возера ў Мядзельскім раёне, найбольшае прыроднае возера краіны. "
    "Плошча 79,6 км², даўжыня 12,8 км, глыбіня 24,8 м, вадазбор 199 км².",
    "Hebrew script": "תושבי העיר חיפה קיבלו אתמול הודעות מעיריית חיפה בדבר תיקוני צנרת דחופים. "
    "מהנדסי תאגיד מים הזמינו קבלני תשתיות, משאבות, גנרטורים, צינורות פלדה.",
}


@pytest.mark.parametrize("script", DENSE)
def test_where_the_language_is_not_sure_the_script_says_that_a_text_is_not_english(
    script: str,
) -> None:
    assert language_outside(DENSE[script], {"en"}) == script
    assert language_name(script) == script
    assert language_outside(DENSE[script], {"en", "ru", "he"}) is None  # they are written so
    assert language_outside(DENSE[script], {"en", "xx"}) is None  # how is that written?


@pytest.mark.parametrize("what", NOT_SURE)
def test_short_words_that_many_languages_have_name_none(what: str) -> None:
    assert language_outside(NOT_SURE[what], {"en"}) is None
    assert language_outside(f"{NOT_SURE[what]} " * 5, {"en"}) is None


def test_the_spelling_of_accents_and_apostrophes_does_not_matter() -> None:
    text = "L’été, j’ai l’habitude d’aller où l’on m’invite, et c’était déjà à côté de chez moi."
    assert language_outside(text, {"en"}) == "fr"
    assert language_outside(unicodedata.normalize("NFD", text), {"en"}) == "fr"


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
        *(("US-English", "en"), ("UK-English", "en"), ("pt-BR", "pt"), ("es-419", "es")),
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
