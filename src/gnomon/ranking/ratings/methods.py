"""The table of rating methods: what each computes, whose it is, and when to use it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from gnomon.errors import DegenerateScoresWarning, UnknownNameError
from gnomon.ranking.contest import Contest
from gnomon.ranking.kemeny.kemeny_order import MOST, kemeny_order, tied_stretches
from gnomon.ranking.ratings.game_theory import alpha_rank, nash_averaging
from gnomon.ranking.ratings.hodge import hodge_ratings
from gnomon.ranking.ratings.pooled import (
    borda,
    bradley_terry,
    copeland,
    difficulty,
    elo,
    elo_games,
    mean_rank,
    perron_vector,
)
from gnomon.ranking.tournament import Tournament
from gnomon.scores.table import FloatArray

#: After this Kemeny's order is the best one found, and a warning says how far it may be from the
#: best. Margins of runs on common tasks need a second or two, forty without anything in common
#: some minutes.
KEMENY_SECONDS = 600


@dataclass(frozen=True)
class Method:
    """A rating method: its function, formula, source and use.

    Parameters
    ----------
    name : str
    rate : callable
        From the tournament graph and its contest to ratings, the higher the better.
    formula, source : str
        What it computes, and whose it is.
    use, avoid : str
        When to use it and when not.
    pooled : bool
        Whether it looks at the tournament graph alone.
    steps : bool
        Whether ratings come in steps or pile up at the top. Resamples of such ratings say little of
        how certain they are, so which pairs are separated is decided by ``hodge``.
    errors : callable, optional
        Standard errors of the ratings, where the method has some of its own.
    bounds : callable
        From the number of contestants to the least and the greatest rating that there can be;
        intervals keep to them.

    Examples
    --------
    >>> METHODS["borda"].name, METHODS["borda"].pooled
    ('borda', True)
    """

    name: str
    rate: Callable[[Tournament, Contest], FloatArray]
    formula: str
    source: str
    use: str
    avoid: str
    pooled: bool = True
    steps: bool = False
    errors: Callable[[Tournament, Contest], FloatArray] | None = None
    bounds: Callable[[int], tuple[float, float]] = lambda _: (-math.inf, math.inf)


def _hodge(tournament: Tournament, _: Contest) -> FloatArray:
    return hodge_ratings(tournament.log_odds, tournament.weights)


def _gohr(tournament: Tournament, _: Contest) -> FloatArray:
    """Rate as the server does: algorithms by their entry, rules by their difficulty."""
    met = (tournament.weights > 0.0) | np.eye(len(tournament.names), dtype=bool)
    sign = 1.0 if tournament.by == "algorithm" else -1.0
    vector = perron_vector(np.where(met, np.exp(sign * tournament.log_odds), np.nan))
    return vector if tournament.by == "algorithm" else difficulty(vector)


def _bradley_terry(tournament: Tournament, _: Contest) -> FloatArray:
    return bradley_terry(tournament.weights * np.nan_to_num(tournament.probability)).ratings


def _bradley_terry_errors(tournament: Tournament, _: Contest) -> FloatArray:
    fit = bradley_terry(tournament.weights * np.nan_to_num(tournament.probability))
    return fit.standard_errors


def _kemeny(tournament: Tournament, _: Contest) -> FloatArray:
    margins = tournament.weights * (np.nan_to_num(tournament.probability, nan=0.5) - 0.5)
    found = kemeny_order(margins, time_limit_s=KEMENY_SECONDS)
    if not found.proven:
        text = (
            f"kemeny: not proven within {KEMENY_SECONDS} s; its order disagrees by "
            f"{found.disagreement:.4g}, and none by less than {found.at_least:.4g}"
        )
        warnings.warn(text, DegenerateScoresWarning, stacklevel=2)
    ratings = np.empty(len(margins))
    for group in tied_stretches(found.order, margins):
        ratings[group] = len(margins) - found.order.index(group[0])
    # Of two that are alike either can move to the other at no cost, wherever the order has them.
    alike = np.unique(np.round(margins, 9), axis=0, return_inverse=True)[1].ravel()
    best = np.zeros(len(margins))
    np.maximum.at(best, alike, ratings)
    return best[alike]


def _table(*methods: Method) -> Mapping[str, Method]:
    return MappingProxyType({method.name: method for method in methods})


METHODS: Mapping[str, Method] = _table(
    Method(
        "hodge",
        _hodge,
        "r minimises sum w (f_ij - (r_i - r_j))^2, f = log smoothed ease ratio",
        "Jiang et al. 2011; Strang, Abbott and Thomas 2022",
        "by default: linear, always finite, corrects for different subsets of tasks",
        "where log-odds are all at their bound (every pair of runs won)",
    ),
    Method(
        "gohr-ev",
        _gohr,
        "Perron vector of the ease ratios; tasks: difficulty = min v / v",
        "GOHR server; Saaty 1977",
        "to compare with the ranking of the GOHR site",
        "where some win nearly all: extreme ratios rule the vector",
        bounds=lambda _: (0.0, 1.0),
    ),
    Method(
        "bradley-terry",
        _bradley_terry,
        "P(i beats j) = 1 / (1 + exp(b_j - b_i)), likelihood with ridge 0.01, a task is one game",
        "Bradley and Terry 1952",
        "for a probability model of wins",
        "where contestants are strong on different tasks: it has no cycles",
        errors=_bradley_terry_errors,
    ),
    Method(
        "elo",
        lambda _, contest: elo(elo_games(contest), len(contest.names)),
        "b += 16 (score - expected), one game for each pair and task, in the table's order",
        "Elo 1978",
        "for streams of games",
        "for tables: the order of rows moves it",
        pooled=False,
    ),
    Method(
        "borda",
        lambda tournament, _: borda(tournament.probability),
        "mean over the others of P(i better than j)",
        "Borda 1781; probability of improvement, Agarwal et al. 2021",
        "where all share all tasks and a mean win rate is the question",
        "with near copies in the pool: they shift all others",
        bounds=lambda _: (0.0, 1.0),
    ),
    Method(
        "mean-rank",
        lambda _, contest: -mean_rank(contest),
        "minus the mean over tasks of the rank among those present",
        "Friedman 1937; Demsar 2006",
        "beside a critical-difference diagram",
        "where subsets of tasks differ, or the pool of competitors changes",
        pooled=False,
        bounds=lambda n: (-n, -1),
    ),
    Method(
        "copeland",
        lambda tournament, _: copeland(tournament.probability),
        "number beaten less number lost to, P(i better than j) against 1/2",
        "Copeland 1951",
        "where only the direction of each comparison is trusted",
        "for fine differences: many ties, and close pairs count in full",
        steps=True,
        bounds=lambda n: (1 - n, n - 1),
    ),
    Method(
        "kemeny",
        _kemeny,
        "order with the least weight of reversed pairs, weight w |P - 1/2|; exact",
        "Kemeny 1959; HiGHS",
        f"for one order that contradicts the fewest comparisons, up to {MOST}",
        "for distances: it gives places, no ratings",
        steps=True,
        bounds=lambda n: (1, n),
    ),
    Method(
        "nash",
        lambda tournament, _: nash_averaging(tournament.log_odds)[0],
        "f p*, p* the maximum-entropy equilibrium of the game with payoffs f",
        "Balduzzi et al. 2018",
        "where copies of a contestant must change nothing, or winners run in cycles",
        "for an order of the top: all in it are equal; where pairs never met: they count as even",
        steps=True,
        bounds=lambda _: (-math.inf, 0.0),
    ),
    Method(
        "alpha-rank",
        lambda tournament, _: alpha_rank(tournament.probability).ratings,
        "stationary distribution of a population of 50 that copies winners, alpha large",
        "Omidshafiei et al. 2019",
        "to find which contestants last where wins run in cycles",
        "for an order of the rest: shares all but 0; where pairs never met: they count as even",
        steps=True,
        bounds=lambda _: (0.0, 1.0),
    ),
)


def method_named(name: str) -> Method:
    """Return the method of that name.

    Raises
    ------
    UnknownNameError
        There is none.

    Examples
    --------
    >>> method_named("kemeny").name
    'kemeny'
    """
    if name not in METHODS:
        raise UnknownNameError("ranking method", name, METHODS)
    return METHODS[name]
