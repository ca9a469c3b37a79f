"""rliable's library: interval estimates and performance profiles by the stratified bootstrap."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.compat.rliable.resampled import NotBatchedError, ResampledScores
from gnomon.scores.table import FloatArray
from gnomon.stats import intervals
from gnomon.stats.bootstrap import draw_key
from gnomon.stats.profiles import average_score_profile, run_score_profile

__all__ = [
    "StratifiedBootstrap",
    "StratifiedIndependentBootstrap",
    "average_score_distributions",
    "create_performance_profile",
    "get_interval_estimates",
    "mean_score_deviation",
    "run_score_deviation",
    "score_distributions",
]

RandomState = np.random.RandomState | np.random.Generator | int | None
#: rliable's names of the methods, and the other names that its base library knows.
METHODS = {
    "percentile": "percentile",
    "basic": "basic",
    "bc": "bc",
    "debiased": "bc",
    "bias-corrected": "bc",
    "bca": "bca",
    "norm": "norm",
}


def _generator(random_state: RandomState) -> np.random.Generator:
    """Return a generator for anything that rliable accepts; a new one for None."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**32, size=4, dtype=np.uint64))
    return np.random.default_rng(random_state)


class _Bootstrap:
    """What both bootstraps share: resampled data, intervals."""

    def __init__(
        self, *args: npt.ArrayLike, random_state: RandomState = None, **kwargs: npt.ArrayLike
    ) -> None:
        self._args = tuple(np.asarray(x) for x in args)
        self._kwargs = {name: np.asarray(x) for name, x in kwargs.items()}
        self._rng = _generator(random_state)
        self.index: Any = None
        self._show(self._args, self._kwargs)

    def _show(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Make the current data visible as attributes."""
        self.pos_data, self.kw_data = args, kwargs
        self.data = (args, kwargs)
        for name, value in kwargs.items():
            setattr(self, name, value)

    def _redraw(self) -> None:
        """Draw new indices and show the resampled data."""
        raise NotImplementedError

    def bootstrap(self, reps: int) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
        """Yield `reps` times the resampled positional and keyword data."""
        for _ in range(reps):
            self._redraw()
            yield self.data

    def _batch(self, reps: int) -> list[ResampledScores]:
        """Return all positional resamples at once."""
        raise NotImplementedError

    def apply(self, func: Callable[..., Any], reps: int = 1000, **extra_kwargs: Any) -> FloatArray:
        """Return `func` of every resample, shape (reps, statistics)."""
        if not self._kwargs and not extra_kwargs:
            try:
                batched = np.asarray(func(*self._batch(reps)), dtype=np.float64)
            except Exception:
                batched = np.empty(0)
            if batched.shape[-1:] == (reps,) and batched.ndim <= 2:
                return np.atleast_2d(batched).T
        drawn = [
            np.atleast_1d(func(*args, **kwargs, **extra_kwargs))
            for args, kwargs in self.bootstrap(reps)
        ]
        return np.asarray(drawn, dtype=np.float64)

    def conf_int(
        self,
        func: Callable[..., Any],
        reps: int = 1000,
        method: str = "basic",
        size: float = 0.95,
        **extra_kwargs: Any,
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

        Returns
        -------
        ndarray of float, shape (2, statistics)
            Lower ends, upper ends.

        Raises
        ------
        ValueError
            There is no such method.
        """
        if method not in METHODS:
            raise ValueError(f"expected a method among {', '.join(METHODS)}, found {method!r}")
        values = np.atleast_1d(func(*self._args, **self._kwargs, **extra_kwargs))
        replicates = self.apply(func, reps, **extra_kwargs)
        bends = np.zeros(values.size)
        if method == "bca":
            bends = self._accelerations(func, extra_kwargs)
        columns = zip(replicates.T, values, bends, strict=True)
        return np.array(
            [_ends(METHODS[method], column, value, bend, size) for column, value, bend in columns]
        ).T

    def _accelerations(self, func: Callable[..., Any], extra: dict[str, Any]) -> FloatArray:
        """Return the acceleration of each statistic: the jackknife inside every stratum."""
        second: Any = 0.0
        third: Any = 0.0
        for without in self._leave_one_out(self._args):
            values = np.array([func(*args, **self._kwargs, **extra) for args in without])
            values = values.reshape(len(without), -1)
            n = len(without)
            influence = (n - 1) * (values.mean(axis=0) - values) / n
            second = second + np.sum(influence**2, axis=0)
            third = third + np.sum(influence**3, axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            bends: FloatArray = np.nan_to_num(third / (6.0 * second**1.5))
        return bends

    @staticmethod
    def _leave_one_out(args: tuple[Any, ...]) -> Iterator[list[tuple[Any, ...]]]:
        """Yield for each stratum the data with each of its runs replaced by the others' mean.

        An array cannot lose one run of one task, so the run gets a score that leaves the task's
        mean as it would be without it.
        """
        for which, scores in enumerate(args):
            x = scores.astype(np.float64)
            for task in range(x.shape[1]):
                without = []
                for run in range(x.shape[0]):
                    changed = x.copy()
                    others = np.delete(x[:, task], run, axis=0)
                    changed[run, task] = others.mean(axis=0) if len(others) else x[run, task]
                    without.append((*args[:which], changed, *args[which + 1 :]))
                yield without


def _ends(
    method: str, column: FloatArray, value: float, bend: float, size: float
) -> tuple[float, float]:
    """Return the interval of one statistic."""
    match method:
        case "percentile":
            found = intervals.percentile(column, size)
        case "basic":
            found = intervals.basic(column, value, size)
        case "bc":
            found = intervals.bias_corrected(column, value, size)
        case "bca":
            found = intervals.bias_corrected_accelerated(column, value, size, bend)
        case _:
            from scipy import special

            half = float(special.ndtri((1.0 + size) / 2.0) * column.std(ddof=1))
            return value - half, value + half
    return found.low, found.high


class StratifiedBootstrap(_Bootstrap):
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
        super().__init__(*args, random_state=random_state, **kwargs)
        self._task_bootstrap = task_bootstrap

    def _redraw(self) -> None:
        shape = self._args[0].shape
        self.index = _index(self._rng, shape, self._task_bootstrap)
        self._show(
            tuple(x[self.index] for x in self._args),
            {name: x[self.index] for name, x in self._kwargs.items()},
        )

    def _batch(self, reps: int) -> list[ResampledScores]:
        if len({x.shape[:2] for x in self._args}) > 1:
            raise NotBatchedError
        key = draw_key(self._rng)
        return [
            ResampledScores(x.astype(np.float64), reps, key, self._task_bootstrap)
            for x in self._args
        ]


class StratifiedIndependentBootstrap(_Bootstrap):
    """Resample each array on its own; their numbers of runs may differ.

    Parameters
    ----------
    *args, random_state, **kwargs
        As in :class:`StratifiedBootstrap`.
    """

    def _redraw(self) -> None:
        positions = [_index(self._rng, x.shape, False) for x in self._args]
        by_name = {name: _index(self._rng, x.shape, False) for name, x in self._kwargs.items()}
        self.index = (positions, by_name)
        self._show(
            tuple(x[i] for x, i in zip(self._args, positions, strict=True)),
            {name: x[by_name[name]] for name, x in self._kwargs.items()},
        )

    def _batch(self, reps: int) -> list[ResampledScores]:
        return [
            ResampledScores(x.astype(np.float64), reps, draw_key(self._rng), False)
            for x in self._args
        ]


def _index(
    rng: np.random.Generator, shape: tuple[int, ...], draw_tasks: bool
) -> tuple[npt.NDArray[Any], ...]:
    """Return index arrays of one resample that broadcast to `shape`."""
    ones = (1,) * (len(shape) - 2)
    runs = rng.integers(0, shape[0], size=(*shape[:2], *ones))
    tasks = np.arange(shape[1]).reshape(1, shape[1], *ones)
    if draw_tasks:
        tasks = rng.integers(0, shape[1], size=tasks.shape)
    # Trailing axes are left out where nothing has to be said about them.
    rest = np.ogrid[tuple(slice(n) for n in (0, 0, *shape[2:]))][2:] if ones else []
    return (runs, tasks, *rest)


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
    for name, scores in score_dict.items():
        bootstrap: _Bootstrap
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
    if isinstance(scores, ResampledScores):
        return scores.profiles(np.asarray(tau_list, dtype=np.float64), "run_score")
    x = np.asarray(scores, dtype=np.float64)
    return run_score_profile(x.reshape(x.shape[0], -1), tau_list)


def average_score_distributions(scores: Any, tau_list: npt.ArrayLike) -> FloatArray:
    """Return the average-score profile: the share of tasks whose mean is above each threshold."""
    if isinstance(scores, ResampledScores):
        return scores.profiles(np.asarray(tau_list, dtype=np.float64), "average_score")
    x = np.asarray(scores, dtype=np.float64)
    return average_score_profile(x.reshape(x.shape[0], -1), tau_list)


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
    return get_interval_estimates(
        score_dict,
        lambda scores: profile(scores, tau),
        method,
        task_bootstrap,
        reps,
        confidence_interval_size,
        random_state,
    )
