"""The honest error: tasks and weights are chosen again without the algorithms predicted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from gnomon.distill.folds import Folds
from gnomon.distill.models import SubsetModel
from gnomon.distill.order import kendall_tau
from gnomon.distill.preparation import PreparedScores
from gnomon.distill.procedures import PROCEDURES, Procedure
from gnomon.distill.search import Progress
from gnomon.errors import ScoreDataError
from gnomon.execution.executor import Executor
from gnomon.execution.serial import SerialExecutor
from gnomon.scores.table import FloatArray

__all__ = ["AutoProcedure", "HeldOut", "cross_validate", "nested_error", "outer_splits"]

Outer = Literal["folds", "algorithms", "groups", "group-folds"]
I64 = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Predictions of algorithms that the model had not seen.

    Parameters
    ----------
    residuals : ndarray of float, shape (repeats, algorithms)
        Predicted minus true, transformed; NaN where an algorithm lacks a score that was needed.
    relative : ndarray of float, shape (repeats, algorithms)
        The same as relative errors.
    target : ndarray of float, shape (algorithms,)
    folds : ndarray of int, shape (repeats, algorithms)
    chosen : tuple of tuples of str
        The tasks of each fold's model.
    """

    residuals: FloatArray
    relative: FloatArray
    target: FloatArray
    folds: I64
    chosen: tuple[tuple[str, ...], ...]

    @property
    def relative_error(self) -> float:
        """Mean size of the relative error, for example 0.12; NaN if nothing was predicted."""
        return _mean(np.abs(self.relative))

    @property
    def mse(self) -> float:
        """Mean over repeats and folds of a fold's mean squared residual."""
        return self._mean_of_folds(self.residuals**2)

    @property
    def fold_relative_error(self) -> float:
        """Mean over repeats and folds of a fold's mean relative error, as the paper takes it."""
        return self._mean_of_folds(np.abs(self.relative))

    @property
    def fold_r2(self) -> float:
        """One minus the mean squared residual of the folds over the variance, as the paper has it.

        The variance is that of the algorithms predicted.
        """
        y = np.broadcast_to(self.target, self.residuals.shape)[~np.isnan(self.residuals)]
        return float(1.0 - self.mse / y.var()) if y.size > 1 and np.ptp(y) else float("nan")

    def _mean_of_folds(self, values: FloatArray) -> float:
        means = [
            _mean(v[f == k])
            for v, f in zip(values, self.folds, strict=True)
            for k in np.unique(f[f >= 0])
        ]
        return _mean(np.array(means))

    @property
    def r2(self) -> float:
        """One minus the squared residuals over the variation of the predicted algorithms."""
        whole = ~np.isnan(self.residuals)
        y = np.broadcast_to(self.target, self.residuals.shape)[whole]
        if y.size < 2 or not np.ptp(y):
            return float("nan")
        return float(1.0 - (self.residuals[whole] ** 2).sum() / ((y - y.mean()) ** 2).sum())

    @property
    def n_predicted(self) -> int:
        """Algorithms predicted at least once."""
        return int((~np.isnan(self.residuals)).any(axis=0).sum())

    @property
    def standard_error(self) -> float:
        """Standard error of the relative error over algorithms, repeats averaged."""
        whole = ~np.isnan(self.relative)
        counts = whole.sum(axis=0)
        sums = np.where(whole, np.abs(self.relative), 0.0).sum(axis=0)
        means = sums[counts > 0] / counts[counts > 0]
        return float(means.std(ddof=1) / np.sqrt(means.size)) if means.size > 1 else float("nan")

    @property
    def tau(self) -> float:
        """Kendall's tau of predicted and true order, averaged over repeats."""
        taus = [kendall_tau(self.target + r, self.target) for r in self.residuals]
        return _mean(np.array(taus))

    def frequencies(self) -> dict[str, float]:
        """Return in which share of the models each task was, most frequent first."""
        counts = Counter(task for tasks in self.chosen for task in tasks)
        return {task: n / len(self.chosen) for task, n in counts.most_common()}


