"""Label servers that are killed at random moments lose nothing that they said they saved."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pytest
from testing.label_server import call, label_server
from tests.hostile.labels import (
    Finding,
    Own,
    hostile_requests,
    hostile_texts,
    killed_conversations,
    killed_talks,
)
from tests.hostile.surroundings import is_running

SEED = 20260220


@pytest.mark.parametrize(
    "cases", [killed_talks, killed_conversations, hostile_texts, hostile_requests]
)
def test_a_label_server_loses_nothing_and_answers_everything(
    cases: Callable[[Path, int, Own], Iterator[Finding]], tmp_path: Path
) -> None:
    found = list(cases(tmp_path / "place", SEED, lambda all_of: islice(all_of, 6)))
    assert len(found) == 6
    assert [finding for finding in found if finding[2]] == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("saved", [False, True], ids=["opened", "saved"])
def test_a_slow_draft_does_not_hold_up_the_end_and_ends_too(
    tmp_path: Path, number: signal.Signals, saved: bool
) -> None:
    (tmp_path / "talks").mkdir()
    (tmp_path / "talks" / "one.txt").write_text("so i went home and he stayed that was all")
    started = tmp_path / "started"
    model = f"cmd:sh -c 'echo $$ > {started}; exec sleep 300'"
    flags = (str(tmp_path / "talks"), "-models", model, "-no-browser")
    with label_server("sat_bench", *flags) as (address, process):
        assert call(address, "GET", "texts/0")["drafting"]
        while not (started.exists() and started.read_text().endswith("\n")):
            time.sleep(0.02)
        if saved:  # waits for the draft
            change = {"session": "s", "count": 1, "stamp": "", "content": {"ends": [41]}}
            with pytest.raises(OSError):  # noqa: PT011  # closed, or too late
                call(address, "PUT", "texts/0", change, timeout_s=0.5)
        process.send_signal(number)
        process.wait(timeout=30)
    until_s = time.monotonic() + 20  # on a busy machine
    while is_running(int(started.read_text())) and time.monotonic() < until_s:
        time.sleep(0.02)
    assert not is_running(int(started.read_text()))
