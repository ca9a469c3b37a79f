"""Cross-validation of a choice of tasks: held-out predictions, their errors and their order.

The plain error takes the tasks as given; the nested one chooses tasks and weights again without the
algorithms that are predicted.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from gnomon.distillation.forecasts.forecast import Forecast
from gnomon.distillation.preparation.prepared import PreparedScores, Transform
from gnomon.distillation.procedures.procedure import Procedure
from gnomon.distillation.search.folds import Folds
from gnomon.distillation.validation.order import OrderAgreement, kendall_tau, order_agreement
from gnomon.distillation.work import Progress, completed
from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.scores.table import FloatArray

I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

Outer = Literal["folds", "algorithms", "groups", "group-folds", "time"]
#: Fewer algorithms published before a year are too few to predict that year from.
_LEAST_BEFORE = 20


def nested_error(
    data: PreparedScores,
    procedure: Procedure,
    size: int,
    *,
    outer: Outer = "folds",
    n_folds: int = 10,
    n_repeats: int = 1,
    forced: Sequence[str] = (),
    fixed: Sequence[str] = (),
    spread: bool = False,
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
    outer : {"folds", "algorithms", "groups", "group-folds", "time"}
        What is left out at a time: a random fold, one algorithm, one group (a paper), or a random
        fold of whole groups. Or each year in turn, predicted from the years before alone.
    n_folds : int
        For ``folds`` and ``group-folds``.
    n_repeats : int
        Repeats with other random folds.
    forced : sequence of str
        Tasks that every subset has.
    fixed : sequence of str
        The tasks, if none are to be chosen.
    spread : bool
        Also say how unsure each prediction is, so that intervals can be judged.
    rng : numpy.random.Generator
        For the random folds.
    executor, progress
        As in :func:`gnomon.distillation.search.search.search_subsets`; progress counts folds.

    Returns
    -------
    HeldOut

    Raises
    ------
    ScoreDataError
        There are too few algorithms or groups.

    Examples
    --------
    >>> from gnomon.distillation import FactorProcedure, prepare
    >>> from gnomon.scores import load_scores
    >>> data = prepare(load_scores("gohr-full"), transform="identity", summary="mean")
    >>> held = nested_error(data, FactorProcedure(), 3, rng=np.random.default_rng(0))
    >>> round(held.r2, 3), held.frequencies()["two-a-bucket"]
    (0.979, 0.9)
    """
    folds, splits = nested_splits(data, outer, n_folds=n_folds, n_repeats=n_repeats, rng=rng)
    pieces = [
        _Piece(
            data=data,
            procedure=procedure,
            size=size,
            forced=tuple(forced),
            fixed=tuple(fixed),
            spread=spread,
            number=number,
            repeat=repeat,
            held=held,
            kept=kept,
        )
        for number, (repeat, held, kept) in enumerate(splits)
    ]
    residuals = np.full(folds.shape, np.nan)
    chosen: dict[int, tuple[str, ...]] = {}
    forecasts: list[list[Forecast | None]] = [[None] * folds.shape[1] for _ in folds]
    results = completed(_predict, pieces, "a fold of the nested validation", executor)
    for piece, (tasks, predicted, told) in results:
        residuals[piece.repeat, piece.held] = predicted - data.target[piece.held]
        for i, one in zip(np.flatnonzero(piece.held), told, strict=False):
            forecasts[piece.repeat][i] = one
        chosen[piece.number] = tasks
        if progress is not None:
            progress(len(chosen), len(pieces))
    in_order = tuple(chosen[i] for i in range(len(pieces)))
    found = held_out(data, residuals, folds, in_order)
    return replace(found, forecasts=tuple(map(tuple, forecasts))) if spread else found


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

    Examples
    --------
    >>> from gnomon.distillation import PaperProcedure, prepare
    >>> from gnomon.scores import load_scores
    >>> data = prepare(load_scores("gohr-full"), transform="identity", summary="mean")
    >>> round(cross_validate(data, PaperProcedure(), ["two-a-bucket"]).r2, 2)
    0.79
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
    return held_out(data, residuals, labels, (tuple(tasks),))


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
    if outer == "time":
        years = _earlier(data)
        enough = [int((years < year).sum()) >= _LEAST_BEFORE for year in years]
        if not any(enough):
            raise ScoreDataError(
                f"expected at least {_LEAST_BEFORE} algorithms before the last year; there are "
                f"{int((years < np.nanmax(years)).sum())}: too few to predict what came later"
            )
        return np.where(enough, np.nan_to_num(years), -1).astype(np.int64)[np.newaxis]
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


def nested_splits(
    data: PreparedScores,
    outer: Outer,
    *,
    n_folds: int = 10,
    n_repeats: int = 1,
    rng: np.random.Generator,
) -> tuple[I64, list[tuple[int, Mask, Mask]]]:
    """Return the folds, and of each its repeat, the rows held out and those to train on."""
    folds = outer_splits(data, outer, n_folds=n_folds, n_repeats=n_repeats, rng=rng)
    years = _earlier(data) if outer == "time" else None
    return folds, [
        (repeat, fold == k, fold != k if years is None else years < k)
        for repeat, fold in enumerate(folds)
        for k in np.unique(fold[fold >= 0])
    ]


