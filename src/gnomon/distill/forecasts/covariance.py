"""Shrunk covariance of tasks with gaps: towards one factor, rows of a multivariate t."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon.scores.table import FloatArray

#: Least share of a task's variance that is its own.
_LEAST_UNIQUE = 0.02


@dataclass(frozen=True, eq=False)
class FactorCovariance:
    """Mean and covariance of several columns, and the factor model in it.

    Parameters
    ----------
    mean : ndarray of float, shape (columns,)
    covariance : ndarray of float, shape (columns, columns)
        Positive definite; of t rows the scale matrix, which is the covariance but for a factor.
    loadings, unique : ndarray of float, shape (columns,)
        Of the standardised columns: correlation with the factor, and variance of one's own.
    """

    mean: FloatArray
    covariance: FloatArray
    loadings: FloatArray
    unique: FloatArray


def shrunk_covariance(
    x: FloatArray,
    *,
    shrinkage: float = 0.25,
    degrees_of_freedom: float = 4.0,
    n_iterations: int = 20,
) -> FactorCovariance:
    """Return the covariance of columns with gaps, shrunk towards one factor.

    The standardised columns are x_j = m_j + l_j f + u_j with f normal and u_j of variance psi_j.
    Expectation-maximisation gives the expected second moments C over the gaps and the model's own
    covariance F = l l' + psi; the result is (1 - a) C + a F, scaled back.

    Parameters
    ----------
    x : ndarray of float, shape (rows, columns)
        NaN where missing; each column needs two different values.
    shrinkage : float
        a, between 0 and 1.
    degrees_of_freedom : float
        Of the t distribution of a row; infinite for the normal one.
    n_iterations : int
        Of expectation and maximisation.

    Returns
    -------
    FactorCovariance

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> f = rng.normal(size=(500, 1))
    >>> x = f @ [[0.9, 0.9, 0.1]] + rng.normal(size=(500, 3)) * 0.4
    >>> np.abs(shrunk_covariance(x).loadings).round(1)
    array([0.8, 0.8, 0.2])
    """
    from gnomon.distill.forecasts.factor_kernel import fit_factor

    seen = ~np.isnan(x)
    n_seen = seen.sum(axis=0)
    center = np.where(seen, x, 0.0).sum(axis=0) / n_seen
    scale = np.sqrt((np.where(seen, x - center, 0.0) ** 2).sum(axis=0) / n_seen)
    z = np.where(seen, (x - center) / scale, 0.0)
    missing = (~seen).astype(np.float64)
    model, rows = np.stack(_start(z, seen)), np.empty((3, len(x)))
    fit_factor(z, seen, degrees_of_freedom, _LEAST_UNIQUE, n_iterations, model, rows)
    (mean, loadings, unique), (f, spread, weight) = model, rows
    complete = np.where(seen, z, mean + f[:, np.newaxis] * loadings)
    middle = weight @ complete / weight.sum()
    moments = _moments(complete - middle, weight, missing, spread, loadings, unique)
    alone = np.outer(loadings, loadings) + np.diag(unique)
    shrunk = (1.0 - shrinkage) * moments + shrinkage * alone
    whole_mean = center + scale * middle
    return FactorCovariance(whole_mean, shrunk * np.outer(scale, scale), loadings, unique)


def _start(z: FloatArray, seen: npt.NDArray[np.bool_]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return loadings on the mean of each row's standardised scores."""
    f = z.sum(axis=1) / np.maximum(seen.sum(axis=1), 1)
    f = f / (f.std() or 1.0)
    loadings = (z * f[:, np.newaxis]).sum(axis=0) / seen.sum(axis=0)
    loadings = np.clip(loadings, -0.98, 0.98)
    return np.zeros(z.shape[1]), loadings, np.maximum(1.0 - loadings**2, _LEAST_UNIQUE)


def _moments(
    centered: FloatArray,
    weight: FloatArray,
    missing: FloatArray,
    spread: FloatArray,
    loadings: FloatArray,
    unique: FloatArray,
) -> FloatArray:
    """Return the expected second moments, the spread of missing cells included."""
    moments = centered.T @ (weight[:, np.newaxis] * centered)
    together = missing.T @ (spread[:, np.newaxis] * missing)
    moments += np.outer(loadings, loadings) * together
    moments[np.diag_indices_from(moments)] += missing.sum(axis=0) * unique
    return np.asarray(moments / len(centered))
