"""Transforms of scores, and summaries of the scores of an algorithm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, log

import numpy as np

from gnomon.errors import check_word
from gnomon.scores.table import FloatArray

#: Random halves of the tasks, over which a summary is smoothed.
_N_HALVES = 100


@dataclass(frozen=True)
class Transform:
    """A monotone function applied to every score before a linear model is fitted.

    A difference after the transform is the logarithm, of base `log_base`, of a ratio, if that is
    given. Scores below `low` are treated as equal to it.
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
        """
        if self.log_base is not None:
            return (predicted - true) * log(self.log_base)
        scores = self.inverse(true)
        with np.errstate(divide="ignore", invalid="ignore"):
            return (self.inverse(predicted) - scores) / np.abs(scores)


_TRANSFORMS = {
    "log": Transform(
        "log",
        lambda z: np.log10(1.0 + np.maximum(z, 0.0)),
        lambda x: np.power(10.0, x) - 1.0,
        log_base=10.0,
        low=0.0,
    ),
    "identity": Transform("identity", lambda z: z, lambda x: x),
}
_SUMMARIES = ("median", "mean", "iqm", "mean_log")


def transform_of(name: str) -> Transform:
    """Return the transform of a name: ``log``, log10(1 + max(0, z)), or ``identity``."""
    check_word("transform", name, _TRANSFORMS)
    return _TRANSFORMS[name]


def summary_of(z: FloatArray, summary: str, transform: Transform) -> FloatArray:
    """Return the summary of scores without gaps, (..., tasks)."""
    check_word("summary", summary, _SUMMARIES)
    if summary == "median":
        return np.asarray(np.median(z, axis=-1))
    if summary == "mean_log":
        return transform.inverse(transform.forward(z).mean(axis=-1))
    if summary == "iqm":
        cut = z.shape[-1] // 4
        z = np.sort(z, axis=-1)[..., cut : z.shape[-1] - cut]
    return np.asarray(z.mean(axis=-1))


def summaries_of(
    z: FloatArray, summary: str, transform: Transform
) -> tuple[FloatArray, FloatArray]:
    """Return the summary of each row's own scores, and its smoothed form, transformed.

    A median depends on one or two tasks, its mean over random halves of the tasks on all of them.
    """
    rng = np.random.default_rng(0)
    whole, smoothed = np.full((2, len(z)), np.nan)
    for i, row in enumerate(z):
        own = row[~np.isnan(row)]
        if own.size:
            order = rng.random((_N_HALVES, own.size)).argsort(axis=1)
            halves = own[order[:, : max(1, own.size // 2)]]
            whole[i] = summary_of(own, summary, transform)
            smoothed[i] = transform.forward(summary_of(halves, summary, transform)).mean()
    return whole, smoothed
