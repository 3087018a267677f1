from __future__ import annotations

from tests.cal_ai.conftest import cal_ai, gemini, google, llm, radicale

__all__ = ["cal_ai", "gemini", "google", "llm", "radicale"]
