import json
import math
from pathlib import PurePosixPath

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemark.jsontext import to_json


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param(0.1 + 0.2, "0.30000000000000004", id="every digit"),
        pytest.param(math.nan, "null", id="NaN"),
        pytest.param([math.inf, -math.inf], "[null, null]", id="infinities"),
        pytest.param({"a": {"b": (1, None, True)}}, '{"a": {"b": [1, null, true]}}', id="nested"),
        pytest.param("Brené — 你好", '"Brené — 你好"', id="any script as it is"),
        pytest.param("half \ud83d", '"half \\ud83d"', id="half a surrogate pair is escaped"),
        pytest.param(np.int64(3), "3", id="NumPy integer"),
        pytest.param(np.float64(0.5), "0.5", id="NumPy float"),
        pytest.param(np.float32(0.5), "0.5", id="NumPy single"),
        pytest.param(PurePosixPath("a/b"), '"a/b"', id="path"),
        pytest.param({1: "one"}, '{"1": "one"}', id="keys are text"),
    ],
)
def test_to_json(value: object, text: str) -> None:
    assert to_json(value) == text


def test_what_json_cannot_say_is_refused() -> None:
    with pytest.raises(ValueError, match="value must be text, a number, a list or a mapping"):
        to_json({"when": object()})


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters(codec=None)),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_what_is_written_reads_back_the_same(value: object) -> None:
    text = to_json(value)
    assert "\n" not in text
    assert json.loads(text.encode()) == value
