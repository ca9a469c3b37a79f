"""What it takes to tell two contestants apart: how many further runs, or tasks."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gnomon.ranking.ranks.rank_intervals import Decision, Ranking
from gnomon.ranking.ratings.method_orders import rounded

__all__ = ["Separation", "separation"]


@dataclass(frozen=True)
class Separation:
    """What it takes to tell two contestants apart.

    Parameters
    ----------
    a, b : str
        The better one first.
    separated : bool
        Whether the data do already.
    share_above : float
        Share of resamples in which a is above b.
    unit : str
        What there must be more of: ``runs`` (of either, for each task) or ``tasks``.
    present : float
        How many there are; the harmonic mean where they differ.
    needed : float
        How many to separate them with the power asked for, if the difference of the ratings that
        decide (see :class:`gnomon.ranking.ranks.rank_intervals.Ranking`) is as it looks; infinite
        where it is 0 or the other way round, or the ratings themselves are equal; NaN where not
        estimable.
    """

    a: str
    b: str
    separated: bool
    share_above: float
    unit: str
    present: float
    needed: float

    @property
    def further(self) -> float:
        """How many more; 0 if separated."""
        return 0.0 if self.separated else max(self.needed - math.floor(self.present), 1.0)


def separation(ranking: Ranking, a: str, b: str, *, power: float = 0.8) -> Separation:
    """Say whether two contestants are separated, and how many runs it would take.

    Standard errors shrink with the square root of the number of runs, while the difference and the
    number of standard errors that separate stay. Those of few runs are longer than that, so from
    fewer runs to more it says rather too many, and of a pair that is separated, too few.

    Parameters
    ----------
    ranking : Ranking
    a, b : str
        Names in the ranking.
    power : float
        Probability of separating them with that many.
    """
    i, j = sorted((ranking.names.index(a), ranking.names.index(b)))
    needed = [_needed(decision, i, j, power) for decision in ranking.decisions]
    shown = rounded(ranking.ratings)
    equal = shown[i] == shown[j] and not np.isnan(needed).any()
    draws = ranking.noise.n_draws
    return Separation(
        ranking.names[i],
        ranking.names[j],
        bool(ranking.separated[i, j]),
        float(ranking.above[i, j]),
        "tasks" if ranking.resampling == "runs_and_tasks" else "runs",
        float(min(draws[i], draws[j])),
        math.inf if equal else float(np.max(needed)),
    )


def _needed(decision: Decision, i: int, j: int, power: float) -> float:
    """Return how many would separate two by ratings of which i's should be the higher."""
    from scipy import stats

    noise = decision.noise
    difference = float(decision.ratings[i] - decision.ratings[j])
    steps = noise.critical + float(stats.norm.ppf(power))
    present = float(min(noise.n_draws[i], noise.n_draws[j]))
    error = float(noise.difference_errors[i, j])
    if not math.isfinite(error) or math.isnan(difference):
        return math.nan
    if difference <= 0.0:
        return math.inf
    return float(math.ceil(present * (steps * error / difference) ** 2))
