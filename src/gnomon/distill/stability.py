"""Would other algorithms have chosen the same tasks? How often, and a committee where not."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.distill.models import Procedure, SubsetModel
from gnomon.distill.prepared import PreparedScores
from gnomon.distill.procedures.least_squares import PaperProcedure
from gnomon.distill.search.folds import Folds
from gnomon.distill.transforms import transform_of
from gnomon.distill.work import Progress, completed
from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.execution.executor import Executor

__all__ = [
    "Committee",
    "Stability",
    "committee_of",
    "fold_seed_stability",
    "left_out_stability",
    "selection_stability",
]

#: A bootstrap sample holds so large a share of distinct rows, on average: 1 - 1/e.
_DISTINCT = 0.632


@dataclass(frozen=True)
class Stability:
    """How often each task, and each subset, was chosen.

    Parameters
    ----------
    sets : tuple of (tasks, share)
        Most frequent first; tasks sorted.
    tasks : tuple of (task, share)
        Most frequent first.
    n_models : int
    """

    sets: tuple[tuple[tuple[str, ...], float], ...]
    tasks: tuple[tuple[str, float], ...]
    n_models: int

    @classmethod
    def of(cls, chosen: Sequence[Sequence[str]]) -> Stability:
        """Count what was chosen.

        Examples
        --------
        >>> Stability.of([("u", "v"), ("v", "w"), ("v", "u")]).tasks
        (('v', 1.0), ('u', 0.6666666666666666), ('w', 0.3333333333333333))
        """
        n = len(chosen)
        sets = Counter(tuple(sorted(tasks)) for tasks in chosen)
        tasks = Counter(task for names in chosen for task in names)
        return cls(
            tuple((names, c / n) for names, c in sorted(sets.items(), key=_by_frequency)),
            tuple((name, c / n) for name, c in sorted(tasks.items(), key=_by_frequency)),
            n,
        )

    @property
    def stands_out(self) -> bool:
        """Whether one subset was chosen more often than not."""
        return self.sets[0][1] > 0.5


def _by_frequency(item: tuple[Any, int]) -> tuple[int, Any]:
    """Sort by frequency, ties by name: the order in which workers finish must not show."""
    return -item[1], item[0]


def selection_stability(
    data: PreparedScores,
    procedure: Procedure,
    size: int,
    *,
    n_samples: int = 100,
    by_group: bool = False,
    rng: np.random.Generator,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Stability:
    """Choose again from random samples of the algorithms (or of whole groups).

    A sample is what a bootstrap draws, 63 % of them, without its copies: a copy in another fold
    would tell a cross-validation the answer.

    Parameters
    ----------
    data : PreparedScores
    procedure : Procedure
    size : int
    n_samples : int
    by_group : bool
        Draw groups (papers) rather than algorithms.
    rng : numpy.random.Generator
    executor, progress
        As in :func:`gnomon.distill.search.search.search_subsets`; progress counts samples.
    """
    labels = np.array(data.groups if by_group else data.algorithms)
    units = np.unique(labels)
    n_drawn = max(1, round(_DISTINCT * units.size))
    drawn = [rng.choice(units, n_drawn, replace=False) for _ in range(n_samples)]
    pieces = [_Piece(data.rows(np.isin(labels, names)), procedure, size) for names in drawn]
    return Stability.of(_chosen(pieces, executor, progress))


def left_out_stability(
    data: PreparedScores,
    procedure: Procedure,
    size: int,
    *,
    by_group: bool = True,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Stability:
    """Choose again without each group (or each algorithm) in turn.

    Parameters are those of :func:`selection_stability`.

    Raises
    ------
    ScoreDataError
        There are fewer than two to leave out.
    """
    labels = np.array(data.groups if by_group else data.algorithms)
    units = np.unique(labels)
    if units.size < 2:
        raise ScoreDataError(f"expected at least 2 to leave out, found {units.size}")
    pieces = [_Piece(data.rows(labels != unit), procedure, size) for unit in units]
    return Stability.of(_chosen(pieces, executor, progress))


def fold_seed_stability(
    data: PreparedScores,
    size: int,
    *,
    n_seeds: int = 50,
    n_folds: int = 10,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Stability:
    """Choose by the paper's procedure with other folds, seeds 0 to `n_seeds` - 1."""
    procedures = [PaperProcedure(folds=Folds(n_folds, seed)) for seed in range(n_seeds)]
    pieces = [_Piece(data, procedure, size) for procedure in procedures]
    return Stability.of(_chosen(pieces, executor, progress))


@dataclass(frozen=True)
class Committee:
    """Several models that vote: the mean of their transformed estimates, weighted by their shares.

    Parameters
    ----------
    models : tuple of SubsetModel
    shares : tuple of float
        Sum to one.
    """

    models: tuple[SubsetModel, ...]
    shares: tuple[float, ...]

    @property
    def tasks(self) -> tuple[str, ...]:
        """All tasks that some model needs."""
        return tuple(dict.fromkeys(task for model in self.models for task in model.tasks))

    def estimate(self, scores: Mapping[str, float]) -> float:
        """Estimate a summary by those models whose tasks all have scores.

        Raises
        ------
        ScoreDataError
            No model has them.
        """
        able = [
            (model, share)
            for model, share in zip(self.models, self.shares, strict=True)
            if set(model.tasks) <= set(scores)
        ]
        if not able:
            raise ScoreDataError(f"expected scores on all of {', '.join(self.models[0].tasks)}")
        transform = transform_of(able[0][0].transform)
        total = sum(share for _, share in able)
        mean = sum(
            share * float(model.predict(transform.forward(_row(model, scores))))
            for model, share in able
        )
        return float(transform.inverse(np.array(mean / total)))


def committee_of(
    data: PreparedScores, procedure: Procedure, stability: Stability, *, n_models: int = 5
) -> Committee:
    """Fit the most frequent subsets to all rows and let them vote by their frequency."""
    sets = stability.sets[:n_models]
    total = sum(share for _, share in sets)
    models = tuple(procedure.fit(data, tasks) for tasks, _ in sets)
    return Committee(models, tuple(share / total for _, share in sets))


def _row(
    model: SubsetModel, scores: Mapping[str, float]
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.array([scores[task] for task in model.tasks], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class _Piece:
    data: PreparedScores
    procedure: Procedure
    size: int


def _choose(piece: _Piece) -> tuple[str, ...]:
    with warnings.catch_warnings():
        # What a sample alone lacks is no news of the table.
        warnings.simplefilter("ignore", DegenerateScoresWarning)
        return piece.procedure.choose(piece.data, piece.size)[0]


def _chosen(
    pieces: Sequence[_Piece], executor: Executor | None, progress: Progress | None
) -> list[tuple[str, ...]]:
    chosen: list[tuple[str, ...]] = []
    what = "the choice from a sample of the algorithms"
    for _, tasks in completed(_choose, pieces, what, executor):
        chosen.append(tasks)
        if progress is not None:
            progress(len(chosen), len(pieces))
    return chosen
