"""Systems by name: libraries, callables and predictions on file."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import NoReturn

import numpy as np
import pytest
from testing.measuring import counted, measured_at

from sat_bench import compare, evaluate, find_system, load_corpus
from sat_bench.corpus.loading import Corpus
from sat_bench.corpus.talks import Talk, find_sentences
from sat_bench.defaults import BUNDLED_CORPUS, Condition
from sat_bench.measure import measure_system
from sat_bench.models import libraries
from sat_bench.models.answers import TextSystem, printed_answer, read_answer
from sat_bench.models.libraries import LIBRARIES
from sat_bench.models.protocol import ModelError
from sat_bench.models.stored import StoredPredictions
from sat_bench.models.systems import ModelFiles, is_model_name
from sat_bench.record import Failed, Measured
from truemark.counts import Counts
from truemark.curve import grid
from truemark.errors import TruemarkError

DOWNLOADING = ("stanza", "wtpsplit", "wtpsplit-lite")  # their models are elsewhere
THRESHOLDS = grid(0.1, 1.0, 0.1)
CALLABLES = """
import re
import sys
import time

def sentences(text):
    return re.split(r"(?<=[.?!])\\s+", text)

def graded(text):
    return [(match.end(), 0.6 if match[0] == "." else 0.9) for match in re.finditer(r"[.?!]", text)]

def slow(text):
    time.sleep(len(text) / 100)
    return [text]

def shouts(text):
    return [text.upper()]

def raises(text):
    raise ValueError("out of luck")

def wrong(text):
    return 42

def leaves(text):
    raise SystemExit(0)

def collapses(text):
    raise BaseException("worse luck")

def closes(text):
    raise GeneratorExit

def interrupts(text):
    raise KeyboardInterrupt

def stumbles(text):
    yield "One."
    raise ValueError("out of luck")

def endless(text):
    while True:
        yield "One."

def one_text(text):
    return text

def array(text):
    import numpy
    return numpy.array(1)

class Broken(list):
    def __iter__(self):
        raise ValueError("out of luck")

    def __len__(self):
        raise ValueError("out of luck")

def broken(text):
    return Broken()

class BrokenNumber:
    def __index__(self):
        raise RuntimeError("out of luck")

def broken_number(text):
    return [BrokenNumber()]

class Wordless(Exception):
    def __str__(self):
        raise RuntimeError("out of words")

def wordless(text):
    raise Wordless

def prints(text):
    print("with sk-own-0123456789")
    return sentences(text)

def prints_bytes(text):
    sys.stdout.buffer.write("with sk-own-0123456789 é\\n".encode())
    sys.stdout.buffer.flush()
    return sentences(text)

def prints_lines(text):
    sys.stdout.writelines(["with ", "sk-own-0123456789\\n"])
    return sentences(text)

def prints_and_closes(text):
    print("with sk-own-0123456789")
    sys.stdout.close()
    sys.stderr.close()
    return sentences(text)

def mixed(text):
    return ["One.", 3]

def shuffled(text):
    return [(9, 0.5), (3, 0.5)]

def infinite(text):
    return [(9, float("inf"))]

def garbage(text):
    return ["0123456789", "9876543210"]

async def awaited(text):
    return sentences(text)

class Splitter:
    def split(self, text):
        return sentences(text)

class Called:
    def __call__(self, text):
        return sentences(text)

number = 3
splitter = Splitter()
called = Called()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working folder with a module of callables."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    (tmp_path / "own_splits.py").write_text(CALLABLES, encoding="utf-8")
    (tmp_path / "broken_splits.py").write_text("import nowhere_to_be_found\n", encoding="utf-8")
    (tmp_path / "raising_splits.py").write_text("1 / 0\n", encoding="utf-8")
    (tmp_path / "leaving_splits.py").write_text("raise SystemExit(0)\n", encoding="utf-8")
    collapse = 'raise BaseException("worse luck")\n'
    (tmp_path / "collapsing_splits.py").write_text(collapse, encoding="utf-8")
    yield tmp_path
    for name in ("own_splits", "broken_splits", "raising_splits", "leaving_splits"):
        sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return load_corpus(BUNDLED_CORPUS)


def talk(text: str, *, id: str = "a") -> Talk:
    return Talk(id, "s", "", "", text, find_sentences(text))


@pytest.mark.parametrize(
    "name", ["own_splits:sentences", "own_splits:splitter.split", "own_splits:called"]
)
def test_a_callable_is_measured_like_a_model(folder: Path, corpus: Corpus, name: str) -> None:
    system = find_system(f"py:{name}")
    found = measured_at(system, corpus, (0.5,))
    assert not found.graded
    assert found.f1 > 0.9
    assert found.measurement.characters == corpus.characters
    assert found.measurement.seconds