def nested_error(
    data: PreparedScores,
    procedure: Procedure,
    size: int,
    *,
    outer: Outer = "folds",
    n_folds: int = 10,
    n_repeats: int = 1,
    forced: Sequence[str] = (),
    rng: np.random.Generator,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> HeldOut:
    """Predict every algorithm by a model whose tasks and weights were chosen without it.

    The plain cross-validated error of a chosen subset does not count what the choice owes to
    chance. Here the whole procedure is repeated on the rows that remain in every outer fold.

    Parameters
    ----------
    data : PreparedScores
    procedure : Procedure
    size : int
        Number of tasks.
    outer : {"folds", "algorithms", "groups", "group-folds"}
        What is left out at a time: a random fold, one algorithm, one group (a paper), or a random
        fold of whole groups.
    n_folds : int
        For ``folds`` and ``group-folds``.
    n_repeats : int
        Repeats with other random folds.
    forced : sequence of str
        Tasks that every subset has.
    rng : numpy.random.Generator
        For the random folds.
    executor, progress
        As in :func:`gnomon.distill.search.search_subsets`; progress counts folds.

    Returns
    -------
    HeldOut

    Raises
    ------
    ScoreDataError
        There are too few algorithms or groups.
    """
    folds = outer_splits(data, outer, n_folds=n_folds, n_repeats=n_repeats, rng=rng)
    splits = [(r, fold == k) for r, fold in enumerate(folds) for k in np.unique(fold)]
    pieces = [
        _Piece(data, procedure, size, tuple(forced), number, repeat, held)
        for number, (repeat, held) in enumerate(splits)
    ]
    residuals = np.full(folds.shape, np.nan)
    chosen: dict[int, tuple[str, ...]] = {}
    for outcome in (executor or SerialExecutor()).map(_predict, pieces):
        if outcome.result is None:
            raise ScoreDataError(f"a fold of the nested validation failed: {outcome.error}")
        piece = outcome.piece
        tasks, predicted = outcome.result
        residuals[piece.repeat, piece.held] = predicted - data.target[piece.held]
        chosen[piece.number] = tasks
        if progress is not None:
            progress(len(chosen), len(pieces))
    in_order = tuple(chosen[i] for i in range(len(pieces)))
    return _held_out(data, residuals, folds, in_order)


def cross_validate(
    data: PreparedScores, procedure: Procedure, tasks: Sequence[str], *, folds: Folds | None = None
) -> HeldOut:
    """Predict every algorithm by a model of given tasks whose weights were fitted without it.

    The folds are those of the rows that are complete for the tasks, as in the Atari-5 paper. This
    is the plain error: if the tasks were chosen on the same rows, it is too good.

    Raises
    ------
    ScoreDataError
        There are fewer complete rows than folds.
    """
    folds = folds or Folds()
    x = data.x[:, data.columns(tasks)]
    whole = np.flatnonzero(~np.isnan(x).any(axis=1) & ~np.isnan(data.target))
    if whole.size < folds.n_folds:
        raise ScoreDataError(
            f"expected at least {folds.n_folds} algorithms with scores on {', '.join(tasks)}, "
            f"for as many folds; found {whole.size}"
        )
    fold = folds.of(whole.size)
    residuals = np.full((1, len(data.algorithms)), np.nan)
    labels = np.full((1, len(data.algorithms)), -1)
    labels[0, whole] = fold
    for k in range(folds.n_folds):
        held = whole[fold == k]
        kept = np.setdiff1d(np.arange(len(data.algorithms)), held)
        model = procedure.fit(data.rows(kept), tasks)
        residuals[0, held] = model.predict(x[held]) - data.target[held]
    return _held_out(data, residuals, labels, (tuple(tasks),))


def outer_splits(
    data: PreparedScores,
    outer: Outer,
    *,
    n_folds: int = 10,
    n_repeats: int = 1,
    rng: np.random.Generator,
) -> I64:
    """Return the fold of each algorithm, shape (repeats, algorithms)."""
    n = len(data.algorithms)
    if outer == "algorithms":
        return np.arange(n)[np.newaxis]
    labels, group = np.unique(data.groups, return_inverse=True)
    if outer == "groups":
        if labels.size < 2:
            raise ScoreDataError(f"expected at least 2 groups to leave out, found {labels.size}")
        return group[np.newaxis]
    n_units = labels.size if outer == "group-folds" else n
    if n_units < n_folds:
        raise ScoreDataError(
            f"expected at least {n_folds} to make {n_folds} folds, found {n_units}"
        )
    seeds = rng.integers(0, 2**32, size=n_repeats)
    folds = np.stack([Folds(n_folds, int(seed)).of(n_units) for seed in seeds])
    return folds[:, group] if outer == "group-folds" else folds


@dataclass(frozen=True)
class AutoProcedure:
    """Chooses the procedure by the error that each has inside, then lets it choose the tasks.

    Its own nested error therefore counts the choice between procedures, too.

    Parameters
    ----------
    among : tuple of str
        Names of :data:`gnomon.distill.procedures.PROCEDURES`.
    n_folds, seed : int
        Of the inner validation.
    """

    among: tuple[str, ...] = ("factor", "complete", "paper")
    n_folds: int = 10
    seed: int = 0

    @property
    def name(self) -> str:
        """What it is called."""
        return "auto"

    def choose(
        self,
        data: PreparedScores,
        size: int,
        *,
        forced: Sequence[str] = (),
        n_best: int = 1,
        executor: Executor | None = None,
        progress: Progress | None = None,
    ) -> tuple[tuple[str, ...], ...]:
        """Return the best subsets of the best procedure, best first."""
        best = self.best(data, size, forced=forced)
        return best.choose(data, size, forced=forced, n_best=n_best)

    def fit(self, data: PreparedScores, tasks: Sequence[str]) -> SubsetModel:
        """Return the model of a subset, by the procedure that is best for its size."""
        return self.best(data, len(tasks)).fit(data, tasks)

    def best(self, data: PreparedScores, size: int, *, forced: Sequence[str] = ()) -> Procedure:
        """Return the procedure with the least error on rows left out inside."""
        errors = {}
        for name in self.among:
            rng = np.random.default_rng(self.seed)
            try:
                held = nested_error(
                    data, PROCEDURES[name], size, n_folds=self.n_folds, forced=forced, rng=rng
                )
            except ScoreDataError:
                continue
            # An algorithm without a prediction counts as a large error, not as none.
            missing = 1.0 - held.n_predicted / len(data.algorithms)
            errors[name] = held.relative_error * (1.0 + missing)
        if not errors:
            raise ScoreDataError(f"no procedure can choose {size} tasks from such a table")
        return PROCEDURES[min(errors, key=lambda name: errors[name])]


@dataclass(frozen=True, eq=False)
class _Piece:
    """One outer fold of one repeat."""

    data: PreparedScores
    procedure: Procedure
    size: int
    forced: tuple[str, ...]
    number: int
    repeat: int
    held: npt.NDArray[np.bool_]


def _predict(piece: _Piece) -> tuple[tuple[str, ...], FloatArray]:
    """Choose and fit without the rows held out, and predict them."""
    train = piece.data.rows(~piece.held)
    tasks, model = _chosen_and_fitted(piece.procedure, train, piece.size, piece.forced)
    columns = piece.data.columns(tasks)
    return tasks, model.predict(piece.data.x[piece.held][:, columns])


def _chosen_and_fitted(
    procedure: Procedure, train: PreparedScores, size: int, forced: tuple[str, ...]
) -> tuple[tuple[str, ...], SubsetModel]:
    """Return the tasks and their model; `auto` judges its procedures once for both."""
    if isinstance(procedure, AutoProcedure):
        procedure = procedure.best(train, size, forced=forced)
    tasks = procedure.choose(train, size, forced=forced)[0]
    return tasks, procedure.fit(train, tasks)


def _held_out(
    data: PreparedScores, residuals: FloatArray, folds: I64, chosen: tuple[tuple[str, ...], ...]
) -> HeldOut:
    true = np.broadcast_to(data.target, residuals.shape)
    relative = data.transform.relative_errors(true + residuals, true)
    return HeldOut(residuals, relative, data.target, folds, chosen)


def _mean(values: FloatArray) -> float:
    finite = values[~np.isnan(values)]
    return float(finite.mean()) if finite.size else float("nan")
