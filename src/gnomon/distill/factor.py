"""A covariance of tasks and target that few algorithms can bear: shrunk towards one factor.

With 62 algorithms and 57 tasks a sample covariance fits chance. One factor (how good an algorithm
is) explains most of the Atari scores, so the covariance is shrunk towards that of a one-factor
model, fitted by expectation-maximisation where scores are missing. It is positive definite always,
and the error that a subset leaves follows from it in closed form, without cross-validation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnomon.scores.table import FloatArray

__all__ = ["FactorCovariance", "shrunk_covariance"]

#: Least share of a task's variance that is its own.
_LEAST_UNIQUE = 0.02
#: Ridge on the loadings, in rows: a task with one score says nothing of the factor.
_RIDGE = 1.0


@dataclass(frozen=True, eq=False)
class FactorCovariance:
    """Mean and covariance of several columns, and the factor model in it.

    Parameters
    ----------
    mean : ndarray of float, shape (columns,)
    covariance : ndarray of float, shape (columns, columns)
        Positive definite.
    loadings, unique : ndarray of float, shape (columns,)
        Of the standardised columns: correlation with the factor, and variance of one's own.
    """

    mean: FloatArray
    covariance: FloatArray
    loadings: FloatArray
    unique: FloatArray

    def weights(self, predictors: FloatArray, target: int) -> tuple[FloatArray, float]:
        """Return the linear prediction of a column from others: weights and intercept."""
        inside = self.covariance[np.ix_(predictors, predictors)]
        w = np.linalg.solve(inside, self.covariance[predictors, target])
        return w, float(self.mean[target] - w @ self.mean[predictors])

    def residual_variance(self, predictors: FloatArray, target: int) -> float:
        """Return the variance of a column that others leave."""
        w, _ = self.weights(predictors, target)
        return float(self.covariance[target, target] - w @ self.covariance[predictors, target])


def shrunk_covariance(
    x: FloatArray, *, shrinkage: float = 0.25, n_iterations: int = 20
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
    array([0.9, 0.9, 0.2])
    """
    seen = ~np.isnan(x)
    n_seen = seen.sum(axis=0)
    center = np.where(seen, x, 0.0).sum(axis=0) / n_seen
    scale = np.sqrt((np.where(seen, x - center, 0.0) ** 2).sum(axis=0) / n_seen)
    z = np.where(seen, (x - center) / scale, 0.0)
    mean, loadings, unique = _start(z, seen)
    n = len(x)
    for _ in range(n_iterations):
        f, spread = _scores(z, seen, mean, loadings, unique)
        total = (f * f + spread).sum()
        complete = np.where(seen, z, mean + f[:, np.newaxis] * loadings)
        mean = (complete - f[:, np.newaxis] * loadings).mean(axis=0)
        with_factor = (complete - mean).T @ f + loadings * (spread @ ~seen)
        square = ((complete - mean) ** 2).sum(axis=0)
        square += (~seen).sum(axis=0) * unique + loadings**2 * (spread @ ~seen)
        loadings = with_factor / (total + _RIDGE)
        unique = (square - 2 * loadings * with_factor + loadings**2 * total) / n
        unique = np.maximum(unique, _LEAST_UNIQUE)
    f, spread = _scores(z, seen, mean, loadings, unique)
    complete = np.where(seen, z, mean + f[:, np.newaxis] * loadings)
    moments = _moments(complete, seen, spread, loadings, unique)
    model = np.outer(loadings, loadings) + np.diag(unique)
    shrunk = (1.0 - shrinkage) * moments + shrinkage * model
    whole_mean = center + scale * complete.mean(axis=0)
    return FactorCovariance(whole_mean, shrunk * np.outer(scale, scale), loadings, unique)


def _start(z: FloatArray, seen: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return loadings on the mean of each row's standardised scores."""
    f = z.sum(axis=1) / np.maximum(seen.sum(axis=1), 1)
    f = f / (f.std() or 1.0)
    loadings = (z * f[:, np.newaxis]).sum(axis=0) / seen.sum(axis=0)
    loadings = np.clip(loadings, -0.98, 0.98)
    return np.zeros(z.shape[1]), loadings, np.maximum(1.0 - loadings**2, _LEAST_UNIQUE)


def _scores(
    z: FloatArray, seen: FloatArray, mean: FloatArray, loadings: FloatArray, unique: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of each row's factor, given the scores that it has."""
    ratio = loadings / unique
    spread = 1.0 / (1.0 + seen @ (loadings * ratio))
    return spread * (np.where(seen, z - mean, 0.0) @ ratio), spread


def _moments(
    complete: FloatArray,
    seen: FloatArray,
    spread: FloatArray,
    loadings: FloatArray,
    unique: FloatArray,
) -> FloatArray:
    """Return the expected second moments about the mean, the spread of missing cells included."""
    n = len(complete)
    centered = complete - complete.mean(axis=0)
    missing = (~seen).astype(np.float64)
    moments = centered.T @ centered
    together = missing.T @ (spread[:, np.newaxis] * missing)
    moments += np.outer(loadings, loadings) * together
    moments[np.diag_indices_from(moments)] += missing.sum(axis=0) * unique
    return np.asarray(moments / n)
