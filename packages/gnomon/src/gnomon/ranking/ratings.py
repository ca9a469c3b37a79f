"""Ratings by the runs: mean ranks, the GOHR paper's ease ratios, Kemeny."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Literal

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError, note
from gnomon.ranking.kemeny import kemeny_order
from gnomon.scores.normalization import with_left_out
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.all_pairs import Samples, table_samples
from gnomon.stats.cautions import (
    warn_of_dependent_runs,
    warn_of_missing_runs,
    warn_of_missing_tasks,
)
from gnomon.stats.improvement import wins_on_task
from gnomon.stats.intervals import SharedEffect, rank_effects
from gnomon.stats.rank_tests import doubled_ranks
from gnomon.stats.strata import Strata

By = Literal["algorithm", "task"]


@dataclass(frozen=True, eq=False)
class Field:
    """What is ranked, on which tasks (or by which algorithms), and ``samples[ground][name]``.

    `shared` has the effects that runs share over tasks, by name; none where tasks are ranked.
    """

    names: tuple[str, ...]
    grounds: tuple[str, ...]
    samples: Samples
    by: By
    shared: tuple[SharedEffect | None, ...] = ()

    @classmethod
    def of(cls, scores: ScoreTable, by: By) -> Field:
        """Return the runs of a table, higher being better (or harder), without empty names.

        Tasks that normalising left out take part, since wins need no scale.
        """
        table = scores
        if by == "algorithm":
            table = with_left_out(scores)
            warn_of_missing_tasks(table)
        warn_of_missing_runs(table)
        counts = table.run_counts if by == "algorithm" else table.run_counts.T
        names = table.algorithms if by == "algorithm" else table.tasks
        grounds = table.tasks if by == "algorithm" else table.algorithms
        kept = [name for name, n in zip(names, counts, strict=True) if n.any()]
        if len(kept) < 2:
            found = ", ".join(kept) or "none"
            raise ScoreDataError(f"expected at least two {by}s with scores to rank, found {found}")
        if len(kept) < len(names):
            left_out = [name for name in names if name not in kept]
            note(f"left out, since they have no score: {', '.join(left_out)}")
        if int((counts > 0).sum(axis=0).max(initial=0)) < 2:
            raise ScoreDataError(
                f"expected two {by}s with scores on the same {ground_of(by)}, found none"
            )
        samples = table_samples(table)
        if by == "task":
            samples = [[-x for x in column] for column in zip(*samples, strict=True)]
        places = [i for i, n in enumerate(counts) if n.any()]
        samples = [[row[i] for i in places] for row in samples]
        effects = rank_effects(table) if by == "algorithm" else {}
        for name, effect in effects.items():
            warn_of_dependent_runs(Strata.from_table(table, name), effect, name)
        return cls(tuple(kept), grounds, samples, by, tuple(effects.get(name) for name in kept))

    @cached_property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Numbers of runs, shape (grounds, names)."""
        return np.array([[x.size for x in row] for row in self.samples], dtype=np.int64)


def ground_of(by: By) -> By:
    """Return what algorithms are compared on (tasks), and the other way round."""
    return "task" if by == "algorithm" else "algorithm"


def _wins_and_pairs(samples: Samples) -> tuple[FloatArray, FloatArray]:
    """Return won pairs of runs and numbers of pairs, shape (tasks, n, n); 0 on the diagonals."""
    sizes = np.array([[x.size for x in row] for row in samples], dtype=np.float64)
    others = 1.0 - np.eye(sizes.shape[1])
    wins = np.array([wins_on_task(row) for row in samples]) * others
    return wins, sizes[:, :, None] * sizes[:, None, :] * others


def task_ranks(samples: Samples) -> FloatArray:
    """Return ranks by the mean rank of runs on each task, 1 for the best; NaN without a run."""
    ranks = np.full((len(samples), len(samples[0])), np.nan)
    for t, row in enumerate(samples):
        sizes = np.array([x.size for x in row])
        here = np.flatnonzero(sizes)
        if here.size:
            rates = wins_on_task(row).sum(axis=1)[here] / sizes[here]
            ranks[t, here] = doubled_ranks(-np.round(rates, 9)) / 2.0
    return ranks


