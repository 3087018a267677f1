"""Runs as pages: one self-contained HTML file each, drawn from records alone."""

from truemark.pages.history import history_page
from truemark.pages.report import report_page

__all__ = ["history_page", "report_page"]
