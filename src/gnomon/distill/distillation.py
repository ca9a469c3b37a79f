"""Distil a suite: the chosen subsets, their plain error, and the honest one beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.distill.models import Procedure, SubsetModel
from gnomon.distill.prepared import PreparedScores, check_target
from gnomon.distill.search.folds import Folds
from gnomon.distill.validation import HeldOut, OrderAgreement, Outer, cross_validate, nested_error
from gnomon.distill.work import Progress
from gnomon.errors import ScoreDataError
from gnomon.execution.executor import Executor

__all__ = ["Distilled", "distill", "error_by_size"]


@dataclass(frozen=True, eq=False)
class Distilled:
    """A subset that a procedure chose, its model and its errors.

    Parameters
    ----------
    procedure : str
    rank : int
        1 for the best.
    model : SubsetModel
        Its residuals are those of the nested validation, if there was one.
    cv_mse, r2, relative_error : float
        Cross-validated with the tasks given: too good, as the tasks were chosen on the same rows.
    n_rows : int
        Algorithms with scores on all tasks.
    nested : HeldOut, optional
        Predictions of algorithms that the choice had not seen; of the procedure, so rank 1 alone.
    order : OrderAgreement, optional
        Of these predictions with the truth.
    """

    procedure: str
    rank: int
    model: SubsetModel
    cv_mse: float
    r2: float
    relative_error: float
    n_rows: int
    nested: HeldOut | None = None
    order: OrderAgreement | None = None

    @property
    def nested_relative_error(self) -> float:
        """The honest relative error; NaN if it was not asked for."""
        return float("nan") if self.nested is None else self.nested.relative_error

    def as_record(self) -> dict[str, Any]:
        """Return the numbers as a mapping fit for JSON."""
        return {
            "procedure": self.procedure,
            "rank": self.rank,
            "tasks": list(self.model.tasks),
            "weights": list(self.model.weights),
            "intercept": self.model.intercept,
            "cv_mse": self.cv_mse,
            "r2": self.r2,
            "relative_error": self.relative_error,
            "nested_relative_error": self.nested_relative_error,
            "n_predicted": None if self.nested is None else self.nested.n_predicted,
            "concordance": None if self.order is None else self.order.concordance,
            "clear_concordance": None if self.order is None else self.order.clear_concordance,
            "tau": None if self.order is None else self.order.tau,
            "n_rows": self.n_rows,
        }


def distill(
    data: PreparedScores,
    size: int,
    procedure: Procedure,
    *,
    n_best: int = 1,
    forced: Sequence[str] = (),
    outer: Outer | None = "folds",
    n_folds: int = 10,
    n_repeats: int = 1,
    rng: np.random.Generator,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> list[Distilled]:
    """Choose the tasks that predict the summary best, and say how far to trust them.

    Parameters
    ----------
    data : PreparedScores
    size : int
        Number of tasks.
    procedure : Procedure
        How to choose and weigh; see :func:`gnomon.distill.procedures.registry.procedure_of`.
    n_best : int
        How many subsets to return.
    forced : sequence of str
        Tasks that every subset has.
    outer : {"folds", "algorithms", "groups", "group-folds"}, optional
        What the nested validation leaves out; None for no nested validation.
    n_folds : int
        Of both validations.
    n_repeats : int
        Of the nested validation with other random folds.
    rng : numpy.random.Generator
    executor : Executor, optional
        Who does the folds of the nested validation.
    progress : function of (done, all), optional
        Told of the subsets searched, then of the outer folds.

    Returns
    -------
    list of Distilled
        Best first.

    Raises
    ------
    ScoreDataError
        There are fewer algorithms than folds, or the size does not fit the suite.

    Examples
    --------
    >>> from gnomon.distill.prepare import Preparation
    >>> from gnomon.distill.procedures.registry import procedure_of
    >>> from gnomon.scores.table import ScoreTable
    >>> rng = np.random.default_rng(0)
    >>> skill = rng.normal(3, 1, size=(40, 1))
    >>> scores = {f"a{i:02}": [r] for i, r in enumerate(skill + rng.normal(0, 0.5, (40, 8)))}
    >>> data = Preparation(transform="identity").apply(ScoreTable.from_arrays(scores))
    >>> best = distill(data, 3, procedure_of("factor"), rng=rng)[0]
    >>> best.model.tasks, bool(best.nested_relative_error > best.relative_error * 0.8)
    (('task_2', 'task_3', 'task_5'), True)
    """
    n = len(data.algorithms)
    if n < n_folds:
        raise ScoreDataError(
            f"expected at least {n_folds} algorithms for {n_folds} folds, found {n}: "
            "too few to choose tasks by"
        )
    check_target(data)
    judged = procedure.best(data, size, forced=forced, progress=progress)
    chosen = judged.choose(
        data, size, forced=forced, n_best=n_best, executor=executor, progress=progress
    )
    nested = None
    if outer is not None:
        options: dict[str, Any] = {"outer": outer, "n_folds": n_folds, "n_repeats": n_repeats}
        nested = nested_error(
            data,
            procedure,
            size,
            forced=forced,
            rng=rng,
            executor=executor,
            progress=progress,
            **options,
        )
    return [
        _distilled(data, judged, tasks, rank, n_folds, nested if rank == 1 else None)
        for rank, tasks in enumerate(chosen, start=1)
    ]


def error_by_size(
    data: PreparedScores,
    sizes: Sequence[int],
    procedure: Procedure,
    *,
    n_folds: int = 10,
    n_repeats: int = 1,
    rng: np.random.Generator,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> list[Distilled]:
    """Return the best subset of each size with its nested error: how error falls with size.

    Parameters are those of :func:`distill`.
    """
    options: dict[str, Any] = {"n_folds": n_folds, "n_repeats": n_repeats, "rng": rng}
    options |= {"executor": executor, "progress": progress}
    return [distill(data, size, procedure, **options)[0] for size in sizes]


def _distilled(
    data: PreparedScores,
    procedure: Procedure,
    tasks: tuple[str, ...],
    rank: int,
    n_folds: int,
    nested: HeldOut | None,
) -> Distilled:
    held = cross_validate(data, procedure, tasks, folds=Folds(n_folds))
    model = procedure.fit(data, tasks)
    model = model.with_residuals(held.residuals if nested is None else nested.residuals)
    errors = (held.mse, held.fold_r2, held.fold_relative_error)
    order = None if nested is None else nested.order(data.transform)
    return Distilled(procedure.name, rank, model, *errors, held.n_predicted, nested, order)
