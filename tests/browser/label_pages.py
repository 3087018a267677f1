"""Label commands as real processes, and a page of theirs that fails on any complaint."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from testing.label_server import label_server

Label = Callable[..., Any]


@pytest.fixture
def label(chromium: Any) -> Iterator[Label]:
    """Opens the page of a label command; the test fails if it complains or asks elsewhere."""
    complaints: list[str] = []

    def note(address: str, origin: str) -> None:
        if not address.startswith(origin):
            complaints.append(f"asked for {address}")

    with ExitStack() as stack:

        def open_page(module: str, *arguments: object, **settings: Any) -> Any:
            address, process = stack.enter_context(
                label_server(module, *map(str, arguments), "--no-browser")
            )
            context = chromium.new_context(**settings)
            stack.callback(context.close)
            page = context.new_page()
            page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
            page.on("pageerror", lambda error: complaints.append(str(error)))
            origin = address.rsplit("/", 2)[0]
            page.on("request", lambda request: note(request.url, origin))
            page.goto(address)
            page.wait_for_selector("#panel:not([hidden])")
            page.process, page.address = process, address
            return page

        yield open_page
    # Chromium logs every answer that refuses something; a conflict is one that is meant to.
    assert [line for line in complaints if "409 (Conflict)" not in line] == []


def wait_saved(page: Any) -> None:
    """Waits until nothing is left to send."""
    page.wait_for_selector("#saved:text-is('saved')")


def write(folder: Path, **texts: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return folder
