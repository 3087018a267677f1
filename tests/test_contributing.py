"""What CONTRIBUTING.md says about the code is true of it."""

import re
from pathlib import Path

import pytest
from tests.test_architecture import import_graph

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


@pytest.mark.parametrize("tree", drawings(), ids=["sat-bench", "cal_ai benchmark", "cal_ai FILE"])
def test_every_module_of_a_drawing_is_imported_by_the_one_above_it(
    tree: list[tuple[int, str]],
) -> None:
    assert len(tree) > 10
    above: list[str] = []
    for depth, module in tree:
        assert module in GRAPH, f"{module} does not exist"
        assert depth <= len(above), module
        above[depth:] = [module]
        if depth:
            assert module in GRAPH[above[depth - 1]], f"{above[depth - 1]} imports no {module}"


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