def test_each_talk_has_its_own_seconds(folder: Path) -> None:
    talks = [talk(text) for text in ("One.", "One and two.", "Two.")]
    found = measured_at(find_system("py:own_splits:slow"), talks, (0.5,))
    first, second, third = found.seconds
    assert first >= 0.04
    assert third >= 0.04
    assert second >= 0.12
    assert second > max(first, third)


def test_a_system_without_probabilities_has_a_single_point(folder: Path, corpus: Corpus) -> None:
    found = measured_at(find_system("py:own_splits:sentences"), corpus, THRESHOLDS)
    assert len(found.points) == 1
    assert found == measured_at(find_system("py:own_splits:sentences"), corpus, THRESHOLDS[:1])


def test_a_threshold_of_one_takes_no_end_from_a_system_without_probabilities(folder: Path) -> None:
    found = measured_at(find_system("py:own_splits:sentences"), [talk("One. Two. Three.")], (1.0,))
    assert found.counts == Counts(3, 0, 0)


def test_a_callable_with_probabilities_is_swept(folder: Path) -> None:
    talks = [talk("One. Two? Three! Four.")]
    found = measured_at(find_system("py:own_splits:graded"), talks, (0.5, 0.7, 0.95))
    assert found.graded
    assert [point.counts.tp for point in found.points] == [4, 3, 1]


FAULTS = [
    ("py:own_splits:raises", "fails on a text of 9 characters: ValueError: out of luck"),
    ("py:own_splits:leaves", "fails on a text of 9 characters: SystemExit: 0"),
    ("py:own_splits:collapses", "fails on a text of 9 characters: BaseException: worse luck"),
    ("py:own_splits:closes", "fails on a text of 9 characters: GeneratorExit"),
    ("py:own_splits:stumbles", "fails on a text of 9 characters: ValueError: out of luck"),
    ("py:own_splits:endless", "answers more than 10 sentences to a text of 9 characters"),
    ("py:own_splits:wrong", "answers 42, expected a list of sentences"),
    ("py:own_splits:one_text", "answers 'One. Two.', expected a list"),
    ("py:own_splits:array", "characters: TypeError: iteration over a 0-d array"),
    ("py:own_splits:broken", "fails on a text of 9 characters: ValueError: out of luck"),
    ("py:own_splits:broken_number", "answers a value of type BrokenNumber at place 0"),
    ("py:own_splits:wordless", "fails on a text of 9 characters: Wordless"),
    ("py:own_splits:mixed", "answers 3 at place 1, expected a sentence as before it"),
    ("py:own_splits:shuffled", "answers the end 3 at place 1, expected ends that ascend"),
    ("py:own_splits:infinite", "answers the probability Infinity, expected one from 0 to 1"),
    ("py:own_splits:awaited", "is an async function, expected a plain one"),
    ("py:own_splits:garbage", "of the 8 characters of a text in its answer"),
    ("py:own_splits:nothing", "own_splits has no nothing"),
    ("py:own_splits:number", "number is a int, not a callable"),
    ("py:own_splits", "is not module:callable"),
    ("py:absent_splits:split", "no module absent_splits"),
    ("py:broken_splits:split", "broken_splits needs nowhere_to_be_found, which is missing"),
    ("py:raising_splits:split", "cannot be imported: ZeroDivisionError: division by zero"),
    ("py:leaving_splits:split", "leaving_splits cannot be imported: SystemExit: 0"),
    ("py:collapsing_splits:split", "cannot be imported: BaseException: worse luck"),
    ("lib:nosuch", "no such library; known are blingfire"),
    ("lib:nupunkt:x", "takes no argument, got 'x'; name it lib:nupunkt"),
    ("lib:absent-package", "not installed: pip install absent-package"),
    ("lib:numpy", "does not start: RuntimeError: cracked"),
    ("file:nowhere", "no such folder; expected one with a file per talk"),
    ("file:own_splits.py", "is a file, not a folder; expected one with a file per talk"),
    ("file:", "no folder is given; expected one with a file per talk"),
    (
        "file:empty",
        "no predictions for the talk 'a'; expected a.txt, .json or .jsonl, found nothing",
    ),
    ("file:others", "found b.txt"),
]


