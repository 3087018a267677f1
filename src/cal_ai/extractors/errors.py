"""The two ways in which an extraction ends without events."""

from __future__ import annotations

from cal_ai.extractors.protocol import Usage
from truemark.errors import TruemarkError


class ExtractionFailed(Exception):  # noqa: N818 - an outcome of one sample, reported as such
    """One conversation could not be extracted; others may well be.

    Carries what the attempt cost nonetheless, tokens and time, and the last answer if there was
    one.
    """

    def __init__(
        self, reason: str, *, usage: Usage | None = None, attempts: int = 0, raw: str | None = None
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.usage = usage
        self.attempts = attempts
        self.raw = raw
        self.latency_s: float | None = None


class FatalExtractorError(TruemarkError):
    """The provider refuses every request, so there is no point in asking again."""
