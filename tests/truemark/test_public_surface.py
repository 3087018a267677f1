import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import truemark

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def test_the_package_exports_these_names_and_no_others() -> None:
    assert truemark.__all__ == [
        "Counts",
        "Criteria",
        "Difference",
        "Finding",
        "Mark",
        "Run",
        "Scores",
        "ScoringRules",
        "System",
        "TruemarkError",
        "Unit",
        "Weights",
        "__version__",
        "check",
        "compare",
        "load_run",
        "match_by_cost",
        "match_positions",
        "scores",
        "summarise",
        "write_run",
    ]
    assert all(hasattr(truemark, name) for name in truemark.__all__)


def test_the_version_is_that_of_the_distribution() -> None:
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    assert truemark.__version__ == project["version"]


@pytest.mark.parametrize("module", ["truemark", "truemark.cli"])
def test_importing_the_package_and_its_command_does_not_import_numpy(module: str) -> None:
    script = f"import sys, {module}; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@pytest.mark.parametrize("package", ["truemark", "sat_bench", "cal_ai"])
def test_a_package_says_when_it_has_no_such_name(package: str) -> None:
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'absent'"):
        _ = import_module(package).absent