@pytest.mark.parametrize(("name", "reason"), FAULTS, ids=[name for name, _ in FAULTS])
def test_a_system_that_fails_is_one_line_and_the_others_are_measured(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, reason: str
) -> None:
    def cracked(_: str) -> NoReturn:
        raise RuntimeError("cracked")

    monkeypatch.setitem(LIBRARIES, "absent-package", (cracked, ""))
    monkeypatch.setitem(LIBRARIES, "numpy", (cracked, ""))
    (folder / "empty").mkdir()
    (folder / "others").mkdir()
    (folder / "others" / "b.txt").write_text("One.\nTwo.\n", encoding="utf-8")
    failed, measured = compare([name, "py:own_splits:sentences"], [talk("One. Two.")])
    assert isinstance(failed, Failed)
    assert failed.name == name
    assert reason in failed.reason
    assert "\n" not in failed.reason
    assert isinstance(measured, Measured)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        ("prints", "One. Two."),
        ("prints_bytes", "One."),
        ("prints_lines", "One."),
        ("prints_and_closes", "One."),
    ],
)
def test_what_a_callable_prints_goes_to_standard_error_without_keys(
    folder: Path,
    function: str,
    text: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("OWN_API_KEY", "sk-own-0123456789")
    streams_before = sys.stdout, sys.stderr
    [measured] = compare([f"py:own_splits:{function}"], [talk(text)])
    assert isinstance(measured, Measured)
    streams = capsys.readouterr()
    assert streams.out == ""
    assert "with [key]" in streams.err
    assert (sys.stdout, sys.stderr) == streams_before


def test_an_interrupt_in_a_callable_ends_the_command(folder: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        list(compare(["py:own_splits:interrupts"], [talk("One. Two.")]))


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("a.txt", "One.\nTwo?\nThree\n"),
        ("a.json", '["One.", "Two?", "Three"]'),
        ("a.json", '{"ends": [4, 9, 15]}'),
        ("a.json", '{"ends": [4, 9, 15], "probabilities": [0.9, 0.8, 0.7]}'),
        ("a.json", '[{"end": 4, "p": 0.9}, {"end": 9}]'),
        ("a.jsonl", '{"end": 4, "p": 0.9}\n{"end": 9, "p": 0.8}\n'),
        ("a.jsonl", '{"end": 4}\n\n{"end": 9}'),
    ],
)
def test_predictions_on_file_are_taken_in_each_form(
    tmp_path: Path, file: str, content: str
) -> None:
    (tmp_path / file).write_text(content, encoding="utf-8")
    (tmp_path / "README.md").write_text("not predictions", encoding="utf-8")
    system = find_system(f"file:{tmp_path}")
    assert isinstance(system, StoredPredictions)
    found = measured_at(system, [talk("One. Two? Three")], (0.5,))
    assert found.counts == Counts(3, 0, 0)
    assert found.measurement.seconds is None


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"a.json": "{"}, "a.json: is not JSON"),
        ({"a.json": '{"boundaries": [4]}'}, "expected a list, or an object with ends"),
        ({"a.json": '{"ends": [4], "probabilities": []}'}, "has 1 ends, expected as many"),
        ({"a.json": '{"ends": [4], "probabilities": [2]}'}, "answers the probability 2.0"),
        ({"a.json": '{"ends": [4], "probabilities": [1e999]}'}, "expected one from 0 to 1"),
        ({"a.jsonl": '{"end": 4, "p": 1e999}'}, "expected one from 0 to 1"),
        ({"a.json": '{"ends": [99]}'}, "answers the end 99 at place 0"),
        ({"a.json": "[[4]]"}, "answers [4] at place 0"),
        ({"a.json": "[true]"}, "answers true at place 0"),
        ({"a.txt": "x", "a.json": "[]"}, "a.json and a.txt are for the same talk"),
        ({"a.jsonl": '{"end": 4}\nfour\n'}, "answers 'four' at place 1"),
    ],
)
def test_predictions_of_the_wrong_form_are_named(
    tmp_path: Path, files: dict[str, str], reason: str
) -> None:
    for file, content in files.items():
        (tmp_path / file).write_text(content, encoding="utf-8")
    [failed] = compare([f"file:{tmp_path}"], [talk("One. Two? Three")])
    assert isinstance(failed, Failed)
    assert reason in failed.reason