def _ease_ratios(samples: Samples) -> FloatArray:
    """Return the ease ratios of all pairs, as the GOHR server has them; NaN without common tasks.

    On each task the ratio is (won pairs of runs + 1) / (lost pairs + 1); over tasks it is the
    geometric mean.
    """
    wins, pairs = _wins_and_pairs(samples)
    odds = np.where(pairs > 0.0, np.log((wins + 1.0) / (np.swapaxes(wins, 1, 2) + 1.0)), 0.0)
    met = np.count_nonzero(pairs, axis=0)
    with np.errstate(invalid="ignore"):
        ratios = np.exp(np.where(met > 0, odds.sum(axis=0) / np.maximum(met, 1), np.nan))
    np.fill_diagonal(ratios, 1.0)
    return np.asarray(ratios)


def _perron_vector(ratios: FloatArray) -> FloatArray:
    """Return the Perron vector of ease ratios (Saaty 1977), of length 1: the GOHR server's score.

    The server finds it by power iteration from (1, ..., 1); so does this. Where two never met, the
    entry is 0 and one more is added to the diagonal of its row (Harker 1987).
    """
    absent = np.isnan(ratios)
    e = np.where(absent, 0.0, ratios)
    e[np.diag_indices_from(e)] += absent.sum(axis=1)
    x = np.full(len(e), 1.0 / np.sqrt(len(e)))
    for _ in range(100_000):
        y = e @ x
        y /= np.linalg.norm(y)
        if np.sum((y - x) ** 2) < 1e-26:
            break
        x = y
    return np.asarray(y)


def _by_mean_rank(samples: Samples, _: bool) -> FloatArray:
    """Rate by the mean rank over the tasks on which each name has runs, 1 for always the best."""
    ranks = task_ranks(samples)
    n_tasks = np.count_nonzero(~np.isnan(ranks), axis=0)
    return np.where(n_tasks > 0, np.nansum(ranks, axis=0) / np.maximum(n_tasks, 1), np.nan)


def _connected(samples: Samples, method: str) -> tuple[FloatArray, FloatArray]:
    """Return P(i better than j) summed over tasks, and how many tasks two share."""
    from scipy.sparse import csgraph

    wins, pairs = _wins_and_pairs(samples)
    with np.errstate(invalid="ignore"):
        chance = np.where(pairs > 0.0, wins / pairs, 0.0).sum(axis=0)
    met = np.count_nonzero(pairs, axis=0).astype(np.float64)
    if csgraph.connected_components(met > 0.0, directed=False)[0] > 1:
        raise ScoreDataError(
            f"{method}: expected names that are connected by shared tasks; some are not, so they "
            "cannot be rated together (the default method ranks them)"
        )
    return chance, met


def _by_ease_ratios(samples: Samples, of_tasks: bool) -> FloatArray:
    """Rate as the GOHR server does: rules by their difficulty, 1 for the hardest."""
    _connected(samples, "gohr-ev")
    ratios = _ease_ratios(samples)
    if not of_tasks:
        return _perron_vector(ratios)
    ease = _perron_vector(ratios.T)
    return np.asarray(ease.min() / ease)


def _by_kemeny(samples: Samples, _: bool) -> FloatArray:
    """Return places in Kemeny's order."""
    chance, met = _connected(samples, "kemeny")
    margins = chance - met / 2.0
    # Rounding must not decide what is even.
    order = kemeny_order(np.where(np.abs(margins) < 1e-9, 0.0, margins))
    places = np.empty(len(order))
    places[list(order)] = np.arange(1.0, len(order) + 1.0)
    return places


#: Methods by which names can be ordered instead of by the mean win probability, each a function
#: of ``samples[t][i]``, the runs of name i on task t (higher is better, or harder), and of whether
#: tasks are rated by difficulty; and 1 where the largest rating is the best, or -1.
RATINGS: Mapping[str, tuple[Callable[[Samples, bool], FloatArray], float]] = MappingProxyType(
    {
        "mean-rank": (_by_mean_rank, -1.0),
        "gohr-ev": (_by_ease_ratios, 1.0),
        "kemeny": (_by_kemeny, -1.0),
    }
)
