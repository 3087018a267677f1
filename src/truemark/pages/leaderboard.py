"""The page of a leaderboard: a table for each set of comparable runs, with a page for each run."""

from __future__ import annotations

import re
from collections.abc import Sequence

from truemark.leaderboard import Board
from truemark.pages.document import document, payload_of
from truemark.pages.scales import Scale, score_scale
from truemark.records import Run
from truemark.wording import answer, range_text

_NOT_IN_NAMES = re.compile(r"[^\w.+-]+")


def leaderboard_page(boards: Sequence[Board], title: str, folder: str) -> str:
    """Draw boards as HTML; `folder` is the path from this page to the pages of runs."""
    return document(
        "leaderboard.html.j2",
        payload_of([], []),
        title=f"Leaderboard of {title}",
        name=title,
        boards=boards,
        answer=lambda board: answer(board, dict(board.standings[0].summary.run.words)),
        scale_of=_scale,
        folder=folder,
        page_name=page_name,
        range_text=range_text,
    )


def _scale(board: Board) -> Scale:
    return score_scale(standing.summary.intervals["f1"] for standing in board.standings)


def page_name(run: Run) -> str:
    """Name the file of a run's page by its system and its id."""
    name = _NOT_IN_NAMES.sub("-", run.system.name)[:60].strip("-.")
    return f"{name or 'run'}-{run.id}.html"
