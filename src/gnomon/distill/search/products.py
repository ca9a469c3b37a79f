"""Products of columns, from which the searches eliminate tasks: of all rows, and by fold."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon.distill.search.precision import TOLERANCE
from gnomon.scores.table import FloatArray

__all__ = ["eliminated", "fold_products", "scaled"]


def scaled(z: FloatArray) -> FloatArray:
    """Return the columns, but for the target, with length one: so rounding has one scale."""
    length = np.sqrt((z * z).sum(axis=0))
    length[length == 0.0] = 1.0
    length[-1] = 1.0
    return np.asarray(z / length)


def fold_products(
    z: FloatArray, fold: npt.NDArray[np.int64], n_folds: int, lanes: int
) -> tuple[FloatArray, FloatArray]:
    """Return training and held-out products, (columns, columns, lanes), spare lanes harmless."""
    n = z.shape[1]
    order = np.argsort(fold, kind="stable")
    counts = np.bincount(fold, minlength=n_folds)
    # Rows of a fold side by side, shorter folds filled with zeros: one batched product.
    batch = np.zeros((n_folds, counts.max(), n))
    within = np.concatenate([np.arange(c) for c in counts])
    batch[fold[order], within] = z[order]
    held = np.matmul(batch.transpose(0, 2, 1), batch)
    a = np.zeros((n, n, lanes))
    t = np.zeros((n, n, lanes))
    t[:, :, :n_folds] = held.transpose(1, 2, 0)
    a[:, :, :n_folds] = held.sum(axis=0)[:, :, np.newaxis] - t[:, :, :n_folds]
    a[np.arange(n), np.arange(n), n_folds:] = 1.0
    return a, t


def eliminated(a: FloatArray, t: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the products of residuals on the first column, without it."""
    pivot = a[0, 0]
    inverse = np.where(pivot > TOLERANCE, 1.0 / np.where(pivot > TOLERANCE, pivot, 1.0), 0.0)
    ratio, rest = a[0, 1:] * inverse, t[0, 1:]
    a_next = a[1:, 1:] - ratio[:, np.newaxis] * a[0, 1:][np.newaxis]
    t_next = (
        t[1:, 1:]
        - ratio[:, np.newaxis] * rest[np.newaxis]
        - rest[:, np.newaxis] * ratio[np.newaxis]
        + ratio[:, np.newaxis] * ratio[np.newaxis] * t[0, 0]
    )
    return np.ascontiguousarray(a_next), np.ascontiguousarray(t_next)
