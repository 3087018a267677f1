"""Guess the language of a text quickly: by its script, else by its most frequent words.

The guess may be None, not sure: a note about the wrong language does more harm than
none. Figures are in docs/segmenters.md.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Collection
from functools import cache
from importlib.resources import files

# Scripts that in practice only one language uses, by the first word of their characters' names.
SCRIPTS = {
    "HIRAGANA": "ja", "KATAKANA": "ja", "CJK": "zh", "HANGUL": "ko", "THAI": "th", "LAO": "lo",
    "KHMER": "km", "MYANMAR": "my", "GREEK": "el", "ARMENIAN": "hy", "GEORGIAN": "ka",
    "ETHIOPIC": "am", "GUJARATI": "gu", "GURMUKHI": "pa", "ORIYA": "or", "TAMIL": "ta",
    "TELUGU": "te", "KANNADA": "kn", "MALAYALAM": "ml", "SINHALA": "si", "TIBETAN": "bo",
}  # fmt: skip
# Written in the script of another language, by whose name their text is called.
WRITTEN_AS = {"yue": "zh"}
NAMES = {
    "af": "Afrikaans", "am": "Amharic", "ar": "Arabic", "as": "Assamese", "az": "Azerbaijani",
    "be": "Belarusian", "bg": "Bulgarian", "bn": "Bengali", "bo": "Tibetan", "br": "Breton",
    "bs": "Bosnian", "ca": "Catalan", "cs": "Czech", "cy": "Welsh", "da": "Danish", "de": "German",
    "el": "Greek", "en": "English", "eo": "Esperanto", "es": "Spanish", "et": "Estonian",
    "eu": "Basque", "fa": "Persian", "fi": "Finnish", "fo": "Faroese", "fr": "French",
    "fy": "Frisian", "ga": "Irish", "gd": "Scottish Gaelic", "gl": "Galician", "gu": "Gujarati",
    "ha": "Hausa", "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "ht": "Haitian",
    "hu": "Hungarian", "hy": "Armenian", "id": "Indonesian", "ig": "Igbo", "is": "Icelandic",
    "it": "Italian", "ja": "Japanese", "jv": "Javanese", "ka": "Georgian", "kk": "Kazakh",
    "km": "Khmer", "kmr": "Kurdish", "kn": "Kannada", "ko": "Korean", "ky": "Kyrgyz", "la": "Latin",
    "lb": "Luxembourgish", "lo": "Lao", "lt": "Lithuanian", "lv": "Latvian", "mg": "Malagasy",
    "mi": "Maori", "mk": "Macedonian", "ml": "Malayalam", "mn": "Mongolian", "mr": "Marathi",
    "ms": "Malay", "mt": "Maltese", "my": "Burmese", "nb": "Norwegian", "ne": "Nepali",
    "nl": "Dutch", "nn": "Norwegian (Nynorsk)", "oc": "Occitan", "om": "Oromo", "or": "Odia",
    "pa": "Punjabi", "pl": "Polish", "ps": "Pashto", "pt": "Portuguese", "ro": "Romanian",
    "ru": "Russian", "rw": "Kinyarwanda", "sa": "Sanskrit", "sd": "Sindhi", "si": "Sinhala",
    "sk": "Slovak", "sl": "Slovenian", "so": "Somali", "sq": "Albanian", "sr": "Serbian",
    "su": "Sundanese", "sv": "Swedish", "sw": "Swahili", "ta": "Tamil", "te": "Telugu",
    "tg": "Tajik", "th": "Thai", "ti": "Tigrinya", "tk": "Turkmen", "tl": "Tagalog",
    "tr": "Turkish", "tt": "Tatar", "ug": "Uyghur", "uk": "Ukrainian", "ur": "Urdu", "uz": "Uzbek",
    "vi": "Vietnamese", "wo": "Wolof", "xh": "Xhosa", "yi": "Yiddish", "yo": "Yoruba",
    "yue": "Cantonese", "zh": "Chinese", "zu": "Zulu",
}  # fmt: skip
# Other codes of these languages: of ISO 639-2 and 639-3, and withdrawn ones of 639-1.
_OTHER_CODES = {
    other: code
    for code, others in {
        "af": "afr", "am": "amh", "ar": "ara arb arz apc ary", "as": "asm", "az": "aze azj",
        "be": "bel", "bg": "bul", "bn": "ben", "bo": "bod tib", "br": "bre", "bs": "bos",
        "ca": "cat", "cs": "ces cze", "cy": "cym wel", "da": "dan", "de": "deu ger",
        "el": "ell gre", "en": "eng", "eo": "epo", "es": "spa", "et": "est ekk", "eu": "eus baq",
        "fa": "fas per pes prs", "fi": "fin", "fo": "fao", "fr": "fra fre", "fy": "fry",
        "ga": "gle", "gd": "gla", "gl": "glg", "gu": "guj", "ha": "hau", "he": "heb iw",
        "hi": "hin", "hr": "hrv", "ht": "hat", "hu": "hun", "hy": "hye arm", "id": "ind in",
        "ig": "ibo", "is": "isl ice", "it": "ita", "ja": "jpn", "jv": "jav jw", "ka": "kat geo",
        "kk": "kaz", "km": "khm", "kmr": "ku kur", "kn": "kan", "ko": "kor", "ky": "kir",
        "la": "lat", "lb": "ltz", "lo": "lao", "lt": "lit", "lv": "lav lvs", "mg": "mlg",
        "mi": "mri mao", "mk": "mkd mac", "ml": "mal", "mn": "mon khk", "mr": "mar",
        "ms": "msa may zsm", "mt": "mlt", "my": "mya bur", "nb": "no nor nob", "ne": "nep npi",
        "nl": "nld dut", "nn": "nno", "oc": "oci", "om": "orm gaz", "or": "ori ory", "pa": "pan",
        "pl": "pol", "ps": "pus pbt", "pt": "por", "ro": "ron rum mo", "ru": "rus", "rw": "kin",
        "sa": "san", "sd": "snd", "si": "sin", "sk": "slk slo", "sl": "slv", "so": "som",
        "sq": "sqi alb", "sr": "srp", "su": "sun", "sv": "swe", "sw": "swa swh", "ta": "tam",
        "te": "tel", "tg": "tgk", "th": "tha", "ti": "tir", "tk": "tuk", "tl": "tgl fil",
        "tr": "tur", "tt": "tat", "ug": "uig", "uk": "ukr", "ur": "urd", "uz": "uzb uzn",
        "vi": "vie", "wo": "wol", "xh": "xho", "yi": "yid ji", "yo": "yor", "zh": "zho chi cmn",
        "zu": "zul",
    }.items()
    for other in others.split()
}  # fmt: skip
# Undetermined, multiple, uncoded, no linguistic content; and words that look like codes.
_NO_LANGUAGE = {"und", "mul", "mis", "zxx", "all", "any", "tba", "tbd", "xx"}
_OTHER_NAMES = {
    "azeri": "az", "bangla": "bn", "farsi": "fa", "filipino": "tl", "flemish": "nl", "gaelic": "gd",
    "kurmanji": "kmr", "mandarin": "zh", "moldovan": "ro", "nynorsk": "nn", "oriya": "or",
    "panjabi": "pa", "slovene": "sl",
}  # fmt: skip
_CODES = {name.lower(): code for code, name in NAMES.items()} | _OTHER_NAMES
_READ = 2_000  # characters to look at
_FEWEST_LETTERS = 20
_FEWEST_WORDS = 8
_SURE = 2.5  # the lead that the best language needs: nats per word times the root of the word count
# The distinct words of two letters and more that must be among the frequent ones: in letters, if
# they have this share of the letters of all such words. Code, lists of names and languages without
# a list have some short words in common with many languages, and repeat them.
_KNOWN = ((15, 0.08), (10, 0.25))
_UNKNOWN = math.log(1e-4)
# Vowel signs and other marks belong to words of Indic scripts, Arabic and Hebrew.
_MARKS = (
    "\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c7\u064b-\u065f\u0670\u0900-\u0903\u093a-\u094f"
    "\u0962\u0963\u0981-\u0983\u09bc-\u09cd\u09d7\u09e2\u09e3"
)
_WORD = re.compile(rf"[^\W\d_](?:[^\W\d_]|[{_MARKS}])*(?:'[^\W\d_]+)*")
_APOSTROPHES = str.maketrans("’‘ʻʼ", "'" * 4)
_CODE = re.compile(r"([a-z]{2,3})(?:-[a-z]{4})?(?:-(?:[a-z]{2}|\d{3}))?")
_BRACKETS = re.compile(r"\([^()]*\)|\[[^][]*\]")
_SEVERAL = re.compile(r"[,;/&+|]|\b(?:and|or)\b")


def language_outside(text: str, languages: Collection[str]) -> str | None:
    """Guess the language of a text that is in none of these languages; None when not sure.

    If only the script shows that, return its name, such as "Cyrillic script".

    >>> text = "Il pleut depuis ce matin, et nous n'avons pas de parapluie pour sortir."
    >>> language_outside(text, {"en"})
    'fr'
    """
    start = unicodedata.normalize("NFKC", text[:_READ])  # fullwidth letters are letters too
    script = main_script(start)
    if script in SCRIPTS:
        return SCRIPTS[script] if SCRIPTS[script] not in languages else None
    words = words_of(start)
    if script is None or len(words) < _FEWEST_WORDS:
        return None
    # How probable the words are in each language: the mean of their logarithms.
    likelihoods = {
        name: sum(table.get(word, _UNKNOWN) for word in words) / len(words)
        for name, table in _tables().items()
    }
    best = max(likelihoods, key=likelihoods.__getitem__)
    rival = max((likelihoods[name] for name in languages if name in likelihoods), default=-math.inf)
    lead = (likelihoods[best] - rival) * math.sqrt(len(words))
    if best not in languages and lead >= _SURE and _knows(best, words):
        return best
    known = {script_of(name) for name in languages}
    return None if {script, None} & known else f"{script.capitalize()} script"


@cache
def script_of(language: str) -> str | None:
    """Return the script of a language as its characters' names begin; None if not known."""
    for script, code in SCRIPTS.items():
        if code == WRITTEN_AS.get(language, language):
            return script
    return main_script(" ".join(_tables().get(language, ())))


