"""Thresholds of the bundled model; `python -m training.reader.tuning` writes this file."""

from cal_ai.extractors.reader.decide import Levels, Thresholds

THRESHOLDS = Thresholds(
    create=Levels(found=0.8, medium=0.831, high=0.965),
    update=Levels(found=0.4, medium=0.442, high=0.947),
    delete=Levels(found=0.8, medium=0.822, high=0.93),
)
