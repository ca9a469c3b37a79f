"""How to choose tasks and weights: the paper's way, ours, and ways to choose between them.

A procedure sees training rows alone and gives a model, so that a validation can repeat the whole of
it inside every fold. ``docs/decisions/008`` compares their errors.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gnomon.distill.folds import Folds
from gnomon.distill.models import SubsetModel
from gnomon.distill.prepared import PreparedScores, check_target
from gnomon.distill.procedures.factor import FactorCovariance, shrunk_covariance
from gnomon.distill.procedures.least_squares import Weights, fit_least_squares, ranges_of
from gnomon.distill.procedures.moments import Moments
from gnomon.distill.progress import Progress
from gnomon.distill.search.row_errors import subset_errors
from gnomon.distill.search.search import search_subsets
from gnomon.errors import ScoreDataError, UnknownNameError
from gnomon.execution.executor import Executor

__all__ = ["PROCEDURES", "FactorProcedure", "PaperProcedure", "Procedure", "procedure_of"]


class Procedure(ABC):
    """Chooses subsets of tasks, and fits a model to one."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is called."""

    @abstractmethod
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
        """Return the best subsets, best first."""

    @abstractmethod
    def fit(self, data: PreparedScores, tasks: Sequence[str]) -> SubsetModel:
        """Return the model of a subset."""

    def best(
        self,
        data: PreparedScores,
        size: int,
        *,
        forced: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> Procedure:
        """Return the procedure that is to choose here: itself, unless it chooses between some."""
        del data, size, forced, progress
        return self


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
    """

    criterion: str = "cv"
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
        """Return the best subsets, best first."""
        candidates = data.complete_tasks() if self.complete_only else data.candidates
        if not candidates:
            raise ScoreDataError(
                f"expected tasks that every algorithm has a score on; none of "
                f"{len(data.candidates)} has"
            )
        wanted = n_best
        while True:
            found = search_subsets(
                data,
                size,
                folds=self.folds,
                criterion="cv" if self.criterion == "cv" else "in_sample",
                bounded=executor is None,
                n_best=wanted if self.criterion == "cv" else max(self.n_checked, wanted),
                forced=forced,
                candidates=candidates,
                executor=executor,
                progress=progress,
            )
            kept = found.subsets
            if self.criterion != "cv":
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


@dataclass(frozen=True)
class FactorProcedure(Procedure):
    """Ours: least variance that a subset leaves under a covariance shrunk towards one factor.

    Tasks and weights are those for the smoothed summary, which depends less on single tasks than a
    median does; errors are those of the summary itself. No cross-validation is needed, and rows
    with gaps serve as far as they go.

    Parameters
    ----------
    shrinkage : float
        Towards the one-factor model, between 0 and 1.
    degrees_of_freedom : float
        Of the t distribution of a row: fewer make it forget strange algorithms more.
    smoothed : bool
        Predict the mean of the summaries over random halves of the tasks instead.
    weights : {"non-negative", "any"}
    """

    shrinkage: float = 0.25
    degrees_of_freedom: float = 4.0
    smoothed: bool = True
    weights: Weights = "non-negative"

    @property
    def name(self) -> str:
        """What it is called."""
        return "factor"

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
        """Return the best subsets, best first."""
        from gnomon.distill.procedures.covariance_search import least_variance_subsets

        names, covariance = self._covariance(data)
        for task in forced:
            if task in data.tasks and task not in names:
                raise ScoreDataError(f"{task} is forced, but excluded or without different scores")
        return least_variance_subsets(
            covariance.covariance, names, size, forced=forced, n_best=n_best
        )

    def fit(self, data: PreparedScores, tasks: Sequence[str]) -> SubsetModel:
        """Return the model of a subset."""
        names, model = self._covariance(data)
        place = {name: i for i, name in enumerate(names)}
        for task in tasks:
            if task not in place:
                raise UnknownNameError("task", task, names)
        chosen = np.array([*(place[task] for task in tasks), len(names)])
        rows = model.covariance[np.ix_(chosen, chosen)].tolist()
        mean = tuple(model.mean[chosen].tolist())
        positive = self.weights == "non-negative"
        moments = Moments(mean, tuple(map(tuple, rows)), positive=positive)
        w, intercept = moments.weights(np.ones(len(tasks), dtype=bool))
        x = data.x[:, data.columns(tasks)]
        whole = ~np.isnan(x).any(axis=1)
        if not whole.any():
            raise ScoreDataError(f"no algorithm has scores on all of {', '.join(tasks)}")
        residuals = data.target[whole] - x[whole] @ w - intercept
        return SubsetModel(
            tasks=tuple(tasks),
            weights=tuple(w.tolist()),
            intercept=intercept,
            transform=data.transform.name,
            n_rows=int(whole.sum()),
            ranges=ranges_of(x[whole]),
            residuals=tuple(np.sort(residuals).tolist()),
            moments=moments,
        )

    def _covariance(self, data: PreparedScores) -> tuple[tuple[str, ...], FactorCovariance]:
        """Return the names of the tasks that vary, and the covariance of them and the target."""
        check_target(data)
        target = data.smoothed if self.smoothed else data.target
        columns, varies = data.columns(data.candidates), data.varies(data.candidates)
        names = tuple(t for t, v in zip(data.candidates, varies, strict=True) if v)
        z = np.column_stack([data.x[:, columns[varies]], target])
        if len(z) < 3 or not np.ptp(target):
            raise ScoreDataError(
                f"expected at least 3 algorithms whose summaries differ; found {len(z)}, "
                f"from {target.min():.4g} to {target.max():.4g}"
            )
        return names, shrunk_covariance(
            z, shrinkage=self.shrinkage, degrees_of_freedom=self.degrees_of_freedom
        )


def _positive(data: PreparedScores, tasks: Sequence[str]) -> bool:
    return min(fit_least_squares(data, tasks, weights="any").weights) >= 0


PROCEDURES: Mapping[str, Procedure] = {
    "factor": FactorProcedure(),
    "paper": PaperProcedure(),
    "paper-code": PaperProcedure(criterion="in_sample"),
    "complete": PaperProcedure(complete_only=True),
}


def procedure_of(name: str, *, n_folds: int = 10) -> Procedure:
    """Return the procedure of a name.

    ``factor`` is ours and the default; ``paper`` is what the Atari-5 paper states, ``paper-code``
    what its code does, ``complete`` the paper's with complete tasks only; ``auto`` chooses among
    these inside; ``irt-1`` and ``irt-2`` are item response baselines.

    Parameters
    ----------
    name : str
    n_folds : int
        Of the cross-validation by which the paper's procedures choose.

    Raises
    ------
    UnknownNameError
        There is no such procedure.
    """
    if name == "auto":
        from gnomon.distill.procedures.auto import AutoProcedure

        return AutoProcedure(n_folds=n_folds)
    if name in ("irt-1", "irt-2"):
        from gnomon.distill.procedures.irt import ItemResponseProcedure

        return ItemResponseProcedure(n_parameters=1 if name == "irt-1" else 2)
    if name not in PROCEDURES:
        raise UnknownNameError("procedure", name, [*PROCEDURES, "auto", "irt-1", "irt-2"])
    procedure = PROCEDURES[name]
    if isinstance(procedure, PaperProcedure):
        return replace(procedure, folds=Folds(n_folds))
    return procedure
