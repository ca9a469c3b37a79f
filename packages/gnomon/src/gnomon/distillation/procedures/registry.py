"""Procedures by name, and the one that chooses between them.

``docs/decisions/008`` compares their errors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from gnomon.distillation.models import SubsetModel
from gnomon.distillation.preparation.prepared import PreparedScores
from gnomon.distillation.procedures.factor import FactorProcedure
from gnomon.distillation.procedures.least_squares import PaperProcedure
from gnomon.distillation.procedures.procedure import (
    ChoiceOptions,
    ChoiceSettings,
    Procedure,
    Subsets,
)
from gnomon.distillation.search.folds import Folds
from gnomon.distillation.validation.cross_validation import nested_error
from gnomon.distillation.work import Progress
from gnomon.errors import ScoreDataError, UnknownNameError


@dataclass(frozen=True)
class AutoProcedure(Procedure):
    """Chooses the procedure by the error that each has inside, then lets it choose the tasks.

    Its own nested error therefore counts the choice between procedures, too.

    Parameters
    ----------
    among : tuple of str
        Names of :data:`PROCEDURES`.
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

    def choose(self, data: PreparedScores, size: int, **options: Unpack[ChoiceOptions]) -> Subsets:
        """Return the best subsets of the best procedure, best first."""
        return self.best(data, size, **options).choose(data, size, **options)

    def fit(self, data: PreparedScores, tasks: Sequence[str]) -> SubsetModel:
        """Return the model of a subset, by the procedure that is best for its size."""
        return self.best(data, len(tasks)).fit(data, tasks)

    def best(self, data: PreparedScores, size: int, **options: Unpack[ChoiceOptions]) -> Procedure:
        """Return the procedure with the least error on rows left out inside."""
        how = ChoiceSettings(**options)
        errors, refusal = {}, ""
        for i, name in enumerate(self.among):
            work: dict[str, Any] = {"n_folds": self.n_folds, "forced": how.forced}
            work |= {"progress": _share(how.progress, i, len(self.among))}
            rng = np.random.default_rng(self.seed)
            try:
                held = nested_error(data, PROCEDURES[name], size, rng=rng, **work)
            except ScoreDataError as error:
                refusal = str(error)
                continue
            # An algorithm without a prediction counts as a large error, not as none.
            missing = 1.0 - held.n_predicted / len(data.algorithms)
            errors[name] = held.relative_error * (1.0 + missing)
        if not errors:
            raise ScoreDataError(f"no procedure can choose {size} tasks: {refusal}")
        return PROCEDURES[min(errors, key=lambda name: errors[name])]


#: The procedures by name, as they are unless something is asked for otherwise.
PROCEDURES: Mapping[str, Procedure] = {
    "factor": FactorProcedure(),
    "paper": PaperProcedure(),
    "paper-code": PaperProcedure(criterion="in_sample"),
    "complete": PaperProcedure(complete_only=True),
    "auto": AutoProcedure(),
}


def procedure_of(name: str | Procedure, *, n_folds: int = 10) -> Procedure:
    """Return the procedure of a name; one of one's own as it is.

    ``factor`` is ours and the default; ``paper`` is what the Atari-5 paper states, ``paper-code``
    what its code does, ``complete`` the paper's with complete tasks only; ``auto`` chooses among
    these inside.

    Parameters
    ----------
    name : str or Procedure
    n_folds : int
        Of the cross-validation by which the paper's procedures choose, and ``auto`` between some.

    Raises
    ------
    UnknownNameError
        There is no such procedure.

    Examples
    --------
    >>> procedure_of("paper", n_folds=5).folds.n_folds
    5
    """
    if isinstance(name, Procedure):
        return name
    if name not in PROCEDURES:
        raise UnknownNameError("procedure", name, PROCEDURES)
    procedure = PROCEDURES[name]
    if isinstance(procedure, PaperProcedure):
        return replace(procedure, folds=Folds(n_folds))
    if isinstance(procedure, AutoProcedure):
        return replace(procedure, n_folds=n_folds)
    return procedure


def _share(progress: Progress | None, number: int, n: int) -> Progress | None:
    """Return what tells of one part of n, each as long as the others."""
    if progress is None:
        return None
    return lambda done, total: progress(number * total + done, n * total)
