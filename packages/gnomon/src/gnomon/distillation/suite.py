"""Subsets of other sizes, and other ways to choose tasks."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Unpack

import numpy as np

from gnomon.distillation.distilled import Distilled, chosen_subset
from gnomon.distillation.preparation import PreparationOptions, PreparedScores, prepare
from gnomon.distillation.procedures import FactorProcedure, Procedure, factor_moments, procedure_of
from gnomon.distillation.search import Progress, free_tasks
from gnomon.distillation.validation import Outer, nested_error
from gnomon.results import FieldRecord, Results, generator, made_by, recorded
from gnomon.scores.table import ScoreTable

#: Random sets whose errors are averaged.
_N_RANDOM = 6


@dataclass(frozen=True, eq=False, repr=False)
class Sizes(Results[Distilled]):
    """The best subset of each size, and the errors of random sets of as many tasks."""

    random: tuple[float, ...] = field(kw_only=True)

    columns: ClassVar[tuple[str, ...]] = (
        *("size", "tasks", "r2", "relative_error", "nested_relative_error", "random_error"),
        "n_rows",
    )
    drawn_by = "gnomon.plot.subsets:size_figure"

    def as_records(self) -> list[dict[str, Any]]:
        """Return the records, each with its number of tasks first."""
        return [
            {"size": len(one.model.tasks)} | one.as_record() | {"random_error": error}
            for one, error in zip(self, self.random, strict=True)
        ]


def sizes(
    scores: ScoreTable | PreparedScores,
    *,
    most: int = 5,
    procedure: str = "factor",
    folds: int = 10,
    rng: np.random.Generator | int | None = None,
    progress: Progress | None = None,
    **preparation: Unpack[PreparationOptions],
) -> Sizes:
    """Return the best subset of each size: how plain and nested error fall with the size.

    Parameters
    ----------
    scores : ScoreTable or PreparedScores
    most : int
        The greatest number of tasks.
    procedure, folds, rng, progress, **preparation
        As in :func:`gnomon.distill`.

    Examples
    --------
    >>> from gnomon.scores import load_scores
    >>> found = sizes(load_scores("gohr-full"), most=2, transform="identity", summary="mean")
    >>> [round(one.r2, 2) for one in found]
    [0.95, 0.98]
    """
    chosen, draws = procedure_of(procedure, folds), generator(rng)
    seed = int(copy.deepcopy(draws).integers(0, 2**32))
    every = range(1, most + 1)
    with recorded() as notes:
        data = prepare(scores, **preparation)
        work: dict[str, Any] = {"n_folds": folds, "rng": draws, "progress": progress}
        found = [chosen_subset(data, n, chosen, beside=False, **work) for n in every]
        how: dict[str, Any] = {"outer": "folds", "n_folds": folds, "seed": seed}
        random = tuple(_random(data, n, **how)[0] for n in every)
    settings = made_by(rng, most=most, procedure=chosen.name, folds=folds)
    return Sizes(tuple(found), settings, tuple(notes), random=random)


@dataclass(frozen=True)
class Baseline(FieldRecord):
    """Nested error of a way to choose a few tasks.

    `skill` is 1 minus the error over that of random tasks; a set fixed in hindsight was chosen with
    all algorithms known.
    """

    method: str
    error: float
    skill: float
    n_tasks: int
    n_predicted: int
    hindsight: bool


@dataclass(frozen=True, eq=False, repr=False)
class Baselines(Results[Baseline]):
    """Nested errors of the ways to choose a few tasks, smallest first."""

    columns = ("method", "error", "skill", "n_tasks", "n_predicted", "hindsight")

    @property
    def notes(self) -> tuple[str, ...]:
        """What the errors mean."""
        return (
            f"nested by {self.settings['nested']}: tasks and weights are chosen without the "
            "algorithms predicted; a set fixed in hindsight has an advantage",
        )


class _Singles(FactorProcedure):
    """The tasks most correlated with the summary, each by itself."""

    def choose(
        self, data: PreparedScores, size: int, *, forced: Sequence[str] = ()
    ) -> tuple[str, ...]:
        names, moments = factor_moments(data)
        c = moments.covariance
        r = c[:-1, -1] / np.sqrt(np.diag(c)[:-1])
        return tuple(names[j] for j in np.argsort(-r, kind="stable")[:size])


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
    """Compare the chosen tasks with random ones, the best single ones, and fixed sets.

    Parameters
    ----------
    scores : ScoreTable or PreparedScores
    size : int
        Number of tasks.
    sets : mapping from name to tasks, optional
        Fixed sets to compare, for example published ones.
    nested, folds
        As in :func:`gnomon.distillation.nested_error`; the folds are the same for all.
    rng, **preparation
        As in :func:`gnomon.distill`.

    Examples
    --------
    >>> from gnomon.scores import load_scores
    >>> options = {"transform": "identity", "summary": "mean"}
    >>> found = baselines(load_scores("gohr-full"), size=3, folds=5, **options)
    >>> error = {one.method: one.error for one in found}
    >>> error["factor"] < error["random"]
    True
    """
    with recorded() as notes:
        data = prepare(scores, **preparation)
        free_tasks(data, size, ())  # raises an error if there are fewer
        how: dict[str, Any] = {"outer": nested, "n_folds": folds}
        how["seed"] = int(generator(rng).integers(0, 2**32))
        random, n_predicted = _random(data, size, **how)
        found = [Baseline("random", random, 0.0, size, n_predicted, hindsight=False)]
        found.append(_judged("factor", data, FactorProcedure(), size, **how))
        found.append(_judged("best single tasks", data, _Singles(), size, **how))
        for name, tasks in (sets or {}).items():
            found.append(_judged(name, data, FactorProcedure(), len(tasks), forced=tasks, **how))
    rated = [replace(one, skill=1 - one.error / random) for one in found]
    settings = made_by(rng, size=size, nested=nested, folds=folds)
    return Baselines(tuple(sorted(rated, key=lambda one: one.error)), settings, tuple(notes))


def _random(data: PreparedScores, size: int, *, seed: int, **how: Any) -> tuple[float, int]:
    """Return the mean error of six random sets, and of how many algorithms."""
    free = factor_moments(data)[0]
    rng = np.random.default_rng(seed)
    orders = [rng.choice(len(free), size, replace=False) for _ in range(_N_RANDOM)]
    sets = [[free[j] for j in order] for order in orders]
    how["seed"] = seed
    each = [_judged("", data, FactorProcedure(), size, forced=tasks, **how) for tasks in sets]
    error = float(np.mean([one.error for one in each]))
    return error, int(np.mean([one.n_predicted for one in each]))


def _judged(
    name: str,
    data: PreparedScores,
    procedure: Procedure,
    size: int,
    *,
    seed: int,
    forced: Sequence[str] = (),
    **how: Any,
) -> Baseline:
    """Return the nested error of a procedure, or of a fixed set."""
    rng = np.random.default_rng(seed)
    held = nested_error(data, procedure, size, forced=tuple(forced), rng=rng, **how)
    return Baseline(name, held.relative_error, 0.0, size, held.n_predicted, bool(forced))
