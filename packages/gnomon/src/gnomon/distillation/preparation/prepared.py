"""Prepared scores: one row per algorithm, one column per task, as a linear model sees them.

They are monotone transforms of scores, each with its inverse and with what an error means there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, log

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError, UnknownNameError
from gnomon.scores.table import FloatArray

#: Proportions this near to 0 or 1 are no nearer for the logit.
_EDGE = 1e-3


@dataclass(frozen=True)
class Transform:
    """A monotone function applied to every score before a linear model sees it.

    Parameters
    ----------
    name : str
    forward, inverse : function of an array
    log_base : float, optional
        The base, if a difference after the transform is a logarithm of a ratio.
    low, high : float
        What lies outside is taken for the nearer end, so it tells nothing apart.
    """

    name: str
    forward: Callable[[FloatArray], FloatArray]
    inverse: Callable[[FloatArray], FloatArray]
    log_base: float | None = None
    low: float = -inf
    high: float = inf

    def relative_errors(self, predicted: FloatArray, true: FloatArray) -> FloatArray:
        """Return the signed relative errors of transformed predictions.

        Where the transform is a logarithm, this is ln(base) times the residual, which approximates
        the relative error (Aitchison et al. 2022, appendix G); elsewhere it is the relative error
        of the scores themselves.

        Examples
        --------
        >>> log10 = transform_of("log")
        >>> error = log10.relative_errors(np.array([2.05]), np.array([2.0]))
        >>> round(float(error[0]), 3)
        0.115
        """
        if self.log_base is not None:
            return (predicted - true) * log(self.log_base)
        scores = self.inverse(true)
        with np.errstate(divide="ignore", invalid="ignore"):
            return (self.inverse(predicted) - scores) / np.abs(scores)


def _log_forward(z: FloatArray) -> FloatArray:
    return np.log10(1.0 + np.maximum(z, 0.0))


def _log_inverse(x: FloatArray) -> FloatArray:
    return np.power(10.0, x) - 1.0


def _same(x: FloatArray) -> FloatArray:
    return x


def _logit(p: FloatArray) -> FloatArray:
    p = np.clip(p, _EDGE, 1.0 - _EDGE)
    return np.log(p / (1.0 - p))


def _logistic(x: FloatArray) -> FloatArray:
    return 1.0 / (1.0 + np.exp(-x))


TRANSFORMS: Mapping[str, Transform] = {
    "log": Transform("log", _log_forward, _log_inverse, log_base=10.0, low=0.0),
    "identity": Transform("identity", _same, _same),
    "logit": Transform("logit", _logit, _logistic, low=0.0, high=1.0),
}


def transform_of(name: str) -> Transform:
    """Return the transform of a name.

    ``log`` is phi(z) = log10(1 + max(0, z)), for scores that differ by orders of magnitude;
    ``identity`` is none; ``logit`` is for proportions between 0 and 1.

    Raises
    ------
    UnknownNameError
        There is no such transform.

    Examples
    --------
    >>> phi = transform_of("log")
    >>> phi.forward(np.array([-5.0, 0.0, 99.0]))
    array([0., 0., 2.])
    >>> phi.inverse(np.array([2.0]))
    array([99.])
    """
    if name not in TRANSFORMS:
        raise UnknownNameError("transform", name, TRANSFORMS)
    return TRANSFORMS[name]


References = Mapping[str, tuple[float, float]]
#: A summary takes normalised scores, (..., tasks), without gaps, and reduces the last axis.
Summary = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class RunNoise:
    """How much the runs of a task differ, in a table that has several of most scores.

    Parameters
    ----------
    n_runs : float
        Median number of runs behind a score.
    variances : tuple of float
        Of each task's transformed scores between runs, shrunk towards the pooled variance by ten
        degrees of freedom.
    """

    n_runs: float
    variances: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class PreparedScores:
    """Scores as a linear model sees them: one row per algorithm, one column per task.

    Rows and columns stand in the order of their names (by code point), on which the folds of a
    cross-validation depend.

    Parameters
    ----------
    algorithms, tasks : tuple of str
    x : ndarray of float, shape (algorithms, tasks)
        Transformed scores, NaN where missing.
    target : ndarray of float, shape (algorithms,)
        The transformed summary.
    smoothed : ndarray of float, shape (algorithms,)
        The summary over random halves of the tasks; see
        :func:`gnomon.distillation.preparation.preparation.half_summaries`.
    candidates : tuple of str
        The tasks that a subset may have.
    groups : tuple of str
        What each algorithm comes from (its paper, its family); its own name if not known.
    transform : Transform
    references : mapping, optional
        Random and human score of each task, if the scores were normalised.
    record : tuple of str
        What was done, in order.
    summary : str or function
        What the target is; ``median``, or a function of an array (..., tasks) without gaps.
    years : ndarray of float, shape (algorithms,), optional
        When each algorithm was published; NaN where that is not known.
    run_noise : RunNoise, optional
    normalized : str
        How the scores were normalised, if they were.

    Examples
    --------
    >>> from gnomon.distillation import prepare
    >>> from gnomon.scores import load_scores
    >>> data = prepare(load_scores("gohr-full"), transform="identity", summary="mean")
    >>> data.x.shape, data.rows([0, 1]).x.shape
    ((42, 90), (2, 90))
    >>> data.record[-2:]
    ('target: mean over the tasks that an algorithm has', 'transform: identity')
    """

    algorithms: tuple[str, ...]
    tasks: tuple[str, ...]
    x: FloatArray
    target: FloatArray
    smoothed: FloatArray
    candidates: tuple[str, ...]
    groups: tuple[str, ...]
    transform: Transform
    references: References | None = None
    record: tuple[str, ...] = ()
    summary: str | Summary = "median"
    years: FloatArray | None = None
    run_noise: RunNoise | None = None
    normalized: str = ""

    def columns(self, tasks: Sequence[str]) -> npt.NDArray[np.int64]:
        """Return the columns of some tasks.

        Raises
        ------
        UnknownNameError
            A task is not in the table; the nearest names are offered.
        """
        check_tasks(tasks, self.tasks)
        place = {task: i for i, task in enumerate(self.tasks)}
        return np.array([place[task] for task in tasks], dtype=np.int64)

    def rows(self, chosen: npt.ArrayLike) -> PreparedScores:
        """Return the same with some rows only (a mask, or their numbers)."""
        picked = np.asarray(chosen)
        index = np.flatnonzero(picked) if picked.dtype == bool else picked.astype(np.int64)
        return replace(
            self,
            algorithms=tuple(self.algorithms[i] for i in index),
            groups=tuple(self.groups[i] for i in index),
            x=self.x[index],
            target=self.target[index],
            smoothed=self.smoothed[index],
            years=None if self.years is None else self.years[index],
        )

    def restore(self, task: str, values: npt.ArrayLike) -> FloatArray:
        """Return raw scores on a task from transformed ones: the preparation, reversed.

        What the log transform clipped (scores below random) comes back as the random score.
        """
        check_tasks([task], self.tasks)
        z = self.transform.inverse(np.asarray(values, dtype=np.float64))
        if self.references is None:
            return z
        random, human = self.references[task]
        return random + z / 100.0 * (human - random)

    def varies(self, tasks: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Return of each task whether at least two algorithms have different scores on it."""
        x = self.x[:, self.columns(tasks)]
        low = np.where(np.isnan(x), np.inf, x).min(axis=0, initial=np.inf)
        high = np.where(np.isnan(x), -np.inf, x).max(axis=0, initial=-np.inf)
        # What squares to nothing is no difference that a sum of squares could see.
        return np.asarray(np.square(np.maximum(high - low, 0.0)) > 0.0)

    def complete_tasks(self) -> tuple[str, ...]:
        """Return the candidates that every algorithm has a score on."""
        gaps = dict(zip(self.tasks, np.isnan(self.x).sum(axis=0).tolist(), strict=True))
        return tuple(task for task in self.candidates if gaps[task] == 0)


