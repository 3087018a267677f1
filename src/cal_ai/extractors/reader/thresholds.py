"""Thresholds of the bundled model; `python -m training.reader.tuning` writes this file."""

from cal_ai.extractors.reader.decide import Levels, Thresholds

THRESHOLDS = Thresholds(
    create=Levels(found=0.9, medium=0.901, high=0.963),
    update=Levels(found=0.6, medium=0.601, high=0.637),
    delete=Levels(found=0.6, medium=0.687, high=0.785),
)
