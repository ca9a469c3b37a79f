"""Distance from the best: Dolan and Moré's ratio profiles, and Recht's likelihood profiles.

Both ask on every task how far a method is from the best one there, and show the share of tasks on
which it is no farther than tau.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError
from gnomon.scores.readers.summaries import SummaryTable
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.cautions import shared_tasks
from gnomon.stats.profiles.performance import Profile
from gnomon.stats.samples import Strata, as_strata

DistanceKind = Literal["ratio", "likelihood", "permutation"]


def ratios_to_best(
    costs: Mapping[str, npt.ArrayLike], *, higher_is_better: bool = False
) -> dict[str, FloatArray]:
    """Return on each task the cost of each method over that of the best one.

    Parameters
    ----------
    costs : mapping from name to array_like of shape (tasks,)
        Positive numbers, say mean errors or times; a method that failed on a task has NaN or
        infinity there, and an infinite ratio.
    higher_is_better : bool
        Then the ratio is that of the best score over the method's own.

    Raises
    ------
    ValueError
        A number is not positive: ratios need a zero that means something.

    Examples
    --------
    >>> ratios_to_best({"a": [1.0, 6.0], "b": [2.0, 3.0]})
    {'a': array([1., 2.]), 'b': array([2., 1.])}
    """
    x = np.stack([np.asarray(v, dtype=np.float64) for v in costs.values()])
    if np.any(x <= 0.0):
        name, task = np.argwhere(x <= 0.0)[0]
        raise ValueError(
            f"{list(costs)[name]}, task {task}: expected a positive number for a ratio, "
            f"found {x[name, task]:g}"
        )
    x = np.where(np.isnan(x), 0.0 if higher_is_better else np.inf, x)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = x.max(axis=0) / x if higher_is_better else x / x.min(axis=0)
    ratios = np.where(np.isnan(ratios), np.inf, ratios)
    return dict(zip(costs, ratios, strict=True))


def ratio_profiles(
    costs: Mapping[str, npt.ArrayLike],
    tau: npt.ArrayLike | None = None,
    *,
    higher_is_better: bool = False,
) -> list[Profile]:
    """Return Dolan and Moré's performance profiles (2002).

    At tau = 1 a profile is the share of tasks on which the method is the best, for large tau the
    share of tasks that it solves at all. Profiles depend on which methods are compared.

    Parameters
    ----------
    costs, higher_is_better
        As in :func:`ratios_to_best`.
    tau : array_like of float, optional
        Ratios, ascending; all that occur if not given.

    Returns
    -------
    list of Profile
        Share of tasks with a ratio of at most tau; there is no band.

    Examples
    --------
    >>> first, second = ratio_profiles({"a": [1.0, 6.0], "b": [2.0, 3.0]}, [1.0, 2.0])
    >>> first.value
    array([0.5, 1. ])
    """
    ratios = ratios_to_best(costs, higher_is_better=higher_is_better)
    everything = np.concatenate(list(ratios.values()))
    at = np.unique(everything[np.isfinite(everything)]) if tau is None else np.asarray(tau, float)
    return [
        _distance_profile(name, "ratio", np.searchsorted(np.sort(row), at, "right") / row.size, at)
        for name, row in ratios.items()
    ]


def _distance_profile(name: str, kind: str, value: FloatArray, tau: FloatArray) -> Profile:
    nothing = np.full(tau.size, np.nan)
    return Profile(name, kind, tau, value, nothing, nothing, np.nan, "none")


def likelihood_distances(
    means: npt.ArrayLike,
    deviations: npt.ArrayLike,
    n_runs: npt.ArrayLike,
    *,
    df: Literal["welch", "as_published"] = "welch",
    higher_is_better: bool = True,
    floor: float = 1e-6,
) -> FloatArray:
    """Return how surely each method is not the best, from published summaries alone.

    On each task the distance of a method is minus the decimal logarithm of the one-sided p-value
    of Welch's test against the method with the best mean: how unlikely so large a shortfall would
    be if there were none. The best method itself has distance 0.

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
        Added to every deviation, as published, so that zeros can be divided by.

    Returns
    -------
    ndarray of float, shape (methods, tasks)

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
    columns = np.arange(m.shape[1])
    best = np.argmax(m, axis=0)
    variance = np.square(s) / n
    total = variance + variance[best, columns]
    quartic = s**4 / (n**2 if df == "welch" else n) / (n - 1.0)
    freedom = np.square(total) / (quartic + quartic[best, columns])
    t = (m - m[best, columns]) / np.sqrt(total)
    distances: FloatArray = -np.log10(special.stdtr(freedom, t))
    distances[best, columns] = 0.0
    return distances