def _knows(language: str, words: Collection[str]) -> bool:
    """Whether enough different words are among the frequent ones of the language."""
    different = {word for word in words if len(word) > 1}
    known = sum(len(word) for word in different if word in _tables()[language])
    total = sum(map(len, different))
    return any(known >= max(letters, share * total) for letters, share in _KNOWN)


def language_code(stated: str) -> str | None:
    """Return the code of a language that a header states by a code or an English name.

    None if it states none, several, or a name that is not known.

    >>> language_code("pt-BR"), language_code("deu"), language_code("English (US)")
    ('pt', 'de', 'en')
    >>> language_code("unknown"), language_code("en, fr")
    (None, None)
    """
    name = " ".join(stated.lower().split())
    if name in _CODES:
        return _CODES[name]
    name = _BRACKETS.sub(" ", name).strip()
    if tag := _CODE.fullmatch(name.replace("_", "-").partition(".")[0]):
        code = _OTHER_CODES.get(tag[1], tag[1])
        return None if code in _NO_LANGUAGE else code
    found = {_CODES[word] for word in re.findall(r"[^\W\d_]+", name) if word in _CODES}
    if "nn" in found:
        found.discard("nb")  # Norwegian Nynorsk
    return found.pop() if len(found) == 1 and not _SEVERAL.search(name) else None


def language_name(code: str) -> str:
    """Return the English name of a language; its code, or a script, where no name is known."""
    return NAMES.get(code, code)


def main_script(text: str) -> str | None:
    """Return the script of most letters, or kana if a tenth are; None where letters are few."""
    counts = Counter(_script(char) for char in text if char.isalpha())
    total = counts.total()
    if total < _FEWEST_LETTERS:
        return None
    if counts["HIRAGANA"] + counts["KATAKANA"] > total / 10:
        return "HIRAGANA"
    script, count = counts.most_common(1)[0]
    return script if count > total / 2 else None


@cache
def _script(char: str) -> str:
    return unicodedata.name(char, "?").split()[0].split("-")[0]


def words_of(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFC", text.lower()).translate(_APOSTROPHES))


@cache
def _tables() -> dict[str, dict[str, float]]:
    """Return for each language the logarithms of words' shares, estimated from their ranks."""
    content = files("truemark").joinpath("frequent_words.txt").read_text(encoding="utf-8")
    tables = {}
    for line in content.splitlines():
        language, *words = line.split(" ")
        tables[language] = {word: -math.log(12 * (rank + 2)) for rank, word in enumerate(words)}
    return tables
