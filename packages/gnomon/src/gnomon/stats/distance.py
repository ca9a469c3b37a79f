"""Distance from the best algorithm on each task: Dolan and Moré's ratios, Recht's likelihoods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError
from gnomon.scores.readers.summaries import SummaryTable
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.cautions import shared_tasks
from gnomon.stats.samples import Strata

DistanceKind = Literal["ratio", "likelihood"]
DegreesOfFreedom = Literal["welch", "as_published"]


def distances(
    scores: ScoreTable | SummaryTable,
    kind: DistanceKind,
    *,
    df: DegreesOfFreedom = "welch",
    higher_is_better: bool = True,
) -> FloatArray:
    """Return the distance of each algorithm from the best one on each task that all share.

    Shape (algorithms, tasks); the arguments are those of :func:`~gnomon.stats.profile`. Means that
    are not positive have no ratio, single and censored runs no test: ScoreDataError.
    """
    if isinstance(scores, ScoreTable):
        higher_is_better, tasks = scores.higher_is_better, shared_tasks(scores)
        strata = [Strata.from_table(scores, name, tasks) for name in scores.algorithms]
        means = np.stack([one.task_means for one in strata])
        counts = np.stack([one.counts for one in strata]).astype(np.float64)
        deviations = np.sqrt([one.task_variances for one in strata])
    else:
        tasks, means = tuple(scores.tasks), scores.mean
        counts, deviations = scores.n_runs, scores.deviation
    names = list(scores.algorithms)
    if kind == "ratio":
        wanted = "a positive mean for a ratio"
        _refuse(names, tasks, means, means <= 0.0, wanted)
        if not np.isfinite(means).any():
            raise ScoreDataError("ratio: expected a finite mean; every task has censored runs")
        return ratios_to_best(means, higher_is_better=higher_is_better)
    wanted = "finite scores to test (profiles of run scores accept censored runs)"
    _refuse(names, tasks, means, ~np.isfinite(means), wanted)
    _refuse(names, tasks, counts, counts < 2, "at least 2 runs for Welch's test")
    return likelihood_distances(means, deviations, counts, df=df, higher_is_better=higher_is_better)


def _refuse(
    names: Sequence[str],
    tasks: Sequence[str],
    numbers: FloatArray,
    bad: npt.NDArray[np.bool_],
    wanted: str,
) -> None:
    """Raise an error that names the first cell with a number that is not as wanted."""
    for row, column in np.argwhere(bad)[:1]:
        raise ScoreDataError(
            f"{names[row]}, task {tasks[column]}: expected {wanted}, found {numbers[row, column]:g}"
        )


def ratios_to_best(costs: npt.ArrayLike, *, higher_is_better: bool = False) -> FloatArray:
    """Return on each task the cost of each method over that of the best one (Dolan and Moré 2002).

    Where higher is better, it is the ratio of the best score to the method's own. It is infinite
    where a method failed, with an infinite cost or a score of 0.
    """
    x = np.asarray(costs, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = x.max(axis=0) / x if higher_is_better else x / x.min(axis=0)
    return np.where(np.isnan(ratios), np.inf, ratios)


def likelihood_distances(
    means: npt.ArrayLike,
    deviations: npt.ArrayLike,
    n_runs: npt.ArrayLike,
    *,
    df: DegreesOfFreedom = "welch",
    higher_is_better: bool = True,
    floor: float = 1e-6,
) -> FloatArray:
    """Return the evidence that each method is not the best, from published summaries alone.

    On each task the distance of a method is minus the decimal logarithm of the one-sided p-value
    of Welch's test against the method with the best mean. The best method has distance 0.

    Parameters
    ----------
    means, deviations : array_like of shape (methods, tasks)
        Mean and standard deviation over runs.
    n_runs : array_like that broadcasts to (methods, tasks)
        Numbers of runs.
    df : str
        ``welch``: the degrees of freedom of Welch and Satterthwaite, s**4/(n**2 (n - 1)) in the
        denominator; ``as_published``: s**4/n/(n - 1), as in Recht's notebook, which makes them too
        small and distances too short.
    higher_is_better : bool
        Direction of the means.
    floor : float
        Added to every deviation, as published, so that no variance is zero.

    Notes
    -----
    B. Recht's essay on the benchmark of Machado et al. (2018) builds performance profiles in the
    sense of Dolan and Moré from these distances. In its numbers, Sarsa with Blob-PROST on Journey
    Escape has at 200 million frames what it has at 100 million.

    Examples
    --------
    >>> likelihood_distances([[10.0, 1.0], [4.0, 1.2]], [[1.0, 1.0], [1.0, 1.0]], 5).round(1)
    array([[0. , 0.4],
           [5.2, 0. ]])
    """
    from scipy import special

    m = np.asarray(means, dtype=np.float64) * (1.0 if higher_is_better else -1.0)
    s = np.asarray(deviations, dtype=np.float64) + floor
    n = np.broadcast_to(np.asarray(n_runs, dtype=np.float64), m.shape)
    columns, best = np.arange(m.shape[1]), np.argmax(m, axis=0)
    variance = np.square(s) / n
    total = variance + variance[best, columns]
    quartic = s**4 / (n**2 if df == "welch" else n) / (n - 1.0)
    freedom = np.square(total) / (quartic + quartic[best, columns])
    t = (m - m[best, columns]) / np.sqrt(total)
    found: FloatArray = -np.log10(special.stdtr(freedom, t))
    found[best, columns] = 0.0
    return found
