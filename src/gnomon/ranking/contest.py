"""Contests: how many pairs of runs each contestant wins against each (Mann and Whitney's U).

A contest has contestants and grounds on which they meet, each counted by itself. Rank algorithms,
and the tasks are the grounds; rank tasks by difficulty, and the algorithms are.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.scores.common_steps import at_common_step
from gnomon.scores.normalization import with_left_out
from gnomon.scores.table import FloatArray, ScoreTable

By = Literal["algorithm", "task"]
IntArray = npt.NDArray[np.int64]

#: With more runs of one contestant on one ground the table of logarithms of counts (16 bytes for
#: each pair of runs) would leave the bounds of memory, and then the kernel's counts 32 bits.
MOST_RUNS = 5_000


class SortedRuns(NamedTuple):
    """All runs of a contest in one row, ascending on each ground.

    ``owner`` is the contestant of each place, ``tie_end`` the end of the stretch of equal scores
    that begins or continues at it, ``places`` the place of each run in the order of the cells,
    ``cell_starts`` and ``ground_starts`` where each cell and ground begins.
    """

    owner: npt.NDArray[np.int32]
    tie_end: IntArray
    places: IntArray
    cell_starts: IntArray
    ground_starts: IntArray


@dataclass(frozen=True, eq=False)
class Contest:
    """Runs of contestants on the grounds where they meet, and how many pairs of them each wins.

    Parameters
    ----------
    names : tuple of str
        The contestants.
    grounds : tuple of str
        Where they meet.
    samples : tuple of tuples of ndarray
        ``samples[g][i]``: one value for each run of contestant i on ground g, the higher the
        better; empty if it was not there, infinite for a run that never got there. Only the order
        of values on one ground counts.
    by : str
        What the contestants are. Where they are tasks, the harder one wins.

    Raises
    ------
    ScoreDataError
        A score is NaN, or somebody has more than 5,000 runs on a ground.

    Examples
    --------
    Errors of two learners: the lower, the better.

    >>> table = ScoreTable.from_arrays(
    ...     {"dqn": [[1], [2], [9]], "uniform": [[7], [8], [9]]}, tasks=["clockwise"],
    ...     higher_is_better=False,
    ... )
    >>> Contest.from_table(table).wins[0]
    array([[4.5, 6.5],
           [2.5, 4.5]])
    """

    names: tuple[str, ...]
    grounds: tuple[str, ...]
    samples: tuple[tuple[FloatArray, ...], ...]
    by: By = "algorithm"

    @classmethod
    def from_table(
        cls, table: ScoreTable, *, by: By = "algorithm", scaled: bool = False
    ) -> Contest:
        """Build the contest of a table's algorithms, or of its tasks.

        Censored runs take part as infinitely bad, tied with one another. Contestants may have met
        on different grounds; one without any score is left out.

        Parameters
        ----------
        table : ScoreTable
            One score for each run.
        by : str
            ``algorithm``: who is better; ``task``: which is harder. The scores of different tasks
            must then have the same meaning.
        scaled : bool
            Whether sizes of scores count as well: tasks that normalising left out, which who is
            better does not need, are left out then.

        Raises
        ------
        ScoreDataError
            There are fewer than two contestants with scores.

        Warns
        -----
        DegenerateScoresWarning
            A contestant has no score.
        """
        if by == "algorithm" and not scaled:
            table = with_left_out(table)
        names, grounds = table.algorithms, table.tasks
        if by == "task":
            names, grounds = grounds, names
        sign = 1.0 if table.higher_is_better == (by == "algorithm") else -1.0
        pairs = [[(n, g) if by == "algorithm" else (g, n) for n in names] for g in grounds]
        samples = [[sign * table.runs(*pair) for pair in row] for row in pairs]
        kept = [i for i in range(len(names)) if any(row[i].size for row in samples)]
        left_out = [name for i, name in enumerate(names) if i not in kept]
        if len(kept) < 2:
            found = ", ".join(names[i] for i in kept) or "none"
            raise ScoreDataError(f"expected at least two {by}s with scores to rank, found {found}")
        if left_out:
            text = f"left out, since they have no score: {', '.join(left_out)}"
            warnings.warn(text, DegenerateScoresWarning, stacklevel=2)
        shown = tuple(tuple(row[i] for i in kept) for row in samples)
        return cls(tuple(names[i] for i in kept), tuple(grounds), shown, by)

    def __post_init__(self) -> None:
        for g, i in np.argwhere(self.sizes > MOST_RUNS) if self.samples else ():
            where = f"{self.names[i]} on {self.grounds[g]}"
            raise ScoreDataError(
                f"{where}: expected at most {MOST_RUNS} runs to compare, found {self.sizes[g, i]}"
            )
        at = [(g, i) for g, row in enumerate(self.samples) for i in range(len(row))]
        if at and np.isnan(np.concatenate([self.samples[g][i] for g, i in at])).any():
            g, i = next((g, i) for g, i in at if np.isnan(self.samples[g][i]).any())
            where = f"{self.names[i]} on {self.grounds[g]}"
            raise ScoreDataError(f"{where}: expected scores, found NaN")

    @cached_property
    def sizes(self) -> IntArray:
        """Number of runs, shape (grounds, contestants)."""
        return np.array([[x.size for x in row] for row in self.samples], dtype=np.int64)

    @cached_property
    def pairs(self) -> FloatArray:
        """Number of pairs of runs, shape (grounds, n, n); the diagonal is that of a name alone."""
        sizes = self.sizes.astype(np.float64)
        return sizes[:, :, None] * sizes[:, None, :]

    @cached_property
    def met(self) -> npt.NDArray[np.bool_]:
        """Whether two different contestants both were on a ground, shape (grounds, n, n)."""
        there = self.sizes > 0
        others = ~np.eye(len(self.names), dtype=bool)
        return np.asarray(there[:, :, None] & there[:, None, :] & others)

    @property
    def most_pairs(self) -> float:
        """The most pairs of runs that two contestants have on a ground."""
        return float(np.sort(self.sizes, axis=1)[:, -2:].prod(axis=1).max(initial=0))

    @property
    def wins(self) -> FloatArray:
        """Pairs of runs that i wins against j, a tie counting one half, shape (grounds, n, n).

        ``wins[g] + wins[g].T`` is the number of pairs. This is Mann and Whitney's U, found by one
        sort for each ground.
        """
        return self._counts[0]

    @cached_property
    def probability(self) -> FloatArray:
        """P(i better than j) on each ground, shape (grounds, n, n); NaN where they did not meet."""
        with np.errstate(invalid="ignore"):
            return np.where(self.met, self.wins / self.pairs, np.nan)

    @cached_property
    def probability_variance(self) -> FloatArray:
        """Variance of :attr:`probability` by placements (DeLong et al. 1988); NaN if unknown.

        It is 0 where one wins every pair, and NaN where one of them has a single run.
        """
        n = self.sizes.astype(np.float64)
        mine, other = n[:, :, None], n[:, None, :]
        with np.errstate(invalid="ignore", divide="ignore"):
            second = self._counts[1] / mine / other**2
            spread = (second - (self.wins / self.pairs) ** 2) / (mine - 1.0)
        # With a single run, rounding would make an infinity of what is 0 / 0.
        spread = np.where(mine > 1.0, np.maximum(spread, 0.0), np.nan)
        return np.where(self.met, spread + np.swapaxes(spread, 1, 2), np.nan)

    def ease_ratio(self, smoothing: float = 1.0) -> FloatArray:
        """Return wins over losses on each ground, (grounds, n, n); NaN where they did not meet.

        Parameters
        ----------
        smoothing : float
            Added to both counts; 1 as in the GOHR server, 0 for the plain ratio, which is infinite
            where every pair is won.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = (self.wins + smoothing) / (np.swapaxes(self.wins, 1, 2) + smoothing)
        return np.where(self.met, ratio, np.nan)

    @cached_property
    def _counts(self) -> tuple[FloatArray, FloatArray]:
        """Won pairs, and the sum over a contestant's runs of the squared pairs that each wins."""
        shape = (len(self.grounds), len(self.names), len(self.names))
        wins, squares = np.zeros(shape), np.zeros(shape)
        runs = self.sorted_runs
        for g, (begin, end) in enumerate(pairwise(runs.ground_starts)):
            owner = runs.owner[begin:end]
            # Whole numbers, twice what is won: half as large as floats, and exact.
            below = np.zeros((owner.size + 1, shape[1]), np.int32)
            below[np.arange(1, owner.size + 1), owner] = 1
            np.cumsum(below, axis=0, out=below)
            tie_end = runs.tie_end[begin:end] - begin
            tie_start = np.searchsorted(tie_end, tie_end, side="left")
            present = np.flatnonzero(self.sizes[g])
            by_owner = np.argsort(owner, kind="stable")
            won = below[tie_start[by_owner]]
            won += below[tie_end[by_owner]]
            starts = _starts(self.sizes[g])[present]
            wins[g, present] = np.add.reduceat(won, starts, axis=0, dtype=np.int64) / 2.0
            squares[g, present] = np.add.reduceat(won.astype(np.float64) ** 2, starts, axis=0) / 4.0
        return wins, squares

    @cached_property
    def sorted_runs(self) -> SortedRuns:
        """All runs in the order that the kernel wants."""
        sizes = self.sizes
        n = sizes.shape[1]
        owner, tie_end, places, begin = [], [], [], 0
        for row, row_sizes in zip(self.samples, sizes, strict=True):
            values = np.concatenate(row) if n else np.empty(0)
            order = np.argsort(values, kind="stable")
            ordered = values[order]
            place = np.empty_like(order)
            place[order] = np.arange(order.size)
            owner.append(np.repeat(np.arange(n), row_sizes)[order])
            tie_end.append(begin + np.searchsorted(ordered, ordered, side="right"))
            places.append(begin + place)
            begin += values.size
        return SortedRuns(
            np.concatenate(owner).astype(np.int32),
            np.concatenate(tie_end).astype(np.int64),
            np.concatenate(places).astype(np.int64),
            _starts(sizes.ravel()),
            _starts(sizes.sum(axis=1)),
        )

    def by_ground(self) -> Iterator[Contest]:
        """Yield the contest on each ground.

        All pairs of a thousand contestants on a hundred grounds take a gigabyte for each array.
        """
        return (self.restricted([g]) for g in range(len(self.grounds)))

    def restricted(self, grounds: Sequence[int]) -> Contest:
        """Return the contest on some of the grounds, by their numbers; all contestants stay."""
        return Contest(
            self.names,
            tuple(self.grounds[g] for g in grounds),
            tuple(self.samples[g] for g in grounds),
            self.by,
        )

    def resampled(self, *, draw_grounds: bool = False, rng: np.random.Generator) -> Contest:
        """Return the contest of runs drawn with replacement, and of drawn grounds if wanted."""
        n = len(self.grounds)
        grounds = rng.integers(n, size=n) if draw_grounds else np.arange(n)
        samples = tuple(
            tuple(x[rng.integers(x.size, size=x.size)] if x.size else x for x in self.samples[g])
            for g in grounds
        )
        return Contest(self.names, tuple(self.grounds[g] for g in grounds), samples, self.by)


def ground_of(by: By) -> By:
    """Return what contestants meet on: tasks if they are algorithms, and the other way round."""
    return "task" if by == "algorithm" else "algorithm"


def contest_of(
    scores: ScoreTable | Contest, by: By = "algorithm", *, scaled: bool = False
) -> Contest:
    """Return a contest as it is, or that of a table: of curves at the last step that all reach.

    Warns
    -----
    DegenerateScoresWarning
        Runs have no score, or a contestant has none.
    """
    if isinstance(scores, Contest):
        return scores
    table = at_common_step(scores)
    missing = int(table.effective_scores()["score"].is_nan().sum())
    if missing:
        text = f"{missing} of {len(table)} runs have no score and are left out"
        warnings.warn(text, DegenerateScoresWarning, stacklevel=3)
    return Contest.from_table(table, by=by, scaled=scaled)


def _starts(sizes: IntArray) -> IntArray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
