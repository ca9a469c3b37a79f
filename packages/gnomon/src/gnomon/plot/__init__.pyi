from .boxes import Box as Box
from .boxes import box_of as box_of
from .boxes import box_plots as box_plots
from .boxes import box_rows as box_rows
from .curves import MedianCurve as MedianCurve
from .curves import cumulated_error_curves as cumulated_error_curves
from .curves import cumulated_error_rows as cumulated_error_rows
from .curves import drawn_trials as drawn_trials
from .curves import median_curves as median_curves
from .curves import median_rows as median_rows
from .curves import sample_efficiency_curves as sample_efficiency_curves
from .graphs import correlation_graph as correlation_graph
from .heat_maps import MOST_AT_HALF_WIDTH as MOST_AT_HALF_WIDTH
from .heat_maps import improvement_heat_map as improvement_heat_map
from .heat_maps import pairwise_rows as pairwise_rows
from .heat_maps import pairwise_table as pairwise_table
from .heat_maps import win_heat_map as win_heat_map
from .intervals import difference_bars as difference_bars
from .intervals import improvement_bars as improvement_bars
from .intervals import interval_panels as interval_panels
from .intervals import interval_rows as interval_rows
from .items import cost_points as cost_points
from .items import item_bars as item_bars
from .items import item_plan_curves as item_plan_curves
from .items import look_bands as look_bands
from .items import share_bars as share_bars
from .planning import power_curves as power_curves
from .planning import width_curves as width_curves
from .profiles import profile_curves as profile_curves
from .ranks import critical_difference_diagram as critical_difference_diagram
from .ranks import difficulty_ladder as difficulty_ladder
from .ranks import rank_interval_plot as rank_interval_plot
from .record import Figure as Figure
from .style import SIZE as SIZE
from .style import default_settings as default_settings
from .style import drawing_of as drawing_of
from .style import new_drawing as new_drawing
from .style import number as number
from .style import series_style as series_style
from .subsets import error_by_size_curves as error_by_size_curves
from .subsets import predicted_against_true as predicted_against_true
from .subsets import task_bars as task_bars

__all__ = [
    "MOST_AT_HALF_WIDTH",
    "SIZE",
    "Box",
    "Figure",
    "MedianCurve",
    "box_of",
    "box_plots",
    "box_rows",
    "correlation_graph",
    "cost_points",
    "critical_difference_diagram",
    "cumulated_error_curves",
    "cumulated_error_rows",
    "default_settings",
    "difference_bars",
    "difficulty_ladder",
    "drawing_of",
    "drawn_trials",
    "error_by_size_curves",
    "improvement_bars",
    "improvement_heat_map",
    "interval_panels",
    "interval_rows",
    "item_bars",
    "item_plan_curves",
    "look_bands",
    "median_curves",
    "median_rows",
    "new_drawing",
    "number",
    "pairwise_rows",
    "pairwise_table",
    "power_curves",
    "predicted_against_true",
    "profile_curves",
    "rank_interval_plot",
    "sample_efficiency_curves",
    "series_style",
    "share_bars",
    "task_bars",
    "width_curves",
    "win_heat_map",
]