#: Errors in % of the published Atari algorithms by five games that so many others chose: means of
#: eight draws of these, seeds 0 to 7 (benchmarks/README.md).
_ERRORS = {6: 33, 8: 30, 10: 24, 20: 22, 40: 15, 55: 11}


def error_of_few(n: int) -> str:
    """Return in words what so few algorithms do to the error, measured elsewhere.

    Examples
    --------
    >>> error_of_few(7)
    'five Atari games chosen by 6 algorithms err by 33 % on others, chosen by 55 by 11 %'
    """
    near, most = min(_ERRORS, key=lambda k: abs(k - n)), max(_ERRORS)
    return (
        f"five Atari games chosen by {near} algorithms err by {_ERRORS[near]} % on others, chosen "
        f"by {most} by {_ERRORS[most]} %"
    )


def check_target(data: PreparedScores) -> None:
    """Raise an error if all algorithms have the same summary: there is nothing to predict."""
    y = data.target[~np.isnan(data.target)]
    if y.size and np.ptp(y) ** 2 > 0.0:
        return
    low = data.transform.low
    clipped = np.isfinite(low) and bool((y <= data.transform.forward(np.array(low))).all())
    hint = (
        f": the transform {data.transform.name} gives all scores up to {low:g} the same"
        if clipped
        else ""
    )
    found = f"all {y.size} have {y[0]:.4g}" if y.size else "there are none"
    raise ScoreDataError(f"expected algorithms whose summaries differ; {found}{hint}")


def check_groups(data: PreparedScores, what: str) -> None:
    """Raise an error if no algorithm has a group, which something needs."""
    if data.groups == data.algorithms:
        raise ScoreDataError(
            f"{what} needs groups: name the column that has them (group_by; --group-by)"
        )


def check_tasks(tasks: Sequence[str], known: Sequence[str]) -> None:
    """Raise an error that offers the nearest names, if a task is not known."""
    names = set(known)
    for task in tasks:
        if task not in names:
            raise UnknownNameError("task", task, known)
