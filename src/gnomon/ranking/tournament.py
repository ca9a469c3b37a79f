"""The tournament graph: one edge between any two that met, pooled over the grounds they share."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from gnomon.errors import UnknownNameError
from gnomon.ranking.contest import By, Contest
from gnomon.scores.table import FloatArray

__all__ = ["Edges", "Tournament", "Weights", "connected_components", "ground_weights"]

Weights = Literal["equal", "precision"] | Mapping[str, float]

#: Edges up to this are 0 but for the rounding of their sums over grounds.
EVEN = 1e-12
#: Replicates whose edges are held in memory together, at most.
BLOCK = 256
#: Numbers in one block of edges, at most (three arrays of this size).
BLOCK_NUMBERS = 4_000_000


@dataclass(frozen=True, eq=False)
class Tournament:
    """A graph whose edges say by how much one contestant does better than another.

    Parameters
    ----------
    names : tuple of str
        The contestants.
    log_odds : ndarray of float, shape (n, n)
        Edge from i to j: the weighted mean, over the grounds on which both were, of the logarithm
        of the smoothed ease ratio; antisymmetric, 0 where they never met.
    weights : ndarray of float, shape (n, n)
        Sum of the weights behind each edge; 0 where there is none.
    probability : ndarray of float, shape (n, n)
        P(i better than j), pooled in the same way; NaN where they never met.
    variance : ndarray of float, shape (n, n)
        Of each edge, by the delta method; NaN where there is none.
    largest_edge : float
        What an edge can be at most, given smoothing and numbers of runs.
    by : str
        What the contestants are.
    """

    names: tuple[str, ...]
    log_odds: FloatArray
    weights: FloatArray
    probability: FloatArray
    variance: FloatArray
    largest_edge: float
    by: By = "algorithm"

    @classmethod
    def of(
        cls,
        contest: Contest,
        *,
        smoothing: float = 1.0,
        weights: Weights = "equal",
        cap: float = math.inf,
    ) -> Tournament:
        """Pool a contest's ease ratios over its grounds.

        Parameters
        ----------
        contest : Contest
        smoothing : float
            Added to the won and to the lost pairs of runs, above 0; 1 as in the GOHR server.
        weights : str or mapping from ground to float
            ``equal``: every common ground counts 1; ``precision``: one over the variance of its
            log-odds; or a weight for each ground, 1 for those that are not named.
        cap : float
            Log-odds beyond it, on one ground, are cut.

        Raises
        ------
        UnknownNameError
            A weight is for no ground of the contest.
        ValueError
            Smoothing or cap is not above 0, or a weight is negative or infinite.

        Examples
        --------
        >>> samples = ((np.array([3.0, 4.0]), np.array([1.0, 2.0])),)
        >>> graph = Tournament.of(Contest(("a", "b"), ("clockwise",), samples))
        >>> graph.log_odds.round(3)
        array([[ 0.   ,  1.609],
               [-1.609,  0.   ]])
        """
        for name, number in (("smoothing", smoothing), ("cap", cap)):
            if not number > 0.0:
                raise ValueError(f"expected {name} above 0, found {number}")
        odds, variance = ground_edges(contest, smoothing, cap)
        w = ground_weights(contest, weights, variance)
        total = w.sum(axis=0)
        with np.errstate(invalid="ignore"):
            pooled = (w * np.nan_to_num(odds)).sum(axis=0) / total
            chance = (w * np.nan_to_num(contest.probability)).sum(axis=0) / total
            spread = (w**2 * np.nan_to_num(variance)).sum(axis=0) / total**2
        np.fill_diagonal(chance, 0.5)
        # What is won and lost alike on several grounds must not become an order by rounding.
        pooled[np.abs(pooled) <= EVEN] = 0.0
        chance[np.abs(chance - 0.5) <= EVEN] = 0.5
        most = contest.pairs[contest.met].max(initial=0.0)
        largest = min(math.log(most / smoothing + 1.0), cap)
        return cls(contest.names, np.nan_to_num(pooled), total, chance, spread, largest, contest.by)

    @classmethod
    def from_log_odds(
        cls, names: Sequence[str], log_odds: npt.ArrayLike, weights: npt.ArrayLike | None = None
    ) -> Tournament:
        """Build a graph from its edges; NaN, or a weight of 0, is no edge."""
        f = np.array(log_odds, dtype=np.float64)
        w = np.ones_like(f) if weights is None else np.array(weights, dtype=np.float64)
        w[np.isnan(f)] = 0.0
        np.fill_diagonal(w, 0.0)
        f = np.where(w > 0.0, f, 0.0)
        if f.shape != (len(names),) * 2 or not np.allclose(f, -f.T):
            raise ValueError(f"expected antisymmetric edges for {len(names)} names")
        chance = np.where(w > 0.0, 1.0 / (1.0 + np.exp(-f)), np.nan)
        np.fill_diagonal(chance, 0.5)
        return cls(tuple(names), f, w, chance, np.full_like(f, np.nan), math.inf)

    @cached_property
    def components(self) -> tuple[tuple[int, ...], ...]:
        """Contestants that are connected, by their numbers; the largest group first.

        Two in different components cannot be ordered: no chain of meetings leads from one to the
        other.
        """
        return connected_components(self.weights > 0.0)

    def without(self, name: str) -> Tournament:
        """Return the graph of the others; no edge between them changes."""
        at = self.names.index(name)
        odds, weights, chance, variance = (
            np.delete(np.delete(numbers, at, axis=0), at, axis=1)
            for numbers in (self.log_odds, self.weights, self.probability, self.variance)
        )
        names = self.names[:at] + self.names[at + 1 :]
        return Tournament(names, odds, weights, chance, variance, self.largest_edge, self.by)

    @property
    def n_edges(self) -> int:
        """Number of pairs that met."""
        return int(np.count_nonzero(np.triu(self.weights, 1)))


def connected_components(linked: npt.NDArray[np.bool_]) -> tuple[tuple[int, ...], ...]:
    """Return the parts of a graph that hang together, the largest first, then by their first."""
    left, parts = set(range(linked.shape[0])), []
    while left:
        front = {min(left)}
        part: set[int] = set()
        while front:
            part |= front
            front = {j for i in front for j in np.flatnonzero(linked[i]).tolist()} - part
        left -= part
        parts.append(tuple(sorted(part)))
    return tuple(sorted(parts, key=lambda part: (-len(part), part[0])))


def ground_edges(contest: Contest, smoothing: float, cap: float) -> tuple[FloatArray, FloatArray]:
    """Return log-odds and their variances on each ground, (grounds, n, n); NaN for no meeting.

    The variance is that of P over (P (1 - P))^2, with the smoothed P, which varies less than P by
    the share of pairs in what they and smoothing make. Where placements give none (one wins every
    pair, or has a single run) it is the greatest possible, P (1 - P) over the lesser number of runs
    (Birnbaum and Klose 1957).
    """
    odds = np.clip(np.log(contest.ease_ratio(smoothing)), -cap, cap)
    chance = 1.0 / (1.0 + np.exp(-odds))
    sizes = contest.sizes[:, :, None], contest.sizes[:, None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        most = chance * (1.0 - chance) / np.minimum(*sizes)
        known = contest.probability_variance > 0.0
        spread = np.where(known, contest.probability_variance, most)
        share = contest.pairs / (contest.pairs + 2.0 * smoothing)
        return odds, spread * (share / (chance * (1.0 - chance))) ** 2


def ground_weights(contest: Contest, weights: Weights, variance: FloatArray) -> FloatArray:
    """Return the weight of each pair on each ground, (grounds, n, n); 0 where they did not meet."""
    if weights == "precision":
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(contest.met, 1.0 / variance, 0.0)
    if isinstance(weights, str):
        return contest.met.astype(np.float64)
    for name in weights:
        if name not in contest.grounds:
            raise UnknownNameError(
                "task" if contest.by == "algorithm" else "algorithm", name, contest.grounds
            )
    each = np.array([weights.get(name, 1.0) for name in contest.grounds], dtype=np.float64)
    for weight in each[~((each >= 0.0) & np.isfinite(each))]:
        raise ValueError(f"expected finite weights of 0 or more, found {weight:g}")
    return each[:, None, None] * contest.met


@dataclass(frozen=True, eq=False)
class Edges:
    """The same graph from resampled or permuted runs, block by block.

    Parameters
    ----------
    contest : Contest
    smoothing, weights, cap
        As in :meth:`Tournament.of`. Weights by precision are those of the data in every resample.
    draw_grounds : bool
        Whether grounds are drawn too, for a statement about grounds not tried.
    """

    contest: Contest
    smoothing: float = 1.0
    weights: Weights = "equal"
    cap: float = math.inf
    draw_grounds: bool = False

    @cached_property
    def ground_weights(self) -> FloatArray:
        """Weight of each pair on each ground, shape (grounds, n, n)."""
        variance = ground_edges(self.contest, self.smoothing, self.cap)[1]
        return ground_weights(self.contest, self.weights, variance)

    @cached_property
    def _logs(self) -> FloatArray:
        """Logarithms of all numbers of won pairs that can occur, in halves, smoothed."""
        most = int(self.contest.pairs[self.contest.met].max(initial=0.0))
        return np.log(np.arange(2 * most + 1) / 2.0 + self.smoothing)

    def resampled(
        self, n_resamples: int, key: np.uint64, *, permuted: bool = False
    ) -> Iterator[tuple[FloatArray, FloatArray, FloatArray]]:
        """Yield log-odds, probabilities and weights, each (some replicates, n, n).

        Parameters
        ----------
        n_resamples : int
        key : uint64
            From :func:`gnomon.stats.bootstrap.resamples.draw_key`.
        permuted : bool
            Whether to deal the runs of a ground out to its contestants at random, as if none of
            them were better than another.
        """
        from gnomon.ranking.tournament_kernels import resample_edges

        n = len(self.contest.names)
        logs = self._logs
        block = max(1, min(BLOCK, BLOCK_NUMBERS // n**2))
        for first in range(0, n_resamples, block):
            shape = (min(block, n_resamples - first), n, n)
            odds, chances, total = np.empty(shape), np.empty(shape), np.empty(shape)
            draw_grounds = self.draw_grounds and not permuted
            resample_edges(
                key, first, permuted, draw_grounds, *self.contest.sorted_runs,
                self.ground_weights, logs, self.cap, odds, chances, total,
            )  # fmt: skip
            yield odds, chances, total
