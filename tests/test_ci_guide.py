"""The shell steps of the workflow in docs/ci.md, and of action.yml, do what they say."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import junitparser
import pytest
import yaml
from testing.loopback import LoopbackLLM
from tests.test_commands import environment, fences, model
from tests.truemark.runs_for_tests import many

from truemark.records import write_run

__all__ = ["model"]  # the fixture

ROOT = Path(__file__).parents[1]
GUIDE = ROOT / "docs" / "ci.md"
NEEDS_NETWORK = {"Install", "Comment"}


def run_step(script: str, folder: Path, settings: Mapping[str, str]) -> int:
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script],
        cwd=folder,
        env=settings,
        timeout=240,
        check=False,
    )
    return done.returncode


@pytest.fixture
def project(tmp_path: Path, model: LoopbackLLM) -> tuple[Path, dict[str, str]]:
    """A repository with a baseline, made as the guide says, and the settings of a build in it."""
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    settings = {**environment(tmp_path, model), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}
    [baseline] = [fence for fence in fences(GUIDE) if fence.file is None]
    assert run_step(baseline.body, tmp_path, settings) == 0
    return tmp_path, settings


def workflow() -> dict[str, str]:
    """The shell steps of the workflow by name, those that need the network left out."""
    [fence] = [fence for fence in fences(GUIDE) if fence.file]
    steps: list[dict[str, Any]] = yaml.safe_load(fence.body)["jobs"]["gate"]["steps"]
    named = {step["name"]: step["run"] for step in steps if "run" in step}
    assert named.keys() >= NEEDS_NETWORK
    return {name: script for name, script in named.items() if name not in NEEDS_NETWORK}


def test_the_workflow_passes_a_better_prompt_and_says_what_changed(
    project: tuple[Path, dict[str, str]],
) -> None:
    folder, settings = project
    prompt = folder / "prompts" / "calendar.txt"
    prompt.write_text("Leave out somebody else's plan.\n" + prompt.read_text())
    for name, script in workflow().items():
        assert run_step(script, folder, settings) == 0, name
    assert "better" in (folder / "changes.md").read_text()
    assert "fixed" in (folder / "changes.md").read_text()
    assert "passed" in (folder / "summary.md").read_text()
    assert len(list(junitparser.JUnitXml.fromfile(str(folder / "junit.xml")))) > 0


def test_the_action_refuses_a_worse_run(project: tuple[Path, dict[str, str]]) -> None:
    folder, settings = project
    prompt = folder / "prompts" / "calendar.txt"
    prompt.write_text("Leave out somebody else's plan.\n" + prompt.read_text())
    assert run_step(workflow()["Measure"], folder, settings) == 0
    given = {"run": "first/*.run.json", "against": str(*folder.glob("reports/*.run.json"))}
    assert run_action(given, folder, settings) == {"Compare": 0, "Check": 1}
    assert "worse" in (folder / "truemark-changes.md").read_text()
    assert (folder / "truemark-junit.xml").exists()


@pytest.mark.parametrize("run", ["runs/base", "runs/base.run.json", "runs/*.run.json", "runs"])
def test_the_action_takes_a_name_a_pattern_or_a_folder(
    run: str, tmp_path: Path, model: LoopbackLLM
) -> None:
    worse, better = many("base", 2), many("base", 0)
    write_run(tmp_path / "runs" / f"base.{worse.id}.run.json", worse)
    write_run(tmp_path / "before.run.json", better)  # the newest file
    given = {"run": run, "against": "before.run.json"}
    statuses = run_action(given, tmp_path, environment(tmp_path, model))
    assert statuses == {"Compare": 0, "Check": 1}
    assert "worse" in (tmp_path / "truemark-changes.md").read_text()


def run_action(
    given: Mapping[str, str], folder: Path, settings: Mapping[str, str]
) -> dict[str, int]:
    """Run the steps of the action but the first, which installs; return their statuses by name."""
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    defaults = {name: entry.get("default", "") for name, entry in action["inputs"].items()}
    inputs = {**defaults, **given}
    statuses = {}
    for step in action["runs"]["steps"][1:]:
        filled = {
            name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda match: inputs[match[1]], value)
            for name, value in step["env"].items()
        }
        statuses[step["name"]] = run_step(step["run"], folder, {**settings, **filled})
    return statuses
