"""Variances of an algorithm's tasks, moderated by those of the other algorithms of a table.

Few runs say little of a variance, and other algorithms on the same task say something of it. As in
Smyth's moderated t (2004, section 3) each variance is drawn towards a prior: the mean variance of
the task over the algorithms, times how much more the algorithm varies than they do. The prior
counts as :data:`PRIOR_DF` runs. Where algorithms are compared the degrees of freedom stay those of
their own runs, since tasks whose variances are no multiples of each other would else be believed
too soon. The interval of one algorithm has a few more (:func:`prior_dfs`).

Measured on the mean in 21 populations: at 2 runs intervals are 17 to 22 % narrower and hold 97 % of
nominally 95, at 3 runs 6 to 7 % narrower, from 5 on equal; over all pairs of algorithms tests find
more at a smaller error. A pattern of spreads over tasks that is one algorithm's own makes its
intervals wider.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from gnomon.errors import ScoreDataError
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.metrics import Metric
from gnomon.stats.small_samples.small_sample import Influences, task_variances
from gnomon.stats.strata import Strata

#: Weight of the prior, in degrees of freedom.
PRIOR_DF = 2.0


def moderated_variances(variances: FloatArray, dfs: FloatArray) -> FloatArray:
    """Return variances drawn towards what the other algorithms show on the same task.

    With s_t the mean variance of task t over algorithms and r_a the mean over tasks of an
    algorithm's variance over s_t, the result is ``(2 r_a s_t + d v_at) / (2 + d)``.

    Parameters
    ----------
    variances : ndarray of float, shape (algorithms, tasks)
        Each algorithm's own.
    dfs : ndarray of float, shape (algorithms, tasks)
        Their degrees of freedom d; 0 where a variance is not known, for want of a second run.

    Returns
    -------
    ndarray of float, shape (algorithms, tasks)
        The own variance where no other algorithm's is known; NaN where none is.

    Examples
    --------
    >>> own = np.array([[1.0, 3.0], [3.0, 1.0]])
    >>> moderated_variances(own, np.full((2, 2), 2.0))
    array([[1.5, 2.5],
           [2.5, 1.5]])
    """
    known = dfs > 0.0
    own = np.where(known, variances, np.nan)
    n_known = known.sum(axis=0)
    common = np.where(known, variances, 0.0).sum(axis=0) / np.where(n_known > 0, n_known, np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = np.where(known & (common > 0.0), own / common, 0.0)
        counted = (known & (common > 0.0)).sum(axis=1)
        factor = ratios.sum(axis=1) / np.maximum(counted, 1)
        prior = factor[:, None] * common
        drawn = (PRIOR_DF * prior + dfs * np.where(known, variances, 0.0)) / (PRIOR_DF + dfs)
    alone = n_known - known < 1
    return np.where(alone, own, drawn)


def prior_dfs(dfs: FloatArray) -> FloatArray:
    """Return the degrees of freedom that the prior adds to the interval of one algorithm.

    Per task they are ``min(1, d**2 / 4) (1 - 1/T)``, T being how many tasks have a prior: a quarter
    at two runs, one from three runs on, and none on a single task, where the prior is the own
    variance. Picked on populations that were smoothed from published runs, at 2 runs for 97 % of
    nominally 95, and judged on others.

    Parameters
    ----------
    dfs : ndarray of float, shape (algorithms, tasks)
        Degrees of freedom d of each algorithm's own variances; 0 where there is none.

    Returns
    -------
    ndarray of float, shape (algorithms, tasks)

    Examples
    --------
    >>> prior_dfs(np.array([[1.0, 2.0], [4.0, 2.0]]))
    array([[0.125, 0.5  ],
           [0.5  , 0.5  ]])
    """
    known = dfs > 0.0
    shared = known & (known.sum(axis=0) > 1)
    most = 1.0 - 1.0 / np.maximum(shared.sum(axis=1), 1)
    return np.asarray(np.where(shared, np.minimum(1.0, np.square(dfs / 2.0)), 0.0) * most[:, None])


def expect_table(scores: ScoreTable, method: str, over: str) -> None:
    """Refuse variances of the table where there are none, or where nothing takes them.

    Raises
    ------
    ScoreDataError
        There is one algorithm alone; or the method is none for few runs; or the estimates are not
        over ``runs`` of fixed tasks.
    """
    fault = None
    if len(scores.algorithms) < 2:
        fault = f"expected two algorithms or more, found {scores.algorithms[0]} alone"
    elif method not in ("auto", "small_sample"):
        fault = f"expected the method small_sample, found {method}"
    elif over != "runs":
        fault = f"expected estimates over runs of all tasks, found {over}"
    if fault is not None:
        raise ScoreDataError(f"variances of the table: {fault}")


class TableVariances:
    """The moderated influences of every algorithm of a table, computed once a metric and tasks.

    Parameters
    ----------
    scores : ScoreTable
    alone : bool
        Whether intervals are of one algorithm each, not of differences.

    Examples
    --------
    >>> from gnomon.stats import metric_named
    >>> scores = ScoreTable.from_arrays({"a": [[0.0], [2.0]], "b": [[0.0], [4.0]]})
    >>> found = TableVariances(scores).influences(metric_named("mean"), scores.tasks)
    >>> found["a"].variances()  # of a mean of two runs; its own, since there is one task
    array([1.])
    """

    def __init__(self, scores: ScoreTable, *, alone: bool = False) -> None:
        self._scores, self._alone = scores, alone
        self._found: dict[tuple[str, tuple[str, ...]], Mapping[str, Influences]] = {}

    def influences(self, metric: Metric, tasks: Sequence[str]) -> Mapping[str, Influences]:
        """Return each algorithm's influences on those of the tasks that it has.

        An algorithm whose influences are not finite, or have no formula, is left out.
        """
        key = metric.name, tuple(tasks)
        if key not in self._found:
            self._found[key] = self._moderated(metric, tasks)
        return self._found[key]

    def _moderated(self, metric: Metric, tasks: Sequence[str]) -> Mapping[str, Influences]:
        parts: dict[str, Influences] = {}
        places = {}
        for name in self._scores.algorithms:
            there = [i for i, task in enumerate(tasks) if self._scores.runs(name, task).size]
            if not there:
                continue
            strata = Strata.from_table(self._scores, name, [tasks[i] for i in there])
            found = metric.influences(strata)
            if found is not None:
                parts[name], places[name] = found, np.array(there)
        shape = len(parts), len(tasks)
        own, raw, dfs = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        for i, (name, part) in enumerate(parts.items()):
            own[i, places[name]] = part.spreads()
            raw[i, places[name]] = task_variances(part.strata, part.strata.values)
            dfs[i, places[name]] = part.strata.counts - 1
        # Raw variances are not finite where a censored run was cut off.
        raw_dfs = np.where(np.isfinite(raw), dfs, 0.0)
        moderated = moderated_variances(own, dfs), moderated_variances(raw, raw_dfs)
        more = prior_dfs(dfs) if self._alone else np.zeros(shape)
        return {
            name: replace(
                part,
                moderated=(moderated[0][i, places[name]], moderated[1][i, places[name]]),
                prior_dfs=more[i, places[name]],
            )
            for i, (name, part) in enumerate(parts.items())
        }
