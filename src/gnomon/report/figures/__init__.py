"""Estimates in, Matplotlib out: nothing here draws a random number or computes an estimate."""

from gnomon.report.figures.board import board_rows, draw_board
from gnomon.report.figures.boxes import Box, box_of, box_plots, box_rows
from gnomon.report.figures.comparisons import pairwise_rows, pairwise_table
from gnomon.report.figures.curves import (
    MedianCurve,
    cumulated_error_curves,
    cumulated_error_rows,
    median_curves,
    median_rows,
)
from gnomon.report.figures.differences import (
    comparison_rows,
    difference_bars,
    improvement_bars,
    improvement_heat_map,
)
from gnomon.report.figures.efficiency import efficiency_rows, sample_efficiency_curves
from gnomon.report.figures.intervals import interval_panels, interval_rows
from gnomon.report.figures.planning import (
    power_curves,
    power_rows,
    subsample_distributions,
    subsample_rows,
)
from gnomon.report.figures.profiles import profile_curves, profile_rows
from gnomon.report.figures.record import Figure

__all__ = [
    "Box",
    "Figure",
    "MedianCurve",
    "board_rows",
    "box_of",
    "box_plots",
    "box_rows",
    "comparison_rows",
    "cumulated_error_curves",
    "cumulated_error_rows",
    "difference_bars",
    "draw_board",
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
