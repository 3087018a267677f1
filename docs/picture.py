"""Draw docs/report.png: the verdict on the page of two runs.

`python docs/picture.py BASELINE.run.json OTHER.run.json`, after `make test-browser` has installed
the browser.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from truemark import load_run
from truemark.pages.report import report_page

PICTURE = Path(__file__).with_name("report.png")
WIDTH = 1160


def draw(records: list[str]) -> None:
    """Take a picture of the page of these records."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        path = Path(folder, "page.html")
        path.write_text(report_page([load_run(record) for record in records]), encoding="utf-8")
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": WIDTH, "height": 2_000})
        page.goto(path.as_uri())
        box = page.locator("#where").bounding_box()
        assert box is not None
        height = box["y"] - 40
        page.screenshot(
            path=PICTURE, clip={"x": 0, "y": 0, "width": WIDTH, "height": height}, full_page=True
        )


if __name__ == "__main__":
    draw(sys.argv[1:])
