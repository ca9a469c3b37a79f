"""Votes between two models at a time, by the Bradley-Terry model.

A model of rating b_i beats one of rating b_j with probability 1 / (1 + exp(b_j - b_i)); a tie is
half a win for each. Ratings of maximum likelihood are finite only among models that are connected
by chains of wins in both directions (Ford 1957). Their standard errors are from a sandwich
estimator, which is valid although ties vary less than wins and although voters may favour a model:
votes, or the voters that are given as clusters, are the sample.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from gnomon.errors import check_word, counted, either, listed, note
from gnomon.results import recorded
from gnomon.scores.columns import IntArray
from gnomon.scores.table import FloatArray, ScoreTable, clusters_of_items
from gnomon.stats.comparison import Comparison, corrected
from gnomon.stats.estimates import Estimate
from gnomon.stats.intervals import Student
from gnomon.stats.item_results import POWER, ItemComparisons, ItemEstimates
from gnomon.stats.items import item_settings
from gnomon.stats.metrics import Metrics, metric_list

METRIC = "bradley-terry"
#: Points for each unit of log odds: a lead of 400 points wins with odds of 10 to 1 (Elo 1978).
POINTS = 400.0 / math.log(10.0)
#: Mean rating of the models that are rated together, as arenas print it.
MEAN_RATING = 1000.0
#: The leverage of a vote is at most 1; a vote that alone decides a rating has no residual.
MOST_LEVERAGE = 0.999


def bradley_terry(wins: FloatArray) -> FloatArray:
    """Return ratings of maximum likelihood, with sum 0, by Newton's method.

    `wins`, (n, n), has how often i beat j, halves for ties. Chains of wins lead from each player to
    each, so that the maximum is finite (Ford 1957).
    """
    n = len(wins)
    games, centre = wins + wins.T, np.full((n, n), 1.0 / n)
    b = np.zeros(n)
    for _ in range(100):
        p = 1.0 / (1.0 + np.exp(b[None, :] - b[:, None]))
        slope = (wins - games * p).sum(axis=1)
        weight = games * p * (1.0 - p)
        information = np.diag(weight.sum(axis=1)) - weight
        step = np.linalg.solve(information + centre, slope)
        # A step longer than 2 would leave the region where the quadratic is near.
        b += step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-300))
        if np.abs(step).max() < 1e-12:
            break
    return np.asarray(b - b.mean())


def _chained(wins: FloatArray) -> IntArray:
    """Return the group of each player, from 0: chains of wins lead from each to each in it."""
    from scipy.sparse import csgraph

    return np.asarray(csgraph.connected_components(wins > 0.0, connection="strong")[1])


@dataclass(frozen=True, eq=False)
class Votes:
    """Votes between `names`: in each, `share` is that of the model `first` against `second`.

    `voter` numbers the clusters of votes from 0, or is None where votes are independent.
    """

    names: tuple[str, ...]
    first: IntArray
    second: IntArray
    share: FloatArray
    voter: IntArray | None = None

    @classmethod
    def of(cls, scores: ScoreTable) -> Votes | None:
        """Return the votes of a table of items, or None if its items are not votes.

        An item is a vote if it has one score of each of two models that add up to 1, higher is
        better, and the column ``opponent`` of each row names the other.
        """
        rows = scores.rows
        if "opponent" not in rows or not scores.higher_is_better or not len(rows) or len(rows) % 2:
            return None
        order = np.argsort(rows["task"].codes, kind="stable")
        ours, theirs = order[::2], order[1::2]
        item, score = rows["task"].codes, rows["score"]
        places = {name: at for at, name in enumerate(scores.algorithms)}
        model, opponent = (
            np.array([places.get(name, -1) for name in texts.names])[texts.codes]
            for texts in (rows["algorithm"], rows.texts("opponent"))
        )
        are_votes = (
            np.array_equal(item[ours], item[theirs])
            and len(np.unique(item)) == len(ours)
            and np.array_equal(opponent[ours], model[theirs])
            and np.array_equal(opponent[theirs], model[ours])
            and bool(np.all(np.abs(score[ours] + score[theirs] - 1.0) < 1e-9))
        )
        if not are_votes:
            return None
        voter = None
        if scores.cluster is not None:
            cluster = clusters_of_items(rows, scores.cluster)[1][item[ours]]
            voter = np.unique(cluster, return_inverse=True)[1]
        return cls(scores.algorithms, model[ours], model[theirs], score[ours], voter)

    @cached_property
    def wins(self) -> FloatArray:
        """How often each model beat each other one, shape (models, models)."""
        won = np.zeros((len(self.names),) * 2)
        np.add.at(won, (self.first, self.second), self.share)
        np.add.at(won, (self.second, self.first), 1.0 - self.share)
        return won

    @cached_property
    def groups(self) -> list[IntArray]:
        """Groups of models in which chains of wins lead from each to each."""
        group = _chained(self.wins)
        return [np.flatnonzero(group == number) for number in range(group.max() + 1)]

    @cached_property
    def rated(self) -> IntArray:
        """The models that are rated: the largest group; of equal ones, that with the most votes."""
        votes = (self.wins + self.wins.T).sum(axis=1)
        return max(self.groups, key=lambda models: (len(models), votes[models].sum()))

    def among(self, models: IntArray) -> Votes:
        """Return the votes between some models, numbered in their order."""
        place = np.full(len(self.names), -1)
        place[models] = np.arange(len(models))
        at = (place[self.first] >= 0) & (place[self.second] >= 0)
        voter = None
        if self.voter is not None:
            voter = np.unique(self.voter[at], return_inverse=True)[1]
        names = tuple(self.names[i] for i in models)
        return Votes(names, place[self.first[at]], place[self.second[at]], self.share[at], voter)

    @property
    def n_voters(self) -> int | None:
        """Number of voters, if the votes have any."""
        return None if self.voter is None else int(self.voter.max(initial=-1)) + 1


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings of models in log odds (sum 0), with standard errors from the votes among them.

    The standard error of a lead is the larger of that over votes (HC2: MacKinnon and White 1985)
    and, if there are voters, that over voters. Student's t has one degree of freedom less than the
    number of votes of the model with fewer votes, or than the smaller effective number of voters
    (Kish 1965), which is lower if some vote more often than others.
    """

    votes: Votes
    ratings: FloatArray

    @cached_property
    def chances(self) -> FloatArray:
        """The probability that the first model wins each vote."""
        lead = self.ratings[self.votes.first] - self.ratings[self.votes.second]
        return np.asarray(1.0 / (1.0 + np.exp(-lead)))

    @cached_property
    def inverse(self) -> FloatArray:
        """The inverse of the information, on ratings that sum to 0."""
        n = len(self.ratings)
        centre = np.full((n, n), 1.0 / n)
        information = self._paired(self.chances * (1.0 - self.chances))
        return np.asarray(np.linalg.inv(information + centre) - centre)

    @cached_property
    def covariances(self) -> tuple[FloatArray, ...]:
        """Covariances of the ratings over votes, and over voters if there are any."""
        a, b, spread = self.votes.first, self.votes.second, np.diag(self.inverse)
        weight = self.chances * (1.0 - self.chances)
        leverage = weight * (spread[a] + spread[b] - 2.0 * self.inverse[a, b])
        residual = (self.votes.share - self.chances) / np.sqrt(
            1.0 - np.minimum(leverage, MOST_LEVERAGE)
        )
        middles = [self._paired(np.square(residual))]
        if self.votes.voter is not None:
            sums = self._by_voter(self.votes.voter, np.concatenate([residual, -residual]))
            n = sums.shape[0]
            middles.append((sums.T @ sums).toarray() * (n / max(n - 1, 1)))
        return tuple(self.inverse @ middle @ self.inverse for middle in middles)

    @cached_property
    def counts(self) -> FloatArray:
        """Votes of each model, or its effective number of voters."""
        n = len(self.ratings)
        votes = np.bincount(np.concatenate([self.votes.first, self.votes.second]), minlength=n)
        if self.votes.voter is None:
            return votes.astype(np.float64)
        of_voters = self._by_voter(self.votes.voter, np.ones(2 * len(self.chances)))
        return np.asarray(np.square(votes) / of_voters.power(2).sum(axis=0))

    def _paired(self, weight: FloatArray) -> FloatArray:
        """Return the sum over votes of ``weight x x'``, x being 1 and -1 for the two models."""
        n = len(self.ratings)
        total = np.zeros((n, n))
        np.add.at(total, (self.votes.first, self.votes.second), weight)
        total += total.T
        return np.asarray(np.diag(total.sum(axis=1)) - total)

    def _by_voter(self, voter: IntArray, x: FloatArray) -> Any:
        """Return sums of `x`, for the first and then for the second models, (voters, models)."""
        from scipy import sparse

        models = np.concatenate([self.votes.first, self.votes.second])
        return sparse.csr_array((x, (np.tile(voter, 2), models)))  # sums what repeats

    @cached_property
    def errors(self) -> FloatArray:
        """Standard errors of the leads, (models, models), and on the diagonal of the ratings."""
        found = np.zeros_like(self.inverse)
        for c in self.covariances:
            own = np.diag(c)
            lead = own[:, None] + own - 2.0 * c
            found = np.maximum(found, lead + np.diag(own))
        return np.sqrt(found)

    @cached_property
    def dfs(self) -> FloatArray:
        """Degrees of freedom of the leads and, on the diagonal, of the ratings."""
        return np.maximum(np.minimum.outer(self.counts, self.counts) - 1.0, 1.0)


