"""The README is short, its links lead somewhere, and what it says of packaging is true."""

import re
import tomllib
from pathlib import Path

import cal_ai
import sat_bench
import truemark

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = set(PROJECT["optional-dependencies"]) - {"dev"}


def test_the_readme_can_be_read_at_one_sitting() -> None:
    assert len(README.splitlines()) < 150


def test_the_links_lead_somewhere() -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", README)
    assert len(targets) > 10
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_every_dependency_and_every_extra_is_named() -> None:
    needed = {re.split(r"[>=\[]", requirement)[0] for requirement in PROJECT["dependencies"]}
    guide = (ROOT / "docs" / "installing.md").read_text(encoding="utf-8")
    table = guide.partition("## Dependencies")[2]
    assert needed - set(re.findall(r"[\w-]+", table)) == set()
    assert set(re.findall(r"`\[(\w+)\]`", table)) == EXTRAS
    assert set(re.findall(r"pip install '\.\[(\w+)\]'", guide)) == EXTRAS - {"training"}


def test_python_in_guides_imports_only_what_the_packages_export() -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    imports = re.findall(r"^from ((?:truemark|sat_bench|cal_ai)\S*) import (.+)$", text, re.M)
    exported = {one.__name__: one.__all__ for one in (truemark, sat_bench, cal_ai)}
    assert len(imports) > 5
    for package, names in imports:
        for name in names.split(", "):
            assert name in exported.get(package, ()), f"from {package} import {name}"


def test_what_the_packages_export_is_in_the_guide_to_python() -> None:
    guide = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    words = set(re.findall(r"\w+", guide))
    for package in (truemark, sat_bench, cal_ai):
        assert set(package.__all__) - words - {"__version__"} == set(), package.__name__


def test_cal_ai_exports_these_names_and_no_others() -> None:
    assert cal_ai.__all__ == [
        *("Event", "Extraction", "GeminiClient", "LLMCallResult", "OpenAIClient", "Request"),
        *("extract_events", "run_benchmark"),
    ]
    assert all(hasattr(cal_ai, name) for name in cal_ai.__all__)
