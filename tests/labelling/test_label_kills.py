"""Label servers that are killed at random moments lose nothing that they said they saved."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pytest
from tests.hostile.labels import (
    Finding,
    Own,
    hostile_requests,
    hostile_texts,
    killed_conversations,
    killed_talks,
)

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
