"""Thresholds of the bundled model; `python -m training.reader.tuning` writes this file."""

from cal_ai.extractors.reader.decide import Thresholds

THRESHOLDS = Thresholds(create=0.7, update=0.35, delete=0.35, medium=0.65, high=0.85)
