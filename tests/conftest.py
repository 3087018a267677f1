"""Options for tests that need more than this repository: a paid model, a local one, a browser."""

from __future__ import annotations

import signal

import pytest
from hypothesis import settings

# The same examples in every run, and no clock: machines that run tests are busy.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("steady")

# A shell that starts the tests in the background has them ignore Ctrl-C, and their children too.
signal.signal(signal.SIGINT, signal.default_int_handler)

_OPTIONS = {
    "live": ("--live", "also run the tests that call the configured language model"),
    "browser": ("--browser", "also run the tests that open pages in Chromium"),
    "local_llm": ("--local-llm", "also run the tests that serve a small model on loopback"),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    for option, purpose in _OPTIONS.values():
        parser.addoption(option, action="store_true", help=purpose)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for marker, (option, _) in _OPTIONS.items():
        if not config.getoption(option):
            for item in items:
                if item.get_closest_marker(marker):
                    item.add_marker(pytest.mark.skip(reason=f"runs with {option}"))
