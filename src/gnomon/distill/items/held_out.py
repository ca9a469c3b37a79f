"""Estimates of models that were held out: every list with every estimate, on two protocols.

Nothing that chooses, fits or scales has seen the models that are predicted. Two protocols: random
folds of models; and the better half predicted from the worse half, for a benchmark is used on
models that are better than all it was made from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gnomon.distill.items.lists import LISTS
from gnomon.distill.items.response_model import I64, LEVEL, NORMAL, ItemModel, fit_items
from gnomon.distill.search.folds import Folds
from gnomon.results import FieldRecord
from gnomon.scores.table import FloatArray

Protocol = Literal["folds", "better"]
Mask = npt.NDArray[np.bool_]

#: Folds inside the training; every so manieth model of it validates the response model.
_N_INNER, _VALIDATED = 5, 5
#: So many items tell the error of the response model: more would not change it and take long.
_MOST_VALIDATED = 2000
#: Models in order of what they solve are cut here: what is above is predicted from what is below.
_CUTS = (1 / 2, 2 / 3)
#: From fewer models one that may be better than all of them has no interval: learned from 20 to 25,
#: intervals held 0.11 to 0.97 of such, by table and choice of items; from 30 made-up ones 0.89 to
#: 0.98.
_FEW_TO_GO_BEYOND = 30
#: A standard deviation that is not more leaves nothing open.
_NOTHING_OPEN = 1e-6
#: Penalties of the ridge, over the mean square of the items.
_PENALTIES = 10.0 ** np.linspace(-2, 4, 13)
NULL = "null (mean of the training)"
#: The estimates from each list, as their authors pair them.
ESTIMATES: Mapping[str, tuple[str, ...]] = {
    "random": ("mean", "p-IRT", "gp-IRT", "ridge"),
    "anchors": ("mean", "p-IRT", "gp-IRT"),
    "irt-anchors": ("mean", "p-IRT", "gp-IRT"),
    "correlated": ("p-IRT", "ridge"),
    "stratified": ("p-IRT", "ridge"),
    "adaptive": ("p-IRT",),
}


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
    coverage : float
        Share of the truths inside the 90 % interval, whose scale saw none of these models; of those
        that have an interval, NaN if fewer than half have one: it is these that look like the old.
    half_width : float
        Half the mean width of these intervals, in points.
    n_models : int
        How many were predicted.
    """

    method: str
    protocol: Protocol
    error: float
    bias: float
    coverage: float
    half_width: float
    n_models: int


@dataclass(frozen=True)
class Scales:
    """By what the standard deviation of an estimate is multiplied, for half a 90 % interval.

    Parameters
    ----------
    inside, beyond : float
        Of models like those of the training; and of models that may be better than all of them.
    far : float
        Of the latter too, for the deviation that counts how far the prior draws the estimate.
    best : float
        The greatest share solved in the training.
    n_models : int
        That the training has; 0 if that is not known.

    Examples
    --------
    >>> value, deviation = np.array([0.5, 0.8]), np.array([0.02, 0.02])
    >>> Scales(1.5, 3.0, 2.0, 0.7).half_widths(value, deviation, deviation)
    array([0.03, 0.06])
    """

    inside: float
    beyond: float
    far: float
    best: float
    n_models: int = 0

    def refused(self, value: FloatArray, deviation: FloatArray) -> Mask:
        """Return which have no interval: maybe better than the training, which is too small."""
        few = 0 < self.n_models < _FEW_TO_GO_BEYOND
        return self.above(value, deviation) & few & (deviation > _NOTHING_OPEN)

    def above(self, value: FloatArray, deviation: FloatArray) -> Mask:
        """Return whether the interval of models like the old reaches above the training."""
        return np.asarray(value + self.inside * deviation > self.best)

    def half_widths(self, value: FloatArray, deviation: FloatArray, far: FloatArray) -> FloatArray:
        """Return half widths: the widest where the interval reaches above the training, or NaN."""
        wide = np.maximum(max(self.inside, self.beyond) * deviation, self.far * far)
        half = np.where(self.above(value, deviation), wide, self.inside * deviation)
        return np.where(self.refused(value, deviation), np.nan, half)


