"""The rules of who may import what, checked on the source and on a running interpreter."""

import ast
import subprocess
import sys
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
APPS = ("sat_bench", "cal_ai")
HEAVY = frozenset(
    {
        "caldav",
        "dask",
        "distributed",
        "genai_prices",
        "google",
        "google_auth_oauthlib",
        "googleapiclient",
        "httpx2",
        "huggingface_hub",
        "icalendar",
        "jinja2",
        "matplotlib",
        "onnx",
        "onnxruntime",
        "openvino",
        "pydantic",
        "rapidfuzz",
        "recurring_ical_events",
        "rich",
        "scipy",
        "sentencepiece",
        "starlette",
        "torch",
        "uvicorn",
    }
)


@dataclass(frozen=True, slots=True)
class Import:
    """One import: the root package it names, and whether importing the file carries it out."""

    where: str
    package: str
    at_import: bool


def imports_of(file: Path) -> list[Import]:
    """All imports of the file, wherever they stand."""
    found: list[Import] = []

    def visit(node: ast.AST, at_import: bool) -> None:
        if isinstance(node, ast.Import | ast.ImportFrom):
            where = f"{file.relative_to(SOURCE)}:{node.lineno}"
            roots = {name.partition(".")[0] for name in _modules(node, file)}
            found.extend(Import(where, root, at_import) for root in sorted(roots))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            at_import = False
        skipped = node.body if isinstance(node, ast.If) and _for_type_checkers(node) else []
        for child in ast.iter_child_nodes(node):
            visit(child, at_import and child not in skipped)

    visit(ast.parse(file.read_text(encoding="utf-8"), filename=str(file)), True)
    return found


def _modules(node: ast.Import | ast.ImportFrom, file: Path) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [file.relative_to(SOURCE).parts[0] if node.level else node.module or ""]


def _for_type_checkers(node: ast.If) -> bool:
    return ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def imports_below(package: str) -> list[Import]:
    files = sorted((SOURCE / package).rglob("*.py"))
    assert files, f"{package} has no source"
    return [one for file in files for one in imports_of(file)]


def test_the_core_imports_no_app() -> None:
    assert [one.where for one in imports_below("truemark") if one.package in APPS] == []


@pytest.mark.parametrize("app", APPS)
def test_the_apps_do_not_import_each_other(app: str) -> None:
    others = set(APPS) - {app}
    assert [one.where for one in imports_below(app) if one.package in others] == []


# What only one room of the core may import.
OF_ONE_ROOM = {
    "dotenv": "truemark/services/",
    "genai_prices": "truemark/services/",
    "google": "truemark/services/",
    "httplib2": "truemark/services/",
    "httpx2": "truemark/services/",
    "jinja2": "truemark/pages/",
    "markupsafe": "truemark/pages/",  # comes with jinja2
    "starlette": "truemark/labelling/",
    "urllib3": "truemark/services/",
    "uvicorn": "truemark/labelling/",
}


def test_the_core_needs_three_libraries_and_its_rooms_what_they_are_for() -> None:
    foreign = {one.package for one in imports_below("truemark")} - sys.stdlib_module_names
    assert foreign == {"truemark", "numpy", "filelock", "msgspec", *OF_ONE_ROOM}
    for one in imports_below("truemark"):
        assert one.where.startswith(OF_ONE_ROOM.get(one.package, "")), one


def test_the_rest_of_the_core_asks_no_servers() -> None:
    services = "truemark.services"
    assert [
        module
        for module, found in import_graph().items()
        if module.startswith("truemark.")
        and not module.startswith(services)
        and any(imported.startswith(services) for imported in found)
    ] == []


COMMANDS = [f"{app}.cli" for app in APPS if (SOURCE / app / "cli.py").exists()]


@pytest.mark.parametrize("module", [*APPS, *COMMANDS, "truemark.cli"])
def test_the_command_line_starts_without_heavy_libraries(module: str) -> None:
    script = f"import sys, {module}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert set(done.stdout.split()) & (HEAVY | {"numpy"}) == set()


