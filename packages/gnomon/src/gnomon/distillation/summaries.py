"""Summaries of a suite and transforms of its scores: what is predicted, and on which scale."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf, log

import numpy as np

from gnomon.errors import check_word
from gnomon.scores.table import FloatArray


@dataclass(frozen=True)
class Transform:
    """A monotone function applied to every score before a linear model is fitted.

    Parameters
    ----------
    name : str
    forward, inverse : function of an array
    log_base : float, optional
        The base, if a difference after the transform is the logarithm of a ratio.
    low : float
        Scores below it are treated as equal to it.
    """

    name: str
    forward: Callable[[FloatArray], FloatArray]
    inverse: Callable[[FloatArray], FloatArray]
    log_base: float | None = None
    low: float = -inf

    def relative_errors(self, predicted: FloatArray, true: FloatArray) -> FloatArray:
        """Return the signed relative errors of transformed predictions.

        For a logarithm this is ln(base) times the residual, which approximates the relative error
        (Aitchison et al. 2022, appendix G); otherwise it is the relative error of the scores.

        Examples
        --------
        >>> error = transform_of("log").relative_errors(np.array([2.05]), np.array([2.0]))
        >>> round(float(error[0]), 3)
        0.115
        """
        if self.log_base is not None:
            return (predicted - true) * log(self.log_base)
        scores = self.inverse(true)
        with np.errstate(divide="ignore", invalid="ignore"):
            return (self.inverse(predicted) - scores) / np.abs(scores)


TRANSFORMS: Mapping[str, Transform] = {
    "log": Transform(
        "log",
        lambda z: np.log10(1.0 + np.maximum(z, 0.0)),
        lambda x: np.power(10.0, x) - 1.0,
        log_base=10.0,
        low=0.0,
    ),
    "identity": Transform("identity", lambda z: z, lambda x: x),
}


def transform_of(name: str) -> Transform:
    """Return the transform of a name.

    ``log`` is log10(1 + max(0, z)), for scores that differ by orders of magnitude; ``identity``
    changes nothing, for scores that are comparable as they are, such as accuracies.

    Raises
    ------
    UnknownWordError
        There is no such transform.

    Examples
    --------
    >>> transform_of("log").forward(np.array([-5.0, 0.0, 99.0]))
    array([0., 0., 2.])
    """
    check_word("transform", name, TRANSFORMS)
    return TRANSFORMS[name]


def _interquartile_mean(z: FloatArray) -> FloatArray:
    cut = z.shape[-1] // 4
    return np.asarray(np.mean(np.sort(z, axis=-1)[..., cut : z.shape[-1] - cut], axis=-1))


#: Functions of scores (..., tasks) without gaps. ``mean_log`` is the mean after the transform.
SUMMARIES: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "median": lambda z: np.asarray(np.median(z, axis=-1)),
    "mean": lambda z: np.asarray(np.mean(z, axis=-1)),
    "iqm": _interquartile_mean,
    "mean_log": lambda z: np.asarray(np.mean(z, axis=-1)),
}


def _function(summary: str, transform: Transform) -> Callable[[FloatArray], FloatArray]:
    check_word("summary", summary, SUMMARIES)
    if summary == "mean_log":
        return lambda z: transform.inverse(np.asarray(np.mean(transform.forward(z), axis=-1)))
    return SUMMARIES[summary]


def transformed_summary(x: FloatArray, summary: str, transform: Transform) -> FloatArray:
    """Return the transformed summary of transformed scores without gaps, (..., tasks)."""
    return transform.forward(_function(summary, transform)(transform.inverse(x)))


def summarize(z: FloatArray, summary: str, transform: Transform) -> FloatArray:
    """Return the summary of each row over the tasks that it has; NaN for a row without scores."""
    function = _function(summary, transform)
    rows = [row[~np.isnan(row)] for row in z]
    return np.array([function(row) if row.size else np.nan for row in rows], dtype=np.float64)


def half_summaries(
    z: FloatArray, summary: str, transform: Transform, *, n_halves: int = 100, seed: int = 0
) -> FloatArray:
    """Return the mean transformed summary of random halves of each row's tasks.

    A median depends on one or two tasks, its smoothed form on all of them. Each row uses its own
    scores only, so that nothing leaks between rows.
    """
    function, rng = _function(summary, transform), np.random.default_rng(seed)
    smoothed = np.full(len(z), np.nan)
    for i, row in enumerate(z):
        own = row[~np.isnan(row)]
        if own.size:
            order = rng.random((n_halves, own.size)).argsort(axis=1)
            halves = own[order[:, : max(1, own.size // 2)]]
            smoothed[i] = transform.forward(function(halves)).mean()
    return smoothed
