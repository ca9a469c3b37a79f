"""Choice of items: a list that predicts the share of all items solved, and how far it errs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gnomon.distill.items.answers import (
    FEW_MODELS,
    LEAST_MODELS,
    MOST_SHOWN,
    check_size,
    gaps_in_words,
    item_matrix,
)
from gnomon.distill.items.held_out import (
    ItemMethod,
    Measured,
    Training,
    held_items,
    measured,
    splits_of,
)
from gnomon.distill.items.item_sizes import item_sizes
from gnomon.distill.items.item_suite import ItemSuite, NextItems
from gnomon.distill.items.lists import LISTS
from gnomon.distill.items.response_model import ItemModel, fit_items
from gnomon.errors import ScoreDataError, counted, listed
from gnomon.results import Results, generator, made_by
from gnomon.scores.table import FloatArray, ScoreTable

#: Two models are copies if they differ by less than this share of what the response model lets two
#: models differ by, measured against the median pair; a model runs against the order of difficulty
#: if its answers correlate with the others' by so many standard errors below 0.
_COPY, _AGAINST = 0.25, -3.0
#: The scale of adaptive choice is that of so many items, or of those answered.
_LEAST_ADAPTED = 30


@dataclass(frozen=True, eq=False, repr=False)
class ItemChoice(Results[ItemMethod]):
    """Errors of the methods on both protocols, with the items that one method chose.

    Parameters
    ----------
    items : tuple of str
        The list to use.
    model : ItemSuite
        The list, the response model fitted to all models, and the scales of its intervals.

    Examples
    --------
    >>> suite = ItemSuite(("u", "v"), ("u",), ItemModel(np.ones(2), np.zeros(2)))
    >>> ItemChoice((), {"method": "random"}, items=("u",), model=suite).notes
    ('1 items, random: u',)
    """

    items: tuple[str, ...] = field(kw_only=True)
    model: ItemSuite = field(kw_only=True)

    drawn_by = "gnomon.plot.distillation:item_method_figure"

    def rows(self) -> Sequence[Mapping[str, Any]]:
        """Return a row a method: models like the old ones, then better ones."""
        better = {one.method: one for one in self if one.protocol == "better"}
        fields = ("error", "bias", "coverage", "half_width")
        return [
            {"method": one.method}
            | {name: getattr(one, name) for name in fields}
            | {f"{name}_better": getattr(better[one.method], name) for name in fields}
            for one in sorted(self, key=lambda one: one.error)
            if one.protocol == "folds" and one.method in better
        ]

    @property
    def notes(self) -> tuple[str, ...]:
        """The chosen items, which fixed list erred least, and how to read the table."""
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
        if self:
            lines.append(
                "in points of 100; half_width and coverage of 90 % intervals, whose scale has not "
                "seen the models, of those that have one; _better: the better half, from the worse "
                "half alone; learned from fewer than 30 models, one that may be better than all of "
                "them has no interval; the order of methods whose errors are alike is chance "
                f"({self[0].n_models} models)"
            )
        return tuple(lines)


def choose_items(
    scores: ScoreTable,
    n_items: int = 100,
    *,
    method: str = "stratified",
    folds: int = 5,
    compare: bool = True,
    gap: float | None = None,
    power: float = 0.8,
    rng: np.random.Generator | int | None = None,
) -> ItemChoice:
    """Choose the items that predict the share of all items solved, beside every other method.

    Parameters
    ----------
    scores : ScoreTable
        Models as algorithms, items as tasks, answers from 0 to 1.
    n_items : int
        At least 10, fewer than there are.
    method : {"stratified", "correlated", "anchors", "irt-anchors", "random"}
        What makes the list; the errors are of all of them.
    folds : int
        Of models.
    compare : bool
        Whether the errors are measured; without, only the list is made, and it has no intervals.
    gap : float, optional
        Choose, instead of `n_items`, the fewest items that tell apart two models whose shares of
        all items differ by this; see :func:`item_sizes`.
    power : float
        With which probability they are to be told apart.
    rng : numpy.random.Generator or int, optional
        Of random items and of the anchors' first centres, or its seed; seed 0 if not given.

    Returns
    -------
    ItemChoice

    Raises
    ------
    ScoreDataError
        As :func:`item_matrix`; the number of items does not fit; all models solve the same share;
        or no size that is tried tells the gap.

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
    >>> answers = dict(zip(found.items, [1.0] * 15 + [0.0] * 5))
    >>> new = found.model.estimate(answers)
    >>> new.low < new.value < new.high
    True
    """
    if method not in LISTS:
        raise ScoreDataError(f"expected one of {', '.join(LISTS)}; found {method!r}")
    models, items, x = item_matrix(scores)
    if gap is not None:
        n_items = item_sizes(scores, gap, method=method, power=power, folds=folds, rng=rng).least
    check_size(x, n_items)
    draws = generator(rng)
    training = Training(x, draws)
    picked = training.list_of(method, n_items)[0]
    chosen = tuple(items[j] for j in picked)
    found = measured(x, n_items, folds, draws) if compare else Measured((), {})
    told = [*gaps_in_words(models, items, x)]
    if compare:
        told += _doubts(models, x, training, n_items, f"{method}, p-IRT", folds)
    elif len(x) < FEW_MODELS:
        told.append(f"{len(x)} models: with fewer than {FEW_MODELS}, item parameters are noise")
    scales = {
        kind: found.scales[name]
        for kind, name in (("list", f"{method}, p-IRT"), ("adaptive", "adaptive, p-IRT"))
        if name in found.scales
    }
    settings = made_by(
        rng, method=method, n_items=n_items, folds=folds, n_models=len(models), n_all=len(items)
    )
    if gap is not None:
        settings |= {"gap": gap, "power": power}
    suite = ItemSuite(items, chosen, training.model, scales, len(models))
    return ItemChoice(found.errors, settings, tuple(told), items=chosen, model=suite)


def next_items(
    scores: ScoreTable, algorithm: str = "new", *, target: float = 0.03, most: int = 10
) -> NextItems:
    """Say which item to ask a model next, by Fisher information, and whether to stop.

    All other models of the table are the training; the scale of the interval is that of adaptive
    choice on folds of them, and on their better half.

    Parameters
    ----------
    scores : ScoreTable
        As :func:`choose_items` takes it, with the few answers of the model in it.
    algorithm : str
        One that is not in the table has no answer yet.
    target : float
        Half width of the 90 % interval of the share solved, at which to stop.
    most : int
        How many items to list.

    Raises
    ------
    ScoreDataError
        As :func:`item_matrix`; or the target is not above 0.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = 1 / (1 + np.exp(-(rng.normal(size=(60, 1)) + rng.normal(size=80))))
    >>> x = (rng.random((60, 80)) < p).astype(float)
    >>> table = ScoreTable.from_arrays({f"m{i:02}": [row] for i, row in enumerate(x)})
    >>> found = next_items(table, "new", target=0.1)
    >>> found.stop, len(found)
    (False, 10)
    """
    own = np.array([name == algorithm for name in sorted(scores.algorithms)])
    _, items, x = item_matrix(scores, but=algorithm)
    answers = dict(zip(items, x[own][0], strict=True)) if own.any() else {}
    train = x[~own]
    n_seen = int((~np.isnan([*answers.values()])).sum()) if answers else 0
    n_items = min(max(_LEAST_ADAPTED, n_seen), len(items) // 2)
    check_size(train, n_items)
    name = "adaptive, p-IRT"
    scale = measured(train, n_items, 5, np.random.default_rng(0), [name]).scales[name]
    suite = ItemSuite(items, (), fit_items(train), {"adaptive": scale}, len(train))
    return suite.next_items(answers, algorithm=algorithm, target=target, most=most)


def _doubts(
    models: Sequence[str], x: FloatArray, training: Training, n_items: int, name: str, folds: int
) -> list[str]:
    """Return in words what is odd about the models, and what it does to the error in folds."""

    def error(kept: FloatArray, thinned: int = 1) -> float:
        splits = [(a[::thinned], b) for a, b in splits_of(kept, folds)["folds"]]
        held = held_items(kept, n_items, splits, np.random.default_rng(0), [name])
        return float(100 * np.abs(held[name].off).mean())

    told, whole = [], None
    for text, without in _odd_models(models, x, training):
        whole = error(x) if whole is None else whole
        kept = [i for i in range(len(models)) if i not in without]
        rest = f"{error(x[kept]):.2f} points" if len(kept) >= LEAST_MODELS else "too few models"
        told.append(f"{text}: {name} errs by {whole:.2f} points, without {rest}")
    if len(x) < FEW_MODELS:
        whole = error(x) if whole is None else whole
        told.append(
            f"{len(x)} models: with fewer than {FEW_MODELS}, item parameters are noise; {name} "
            f"errs by {whole:.2f} points, from half as many models by {error(x, 2):.2f}"
        )
    return told


def _odd_models(
    models: Sequence[str], x: FloatArray, training: Training
) -> list[tuple[str, set[int]]]:
    """Return in words, and by number, copies of models and models against the order."""
    found = []
    pairs = _copies(x, training.model)
    if pairs:
        named = [f"{models[j]} of {models[i]}" for i, j in pairs]
        second = {j for _, j in pairs}
        text = f"{counted(len(second), 'model')} a copy or nearly ({listed(named, MOST_SHOWN)})"
        found.append((text, second))
    if against := _against(x):
        names = listed([models[i] for i in against], MOST_SHOWN)
        text = f"{counted(len(against), 'model')} against the order of difficulty ({names})"
        found.append((text, {*against}))
    return found


def _copies(x: FloatArray, model: ItemModel) -> list[tuple[int, int]]:
    """Return pairs of models that differ far less than two models of their abilities."""
    p = model.abilities(np.arange(x.shape[1]), x) @ model.probabilities().T
    seen = ~np.isnan(x)
    right, wrong = np.where(seen, x, 0.0), np.where(seen, 1.0 - x, 0.0)
    differ = right @ wrong.T + wrong @ right.T
    yes, no = np.where(seen, p, 0.0), np.where(seen, 1.0 - p, 0.0)
    ratio = differ / np.maximum(yes @ no.T + no @ yes.T, 1e-12)
    i, j = np.triu_indices(len(x), 1)
    alike = ratio[i, j] < _COPY * np.median(ratio[i, j])
    return [(int(a), int(b)) for a, b in zip(i[alike], j[alike], strict=True)]


def _against(x: FloatArray) -> list[int]:
    """Return models whose answers correlate negatively with the share of models that solve."""
    seen = ~np.isnan(x)
    filled = np.where(seen, x, 0.0)
    others = (filled.sum(axis=0) - filled) / np.maximum(seen.sum(axis=0) - seen, 1)
    found = []
    for i, (row, rest) in enumerate(zip(x, others, strict=True)):
        a, b = row[seen[i]], rest[seen[i]]
        if a.size > 2 and np.ptp(a) > 0 and np.ptp(b) > 0:
            r = np.corrcoef(a, b)[0, 1]
            if r * np.sqrt(a.size) < _AGAINST:
                found.append(i)
    return found