@pytest.mark.parametrize("command", [*COMMANDS, "truemark.cli"])
def test_what_a_command_line_calls_imports_without_the_extras(command: str) -> None:
    lazy = HEAVY - {"rapidfuzz"}  # always installed, and behind the command line
    script = (
        f"import importlib, sys; sys.modules |= dict.fromkeys({sorted(lazy)})\n"
        f"for name in {sorted(import_graph()[command])}: importlib.import_module(name)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


SAMPLE = """
from typing import TYPE_CHECKING
import os, scipy.stats
if TYPE_CHECKING:
    import torch
else:
    import onnx
try:
    from google.genai import types
except ImportError:
    pass
class Holder:
    import dask
    def method(self):
        import rich
        if TYPE_CHECKING:
            import caldav
from . import sibling
"""


def test_the_check_itself_sees_what_runs_at_import(tmp_path: Path) -> None:
    file = tmp_path / "cal_ai" / "sample.py"
    file.parent.mkdir()
    file.write_text(SAMPLE)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys.modules[__name__], "SOURCE", tmp_path)
        found = imports_of(file)
    eager = {one.package for one in found if one.at_import}
    assert eager == {"typing", "os", "scipy", "onnx", "google", "dask", "cal_ai"}
    assert {one.package for one in found} - eager == {"torch", "rich", "caldav"}


def module_of(file: Path) -> str:
    parts = file.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def import_graph() -> dict[str, set[str]]:
    """The modules that each module imports, wherever in it, those for type checkers aside."""
    files = {module_of(file): file for file in SOURCE.rglob("*.py")}
    return {name: set(_imported(file, files)) - {name} for name, file in files.items()}


def _imported(file: Path, known: Container[str]) -> Iterator[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    hidden = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and _for_type_checkers(node)
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if id(node) in hidden:
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in known else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_no_module_imports_itself_in_a_circle() -> None:
    graph = import_graph()
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


# Each line may import what stands on the lines below it, and its own line; nothing above.
LAYERS: dict[str, tuple[tuple[str, ...], ...]] = {
    "sat_bench": (
        ("sat_bench.__main__",),
        ("sat_bench.cli",),
        ("sat_bench.agreement", "sat_bench.importing", "sat_bench.splitting"),
        ("sat_bench.labelling",),
        ("sat_bench.measure",),
        ("sat_bench.formats",),
        ("sat_bench.report",),
        ("sat_bench.record",),
        ("sat_bench.running",),
        ("sat_bench.models",),
        ("sat_bench.corpus",),
        ("sat_bench.defaults",),
    ),
    "cal_ai": (
        ("cal_ai.__main__",),
        ("cal_ai.cli",),
        ("cal_ai.api",),
        ("cal_ai.agreement",),
        ("cal_ai.labelling",),
        ("cal_ai.benchmark",),
        ("cal_ai.applying",),
        ("cal_ai.calendars",),
        ("cal_ai.extractors",),
        ("cal_ai.settings",),
        ("cal_ai.events", "cal_ai.transcripts", "cal_ai.defaults"),
    ),
}


def layer(module: str, layers: Sequence[tuple[str, ...]]) -> int:
    for height, rooms in enumerate(layers):
        if any(module == room or module.startswith(f"{room}.") for room in rooms):
            return height
    raise AssertionError(f"{module} lies in none of the layers: add it to LAYERS")


@pytest.mark.parametrize("app", APPS)
def test_no_module_imports_upwards(app: str) -> None:
    layers = LAYERS[app]
    upwards = [
        f"{module} imports {imported}"
        for module, found in import_graph().items()
        if module.startswith(f"{app}.")
        for imported in found
        if imported.startswith(f"{app}.") and layer(imported, layers) < layer(module, layers)
    ]
    assert upwards == []
