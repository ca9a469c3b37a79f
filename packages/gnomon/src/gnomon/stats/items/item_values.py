"""Value of a model on every item: mean over epochs, pass@k and pass^k, with the noise of epochs.

Epochs are nested in items: each item has one value, the unbiased estimate of what more epochs would
give, and items (or clusters of them) are what was drawn.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError, UnknownNameError, counted, listed
from gnomon.scores.items import ItemScores
from gnomon.scores.table import FloatArray
from gnomon.stats.cautions import warn

IntArray = npt.NDArray[np.int64]
#: What can be asked of items, for a message.
METRICS = ("mean", "pass@K", "pass^K")


@dataclass(frozen=True, slots=True)
class ItemMetric:
    """A summary of items: the mean, or the chance that k samples have one, or only, successes.

    Parameters
    ----------
    name : str
        ``mean``, ``pass@K`` or ``pass^K``.
    k : int
        Samples of an item; 1 for the mean.

    Examples
    --------
    >>> ItemMetric.named("pass@5").k
    5
    """

    name: str
    k: int = 1

    @classmethod
    def named(cls, name: str) -> ItemMetric:
        """Return the metric of that name.

        Raises
        ------
        UnknownNameError
            There is no such metric of items.
        """
        if name == "mean":
            return cls(name)
        found = re.fullmatch(r"pass[@^]([1-9]\d{0,5})", name)
        if found is None:
            raise UnknownNameError("metric of items", name, METRICS)
        return cls(name, int(found[1]))

    @property
    def of_samples(self) -> bool:
        """Whether it counts successes among samples."""
        return self.name != "mean"


@dataclass(frozen=True, eq=False)
class ItemValues:
    """One model's values, in the order of all items; NaN where it has none.

    Parameters
    ----------
    model : str
    metric : ItemMetric
    values : ndarray of float, shape (items,)
    n_epochs : ndarray of int, shape (items,)
        Samples with a score.
    noise : ndarray of float, shape (items,)
        Variance of each value by its epochs alone, estimated without bias, so that it may be below
        0 for some; NaN where there are not two epochs for each that is counted.
    scale : str
        ``binary``: every score is 0 or 1; ``unit``: between 0 and 1; ``free``.
    """

    model: str
    metric: ItemMetric
    values: FloatArray
    n_epochs: IntArray
    noise: FloatArray
    scale: str

    @cached_property
    def known(self) -> npt.NDArray[np.bool_]:
        """Which items have a value, shape (items,)."""
        return ~np.isnan(self.values)

    @cached_property
    def binary(self) -> bool:
        """Whether every value is 0 or 1, right or wrong."""
        values = self.values[self.known]
        return self.scale == "binary" and bool(np.all((values == 0.0) | (values == 1.0)))


def item_values(scores: ItemScores, model: str, metric: ItemMetric) -> ItemValues:
    """Return the values of a model on all items.

    Raises
    ------
    ScoreDataError
        A score is infinite; or successes are to be counted and scores are not 0 or 1, or no item
        has so many epochs.

    Warns
    -----
    DegenerateScoresWarning
        Some items have fewer epochs than are to be counted: they have no value.
    """
    n_items = len(scores.items)
    item, _, score = scores.rows(model)
    there = ~np.isnan(score)
    item, score = item[there], score[there]
    if np.isinf(score).any():
        raise ScoreDataError(f"{model}: expected finite scores of items, found a censored one")
    n = np.bincount(item, minlength=n_items)
    total = np.bincount(item, weights=score, minlength=n_items).astype(np.float64)
    scale = _scale(score)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = total / n
        squares = np.bincount(item, weights=np.square(score - mean[item]), minlength=n_items)
        noise = np.where(n > 1, squares / (n - 1.0) / n, np.nan)
    if not metric.of_samples:
        return ItemValues(model, metric, mean, n, noise, scale)
    if scale != "binary":
        raise ScoreDataError(
            f"{metric.name} of {model}: expected scores 0 or 1, found {score.min():g} to "
            f"{score.max():g}; take the mean"
        )
    return ItemValues(model, metric, *_counted(scores, model, metric, n, total), scale)


def _scale(score: FloatArray) -> str:
    """Return how scores are bounded: as those of a table that hold it."""
    if not score.size or np.all((score == 0.0) | (score == 1.0)):
        return "binary"
    return "unit" if score.min() >= 0.0 and score.max() <= 1.0 else "free"


def _counted(
    scores: ItemScores, model: str, metric: ItemMetric, n: IntArray, successes: FloatArray
) -> tuple[FloatArray, IntArray, FloatArray]:
    """Return pass@k or pass^k of each item that has k epochs, with its epochs and their noise.

    With h(k) the chance that all of k samples of an item fail (of pass^k: succeed), the variance of
    its estimate is E h(k)^2 - h(2k), of which there is an unbiased estimate from 2k epochs on.
    """
    enough = n >= metric.k
    few = np.flatnonzero((n > 0) & ~enough)
    if not enough.any():
        raise ScoreDataError(
            f"{metric.name} of {model}: expected {counted(metric.k, 'epoch')} of an item or more, "
            f"found at most {int(n.max(initial=0))}"
        )
    if few.size:
        named = listed([scores.items[i] for i in few])
        warn(
            f"{metric.name} of {model}: {counted(few.size, 'item')} with fewer than {metric.k} "
            f"epochs left out ({named})"
        )
    is_any = metric.name.startswith("pass@")
    of_one_kind = n - successes if is_any else successes
    share, twice = (pass_hat(n, of_one_kind, k) for k in (metric.k, 2 * metric.k))
    values = np.where(enough, 1.0 - share if is_any else share, np.nan)
    return values, n, np.where(n >= 2 * metric.k, np.square(share) - twice, np.nan)


def pass_at(n: npt.ArrayLike, successes: npt.ArrayLike, k: int) -> FloatArray:
    """Return the unbiased estimate of pass@k: that one of k samples of an item succeeds.

    Parameters
    ----------
    n, successes : array_like
        Samples of each item, at least `k`, and how many of them succeed.
    k : int

    References
    ----------
    Chen et al. (2021), Evaluating large language models trained on code.

    Examples
    --------
    >>> pass_at(4, [0, 1, 2, 4], 2)
    array([0.        , 0.5       , 0.83333333, 1.        ])
    """
    samples, right = np.asarray(n, dtype=np.float64), np.asarray(successes, dtype=np.float64)
    return 1.0 - pass_hat(samples, samples - right, k)


def pass_hat(n: npt.ArrayLike, successes: npt.ArrayLike, k: int) -> FloatArray:
    """Return the unbiased estimate of pass^k: that all of k samples of an item succeed.

    Parameters
    ----------
    n, successes, k
        As in :func:`pass_at`.

    References
    ----------
    Yao, Shinn, Razavi and Narasimhan (2024), tau-bench.

    Examples
    --------
    >>> pass_hat(4, [0, 1, 2, 4], 2)
    array([0.        , 0.        , 0.16666667, 1.        ])
    """
    samples, right = np.asarray(n, dtype=np.float64), np.asarray(successes, dtype=np.float64)
    share = np.ones(np.broadcast(samples, right).shape)
    with np.errstate(invalid="ignore", divide="ignore"):
        for i in range(k):
            share = share * np.maximum(right - i, 0.0) / (samples - i)
    return share
