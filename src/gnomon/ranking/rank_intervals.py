"""Ranks and what the data can say about them: intervals, tie groups, and runs that are missing."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.ranking.methods import Method, method_named, order_of
from gnomon.ranking.pairwise import By, Contest
from gnomon.ranking.rating_noise import RatingNoise, rating_noise
from gnomon.ranking.resampled_ratings import resampled_ratings, spread_p_value
from gnomon.ranking.tournament import Edges, Tournament, Weights
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.bootstrap import draw_key
from gnomon.stats.estimate import Resampling, finite_or_none

__all__ = ["Ranking", "Separation", "rank", "separation", "tie_groups"]


@dataclass(frozen=True, eq=False)
class Ranking:
    """Contestants in order, with what is uncertain about their ratings and ranks.

    Everything is in the order of `names`, best (or hardest) first. Contestants of different
    components stand one component after the other, the largest first; that says nothing.

    Parameters
    ----------
    names : tuple of str
    ratings, low, high : ndarray of float, shape (n,)
        Ratings with their intervals; NaN where not estimable.
    rank_low, rank_high : ndarray of int, shape (n,)
        Ranks from best to worst possible; simultaneous: all of them hold together.
    marginal_rank_low, marginal_rank_high : ndarray of int, shape (n,)
        The same for one contestant chosen beforehand.
    groups : tuple of tuples of str
        Tie groups: the longest stretches of the order of which no pair is separated. They overlap.
    above : ndarray of float, shape (n, n)
        Share of resamples in which i is rated above j.
    separated : ndarray of bool, shape (n, n)
        Which pairs the data separate, all decisions together at the level.
    noise : RatingNoise
        Standard errors of all differences, and how many of them separate.
    method, by, resampling : str
    level : float
    n_resamples : int
    components : tuple of tuples of str
        Who can be ordered against whom.
    """

    names: tuple[str, ...]
    ratings: FloatArray
    low: FloatArray
    high: FloatArray
    rank_low: npt.NDArray[np.int64]
    rank_high: npt.NDArray[np.int64]
    marginal_rank_low: npt.NDArray[np.int64]
    marginal_rank_high: npt.NDArray[np.int64]
    groups: tuple[tuple[str, ...], ...]
    above: FloatArray
    separated: npt.NDArray[np.bool_]
    noise: RatingNoise
    method: str
    by: By
    resampling: Resampling
    level: float
    n_resamples: int
    components: tuple[tuple[str, ...], ...]

    def as_records(self, *, marginal: bool = False) -> list[dict[str, Any]]:
        """Return a mapping for each contestant, fit for JSON; groups by their numbers from 1."""
        low = self.marginal_rank_low if marginal else self.rank_low
        high = self.marginal_rank_high if marginal else self.rank_high
        return [
            {
                "name": name,
                "method": self.method,
                "rating": finite_or_none(float(self.ratings[i])),
                "low": finite_or_none(float(self.low[i])),
                "high": finite_or_none(float(self.high[i])),
                "rank_low": int(low[i]),
                "rank_high": int(high[i]),
                "groups": [g for g, group in enumerate(self.groups, 1) if name in group],
            }
            for i, name in enumerate(self.names)
        ]


def rank(
    scores: ScoreTable | Contest,
    method: str = "hodge",
    *,
    by: By = "algorithm",
    level: float = 0.95,
    resampling: Resampling | None = None,
    n_resamples: int = 1000,
    smoothing: float = 1.0,
    weights: Weights = "equal",
    cap: float = math.inf,
    rng: np.random.Generator,
) -> Ranking:
    """Rank algorithms by strength, or tasks by difficulty, and say which ranks are certain.

    Runs are drawn with replacement inside each algorithm and task, and the whole chain from won
    pairs to ratings is computed again. Two are separated if their ratings differ by more standard
    errors than the largest studentized difference at the level (max-t, stretched for few runs),
    and if the ratings as a whole spread more than those of identical ones, whose runs are
    dealt out at random. Rank intervals follow: nobody's rank is better than one plus the number
    that are separated above.

    Parameters
    ----------
    scores : ScoreTable or Contest
        One score for each run.
    method : str
        A name in :data:`gnomon.ranking.methods.METHODS`.
    by : str
        ``algorithm``, or ``task`` for an order of difficulty, hardest first; scores of different
        tasks must then mean the same.
    level : float
        Confidence level.
    resampling : str, optional
        ``runs``, or ``runs_and_tasks`` for a statement about tasks not tried; by default the first,
        unless there is one run for each algorithm and task.
    n_resamples : int
        Number of resamples.
    smoothing, weights, cap
        As in :meth:`gnomon.ranking.tournament.Tournament.of`.
    rng : numpy.random.Generator
        Source of all draws.

    Returns
    -------
    Ranking

    Raises
    ------
    ScoreDataError
        There are fewer than two contestants, no two share a task, or a method other than ``hodge``
        is asked for contestants that no chain of common tasks connects.
    UnknownNameError
        There is no such method.

    Warns
    -----
    DegenerateScoresWarning
        Nothing can be told apart (all runs tie, or never got there), someone has single runs only,
        or some cannot be ordered against others.

    References
    ----------
    Rank intervals: Mogstad, Romano, Shaikh and Wilhelm (2024), Review of Economic Studies 91.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> errors = {name: rng.poisson(mean, (30, 4)) for name, mean in
    ...           {"dqn": 40, "tabular": 42, "uniform": 90}.items()}
    >>> table = ScoreTable.from_arrays(errors, higher_is_better=False)
    >>> ranking = rank(table, rng=rng)
    >>> ranking.names, ranking.rank_low.tolist(), ranking.rank_high.tolist()
    (('dqn', 'tabular', 'uniform'), [1, 1, 3], [2, 2, 3])
    >>> ranking.groups
    (('dqn', 'tabular'), ('uniform',))
    """
    how = method_named(method)
    if not 0.0 < level < 1.0:
        raise ValueError(f"expected a level between 0 and 1, found {level}")
    contest = scores if isinstance(scores, Contest) else Contest.from_table(scores, by=by)
    tournament = Tournament.of(contest, smoothing=smoothing, weights=weights, cap=cap)
    _check_components(tournament, how)
    resampling = _resampling(contest, resampling)
    edges = Edges(contest, smoothing, weights, cap, resampling == "runs_and_tasks")
    ratings = how.rate(tournament, contest)
    # One who met nobody has no rating.
    ratings = np.where(tournament.weights.any(axis=1), ratings, np.nan)
    replicates = resampled_ratings(edges, tournament, how, n_resamples, rng=rng)
    beyond_chance = spread_p_value(edges, tournament, key=draw_key(rng)) <= 1.0 - level
    noise = rating_noise(edges, tournament, replicates, level, how.name == "hodge", beyond_chance)
    _warn_of_degenerate(contest, tournament, noise)
    return _assembled(
        contest,
        tournament,
        ratings,
        replicates,
        noise,
        method=method,
        by=contest.by,
        resampling=resampling,
        level=level,
        n_resamples=n_resamples,
    )


def _check_components(tournament: Tournament, method: Method) -> None:
    """Refuse to order those who never met, and say who they are."""
    parts = [[tournament.names[i] for i in part] for part in tournament.components]
    ground = "task" if tournament.by == "algorithm" else "algorithm"
    if tournament.n_edges == 0:
        raise ScoreDataError(
            f"expected two {tournament.by}s with scores on a common {ground}; found none, "
            "so there is nothing to order them by"
        )
    if len(parts) == 1:
        return
    shown = "; ".join(", ".join(part[:6]) + (", ..." if len(part) > 6 else "") for part in parts)
    if method.name != "hodge":
        raise ScoreDataError(
            f"{method.name}: expected {tournament.by}s that common {ground}s connect, found "
            f"{len(parts)} groups without one between them ({shown}); hodge rates each by itself"
        )
    _warn(
        f"{len(parts)} groups share no {ground} and cannot be ordered against each other: {shown}"
    )


def _resampling(contest: Contest, wanted: Resampling | None) -> Resampling:
    if wanted is not None:
        return wanted
    if contest.sizes.max() > 1 or len(contest.grounds) < 2:
        return "runs"
    ground = "task" if contest.by == "algorithm" else "algorithm"
    _warn(
        f"one run for each algorithm and task: {ground}s are drawn instead of runs, so intervals "
        f"are about {ground}s like these"
    )
    return "runs_and_tasks"


def _assembled(
    contest: Contest,
    tournament: Tournament,
    ratings: FloatArray,
    replicates: FloatArray,
    noise: RatingNoise,
    **about: Any,
) -> Ranking:
    """Bring everything into the order of the ratings, one component after the other."""
    overall = order_of(np.nan_to_num(ratings))
    order = [i for part in tournament.components for i in overall if i in part]
    names = tuple(contest.names[i] for i in order)
    lead = ratings[order][:, None] - ratings[order][None, :]
    noise = noise.reordered(order)
    separated = noise.separates(lead)
    alone = noise.separates(lead, marginal=True)
    low, high = noise.rating_interval(ratings[order])
    parts = tuple(tuple(contest.names[i] for i in overall if i in p) for p in tournament.components)
    return Ranking(
        names,
        ratings[order],
        low,
        high,
        *_rank_interval(separated, lead),
        *_rank_interval(alone, lead),
        tuple(g for part in parts for g in tie_groups(part, names, separated)),
        _share_above(replicates[:, order]),
        separated,
        noise,
        components=parts,
        **about,
    )


def _rank_interval(
    separated: npt.NDArray[np.bool_], lead: FloatArray
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the best and the worst rank that the separated pairs leave possible."""
    better = np.count_nonzero(separated & (lead < 0.0), axis=1)
    worse = np.count_nonzero(separated & (lead > 0.0), axis=1)
    return 1 + better, len(lead) - worse


