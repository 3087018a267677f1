"""What a result suggests to try next."""

from sat_bench.evaluation import Measurement
from sat_bench.report import shown_threshold
from truemark.counts import Weights

_PUBLISHED = "published defaults: 0.025 for base SaT models, 0.25 for the -sm ones"


def beyond_the_grid(measurement: Measurement, weights: Weights) -> str | None:
    """A hint to widen the grid where the optimum lies at its edge, else nothing."""
    thresholds = measurement.thresholds
    best = measurement.best(weights).threshold
    if len(thresholds) < 2 or best not in (thresholds[0], thresholds[-1]):
        return None
    step = thresholds[1] - thresholds[0]
    if best == thresholds[0]:
        if best <= 0:
            return None
        edge, flags = "first", f"-sweep-min {best / 10:g} -sweep-step {best / 10:g}"
    else:
        if best + step >= 1:
            return None
        wider = min(1.0, max(0.5, 2 * best))
        edge, flags = "last", f"-sweep-max {wider:g}"
    return (
        f"the optimum {shown_threshold(best)} is the {edge} point of the grid, "
        f"a better one may lie beyond it: try {flags} ({_PUBLISHED})"
    )
