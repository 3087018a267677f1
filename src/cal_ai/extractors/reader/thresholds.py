"""Thresholds of the bundled model; `python -m training.reader.tuning` writes this file."""

from cal_ai.extractors.reader.decide import Thresholds

THRESHOLDS = Thresholds(create=0.93, update=0.5, delete=0.5, medium=0.708, high=0.946)
