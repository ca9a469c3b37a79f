"""Least squares models of a subset, and the Atari-5 paper's procedure, which chooses by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Unpack

import numpy as np

from gnomon.distillation.forecasts.moments import non_negative
from gnomon.distillation.models import SubsetModel
from gnomon.distillation.preparation.prepared import PreparedScores
from gnomon.distillation.procedures.procedure import (
    ChoiceOptions,
    ChoiceSettings,
    Procedure,
    Subsets,
)
from gnomon.distillation.search.folds import Folds
from gnomon.distillation.search.search import search_subsets
from gnomon.errors import ScoreDataError
from gnomon.scores.table import FloatArray

#: ``non-negative`` weights never rank an algorithm below one that it beats on every task.
Weights = Literal["non-negative", "any"]


def fit_least_squares(
    data: PreparedScores,
    tasks: Sequence[str],
    *,
    target: FloatArray | None = None,
    target_name: str = "median",
    intercept: bool = False,
    weights: Weights = "non-negative",
) -> SubsetModel:
    """Fit the summary (or anything else) to a few tasks by least squares, on complete rows.

    Parameters
    ----------
    data : PreparedScores
    tasks : sequence of str
    target : ndarray of float, shape (algorithms,), optional
        What to predict; the summary of the data if not given.
    target_name : str
        What that is.
    intercept : bool
        Without one, an algorithm as good as random on every task gets a summary of zero.
    weights : {"non-negative", "any"}
        Non-negative by default, so that the model is weakly order preserving (Aitchison et al.
        2022, proposition 2).

    Returns
    -------
    SubsetModel

    Raises
    ------
    ScoreDataError
        There are fewer complete rows than coefficients.
    UnknownNameError
        A task is not in the table.

    Examples
    --------
    >>> from gnomon.distillation import prepare
    >>> from gnomon.scores import ScoreTable
    >>> table = ScoreTable.from_arrays({"a": [[1, 3]], "b": [[2, 6]]}, tasks=["u", "v"])
    >>> data = prepare(table, transform="identity", summary="mean")
    >>> fit_least_squares(data, ["u"]).formula
    'identity summary = 0 + 2 u'
    """
    columns = data.columns(tasks)
    y_all = data.target if target is None else target
    x_all = data.x[:, columns]
    whole = ~np.isnan(x_all).any(axis=1) & ~np.isnan(y_all)
    x, y = x_all[whole], y_all[whole]
    if len(y) < len(tasks) + intercept:
        raise ScoreDataError(
            f"expected at least {len(tasks) + intercept} algorithms with scores on "
            f"{', '.join(tasks)}; found {len(y)}"
        )
    shift_x, shift_y = (x.mean(axis=0), y.mean()) if intercept else (np.zeros(len(tasks)), 0.0)
    cx, cy = x - shift_x, y - shift_y
    w = np.linalg.lstsq(cx, cy, rcond=None)[0]
    if weights == "non-negative":
        w = non_negative(cx, cy, w)
    model = SubsetModel.of_fit(tasks, w, float(shift_y - w @ shift_x), x, y, data.transform.name)
    return replace(model, target=target_name)


@dataclass(frozen=True)
class PaperProcedure(Procedure):
    """The Atari-5 paper's: least cross-validated error of least squares without intercept.

    Parameters
    ----------
    criterion : {"cv", "in_sample"}
        ``cv`` is the rule that the paper states. ``in_sample`` is what its code does: rank all by
        the in-sample error, cross-validate the best `n_checked`, take the least.
    complete_only : bool
        Only tasks that every algorithm has a score on, so that all subsets have the same rows.
    weights : {"any", "non-negative"}
        Non-negative leaves out subsets that would need a negative weight.
    folds : Folds
    n_checked : int
        Of ``in_sample``.

    Examples
    --------
    >>> from gnomon.distillation import prepare
    >>> from gnomon.scores import load_scores
    >>> data = prepare(load_scores("gohr-full"), transform="identity", summary="mean")
    >>> PaperProcedure().choose(data, 2)
    (('clockwise-from-b0', 'where-the-last-piece-lay'),)
    """

    criterion: Literal["cv", "in_sample"] = "cv"
    complete_only: bool = False
    weights: Weights = "any"
    folds: Folds = field(default_factory=Folds)
    n_checked: int = 20

    @property
    def name(self) -> str:
        """What it is called."""
        if self.complete_only:
            return "complete"
        return "paper" if self.criterion == "cv" else "paper-code"

    def choose(self, data: PreparedScores, size: int, **options: Unpack[ChoiceOptions]) -> Subsets:
        """Return the best subsets, best first."""
        candidates = data.complete_tasks() if self.complete_only else data.candidates
        if not candidates:
            raise ScoreDataError(
                f"expected tasks that every algorithm has a score on; none of "
                f"{len(data.candidates)} has"
            )
        how = ChoiceSettings(**options)
        wanted = n_best = how.n_best
        while True:
            found = search_subsets(
                data,
                size,
                folds=self.folds,
                criterion=self.criterion,
                bounded=how.executor is None,
                n_best=wanted if self.criterion == "cv" else max(self.n_checked, wanted),
                forced=how.forced,
                candidates=candidates,
                executor=how.executor,
                progress=how.progress,
            )
            kept = found.subsets
            if self.criterion != "cv":
                from gnomon.distillation.search.row_errors import subset_errors

                errors = subset_errors(data, kept, folds=self.folds)[:, 0]
                kept = tuple(kept[i] for i in np.argsort(errors, kind="stable"))
            if self.weights == "any":
                return kept[:n_best]
            kept = tuple(tasks for tasks in kept if _positive(data, tasks))
            if len(kept) >= n_best or len(found.subsets) == found.n_subsets:
                return kept[:n_best]
            wanted = min(4 * wanted + 100, found.n_subsets)

    def fit(self, data: PreparedScores, tasks: Sequence[str]) -> SubsetModel:
        """Return the model of a subset."""
        return fit_least_squares(data, tasks, weights=self.weights)


def _positive(data: PreparedScores, tasks: Sequence[str]) -> bool:
    return min(fit_least_squares(data, tasks, weights="any").weights) >= 0
