"""Lists of items: random, anchor points, best correlated, or stratified by difficulty."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from gnomon.distill.items.response_model import I64, ItemModel
from gnomon.scores.table import FloatArray

#: K-means stops when no cluster changes, or after so many iterations.
_N_ITERATIONS = 50


def able_items(x: FloatArray) -> I64:
    """Return the items on which answers differ: others tell no model from another."""
    return np.flatnonzero(_correlations(x) > -1.0)


def _random(
    x: FloatArray, model: ItemModel, n: int, rng: np.random.Generator
) -> tuple[I64, FloatArray]:
    return rng.choice(x.shape[1], n, replace=False), np.ones(n)


def _correlations(x: FloatArray) -> FloatArray:
    """Return the correlation of each item with the share solved; -1 of one that tells nothing."""
    y = np.nanmean(x, axis=1)
    seen = ~np.isnan(x)
    n = np.maximum(seen.sum(axis=0), 1)
    filled = np.where(seen, x, np.where(seen, x, 0.0).sum(axis=0) / n)
    dx, dy = filled - filled.mean(axis=0), y - y.mean()
    scale = np.sqrt((dx**2).sum(axis=0) * (dy**2).sum())
    return np.where(scale > 1e-12, dy @ dx / np.where(scale > 1e-12, scale, 1.0), -1.0)


def _correlated(
    x: FloatArray, model: ItemModel, n: int, rng: np.random.Generator
) -> tuple[I64, FloatArray]:
    """Return the items that go most with the share solved."""
    return np.argsort(-_correlations(x), kind="stable")[:n], np.ones(n)


def _stratified(
    x: FloatArray, model: ItemModel, n: int, rng: np.random.Generator
) -> tuple[I64, FloatArray]:
    """Return of each stratum of difficulty the item that goes most with the share solved."""
    r = _correlations(x)
    able = np.flatnonzero(r > -1.0)
    if len(able) < n:
        # A part of the models may answer more items alike than all do: those come last.
        return np.argsort(-r, kind="stable")[:n], np.ones(n)
    order = able[np.argsort(np.nanmean(x[:, able], axis=0), kind="stable")]
    strata = np.array_split(order, n)
    return np.array([s[np.argmax(r[s])] for s in strata]), np.ones(n)


def _anchors(
    x: FloatArray, model: ItemModel, n: int, rng: np.random.Generator
) -> tuple[I64, FloatArray]:
    """Return the item nearest to each centre of the columns of answers, and cluster sizes."""
    return _medoids(np.nan_to_num(x, nan=0.5).T.astype(np.float32), n, rng)


def _irt_anchors(
    x: FloatArray, model: ItemModel, n: int, rng: np.random.Generator
) -> tuple[I64, FloatArray]:
    """Return the item nearest to each centre of the parameters of the items, and cluster sizes."""
    points = np.column_stack([model.slope, model.intercept]).astype(np.float32)
    return _medoids(points, n, rng)


def _medoids(
    points: npt.NDArray[np.float32], n: int, rng: np.random.Generator
) -> tuple[I64, FloatArray]:
    """Return the point nearest to each centre of k-means, and the sizes of the clusters.

    Centres that lie nearest to one point take the next nearest, so that no item stands twice.
    """
    distance, label = _k_means(points, n, rng)
    distance += (points**2).sum(axis=1, keepdims=True)
    items = np.empty(n, dtype=np.int64)
    for k in range(n):
        items[k] = j = int(distance[:, k].argmin())
        distance[j] = np.inf
    return items, np.maximum(np.bincount(label, minlength=n), 1).astype(np.float64)


def _k_means(
    points: npt.NDArray[np.float32], n: int, rng: np.random.Generator
) -> tuple[npt.NDArray[np.float32], I64]:
    """Return squared distances to centres, less each point's square, and clusters."""
    square = (points**2).sum(axis=1)
    first = int(rng.integers(len(points)))
    chosen, near = [first], _from(points, square, first)
    for _ in range(n - 1):
        total = near.sum()
        weights = near / total if total else None
        chosen.append(int(rng.choice(len(points), p=weights)))
        near = np.minimum(near, _from(points, square, chosen[-1]))
    middle, label = points[chosen], np.full(len(points), -1)
    for _ in range(_N_ITERATIONS):
        distance = points @ (-2 * middle.T)
        distance += (middle**2).sum(axis=1)
        before, label = label, distance.argmin(axis=1)
        if (label == before).all():
            break
        order = np.argsort(label, kind="stable")
        counts = np.bincount(label, minlength=n)
        there = np.flatnonzero(counts)
        starts = np.concatenate([[0], np.cumsum(counts[there])[:-1]])
        sums = np.add.reduceat(points[order], starts, axis=0)
        middle[there] = sums / counts[there, np.newaxis]
    return distance, label


def _from(points: npt.NDArray[np.float32], square: npt.NDArray[np.float32], j: int) -> FloatArray:
    """Return the squared distance of each point from one."""
    found = (square - 2 * points @ points[j] + square[j]).astype(np.float64)
    return np.asarray(np.maximum(found, 0.0))


_List = Callable[[FloatArray, ItemModel, int, np.random.Generator], tuple[I64, FloatArray]]
#: From answers, the model fitted to them, a number and a generator to items and their weights.
LISTS: dict[str, _List] = {
    "random": _random,
    "anchors": _anchors,
    "irt-anchors": _irt_anchors,
    "correlated": _correlated,
    "stratified": _stratified,
}
