"""Sizes of lists of items: which difference of two models so many items tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

import numpy as np

from gnomon.distill.items.answers import check_size, gaps_in_words, item_matrix
from gnomon.distill.items.held_out import Training, estimates_of, safe_quantile, splits_of
from gnomon.distill.items.item_suite import LEAST_ITEMS
from gnomon.distill.items.lists import LISTS, able_items
from gnomon.errors import ScoreDataError, UnknownNameError
from gnomon.results import FieldRecord, Results, generator, made_by
from gnomon.scores.table import FloatArray, ScoreTable

#: Sizes that are tried, as long as they are at most half of the items.
_SIZES = (10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)
#: The two-sided level at which two models are told apart.
_ERROR = 0.05
_BESIDE = {"adaptive": "items chosen one by one for each model", "random": "random items"}


@dataclass(frozen=True)
class ItemSize(FieldRecord):
    """What so many items tell, measured on models that were held out.

    Parameters
    ----------
    n_items : int
    error, half_width : float
        Mean size of the error, and half the mean width of the 90 % interval, in points of 100.
    detectable : float
        The difference of two models' shares of all items, in points, that so many items tell with
        the power wanted, two-sided at 5 %.
    power : float
        Share of the pairs that differ by the gap to one and a half times the gap, that were told
        apart and in the right order; NaN without such pairs.
    wrong : float
        Share that were told apart in the wrong order.
    n_pairs : int
    """

    n_items: int
    error: float
    half_width: float
    detectable: float
    power: float
    wrong: float
    n_pairs: int


@dataclass(frozen=True, eq=False, repr=False)
class ItemSizes(Results[ItemSize]):
    """What lists of each size tell of models that were held out, the smallest first.

    Parameters
    ----------
    others : mapping from {"adaptive", "random"} to tuple of float
        Errors, in points of 100, of as many items chosen for each model, or at random.

    Examples
    --------
    >>> few = ItemSize(30, 3.0, 6.0, 12.0, 0.7, 0.0, 50)
    >>> more = ItemSize(100, 1.6, 3.3, 6.5, 0.9, 0.0, 50)
    >>> ItemSizes((few, more), {"gap": 0.1, "power": 0.8, "method": "stratified"}).least
    100
    """

    others: Mapping[str, tuple[float, ...]] = field(default_factory=dict, kw_only=True)

    drawn_by = "gnomon.plot.distillation:item_size_figure"

    def as_records(self) -> list[dict[str, Any]]:
        """Return the records, with the errors of the other ways."""
        return [
            one.as_record() | {f"{name}_error": errors[i] for name, errors in self.others.items()}
            for i, one in enumerate(self)
        ]

    @property
    def least(self) -> int:
        """The fewest items that tell the gap.

        Raises
        ------
        ScoreDataError
            No size does.
        """
        gap = 100 * self.settings["gap"]
        told = [one.n_items for one in self if one.detectable <= gap]
        if not told:
            last = self[-1]
            raise ScoreDataError(
                f"no list of up to {last.n_items} items tells a gap of {gap:g} points with power "
                f"{self.settings['power']:g}; {last.n_items} tell {last.detectable:.1f} points"
            )
        return told[0]

    @property
    def notes(self) -> tuple[str, ...]:
        """The smallest set, and how to read the table."""
        gap = f"{100 * self.settings['gap']:g} points"
        try:
            first = f"fewest of those tried that tell {gap} apart: {self.least} items"
        except ScoreDataError as error:
            first = str(error)
        beside = (
            f"error of {_BESIDE[name]}: {', '.join(f'{error:.1f}' for error in errors)} points"
            for name, errors in self.others.items()
        )
        return (
            first,
            *beside,
            f"{self.settings['method']}, p-IRT, on models held out; detectable: the gap told with "
            f"power {self.settings['power']:g} at 5 %, by the errors measured; power, wrong: what "
            f"became of pairs that differ by {gap} to {150 * self.settings['gap']:g}",
        )


def item_sizes(
    scores: ScoreTable,
    gap: float = 0.05,
    *,
    method: str = "stratified",
    power: float = 0.8,
    folds: int = 5,
    most: int | None = None,
    others: bool = False,
    rng: np.random.Generator | int | None = None,
) -> ItemSizes:
    """Say which differences of two models lists of each size tell: the smallest set for a gap.

    Items and model are chosen and fitted without the models that are predicted. The difference is
    that of the shares of all items of the table.

    Parameters
    ----------
    scores : ScoreTable
        As :func:`choose_items` takes it.
    gap : float
        Between 0 and 1: the difference of two shares that is to be told.
    method : {"stratified", "correlated", "anchors", "irt-anchors", "random", "adaptive"}
    power : float
        The probability with which it is to be told, above one half.
    folds : int
        Of models.
    most : int, optional
        The greatest number of items that is tried; half of all, at most 1,000, if not given.
    others : bool
        Also the errors of items chosen one by one for each model, and of random ones.
    rng : numpy.random.Generator or int, optional
        Of random lists, or its seed; seed 0 if not given.

    Returns
    -------
    ItemSizes

    Raises
    ------
    ScoreDataError
        As :func:`item_matrix`; or a number is out of its range.
    UnknownNameError
        There is no such method.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = 1 / (1 + np.exp(-(rng.normal(size=(60, 1)) + rng.normal(size=200))))
    >>> x = (rng.random((60, 200)) < p).astype(float)
    >>> table = ScoreTable.from_arrays({f"m{i:02}": [row] for i, row in enumerate(x)})
    >>> found = item_sizes(table, 0.2)
    >>> found[0].detectable > found[-1].detectable, found.least
    (True, 70)
    """
    if method not in (*LISTS, "adaptive"):
        raise UnknownNameError("method", method, (*LISTS, "adaptive"))
    for name, value, low in (("gap", gap, 0.0), ("power", power, 0.5)):
        if not low < value < 1:
            raise ScoreDataError(f"expected {name} between {low:g} and 1, found {value:g}")
    models, items, x = item_matrix(scores)
    check_size(x, LEAST_ITEMS)
    largest = min(len(items), len(able_items(x))) // 2
    sizes = [n for n in _SIZES if n <= largest and (most is None or n <= max(most, _SIZES[0]))]
    if not sizes:
        raise ScoreDataError(f"expected at least {2 * _SIZES[0]} items, found {len(items)}")
    names, draws = list(dict.fromkeys([method, *(_BESIDE if others else ())])), generator(rng)
    parts: dict[tuple[str, int], list[tuple[FloatArray, ...]]] = {}
    truth = np.nanmean(x, axis=1)
    for kept, held in splits_of(x, folds)["folds"]:
        training = Training(x[kept], draws)
        for name in names:
            for n, said, deviation in _of_sizes(training, x[held], name, sizes):
                parts.setdefault((name, n), []).append((said, deviation, truth[held]))
    steps = NormalDist().inv_cdf(1 - _ERROR / 2), NormalDist().inv_cdf(power)
    joined = {key: [np.concatenate(p) for p in zip(*v, strict=True)] for key, v in parts.items()}
    found = [_size(n, joined[method, n], gap, steps) for n in sizes]
    beside = {
        name: tuple(
            float(100 * np.abs(y - t).mean()) for y, _, t in (joined[name, n] for n in sizes)
        )
        for name in names[1:]
    }
    settings = made_by(rng, method=method, gap=gap, power=power, folds=folds, n_models=len(models))
    told = tuple(gaps_in_words(models, items, x))
    return ItemSizes(tuple(found), settings, told, others=beside)


def _of_sizes(
    training: Training, new: FloatArray, method: str, sizes: Sequence[int]
) -> Iterator[tuple[int, FloatArray, FloatArray]]:
    """Yield each number of items with the estimates by p-IRT and their deviations."""
    if method == "adaptive":
        # What is chosen one by one begins with the same items, however many there are.
        chosen = training.adaptive(new, sizes[-1])[0]
        answers = np.take_along_axis(new, chosen, axis=1)
        for n in sizes:
            said, deviation, *_ = estimates_of(training.model, chosen[:, :n], answers[:, :n])
            yield n, said, deviation
        return
    for n in sizes:
        items = training.list_of(method, n)[0]
        said, deviation, *_ = estimates_of(training.model, items, new[:, items])
        yield n, said, deviation


def _size(n: int, parts: Sequence[FloatArray], gap: float, steps: tuple[float, float]) -> ItemSize:
    """Return what a list of that size tells, from estimates of held-out models."""
    value, deviation, truth = parts
    off = value - truth
    z = np.abs(off) / deviation
    half = deviation * safe_quantile(z)
    error = deviation * float(np.sqrt(np.mean(z**2)))
    i, j = np.triu_indices(len(off), 1)
    real, said = truth[i] - truth[j], value[i] - value[j]
    pairs = (np.abs(real) >= gap) & (np.abs(real) <= 1.5 * gap)
    told = np.abs(said) > steps[0] * np.hypot(error[i], error[j])
    right = told & (np.sign(said) == np.sign(real))
    return ItemSize(
        n,
        float(100 * np.abs(off).mean()),
        float(100 * half.mean()),
        float(100 * sum(steps) * np.sqrt(2 * np.mean(error**2))),
        float(right[pairs].mean()) if pairs.any() else float("nan"),
        float((told & ~right)[pairs].mean()) if pairs.any() else float("nan"),
        int(pairs.sum()),
    )