@dataclass(frozen=True, eq=False)
class HeldItems:
    """What one method says of held-out models.

    Parameters
    ----------
    rows, fold : ndarray of int, shape (predicted,)
    value, deviation, far, truth, best : ndarray of float, shape (predicted,)
        Estimate, its standard deviation before it is scaled, the same with its distance from the
        estimate without a prior, the share solved, and the greatest share of the training.
    top : ndarray of bool, shape (predicted,)
        Whether what was solved leaves every greater ability possible.
    """

    rows: I64
    fold: I64
    value: FloatArray
    deviation: FloatArray
    far: FloatArray
    top: Mask
    truth: FloatArray
    best: FloatArray

    @property
    def off(self) -> FloatArray:
        """Estimate minus truth."""
        return self.value - self.truth

    def among(self, chosen: Mask) -> HeldItems:
        """Return the same of some models."""
        return HeldItems(*(getattr(self, f.name)[chosen] for f in fields(self)))

    def scales(self, better: HeldItems, best: float, n_models: int) -> Scales:
        """Return the scales that these models ask for inside, and those above a cut beyond."""
        cuts = [better.among(better.fold == k) for k in np.unique(better.fold)]
        return Scales(
            safe_quantile(np.abs(self.off) / self.deviation),
            max((safe_quantile(np.abs(one.off) / one.deviation) for one in cuts), default=NORMAL),
            max(safe_quantile(np.abs(one.off) / one.far) for one in (self, *cuts)),
            best,
            n_models,
        )

    def intervals(self, scales: Scales) -> FloatArray:
        """Return both ends of 90 % intervals, shape (2, predicted); NaN where there is none."""
        half = scales.half_widths(self.value, self.deviation, self.far)
        free = self.top & scales.above(self.value, self.deviation) & ~np.isnan(half)
        return np.array([self.value - half, np.where(free, 1.0, self.value + half)])


def safe_quantile(z: FloatArray) -> float:
    """Return the 90 % quantile of the sizes of errors, safe for few models.

    It is the order statistic at (n + 1) 0.9, the greatest where that is beyond the last.
    """
    if not z.size:
        return NORMAL
    return float(np.sort(z)[min(int(np.ceil((z.size + 1) * LEVEL)), z.size) - 1])


