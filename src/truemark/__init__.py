"""Scoring core: precision and recall under a tolerance."""

__version__ = "0.1.0"
