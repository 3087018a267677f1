"""Thresholds of the bundled model; `python -m training.reader.tuning` writes this file."""

from cal_ai.extractors.reader.decide import Levels, Thresholds

THRESHOLDS = Thresholds(
    create=Levels(found=0.7, medium=0.706, high=0.962),
    update=Levels(found=0.4, medium=0.406, high=0.619),
    delete=Levels(found=0.7, medium=0.752, high=0.752),
)
