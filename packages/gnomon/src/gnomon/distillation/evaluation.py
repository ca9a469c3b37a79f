"""Evaluation of a subset of tasks: the share of every task's variance that it explains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np

from gnomon.distillation.models import SubsetModel
from gnomon.distillation.preparation.preparation import PreparationOptions, prepare
from gnomon.distillation.preparation.prepared import PreparedScores
from gnomon.distillation.procedures.least_squares import fit_least_squares
from gnomon.distillation.procedures.procedure import Procedure
from gnomon.distillation.procedures.registry import procedure_of
from gnomon.distillation.work import Progress
from gnomon.errors import ScoreDataError
from gnomon.results import Results, recorded
from gnomon.scores.table import ScoreTable


@dataclass(frozen=True)
class ExplainedTask:
    """How well a subset predicts one task: least squares with intercept, in-sample.

    Parameters
    ----------
    task : str
    r2 : float
        On the algorithms that have the task and the subset; 1 for the subset's own.
    model : SubsetModel
    """

    task: str
    r2: float
    model: SubsetModel

    def as_record(self) -> dict[str, Any]:
        """Return the numbers as a mapping fit for JSON."""
        model = self.model
        record = {"task": self.task, "r2": self.r2, "intercept": model.intercept}
        return record | {"weights": list(model.weights), "n_rows": model.n_rows}


@dataclass(frozen=True, eq=False, repr=False)
class ExplainedTasks(Results[ExplainedTask]):
    """How well a subset predicts every task, best first, and all of them together.

    Parameters
    ----------
    subset : tuple of str
    explained, explained_others : float
        Share of the variance of all tasks pooled; and without the tasks of the subset, which
        explain themselves. NaN if there is none.

    Examples
    --------
    >>> from gnomon.scores import load_scores
    >>> table = load_scores("gohr-full")
    >>> found = explained(table, ["two-a-bucket"], transform="identity", summary="mean")
    >>> round(found.explained_others, 2), found[1].task
    (0.84, 'three-a-bucket')
    """

    subset: tuple[str, ...] = field(kw_only=True)
    explained: float = field(kw_only=True)
    explained_others: float = field(kw_only=True)

    drawn_by = "gnomon.plot.distillation:explained_figure"

    @property
    def models(self) -> Mapping[str, SubsetModel]:
        """The model of each task."""
        return {one.task: one.model for one in self}

    @property
    def r2(self) -> Mapping[str, float]:
        """The explained share of the variance of each task, best first."""
        return {one.task: one.r2 for one in self}

    @property
    def notes(self) -> tuple[str, ...]:
        """The pooled shares, if there are other tasks."""
        if len(self.subset) == len(self):
            return ()
        return (
            f"from {', '.join(self.subset)}: {self.explained:.1%} of the variance of all tasks, "
            f"{self.explained_others:.1%} of the others; in-sample",
        )


def explained(
    scores: ScoreTable | PreparedScores,
    task: Sequence[str] = (),
    *,
    size: int = 5,
    procedure: str | Procedure = "factor",
    progress: Progress | None = None,
    **preparation: Unpack[PreparationOptions],
) -> ExplainedTasks:
    """Predict every task from a subset, and say how much of each that explains.

    Every task is fitted to the subset with intercept, in-sample (figure 4, tables 10 and 11 of the
    Atari-5 paper).

    Parameters
    ----------
    scores : ScoreTable or PreparedScores
    task : sequence of str
        The tasks of the subset; if none is named, a procedure chooses them.
    size : int
        How many it chooses.
    procedure : str or Procedure
    progress : function of (done, all), optional
        Told of the subsets searched.
    **preparation
        How a ScoreTable becomes a matrix, as :func:`gnomon.distillation.prepare` takes it.

    Returns
    -------
    ExplainedTasks

    Raises
    ------
    ScoreDataError
        A task is named twice, or there are too few algorithms with scores on the subset.
    UnknownNameError
        A task is not in the table.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"a": [[1, 2]], "b": [[2, 4]], "c": [[3, 7]]})
    >>> found = explained(table, ["task_0"], transform="identity")
    >>> [(one.task, round(one.r2, 3)) for one in found]
    [('task_0', 1.0), ('task_1', 0.987)]
    """
    with recorded() as notes:
        data = prepare(scores, **preparation)
        subset = _subset(data, task, size, procedure, progress)
    columns = data.columns(subset)
    found, residual, total = [], {}, {}
    for name in data.tasks:
        y = data.x[:, data.tasks.index(name)]
        model = fit_least_squares(
            data, subset, target=y, target_name=name, intercept=True, weights="any"
        )
        whole = ~np.isnan(data.x[:, columns]).any(axis=1) & ~np.isnan(y)
        error = y[whole] - model.predict(data.x[whole][:, columns])
        residual[name] = float(error @ error)
        total[name] = float(((y[whole] - y[whole].mean()) ** 2).sum())
        r2 = 1.0 - residual[name] / total[name] if total[name] else float("nan")
        found.append(ExplainedTask(name, r2, model))
    others = [name for name in data.tasks if name not in subset]
    return ExplainedTasks(
        tuple(sorted(found, key=lambda one: -one.r2)),
        {"subset": list(subset)},
        tuple(notes),
        subset=subset,
        explained=_explained(residual, total, data.tasks),
        explained_others=_explained(residual, total, others),
    )


def _explained(
    residual: Mapping[str, float], total: Mapping[str, float], tasks: Sequence[str]
) -> float:
    """Return the pooled share of the variance of some tasks; NaN if there is none."""
    whole = sum(total[task] for task in tasks)
    return 1.0 - sum(residual[task] for task in tasks) / whole if whole else float("nan")


def _subset(
    data: PreparedScores,
    tasks: Sequence[str],
    size: int,
    procedure: str | Procedure,
    progress: Progress | None,
) -> tuple[str, ...]:
    """Return the tasks that were named, or those that a procedure chooses."""
    if not tasks:
        return procedure_of(procedure).choose(data, size, progress=progress)[0]
    data.columns(tasks)
    if len(set(tasks)) < len(tasks):
        raise ScoreDataError(f"expected different tasks, found {', '.join(tasks)}")
    return tuple(tasks)