def test_the_identity_of_predictions_is_their_content(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("One.", encoding="utf-8")
    before = find_system(f"file:{tmp_path}").identity
    assert find_system(f"file:{tmp_path}").identity == before
    (tmp_path / "a.txt").write_text("One. Two.", encoding="utf-8")
    assert find_system(f"file:{tmp_path}").identity != before


def test_names_without_a_known_prefix_are_models(tmp_path: Path) -> None:
    assert isinstance(find_system("small"), ModelFiles)
    assert is_model_name("owner/name")
    assert is_model_name("small:int8")
    assert is_model_name("C:/models/sat.onnx")
    assert not is_model_name("lib:pysbd")
    with pytest.raises(ModelError, match="no such model"):
        find_system("pysbd")


def test_numbers_of_numpy_are_numbers() -> None:
    found = read_answer("One. Two.", zip(np.array([4, 9]), np.array([0.25, 1.0]), strict=True))
    assert found.ends.tolist() == [4, 9]
    assert found.values.tolist() == [0.25, 1.0]


def test_a_sentence_in_braces_is_no_json() -> None:
    assert printed_answer('{end}\n{"a": 1}\n\n') == ["{end}", '{"a": 1}']
    with pytest.raises(TruemarkError, match="expected a list"):
        read_answer("One.", {"end": 4})


@pytest.mark.parametrize(
    "item",
    [
        {"end": 4, "p": 10**400},
        {"end": 10**400, "p": 0.5},
        (10**5_000, 0.5),
        (4, 10**5_000),
        (4, float("nan")),
        (-(10**5_000), 1),
        10**5_000,
        -1,
        np.array([4, 9]),
        (np.array([4, 9]), 0.5),
        (4, np.array([0.5, 0.5])),
        (4, "0.5"),
        (4.0, 0.5),
        (True, 0.5),
        (4, True),
    ],
    ids=lambda item: type(item).__name__,
)
def test_numbers_that_cannot_be_are_an_answer_of_the_wrong_form(item: object) -> None:
    with pytest.raises(TruemarkError) as wrong:
        read_answer("One.", [item])
    assert len(str(wrong.value)) < 300


def installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


@pytest.mark.parametrize("name", [name for name in LIBRARIES if name not in DOWNLOADING])
def test_each_library_that_is_installed_finds_sentences(name: str, corpus: Corpus) -> None:
    if not installed(name):
        pytest.skip(f"pip install {name}")
    system = find_system(f"lib:{name}")
    assert isinstance(system, TextSystem)
    first = next(iter(corpus))
    try:
        evaluation = evaluate(system, [first])
    except ModelError as error:
        # The library is there, its data is not.
        if "data is not installed" not in str(error):
            raise
        pytest.skip(str(error))
    assert evaluation.scores().f1 > 0.8
    assert dict(system.identity)["library"].startswith(name)


def test_two_runs_of_one_callable_have_one_identity(folder: Path) -> None:
    first = find_system("py:own_splits:sentences").identity
    assert first == find_system("py:own_splits:sentences").identity
    assert json.dumps(first)
    assert all(first.values())


def test_predictions_for_a_condition_lie_in_its_folder(tmp_path: Path) -> None:
    talks = [talk("One. Two.")]
    conditions: tuple[Condition, ...] = ("written", "bare")
    (tmp_path / "a.txt").write_text("One.\nTwo.", encoding="utf-8")
    [failed] = compare([f"file:{tmp_path}"], talks, conditions=conditions)
    assert isinstance(failed, Failed)
    assert "expected bare/a.txt, .json or .jsonl, found a.txt" in failed.reason
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "a.txt").write_text("one two", encoding="utf-8")
    written, bare = compare([f"file:{tmp_path}"], talks, conditions=conditions)
    assert isinstance(written, Measured)
    assert isinstance(bare, Measured)
    assert counted(written.measurement, (0.5,)).counts == Counts(2, 0, 0)
    assert counted(bare.measurement, (0.5,)).counts == Counts(1, 0, 1)


def test_time_and_loss_are_known_by_condition(folder: Path) -> None:
    system = find_system("py:own_splits:shouts")
    talks = [talk("One. Two. Three.")]
    parts = [
        measured.measurement
        for measured in measure_system(system, talks, conditions=("written", "bare"))
    ]
    assert [part.characters for part in parts] == [16, 13]
    assert all(part.seconds for part in parts)
    assert [part.loss.changed for part in parts] == [8, 11]


def test_an_answer_that_invents_more_than_it_keeps_is_refused() -> None:
    text = "We met at noon. Nobody was late. " * 4
    with pytest.raises(TruemarkError, match="it invents more text than it keeps"):
        read_answer(text, [text, "Blah yadda quux! " * 20])
    assert read_answer(text, [text, "Done."])


MISSING_DATA = {
    "spacy": ("lib:spacy:en_core_web_sm", "python -m spacy download en_core_web_sm"),
    "stanza": ("lib:stanza:fr", "stanza.download('fr', processors='tokenize')"),
    "nltk": ("lib:nltk", "python -m nltk.downloader punkt_tab"),
}


@pytest.mark.parametrize("library", MISSING_DATA)
def test_a_library_without_its_data_names_the_command_that_gets_it(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(error: type[Exception]) -> Callable[..., object]:
        def fail(*_: object, **__: object) -> object:
            raise error("not here")

        return fail

    module = SimpleNamespace(
        load=missing(OSError),
        Pipeline=missing(FileNotFoundError),
        sent_tokenize=missing(LookupError),
    )
    monkeypatch.setattr(libraries, "import_module", lambda _: module)
    monkeypatch.setattr(libraries, "_files", lambda _: ())
    monkeypatch.setattr(metadata, "version", lambda _: "1.0")
    name, command = MISSING_DATA[library]
    system = find_system(name)
    assert isinstance(system, TextSystem)
    with pytest.raises(ModelError) as caught, system.opened():
        pass
    assert command in str(caught.value)
