"""Thresholds of the bundled model; `python -m training.reader.tuning` writes this file."""

from cal_ai.extractors.reader.decide import Levels, Thresholds

THRESHOLDS = Thresholds(
    create=Levels(found=0.7, medium=0.701, high=0.961),
    update=Levels(found=0.4, medium=0.401, high=0.754),
    delete=Levels(found=0.8, medium=0.824, high=0.824),
)
