"""Thresholds of the bundled model; `python -m training.reader.tuning` writes this file."""

from cal_ai.extractors.reader.decide import Levels, Thresholds

THRESHOLDS = Thresholds(
    create=Levels(found=0.7, medium=0.702, high=0.962),
    update=Levels(found=0.4, medium=0.406, high=0.769),
    delete=Levels(found=0.8, medium=0.818, high=0.818),
)
