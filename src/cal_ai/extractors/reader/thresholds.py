"""Thresholds of the bundled model; `python -m training.reader.tuning` writes this file."""

from cal_ai.extractors.reader.decide import Levels, Thresholds

THRESHOLDS = Thresholds(
    create=Levels(found=0.6, medium=0.883, high=0.98),
    update=Levels(found=0.3, medium=0.3, high=0.646),
    delete=Levels(found=0.8, medium=0.8, high=0.8),
)
