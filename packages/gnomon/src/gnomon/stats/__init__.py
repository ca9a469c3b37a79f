"""Statistics of scores: estimates, comparisons and plans, with their uncertainty.

All functions take a :class:`~gnomon.scores.table.ScoreTable` and return a table of small records,
shown as text, data frame or figure.

How good is each algorithm?
    :func:`estimate` gives means, medians, interquartile means, optimality gaps and metrics of your
    own (:class:`Metric`), over all tasks or for each, with intervals that hold with few runs.
Which is better, and by how much?
    :func:`compare` takes two algorithms or every pair; differences and the probability of
    improvement, with intervals and corrected p-values.
Does a new version pass?
    :func:`gate` decides claims: no larger loss than a margin, no regression, a gain.
Which candidates of a loop are better?
    :class:`Loop` keeps, discards or asks for more runs, with an error over the whole loop.
Where is it better?
    :func:`profile` shows the whole distribution of scores, or the distance from the best.
When is it better?
    :func:`curves` follows metrics along the steps of training; :func:`summarize_runs` makes a table
    of one number about each run's curve.
How many runs does it take?
    :func:`plan` gives the power of studies with other numbers of runs.
How do models compare on the same items?
    For a table of items (``units="items"``) the same verbs give paired differences, Wilson's
    intervals, cluster-robust errors and ``pass@K``. The formulas: :func:`wilson`,
    :func:`tango`, :func:`mcnemar`, :func:`mann_whitney`, :func:`holm`.
Building blocks
    Arrays of shape (runs, tasks) or :class:`Strata`; metrics by name (:func:`metric_named`).
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
