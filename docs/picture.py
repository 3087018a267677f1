"""Draws docs/report.png: the page of a run as far as its mistakes.

`python docs/picture.py RUN.run.json` after `make test-browser` has installed the browser.
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


def draw(record: str) -> None:
    """Takes the picture of the page of this record."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        path = Path(folder, "page.html")
        path.write_text(report_page([load_run(record)]), encoding="utf-8")
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": WIDTH, "height": 2_000})
        page.goto(path.as_uri())
        for _ in range(3):
            page.keyboard.press("j")
        page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
        box = page.locator(".reader").bounding_box()
        assert box is not None
        height = box["y"] + 590
        page.screenshot(
            path=PICTURE, clip={"x": 0, "y": 0, "width": WIDTH, "height": height}, full_page=True
        )


if __name__ == "__main__":
    draw(sys.argv[1])
