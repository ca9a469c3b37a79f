"""Factor model of a suite: means, and a covariance shrunk towards that of one factor.

With 62 algorithms and 57 tasks a sample covariance fits chance, and one factor (how good an
algorithm is) explains most of the variance. Rows follow a multivariate t distribution, so that an
unusual algorithm counts less, and expectation-maximisation fits the factor through missing scores.
The weight of the factor's covariance is the one of least expected error by Ledoit and Wolf.

References
----------
Lange, Little and Taylor (1989), Journal of the American Statistical Association 84:881. Liu and
Rubin (1995), Statistica Sinica 5:19. Ledoit and Wolf (2003), Journal of Empirical Finance 10:603.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gnomon.scores.table import FloatArray

Mask = npt.NDArray[np.bool_]

#: Degrees of freedom of a row, as Lange, Little and Taylor recommend.
DEGREES_OF_FREEDOM = 4.0
#: Least unique variance of a standardised task; ridge on the loadings, in rows.
_LEAST_UNIQUE, _RIDGE = 0.02, 1.0
_N_ITERATIONS = 20
#: A line steeper than ten times the regression would be noise.
_LEAST_RELIABILITY = 0.1


@dataclass(frozen=True, eq=False)
class Moments:
    """Means and covariance of some tasks and, last, of the summary."""

    mean: FloatArray
    covariance: FloatArray

    def of(self, columns: npt.ArrayLike) -> Moments:
        """Return the moments of some columns."""
        index = np.asarray(columns, dtype=np.int64)
        return Moments(self.mean[index], self.covariance[np.ix_(index, index)])

    @cached_property
    def regression(self) -> FloatArray:
        """The non-negative weights of the best linear prediction."""
        inside, cross = self.covariance[:-1, :-1], self.covariance[:-1, -1]
        w = np.linalg.solve(inside, cross)
        return np.asarray(w) if (w >= 0).all() else non_negative(inside, cross)

    @cached_property
    def line(self) -> tuple[FloatArray, float]:
        """Weights and intercept of the prediction divided by its reliability.

        The best linear prediction is shrunk towards the mean of the training; this one is not, so
        an algorithm beyond the training is not drawn back into it.
        """
        w = self.regression
        reliability = float(w @ self.covariance[:-1, -1] / self.covariance[-1, -1])
        w = w / max(reliability, _LEAST_RELIABILITY)
        return w, float(self.mean[-1] - w @ self.mean[:-1])

    def variance(self, x: FloatArray) -> float:
        """Return the variance that the tasks leave, larger for unusual scores x.

        It is the squared scale of a multivariate t distribution given some of its coordinates
        (Ding 2016, The American Statistician 70:293).
        """
        inside, w, off = self.covariance[:-1, :-1], self.regression, x - self.mean[:-1]
        left = self.covariance[-1, -1] + w @ (inside @ w - 2.0 * self.covariance[:-1, -1])
        distance = off @ np.linalg.solve(inside, off)
        df = DEGREES_OF_FREEDOM
        return float(max(left, 0.0) * (df + distance) / (df + x.size))


def non_negative(gram: FloatArray, cross: FloatArray) -> FloatArray:
    """Return the weights w >= 0 of least squares from products of columns."""
    from scipy.optimize import nnls

    root = np.linalg.cholesky(gram)
    return np.asarray(nnls(root.T, np.linalg.solve(root, cross))[0])


def fit_factor(x: FloatArray) -> Moments:
    """Return the moments of columns with gaps, (rows, columns)."""
    return fit_factors(x, np.ones((1, len(x))))[0]


def fit_factors(x: FloatArray, counts: FloatArray) -> list[Moments]:
    """Return the moments of columns with gaps, for several counts of the rows, (fits, rows).

    Column j of row i is m_j + l_j f_i + u_ij, with f of variance 1 and u_j of variance psi_j.
    """
    there = ~np.isnan(x)
    shift, unit = np.nanmean(x, axis=0), np.nanstd(x, axis=0)
    unit[unit == 0.0] = 1.0
    z = np.where(there, (x - shift) / unit, 0.0)
    missing = (~there).astype(np.float64)
    # The mean standardised score of a row is a first guess of its factor.
    guess = z.sum(axis=1) / np.maximum(there.sum(axis=1), 1)
    guess /= guess.std() or 1.0
    shape = len(counts), x.shape[1]
    loadings = np.broadcast_to(z.T @ guess / np.maximum(there.sum(axis=0), 1), shape)
    mean, unique = np.zeros(shape), np.maximum(1.0 - loadings**2, _LEAST_UNIQUE)
    n, gone = counts.sum(axis=1, keepdims=True), counts @ missing
    for iteration in range(_N_ITERATIONS + 1):
        factor, spread, weight = _rows(z, there, mean, loadings, unique)
        heavy = counts * weight
        filled = np.where(there, z, mean[:, None] + factor[..., None] * loadings[:, None])
        total, pulled = heavy.sum(axis=1, keepdims=True), heavy * factor
        if iteration == _N_ITERATIONS:
            break
        mean = _summed(heavy, filled) - pulled.sum(axis=1, keepdims=True) * loadings
        mean /= total
        off = filled - mean[:, None]
        unsure = (counts * spread) @ missing
        product = _summed(pulled, off) + unsure * loadings
        square = _summed(heavy, off**2) + gone * unique + unsure * loadings**2
        of_factor = (pulled * factor + counts * spread).sum(axis=1, keepdims=True)
        loadings = product / (of_factor + _RIDGE)
        own = square - 2.0 * loadings * product + loadings**2 * of_factor
        unique = np.maximum(own / n, _LEAST_UNIQUE)
    middle = _summed(heavy, filled) / total
    root = np.sqrt(weight)
    rows = root[..., None] * (filled - middle[:, None])
    share = counts / n
    sample = _products(share, rows, rows)
    # What the missing scores add to the products of the filled ones.
    outer = loadings[:, :, None] * loadings[:, None]
    lacking = missing * spread[..., None]
    sample += outer * _products(share, lacking, np.broadcast_to(missing, lacking.shape))
    diagonal = np.arange(shape[1])
    sample[:, diagonal, diagonal] += gone / n * unique
    alone = outer
    alone[:, diagonal, diagonal] += unique
    a = _shrinkage(share, rows, root * factor, n[:, 0])[:, None, None]
    covariance = ((1.0 - a) * sample + a * alone) * np.outer(unit, unit)
    return [*map(Moments, shift + unit * middle, covariance)]


def _rows(
    z: FloatArray, there: Mask, mean: FloatArray, loadings: FloatArray, unique: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean and variance of each row's factor, and the weight of the row, (fits, rows)."""
    seen, ratio = there.astype(np.float64).T, loadings / unique
    pull = ratio @ z.T - (mean * ratio) @ seen
    spread = 1.0 / (1.0 + (loadings * ratio) @ seen)
    distance = (1.0 / unique) @ (z**2).T - 2.0 * (mean / unique) @ z.T
    distance += (mean**2 / unique) @ seen - spread * pull**2
    df = DEGREES_OF_FREEDOM
    return spread * pull, spread, (df + seen.sum(axis=0)) / (df + distance)