def _share_above(replicates: FloatArray) -> FloatArray:
    """Return how often i is rated above j, a tie counting one half, shape (n, n)."""
    shares = []
    for column in replicates.T:
        lead = column[:, None] - replicates
        shares.append((np.mean(lead > 1e-12, axis=0) + np.mean(lead >= -1e-12, axis=0)) / 2.0)
    return np.array(shares)


def tie_groups(
    order: Sequence[str], names: Sequence[str], separated: npt.NDArray[np.bool_]
) -> tuple[tuple[str, ...], ...]:
    """Return the longest stretches of an order in which no pair is separated; they may overlap.

    Parameters
    ----------
    order : sequence of str
    names : sequence of str
        Of the rows and columns of `separated`.
    separated : ndarray of bool, shape (n, n)

    Examples
    --------
    >>> apart = np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], dtype=bool)
    >>> tie_groups("abc", "abc", apart)
    (('a', 'b'), ('b', 'c'))
    """
    place = {name: i for i, name in enumerate(names)}
    at = [place[name] for name in order]
    groups: list[tuple[str, ...]] = []
    reached = 0
    for begin in range(len(at)):
        end = begin + 1
        while end < len(at) and not separated[at[end], at[begin:end]].any():
            end += 1
        if end > reached:
            groups.append(tuple(order[begin:end]))
            reached = end
    return tuple(groups)


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
        How many to separate them with the power asked for, if the difference is as it looks;
        infinite where it is 0, NaN where not estimable.
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
    number of standard errors that separate stay.

    Parameters
    ----------
    ranking : Ranking
    a, b : str
        Names in the ranking.
    power : float
        Probability of separating them with that many.
    """
    from scipy import stats

    i, j = sorted((ranking.names.index(a), ranking.names.index(b)))
    noise = ranking.noise
    difference = float(ranking.ratings[i] - ranking.ratings[j])
    steps = noise.critical + float(stats.norm.ppf(power))
    present = float(min(noise.n_draws[i], noise.n_draws[j]))
    error = float(noise.difference_errors[i, j])
    if not math.isfinite(error) or math.isnan(difference):
        needed = math.nan
    elif difference == 0.0:
        needed = math.inf
    else:
        needed = float(math.ceil(present * (steps * error / difference) ** 2))
    return Separation(
        ranking.names[i],
        ranking.names[j],
        bool(ranking.separated[i, j]),
        float(ranking.above[i, j]),
        "tasks" if ranking.resampling == "runs_and_tasks" else "runs",
        present,
        needed,
    )


def _warn_of_degenerate(contest: Contest, tournament: Tournament, noise: RatingNoise) -> None:
    """Say what cannot be told, and why."""
    if not tournament.log_odds.any() and not noise.varies:
        never = all(np.isinf(x).all() for row in contest.samples for x in row)
        why = "every run is censored" if never else "all scores on a task are equal"
        _warn(f"nothing can be told apart: {why}")
        return
    few = [name for name, known in zip(contest.names, noise.too_few, strict=True) if known]
    if few:
        shown = ", ".join(few[:6]) + (", ..." if len(few) > 6 else "")
        _warn(f"not estimable from so few runs: how certain the ratings of {shown} are")


def _warn(text: str) -> None:
    warnings.warn(text, DegenerateScoresWarning, stacklevel=2)
