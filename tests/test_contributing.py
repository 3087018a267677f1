"""What CONTRIBUTING.md says about the code is true of it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.test_architecture import import_graph
from tests.truemark.runs_for_tests import many

from truemark.records import write_run

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
GRAPH = import_graph()
_MODULE = r"(?:truemark|sat_bench|cal_ai)(?:\.\w+)+"


def section(title: str) -> str:
    return re.split(r"^## ", PAGE.partition(f"## {title}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]


def drawings() -> list[list[tuple[int, str]]]:
    """The trees of modules, each line as its depth and its module."""
    found: list[list[tuple[int, str]]] = []
    for indent, module in re.findall(
        rf"^ {{4}}( *)({_MODULE})\b", section("The path of the data"), re.MULTILINE
    ):
        if not indent:
            found.append([])
        found[-1].append((len(indent) // 2, module))
    return found


COMMANDS = ["sat-bench -sweep", "cal_ai benchmark", "cal_ai FILE", "truemark compare"]


@pytest.mark.parametrize("tree", drawings(), ids=COMMANDS)
def test_every_module_of_a_drawing_is_imported_by_the_one_above_it(
    tree: list[tuple[int, str]],
) -> None:
    assert len(tree) > 5
    above: list[str] = []
    for depth, module in tree:
        assert module in GRAPH, f"{module} does not exist"
        assert depth <= len(above), module
        above[depth:] = [module]
        if depth:
            assert module in GRAPH[above[depth - 1]], f"{above[depth - 1]} imports no {module}"


READER = ("--extractor", "reader")
FORMS = ("brackets", "captions", "subtitles", "whatsapp")
# The extractor, and the forms of conversation, each of which looks at a file in turn.
INSIDE = ("cal_ai.extractors.", *(f"cal_ai.transcripts.{form}" for form in FORMS))
ARGUMENTS = {
    "sat-bench -sweep": ("sat_bench.cli", "-sweep"),
    "cal_ai benchmark": ("cal_ai.cli", "benchmark", "samples", "--no-summary", *READER),
    "cal_ai FILE": (
        *("cal_ai.cli", "samples/talk.txt", "--calendar", "ics:calendar.ics"),
        *("--apply", "medium", *READER),
    ),
    "truemark compare": ("truemark.cli", "compare", "first.run.json", "second.run.json"),
}
MOST_CALLED = {
    "sat-bench -sweep": 28,
    "cal_ai benchmark": 34,
    "cal_ai FILE": 25,  # with an event that is applied
    "truemark compare": 18,
}


def described(command: str) -> tuple[set[str], set[str]]:
    """The modules that the page draws or names for a command, and those of them always called."""
    _, _, rest = section("The path of the data").partition(f"`{command}`; ")
    text = re.split(r"^`[^`]+`; ", rest, flags=re.MULTILINE)[0]
    drawn = re.findall(rf"^ {{4}} *({_MODULE})(?: +(or\b)?|$)", text, re.MULTILINE)
    named = set(re.findall(rf"`({_MODULE})`", text))
    return named | {name for name, _ in drawn}, named | {name for name, other in drawn if not other}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_calls_the_modules_that_the_page_describes(command: str, tmp_path: Path) -> None:
    (tmp_path / "samples").mkdir()
    for ending in (".txt", ".expected.json"):
        sample = ROOT / f"src/cal_ai/samples/crud/conference_and_dinner{ending}"
        shutil.copy(sample, tmp_path / f"samples/talk{ending}")
    for name, mistakes in (("first", 1), ("second", 9)):
        write_run(tmp_path / f"{name}.run.json", many(name, mistakes))
    subprocess.run(
        [sys.executable, ROOT / "tests/traced.py", "called", *ARGUMENTS[command]],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        check=True,
        capture_output=True,
    )
    called = set((tmp_path / "called").read_text(encoding="utf-8").split())
    around = {name for name in called if not name.startswith(INSIDE)}
    described_modules, always = described(command)
    assert around - described_modules == set()
    assert always - called == set()
    assert len(around) <= MOST_CALLED[command]


WALKS = [
    re.findall(rf"`({_MODULE})`", walk)
    for walk in re.split(r"^\d\. ", section("Two walks for newcomers"), flags=re.MULTILINE)[1:]
]


@pytest.mark.parametrize(
    ("walk", "most"), list(zip(WALKS, (8, 12), strict=True)), ids=["sat-bench", "cal_ai benchmark"]
)
def test_a_walk_from_the_command_line_to_the_counts_is_short(walk: list[str], most: int) -> None:
    assert walk[0].endswith(".cli")
    assert walk[-1] == "truemark.counts"
    assert len(walk) == len(set(walk)) <= most
    for number, module in enumerate(walk[1:], start=1):
        assert any(module in GRAPH[earlier] for earlier in walk[:number]), module


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "CLAUDE.md"])
def test_the_files_that_are_named_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = re.findall(r"`((?:src|tests|docs|examples|testdata|testing|training)/[^`*\s]*)`", text)
    assert len(named) > 5
    for path in named:
        assert "NAME" in path or (ROOT / path).exists(), path


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "CLAUDE.md"])
def test_the_targets_that_are_named_are_in_the_makefile(page: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    text = (ROOT / page).read_text(encoding="utf-8")
    assert set(re.findall(r"`make ([a-z-]+)`", text)) <= targets