def permutation_distances(
    scores: Sequence[Strata | npt.ArrayLike],
    *,
    n_permutations: int = 9999,
    higher_is_better: bool = True,
    rng: np.random.Generator,
) -> FloatArray:
    """Return the distances of :func:`likelihood_distances` from raw runs, by permutation tests.

    Parameters
    ----------
    scores : list of array_like of shape (runs, tasks), or Strata
        One for each method, on the same tasks.
    n_permutations : int
        Number of relabelings, for each method and task.
    higher_is_better : bool
        Direction of the scores.
    rng : numpy.random.Generator
        Source of the relabelings.

    Returns
    -------
    ndarray of float, shape (methods, tasks)
        At most ``log10(n_permutations + 1)``.

    Examples
    --------
    >>> scores = [[[3.0], [4.0], [5.0]], [[1.0], [2.0], [0.0]]]
    >>> found = permutation_distances(scores, n_permutations=99, rng=np.random.default_rng(0))
    >>> found.round(1).tolist()
    [[0.0], [1.5]]
    """
    sign = 1.0 if higher_is_better else -1.0
    runs = [[sign * x for x in as_strata(one).per_task()] for one in scores]
    n_tasks = len(runs[0])
    distances = np.zeros((len(runs), n_tasks))
    for t in range(n_tasks):
        means = [one[t].mean() for one in runs]
        best = int(np.argmax(means))
        for m in range(len(runs)):
            if m != best:
                x = np.concatenate([runs[m][t], runs[best][t]])
                n = runs[m][t].size
                order = rng.permuted(np.tile(np.arange(x.size), (n_permutations, 1)), axis=1)
                sums = x[order[:, :n]].sum(axis=1)
                observed = runs[m][t].sum()
                # A sum that differs by rounding only is as small.
                slack = 1e-9 * float(np.abs(x).max())
                p = (1 + int(np.sum(sums <= observed + slack))) / (n_permutations + 1)
                distances[m, t] = -np.log10(p)
    return distances


def likelihood_profiles(
    names: list[str],
    distances: FloatArray,
    tau: npt.ArrayLike | None = None,
    *,
    kind: Literal["likelihood", "permutation"] = "likelihood",
) -> list[Profile]:
    """Return the share of tasks on which each method's distance is below tau.

    Parameters
    ----------
    names : list of str
        The methods.
    distances : ndarray of float, shape (methods, tasks)
        From :func:`likelihood_distances` or :func:`permutation_distances`.
    tau : array_like of float, optional
        Ascending, in decimal orders of p: 2 means p = 0.01. 101 from 0 to 5 if not given.
    kind : str
        Where the distances come from.

    Examples
    --------
    >>> d = likelihood_distances([[10.0, 1.0], [4.0, 1.2]], [[1.0, 1.0], [1.0, 1.0]], 5)
    >>> [profile.value.tolist() for profile in likelihood_profiles(["a", "b"], d, [0.001, 2.0])]
    [[0.5, 1.0], [0.5, 0.5]]
    """
    at = np.linspace(0.0, 5.0, 101) if tau is None else np.asarray(tau, dtype=np.float64)
    return [
        _distance_profile(name, kind, np.searchsorted(np.sort(row), at, "left") / row.size, at)
        for name, row in zip(names, distances, strict=True)
    ]


