"""Distillation in use: which of two is better, gaps, the number of tasks, costs, when to stop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np

from benchmarks.record import Measurement
from gnomon.distill import (
    FactorProcedure,
    HeldOut,
    PreparedScores,
    SubsetModel,
    baselines,
    nested_error,
)
from gnomon.distill.atari import published_models
from gnomon.distill.comparison import reliability_of
from gnomon.distill.forecasts.completion import completed_targets
from gnomon.distill.forecasts.forecast import Forecast
from gnomon.distill.forecasts.pairs import compare_forecasts
from gnomon.distill.next_task import squared_correlations
from gnomon.distill.procedures.goals import BudgetProcedure
from gnomon.distill.procedures.procedure import ChoiceOptions, Subsets
from gnomon.distill.validation.cross_validation import Mask, Outer, held_out, nested_splits
from gnomon.distill.validation.other_methods import other_errors_for
from gnomon.scores.table import FloatArray

_OURS = FactorProcedure()
#: Greatest Brier scores that were asked for, by protocol.
_BRIER = {"10": 0.05, "third": 0.055}
#: Numbers of tasks of the curve, on algorithms that have so many; where to stop, in percent.
_NUMBERS, _LEAST_TASKS = (1, 2, 3, 5, 7, 10, 15, 20), 48
_TARGETS = (0.40, 0.30, 0.25, 0.20, 0.15)
_UNIT = 100 * np.log(10)
_Split = tuple[int, Mask, Mask]


def measure(data: PreparedScores, held: Mapping[str, HeldOut]) -> Iterator[Measurement]:
    """Measure all tables on the published Atari scores; the held-out predictions are at hand."""
    yield from _pairs(held)
    yield from _one_known(data, held["third"])
    yield from _sparse(data)
    yield from _curves(data, held["10"].scale)
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
        found = reliability_of(one, scale=one.scale if name in _BRIER else held["10"].scale)
        came = " ".join("-" if np.isnan(r.came_true) else f"{r.came_true:.2f}" for r in found)
        note = f"order alone {found.sign_brier:.3f}; {found.right:.1%} right of "
        note += f"{sum(row.n_pairs for row in found)}; said .5-.6, .7, .8, .9, .95, .99, more: "
        yield Measurement(
            f"pairs, {name}: Brier score", found.brier, "", _BRIER.get(name), False, note + came
        )


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


def _curves(data: PreparedScores, scale: float) -> Iterator[Measurement]:
    """Yield errors by the number of tasks, and what becomes of stopping at a half width."""
    many = data.rows((~np.isnan(data.x)).sum(axis=1) >= _LEAST_TASKS)
    for name, outer, n_folds in (("10", "folds", 10), ("third", "group-folds", 3)):
        rng = np.random.default_rng(100)
        splits = nested_splits(many, outer, n_folds=n_folds, rng=rng)[1]
        for words, first in (
            ("one by one from the first", 0),
            ("five as a set, then one by one", 5),
        ):
            off = np.array([e for split in splits for e in _adapted(many, split, first)])
            yield _curve(
                f"{name}, {words}", np.nanmean(np.abs(off), axis=0)[[n - 1 for n in _NUMBERS]]
            )
        errors = [
            nested_error(
                many, _OURS, n, outer=outer, n_folds=n_folds, rng=np.random.default_rng(100)
            )
            for n in _NUMBERS
        ]
        yield _curve(
            f"{name}, a set of each number", [e.relative_error / np.log(10) for e in errors]
        )
        yield from _given(many, outer, n_folds, name)
        yield from _stops(many, splits, name, scale)


def _given(data: PreparedScores, outer: Outer, n_folds: int, name: str) -> Iterator[Measurement]:
    """Yield the errors of tasks that nothing chose: drawn, six sets of each number; published."""
    rng = np.random.default_rng(0)
    known = published_models()
    atari = known["Atari-1"].tasks, known["Atari-3"].tasks[:2], known["Atari-3"].tasks
    kinds = {
        "random sets": [[rng.permutation(data.candidates)[:n] for _ in range(6)] for n in _NUMBERS],
        "the order of Atari-5": [[tasks] for tasks in (*atari, known["Atari-5"].tasks)],
    }
    for words, by_number in kinds.items():
        errors = np.full(len(_NUMBERS), np.nan)
        for i, sets in enumerate(by_number):
            held = [
                nested_error(
                    data,
                    _OURS,
                    len(tasks),
                    outer=outer,
                    n_folds=n_folds,
                    fixed=tuple(map(str, tasks)),
                    rng=np.random.default_rng(100),
                )
                for tasks in sets
            ]
            errors[i] = np.mean([one.relative_error for one in held]) / np.log(10)
        yield _curve(f"{name}, {words}", errors)


def _curve(name: str, errors: Sequence[float] | FloatArray) -> Measurement:
    each = [(n, _UNIT * e) for n, e in zip(_NUMBERS, errors, strict=True) if not np.isnan(e)]
    told = ", ".join(f"{n}: {error:.1f}" for n, error in each)
    value = _UNIT * float(errors[_NUMBERS.index(5)])
    return Measurement(f"tasks, {name}: error of five", value, "%", note=told)


def _adapted(data: PreparedScores, split: _Split, first: int) -> Iterator[FloatArray]:
    """Yield the errors of each held-out algorithm by the number of its tasks, NaN where none."""
    _, held, kept = split
    train, new = data.rows(kept), data.rows(held)
    for row, truth in zip(new.x, new.target, strict=True):
        off = np.full(max(_NUMBERS), np.nan)
        for tasks in _grown(train, row, first):
            x = row[train.columns(tasks)]
            off[len(tasks) - 1] = float(_OURS.fit(train, tasks).predict(x)) - truth
        yield off


def _grown(train: PreparedScores, row: FloatArray, first: int) -> Iterator[tuple[str, ...]]:
    """Yield the tasks of one algorithm: some chosen together, then each that tells most."""
    suite, names = _OURS.suite(train), _OURS.covariance(train)[0]
    scores = row[train.columns(suite.tasks)]
    able = np.isin(suite.tasks, names) & ~np.isnan(scores)
    chosen = list(suite.columns(_OURS.choose(train, first)[0])) if first else []
    able[chosen] = False
    if chosen:
        yield tuple(suite.tasks[j] for j in chosen)
    while len(chosen) < max(_NUMBERS) and able.any():
        seen = np.array([j for j in chosen if not np.isnan(scores[j])], dtype=np.int64)
        suites = suite.suites(seen, scores[seen], heavy=False)
        free = np.flatnonzero(able)
        told = squared_correlations(suites[:, free], suite.summarized(suites))
        chosen.append(int(free[np.argmax(told)]))
        able[chosen[-1]] = False
        yield tuple(suite.tasks[j] for j in chosen)


def _stops(
    data: PreparedScores, splits: Sequence[_Split], name: str, scale: float
) -> Iterator[Measurement]:
    """Yield what becomes of five tasks, and one after another, until the interval is narrow."""
    found: dict[float, list[tuple[int, float]]] = {target: [] for target in _TARGETS}
    for _, held, kept in splits:
        train, new = data.rows(kept), data.rows(held)
        for row, truth in zip(new.x, new.target, strict=True):
            open_targets = list(_TARGETS)
            for tasks in _grown(train, row, 5):
                model = _OURS.with_spread(train, _OURS.fit(train, tasks)).forecaster
                assert model is not None
                told = model.forecast(row[train.columns(tasks)])
                low, high = told.interval(0.9, scale)
                for target in [*open_targets]:
                    last = len(tasks) == max(_NUMBERS)
                    if last or (high - low) / 2 <= target * model.unit:
                        open_targets.remove(target)
                        found[target].append((len(tasks), abs(told.center - truth) / model.unit))
                if not open_targets:
                    break
    for target, ends in found.items():
        tasks, off = np.array(ends).T
        note = f"{tasks.mean():.1f} tasks, error {100 * off.mean():.1f} %"
        within = float(np.mean(off <= target))
        yield Measurement(
            f"stop, {name}, half width {target:.0%}: within it", within, "", note=note
        )


def _costs(data: PreparedScores) -> Iterator[Measurement]:
    """Yield nested errors by budget: costs log-normal, mean 1."""
    rng = np.random.default_rng(0)
    costs = dict(zip(data.tasks, rng.lognormal(-0.245, 0.7, len(data.tasks)).tolist(), strict=True))
    budgets = (1.0, 2.0, 4.0)
    others = other_errors_for(data, costs, budgets, folds=10, seed=0)
    for name, outer, n_folds in (("10", "folds", 10), ("third", "group-folds", 3)):
        for i, budget in enumerate(budgets):
            procedure, rng = BudgetProcedure(costs, budget), np.random.default_rng(0)
            held = nested_error(data, procedure, 0, outer=outer, n_folds=n_folds, rng=rng)
            tasks = np.mean([len(chosen) for chosen in held.chosen])
            note = f"{tasks:.1f} tasks on average, chosen inside"
            if outer == "folds":
                note += f"; one by one for each algorithm {others['adaptive'][i]:.1%}, "
                note += f"random {others['random'][i]:.1%}"
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
