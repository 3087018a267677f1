"""A deterministic extractor: speech patterns, dates and times, no model."""

from cal_ai.extractors.rules.extractor import RulesExtractor

__all__ = ["RulesExtractor"]
