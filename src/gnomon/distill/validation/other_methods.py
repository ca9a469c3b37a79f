"""Baselines: what other ways to take a few tasks of a suite err by, on the same folds.

Random tasks, no task at all, the best single correlates, anchor points (Vivek and others 2024),
item response models, their estimates p-IRT and gp-IRT from anchor points (Maia Polo and others
2024), a coarse look at all and a fine one at the better half (as Flash-HELM does), a choice one by
one for each algorithm, and a fixed set of one's own. All but the item response models, which bring
their own estimate, are given the same predictor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Unpack

import numpy as np

from gnomon.distill.preparation.preparation import PreparationOptions, prepare
from gnomon.distill.preparation.prepared import PreparedScores
from gnomon.distill.procedures.factor import FactorProcedure
from gnomon.distill.procedures.irt import ItemResponseProcedure, expected_scores, fit_item_response
from gnomon.distill.procedures.procedure import ChoiceOptions, ChoiceSettings, Procedure, Subsets
from gnomon.distill.validation.adaptive_choice import Training
from gnomon.distill.validation.cross_validation import (
    I64,
    Mask,
    Outer,
    held_out,
    nested_error,
    nested_splits,
)
from gnomon.distill.work import Progress
from gnomon.results import FieldRecord, Results, generator, made_by, recorded
from gnomon.scores.table import FloatArray, ScoreTable

#: From the training and new rows to predictions of these, and their mean number of tasks.
_Predicted = Callable[[PreparedScores, PreparedScores], tuple[FloatArray, float]]
#: So many random sets; anchor points are exchanged so often at most.
_N_RANDOM, _N_EXCHANGES = 6, 20
#: Every so manieth row of a training tells the error of its response model.
_VALIDATED = 5


@dataclass(frozen=True)
class Baseline(FieldRecord):
    """Nested error of a way to take a few tasks.

    Parameters
    ----------
    method : str
    error : float
        Mean size of the relative error.
    skill : float
        1 minus the error over that of random tasks.
    n_tasks : float
        Tasks of an algorithm, on average.
    n_predicted : int
    hindsight : bool
        Whether the set was fixed with all algorithms known, so that nothing is chosen inside.
    """

    method: str
    error: float
    skill: float
    n_tasks: float
    n_predicted: int
    hindsight: bool


@dataclass(frozen=True, eq=False, repr=False)
class Baselines(Results[Baseline]):
    """Nested errors of all ways to take a few tasks, least first.

    Examples
    --------
    >>> one = Baseline("factor", 0.11, 0.58, 5.0, 62, hindsight=False)
    >>> Baselines((one,), {"nested": "folds"}).where(hindsight=False)[0].skill
    0.58
    """

    columns = ("method", "error", "skill", "n_tasks", "n_predicted", "hindsight")
    drawn_by = "gnomon.plot.distillation:baseline_figure"

    @property
    def notes(self) -> tuple[str, ...]:
        """What the errors are errors of."""
        return (
            f"nested by {self.settings['nested']}: tasks and weights chosen without the "
            "algorithms that are predicted; a set fixed in hindsight is no procedure",
        )


class _Singles(FactorProcedure):
    """The tasks that go most with the summary, each alone."""

    def choose(self, data: PreparedScores, size: int, **options: Unpack[ChoiceOptions]) -> Subsets:
        forced = ChoiceSettings(**options).forced
        names, every = self.covariance(data)
        c = every.covariance
        r = c[:-1, -1] / np.sqrt(np.diag(c)[:-1])
        free = [j for j in np.argsort(-r, kind="stable") if names[j] not in forced]
        return ((*forced, *(names[j] for j in free[: size - len(forced)])),)


class _Anchors(FactorProcedure):
    """Anchor points: medoids of the tasks at distance 1 - correlation."""

    def choose(self, data: PreparedScores, size: int, **options: Unpack[ChoiceOptions]) -> Subsets:
        names, distance = _distances(self, data)
        fixed = [names.index(task) for task in ChoiceSettings(**options).forced]
        return (tuple(names[j] for j in _medoids(distance, size, fixed)),)


def _distances(base: FactorProcedure, data: PreparedScores) -> tuple[tuple[str, ...], FloatArray]:
    """Return the candidates, and 1 minus the correlation of each two."""
    names, every = base.covariance(data)
    scale = np.sqrt(np.diag(every.covariance))[:-1]
    return names, 1.0 - every.covariance[:-1, :-1] / np.outer(scale, scale)


def _medoids(distance: FloatArray, size: int, fixed: Sequence[int]) -> list[int]:
    """Return points that others are near to: added one by one, then exchanged while that helps."""
    chosen = list(fixed)
    while len(chosen) < size:
        near = distance[:, chosen].min(axis=1) if chosen else np.full(len(distance), np.inf)
        cost = np.minimum(near[:, np.newaxis], distance).sum(axis=0)
        cost[chosen] = np.inf
        chosen.append(int(np.argmin(cost)))
    for _ in range(_N_EXCHANGES):
        before = distance[:, chosen].min(axis=1).sum()
        best, pair = before, None
        for i in range(len(fixed), size):
            rest = [*chosen[:i], *chosen[i + 1 :]]
            near = distance[:, rest].min(axis=1) if rest else np.full(len(distance), np.inf)
            cost = np.minimum(near[:, np.newaxis], distance).sum(axis=0)
            cost[rest] = np.inf
            if cost.min() < best - 1e-12:
                best, pair = float(cost.min()), (i, int(np.argmin(cost)))
        if pair is None:
            break
        chosen[pair[0]] = pair[1]
    return chosen


def baselines(
    scores: ScoreTable | PreparedScores,
    *,
    size: int = 5,
    sets: Mapping[str, Sequence[str]] | None = None,
    nested: Outer = "folds",
    folds: int = 10,
    rng: np.random.Generator | int | None = None,
    **preparation: Unpack[PreparationOptions],
) -> Baselines:
    """Compare ways to take a few tasks of a suite on one nested protocol.

    Parameters
    ----------
    scores : ScoreTable or PreparedScores
    size : int
        Number of tasks.
    sets : mapping from name to tasks, optional
        Fixed sets to judge beside them, published ones or one's own.
    nested, folds
        As in :func:`gnomon.distill.nested_error`; the folds are the same for all.
    rng : numpy.random.Generator or int, optional
        Of the folds, or its seed; seed 0 if not given.
    **preparation
        As :func:`gnomon.distill.prepare` takes it.

    Returns
    -------
    Baselines

    Raises
    ------
    ScoreDataError, UnknownNameError
        As :func:`gnomon.distill.validation.cross_validation.nested_error`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> level = rng.normal(3, 1, (40, 1)) * rng.uniform(0.1, 1, 12)
    >>> rows = level + rng.normal(0, 0.5, (40, 12))
    >>> table = ScoreTable.from_arrays({f"a{i:02}": [row] for i, row in enumerate(rows)})
    >>> found = baselines(table, size=3, folds=5, transform="identity")
    >>> error = {one.method: one.error for one in found}
    >>> error["factor"] < error["random"] < error["none: the median"]
    True
    """
    with recorded() as notes:
        data = prepare(scores, **preparation)
        seed = int(generator(rng).integers(0, 2**32))
        judge = _Judge(data, size, nested, folds, seed)
        found = [judge.null(), judge.random()]
        for name, procedure in _PROCEDURES.items():
            found.append(judge.procedure(name, procedure))
        found += [judge.adaptive(), judge.coarse_to_fine(), *judge.item_response()]
        for name, tasks in (sets or {}).items():
            found.append(judge.fixed(name, tuple(tasks)))
    random = next(one.error for one in found if one.method == "random")
    rated = [Baseline(one.method, one.error, 1 - one.error / random, *_rest(one)) for one in found]
    settings = made_by(rng, size=size, nested=nested, folds=folds)
    return Baselines(tuple(sorted(rated, key=lambda one: one.error)), settings, tuple(notes))


def other_errors(
    data: PreparedScores, most: int, *, folds: int, seed: int, progress: Progress | None = None
) -> dict[str, tuple[float, ...]]:
    """Return the errors of tasks chosen for each algorithm, and of random ones, by their number."""
    first = _Judge(data, 1, "folds", folds, seed)
    return _both_errors([replace(first, size=size) for size in range(1, most + 1)], progress)


def other_errors_for(
    data: PreparedScores,
    costs: Mapping[str, float],
    budgets: Sequence[float],
    *,
    folds: int,
    seed: int,
    progress: Progress | None = None,
) -> dict[str, tuple[float, ...]]:
    """Return the errors of tasks chosen for each algorithm, and of random ones, by what they cost.

    NaN where a budget pays for no task.
    """
    first = _Judge(data, 0, "folds", folds, seed, costs)
    return _both_errors([replace(first, budget=budget) for budget in budgets], progress)


def _both_errors(
    judges: Sequence[_Judge], progress: Progress | None
) -> dict[str, tuple[float, ...]]:
    """Return the errors of either way; what judges of the same folds share is computed once."""
    data, sets = judges[0].data, [judge.random_sets() for judge in judges]
    folds, splits = judges[0].splits()
    adaptive = np.full((len(judges), *folds.shape), np.nan)
    random = [np.full((len(drawn), *folds.shape), np.nan) for drawn in sets]
    for done, (repeat, held, kept) in enumerate(splits):
        training = Training(judges[0].base, data.rows(kept))
        for i in np.flatnonzero(held):
            for j, judge in enumerate(judges):
                adaptive[j, repeat, i] = judge.adapted(training, data.x[i]) - data.target[i]
                for drawn, off in zip(sets[j], random[j], strict=True):
                    off[repeat, i] = training.said(drawn, data.x[i]) - data.target[i]
        if progress is not None:
            progress(done + 1, len(splits))

    def error(residuals: FloatArray) -> float:
        return held_out(data, residuals, folds, ()).relative_error

    means = [float(np.mean([*map(error, one)])) if len(one) else float("nan") for one in random]
    return {"adaptive": tuple(map(error, adaptive)), "random": tuple(means)}


def _rest(one: Baseline) -> tuple[float, int, bool]:
    return one.n_tasks, one.n_predicted, one.hindsight


_PROCEDURES: Mapping[str, Procedure] = {
    "factor": FactorProcedure(),
    "best single tasks": _Singles(),
    "anchor points": _Anchors(),
    "irt-1": ItemResponseProcedure(n_parameters=1),
    "irt-2": ItemResponseProcedure(n_parameters=2),
}


class _ItemResponse:
    """A two-parameter response model of all tasks, and the anchor points among them."""

    def __init__(self, base: FactorProcedure, train: PreparedScores, size: int) -> None:
        self.base, self.train, self.size = base, train, size
        self.suite = base.suite(train)
        self.fitted = fit_item_response(train.x[:, train.columns(self.suite.tasks)])
        names, distance = _distances(base, train)
        chosen = _medoids(distance, size, ())
        self.anchors = [self.suite.tasks.index(names[j]) for j in chosen]
        # A task that is no candidate has no distance: it goes with the first.
        nearest = dict(zip(names, np.argmin(distance[:, chosen], axis=1), strict=True))
        self.nearest = np.array([nearest.get(task, 0) for task in self.suite.tasks])

    def estimates(self, new: PreparedScores) -> tuple[FloatArray, FloatArray]:
        """Return summaries by the expectations of the model, and by the nearest anchors."""
        x = new.x[:, new.columns(self.suite.tasks)][:, self.anchors]
        said = expected_scores(self.fitted, x, self.anchors)
        nearest = said[:, self.anchors][:, self.nearest]
        return self.suite.summarized(said), self.suite.summarized(nearest)

    def share_of_anchors(self) -> float:
        """Return the share of the anchors' estimate: b^2 / (b^2 + v / 4n)."""
        held = np.arange(len(self.train.target)) % _VALIDATED == 0
        new = self.train.rows(held)
        inner = _ItemResponse(self.base, self.train.rows(~held), self.size)
        bias = float(np.nanmean(np.abs(inner.estimates(new)[0] - new.target)))
        spread = float(np.nanvar(self.train.x, axis=1).mean()) / (4 * self.size)
        return bias**2 / (bias**2 + spread) if bias else 0.0


