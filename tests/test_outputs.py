"""The one owner of what pages show of commands."""

from pathlib import Path

import pytest
from docs import outputs

PAGE = """\
<!-- output of: python -m benchmarks.one --fast -->
old
<!-- end of output -->
text
<!-- output of: python -c "open('kept', 'w').write('x'); print('new')" -->
```text
old
```
<!-- output of: python -c "import sys; sys.stderr.write(open('kept').read() + ' note')" 2>&1 -->
```text
```
<!-- output of: python -m benchmarks.two -->
<!-- end of output -->
"""


def test_commands_of_a_page_are_run_in_order_and_measurements_are_left() -> None:
    fresh = outputs.refreshed(PAGE)
    assert "print('new')\"\nnew\n```" in fresh
    assert '```text\n$ python -c "import sys; ' in fresh
    assert "2>&1\nx note```" in fresh
    assert "--fast -->\nold\n<!-- end" in fresh
    assert outputs.refreshed(fresh) == fresh


def test_a_measurement_is_put_where_its_name_stands() -> None:
    assert list(outputs.measurements(PAGE)) == [
        ("one", "benchmarks.one --fast"),
        ("two", "benchmarks.two"),
    ]
    page = outputs.with_measurement(PAGE, "two", "\n| a |\n\n")
    assert "benchmarks.two -->\n| a |\n<!-- end of output -->" in page
    assert page.count("old") == PAGE.count("old")


def test_a_command_that_prints_nothing_or_is_wrong_is_not_shown(tmp_path: Path) -> None:
    for status in (0, 2):
        with pytest.raises(SystemExit, match=f"failed with status {status}"):
            outputs.output(f"python -c 'raise SystemExit({status})'", tmp_path)


def test_what_differs_every_time_is_blotted_out_and_a_status_told(tmp_path: Path) -> None:
    said = "a: 0.83 s, 43,978 characters/s, 2025-12-31T23-59-59"
    command = f"python -c 'print(\"{said}\\nmore\"); raise SystemExit(3)' | head -1"
    assert outputs.output(command, tmp_path) == (
        "a: … s, … characters/s, 2026-03-01T09-00-00\n(exit status 3)\n"
    )