def _fitted(votes: Votes) -> Ratings:
    """Return the ratings of models that are connected by chains of wins both ways."""
    return Ratings(votes, bradley_terry(votes.wins))


def _beyond(votes: Votes) -> FloatArray:
    """Return the leads that chains of wins show without a fit, (models, models).

    Infinity with the sign of the lead where a chain of wins leads one way only, 0 where chains lead
    both ways and NaN where none leads either way.
    """
    from scipy.sparse import csgraph

    ahead = np.isfinite(csgraph.shortest_path(votes.wins > 0.0, unweighted=True))
    leads = np.where(ahead & ~ahead.T, math.inf, np.where(ahead.T & ~ahead, -math.inf, math.nan))
    leads[ahead & ahead.T] = 0.0
    return leads


def estimate_votes(
    scores: ScoreTable, votes: Votes, metrics: Metrics | None, level: float
) -> ItemEstimates:
    """Rate every model in points, 1000 on average."""
    _check_metrics(metrics)
    place = {int(model): at for at, model in enumerate(votes.rated)}
    fit = _fitted(votes.among(votes.rated))
    counts = np.bincount(np.concatenate([votes.first, votes.second]), minlength=len(votes.names))
    values, errors = _beyond(votes)[:, votes.rated[0]], np.full(len(votes.names), math.nan)
    found = []
    values[votes.rated] = MEAN_RATING + POINTS * fit.ratings  # 1000 if one model alone is rated
    if len(place) > 1:
        errors[votes.rated] = POINTS * np.diag(fit.errors)
    with recorded() as notes:
        _warn_of_unrated(votes)
        for i, name in enumerate(votes.names):
            df = float(fit.dfs[place[i], place[i]]) if i in place else 1.0
            one = Student(float(values[i]), float(errors[i]), df)
            ends = one.interval(level)
            found.append(
                Estimate(
                    name, METRIC, None, one.value, ends.low, ends.high, level, "sandwich",
                    n_runs=1, n_tasks=int(counts[i]), standard_error=one.error,
                    n_clusters=votes.n_voters,
                )
            )  # fmt: skip
    title = "rating by the Bradley-Terry model; a lead of 400 points has odds of 10 to 1"
    settings = item_settings(scores, level, title=title) | {"scale": "points"}
    return ItemEstimates(tuple(found), settings, tuple(notes))