def distance_profiles(
    scores: ScoreTable | SummaryTable,
    kind: DistanceKind,
    tau: npt.ArrayLike | None = None,
    *,
    df: Literal["welch", "as_published"] = "welch",
    higher_is_better: bool = True,
    n_permutations: int = 9999,
    rng: np.random.Generator,
) -> list[Profile]:
    """Return profiles of the distance from the best algorithm on every task, from a table.

    Parameters
    ----------
    scores : ScoreTable or SummaryTable
        One score for each run; or means, standard deviations and numbers of runs. Only tasks that
        all algorithms have count.
    kind : str
        ``ratio``: of means (Dolan and Moré); ``likelihood``: minus the decimal logarithm of Welch's
        p-value (Recht); ``permutation``: the same from permutations of the runs, which a
        SummaryTable does not have.
    tau, df, n_permutations, rng
        As in :func:`ratio_profiles`, :func:`likelihood_distances`, :func:`permutation_distances`.
    higher_is_better : bool
        Direction of a SummaryTable; a ScoreTable knows its own.

    Raises
    ------
    ScoreDataError
        Ratios of means that are not positive, permutations without runs, Welch's test of a task
        with one run, tests of censored runs.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"a": [[9.0, 3.0], [8.0, 5.0]], "b": [[3, 7], [4, 9]]})
    >>> rng = np.random.default_rng(0)
    >>> [p.value.tolist() for p in distance_profiles(table, "ratio", [1.0, 2.0], rng=rng)]
    [[0.5, 1.0], [0.5, 0.5]]
    """
    if isinstance(scores, ScoreTable):
        higher_is_better = scores.higher_is_better
        tasks: Sequence[str] = shared_tasks(scores)
        strata = [Strata.from_table(scores, name, tasks) for name in scores.algorithms]
        means = np.stack([one.task_means for one in strata])
    else:
        tasks, means, strata = scores.tasks, scores.mean, []
    names = list(scores.algorithms)
    if kind == "ratio":
        _refuse_zero(names, tasks, means)
        if not np.isfinite(means).any():
            raise ScoreDataError("ratio: expected a finite mean; every task has censored runs")
        costs = dict(zip(names, means, strict=True))
        return ratio_profiles(costs, tau, higher_is_better=higher_is_better)
    if kind == "permutation":
        if not strata:
            raise ScoreDataError("permutation: expected runs, found means and standard deviations")
        _refuse_infinite(names, tasks, means)
        distances = permutation_distances(
            list(strata), n_permutations=n_permutations, higher_is_better=higher_is_better, rng=rng
        )
        return likelihood_profiles(names, distances, tau, kind=kind)
    _refuse_infinite(names, tasks, means)
    if isinstance(scores, ScoreTable):
        counts = np.stack([one.counts for one in strata]).astype(np.float64)
        deviations = np.array([[x.std() for x in one.per_task()] for one in strata])
        deviations *= np.sqrt(counts / np.maximum(counts - 1.0, 1.0))
    else:
        deviations, counts = scores.deviation, scores.n_runs
    _refuse_single(names, tasks, counts)
    distances = likelihood_distances(
        means, deviations, counts, df=df, higher_is_better=higher_is_better
    )
    return likelihood_profiles(names, distances, tau)


def _refuse_zero(names: Sequence[str], tasks: Sequence[str], means: FloatArray) -> None:
    for row, column in np.argwhere(means <= 0.0)[:1]:
        raise ScoreDataError(
            f"{names[row]}, task {tasks[column]}: expected a positive mean for a ratio, found "
            f"{means[row, column]:g}"
        )


def _refuse_infinite(names: Sequence[str], tasks: Sequence[str], means: FloatArray) -> None:
    for row, column in np.argwhere(~np.isfinite(means))[:1]:
        raise ScoreDataError(
            f"{names[row]}, task {tasks[column]}: expected finite scores to test, found censored "
            "runs; profiles of run scores take them"
        )


def _refuse_single(names: Sequence[str], tasks: Sequence[str], counts: FloatArray) -> None:
    for row, column in np.argwhere(counts < 2)[:1]:
        raise ScoreDataError(
            f"{names[row]}, task {tasks[column]}: expected at least 2 runs for Welch's test, found "
            f"{counts[row, column]:g}"
        )
