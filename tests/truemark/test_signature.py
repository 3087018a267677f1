import hashlib
from pathlib import Path

import pytest

from truemark.errors import TruemarkError
from truemark.signature import Signature, checksum, data_hash


def test_a_signature_prints_its_parts() -> None:
    signature = Signature((("version", "0.1.0"), ("tolerance", "3")))
    assert str(signature) == "version:0.1.0|tolerance:3"


def test_the_short_form_is_twelve_hex_digits_and_never_changes() -> None:
    assert Signature((("version", "0.1.0"), ("tolerance", "3"))).short == "fb0e7097296d"


def test_any_changed_part_changes_the_short_form() -> None:
    shorts = {
        Signature(parts).short
        for parts in [
            (("a", "1"), ("b", "2")),
            (("a", "1"), ("b", "3")),
            (("b", "2"), ("a", "1")),
            (("a", "1|b:2"),),
            (("a", "1%7Cb:2"),),
        ]
    }
    assert len(shorts) == 5


def test_a_value_cannot_pose_as_another_part() -> None:
    assert str(Signature((("model", "a|b\nc%"),))) == "model:a%7Cb%0Ac%25"


@pytest.mark.parametrize("name", ["", "a:b", "a|b", "a\nb"])
def test_names_that_would_be_misread_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="must be a plain word"):
        Signature(((name, "1"),))


def test_the_same_name_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="names must differ, got a, a"):
        Signature((("a", "1"), ("a", "2")))


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
