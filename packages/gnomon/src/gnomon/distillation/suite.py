"""Other ways to choose tasks: at random, the best single ones, and fixed sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from gnomon.distillation.preparation import PreparationOptions, PreparedScores, prepared_scores
from gnomon.distillation.procedures import FactorProcedure, factor_moments
from gnomon.distillation.search import free_tasks
from gnomon.distillation.validation import Outer, nested_error
from gnomon.results import FieldRecord, Results, generator, made_by, recorded
from gnomon.scores.reading import Scores

#: Random sets whose errors are averaged.
_N_RANDOM = 6


@dataclass(frozen=True)
class Baseline(FieldRecord):
    """Nested error of a way to choose a few tasks.

    A set fixed in hindsight was chosen with all algorithms known.
    """

    method: str
    error: float
    n_tasks: int
    n_predicted: int
    hindsight: bool


@dataclass(frozen=True, eq=False, repr=False)
class Baselines(Results[Baseline]):
    """Nested errors of the ways to choose a few tasks, smallest first."""

    columns = ("method", "error", "n_tasks", "n_predicted", "hindsight")

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
    scores: Scores | PreparedScores,
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
        data = prepared_scores(scores, preparation)
        free_tasks(data, size, ())  # raises an error if there are fewer
        seed = int(generator(rng).integers(0, 2**32))

        def judged(name: str, procedure: FactorProcedure, tasks: Sequence[str] = ()) -> Baseline:
            n, same_folds = len(tasks) or size, np.random.default_rng(seed)
            how: dict[str, Any] = {"outer": nested, "n_folds": folds, "rng": same_folds}
            held = nested_error(data, procedure, n, forced=tuple(tasks), **how)
            return Baseline(name, held.relative_error, n, held.n_predicted, bool(tasks))

        names, draws, ours = factor_moments(data)[0], np.random.default_rng(seed), FactorProcedure()
        orders = [draws.choice(len(names), size, replace=False) for _ in range(_N_RANDOM)]
        random = [judged("random", ours, [names[j] for j in order]) for order in orders]
        error = float(np.mean([one.error for one in random]))
        n_predicted = int(np.mean([one.n_predicted for one in random]))
        found = [
            Baseline("random", error, size, n_predicted, hindsight=False),
            judged("factor", ours),
            judged("best single tasks", _Singles()),
            *(judged(name, ours, tasks) for name, tasks in (sets or {}).items()),
        ]
    settings = made_by(rng, size=size, nested=nested, folds=folds)
    return Baselines(tuple(sorted(found, key=lambda one: one.error)), settings, tuple(notes))
