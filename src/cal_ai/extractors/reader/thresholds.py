"""Thresholds of the bundled model; `python -m training.reader.tuning` writes this file."""

from cal_ai.extractors.reader.decide import Levels, Thresholds

THRESHOLDS = Thresholds(
    create=Levels(found=0.9, medium=0.9, high=0.98),
    update=Levels(found=0.7, medium=0.701, high=0.701),
    delete=Levels(found=0.8, medium=0.8, high=0.8),
)
