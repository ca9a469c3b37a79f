"""Monotone transforms of scores, each with its inverse and with what an error means there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf, log

import numpy as np

from gnomon.errors import UnknownNameError
from gnomon.scores.table import FloatArray

__all__ = ["TRANSFORMS", "Transform", "transform_of"]

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
