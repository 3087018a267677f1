import re
import subprocess
import sys
from pathlib import Path

import pytest

from sat_bench.flags import flag_table
from sat_bench.models import BUNDLED_FOLDER, BUNDLED_MODELS
from sat_bench.options import FLAGS, IMPORT_FLAGS

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "benchmarking.md"


@pytest.mark.parametrize(
    "table", [flag_table(FLAGS), flag_table(IMPORT_FLAGS)], ids=["sat-bench", "sat-bench import"]
)
def test_the_guide_has_the_table_of_the_parser_s_flags(table: str) -> None:
    assert table in GUIDE.read_text(encoding="utf-8")


@pytest.mark.skipif(
    not all((BUNDLED_FOLDER / f"{name}.onnx").is_file() for name in BUNDLED_MODELS),
    reason="needs the bundled models",
)
def test_the_guides_show_what_the_commands_print() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "docs" / "outputs.py"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_the_guide_s_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\((?!https?:|#)([^)]+)\)", GUIDE.read_text(encoding="utf-8")):
        assert (GUIDE.parent / target.partition("#")[0]).exists(), target


def test_the_six_official_talks_are_listed_with_their_pages() -> None:
    page = (ROOT / "testdata" / "ted" / "README.md").read_text(encoding="utf-8")
    assert len(re.findall(r"<https://www\.ted\.com/talks/\w+>", page)) == 6
