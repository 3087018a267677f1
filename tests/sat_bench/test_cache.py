from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from testing.measuring import CountedTalks, measured_at

from sat_bench import load_corpus
from sat_bench.cli import main
from sat_bench.corpus.loading import Corpus
from sat_bench.corpus.talks import Talk
from sat_bench.defaults import BUNDLED_CORPUS
from sat_bench.models.protocol import Probabilities
from sat_bench.models.systems import find_model
from sat_bench.running.cache import CachedSystem, decoded, encoded, open_cache
from sat_bench.running.inference import Inference, read_talks
from truemark.curve import grid
from truemark.errors import TruemarkError

KEY = bytes(range(32))
THRESHOLDS = grid(0.05, 1.0, 0.05)


@pytest.fixture
def corpus() -> Corpus:
    return load_corpus(BUNDLED_CORPUS)


@pytest.fixture
def notes() -> list[str]:
    return []


@pytest.fixture
def measured(
    tmp_path: Path, noisy_model: Path, corpus: Corpus, notes: list[str]
) -> Callable[[], CountedTalks]:
    """A measurement with the cache in the folder of the test."""

    def measure() -> CountedTalks:
        inference = Inference(cache=tmp_path / "cache", note=notes.append)
        return measured_at(find_model(str(noisy_model)), corpus, THRESHOLDS, inference=inference)

    return measure


def entries(folder: Path) -> list[Path]:
    return sorted((folder / "cache").rglob("*.probabilities"))


@settings(derandomize=True, deadline=None)
@given(
    steps=arrays.arrays(np.int32, st.integers(0, 50), elements=st.integers(0, 40)),
    data=st.data(),
)
def test_what_is_read_back_is_what_was_kept_to_the_last_bit(
    steps: np.ndarray[tuple[int], np.dtype[np.int32]], data: st.DataObject
) -> None:
    kept = Probabilities(
        np.cumsum(steps, dtype=np.int32),
        data.draw(arrays.arrays(np.float32, len(steps), elements=st.floats(0, 1, width=32))),
        seconds=data.draw(st.none() | st.floats(0, 1e6)),
    )
    found = decoded(KEY, encoded(KEY, kept), 10_000)
    assert found
    assert (found.ends.dtype, found.values.dtype) == (kept.ends.dtype, kept.values.dtype)
    assert found.ends.tolist() == kept.ends.tolist()
    assert found.seconds == kept.seconds
    assert found.values.tobytes() == kept.values.tobytes()


def test_a_file_takes_less_than_the_numbers_in_it() -> None:
    rng = np.random.default_rng(3)
    ends = np.cumsum(rng.integers(1, 9, 10_000), dtype=np.int32)
    values = rng.random(10_000, np.float32)
    assert len(encoded(KEY, Probabilities(ends, values))) < 0.7 * (ends.nbytes + values.nbytes)


def test_the_second_measurement_takes_all_from_the_cache_and_is_equal(
    measured: Callable[[], CountedTalks],
    noisy_model: Path,
    corpus: Corpus,
    notes: list[str],
) -> None:
    without = measured_at(find_model(str(noisy_model)), corpus, THRESHOLDS)
    assert measured() == without
    assert measured() == without
    assert ["0 of 24 talks" in notes[0], "24 of 24 talks" in notes[1]] == [True, True]


CHANGES = {
    "threshold": (["-threshold", "0.7"], True),
    "sweep": (["-sweep"], True),
    "tolerance": (["-tolerance", "0"], True),
    "weights": (["-wp", "2"], True),
    "truth rule": (["-truth", "quoted"], True),
    "format": (["-format", "json", "-per-talk"], True),
    "overlap": (["-overlap", "10"], False),
    "tokenizer": (["-tokenizer", "other.model"], False),
    "model": (["-model", "other.onnx"], False),
    "text": (["-corpus", "changed"], False),
}


