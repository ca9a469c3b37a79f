"""rliable's library: interval estimates and performance profiles by the stratified bootstrap."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.compat.rliable.metrics import NotBatchedError, ResampledScores, flat
from gnomon.scores.table import FloatArray
from gnomon.stats.bootstrap import draw_key, quantiles
from gnomon.stats.profiles import average_score_profile, run_score_profile

RandomState = np.random.RandomState | np.random.Generator | int | None
#: Names of the methods, with the other names that rliable's base library arch has for them.
METHODS = {
    **{name: name for name in ("percentile", "basic", "bc", "bca", "norm")},
    **{"debiased": "bc", "bias-corrected": "bc"},
}


def _generator(random_state: RandomState) -> np.random.Generator:
    """Return a generator for anything that rliable accepts; a new one for None."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**32, size=4, dtype=np.uint64))
    return np.random.default_rng(random_state)


class StratifiedBootstrap:
    """Resample runs inside each task, the same indices for all arrays.

    Parameters
    ----------
    *args, **kwargs : array_like of shape (runs, tasks, ...)
        The data; keyword data is visible as attributes. A run is drawn as a whole over all axes
        after the second.
    random_state : RandomState, Generator, int or None
        Source of the draws; None for fresh entropy.
    task_bootstrap : bool
        Whether tasks are drawn with replacement too.

    Examples
    --------
    >>> bs = StratifiedBootstrap(np.arange(8.0).reshape(4, 2), random_state=1)
    >>> bs.conf_int(np.mean, reps=500, method="percentile").shape
    (2, 1)
    """

    def __init__(
        self,
        *args: npt.ArrayLike,
        random_state: RandomState = None,
        task_bootstrap: bool = False,
        **kwargs: npt.ArrayLike,
    ) -> None:
        self._args = tuple(np.asarray(x) for x in args)
        self._kwargs = {name: np.asarray(x) for name, x in kwargs.items()}
        self._rng, self._task_bootstrap = _generator(random_state), task_bootstrap
        self.index: Any = None
        self._show(self._args, self._kwargs)

    def _show(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Make the current data visible as attributes."""
        self.pos_data, self.kw_data = args, kwargs
        self.data = (args, kwargs)
        for name, value in kwargs.items():
            setattr(self, name, value)

    def update_indices(self) -> Any:
        """Return the indices of a new resample, one and the same for all arrays."""
        return self._index(self._args[0])

    def _index(self, x: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], ...]:
        """Return index arrays of one resample that broadcast to the shape of an array."""
        ones = (1,) * (x.ndim - 2)
        runs = self._rng.integers(0, x.shape[0], size=(*x.shape[:2], *ones))
        tasks = np.arange(x.shape[1]).reshape(1, x.shape[1], *ones)
        if self._task_bootstrap:
            tasks = self._rng.integers(0, x.shape[1], size=tasks.shape)
        rest = np.ogrid[tuple(slice(n) for n in (0, 0, *x.shape[2:]))][2:] if ones else []
        return (runs, tasks, *rest)

    def _taken(self, index: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the positional and keyword data at some indices."""
        named = {name: x[index] for name, x in self._kwargs.items()}
        return tuple(x[index] for x in self._args), named

    def _batch(self, reps: int) -> list[ResampledScores]:
        """Return all positional resamples at once."""
        if len({x.shape[:2] for x in self._args}) > 1:
            raise NotBatchedError
        key, of_tasks = draw_key(self._rng), self._task_bootstrap
        draws = {"n_resamples": reps, "key": key, "draw_tasks": of_tasks}
        return [ResampledScores(x.astype(np.float64), **draws) for x in self._args]

    def bootstrap(self, reps: int) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
        """Yield `reps` times the resampled positional and keyword data."""
        for _ in range(reps):
            self.index = self.update_indices()
            self._show(*self._taken(self.index))
            yield self.data

    def apply(
        self,
        func: Callable[..., Any],
        reps: int = 1000,
        extra_kwargs: Mapping[str, Any] | None = None,
    ) -> FloatArray:
        """Return `func` of every resample, shape (reps, statistics)."""
        extra = dict(extra_kwargs or {})
        if not self._kwargs:
            try:
                batched = np.asarray(func(*self._batch(reps), **extra), dtype=np.float64)
            except Exception:
                # The function may take one resample alone; if it fails there too, that is raised.
                batched = np.empty(0)
            if batched.shape[-1:] == (reps,) and batched.ndim <= 2:
                return np.atleast_2d(batched).T
        drawn = [
            np.atleast_1d(func(*args, **kwargs, **extra)) for args, kwargs in self.bootstrap(reps)
        ]
        return np.asarray(drawn, dtype=np.float64)

    def cov(
        self,
        func: Callable[..., Any],
        reps: int = 1000,
        recenter: bool = True,
        extra_kwargs: Mapping[str, Any] | None = None,
    ) -> FloatArray:
        """Return the covariance of the statistics over resamples, shape (statistics, statistics).

        Around their mean, or, if not `recenter`, around what they are of the data.
        """
        drawn = self.apply(func, reps, extra_kwargs)
        middle = drawn.mean(axis=0)
        if not recenter:
            middle = np.atleast_1d(func(*self._args, **self._kwargs, **dict(extra_kwargs or {})))
        return np.asarray((drawn - middle).T @ (drawn - middle) / reps)

    def var(self, func: Callable[..., Any], *args: Any, **kwargs: Any) -> FloatArray:
        """Return the variance of each statistic over resamples, the diagonal of :meth:`cov`."""
        return np.diag(self.cov(func, *args, **kwargs)).copy()

    def conf_int(
        self,
        func: Callable[..., Any],
        reps: int = 1000,
        method: str = "basic",
        size: float = 0.95,
        tail: str = "two",
        extra_kwargs: Mapping[str, Any] | None = None,
    ) -> FloatArray:
        """Return an interval for each statistic that `func` returns.

        Parameters
        ----------
        func : function
            From the positional and keyword data to a number or a 1-D array. If it only hands them
            (or ``scores[..., i]``) to this package's metrics, it is called once for all resamples.
        reps : int
            Number of resamples.
        method : str
            ``percentile``, ``basic``, ``bc``, ``bca`` or ``norm``.
        size : float
            Confidence level.
        tail : str
            ``two``; or ``lower`` or ``upper``, where the other end is infinite.
        extra_kwargs : mapping, optional
            Further arguments of `func`.

        Returns
        -------
        ndarray of float, shape (2, statistics)
            Lower ends, upper ends.

        Raises
        ------
        ValueError
            There is no such method or tail.
        """
        if method not in METHODS:
            raise ValueError(f"expected a method among {', '.join(METHODS)}, found {method!r}")
        if tail not in ("two", "lower", "upper"):
            raise ValueError(f"expected a tail among two, lower, upper, found {tail!r}")
        extra = dict(extra_kwargs or {})
        values = np.atleast_1d(func(*self._args, **self._kwargs, **extra))
        replicates = self.apply(func, reps, extra)
        bends = np.zeros(values.size)
        if method == "bca":
            bends = self._accelerations(func, extra)
        # An interval with one end has all of its error there.
        level = size if tail == "two" else 2.0 * size - 1.0
        columns = zip(replicates.T, values, bends, strict=True)
        ends = np.array([_ends(METHODS[method], *column, level) for column in columns]).T
        if tail == "lower":
            ends[1] = np.inf
        elif tail == "upper":
            ends[0] = -np.inf
        return ends

    def _accelerations(self, func: Callable[..., Any], extra: dict[str, Any]) -> FloatArray:
        """Return the acceleration of each statistic: the jackknife inside every stratum.

        An array cannot lose one run of one task, so the run gets a score that leaves the task's
        mean as it would be without it.
        """
        second: Any = 0.0
        third: Any = 0.0
        for which, scores in enumerate(self._args):
            x = scores.astype(np.float64)
            n = x.shape[0]
            for task in range(x.shape[1]):
                values = []
                for run in range(n):
                    changed = x.copy()
                    if n > 1:
                        changed[run, task] = np.delete(x[:, task], run, axis=0).mean(axis=0)
                    args = (*self._args[:which], changed, *self._args[which + 1 :])
                    values.append(np.ravel(func(*args, **self._kwargs, **extra)))
                influence = (n - 1) * (np.mean(values, axis=0) - np.array(values)) / n
                second = second + np.sum(influence**2, axis=0)
                third = third + np.sum(influence**3, axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.nan_to_num(third / (6.0 * second**1.5)))


def _ends(
    method: str, column: FloatArray, value: float, bend: float, size: float
) -> tuple[float, float]:
    """Return the interval of one statistic; `bend` is the acceleration, 0 unless for BCa."""
    from scipy import special

    tails = np.array([(1.0 - size) / 2.0, (1.0 + size) / 2.0])
    match method:
        case "percentile":
            low, high = quantiles(column, tails)
        case "basic":
            high, low = 2.0 * value - quantiles(column, tails)
        case "bc" | "bca":
            # Ties with the value count one half, as the median of a discrete distribution needs.
            below = np.mean(column < value) + np.mean(column == value) / 2.0
            bias = special.ndtri(np.clip(below, 0.5 / column.size, 1.0 - 0.5 / column.size))
            z = bias + special.ndtri(tails)
            low, high = quantiles(column, special.ndtr(bias + z / (1.0 - bend * z)))
        case _:
            low, high = value + special.ndtri(tails) * column.std(ddof=1)
    return float(low), float(high)


class StratifiedIndependentBootstrap(StratifiedBootstrap):
    """Resample each array on its own; their numbers of runs may differ.

    Parameters
    ----------
    *args, random_state, **kwargs
        As in :class:`StratifiedBootstrap`.
    """

    def __init__(
        self, *args: npt.ArrayLike, random_state: RandomState = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, random_state=random_state, **kwargs)

    def update_indices(self) -> tuple[list[Any], dict[str, Any]]:
        """Return the indices of a new resample: of the positional data, and of the rest by name."""
        positions = [self._index(x) for x in self._args]
        return positions, {name: self._index(x) for name, x in self._kwargs.items()}

    def _taken(self, index: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        positions, by_name = index
        named = {name: x[by_name[name]] for name, x in self._kwargs.items()}
        return tuple(x[i] for x, i in zip(self._args, positions, strict=True)), named

    def _batch(self, reps: int) -> list[ResampledScores]:
        return [
            ResampledScores(x.astype(np.float64), n_resamples=reps, key=draw_key(self._rng))
            for x in self._args
        ]


def get_interval_estimates(
    score_dict: Mapping[str, Any],
    func: Callable[..., Any],
    method: str = "percentile",
    task_bootstrap: bool = False,
    reps: int = 50000,
    confidence_interval_size: float = 0.95,
    random_state: RandomState = None,
) -> tuple[dict[str, Any], dict[str, FloatArray]]:
    """Return point estimates and bootstrap intervals of `func` for every entry.

    Parameters
    ----------
    score_dict : mapping from name to array, or to a list of arrays
        Shape (runs, tasks, ...). A list is handed to `func` as several arguments, resampled
        independently (then `task_bootstrap` has no meaning and is refused).
    func : function
        Returns a number or a 1-D array.
    method, reps, confidence_interval_size, random_state
        As in :meth:`StratifiedBootstrap.conf_int`.
    task_bootstrap : bool
        Whether tasks are drawn with replacement too.

    Returns
    -------
    point_estimates, interval_estimates : dict
        Under each name what `func` returns, and an array (2, statistics).

    Examples
    --------
    >>> from gnomon.compat.rliable import metrics
    >>> scores = {"dqn": np.arange(20.0).reshape(5, 4)}
    >>> points, ends = get_interval_estimates(
    ...     scores, lambda x: np.array([metrics.aggregate_iqm(x)]), reps=2000, random_state=0
    ... )
    >>> points["dqn"], ends["dqn"].shape
    (array([9.5]), (2, 1))
    """
    rng = _generator(random_state)
    points: dict[str, Any] = {}
    ends: dict[str, FloatArray] = {}
    bootstrap: StratifiedBootstrap
    for name, scores in score_dict.items():
        if isinstance(scores, list | tuple):
            if task_bootstrap:
                raise ValueError(f"{name}: task_bootstrap is not possible for several arrays")
            arrays: Sequence[Any] = scores
            bootstrap = StratifiedIndependentBootstrap(*arrays, random_state=rng)
        else:
            arrays = [scores]
            bootstrap = StratifiedBootstrap(scores, random_state=rng, task_bootstrap=task_bootstrap)
        points[name] = func(*arrays)
        ends[name] = bootstrap.conf_int(func, reps, method, confidence_interval_size)
    return points, ends


def run_score_deviation(scores: npt.ArrayLike, tau: float) -> Any:
    """Return the share of runs above tau."""
    return np.mean(np.asarray(scores) > tau)


def mean_score_deviation(scores: npt.ArrayLike, tau: float) -> Any:
    """Return the share of tasks whose mean is above tau."""
    return np.mean(np.mean(np.asarray(scores), axis=0) > tau)


def score_distributions(scores: Any, tau_list: npt.ArrayLike) -> FloatArray:
    """Return the run-score profile: the share of runs above each threshold."""
    tau = np.asarray(tau_list, dtype=np.float64)
    if isinstance(scores, ResampledScores):
        return scores.profiles(tau, "run_score")
    return run_score_profile(flat(scores), tau)


def average_score_distributions(scores: Any, tau_list: npt.ArrayLike) -> FloatArray:
    """Return the average-score profile: the share of tasks whose mean is above each threshold."""
    tau = np.asarray(tau_list, dtype=np.float64)
    if isinstance(scores, ResampledScores):
        return scores.profiles(tau, "average_score")
    return average_score_profile(flat(scores), tau)


def create_performance_profile(
    score_dict: Mapping[str, Any],
    tau_list: npt.ArrayLike,
    use_score_distribution: bool = True,
    custom_profile_func: Callable[..., Any] | None = None,
    method: str = "percentile",
    task_bootstrap: bool = False,
    reps: int = 2000,
    confidence_interval_size: float = 0.95,
    random_state: RandomState = None,
) -> tuple[dict[str, Any], dict[str, FloatArray]]:
    """Return performance profiles and their pointwise bands.

    Parameters
    ----------
    score_dict : mapping from name to array of shape (runs, tasks, ...)
    tau_list : array_like of float
        Thresholds.
    use_score_distribution : bool
        Profile of runs; else of task means.
    custom_profile_func : function, optional
        From (scores, tau_list) to a profile, used instead.
    method, task_bootstrap, reps, confidence_interval_size, random_state
        As in :func:`get_interval_estimates`.

    Returns
    -------
    profiles, profile_cis : dict
        Arrays of shape (thresholds,) and (2, thresholds).
    """
    tau = np.asarray(tau_list)
    own = score_distributions if use_score_distribution else average_score_distributions
    profile = own if custom_profile_func is None else custom_profile_func
    how = (method, task_bootstrap, reps, confidence_interval_size, random_state)
    return get_interval_estimates(score_dict, lambda scores: profile(scores, tau), *how)
