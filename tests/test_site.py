"""The site has every guide and every exported name; the files for CI say what the project says."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import cal_ai
import sat_bench
import truemark

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PAGES = sorted((ROOT / "docs").glob("*.md"))


def read_yaml(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def pages_of(entry: object) -> list[str]:
    """List the pages of a navigation entry, which is a page or a titled list of entries."""
    if isinstance(entry, str):
        return [entry]
    entries = entry.values() if isinstance(entry, dict) else entry
    assert not isinstance(entries, str)
    return [page for part in list(entries) for page in pages_of(part)]  # type: ignore[call-overload]


def test_every_guide_is_in_the_navigation_once() -> None:
    assert sorted(pages_of(read_yaml("mkdocs.yml")["nav"])) == [page.name for page in PAGES]


def test_the_first_page_leads_to_every_other_one() -> None:
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert {page.name for page in PAGES} - set(re.findall(r"\]\(([\w-]+\.md)\)", text)) == {
        "index.md"
    }


@pytest.mark.parametrize(
    "package", [truemark, sat_bench, cal_ai], ids=lambda package: package.__name__
)
def test_the_api_page_has_every_exported_name(package: Any) -> None:
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    listed = re.findall(rf"^::: {package.__name__}\.(\w+)$", text, re.MULTILINE)
    assert sorted(listed) == sorted(set(package.__all__) - {"__version__"})


def test_ci_runs_on_every_supported_python() -> None:
    prefix = "Programming Language :: Python :: "
    supported = [name.removeprefix(prefix) for name in PROJECT["classifiers"] if prefix in name]
    jobs = read_yaml(".github/workflows/ci.yml")["jobs"]
    assert jobs["linux"]["strategy"]["matrix"]["python"] == supported
    assert jobs["linux"]["steps"][-1] == {"run": ".ci/run"}


def test_the_hooks_before_a_commit_are_what_make_check_runs() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    recipe = re.search(r"^check: .*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    assert recipe
    commands = [
        " ".join(line.replace("$(BIN)", ".venv/bin").split()) for line in recipe[1].splitlines()
    ]
    [repository] = read_yaml(".pre-commit-config.yaml")["repos"]
    assert [hook["entry"] for hook in repository["hooks"]] == commands


def test_the_citation_names_the_version() -> None:
    citation = read_yaml("CITATION.cff")
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]