def compare_votes(
    scores: ScoreTable,
    votes: Votes,
    pair: tuple[str, str] | None,
    metrics: Metrics | None,
    level: float,
) -> ItemComparisons:
    """Compare the ratings of two models, or of all pairs with Holm's correction."""
    _check_metrics(metrics)
    fits = [_fitted(votes.among(models)) for models in votes.groups if len(models) > 1]
    place = {name: (fit, at) for fit in fits for at, name in enumerate(fit.votes.names)}
    met, beyond, found = votes.wins + votes.wins.T, _beyond(votes), []
    pairs = [pair] if pair is not None else list(combinations(votes.names, 2))
    with recorded() as notes:
        _warn_of_unrated(votes)
        _warn_of_voters(scores, votes)
        for names in pairs:
            i, j = (votes.names.index(name) for name in names)
            if beyond[i, j] == 0.0:
                (fit, a), (_, b) = (place[name] for name in names)
                lead, error = POINTS * (fit.ratings[a] - fit.ratings[b]), POINTS * fit.errors[a, b]
                of = Student(float(lead), float(error), float(fit.dfs[a, b]))
                method, p = "sandwich", of.p_value()
            else:
                of = Student(float(beyond[i, j]), math.nan, 1.0)
                method, p = "sign_bound", _sign_bound(votes, i, j)
            ends = of.interval(level)
            found.append(
                Comparison(
                    *names, METRIC, None, of.value, ends.low, ends.high, p, p, level, method,
                    n_items=round(met[i, j]), n_clusters=votes.n_voters,
                    detectable=of.half_width(level) + of.half_width(2.0 * POWER - 1.0),
                )
            )  # fmt: skip
    family = "not corrected, one test"
    if pair is None:
        family = f"Holm's correction over {counted(len(pairs), 'pair')}"
        found = corrected(found)
    title = "a minus b in points, from all votes; 400 points have odds of 10 to 1"
    settings = item_settings(scores, level, title=title, correction="holm", family=family)
    settings |= {"scale": "points"}
    return ItemComparisons(tuple(found), settings, tuple(notes))


