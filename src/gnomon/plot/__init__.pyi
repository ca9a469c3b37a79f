from .boxes import Box as Box
from .boxes import box_of as box_of
from .boxes import box_plots as box_plots
from .boxes import box_rows as box_rows
from .comparisons import difference_bars as difference_bars
from .comparisons import improvement_bars as improvement_bars
from .comparisons import improvement_heat_map as improvement_heat_map
from .comparisons import pairwise_rows as pairwise_rows
from .comparisons import pairwise_table as pairwise_table
from .critical_difference import critical_difference_diagram as critical_difference_diagram
from .curves import MedianCurve as MedianCurve
from .curves import cumulated_error_curves as cumulated_error_curves
from .curves import cumulated_error_rows as cumulated_error_rows
from .curves import median_curves as median_curves
from .curves import median_rows as median_rows
from .curves import sample_efficiency_curves as sample_efficiency_curves
from .ease import ease_heat_map as ease_heat_map
from .intervals import interval_panels as interval_panels
from .intervals import interval_rows as interval_rows
from .ladder import difficulty_ladder as difficulty_ladder
from .planning import power_curves as power_curves
from .planning import subsample_distributions as subsample_distributions
from .planning import width_curves as width_curves
from .predictions import error_strips as error_strips
from .predictions import predicted_against_true as predicted_against_true
from .profiles import profile_curves as profile_curves
from .rank_intervals import rank_interval_plot as rank_interval_plot
from .record import Figure as Figure
from .subset_errors import error_by_size_curves as error_by_size_curves
from .subset_errors import pareto_front_plot as pareto_front_plot
from .tournament import tournament_graph as tournament_graph

__all__ = [
    "Box",
    "Figure",
    "MedianCurve",
    "box_of",
    "box_plots",
    "box_rows",
    "critical_difference_diagram",
    "cumulated_error_curves",
    "cumulated_error_rows",
    "difference_bars",
    "difficulty_ladder",
    "ease_heat_map",
    "error_by_size_curves",
    "error_strips",
    "improvement_bars",
    "improvement_heat_map",
    "interval_panels",
    "interval_rows",
    "median_curves",
    "median_rows",
    "pairwise_rows",
    "pairwise_table",
    "pareto_front_plot",
    "power_curves",
    "predicted_against_true",
    "profile_curves",
    "rank_interval_plot",
    "sample_efficiency_curves",
    "subsample_distributions",
    "tournament_graph",
    "width_curves",
]