class Training:
    """Models that are known in full: the response model, lists of items, and estimates from them.

    Parameters
    ----------
    x : ndarray of float, shape (models, items)
    rng : numpy.random.Generator
        Of random lists, and of the first centres of anchor points.
    """

    def __init__(self, x: FloatArray, rng: np.random.Generator) -> None:
        self.x, self.rng = x, rng
        self.truth = np.nanmean(x, axis=1)
        self.model: ItemModel = fit_items(x)

    def list_of(self, name: str, n: int) -> tuple[I64, FloatArray]:
        """Return the items of a list and their weights."""
        return LISTS[name](self.x, self.model, n, self.rng)

    @cached_property
    def _error_of_model(self) -> float:
        """Mean size of the error of the response model: of odd items, of models not fitted to.

        The bias that Maia Polo and others weigh against the variance of a mean.
        """
        held, n_all = np.arange(len(self.x)) % _VALIDATED == 0, self.x.shape[1]
        some = np.linspace(0, n_all - 1, min(n_all, _MOST_VALIDATED)).astype(np.int64)
        model, new = fit_items(self.x[~held][:, some]), self.x[held][:, some]
        even, odd = np.arange(0, new.shape[1], 2), np.arange(1, new.shape[1], 2)
        said = model.abilities(even, new[:, even]) @ model.probabilities()[odd].T
        said, seen = said.mean(axis=1), np.nanmean(new[:, odd], axis=1)
        return float(np.nanmean(np.abs(said - seen)))

    def estimates(
        self, new: FloatArray, n: int, methods: Collection[str] | None = None
    ) -> Iterator[tuple[str, FloatArray, FloatArray, FloatArray, Mask]]:
        """Yield the name and what :func:`estimates_of` returns of every method, or of some."""

        def wanted(name: str) -> bool:
            return methods is None or name in methods

        ones = np.ones(len(new))
        flat = ones, ones, ones < 0
        if wanted(NULL):
            yield NULL, ones * self.truth.mean(), *flat
        for name, kinds in ESTIMATES.items():
            if not any(wanted(f"{name}, {kind}") for kind in kinds):
                continue
            items, weights = self.adaptive(new, n) if name == "adaptive" else self.list_of(name, n)
            value, near, far, top = estimates_of(self.model, items, _answers(new, items))
            for kind in [kind for kind in kinds if wanted(f"{name}, {kind}")]:
                of = f"{name}, {kind}"
                if kind == "p-IRT":
                    yield of, value, near, far, top
                elif kind == "mean":
                    yield of, _mean(new[:, items], weights), *flat
                elif kind == "gp-IRT":
                    share = self._share_of_mean(n)
                    mixed = share * _mean(new[:, items], weights) + (1 - share) * value
                    yield of, mixed, near, far, top
                else:
                    yield of, ridge(self.x[:, items], self.truth, new[:, items]), *flat

    def adaptive(self, new: FloatArray, n: int) -> tuple[I64, FloatArray]:
        """Return the items that are chosen for each model by itself, shape (models, n)."""
        return self.model.chosen_adaptively(new, n), np.ones(n)

    def _share_of_mean(self, n: int) -> float:
        """Return the share of the weighted mean in gp-IRT: b^2 / (b^2 + v / 4n)."""
        variance = float(np.nanvar(self.x, axis=1).mean()) / (4 * n)
        squared = self._error_of_model**2
        return squared / (squared + variance) if squared + variance else 0.0


def estimates_of(
    model: ItemModel, items: I64, x: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, Mask]:
    """Return estimates by p-IRT, their deviations, those that count the prior, and lower bounds.

    The last says which are no more than a lower bound.
    """
    value, variance = model.shares(items, x)
    free, _ = model.shares(items, x, prior=False)
    deviation = np.maximum(np.sqrt(variance), 1e-9)
    return value, deviation, np.hypot(deviation, free - value), model.reaches_the_top(items, x)


def _answers(x: FloatArray, items: I64) -> FloatArray:
    """Return the answers to items, the same for all models or each model's own."""
    return x[:, items] if items.ndim == 1 else np.take_along_axis(x, items, axis=1)


def _mean(seen: FloatArray, weights: FloatArray) -> FloatArray:
    total = np.maximum(~np.isnan(seen) @ weights, 1e-12)
    return np.asarray(np.nan_to_num(seen) @ weights / total)


def ridge(x: FloatArray, y: FloatArray, new: FloatArray) -> FloatArray:
    """Return predictions by ridge regression, its penalty by generalised cross-validation.

    Examples
    --------
    >>> x = np.eye(4)[:, :2]
    >>> ridge(x, np.array([1.0, 2.0, 0.0, 0.0]), x).round(1)
    array([1., 2., 0., 0.])
    """
    middle = np.nan_to_num(np.nanmean(x, axis=0))
    x, new = (np.where(np.isnan(part), middle, part) - middle for part in (x, new))
    u, s, vt = np.linalg.svd(x, full_matrices=False)
    kept = s > 1e-10 * max(float(s.max()), 1e-300)
    u, s, vt = u[:, kept], s[kept], vt[kept]
    z, n, best = u.T @ (y - y.mean()), len(y), (np.inf, 0.0)
    for factor in _PENALTIES:
        penalty = factor * float(np.mean(s**2)) if s.size else 1.0
        shrunk = s**2 / (s**2 + penalty)
        left = y - y.mean() - u @ (shrunk * z)
        best = min(best, (float((left**2).sum() / (n - 1 - shrunk.sum()) ** 2), penalty))
    return np.asarray(y.mean() + new @ vt.T @ (s / (s**2 + best[1]) * z))


