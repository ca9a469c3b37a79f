"""Choice of items: stratified by difficulty, best correlated, anchors, or random; and their errors.

Every method chooses and fits without the models that it predicts. Two protocols: random folds of
models; and the better half predicted from the worse half, for a benchmark is used on models that
are better than all it was made from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from gnomon.distill.items.response_model import ItemModel, fit_items
from gnomon.distill.search.folds import Folds
from gnomon.errors import ScoreDataError
from gnomon.results import FieldRecord, Results, generator, made_by
from gnomon.scores.table import FloatArray, ScoreTable

__all__ = ["ITEM_METHODS", "ItemChoice", "ItemMethod", "choose_items", "item_matrix"]

I64 = npt.NDArray[np.int64]
Protocol = Literal["folds", "better"]

#: Fewer models leave item parameters noise; still fewer are refused, as are so few items.
_FEW_MODELS, _LEAST_MODELS, _LEAST_ITEMS = 50, 20, 10
_KMEANS_ITERATIONS = 12


@dataclass(frozen=True)
class ItemMethod(FieldRecord):
    """How far a method's estimates of the share solved are off, in points of 100.

    Parameters
    ----------
    method : str
        The choice of the items, then the estimate from them.
    protocol : {"folds", "better"}
        Models predicted at random; or the better half, from the worse half alone.
    error, bias : float
        Mean size and mean of estimate minus truth, in points.
    n_models : int
        How many were predicted.
    """

    method: str
    protocol: str
    error: float
    bias: float
    n_models: int


@dataclass(frozen=True, eq=False, repr=False)
class ItemChoice(Results[ItemMethod]):
    """Errors of the methods on one protocol, with the items that one method chose from all models.

    Parameters
    ----------
    items : tuple of str
        The list to use.
    model : ItemModel
        Fitted to all models, for p-IRT.

    Examples
    --------
    >>> model = ItemModel(np.ones(2), np.zeros(2))
    >>> ItemChoice((), {"method": "random"}, items=("u",), model=model).notes
    ('1 items, random: u',)
    """

    items: tuple[str, ...] = field(kw_only=True)
    model: ItemModel = field(kw_only=True)

    @property
    def notes(self) -> tuple[str, ...]:
        """The chosen items, and which fixed list erred least."""
        shown = ", ".join(self.items[:8]) + (", ..." if len(self.items) > 8 else "")
        lines = [f"{len(self.items)} items, {self.settings['method']}: {shown}"]
        for protocol, word in (("folds", "models like the old"), ("better", "better models")):
            some = self.where(protocol=protocol)
            fixed = [one for one in some if "adaptive" not in one.method]
            if fixed:
                least = min(fixed, key=lambda one: one.error)
                lines.append(
                    f"of the fixed lists, for {word}: {least.method}, {least.error:.1f} points off"
                )
        return tuple(lines)


def item_matrix(table: ScoreTable) -> tuple[tuple[str, ...], tuple[str, ...], FloatArray]:
    """Return models, items and the mean answers, NaN where missing.

    Raises
    ------
    ScoreDataError
        A score is not between 0 and 1, or there are too few models or items.
    """
    frame = table.last_step().to_frame()
    models = sorted(frame["algorithm"].unique().to_list())
    items = sorted(frame["task"].unique().to_list())
    import polars as pl

    cells = frame.group_by("algorithm", "task").agg(pl.col("score").mean())
    x = np.full((len(models), len(items)), np.nan)
    rows = cells["algorithm"].replace_strict({m: i for i, m in enumerate(models)})
    columns = cells["task"].replace_strict({t: i for i, t in enumerate(items)})
    x[rows.to_numpy(), columns.to_numpy()] = cells["score"].to_numpy()
    outside = (x < 0) | (x > 1)
    if outside.any():
        i, j = np.argwhere(outside)[0]
        raise ScoreDataError(
            f"expected answers from 0 to 1, found {x[i, j]:g} of {models[i]} on {items[j]}"
        )
    if len(models) < _LEAST_MODELS:
        raise ScoreDataError(
            f"expected at least {_LEAST_MODELS} models to fit items to, found {len(models)}"
        )
    return tuple(models), tuple(items), x


def choose_items(
    scores: ScoreTable,
    n_items: int = 100,
    *,
    method: str = "stratified",
    folds: int = 5,
    compare: bool = True,
    rng: np.random.Generator | int | None = None,
) -> ItemChoice:
    """Choose the items that predict the share of all items solved, beside every other method.

    Parameters
    ----------
    scores : ScoreTable
        Models as algorithms, items as tasks, answers from 0 to 1.
    n_items : int
        At least 10, fewer than there are.
    method : {"stratified", "correlated", "anchors", "random"}
        What makes the list; the errors are of all of them.
    folds : int
        Of models.
    compare : bool
        Whether the errors are measured; without, only the list is made.
    rng : numpy.random.Generator or int, optional
        Of random items and of the anchors' first centres, or its seed; seed 0 if not given.

    Returns
    -------
    ItemChoice

    Raises
    ------
    ScoreDataError
        As :func:`item_matrix`; or the number of items does not fit.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = 1 / (1 + np.exp(-(rng.normal(size=(60, 1)) + rng.normal(size=80))))
    >>> x = (rng.random((60, 80)) < p).astype(float)
    >>> table = ScoreTable.from_arrays({f"m{i:02}": [row] for i, row in enumerate(x)})
    >>> found = choose_items(table, 20)
    >>> errors = {one.method: one.error for one in found if one.protocol == "folds"}
    >>> errors["adaptive, p-IRT"] < errors["random, mean"]
    True
    """
    if method not in _CHOICES:
        raise ScoreDataError(f"expected one of {', '.join(_CHOICES)}; found {method!r}")
    _, items, x = item_matrix(scores)
    if not _LEAST_ITEMS <= n_items < len(items):
        raise ScoreDataError(
            f"expected from {_LEAST_ITEMS} to {len(items) - 1} items, found {n_items}"
        )
    draws = generator(rng)
    picked = _CHOICES[method](x, n_items, draws)[0]
    found = _errors(x, n_items, folds, draws) if compare else []
    warned = []
    if len(x) < _FEW_MODELS:
        warned.append(f"{len(x)} models: with fewer than {_FEW_MODELS}, item parameters are noise")
    return ItemChoice(
        tuple(found),
        made_by(rng, method=method, n_items=n_items, folds=folds),
        tuple(warned),
        items=tuple(items[j] for j in picked),
        model=fit_items(x),
    )


def _errors(x: FloatArray, n_items: int, folds: int, rng: np.random.Generator) -> list[ItemMethod]:
    """Return the errors of all methods on both protocols."""
    truth = np.nanmean(x, axis=1)
    fold = Folds(min(folds, len(x))).of(len(x))
    worse, better = np.array_split(np.argsort(truth, kind="stable"), 2)
    splits: dict[Protocol, list[tuple[I64, I64]]] = {
        "folds": [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in np.unique(fold)],
        "better": [(worse, better)],
    }
    found = []
    for protocol, pairs in splits.items():
        off: dict[str, list[float]] = {}
        for kept, held in pairs:
            for name, estimates in _estimates(x[kept], x[held], n_items, rng).items():
                off.setdefault(name, []).extend((100 * (estimates - truth[held])).tolist())
        for name, values in off.items():
            v = np.array(values)
            found.append(
                ItemMethod(name, protocol, float(np.abs(v).mean()), float(v.mean()), v.size)
            )
    return found


def _estimates(
    train: FloatArray, new: FloatArray, n_items: int, rng: np.random.Generator
) -> dict[str, FloatArray]:
    """Return the estimates of new models by every method."""
    model = fit_items(train)
    p = model.probabilities()
    truth = np.nanmean(train, axis=1)
    found = {"null (mean of the training)": np.full(len(new), truth.mean())}
    for name, choice in _CHOICES.items():
        items, weights = choice(train, n_items, rng)
        means, mixed = _mean(new, items, weights), _of(model, new, items, p)
        found[f"{name}, mean"] = means
        found[f"{name}, p-IRT"] = mixed
        in_mean, in_irt = _mean(train, items, weights), _of(model, train, items, p)
        squares = [float(np.mean((e - truth) ** 2)) for e in (in_mean, in_irt)]
        share = squares[1] / (sum(squares) or 1.0)
        found[f"{name}, gp-IRT"] = share * means + (1.0 - share) * mixed
    adaptive = [model.adaptive(np.nan_to_num(row), n_items) for row in new]
    found["adaptive, p-IRT"] = np.array(
        [model.shares(i, a[np.newaxis], p)[0][0] for i, a in adaptive]
    )
    return found


def _mean(x: FloatArray, items: I64, weights: FloatArray) -> FloatArray:
    seen = ~np.isnan(x[:, items])
    total = np.maximum(seen @ weights, 1e-12)
    return np.asarray(np.nan_to_num(x[:, items]) @ weights / total)


def _of(model: ItemModel, x: FloatArray, items: I64, p: FloatArray) -> FloatArray:
    return model.shares(items, x[:, items], p)[0]


def _random(x: FloatArray, n: int, rng: np.random.Generator) -> tuple[I64, FloatArray]:
    return rng.choice(x.shape[1], n, replace=False), np.ones(n)


def _correlations(x: FloatArray) -> FloatArray:
    """Return the correlation of each item with the share solved; -1 of one that tells nothing."""
    y = np.nanmean(x, axis=1)
    seen = ~np.isnan(x)
    n = np.maximum(seen.sum(axis=0), 1)
    filled = np.where(seen, x, np.where(seen, x, 0.0).sum(axis=0) / n)
    dx, dy = filled - filled.mean(axis=0), y - y.mean()
    scale = np.sqrt((dx**2).sum(axis=0) * (dy**2).sum())
    return np.where(scale > 0, dy @ dx / np.where(scale > 0, scale, 1.0), -1.0)


def _correlated(x: FloatArray, n: int, rng: np.random.Generator) -> tuple[I64, FloatArray]:
    """Return the items that go most with the share solved."""
    del rng
    return np.argsort(-_correlations(x), kind="stable")[:n], np.ones(n)


def _stratified(x: FloatArray, n: int, rng: np.random.Generator) -> tuple[I64, FloatArray]:
    """Return of each stratum of difficulty the item that goes most with the share solved."""
    del rng
    r = _correlations(x)
    able = np.flatnonzero(r > -1.0)
    if len(able) < n:
        raise ScoreDataError(f"expected {n} items whose answers differ, found {len(able)}")
    order = able[np.argsort(np.nanmean(x[:, able], axis=0), kind="stable")]
    strata = np.array_split(order, n)
    return np.array([s[np.argmax(r[s])] for s in strata]), np.ones(n)


def _anchors(x: FloatArray, n: int, rng: np.random.Generator) -> tuple[I64, FloatArray]:
    """Return the item nearest to each centre of k-means++ of the columns, and cluster sizes."""
    points = np.nan_to_num(x, nan=0.5).T
    first = int(rng.integers(len(points)))
    centers, near = [points[first]], ((points - points[first]) ** 2).sum(axis=1)
    for _ in range(n - 1):
        total = near.sum()
        j = (
            int(rng.choice(len(points), p=near / total))
            if total
            else int(rng.integers(len(points)))
        )
        centers.append(points[j])
        near = np.minimum(near, ((points - points[j]) ** 2).sum(axis=1))
    middle = np.array(centers)
    square = (points**2).sum(axis=1)[:, np.newaxis]
    for _ in range(_KMEANS_ITERATIONS):
        distance = square - 2 * points @ middle.T + (middle**2).sum(axis=1)
        label = distance.argmin(axis=1)
        counts = np.bincount(label, minlength=n)
        sums = np.zeros_like(middle)
        np.add.at(sums, label, points)
        middle = np.where(
            counts[:, np.newaxis] > 0, sums / np.maximum(counts, 1)[:, np.newaxis], middle
        )
    distance = square - 2 * points @ middle.T + (middle**2).sum(axis=1)
    items = distance.argmin(axis=0)
    sizes = np.bincount(distance.argmin(axis=1), minlength=n).astype(np.float64)
    return np.asarray(items, dtype=np.int64), sizes


_Choice = Callable[[FloatArray, int, np.random.Generator], tuple[I64, FloatArray]]
_CHOICES: dict[str, _Choice] = {
    "random": _random,
    "anchors": _anchors,
    "correlated": _correlated,
    "stratified": _stratified,
}
#: The choices by name.
ITEM_METHODS: tuple[str, ...] = tuple(_CHOICES)
