"""Procedures that choose tasks and fit a model to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import ClassVar, TypeAlias

import numpy as np

from gnomon.distillation.factor import Moments, fit_factor, fit_factors
from gnomon.distillation.models import Forecaster, SubsetModel
from gnomon.distillation.preparation import PreparedScores
from gnomon.distillation.search import Progress, free_tasks, least_variance_subset, search_subsets
from gnomon.errors import ScoreDataError, check_word
from gnomon.scores.table import FloatArray

#: Number of resamples of the training papers, which show how much the line depends on them.
_N_RESAMPLED = 25


def fit_least_squares(
    data: PreparedScores, tasks: Sequence[str], *, intercept: bool = False
) -> SubsetModel:
    """Fit the summary to a few tasks by least squares, on complete rows."""
    x_all = data.x[:, data.columns(tasks)]
    whole = ~np.isnan(x_all).any(axis=1) & ~np.isnan(data.target)
    x, y = x_all[whole], data.target[whole]
    if len(y) < len(tasks) + intercept:
        raise ScoreDataError(
            f"expected at least {len(tasks) + intercept} algorithms with scores on "
            f"{', '.join(tasks)}; found {len(y)}"
        )
    shift_x, shift_y = (x.mean(axis=0), y.mean()) if intercept else (np.zeros(len(tasks)), 0.0)
    w = np.linalg.lstsq(x - shift_x, y - shift_y, rcond=None)[0]
    return SubsetModel.of_fit(data, tasks, w, float(shift_y - w @ shift_x), whole)


@dataclass(frozen=True)
class PaperProcedure:
    """Choose tasks by cross-validated least squares without intercept, as the Atari-5 paper does.

    Parameters
    ----------
    n_folds : int
        Number of folds of the cross-validation.
    progress : function of (done, all), optional
        Called with the number of subsets searched, and of all.

    Examples
    --------
    >>> from gnomon.distillation import prepare
    >>> from gnomon.scores import load_scores
    >>> data = prepare(load_scores("gohr-full"), transform="identity", summary="mean")
    >>> PaperProcedure().choose(data, 2)
    ('clockwise-from-b0', 'where-the-last-piece-lay')
    """

    name: ClassVar[str] = "paper"
    n_folds: int = 10
    progress: Progress | None = field(default=None, repr=False, compare=False)

    def choose(
        self, data: PreparedScores, size: int, *, forced: Sequence[str] = ()
    ) -> tuple[str, ...]:
        """Return the best subset of a size."""
        found = search_subsets(
            data, size, n_folds=self.n_folds, n_best=1, forced=forced, progress=self.progress
        )
        return found.subsets[0]

    def fit(
        self, data: PreparedScores, tasks: Sequence[str], *, spread: bool = False
    ) -> SubsetModel:
        """Return the model of a subset."""
        return fit_least_squares(data, tasks)


class FactorProcedure:
    """Choose the tasks that leave the least variance under a covariance shrunk to one factor.

    Tasks and weights are chosen for the smoothed summary, which depends less on single tasks than
    a median does; errors are those of the summary itself. No cross-validation is needed, and
    algorithms with missing scores take part with the scores that they have.

    Examples
    --------
    >>> from gnomon.distillation import prepare
    >>> from gnomon.scores import load_scores
    >>> data = prepare(load_scores("gohr-full"), transform="identity", summary="mean")
    >>> FactorProcedure().choose(data, 2)
    ('bottommost-first', 'two-a-bucket')
    """

    name: ClassVar[str] = "factor"

    def choose(
        self, data: PreparedScores, size: int, *, forced: Sequence[str] = ()
    ) -> tuple[str, ...]:
        """Return the best subset of a size."""
        free_tasks(data, size, forced)
        names, moments = factor_moments(data)
        _check(forced, names)
        return least_variance_subset(moments.covariance, names, size, forced=forced)

    def fit(
        self, data: PreparedScores, tasks: Sequence[str], *, spread: bool = False
    ) -> SubsetModel:
        """Return the model of a subset, with the distribution of its error.

        With `spread`, it is also fitted to resampled training papers, which its intervals need.
        """
        columns = data.columns(tasks)
        names, every = factor_moments(data)
        _check(tasks, names)
        chosen = [*map(names.index, tasks), len(names)]
        moments = every.of(chosen)
        rows = np.ones(len(data.algorithms), dtype=bool)
        variances = np.zeros(len(data.tasks)) if data.run_variances is None else data.run_variances
        return replace(
            SubsetModel.of_fit(data, tasks, *moments.line, rows),
            forecaster=Forecaster(
                moments=moments,
                resampled=_resampled(data, names, chosen) if spread else (),
                run_variance=tuple(variances[columns].tolist()),
                runs=data.n_runs,
                n_groups=len({*data.groups}),
                n_rows=len(data.algorithms),
            ),
        )


def _check(tasks: Sequence[str], names: Sequence[str]) -> None:
    for task in tasks:
        if task not in names:
            raise ScoreDataError(f"{task} is excluded, or all its scores are the same")


@lru_cache(maxsize=4)
def factor_moments(data: PreparedScores) -> tuple[tuple[str, ...], Moments]:
    """Return the candidates that vary, and the moments of these and the smoothed summary."""
    data.check_target()
    varies = data.varies(data.candidates)
    names = tuple(t for t, v in zip(data.candidates, varies, strict=True) if v)
    y = data.smoothed
    if len(y) < 3 or not np.ptp(y):
        raise ScoreDataError(
            f"expected at least 3 algorithms whose summaries differ; found {len(y)}, "
            f"from {y.min():.4g} to {y.max():.4g}"
        )
    return names, fit_factor(_columns(data, names))


def _columns(data: PreparedScores, names: Sequence[str]) -> FloatArray:
    return np.column_stack([data.x[:, data.columns(names)], data.smoothed])


def _resampled(
    data: PreparedScores, names: Sequence[str], chosen: Sequence[int]
) -> tuple[Moments, ...]:
    """Return the moments of a subset from each resample of the training papers."""
    labels, groups = np.unique(data.groups, return_inverse=True)
    draws = np.random.default_rng(0).integers(0, labels.size, (_N_RESAMPLED, labels.size))
    # A paper that is drawn several times counts several times.
    counts = np.array([np.bincount(drawn, minlength=labels.size)[groups] for drawn in draws])
    fits = fit_factors(_columns(data, names), counts.astype(np.float64))
    return tuple(one.of(chosen) for one in fits)


#: A procedure has the methods ``choose`` and ``fit``.
Procedure: TypeAlias = PaperProcedure | FactorProcedure


def procedure_of(name: str, n_folds: int = 10, progress: Progress | None = None) -> Procedure:
    """Return the procedure with a name."""
    check_word("procedure", name, ("factor", "paper"))
    return FactorProcedure() if name == "factor" else PaperProcedure(n_folds, progress)
