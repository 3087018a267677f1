"""Thresholds of the bundled model; `python -m training.reader.tuning` writes this file."""

from cal_ai.extractors.reader.decide import Levels, Thresholds

THRESHOLDS = Thresholds(
    create=Levels(found=0.75, medium=0.751, high=0.978),
    update=Levels(found=0.5, medium=0.505, high=0.764),
    delete=Levels(found=0.7, medium=0.701, high=0.775),
)
