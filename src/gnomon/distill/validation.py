"""The honest error: tasks and weights are chosen again without the algorithms predicted."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from gnomon.distill.folds import Folds
from gnomon.distill.outcomes import result_of
from gnomon.distill.predict import HeldOut, held_out
from gnomon.distill.prepared import PreparedScores
from gnomon.distill.procedures.base import Procedure
from gnomon.distill.progress import Progress
from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.execution.executor import Executor, SerialExecutor
from gnomon.scores.table import FloatArray

__all__ = ["Outer", "cross_validate", "nested_error", "outer_splits"]

Outer = Literal["folds", "algorithms", "groups", "group-folds"]
I64 = npt.NDArray[np.int64]


def nested_error(
    data: PreparedScores,
    procedure: Procedure,
    size: int,
    *,
    outer: Outer = "folds",
    n_folds: int = 10,
    n_repeats: int = 1,
    forced: Sequence[str] = (),
    rng: np.random.Generator,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> HeldOut:
    """Predict every algorithm by a model whose tasks and weights were chosen without it.

    The plain cross-validated error of a chosen subset does not count what the choice owes to
    chance. Here the whole procedure is repeated on the rows that remain in every outer fold.

    Parameters
    ----------
    data : PreparedScores
    procedure : Procedure
    size : int
        Number of tasks.
    outer : {"folds", "algorithms", "groups", "group-folds"}
        What is left out at a time: a random fold, one algorithm, one group (a paper), or a random
        fold of whole groups.
    n_folds : int
        For ``folds`` and ``group-folds``.
    n_repeats : int
        Repeats with other random folds.
    forced : sequence of str
        Tasks that every subset has.
    rng : numpy.random.Generator
        For the random folds.
    executor, progress
        As in :func:`gnomon.distill.search.search.search_subsets`; progress counts folds.

    Returns
    -------
    HeldOut

    Raises
    ------
    ScoreDataError
        There are too few algorithms or groups.
    """
    folds = outer_splits(data, outer, n_folds=n_folds, n_repeats=n_repeats, rng=rng)
    splits = [(r, fold == k) for r, fold in enumerate(folds) for k in np.unique(fold)]
    pieces = [
        _Piece(data, procedure, size, tuple(forced), number, repeat, held)
        for number, (repeat, held) in enumerate(splits)
    ]
    residuals = np.full(folds.shape, np.nan)
    chosen: dict[int, tuple[str, ...]] = {}
    for outcome in (executor or SerialExecutor()).map(_predict, pieces):
        tasks, predicted = result_of(outcome, "a fold of the nested validation")
        piece = outcome.piece
        residuals[piece.repeat, piece.held] = predicted - data.target[piece.held]
        chosen[piece.number] = tasks
        if progress is not None:
            progress(len(chosen), len(pieces))
    in_order = tuple(chosen[i] for i in range(len(pieces)))
    return held_out(data, residuals, folds, in_order)


def cross_validate(
    data: PreparedScores, procedure: Procedure, tasks: Sequence[str], *, folds: Folds | None = None
) -> HeldOut:
    """Predict every algorithm by a model of given tasks whose weights were fitted without it.

    The folds are those of the rows that are complete for the tasks, as in the Atari-5 paper. This
    is the plain error: if the tasks were chosen on the same rows, it is too good.

    Raises
    ------
    ScoreDataError
        There are fewer complete rows than folds.
    """
    folds = folds or Folds()
    x = data.x[:, data.columns(tasks)]
    whole = np.flatnonzero(~np.isnan(x).any(axis=1) & ~np.isnan(data.target))
    if whole.size < folds.n_folds:
        raise ScoreDataError(
            f"expected at least {folds.n_folds} algorithms with scores on {', '.join(tasks)}, "
            f"for as many folds; found {whole.size}"
        )
    fold = folds.of(whole.size)
    residuals = np.full((1, len(data.algorithms)), np.nan)
    labels = np.full((1, len(data.algorithms)), -1)
    labels[0, whole] = fold
    for k in range(folds.n_folds):
        held = whole[fold == k]
        kept = np.setdiff1d(np.arange(len(data.algorithms)), held)
        model = procedure.fit(data.rows(kept), tasks)
        residuals[0, held] = model.predict(x[held]) - data.target[held]
    return held_out(data, residuals, labels, (tuple(tasks),))


def outer_splits(
    data: PreparedScores,
    outer: Outer,
    *,
    n_folds: int = 10,
    n_repeats: int = 1,
    rng: np.random.Generator,
) -> I64:
    """Return the fold of each algorithm, shape (repeats, algorithms)."""
    n = len(data.algorithms)
    if outer == "algorithms":
        return np.arange(n)[np.newaxis]
    labels, group = np.unique(data.groups, return_inverse=True)
    if outer == "groups":
        if labels.size < 2:
            raise ScoreDataError(f"expected at least 2 groups to leave out, found {labels.size}")
        return group[np.newaxis]
    n_units = labels.size if outer == "group-folds" else n
    if n_units < n_folds:
        raise ScoreDataError(
            f"expected at least {n_folds} to make {n_folds} folds, found {n_units}"
        )
    seeds = rng.integers(0, 2**32, size=n_repeats)
    folds = np.stack([Folds(n_folds, int(seed)).of(n_units) for seed in seeds])
    return folds[:, group] if outer == "group-folds" else folds


@dataclass(frozen=True, eq=False)
class _Piece:
    """One outer fold of one repeat."""

    data: PreparedScores
    procedure: Procedure
    size: int
    forced: tuple[str, ...]
    number: int
    repeat: int
    held: npt.NDArray[np.bool_]


def _predict(piece: _Piece) -> tuple[tuple[str, ...], FloatArray]:
    """Choose and fit without the rows held out, and predict them."""
    train = piece.data.rows(~piece.held)
    with warnings.catch_warnings():
        # What a fold alone lacks is no news of the table.
        warnings.simplefilter("ignore", DegenerateScoresWarning)
        chooser = piece.procedure.best(train, piece.size, forced=piece.forced)
        tasks = chooser.choose(train, piece.size, forced=piece.forced)[0]
        model = chooser.fit(train, tasks)
    columns = piece.data.columns(tasks)
    return tasks, model.predict(piece.data.x[piece.held][:, columns])
