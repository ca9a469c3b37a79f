"""Validation of a choice of tasks: held-out predictions, their errors, intervals and order.

The plain error takes the tasks as given; the nested one chooses tasks and weights again without the
algorithms that are predicted.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gnomon.distillation.models import Forecast
from gnomon.distillation.preparation import PreparedScores
from gnomon.distillation.procedures import Procedure
from gnomon.distillation.search import Progress, folds_of
from gnomon.errors import DegenerateScoresWarning, ScoreDataError, check_word
from gnomon.scores.table import FloatArray

I64 = npt.NDArray[np.int64]
#: What a nested validation leaves out at a time.
Outer = Literal["folds", "groups", "time"]
#: Fewer algorithms before a year are too few to predict that year from.
_LEAST_BEFORE = 20
#: With three algorithms, a line leaves one degree of freedom: Student's t then has no mean.
_LEAST_TRAINED = 4
#: With fewer algorithms, the choice of tasks is largely due to chance.
FEW = 20


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Predictions of algorithms that were held out of the training.

    `residuals`, predicted minus true (transformed), `relative` errors, `target`, `folds` (-1 where
    not held out) and, if requested, `forecasts` have one entry for each algorithm; the first two
    are NaN where it lacks a score that was needed. `chosen` has the tasks of each fold's model.
    """

    residuals: FloatArray
    relative: FloatArray
    target: FloatArray
    folds: I64
    chosen: tuple[tuple[str, ...], ...]
    forecasts: tuple[Forecast | None, ...] = ()

    @property
    def known(self) -> list[tuple[float, Forecast]]:
        """The residuals that have a forecast, each with it."""
        return [
            (float(r), f)
            for r, f in zip(self.residuals, self.forecasts, strict=False)
            if f is not None and not np.isnan(r)
        ]

    @property
    def scale(self) -> float:
        """The Birge ratio: the root mean square of residuals over their own spread; 1 without any.

        Intervals multiplied by it have the width that the residuals require.
        """
        z = np.array([r / f.spread for r, f in self.known if f.spread > 0])
        return float(np.sqrt(np.mean(z**2))) if z.size else 1.0

    def coverage(self, level: float = 0.9, scale: float = 1.0) -> float:
        """Return the share of true summaries inside their intervals; NaN if there are none."""
        # A residual is predicted minus true: the truth is the centre minus it.
        ends = [(f.center - r, f.interval(level, scale)) for r, f in self.known]
        inside = [low <= truth <= high for truth, (low, high) in ends]
        return float(np.mean(inside)) if inside else math.nan

    def half_width(self, level: float = 0.9, scale: float = 1.0) -> float:
        """Return half the median width of the intervals, transformed; NaN if there are none."""
        ends = [f.interval(level, scale) for _, f in self.known]
        return float(np.median([(high - low) / 2 for low, high in ends])) if ends else math.nan

    @property
    def relative_error(self) -> float:
        """Mean absolute relative error, for example 0.12; NaN if nothing was predicted."""
        return _mean(np.abs(self.relative))

    @property
    def standard_error(self) -> float:
        """Standard error of the relative error over algorithms."""
        errors = np.abs(self.relative[~np.isnan(self.relative)])
        return float(errors.std(ddof=1) / np.sqrt(errors.size)) if errors.size > 1 else math.nan

    @property
    def mse(self) -> float:
        """Mean over folds of a fold's mean squared residual."""
        return self._mean_of_folds(self.residuals**2)

    @property
    def fold_relative_error(self) -> float:
        """Mean over folds of a fold's mean relative error, as in the Atari-5 paper."""
        return self._mean_of_folds(np.abs(self.relative))

    @property
    def fold_r2(self) -> float:
        """One minus the mean squared residual of the folds over the variance, as in the paper."""
        y = self.target[~np.isnan(self.residuals)]
        return float(1.0 - self.mse / y.var()) if y.size > 1 and np.ptp(y) else math.nan

    def _mean_of_folds(self, values: FloatArray) -> float:
        labels = np.unique(self.folds[self.folds >= 0])
        return _mean(np.array([_mean(values[self.folds == k]) for k in labels]))

    @property
    def n_predicted(self) -> int:
        """Number of algorithms predicted."""
        return int((~np.isnan(self.residuals)).sum())

    @property
    def concordance(self) -> float:
        """Share of the pairs with different summaries whose order is predicted; NaN if none."""
        whole = ~np.isnan(self.residuals)
        upper = np.triu_indices(int(whole.sum()), 1)
        true, predicted = (
            np.sign(np.subtract.outer(x, x)[upper])
            for x in (self.target[whole], (self.target + self.residuals)[whole])
        )
        return _mean((true == predicted)[true != 0])