def _summed(weights: FloatArray, columns: FloatArray) -> FloatArray:
    """Return weighted sums over rows, (fits, columns)."""
    return np.asarray((weights[:, None] @ columns)[:, 0])


def _products(share: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the mean products of columns, (fits, columns, columns)."""
    return np.asarray((share[..., None] * a).transpose(0, 2, 1) @ b)


def _shrinkage(
    share: FloatArray, rows: FloatArray, factor: FloatArray, n: FloatArray
) -> FloatArray:
    """Return the weight of the factor's covariance of least expected error, of each fit.

    Ledoit and Wolf's for a single index, of standardised columns; at least one row in n, so that
    the covariance is positive definite.
    """
    length = np.sqrt(_summed(share, rows**2))[:, None]
    u = np.divide(rows, length, out=np.zeros_like(rows), where=length > 0)
    sample = _products(share, u, u)
    cross, var = _summed(share * factor, u), (share * factor**2).sum(axis=1)[:, None, None]
    var[var == 0.0] = 1.0  # All rows are alike: there is no slope.
    slope = cross[:, None] / var
    index = cross[..., None] * slope
    scores = u * factor[..., None]
    noise = _products(share, u**2, u**2) - sample**2
    shared = 2.0 * (_products(share, u**2, scores) - cross[..., None] * sample) * slope
    shared -= (_products(share, scores, scores) - var * sample) * index / var
    # The variances of the columns are those of the sample.
    diagonal = np.arange(sample.shape[1])
    shared[:, diagonal, diagonal] = noise[:, diagonal, diagonal]
    index[:, diagonal, diagonal] = sample[:, diagonal, diagonal]
    distance = ((sample - index) ** 2).sum(axis=(1, 2))
    rows_worth = (noise - shared).sum(axis=(1, 2)) / np.where(distance > 0, distance, 1.0)
    return np.asarray(np.clip(rows_worth, 1.0, n) / n)
