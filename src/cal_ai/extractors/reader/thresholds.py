"""Thresholds of the bundled model; `python -m training.reader.tuning` writes this file."""

from cal_ai.extractors.reader.decide import Levels, Thresholds

THRESHOLDS = Thresholds(
    create=Levels(found=0.85, medium=0.85, high=0.981),
    update=Levels(found=0.6, medium=0.603, high=0.73),
    delete=Levels(found=0.5, medium=0.51, high=0.589),
)
