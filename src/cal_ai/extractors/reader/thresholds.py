"""Thresholds of the bundled model; `python -m training.reader.tuning` writes this file."""

from cal_ai.extractors.reader.decide import Levels, Thresholds

THRESHOLDS = Thresholds(
    create=Levels(found=0.88, medium=0.898, high=0.976),
    update=Levels(found=0.5, medium=0.523, high=0.718),
    delete=Levels(found=0.6, medium=0.624, high=0.624),
)
