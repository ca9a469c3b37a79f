"""Compiled expectation-maximisation of a one-factor model with gaps. Importing loads Numba."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from gnomon.distillation.search.subset_kernels import KERNEL_OPTIONS

F64 = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

#: Ridge on the loadings, in rows: a task with one score says nothing of the factor.
_RIDGE = 1.0


@njit(**KERNEL_OPTIONS)
def fit_factor(
    z: F64,
    seen: Mask,
    counts: F64,
    degrees_of_freedom: float,
    least_unique: float,
    n: int,
    model: F64,
    rows: F64,
) -> None:
    """Fit the model by `n` iterations, and leave each row's factor, its variance and its weight.

    z is (rows, columns), 0 where missing; a row counts as often as `counts` says. `model` holds
    mean, loadings and unique variances of the columns, `rows` what is left, shape (3, rows).
    """
    n_rows, n_columns = z.shape
    mean, loadings, unique = model
    factor, spread, weight = rows
    n_counted = counts.sum()
    ratio = np.empty(n_columns)
    middle, square, with_factor = np.empty(n_columns), np.empty(n_columns), np.empty(n_columns)
    for iteration in range(n + 1):
        for j in range(n_columns):
            ratio[j] = loadings[j] / unique[j]
        for i in range(n_rows):
            known, pull, distance, n_seen = 0.0, 0.0, 0.0, 0
            for j in range(n_columns):
                off = z[i, j] - mean[j] if seen[i, j] else 0.0
                known += loadings[j] * ratio[j] if seen[i, j] else 0.0
                pull += off * ratio[j]
                distance += off * off / unique[j]
                n_seen += seen[i, j]
            spread[i] = 1.0 / (1.0 + known)
            factor[i] = spread[i] * pull
            distance -= spread[i] * pull * pull
            weight[i] = 1.0
            if degrees_of_freedom < np.inf:
                weight[i] = (degrees_of_freedom + n_seen) / (degrees_of_freedom + distance)
        if iteration == n:
            return
        total, whole = 0.0, 0.0
        middle[:] = 0.0
        for i in range(n_rows):
            heavy = counts[i] * weight[i]
            total += heavy * factor[i] * factor[i] + counts[i] * spread[i]
            whole += heavy
            for j in range(n_columns):
                off = z[i, j] - factor[i] * loadings[j] if seen[i, j] else mean[j]
                middle[j] += heavy * off
        for j in range(n_columns):
            middle[j] /= whole
            with_factor[j], square[j] = 0.0, 0.0
        for i in range(n_rows):
            heavy = counts[i] * weight[i]
            for j in range(n_columns):
                told = z[i, j] if seen[i, j] else mean[j] + factor[i] * loadings[j]
                off = told - middle[j]
                unsure = 0.0 if seen[i, j] else counts[i] * spread[i]
                with_factor[j] += heavy * factor[i] * off + loadings[j] * unsure
                own = 0.0 if seen[i, j] else counts[i] * unique[j]
                square[j] += heavy * off * off + own + loadings[j] * loadings[j] * unsure
        for j in range(n_columns):
            mean[j] = middle[j]
            loadings[j] = with_factor[j] / (total + _RIDGE)
            own = square[j] - 2.0 * loadings[j] * with_factor[j] + loadings[j] * loadings[j] * total
            unique[j] = max(own / n_counted, least_unique)
