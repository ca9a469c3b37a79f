"""Baselines: the errors of random, greedily chosen and fixed sets of tasks, on one protocol.

All methods are given the same predictor and the same folds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from gnomon.distillation.preparation.preparation import PreparationOptions, prepare
from gnomon.distillation.preparation.prepared import PreparedScores
from gnomon.distillation.procedures.factor import FactorProcedure
from gnomon.distillation.procedures.procedure import (
    ChoiceOptions,
    ChoiceSettings,
    Procedure,
    Subsets,
)
from gnomon.distillation.validation.cross_validation import Outer, nested_error
from gnomon.results import FieldRecord, Results, generator, made_by, recorded
from gnomon.scores.table import ScoreTable

_N_RANDOM = 6


@dataclass(frozen=True)
class Baseline(FieldRecord):
    """Nested error of a way to take a few tasks.

    Parameters
    ----------
    method : str
    error : float
        Mean size of the relative error.
    skill : float
        1 minus the error over that of random tasks.
    n_tasks, n_predicted : int
        Number of tasks, and of algorithms predicted.
    hindsight : bool
        Whether the set was fixed with all algorithms known, so that nothing is chosen inside.
    """

    method: str
    error: float
    skill: float
    n_tasks: int
    n_predicted: int
    hindsight: bool


@dataclass(frozen=True, eq=False, repr=False)
class Baselines(Results[Baseline]):
    """Nested errors of the ways to take a few tasks, smallest first.

    Examples
    --------
    >>> one = Baseline("factor", 0.11, 0.58, 5, 62, hindsight=False)
    >>> Baselines((one,), {"nested": "folds"}).where(hindsight=False)[0].skill
    0.58
    """

    columns = ("method", "error", "skill", "n_tasks", "n_predicted", "hindsight")
    drawn_by = "gnomon.plot.distillation:baseline_figure"

    @property
    def notes(self) -> tuple[str, ...]:
        """What the errors are errors of."""
        return (
            f"nested by {self.settings['nested']}: tasks and weights chosen without the "
            "algorithms that are predicted; a set fixed in hindsight is no procedure",
        )


class _Singles(FactorProcedure):
    """The tasks most correlated with the summary, each on its own."""

    def choose(self, data: PreparedScores, size: int, **options: Unpack[ChoiceOptions]) -> Subsets:
        forced = ChoiceSettings(**options).forced
        names, every = self.covariance(data)
        c = every.covariance
        r = c[:-1, -1] / np.sqrt(np.diag(c)[:-1])
        free = [j for j in np.argsort(-r, kind="stable") if names[j] not in forced]
        return ((*forced, *(names[j] for j in free[: size - len(forced)])),)


_PROCEDURES: Mapping[str, Procedure] = {
    "factor": FactorProcedure(),
    "best single tasks": _Singles(),
}


def baselines(
    scores: ScoreTable | PreparedScores,
    *,
    size: int = 5,
    sets: Mapping[str, Sequence[str]] | None = None,
    nested: Outer = "folds",
    folds: int = 10,
    rng: np.random.Generator | int | None = None,
    **preparation: Unpack[PreparationOptions],
) -> Baselines:
    """Compare the chosen tasks with random, greedily chosen and fixed ones on the same folds.

    Parameters
    ----------
    scores : ScoreTable or PreparedScores
    size : int
        Number of tasks.
    sets : mapping from name to tasks, optional
        Fixed sets to judge beside them, published ones or one's own.
    nested, folds
        As in :func:`gnomon.distillation.nested_error`; the folds are the same for all.
    rng : numpy.random.Generator or int, optional
        Of the folds, or its seed; seed 0 if not given.
    **preparation
        As :func:`gnomon.distillation.prepare` takes it.

    Returns
    -------
    Baselines

    Raises
    ------
    ScoreDataError, UnknownNameError
        As :func:`gnomon.distillation.validation.cross_validation.nested_error`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> level = rng.normal(3, 1, (40, 1)) * rng.uniform(0.1, 1, 12)
    >>> rows = level + rng.normal(0, 0.5, (40, 12))
    >>> table = ScoreTable.from_arrays({f"a{i:02}": [row] for i, row in enumerate(rows)})
    >>> found = baselines(table, size=3, folds=5, transform="identity")
    >>> error = {one.method: one.error for one in found}
    >>> error["factor"] < error["random"]
    True
    """
    with recorded() as notes:
        data = prepare(scores, **preparation)
        how: dict[str, Any] = {"outer": nested, "n_folds": folds}
        how["seed"] = int(generator(rng).integers(0, 2**32))
        random, n_predicted = _random(data, size, **how)
        found = [Baseline("random", random, 0.0, size, n_predicted, hindsight=False)]
        for name, procedure in _PROCEDURES.items():
            found.append(_judged(name, data, procedure, size, **how))
        for name, tasks in (sets or {}).items():
            data.columns(tasks)
            found.append(_judged(name, data, FactorProcedure(), len(tasks), fixed=tasks, **how))
    rated = [replace(one, skill=1 - one.error / random) for one in found]
    settings = made_by(rng, size=size, nested=nested, folds=folds)
    return Baselines(tuple(sorted(rated, key=lambda one: one.error)), settings, tuple(notes))


def random_error(data: PreparedScores, size: int, *, n_folds: int, seed: int) -> float:
    """Return the mean nested error of six random sets of a size."""
    return _random(data, size, outer="folds", n_folds=n_folds, seed=seed)[0]


def _random(data: PreparedScores, size: int, *, seed: int, **how: Any) -> tuple[float, int]:
    """Return the mean error of random sets, and of how many algorithms."""
    free = FactorProcedure().covariance(data)[0]
    rng = np.random.default_rng(seed)
    orders = [rng.choice(len(free), size, replace=False) for _ in range(_N_RANDOM)]
    sets = [tuple(free[j] for j in order) for order in orders]
    each = [
        _judged("", data, FactorProcedure(), size, fixed=tasks, seed=seed, **how) for tasks in sets
    ]
    error = float(np.mean([one.error for one in each]))
    return error, int(np.mean([one.n_predicted for one in each]))


def _judged(
    name: str,
    data: PreparedScores,
    procedure: Procedure,
    size: int,
    *,
    seed: int,
    fixed: Sequence[str] = (),
    **how: Any,
) -> Baseline:
    """Return the nested error of a procedure, or of a fixed set."""
    rng = np.random.default_rng(seed)
    held = nested_error(data, procedure, size, fixed=tuple(fixed), rng=rng, **how)
    return Baseline(name, held.relative_error, 0.0, size, held.n_predicted, bool(fixed))
