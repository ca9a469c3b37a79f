"""Rank distributions: how often one run of each contestant comes first, second, and so on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError
from gnomon.ranking.contest import By, Contest, contest_of, ground_of
from gnomon.results import Results, Row, made_by
from gnomon.scores.table import FloatArray, ScoreTable


@dataclass(frozen=True)
class RankShares:
    """How often a run of one contestant has each rank.

    Parameters
    ----------
    name : str
    mean_rank : float
        Between 1 and the number of contestants.
    shares : tuple of float
        Of rank 1, 2, and so on; they add up to 1.

    Examples
    --------
    >>> RankShares("dqn", 1.25, (0.75, 0.25)).as_record()["shares"]
    [0.75, 0.25]
    """

    name: str
    mean_rank: float
    shares: tuple[float, ...]

    def as_record(self) -> dict[str, Any]:
        """Return the fields as a mapping fit for JSON."""
        return {"name": self.name, "mean_rank": self.mean_rank, "shares": list(self.shares)}


@dataclass(frozen=True, eq=False, repr=False)
class RankDistribution(Results[RankShares]):
    """The rank distribution of every contestant, the best mean rank first.

    Examples
    --------
    >>> import gnomon as gn
    >>> scores = gn.ScoreTable.from_arrays({"a": [[1], [2], [4]], "b": [[2], [3], [5]]})
    >>> [one.name for one in rank_distribution(scores)]
    ['b', 'a']
    """

    drawn_by: ClassVar[str | None] = "gnomon.plot.ranks:draw_rank_distribution"

    @property
    def title(self) -> str:
        """What is counted."""
        by = self.settings["by"]
        return f"ranks of one run of each {by}, on {self.settings['n_grounds']} {ground_of(by)}s"

    def rows(self) -> Sequence[Row]:
        """Return the mean rank, and the shares of the ends of the order."""
        return [
            {
                self.settings["by"]: one.name,
                "mean rank": one.mean_rank,
                "first": one.shares[0],
                "top 3": sum(one.shares[:3]),
                "last": one.shares[-1],
            }
            for one in self
        ]


def rank_distribution(scores: ScoreTable | Contest, *, by: By = "algorithm") -> RankDistribution:
    """Compute how often one run of each algorithm has each rank, averaged over tasks.

    One run of every algorithm is drawn on a task, and they are ranked; ties are broken at random.
    The probability of each rank is exact (Poisson's binomial distribution of the number of those
    that are better), where rliable draws 100,000 times. Unlike rank intervals it says nothing of
    what is unknown: more runs do not make it narrower.

    Parameters
    ----------
    scores : ScoreTable or Contest
        One score for each run. Only tasks that all algorithms have count.
    by : str
        ``algorithm``, or ``task``: one run of an algorithm on each task, the hardest first.

    Returns
    -------
    RankDistribution
        Best (or hardest) mean rank first.

    Raises
    ------
    ScoreDataError
        No task has runs of all.

    References
    ----------
    Agarwal et al. (2021), Deep reinforcement learning at the edge of the statistical precipice.

    Examples
    --------
    >>> import gnomon as gn
    >>> table = gn.ScoreTable.from_arrays({"a": [[1], [2]], "b": [[0], [2]], "c": [[0], [0]]})
    >>> for one in rank_distribution(table):
    ...     print(one.name, one.mean_rank, [round(x, 4) for x in one.shares])
    a 1.375 [0.625, 0.375, 0.0]
    b 1.875 [0.375, 0.375, 0.25]
    c 2.75 [0.0, 0.25, 0.75]
    """
    contest = contest_of(scores, by)
    grounds = [row for row in contest.samples if all(x.size for x in row)]
    if not grounds:
        where = ground_of(contest.by)
        raise ScoreDataError(f"rank distribution: expected a {where} that all have, found none")
    shares = np.mean([_shares(row) for row in grounds], axis=0)
    means = shares @ np.arange(1.0, len(shares) + 1.0)
    records = tuple(
        RankShares(contest.names[i], float(means[i]), tuple(shares[i].tolist()))
        for i in np.argsort(means, kind="stable")
    )
    settings = made_by(None, by=contest.by, n_grounds=len(grounds))
    return RankDistribution(records, settings)


def _shares(samples: Sequence[FloatArray]) -> FloatArray:
    """Return the probability of each rank on one ground, shape (contestants, ranks)."""
    # A contestant breaks all ties at one level between 0 and 1, so the probability of a rank is a
    # polynomial in it, which the nodes integrate exactly.
    n = len(samples)
    ordered = [np.sort(x) for x in samples]
    nodes, weights = np.polynomial.legendre.leggauss(math.ceil(n / 2))
    return np.array(
        [
            _of_one(mine, ordered[:i] + ordered[i + 1 :], (nodes + 1.0) / 2.0, weights / 2.0)
            for i, mine in enumerate(ordered)
        ]
    )


_SIDES: tuple[Literal["right"], Literal["left"]] = ("right", "left")


def _of_one(
    mine: FloatArray, others: Sequence[FloatArray], levels: FloatArray, weights: FloatArray
) -> FloatArray:
    """Return the probability of each rank of one against others, over its runs and tie levels."""
    sizes = np.array([[x.size] for x in others])
    at_most, less = (np.array([np.searchsorted(x, mine, s) for x in others]) for s in _SIDES)
    above, tied = 1.0 - at_most / sizes, (at_most - less) / sizes
    if not tied.any():
        levels, weights = np.array([0.5]), np.array([1.0])
    better: npt.NDArray[np.float64] = np.zeros((len(others) + 1, mine.size, levels.size))
    better[0] = 1.0
    for a, t in zip(above, tied, strict=True):
        p = a[:, None] + t[:, None] * levels
        better[1:] = better[1:] * (1.0 - p) + better[:-1] * p
        better[0] *= 1.0 - p
    return np.asarray((better @ weights).mean(axis=1))
