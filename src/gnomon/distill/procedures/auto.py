"""The procedure that chooses between procedures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.distill.models import SubsetModel
from gnomon.distill.prepared import PreparedScores
from gnomon.distill.procedures.base import PROCEDURES, Procedure
from gnomon.distill.progress import Progress
from gnomon.distill.validation import nested_error
from gnomon.errors import ScoreDataError
from gnomon.execution.executor import Executor

__all__ = ["AutoProcedure"]


@dataclass(frozen=True)
class AutoProcedure(Procedure):
    """Chooses the procedure by the error that each has inside, then lets it choose the tasks.

    Its own nested error therefore counts the choice between procedures, too.

    Parameters
    ----------
    among : tuple of str
        Names of :data:`gnomon.distill.procedures.base.PROCEDURES`.
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
        best = self.best(data, size, forced=forced, progress=progress)
        options: dict[str, Any] = {"executor": executor, "progress": progress}
        return best.choose(data, size, forced=forced, n_best=n_best, **options)

    def fit(self, data: PreparedScores, tasks: Sequence[str]) -> SubsetModel:
        """Return the model of a subset, by the procedure that is best for its size."""
        return self.best(data, len(tasks)).fit(data, tasks)

    def best(
        self,
        data: PreparedScores,
        size: int,
        *,
        forced: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> Procedure:
        """Return the procedure with the least error on rows left out inside."""
        errors, refusal = {}, ""
        for i, name in enumerate(self.among):
            options: dict[str, Any] = {"n_folds": self.n_folds, "forced": forced}
            options |= {"progress": _share(progress, i, len(self.among))}
            rng = np.random.default_rng(self.seed)
            try:
                held = nested_error(data, PROCEDURES[name], size, rng=rng, **options)
            except ScoreDataError as error:
                refusal = str(error)
                continue
            # An algorithm without a prediction counts as a large error, not as none.
            missing = 1.0 - held.n_predicted / len(data.algorithms)
            errors[name] = held.relative_error * (1.0 + missing)
        if not errors:
            raise ScoreDataError(f"no procedure can choose {size} tasks: {refusal}")
        return PROCEDURES[min(errors, key=lambda name: errors[name])]


def _share(progress: Progress | None, number: int, n: int) -> Progress | None:
    """Return what tells of one part of n, each as long as the others."""
    if progress is None:
        return None
    return lambda done, total: progress(number * total + done, n * total)
