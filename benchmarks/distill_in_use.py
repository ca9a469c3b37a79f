"""Distillation in use: which of two is better, gaps, budgets, baselines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np

from benchmarks.record import Measurement
from gnomon.distillation import (
    FactorProcedure,
    Forecast,
    HeldOut,
    PreparedScores,
    SubsetModel,
    baselines,
    nested_error,
)
from gnomon.distillation.atari import published_models
from gnomon.distillation.forecasts.completion import completed_targets
from gnomon.distillation.forecasts.pairs import compare_forecasts
from gnomon.distillation.procedures.goals import BudgetProcedure
from gnomon.distillation.procedures.procedure import ChoiceOptions, Subsets
from gnomon.distillation.validation.cross_validation import held_out, nested_splits
from gnomon.scores import FloatArray

_OURS = FactorProcedure()
#: Greatest Brier scores that were asked for, by protocol.
_BRIER = {"10": 0.05, "third": 0.055}
_UNIT = 100 * np.log(10)


def measure(data: PreparedScores, held: Mapping[str, HeldOut]) -> Iterator[Measurement]:
    """Measure all tables on the published Atari scores; the held-out predictions are at hand."""
    yield from _pairs(held)
    yield from _one_known(data, held["third"])
    yield from _sparse(data)
    yield from _costs(data)
    yield from _baselines(data)


def held_of(model: SubsetModel, x: FloatArray, data: PreparedScores) -> HeldOut:
    """Return what a model says of algorithms that it has not seen, whose summaries are known."""
    assert model.forecaster is not None
    told = tuple(model.forecaster.forecast(row) for row in x)
    off = np.array([[one.center for one in told]]) - data.target
    found = held_out(data, off, np.zeros(off.shape, np.int64), (model.tasks,))
    return replace(found, forecasts=(told,))


def together(found: Sequence[HeldOut]) -> HeldOut:
    """Return validations of the same algorithms as repeats of one."""
    return replace(
        found[0],
        residuals=np.vstack([one.residuals for one in found]),
        relative=np.vstack([one.relative for one in found]),
        folds=np.vstack([one.folds for one in found]),
        forecasts=tuple(told for one in found for told in one.forecasts),
    )


def _pairs(held: Mapping[str, HeldOut]) -> Iterator[Measurement]:
    for name, one in held.items():
        said, was = pair_probabilities(one, scale=one.scale if name in _BRIER else held["10"].scale)
        right = np.mean((said >= 0.5) == (was == 1.0))
        brier = float(np.mean((said - was) ** 2))
        note = f"order alone {1.0 - right:.3f}; {right:.1%} right of {said.size}"
        yield Measurement(f"pairs, {name}: Brier score", brier, "", _BRIER.get(name), False, note)


def pair_probabilities(held: HeldOut, *, scale: float) -> tuple[FloatArray, FloatArray]:
    """Return of each pair of held-out algorithms P(the first is better), and 1 if it was, else 0.

    Pairs with the same summary are left out.
    """
    said, was = [], []
    for told in held.forecasts:
        known = [(f, y) for f, y in zip(told, held.target, strict=True) if f is not None]
        known = [(f, y) for f, y in known if not np.isnan(f.center)]
        for i, (a, y_a) in enumerate(known):
            for b, y_b in known[:i]:
                if y_a != y_b:
                    said.append(compare_forecasts(a, b, scale=scale)[0])
                    was.append(float(y_a > y_b))
    return np.array(said), np.array(was)


def _one_known(data: PreparedScores, held: HeldOut) -> Iterator[Measurement]:
    """Yield how well a held-out algorithm is compared with those known in full."""
    said, was = [], []
    for told, folds in zip(held.forecasts, held.folds, strict=True):
        for i, forecast in enumerate(told):
            for j in np.flatnonzero(folds != folds[i]):
                if forecast is None or data.target[i] == data.target[j]:
                    continue
                known = Forecast(float(data.target[j]), 0.0, 0.0)
                said.append(compare_forecasts(forecast, known, scale=held.scale)[0])
                was.append(data.target[i] > data.target[j])
    brier = float(np.mean((np.array(said) - np.array(was)) ** 2))
    right = np.mean((np.array(said) > 0.5) == np.array(was))
    yield Measurement(
        "pairs, third, one known in full: Brier score", brier, "", note=f"{right:.1%} right"
    )


def _sparse(data: PreparedScores) -> Iterator[Measurement]:
    """Yield errors of targets and of predictions, cells deleted at random or by four lists."""
    for kind, shares in (("at random", (0.33, 0.48, 0.63)), ("by lists", (0.33, 0.45, 0.58))):
        for share in shares:
            told: dict[str, list[tuple[float, float]]] = {}
            for seed in range(3):
                rng = np.random.default_rng(seed)
                sparse, rows = _with_gaps(data, share, rng, lists=kind == "by lists")
                observed = np.nanmedian(data.transform.inverse(sparse.x), axis=1)
                own = data.transform.forward(observed)
                tables = {
                    "posterior draws": completed_targets(sparse),
                    "observed median": replace(sparse, target=own, smoothed=own),
                }
                for fill, x in (("low rank", _low_rank), ("column mean", _column_means)):
                    known = ~np.isnan(sparse.x).all(axis=0)
                    filled = np.median(x(sparse.x[:, known]), axis=1)
                    tables[fill] = replace(sparse, target=filled, smoothed=filled)
                for words, table in tables.items():
                    off = _UNIT * float(np.abs(table.target - sparse.target).mean())
                    error = _error_of_complete(table, data.rows(rows), rng)
                    told.setdefault(words, []).append((off, error))
            for words, found in told.items():
                off, error = np.mean(found, axis=0)
                name = f"{share:.0%} missing {kind}, {words}: error"
                each = ", ".join(f"{e:.0f}" for _, e in found)
                note = f"target off by {off:.1f} %; three tables: {each}"
                yield Measurement(name, float(error), "%", note=note)


def _with_gaps(
    data: PreparedScores, share: float, rng: np.random.Generator, *, lists: bool
) -> tuple[PreparedScores, list[int]]:
    """Return the table with cells deleted, the complete summaries kept, and which rows are left."""
    n, n_tasks = data.x.shape
    gone = rng.random((n, n_tasks)) < (share - 0.04) / 0.96
    if lists:
        places = rng.random((4, n_tasks)).argsort(axis=1)
        gone = (places < share * n_tasks)[rng.integers(0, 4, n)]
    x = np.where(gone, np.nan, data.x)
    left = np.flatnonzero((~np.isnan(x)).sum(axis=1) >= 3)
    return replace(data.rows(left), x=x[left]), left.tolist()


def _column_means(x: FloatArray) -> FloatArray:
    return np.where(np.isnan(x), np.nanmean(x, axis=0), x)


def _low_rank(x: FloatArray) -> FloatArray:
    """Return gaps filled by the two greatest components, again and again."""
    filled, middle = _column_means(x), np.nanmean(x, axis=0)
    for _ in range(50):
        u, s, vt = np.linalg.svd(filled - middle, full_matrices=False)
        filled = np.where(np.isnan(x), middle + (u[:, :2] * s[:2]) @ vt[:2], x)
        middle = filled.mean(axis=0)
    return filled


def _error_of_complete(
    sparse: PreparedScores, whole: PreparedScores, rng: np.random.Generator
) -> float:
    """Return the nested error in %: a new algorithm has the chosen tasks, truth is complete."""
    off: list[float] = []
    for _, held, kept in nested_splits(sparse, "folds", rng=rng)[1]:
        train, new = sparse.rows(kept), whole.rows(held)
        tasks = _OURS.choose(train, 5)[0]
        predicted = _OURS.fit(train, tasks).predict(new.x[:, new.columns(tasks)])
        off += (predicted - new.target).tolist()
    return _UNIT * float(np.nanmean(np.abs(off)))


def _costs(data: PreparedScores) -> Iterator[Measurement]:
    """Yield nested errors by budget: costs log-normal, mean 1."""
    rng = np.random.default_rng(0)
    costs = dict(zip(data.tasks, rng.lognormal(-0.245, 0.7, len(data.tasks)).tolist(), strict=True))
    budgets = (1.0, 2.0, 4.0)
    for name, outer, n_folds in (("10", "folds", 10), ("third", "group-folds", 3)):
        for budget in budgets:
            procedure, rng = BudgetProcedure(costs, budget), np.random.default_rng(0)
            held = nested_error(data, procedure, 0, outer=outer, n_folds=n_folds, rng=rng)
            tasks = np.mean([len(chosen) for chosen in held.chosen])
            note = f"{tasks:.1f} tasks on average, chosen inside"
            rng = np.random.default_rng(0)
            plain = nested_error(
                data, _ByGain(costs, budget), 0, outer=outer, n_folds=n_folds, rng=rng
            )
            note += f"; by the gain alone {plain.relative_error:.1%}"
            error = 100 * held.relative_error
            yield Measurement(f"{name}, budget {budget:g}: error", error, "%", note=note)


@dataclass(frozen=True)
class _ByGain(BudgetProcedure):
    """Tasks by the variance that each takes away, whatever it costs, while it is paid."""

    def choose(self, data: PreparedScores, size: int, **options: Unpack[ChoiceOptions]) -> Subsets:
        names, every = self.base.covariance(data)
        price = np.array([self.costs[name] for name in names])
        picks = self._list(every.covariance, price, [], per_cost=False)
        return (tuple(sorted(names[j] for j in picks)),)


def _baselines(data: PreparedScores) -> Iterator[Measurement]:
    ours = _OURS.choose(data, 5)[0]
    sets = {"Atari-5": published_models()["Atari-5"].tasks, "ours, as chosen on all": ours}
    for nested, folds in (("folds", 10), ("group-folds", 3), ("time", 10)):
        for one in baselines(data, size=5, sets=sets, nested=nested, folds=folds):
            note = f"skill {one.skill:.2f}; {one.n_predicted} predicted"
            yield Measurement(f"{one.method}, {nested}: error", 100 * one.error, "%", note=note)