@dataclass(frozen=True)
class _Judge:
    """Judges every method on the same folds of the same table."""

    data: PreparedScores
    size: int
    nested: Outer
    n_folds: int
    seed: int
    #: Of one run of each task; without, each costs 1 and the size is what may be spent.
    costs: Mapping[str, float] | None = None
    budget: float | None = None
    base: FactorProcedure = field(default_factory=FactorProcedure)

    @property
    def spent(self) -> float:
        """What an algorithm's tasks may cost together."""
        return float(self.size) if self.budget is None else self.budget

    def splits(self) -> tuple[I64, list[tuple[int, Mask, Mask]]]:
        """Return the folds, and of each its repeat, the rows held out and those to train on."""
        rng = np.random.default_rng(self.seed)
        return nested_splits(self.data, self.nested, n_folds=self.n_folds, rng=rng)

    def prices(self, tasks: Sequence[str]) -> FloatArray:
        """Return the costs of some tasks."""
        return np.array([1.0 if self.costs is None else self.costs[task] for task in tasks])

    def procedure(self, name: str, procedure: Procedure, tasks: tuple[str, ...] = ()) -> Baseline:
        """Return the error of a procedure, or of a fixed set."""
        rng = np.random.default_rng(self.seed)
        held = nested_error(
            self.data,
            procedure,
            len(tasks) or self.size,
            outer=self.nested,
            n_folds=self.n_folds,
            fixed=tasks,
            rng=rng,
        )
        n = float(len(tasks) or self.size)
        return Baseline(name, held.relative_error, 0.0, n, held.n_predicted, bool(tasks))

    def fixed(self, name: str, tasks: tuple[str, ...]) -> Baseline:
        """Return the error of a set that all folds share."""
        self.data.columns(tasks)
        return self.procedure(name, self.base, tasks)

    def random(self) -> Baseline:
        """Return the mean error of some random sets."""
        each = [self.procedure("", self.base, tasks) for tasks in self.random_sets()]
        error = float(np.mean([one.error for one in each]))
        n_predicted = int(np.mean([one.n_predicted for one in each]))
        n_tasks = float(np.mean([one.n_tasks for one in each]))
        return Baseline("random", error, 0.0, n_tasks, n_predicted, hindsight=False)

    def random_sets(self) -> list[tuple[str, ...]]:
        """Return some random sets, as many tasks as can be paid; none that is empty."""
        free = list(self.base.covariance(self.data)[0])
        rng = np.random.default_rng(self.seed)
        n = self.size if self.budget is None else len(free)
        orders = [rng.choice(len(free), n, replace=False) for _ in range(_N_RANDOM)]
        return [paid for order in orders if (paid := self._paid([free[j] for j in order]))]

    def _paid(self, tasks: Sequence[str]) -> tuple[str, ...]:
        """Return the first tasks that can be paid, those that are too dear left out."""
        left, found = self.spent, []
        for task, price in zip(tasks, self.prices(tasks), strict=True):
            if price <= left:
                left -= price
                found.append(task)
        return tuple(found)

    def null(self) -> Baseline:
        """Return the error of saying the median of the training of every algorithm."""
        return self._of_rows(
            "none: the median",
            lambda train, new: (np.full(len(new.target), np.median(train.target)), 0.0),
        )

    def adaptive(self) -> Baseline:
        """Return the error of tasks chosen one by one for each algorithm, by what they tell."""

        def predicted(train: PreparedScores, new: PreparedScores) -> tuple[FloatArray, float]:
            training = Training(self.base, train)
            return np.array([self.adapted(training, row) for row in new.x]), float(self.size)

        return self._of_rows("adaptive, one by one", predicted)

    def adapted(self, training: Training, row: FloatArray) -> float:
        """Return the summary predicted from tasks chosen one by one for an algorithm."""
        return training.adapted(row, self.prices(training.suite.tasks), self.spent)

    def item_response(self) -> tuple[Baseline, Baseline]:
        """Return the errors of p-IRT and of gp-IRT from anchor points.

        They are defined for the mean of items. Here a suite is completed, and summarised as any:
        by the expectations of the response model, or by the score of each task's nearest anchor,
        which for a mean is the mean of anchors weighted by their clusters.
        """

        def predicted(
            train: PreparedScores, new: PreparedScores, *, mixed: bool
        ) -> tuple[FloatArray, float]:
            response = _ItemResponse(self.base, train, self.size)
            share = response.share_of_anchors() if mixed else 0.0
            by_model, by_anchors = response.estimates(new)
            return share * by_anchors + (1 - share) * by_model, float(self.size)

        p_irt = self._of_rows("anchors, p-IRT", partial(predicted, mixed=False))
        return p_irt, self._of_rows("anchors, gp-IRT", partial(predicted, mixed=True))

    def coarse_to_fine(self) -> Baseline:
        """Return the error of few tasks for all, and more for those in the better half."""
        few = max(1, self.size - 2)
        many = min(self.size + 2, len(self.data.candidates))

        def predicted(train: PreparedScores, new: PreparedScores) -> tuple[FloatArray, float]:
            quick = self.base.choose(train, few)[0]
            rough = self.base.fit(train, quick).predict(new.x[:, new.columns(quick)])
            more = _Singles().choose(train, many, forced=quick)[0]
            fine = self.base.fit(train, more).predict(new.x[:, new.columns(more)])
            better = rough > np.median(train.target)
            n = float(np.where(better, len(more), len(quick)).mean())
            return np.where(better, fine, rough), n

        return self._of_rows("coarse to fine", predicted)

    def _of_rows(self, name: str, predicted: _Predicted) -> Baseline:
        """Return the error of a prediction that is made row by row."""
        folds, splits = self.splits()
        residuals = np.full(folds.shape, np.nan)
        counts = []
        for repeat, held, kept in splits:
            new = self.data.rows(held)
            values, n = predicted(self.data.rows(kept), new)
            residuals[repeat, held] = values - new.target
            counts.append((n, int(held.sum())))
        found = held_out(self.data, residuals, folds, ())
        n_tasks = float(np.average([n for n, _ in counts], weights=[w for _, w in counts]))
        return Baseline(
            name, found.relative_error, 0.0, n_tasks, found.n_predicted, hindsight=False
        )
