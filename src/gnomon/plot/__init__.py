"""Estimates in, Matplotlib out: nothing here draws a random number or computes an estimate."""

from gnomon.plot.boxes import (
    Box,
    box_of,
    box_plots,
    box_rows,
)
from gnomon.plot.comparisons import pairwise_rows, pairwise_table
from gnomon.plot.curves import (
    CumulatedErrorRows,
    MedianCurve,
    cumulated_error_curves,
    median_curves,
    median_rows,
)
from gnomon.plot.differences import (
    comparison_rows,
    difference_bars,
    improvement_bars,
    improvement_heat_map,
)
from gnomon.plot.efficiency import efficiency_rows, sample_efficiency_curves
from gnomon.plot.intervals import interval_panels, interval_rows
from gnomon.plot.planning import (
    power_curves,
    power_rows,
    subsample_distributions,
    subsample_rows,
)
from gnomon.plot.profiles import profile_curves, profile_rows
from gnomon.plot.record import Figure

__all__ = [
    "Box",
    "CumulatedErrorRows",
    "Figure",
    "MedianCurve",
    "box_of",
    "box_plots",
    "box_rows",
    "comparison_rows",
    "cumulated_error_curves",
    "difference_bars",
    "efficiency_rows",
    "improvement_bars",
    "improvement_heat_map",
    "interval_panels",
    "interval_rows",
    "median_curves",
    "median_rows",
    "pairwise_rows",
    "pairwise_table",
    "power_curves",
    "power_rows",
    "profile_curves",
    "profile_rows",
    "sample_efficiency_curves",
    "subsample_distributions",
    "subsample_rows",
]
