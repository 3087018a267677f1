"""Facts about languages for drawing text: spaces, connecting words, quotation marks."""

from __future__ import annotations

# Written without spaces between sentences; Thai, Lao, Khmer and Burmese have spaces there.
UNSPACED = frozenset({"ja", "yue", "zh"})
# Languages in which a number with a full stop is an ordinal, not the end of a sentence.
ORDINALS = frozenset(
    ("cs", "da", "de", "et", "eu", "fi", "hr", "hu", "is", "lv", "nb", "nn", "sk", "sl", "sr", "tr")
)
CURLY = ("“", "”")
QUOTES = (('"', '"'), CURLY, ("„", "“"), ("«", "»"), ("‘", "’"))
UNSPACED_QUOTES = {"ja": ("「", "」")}
FINAL_MARKS = ".!?。！？।॥…؟։።۔။។៕"
CLOSING = "\"'”’»)］」』"
# How two sentences become one: the word for "and".
AND = {
    "af": "en", "ar": "و", "as": "আৰু", "be": "і", "bg": "и", "bn": "এবং", "br": "ha", "ca": "i",
    "cs": "a", "cy": "a", "da": "og", "de": "und", "el": "και", "en": "and", "eo": "kaj",
    "es": "y", "et": "ja", "eu": "eta", "fa": "و", "fi": "ja", "fr": "et", "fy": "en",
    "ga": "agus", "gl": "e", "gu": "અને", "ha": "da", "he": "ו", "hi": "और", "hr": "i",
    "hu": "és", "hy": "և", "id": "dan", "is": "og", "it": "e", "ka": "და", "kk": "және",
    "km": "និង", "kmr": "û", "ko": "그리고", "ky": "жана", "lo": "ແລະ", "lt": "ir", "lv": "un",
    "mk": "и", "ml": "പിന്നെ", "mn": "ба", "mr": "आणि", "my": "နှင့်", "nb": "og", "ne": "र",
    "nl": "en", "nn": "og", "or": "ଏବଂ", "pa": "ਅਤੇ", "pl": "i", "ps": "او", "pt": "e",
    "ro": "și", "ru": "и", "sk": "a", "sl": "in", "sq": "dhe", "sr": "и", "sv": "och",
    "sw": "na", "ta": "மற்றும்", "te": "మరియు", "th": "และ", "tl": "at", "tr": "ve", "ug": "ۋە",
    "uk": "і", "ur": "اور", "vi": "và", "xh": "kunye", "yi": "און",
}  # fmt: skip
_SPELLINGS = {"cmn": "zh", "no": "nb", "C": "en"}


def plain_code(name: str) -> str:
    """Turn `zh-CN`, `pt_BR` or `sr@latin` into the bare code of the language."""
    if name.startswith(("zh-HK", "zh_HK")):
        return "yue"
    code = name.replace("_", "-").replace("@", "-").split("-")[0]
    return _SPELLINGS.get(code, code)
