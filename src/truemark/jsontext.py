"""JSON text that every reader accepts: full precision, never NaN or Infinity."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from numbers import Integral, Real
from pathlib import PurePath

_WRITTEN_AS_THEY_ARE = (str, int, type(None))
# JSON leaves these as they are; a terminal would obey them.
_UNSEEN = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_ON_ONE_LINE = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def to_json(value: object, *, indent: int | None = None) -> str:
    """`value` as JSON; numbers keep every digit, those that JSON lacks (NaN, infinity) are null."""
    plain = _plain(value)
    if indent is None:
        text = _ON_ONE_LINE.encode(plain)
    else:
        text = json.dumps(plain, ensure_ascii=False, allow_nan=False, indent=indent)
    text = _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    try:
        text.encode()
    except UnicodeEncodeError:
        # Half a surrogate pair has no UTF-8 form; escaped, it survives.
        return json.dumps(plain, ensure_ascii=True, allow_nan=False, indent=indent)
    return text


def _plain(value: object) -> object:
    if isinstance(value, _WRITTEN_AS_THEY_ARE):
        return value
    if type(value) is float:  # asked before the slow questions: most numbers are
        return value if math.isfinite(value) else None
    if type(value) is list:
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        number = float(value)
        return number if math.isfinite(number) else None
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, PurePath):
        return str(value)
    raise ValueError(f"value must be text, a number, a list or a mapping, got {value!r}")
