"""Distance from the best algorithm on each task: Dolan and Moré's ratios, Recht's likelihoods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.cautions import shared_tasks
from gnomon.stats.intervals import satterthwaite
from gnomon.stats.strata import Strata

DistanceKind = Literal["ratio", "likelihood"]
#: Added to every deviation, as Recht does, so that no variance is zero.
FLOOR = 1e-6


def distances(scores: ScoreTable, kind: DistanceKind) -> FloatArray:
    """Return the distance of each algorithm from the best one on each task that all share.

    Shape (algorithms, tasks); the arguments are those of :func:`~gnomon.stats.profile`. Means that
    are not positive have no ratio, single and censored runs no test: ScoreDataError.
    """
    higher_is_better, tasks = scores.higher_is_better, shared_tasks(scores)
    strata = [Strata.from_table(scores, name, tasks) for name in scores.algorithms]
    means = np.stack([one.task_means for one in strata])
    counts = np.stack([one.counts for one in strata]).astype(np.float64)
    deviations = np.sqrt([one.task_variances for one in strata])
    names = list(scores.algorithms)
    if kind == "ratio":
        wanted = "a positive mean for a ratio"
        _refuse(names, tasks, means, means <= 0.0, wanted)
        if not np.isfinite(means).any():
            raise ScoreDataError("ratio: expected a finite mean; every task has censored runs")
        # Infinite where a method failed, with an infinite cost or a score of 0.
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = means.max(axis=0) / means if higher_is_better else means / means.min(axis=0)
        return np.where(np.isnan(ratios), np.inf, ratios)
    wanted = "finite scores to test (profiles of run scores accept censored runs)"
    _refuse(names, tasks, means, ~np.isfinite(means), wanted)
    _refuse(names, tasks, counts, counts < 2, "at least 2 runs for Welch's test")
    return _likelihood_distances(means, deviations, counts, higher_is_better=higher_is_better)


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


def _likelihood_distances(
    means: FloatArray, deviations: FloatArray, n_runs: FloatArray, *, higher_is_better: bool
) -> FloatArray:
    """Return the evidence that each method is not the best, from published summaries alone.

    On each task the distance of a method is minus the decimal logarithm of the one-sided p-value
    of Welch's test against the method with the best mean, as in B. Recht's essay on the benchmark
    of Machado et al. (2018). The best method has distance 0.
    """
    from scipy import special

    m = means * (1.0 if higher_is_better else -1.0)
    s, n = deviations + FLOOR, np.broadcast_to(n_runs, m.shape)
    columns, best = np.arange(m.shape[1]), np.argmax(m, axis=0)
    variances, dfs = (
        np.stack(np.broadcast_arrays(x, x[best, columns]), -1) for x in (s**2 / n, n - 1.0)
    )
    freedom = satterthwaite(variances, dfs)
    t = (m - m[best, columns]) / np.sqrt(variances.sum(axis=-1))
    found: FloatArray = -np.log10(special.stdtr(freedom, t))
    found[best, columns] = 0.0
    return found
