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
    counts: FloatArray | None = None,
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
    counts : ndarray of float, shape (rows,), optional
        How often each row counts, above 0; once, if not given.

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
    from gnomon.distillation.forecasts.factor_kernel import fit_factor

    seen = ~np.isnan(x)
    counts = np.ones(len(x)) if counts is None else counts
    n_seen = counts @ seen
    center = counts @ np.where(seen, x, 0.0) / n_seen
    scale = np.sqrt(counts @ np.where(seen, x - center, 0.0) ** 2 / n_seen)
    z = np.where(seen, (x - center) / scale, 0.0)
    missing = (~seen).astype(np.float64)
    model, rows = np.stack(_start(z, seen, counts)), np.empty((3, len(x)))
    fit_factor(z, seen, counts, degrees_of_freedom, _LEAST_UNIQUE, n_iterations, model, rows)
    (mean, loadings, unique), (f, spread, weight) = model, rows
    complete = np.where(seen, z, mean + f[:, np.newaxis] * loadings)
    middle = (counts * weight) @ complete / (counts @ weight)
    moments = _moments(complete - middle, counts, weight, missing, spread, loadings, unique)
    alone = np.outer(loadings, loadings) + np.diag(unique)
    shrunk = (1.0 - shrinkage) * moments + shrinkage * alone
    whole_mean = center + scale * middle
    return FactorCovariance(whole_mean, shrunk * np.outer(scale, scale), loadings, unique)


def _start(
    z: FloatArray, seen: npt.NDArray[np.bool_], counts: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return loadings on the mean of each row's standardised scores."""
    f = z.sum(axis=1) / np.maximum(seen.sum(axis=1), 1)
    share = counts / counts.sum()
    f = f / (np.sqrt(share @ (f - share @ f) ** 2) or 1.0)
    loadings = (counts * f) @ z / (counts @ seen)
    loadings = np.clip(loadings, -0.98, 0.98)
    return np.zeros(z.shape[1]), loadings, np.maximum(1.0 - loadings**2, _LEAST_UNIQUE)


def _moments(
    centered: FloatArray,
    counts: FloatArray,
    weight: FloatArray,
    missing: FloatArray,
    spread: FloatArray,
    loadings: FloatArray,
    unique: FloatArray,
) -> FloatArray:
    """Return the expected second moments, the spread of missing cells included."""
    # The product of a matrix with itself is symmetric to the last bit, as one read from a file is.
    told = np.sqrt(counts * weight)[:, np.newaxis] * centered
    unsure = np.sqrt(counts * spread)[:, np.newaxis] * missing
    moments, together = told.T @ told, unsure.T @ unsure
    moments += np.outer(loadings, loadings) * together
    moments[np.diag_indices_from(moments)] += counts @ missing * unique
    return np.asarray(moments / counts.sum())
