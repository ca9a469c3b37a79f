"""Figures of what was measured: records in, Matplotlib out.

Nothing here draws a random number or computes an estimate. Each function takes records and, as
``ax``, axes for a panel of a figure of one's own; without them it makes a figure that no window and
no global state knows. Colours are told apart by the colour-blind, and by dash and marker in print;
``series`` gives a name the same style in every figure.

Scores
    :func:`interval_panels` of estimates; :func:`difference_bars`, :func:`improvement_bars` and
    :func:`improvement_heat_map` of comparisons; :func:`profile_curves`;
    :func:`sample_efficiency_curves`; :func:`power_curves` and :func:`width_curves` of
    plans. What a verb returned draws itself with its words:
    ``estimate(scores).plot()``.
Ranks
    :func:`rank_interval_plot`, :func:`win_heat_map`, :func:`critical_difference_diagram`.
Smaller suites
    :func:`predicted_against_true`, :func:`error_by_size_curves`, :func:`task_bars`,
    :func:`correlation_graph`.
Runs of the game
    :func:`cumulated_error_curves`, :func:`median_curves`, :func:`box_plots`,
    :func:`pairwise_table`, :func:`difficulty_ladder`.

A :class:`Figure` is a drawing with its caption and its numbers, as a report carries it.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
