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
NAMES = {
    "af": "Afrikaans", "am": "Amharic", "ar": "Arabic", "as": "Assamese", "be": "Belarusian",
    "bg": "Bulgarian", "bn": "Bengali", "bo": "Tibetan", "br": "Breton", "ca": "Catalan",
    "cs": "Czech", "cy": "Welsh", "da": "Danish", "de": "German", "el": "Greek", "en": "English",
    "eo": "Esperanto", "es": "Spanish", "et": "Estonian", "eu": "Basque", "fa": "Persian",
    "fi": "Finnish", "fr": "French", "fy": "Frisian", "ga": "Irish", "gl": "Galician",
    "gu": "Gujarati", "ha": "Hausa", "he": "Hebrew", "hi": "Hindi", "hr": "Croatian",
    "hu": "Hungarian", "hy": "Armenian", "id": "Indonesian", "is": "Icelandic", "it": "Italian",
    "ja": "Japanese", "ka": "Georgian", "kk": "Kazakh", "km": "Khmer", "kmr": "Kurdish",
    "kn": "Kannada", "ko": "Korean", "ky": "Kyrgyz", "lo": "Lao", "lt": "Lithuanian",
    "lv": "Latvian", "mk": "Macedonian", "ml": "Malayalam", "mn": "Mongolian", "mr": "Marathi",
    "my": "Burmese", "nb": "Norwegian", "ne": "Nepali", "nl": "Dutch", "nn": "Norwegian (Nynorsk)",
    "om": "Oromo", "or": "Odia", "pa": "Punjabi", "pl": "Polish", "ps": "Pashto",
    "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "si": "Sinhala", "sk": "Slovak",
    "sl": "Slovenian", "so": "Somali", "sq": "Albanian", "sr": "Serbian", "sv": "Swedish",
    "sw": "Swahili", "ta": "Tamil", "te": "Telugu", "th": "Thai", "tl": "Tagalog", "tr": "Turkish",
    "ug": "Uyghur", "uk": "Ukrainian", "ur": "Urdu", "vi": "Vietnamese", "xh": "Xhosa",
    "yi": "Yiddish", "yue": "Cantonese", "zh": "Chinese",
}  # fmt: skip
_CODES = {name.lower(): code for code, name in NAMES.items()}
_READ = 2_000  # characters to look at
_FEWEST_LETTERS = 20
_FEWEST_WORDS = 8
_SURE = 2.5  # the lead that the best language needs: nats per word times the root of the word count
_LEAST_KNOWN = 0.12  # share of words that must be among the frequent ones
_UNKNOWN = math.log(1e-4)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def language_outside(text: str, languages: Collection[str]) -> str | None:
    """Guess the language of a text that is in none of these languages; None when not sure.

    >>> text = "Il pleut depuis ce matin, et nous n'avons pas de parapluie pour sortir."
    >>> language_outside(text, {"en"})
    'fr'
    """
    start = text[:_READ]
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
    known = sum(word in _tables()[best] for word in words) / len(words)
    rival = max((likelihoods[name] for name in languages if name in likelihoods), default=-math.inf)
    lead = (likelihoods[best] - rival) * math.sqrt(len(words))
    return best if best not in languages and known >= _LEAST_KNOWN and lead >= _SURE else None


def language_code(stated: str) -> str | None:
    """Return the code of a language that a header states as fr, pt-BR or French; None if empty.

    >>> language_code("pt-BR"), language_code("French")
    ('pt', 'fr')
    """
    name = stated.strip().lower().replace("_", "-")
    return _CODES.get(name, name.split("-")[0]) or None


def language_name(code: str) -> str:
    """Return the English name of a language; its code where the name is not known."""
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
    return _WORD.findall(text.lower())


@cache
def _tables() -> dict[str, dict[str, float]]:
    """Return for each language the logarithms of words' shares, estimated from their ranks."""
    content = files("truemark").joinpath("frequent_words.txt").read_text(encoding="utf-8")
    tables = {}
    for line in content.splitlines():
        language, *words = line.split(" ")
        tables[language] = {word: -math.log(12 * (rank + 2)) for rank, word in enumerate(words)}
    return tables
