"""Rank intervals: which ranks the data leave possible, by resampled runs (max-t)."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np

from gnomon.errors import DegenerateScoresWarning, ScoreDataError, listed
from gnomon.ranking.contest import By, Contest, contest_of, ground_of
from gnomon.ranking.ranks.item_ranks import ITEM_MEAN, rank_by_items
from gnomon.ranking.ranks.ranking import Decision, Ranked, Ranking
from gnomon.ranking.ranks.rating_noise import VARIES, RatingNoise, rating_noise
from gnomon.ranking.ranks.resampled_ratings import (
    Edges,
    ResampledRatings,
    resampled_ratings,
    spread_p_value,
)
from gnomon.ranking.ranks.selection import candidates_of, corrected_for_selection
from gnomon.ranking.ranks.tie_groups import group_numbers, possible_ranks, tie_groups
from gnomon.ranking.ratings.method_orders import order_of, rounded
from gnomon.ranking.ratings.methods import Method, method_named
from gnomon.ranking.tournament import (
    Tournament,
    Weights,
    not_connected,
    require_connection,
    require_meetings,
)
from gnomon.results import generator, made_by, recorded
from gnomon.scores.table import FloatArray, ScoreTable, Units
from gnomon.stats.bootstrap.resamples import draw_key
from gnomon.stats.estimates import Resampling
from gnomon.stats.items.item_units import counted_as


def rank(
    scores: ScoreTable | Contest,
    method: str | None = None,
    *,
    units: Units | None = None,
    cluster: str | None = None,
    by: By = "algorithm",
    level: float = 0.95,
    resampling: Resampling | None = None,
    n_resamples: int = 1000,
    smoothing: float = 1.0,
    weights: Weights = "equal",
    cap: float = math.inf,
    marginal: bool = False,
    best_of: str | Mapping[str, int] | None = None,
    n_threads: int = 1,
    rng: np.random.Generator | int | None = None,
) -> Ranking:
    """Rank algorithms by strength, or tasks by difficulty, and say which ranks are certain.

    Runs are drawn with replacement inside each algorithm and task, and the whole chain from won
    pairs to ratings is computed again. Two are separated if their ratings differ by more standard
    errors than the largest studentized difference at the level (max-t, stretched for few runs),
    and if the ratings as a whole spread more than those of identical ones, whose runs are
    dealt out at random. Rank intervals follow: nobody's rank is better than one plus the number
    that are separated above. Methods whose ratings come in steps (places, wins less losses, shares
    of the top) separate those whom ``hodge`` separates, if they order them the same way in all but
    half of ``1 - level`` of the resamples. Other methods must separate a pair as ``hodge`` does: of
    a pair of few runs of which one wins all, their resamples hardly vary.

    Parameters
    ----------
    scores : ScoreTable or Contest
        One score for each run; of a table with steps, each run's last one counts.
    method : str, optional
        A name in :data:`gnomon.ranking.METHODS`, ``hodge`` if none is given. Models on items of an
        evaluation are ranked by ``item_mean``, with ranks from their paired differences
        (:mod:`gnomon.ranking.ranks.item_ranks`), unless another is named.
    units, cluster : str, optional
        As in :func:`gnomon.stats.compare`, of a table.
    by : str
        ``algorithm``, or ``task`` for an order of difficulty, hardest first; scores of different
        tasks must then mean the same.
    level : float
        Confidence level.
    resampling : str, optional
        ``runs``, or ``runs_and_tasks`` for a statement about tasks not tried; by default the first,
        unless there is one run for each algorithm and task.
    n_resamples : int
        Number of resamples, at least 2.
    smoothing, weights, cap
        As in :meth:`gnomon.ranking.Tournament.of`.
    marginal : bool
        Whether rank intervals hold one by one, each for a contestant chosen beforehand, and not all
        together.
    best_of : str or mapping from str to int, optional
        Of how many candidates each algorithm is the best, 1 where it is not named, or the column
        of the table that says so: settings that were tried, attempts that were begun. Ranks are
        then corrected for the choice, by Bonferroni.
    n_threads : int
        Threads that resample; the result is the same for any number.
    rng : numpy.random.Generator or int, optional
        Source of all draws, or its seed; 0 if none is given.

    Returns
    -------
    Ranking
        A sequence of :class:`gnomon.ranking.Ranked`, best (or hardest) first.

    Raises
    ------
    ScoreDataError
        There are fewer than two contestants, no two share a task, ``best_of`` is no column of whole
        numbers or asked of marginal ranks, or a method other than ``hodge``
        is asked for contestants that no chain of common tasks connects.
    UnknownNameError
        There is no such method.
    ValueError
        The level is not between 0 and 1, or there are fewer than two resamples.

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
    >>> ranking = rank(table)
    >>> [(one.name, one.rank_low, one.rank_high) for one in ranking]
    [('dqn', 1, 2), ('tabular', 1, 2), ('uniform', 3, 3)]
    >>> ranking.groups
    (('dqn', 'tabular'), ('uniform',))
    """
    if best_of is not None:
        return _best_of_several(
            scores, method, best_of, level, rng, marginal=marginal, units=units, cluster=cluster,
            by=by, resampling=resampling, n_resamples=n_resamples, smoothing=smoothing,
            weights=weights, cap=cap, n_threads=n_threads,
        )  # fmt: skip
    if isinstance(scores, ScoreTable):
        scores = counted_as(scores, units, cluster)
        if scores.units == "items" and by == "algorithm" and method in (None, ITEM_MEAN):
            return rank_by_items(scores, level=level, marginal=marginal)
    how = method_named(method or "hodge")
    if not 0.0 < level < 1.0:
        raise ValueError(f"expected a level between 0 and 1, found {level}")
    if n_resamples < 2:
        raise ValueError(f"expected at least 2 resamples, found {n_resamples}")
    with recorded() as warned:
        contest = contest_of(scores, by)
        tournament = Tournament.of(contest, smoothing=smoothing, weights=weights, cap=cap)
        _check_components(tournament, how)
        drawn = _resampling(contest, resampling)
        edges = Edges(contest, smoothing, weights, cap, drawn == "runs_and_tasks", n_threads)
        numbers, replicates, decisions = _rated(
            edges, tournament, how, level, n_resamples, generator(rng)
        )
    settings = made_by(
        rng, method=how.name, by=contest.by, level=level, resampling=drawn, n_resamples=n_resamples,
        marginal=marginal, smoothing=smoothing, weights=weights, cap=cap,
    )  # fmt: skip
    found = _assembled(tournament, numbers, replicates, decisions, how, settings)
    return replace(found, warnings=tuple(warned))


def _best_of_several(
    scores: ScoreTable | Contest,
    method: str | None,
    best_of: str | Mapping[str, int],
    level: float,
    rng: np.random.Generator | int | None,
    **options: Any,
) -> Ranking:
    """Rank at the level, and with the same draws at those of the correction."""
    if options["marginal"]:
        raise ScoreDataError("expected ranks that hold together with best_of, found marginal ones")
    if isinstance(best_of, str):
        if not isinstance(scores, ScoreTable):
            raise ValueError(f"expected a table with a column {best_of!r}, found a contest")
        best_of = candidates_of(scores, best_of)
    draws = generator(rng)

    def again(level: float) -> Ranking:
        return rank(scores, method, level=level, rng=deepcopy(draws), **options)

    return corrected_for_selection(again(level), best_of, again)


def _check_components(tournament: Tournament, method: Method) -> None:
    """Refuse to order those who never met, and say who they are."""
    if method.name != "hodge":
        require_connection(tournament, method.name)
    require_meetings(tournament)
    if len(tournament.components) > 1:
        _warn(not_connected(tournament))


def _resampling(contest: Contest, wanted: Resampling | None) -> Resampling:
    if wanted is not None:
        return wanted
    if contest.sizes.max() > 1 or len(contest.grounds) < 2:
        return "runs"
    ground = ground_of(contest.by)
    _warn(
        f"one run for each algorithm and task: {ground}s are drawn instead of runs, so intervals "
        f"are about {ground}s like these"
    )
    return "runs_and_tasks"


def _rated(
    edges: Edges,
    tournament: Tournament,
    how: Method,
    level: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, ResampledRatings, list[Decision]]:
    """Return ratings with the ends of their intervals, their resamples, and what separates."""
    contest = edges.contest
    ratings = how.rate(tournament, contest)
    # One who met nobody has no rating.
    ratings = np.where(tournament.weights.any(axis=1), ratings, np.nan)
    replicates = resampled_ratings(edges, tournament, how, n_resamples, rng=rng)
    p_value = spread_p_value(edges, tournament, level=level, key=draw_key(rng))
    beyond_chance = p_value <= 1.0 - level
    noise = rating_noise(edges, tournament, replicates, level, how.name == "hodge", beyond_chance)
    _warn_of_degenerate(contest, tournament, noise)
    low, high = np.clip(noise.rating_interval(ratings), *how.bounds(len(ratings)))
    decisions = [] if how.steps else [Decision(ratings, noise)]
    if how.name != "hodge":
        steady = method_named("hodge")
        drawn = resampled_ratings(edges, tournament, steady, n_resamples, rng=rng)
        sure = rating_noise(edges, tournament, drawn, level, True, beyond_chance)
        decisions.append(Decision(steady.rate(tournament, contest), sure))
    return np.array([ratings, low, high]), replicates, decisions


def _assembled(
    tournament: Tournament,
    numbers: FloatArray,
    replicates: ResampledRatings,
    decisions: Sequence[Decision],
    how: Method,
    settings: Mapping[str, Any],
) -> Ranking:
    """Bring everything into the order of the ratings, one component after the other.

    `numbers` are the ratings and the ends of their intervals.
    """
    overall = order_of(np.nan_to_num(numbers[0]))
    order = [i for part in tournament.components for i in overall if i in part]
    names = tuple(tournament.names[i] for i in order)
    decided = tuple(decision.reordered(order) for decision in decisions)
    above = _share_above(replicates)[np.ix_(order, order)]
    rated = rounded(numbers[0, order])
    lead = rated[:, None] - rated
    steady = np.full(lead.shape, True)
    if how.steps:
        steady = np.where(lead > 0.0, above, above.T) >= (1.0 + settings["level"]) / 2.0
    together = steady & np.all([d.separates(lead) for d in decided], axis=0)
    alone = steady & np.all([d.separates(lead, marginal=True) for d in decided], axis=0)
    parts = tuple(
        tuple(tournament.names[i] for i in overall if i in p) for p in tournament.components
    )
    groups = tuple(g for part in parts for g in tie_groups(part, names, together))
    best, worst = possible_ranks(alone if settings["marginal"] else together, lead)
    records = tuple(
        Ranked(
            name,
            how.name,
            float(numbers[0, i]),
            float(numbers[1, i]),
            float(numbers[2, i]),
            int(best[k]),
            int(worst[k]),
            group_numbers(groups, name),
        )
        for k, (i, name) in enumerate(zip(order, names, strict=True))
    )
    return Ranking(
        records,
        settings,
        groups=groups,
        above=above,
        separated=together,
        decisions=decided,
        components=parts,
    )


def _share_above(replicates: ResampledRatings) -> FloatArray:
    """Return how often i is rated above j, a tie counting one half, shape (n, n).

    Of the resamples that connect them, if the data do; NaN where none does.
    """
    shares = []
    for i in range(replicates.ratings.shape[1]):
        lead = replicates.leads(i)
        above = np.count_nonzero(lead > VARIES, axis=0) + np.count_nonzero(lead >= -VARIES, axis=0)
        with np.errstate(invalid="ignore"):
            shares.append(above / (2.0 * np.count_nonzero(~np.isnan(lead), axis=0)))
    return np.array(shares)


def _warn_of_degenerate(contest: Contest, tournament: Tournament, noise: RatingNoise) -> None:
    """Say what cannot be told, and why."""
    if not tournament.log_odds.any() and not noise.varies:
        never = all(np.isinf(x).all() for row in contest.samples for x in row)
        why = "every run is censored" if never else "all scores on a task are equal"
        _warn(f"nothing can be told apart: {why}")
        return
    few = [name for name, known in zip(contest.names, noise.too_few, strict=True) if known]
    if few:
        _warn(f"not estimable from so few runs: how certain the ratings of {listed(few, 6)} are")
    if noise.torn.any():
        i, j = np.argwhere(noise.torn)[0]
        n = int(np.count_nonzero(np.triu(noise.torn)))
        _warn(
            f"not estimable: how certain the order of {contest.names[i]} and {contest.names[j]} is "
            f"({n} such pairs), whom too few common {ground_of(contest.by)}s connect"
        )


def _warn(text: str) -> None:
    warnings.warn(text, DegenerateScoresWarning, stacklevel=2)
