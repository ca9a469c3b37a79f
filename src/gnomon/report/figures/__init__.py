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
from gnomon.report.figures.intervals import interval_panels, interval_rows
from gnomon.report.figures.record import Figure

__all__ = [
    "Box",
    "Figure",
    "MedianCurve",
    "board_rows",
    "box_of",
    "box_plots",
    "box_rows",
    "cumulated_error_curves",
    "cumulated_error_rows",
    "draw_board",
    "interval_panels",
    "interval_rows",
    "median_curves",
    "median_rows",
    "pairwise_rows",
    "pairwise_table",
]