def _earlier(data: PreparedScores) -> FloatArray:
    """Return the year of each algorithm, NaN where it is not known: such is in no training."""
    if data.years is None or np.isnan(data.years).all():
        raise ScoreDataError(
            "nested time needs dates: name the column that has them (date_by; --date-by)"
        )
    return data.years


@dataclass(frozen=True, eq=False, kw_only=True)
class _Piece:
    """One outer fold of one repeat."""

    data: PreparedScores
    procedure: Procedure
    size: int
    forced: tuple[str, ...]
    fixed: tuple[str, ...]
    spread: bool
    number: int
    repeat: int
    held: npt.NDArray[np.bool_]
    kept: npt.NDArray[np.bool_]


def _predict(piece: _Piece) -> tuple[tuple[str, ...], FloatArray, list[Forecast]]:
    """Choose and fit without the rows held out, and predict them."""
    train = piece.data.rows(piece.kept)
    with warnings.catch_warnings():
        # What a fold alone lacks is no news of the table.
        warnings.simplefilter("ignore", DegenerateScoresWarning)
        chooser = piece.procedure.best(train, piece.size, forced=piece.forced)
        tasks = piece.fixed or chooser.choose(train, piece.size, forced=piece.forced)[0]
        model = chooser.fit(train, tasks)
        if piece.spread:
            model = chooser.with_spread(train, model)
    x = piece.data.x[piece.held][:, piece.data.columns(tasks)]
    if model.forecaster is None or not piece.spread:
        return tasks, model.predict(x), []
    told = [model.forecaster.forecast(row) for row in x]
    return tasks, np.array([one.center for one in told]), told


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
    forecasts : tuple of tuples of Forecast, shape (repeats, algorithms)
        With how unsure each prediction is, if that was asked for and the procedure knows.

    Examples
    --------
    >>> target = np.array([1.0, 2.0, 3.0])
    >>> off = np.array([[0.1, -0.1, np.nan]])
    >>> held = HeldOut(off, off / target, target, np.array([[0, 1, -1]]), (("u",), ("u",)))
    >>> held.n_predicted, round(held.mse, 3), held.tau
    (2, 0.01, 1.0)
    """

    residuals: FloatArray
    relative: FloatArray
    target: FloatArray
    folds: I64
    chosen: tuple[tuple[str, ...], ...]
    forecasts: tuple[tuple[Forecast | None, ...], ...] = ()

    @property
    def scale(self) -> float:
        """What the intervals are to be widened by so that they hold: at least 1.

        The root mean square of the residuals in units of their own spread, none counted above 3.
        """
        pairs = [(r, f.spread) for r, f in self.told]
        z = np.array([abs(r) / s for r, s in pairs if s > 0])
        return max(1.0, float(np.sqrt(np.mean(np.minimum(z**2, 9.0))))) if z.size else 1.0

    def coverage(self, level: float = 0.9, scale: float = 1.0) -> float:
        """Return the share of true summaries inside their intervals; NaN if there are none."""
        # A residual is predicted minus true: the truth lies inside if 0 lies in this interval.
        ends = [(r, f.center, f.interval(level, scale)) for r, f in self.told]
        inside = [low <= c - r <= high for r, c, (low, high) in ends]
        return float(np.mean(inside)) if inside else float("nan")

    def half_width(self, level: float = 0.9, scale: float = 1.0) -> float:
        """Return half the median width of the intervals, transformed; NaN if there are none."""
        ends = [f.interval(level, scale) for _, f in self.told]
        return float(np.median([(high - low) / 2 for low, high in ends])) if ends else float("nan")

    @property
    def told(self) -> list[tuple[float, Forecast]]:
        """The residuals whose predictions know how unsure they are, each with its forecast."""
        pairs = [
            (float(r), f)
            for residuals, told in zip(self.residuals, self.forecasts, strict=False)
            for r, f in zip(residuals, told, strict=True)
            if f is not None and not np.isnan(r)
        ]
        return pairs

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

    def order(self, transform: Transform) -> OrderAgreement:
        """Return how well the order is predicted: pairs of all repeats, the mean of their taus."""
        true = transform.inverse(self.target)
        found = [order_agreement(transform.inverse(self.target + r), true) for r in self.residuals]
        return OrderAgreement(
            n_pairs=sum(one.n_pairs for one in found),
            n_concordant=sum(one.n_concordant for one in found),
            tau=self.tau,
            n_clear=sum(one.n_clear for one in found),
            n_clear_right=sum(one.n_clear_right for one in found),
        )

    def frequencies(self) -> dict[str, float]:
        """Return in which share of the models each task was, most frequent first."""
        counts = Counter(task for tasks in self.chosen for task in tasks)
        return {task: n / len(self.chosen) for task, n in counts.most_common()}


def held_out(
    data: PreparedScores, residuals: FloatArray, folds: I64, chosen: tuple[tuple[str, ...], ...]
) -> HeldOut:
    """Return the record of residuals: predicted minus true, (repeats, algorithms)."""
    true = np.broadcast_to(data.target, residuals.shape)
    relative = data.transform.relative_errors(true + residuals, true)
    return HeldOut(residuals, relative, data.target, folds, chosen)


def _mean(values: FloatArray) -> float:
    finite = values[~np.isnan(values)]
    return float(finite.mean()) if finite.size else float("nan")