def splits_of(x: FloatArray, n_folds: int) -> dict[Protocol, list[tuple[I64, I64]]]:
    """Return training and predicted models of both protocols."""
    fold = Folds(min(n_folds, len(x))).of(len(x))
    order = np.argsort(np.nanmean(x, axis=1), kind="stable")
    folds = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in np.unique(fold)]
    ends = [int(np.ceil(cut * len(x))) for cut in _CUTS]
    return {"folds": folds, "better": [(order[:end], order[end:]) for end in ends]}


def held_items(
    x: FloatArray,
    n_items: int,
    splits: list[tuple[I64, I64]],
    rng: np.random.Generator,
    methods: Collection[str] | None = None,
) -> dict[str, HeldItems]:
    """Return what every method says of the models that each split predicts."""
    truth = np.nanmean(x, axis=1)
    parts: dict[str, list[tuple[npt.NDArray[Any], ...]]] = {}
    for k, (kept, held) in enumerate(splits):
        training = Training(x[kept], rng)
        best = np.full(len(held), training.truth.max())
        for name, *said in training.estimates(x[held], n_items, methods):
            found = held, np.full(len(held), k), *said, truth[held], best
            parts.setdefault(name, []).append(found)
    return {
        name: HeldItems(*(np.concatenate(part) for part in zip(*found, strict=True)))
        for name, found in parts.items()
    }


@dataclass(frozen=True, eq=False)
class Measured:
    """Both protocols of every method, with the scales of their intervals.

    Parameters
    ----------
    errors : tuple of ItemMethod
    scales : mapping from method to Scales
        From all models, for new ones.
    """

    errors: tuple[ItemMethod, ...]
    scales: Mapping[str, Scales]


def measured(
    x: FloatArray,
    n_items: int,
    n_folds: int,
    rng: np.random.Generator,
    methods: Collection[str] | None = None,
) -> Measured:
    """Measure methods on both protocols, the scales of the intervals without the predicted models.

    In folds, a scale is that of the other folds. For the better half, it comes from the same two
    protocols inside the worse half. Those above a cut ask for the greatest scale of all cuts.
    """
    splits = splits_of(x, n_folds)
    folds = held_items(x, n_items, splits["folds"], rng, methods)
    better = held_items(x, n_items, splits["better"], rng, methods)
    worse = x[splits["better"][0][0]]
    inner = splits_of(worse, _N_INNER)
    inside = held_items(worse, n_items, inner["folds"], rng, methods)
    beyond = held_items(worse, n_items, inner["better"], rng, methods)
    errors, scales = [], {}
    best = float(np.nanmean(x, axis=1).max())
    for name, held in folds.items():
        above = better[name]
        scales[name] = held.scales(above, best, len(x))
        ends = np.empty((2, len(held.rows)))
        for k in np.unique(held.fold):
            own = held.fold == k
            others = above.among(~np.isin(above.rows, held.rows[own]))
            seen = len(x) - int(own.sum())
            scale = held.among(~own).scales(others, float(held.best[own][0]), seen)
            ends[:, own] = held.among(own).intervals(scale)
        errors.append(_judged(name, "folds", held, ends))
        half = above.among(above.fold == 0)
        scale = inside[name].scales(beyond[name], float(half.best[0]), len(worse))
        errors.append(_judged(name, "better", half, half.intervals(scale)))
    return Measured(tuple(errors), scales)


def _judged(name: str, protocol: Protocol, held: HeldItems, ends: FloatArray) -> ItemMethod:
    off, given = 100 * held.off, ~np.isnan(ends[0])
    low, high = ends[:, given]
    inside = (low <= held.truth[given] + 1e-9) & (held.truth[given] <= high + 1e-9)
    enough = given.mean() >= 0.5
    return ItemMethod(
        name,
        protocol,
        float(np.abs(off).mean()),
        float(off.mean()),
        float(inside.mean()) if enough else np.nan,
        float(100 * (high - low).mean() / 2) if enough else np.nan,
        len(off),
    )