@pytest.fixture
def files(
    model_path: Path,
    noisy_model: Path,
    line_tokenizer_path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A working folder with two models, two tokenizers and two corpora."""
    monkeypatch.chdir(tmp_path)
    Path("sat.onnx").write_bytes(noisy_model.read_bytes())
    Path("other.onnx").write_bytes(model_path.read_bytes())
    tokenizer = model_path.parent / "sentencepiece.bpe.model"
    Path("sentencepiece.bpe.model").write_bytes(tokenizer.read_bytes())
    Path("other.model").write_bytes(line_tokenizer_path.read_bytes())
    for folder, text in (("talks", "One. Two!"), ("changed", "One. Two?")):
        Path(folder).mkdir()
        Path(folder, "a.txt").write_text(f"# Source: tape\n\n{text}\n", encoding="utf-8")


RUN = ["-model", "sat.onnx", "-corpus", "talks", "-cache", "cache"]


@pytest.mark.parametrize(("flags", "hit"), CHANGES.values(), ids=CHANGES)
def test_only_what_changes_probabilities_needs_inference_again(
    files: None, flags: list[str], hit: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(RUN) == 0
    assert "sat.onnx: 0 of 1 talks taken from the cache cache" in capsys.readouterr().err
    assert main([*RUN, *flags]) == 0
    assert f"{int(hit)} of 1 talks taken from the cache" in capsys.readouterr().err


def test_a_run_from_the_cache_does_not_even_load_the_runtime(files: None) -> None:
    script = (
        "import sys; from sat_bench.cli import main\n"
        f"status = main({RUN!r})\n"
        "print({'onnxruntime', 'sentencepiece'} & set(sys.modules))\n"
        "sys.exit(status)"
    )
    assert main(RUN) == 0
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "set()"


DAMAGES: dict[str, Callable[[Path], object]] = {
    "cut off": lambda file: os.truncate(file, file.stat().st_size - 1),
    "empty": lambda file: os.truncate(file, 0),
    "longer": lambda file: file.write_bytes(file.read_bytes() + b"x"),
    "one bit": lambda file: file.write_bytes(
        file.read_bytes()[:-9] + bytes([file.read_bytes()[-9] ^ 1]) + file.read_bytes()[-8:]
    ),
    "not an archive": lambda file: file.write_bytes(b"x" + file.read_bytes()[1:]),
    "another text's": lambda file: file.write_bytes(
        next(
            other.read_bytes()
            for other in file.parents[1].rglob("*.probabilities")
            if other != file
        )
    ),
}


Arrays = dict[str, bytes]


def with_content(file: Path, change: Callable[[Arrays], Arrays]) -> None:
    """Gives the entry other arrays, in an archive whose checksums are right."""
    with ZipFile(file) as archive:
        arrays = {name: archive.read(name) for name in archive.namelist()}
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        for name, content in change(arrays).items():
            archive.writestr(name, content)


def without(arrays: Arrays, name: str) -> Arrays:
    return {other: content for other, content in arrays.items() if other != name}


def as_array(values: object) -> bytes:
    content = BytesIO()
    np.save(content, np.asarray(values))
    return content.getvalue()


def filled(array: bytes, value: bytes) -> bytes:
    """The array with each of its bytes replaced; its header stays."""
    return array[:128] + value * (len(array) - 128)


SPOILT: dict[str, Callable[[Arrays], Arrays]] = {
    "no steps": lambda arrays: without(arrays, "steps.npy"),
    "no loss": lambda arrays: without(arrays, "loss.npy"),
    "short loss": lambda arrays: arrays | {"loss.npy": as_array(np.zeros(3, np.int64))},
    "another key": lambda arrays: arrays | {"key.npy": filled(arrays["key.npy"], b"x")},
    "a key that is no array": lambda arrays: arrays | {"key.npy": arrays["key.npy"][128:]},
    "not an array": lambda arrays: arrays | {"values.npy": b"probabilities"},
    "objects": lambda arrays: arrays | {"values.npy": arrays["values.npy"].replace(b"<f4", b"|O ")},
    "half a number": lambda arrays: arrays | {"values.npy": arrays["values.npy"][:-3]},
    "fewer values": lambda arrays: arrays | {"values.npy": as_array(np.zeros(2, np.float32))},
    "a table": lambda arrays: (
        arrays
        | {"values.npy": as_array(np.zeros((2, 2), np.float32))}
        | {"steps.npy": as_array(np.zeros((2, 2), np.int32))}
    ),
    "a bomb": lambda arrays: arrays | {"more.npy": bytes(300_000_000)},
    "a large one": lambda arrays: arrays | {"values.npy": as_array(np.zeros(20_000_000))},
    "no probabilities": lambda arrays: (
        arrays | {"values.npy": filled(arrays["values.npy"], b"\xff")}
    ),
    "no header": lambda arrays: arrays | {"loss.npy": arrays["loss.npy"].replace(b"}", b"(")},
    "no indent": lambda arrays: (
        arrays | {"loss.npy": arrays["loss.npy"].replace(b"{", b" ").replace(b", ", b"\n ")}
    ),
    "steps back": lambda arrays: arrays | {"steps.npy": filled(arrays["steps.npy"], b"\xff")},
    "far beyond": lambda arrays: arrays | {"steps.npy": filled(arrays["steps.npy"], b"\x7f")},
}
DAMAGES |= {what: partial(with_content, change=change) for what, change in SPOILT.items()}


def test_an_entry_that_unpacks_to_more_than_its_text_has_takes_no_memory(
    measured: Callable[[], CountedTalks], tmp_path: Path
) -> None:
    measured()
    file = entries(tmp_path)[2]
    with_content(file, SPOILT["a large one"])
    tracemalloc.start()
    try:
        measured()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 40_000_000


def test_a_pipe_in_the_cache_costs_the_cache(
    measured: Callable[[], CountedTalks], tmp_path: Path, notes: list[str]
) -> None:
    whole = measured()
    file = entries(tmp_path)[2]
    file.unlink()
    os.mkfifo(file)
    assert measured() == whole
    assert any("nobody reads from this pipe" in note for note in notes)


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_entry_is_computed_again(
    measured: Callable[[], CountedTalks],
    damage: Callable[[Path], object],
    tmp_path: Path,
    notes: list[str],
) -> None:
    whole = measured()
    file = entries(tmp_path)[2]
    content = file.read_bytes()
    damage(file)
    assert file.read_bytes() != content
    assert measured() == whole
    assert "23 of 24 talks" in notes[-1]
    # Only the seconds are other ones.
    key = bytes.fromhex(file.stem)
    again, before = (decoded(key, one, 10**6) for one in (file.read_bytes(), content))
    assert again
    assert before
    assert again.ends.tolist() == before.ends.tolist()
    assert again.values.tobytes() == before.values.tobytes()


class Recorder:
    """Marks the end of each text, and remembers which texts it was given together."""

    def __init__(self) -> None:
        self.runs: list[list[str]] = []

    def probabilities_many(self, texts: Iterable[str]) -> Iterator[Probabilities]:
        run: list[str] = []
        self.runs.append(run)
        for text in texts:
            run.append(text)
            yield Probabilities(np.array([len(text)], np.int32), np.array([0.5], np.float32))


def cached(
    folder: Path, model: Recorder, note: Callable[[str], None] = pytest.fail
) -> CachedSystem:
    return CachedSystem(folder, "model:recorder", lambda: partial(read_talks, model), note)


def spoken(texts: Iterable[str]) -> Iterator[Talk]:
    return (Talk("a", "", "", "", text, ()) for text in texts)


def ends(model: CachedSystem, texts: Iterable[str]) -> list[int]:
    return [int(found.ends[-1]) for _, found in model.read(spoken(texts))]


def test_texts_in_the_cache_and_others_come_in_order(tmp_path: Path) -> None:
    texts = ["x" * length for length in range(1, 10)]
    ends(cached(tmp_path, Recorder()), [texts[2], texts[3], texts[7]])
    model = Recorder()
    assert ends(cached(tmp_path, model), texts) == list(range(1, 10))
    assert [[len(text) for text in run] for run in model.runs] == [[1, 2], [5, 6, 7], [9]]


def test_no_more_than_one_text_is_read_ahead(tmp_path: Path) -> None:
    texts = ["x" * length for length in range(1, 30)]
    ends(cached(tmp_path, Recorder()), texts[10:])
    read = 0

    def watched() -> Iterator[str]:
        nonlocal read
        for text in texts:
            read += 1
            yield text

    for number, _ in enumerate(cached(tmp_path, Recorder()).read(spoken(watched())), 1):
        assert read <= number + 1


def test_half_a_surrogate_pair_has_a_key_too(tmp_path: Path) -> None:
    assert ends(cached(tmp_path, Recorder()), ["a\ud800", "a?"]) == [2, 2]
    assert len(list(tmp_path.rglob("*.probabilities"))) == 2


def test_two_processes_share_a_folder(files: None) -> None:
    for number in range(20):
        text = f"# Source: tape\n\nTalk {number}. It ends.\n"
        Path("talks", f"{number}.txt").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "sat_bench", *RUN]
    runs = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    outputs = [run.communicate(timeout=60)[0] for run in runs]
    assert [run.returncode for run in runs] == [0, 0]
    assert outputs[0] == outputs[1] != ""
    kept = [file.suffix for file in Path("cache").rglob("*") if file.is_file()]
    assert sorted(set(kept)) == [".TAG", ".probabilities"]
    assert kept.count(".probabilities") == 21


@pytest.mark.parametrize("folder", ["sat.onnx", "sat.onnx/cache", "/dev/null/cache"])
def test_a_folder_that_cannot_be_written_is_an_error(
    files: None, folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*RUN, "-cache", folder]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"error: {folder}")
    assert "cannot be written" in printed.err
    assert len(printed.err.splitlines()) == 1


def test_a_disk_that_fills_up_costs_the_cache_and_not_the_numbers(tmp_path: Path) -> None:
    open_cache(tmp_path)
    for number in range(256):
        (tmp_path / f"{number:02x}").write_bytes(b"in the way")
    notes: list[str] = []
    assert ends(cached(tmp_path, Recorder(), notes.append), ["a", "bb", "ccc"]) == [1, 2, 3]
    assert len(notes) == 1
    assert notes[0].startswith("probabilities are no longer cached: ")


def test_a_model_that_fails_is_not_kept(tmp_path: Path, noisy_model: Path, corpus: Corpus) -> None:
    files = replace(find_model(str(noisy_model)), model=tmp_path / "gone.onnx")
    inference = Inference(cache=tmp_path / "cache")
    with pytest.raises(TruemarkError, match=r"gone\.onnx: no such file"):
        measured_at(files, corpus, THRESHOLDS, inference=inference)
    assert entries(tmp_path) == []