def _check_metrics(metrics: Metrics | None) -> None:
    for one in metric_list(metrics or METRIC):
        check_word("metric of votes", str(one), (METRIC,))


def _warn_of_unrated(votes: Votes) -> None:
    """Name models without a finite rating."""
    unrated = [name for i, name in enumerate(votes.names) if i not in votes.rated]
    if unrated:
        note(
            f"{listed(unrated, 6)}: no finite rating, since chains of wins do not connect it in "
            f"both directions with the other {counted(len(votes.rated), 'model')}"
        )


def _warn_of_voters(scores: ScoreTable, votes: Votes) -> None:
    """Name a column of voters or questions with several votes each, if it is not the sample."""
    for name in ("voter", "judge", "question", "question_id") if votes.voter is None else ():
        n = len(scores.rows.texts(name).names) if name in scores.rows else 0
        if 1 < n < len(votes.share):
            use = either(f"cluster={name!r}", f"gnomon read --cluster {name}")
            every = f"{use} makes the {n:,} {name}s the sample"
            note(f"votes with the same {name} count as independent; {every}")
            return


def _sign_bound(votes: Votes, i: int, j: int) -> float:
    """Return a bound of the p-value that two models are equal, without a fit of their difference.

    The score of the likelihood at one common rating is a sum over votes (or voters). By Hoeffding's
    inequality, a sum of terms that are symmetric about 0 exceeds t times the root of the sum of
    their squares in absolute value with probability at most 2 exp(-t^2 / 2) (Efron 1969). Votes
    between two equal models are symmetric, those against others only roughly: in simulations of
    equal models, at most 1 % of the bounds were below 0.05.
    """
    node = np.arange(len(votes.names))
    node[j] = i
    merged = replace(votes, first=node[votes.first], second=node[votes.second])
    group = _chained(merged.wins)
    models = np.flatnonzero((group == group[i]) & (node == np.arange(len(node))))
    kept = votes.among(np.append(models, j))
    from scipy.sparse import csgraph

    if csgraph.connected_components(kept.wins + kept.wins.T, directed=False)[0] > 1:
        return 1.0  # no vote among them depends on the difference
    one = merged.among(models)
    ratings = bradley_terry(one.wins)
    at = int(np.searchsorted(models, i))
    fit = Ratings(kept, np.append(ratings, ratings[at]))
    slope = fit.inverse[at] - fit.inverse[-1]
    terms = (kept.share - fit.chances) * (slope[kept.first] - slope[kept.second])
    sums = terms if kept.voter is None else np.bincount(kept.voter, terms)
    square = float(np.sum(np.square(sums)))
    return min(1.0, 2.0 * math.exp(-0.5 * float(sums.sum()) ** 2 / square)) if square else 1.0
