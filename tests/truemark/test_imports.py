"""Hints to install what is missing work for the installation that there is."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest

from truemark.imports import install_command


@pytest.mark.parametrize("origin", ["folder", "gone", "index", "repository"])
def test_an_extra_is_added_from_where_the_package_came(
    origin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "true mark"
    folder.mkdir()
    urls = {
        "folder": folder.as_uri(),
        "gone": (tmp_path / "gone").as_uri(),
        "repository": "https://example.org/truemark.git",
    }
    stated = json.dumps({"url": urls[origin]}) if origin in urls else None
    monkeypatch.setattr(
        metadata, "distribution", lambda _: SimpleNamespace(read_text=lambda _: stated)
    )
    place = folder if origin == "folder" else "truemark"
    assert install_command("report") == f"pip install '{place}[report]'"
