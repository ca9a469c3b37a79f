"""The stratified bootstraps by rliable's names, with the methods of its base library arch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.compat.rliable.resampled import NotBatchedError, ResampledScores
from gnomon.scores.table import FloatArray
from gnomon.stats.bootstrap import draw_key, quantiles

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


def generator_of(random_state: RandomState) -> np.random.Generator:
    """Return a generator for anything that rliable accepts; a new one for None."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**32, size=4, dtype=np.uint64))
    return np.random.default_rng(random_state)


class Bootstrap(ABC):
    """What both bootstraps share: resampled data, intervals. The public names are those of arch."""

    def __init__(
        self, *args: npt.ArrayLike, random_state: RandomState = None, **kwargs: npt.ArrayLike
    ) -> None:
        self._args = tuple(np.asarray(x) for x in args)
        self._kwargs = {name: np.asarray(x) for name, x in kwargs.items()}
        self._rng = generator_of(random_state)
        self.index: Any = None
        self._show(self._args, self._kwargs)

    def _show(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Make the current data visible as attributes."""
        self.pos_data, self.kw_data = args, kwargs
        self.data = (args, kwargs)
        for name, value in kwargs.items():
            setattr(self, name, value)

    @abstractmethod
    def update_indices(self) -> Any:
        """Return the indices of a new resample."""

    @abstractmethod
    def _taken(self, index: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the positional and keyword data at some indices."""

    @abstractmethod
    def _batch(self, reps: int) -> list[ResampledScores]:
        """Return all positional resamples at once."""

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
                # It is anybody's function, and may take one resample alone; if it fails there too,
                # that is told.
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

    def var(
        self,
        func: Callable[..., Any],
        reps: int = 1000,
        recenter: bool = True,
        extra_kwargs: Mapping[str, Any] | None = None,
    ) -> FloatArray:
        """Return the variance of each statistic over resamples, as :meth:`cov` has it."""
        return np.diag(self.cov(func, reps, recenter, extra_kwargs)).copy()

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
        ends = np.array(
            [_ends(METHODS[method], column, value, bend, level) for column, value, bend in columns]
        ).T
        if tail == "lower":
            ends[1] = np.inf
        elif tail == "upper":
            ends[0] = -np.inf
        return ends

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


class StratifiedBootstrap(Bootstrap):
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

    def update_indices(self) -> tuple[npt.NDArray[Any], ...]:
        """Return the indices of a new resample, one and the same for all arrays."""
        return _index(self._rng, self._args[0].shape, self._task_bootstrap)

    def _taken(self, index: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        named = {name: x[index] for name, x in self._kwargs.items()}
        return tuple(x[index] for x in self._args), named

    def _batch(self, reps: int) -> list[ResampledScores]:
        if len({x.shape[:2] for x in self._args}) > 1:
            raise NotBatchedError
        key = draw_key(self._rng)
        return [
            ResampledScores(x.astype(np.float64), reps, key, self._task_bootstrap)
            for x in self._args
        ]


class StratifiedIndependentBootstrap(Bootstrap):
    """Resample each array on its own; their numbers of runs may differ.

    Parameters
    ----------
    *args, random_state, **kwargs
        As in :class:`StratifiedBootstrap`.
    """

    def update_indices(self) -> tuple[list[Any], dict[str, Any]]:
        """Return the indices of a new resample: of the positional data, and of the rest by name."""
        positions = [_index(self._rng, x.shape, False) for x in self._args]
        return positions, {n: _index(self._rng, x.shape, False) for n, x in self._kwargs.items()}

    def _taken(self, index: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        positions, by_name = index
        named = {name: x[by_name[name]] for name, x in self._kwargs.items()}
        return tuple(x[i] for x, i in zip(self._args, positions, strict=True)), named

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