def _mean(values: npt.NDArray[Any]) -> float:
    """Return the mean of the values that are not NaN."""
    finite = values[~np.isnan(values)]
    return float(finite.mean()) if finite.size else math.nan


def nested_error(
    data: PreparedScores,
    procedure: Procedure,
    size: int,
    *,
    outer: Outer = "folds",
    n_folds: int = 10,
    forced: Sequence[str] = (),
    spread: bool = False,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> HeldOut:
    """Predict every algorithm by a model whose tasks and weights were chosen without it.

    The plain error ignores that tasks chosen on the same algorithms fit them partly by chance.
    Here the whole procedure is repeated on the remaining algorithms of every outer fold.

    Parameters
    ----------
    data : PreparedScores
    procedure : Procedure
    size : int
        Number of tasks. If as many are forced, no choice is made.
    outer : {"folds", "groups", "time"}
        What is left out at a time: a random fold, or one group (a paper); or each year in turn,
        predicted from the years before alone.
    n_folds : int
        Number of random folds.
    forced : sequence of str
        Tasks that every subset contains.
    spread : bool
        Also return the predictive distributions, from which the coverage of intervals follows.
    rng : numpy.random.Generator
        For the random folds.
    progress : function of (done, all), optional
        Called with the number of folds.

    Returns
    -------
    HeldOut

    Raises
    ------
    ScoreDataError
        There are too few algorithms or groups, or a year is needed and unknown.

    Examples
    --------
    >>> from gnomon.distillation import FactorProcedure, prepare
    >>> from gnomon.scores import load_scores
    >>> data = prepare(load_scores("gohr-full"), transform="identity", summary="mean")
    >>> held = nested_error(data, FactorProcedure(), 3, rng=np.random.default_rng(0))
    >>> round(held.fold_r2, 2), len(held.chosen)
    (0.98, 10)
    """
    check_word("nested", outer, ("folds", "groups", "time"))
    folds = _outer_folds(data, outer, n_folds, rng)
    labels = np.unique(folds[folds >= 0])
    residuals = np.full(folds.size, np.nan)
    forecasts: list[Forecast | None] = [None] * folds.size
    chosen = []
    for done, k in enumerate(labels, 1):
        held = folds == k
        train = data.rows(~held if outer != "time" else _years(data) < k)
        tasks = tuple(forced)
        with warnings.catch_warnings():
            # Gaps of one fold are not gaps of the table.
            warnings.simplefilter("ignore", DegenerateScoresWarning)
            try:
                if len(forced) != size:
                    tasks = procedure.choose(train, size, forced=forced)
                model = procedure.fit(train, tasks, spread=spread)
            except ScoreDataError as error:
                raise ScoreDataError(f"a fold of the nested validation failed: {error}") from error
        chosen.append(tasks)
        x = data.x[held][:, data.columns(tasks)]
        residuals[held] = model.predict(x) - data.target[held]
        if spread and model.forecaster is not None:
            for i, row in zip(np.flatnonzero(held), x, strict=True):
                forecasts[i] = model.forecaster.forecast(row)
        if progress is not None:
            progress(done, labels.size)
    return _held_out(data, residuals, folds, chosen, forecasts)


def cross_validate(
    data: PreparedScores, procedure: Procedure, tasks: Sequence[str], *, n_folds: int = 10
) -> HeldOut:
    """Predict every algorithm by a model of given tasks whose weights were fitted without it.

    The folds are those of the complete rows of the tasks, as in the Atari-5 paper. This is the
    plain error: too optimistic if the tasks were chosen on the same rows.

    Raises
    ------
    ScoreDataError
        There are fewer complete rows than folds.

    Examples
    --------
    >>> from gnomon.distillation import PaperProcedure, prepare
    >>> from gnomon.scores import load_scores
    >>> data = prepare(load_scores("gohr-full"), transform="identity", summary="mean")
    >>> round(cross_validate(data, PaperProcedure(), ["two-a-bucket"]).fold_r2, 2)
    0.78
    """
    x = data.x[:, data.columns(tasks)]
    whole = np.flatnonzero(~np.isnan(x).any(axis=1) & ~np.isnan(data.target))
    if whole.size < n_folds:
        raise ScoreDataError(
            f"expected at least {n_folds} algorithms with scores on {', '.join(tasks)}, one for "
            f"each fold; found {whole.size}"
        )
    folds = np.full(len(data.algorithms), -1)
    folds[whole] = folds_of(whole.size, n_folds)
    residuals = np.full(folds.size, np.nan)
    for k in range(n_folds):
        held = folds == k
        model = procedure.fit(data.rows(~held), tasks)
        residuals[held] = model.predict(x[held]) - data.target[held]
    return _held_out(data, residuals, folds, [tuple(tasks)])


def _held_out(
    data: PreparedScores,
    residuals: FloatArray,
    folds: I64,
    chosen: Sequence[tuple[str, ...]],
    forecasts: Sequence[Forecast | None] = (),
) -> HeldOut:
    relative = data.transform.relative_errors(data.target + residuals, data.target)
    return HeldOut(residuals, relative, data.target, folds, tuple(chosen), tuple(forecasts))


def _outer_folds(data: PreparedScores, outer: Outer, n_folds: int, rng: np.random.Generator) -> I64:
    """Return the fold of each algorithm; -1 if it is not predicted."""
    n = len(data.algorithms)
    if outer == "time":
        years = _years(data)
        enough = [int((years < year).sum()) >= _LEAST_BEFORE for year in years]
        if not any(enough):
            raise ScoreDataError(
                f"expected at least {_LEAST_BEFORE} algorithms before the last year, found "
                f"{int((years < np.nanmax(years)).sum())}: too few to predict what came later"
            )
        return np.where(enough, np.nan_to_num(years), -1).astype(np.int64)
    if outer == "groups":
        labels, group = np.unique(data.groups, return_inverse=True)
        if labels.size < 2:
            raise ScoreDataError(f"expected at least 2 groups to leave out, found {labels.size}")
        return group
    check_folds(n, n_folds)
    return folds_of(n, n_folds, int(rng.integers(0, 2**32, size=1)[0]))


def check_folds(n: int, n_folds: int) -> None:
    """Refuse folds that leave too few of n algorithms to choose tasks by."""
    work = [k for k in range(2, n + 1) if n - math.ceil(n / k) >= _LEAST_TRAINED]
    if not work:
        raise ScoreDataError(
            f"expected at least {_LEAST_TRAINED + 1} algorithms, found {n}: too few to choose "
            "tasks by, with any number of folds"
        )
    if n_folds not in work:
        some = f"{work[0]} to {n}" if work[0] < n else f"{n}"
        few = (
            "; with so few algorithms, the choice of tasks is largely due to chance"
            if n < FEW
            else ""
        )
        raise ScoreDataError(f"expected {some} folds for {n} algorithms, found {n_folds}{few}")


def _years(data: PreparedScores) -> FloatArray:
    if data.years is None or np.isnan(data.years).all():
        raise ScoreDataError("a validation in time needs dates: name their column as date_by")
    return data.years
