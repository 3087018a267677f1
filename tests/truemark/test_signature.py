import hashlib
from collections.abc import Mapping
from pathlib import Path

import pytest

from truemark.errors import TruemarkError
from truemark.files import checksum
from truemark.signature import data_hash, signature_line


def short(parts: Mapping[str, str]) -> str:
    return data_hash(signature_line(parts))


def test_a_signature_prints_its_parts() -> None:
    assert signature_line({"version": "0.1.0", "tolerance": 3}) == "version:0.1.0|tolerance:3"


def test_the_short_form_is_twelve_hex_digits_and_never_changes() -> None:
    assert short({"version": "0.1.0", "tolerance": "3"}) == "fb0e7097296d"


def test_any_changed_part_changes_the_short_form() -> None:
    shorts = {
        short(parts)
        for parts in (
            {"a": "1", "b": "2"},
            {"a": "1", "b": "3"},
            {"b": "2", "a": "1"},
            {"a": "1|b:2"},
            {"a": "1%7Cb:2"},
        )
    }
    assert len(shorts) == 5


def test_a_value_cannot_pose_as_another_part() -> None:
    assert signature_line({"model": "a|b\nc%"}) == "model:a%7Cb%0Ac%25"


@pytest.mark.parametrize("name", ["", "a:b", "a|b", "a\nb"])
def test_names_that_would_be_misread_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="must be a plain word"):
        signature_line({name: "1"})


def test_a_data_hash_knows_where_parts_end() -> None:
    assert data_hash("ab", "c") != data_hash("a", "bc") != data_hash("abc")


def test_text_and_its_utf8_bytes_hash_alike() -> None:
    assert data_hash("Brené") == data_hash("Brené".encode())


def test_half_a_surrogate_pair_can_be_hashed() -> None:
    assert data_hash("\ud83d") != data_hash("\ud83e")


def test_a_checksum_is_the_sha256_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    file.write_bytes(b"x" * 3_000_000)
    assert checksum(file) == hashlib.sha256(b"x" * 3_000_000).hexdigest()


def test_a_checksum_of_a_missing_file_names_it(tmp_path: Path) -> None:
    with pytest.raises(TruemarkError, match=r"gone\.onnx: no such file; check the path"):
        checksum(tmp_path / "gone.onnx")


def test_a_checksum_of_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TruemarkError, match="is a folder, expected a file"):
        checksum(tmp_path)
