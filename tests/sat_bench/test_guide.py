import re
import subprocess
import sys
from pathlib import Path

import pytest
from docs.outputs import flag_table

from sat_bench.cli import FLAGS, IMPORT_FLAGS

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "benchmarking.md"
THIRD = ROOT / "docs" / "third-benchmark.md"
PERFORMANCE = ROOT / "docs" / "performance.md"


@pytest.mark.parametrize(
    "table", [flag_table(FLAGS), flag_table(IMPORT_FLAGS)], ids=["sat-bench", "sat-bench import"]
)
def test_the_guide_has_the_table_of_the_parser_s_flags(table: str) -> None:
    assert table in GUIDE.read_text(encoding="utf-8")


def test_the_guides_show_what_the_commands_print() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "docs" / "outputs.py", GUIDE, ROOT / "README.md", THIRD],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stdout


@pytest.mark.parametrize("guide", [GUIDE, PERFORMANCE], ids=lambda guide: guide.stem)
def test_the_links_of_a_guide_lead_somewhere(guide: Path) -> None:
    text = guide.read_text(encoding="utf-8")
    headings = {
        heading.lower().replace(" ", "-")
        for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    }
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", text):
        file, _, heading = target.partition("#")
        assert (guide.parent / file).exists(), target
        assert file or heading in headings, target


def test_every_measurement_of_speed_has_its_script() -> None:
    text = PERFORMANCE.read_text(encoding="utf-8")
    names = re.findall(r"<!-- output of: python -m benchmarks\.(\w+).* -->", text)
    assert len(names) == len(set(names)) == text.count("<!-- end of output -->") >= 7
    for name in names:
        assert (ROOT / "benchmarks" / f"{name}.py").is_file(), name


def test_the_six_official_talks_are_listed_with_their_pages() -> None:
    page = (ROOT / "testdata" / "ted" / "README.md").read_text(encoding="utf-8")
    row = r"^\| `(\w+)\.txt` \| .* <https://www\.ted\.com/talks/(\w+)/transcript>"
    rows = re.findall(row, page, re.MULTILINE)
    assert len({name for name, _ in rows}) == len({address for _, address in rows}) == 6
    assert all(name.split("_")[-1] in address for name, address in rows)
