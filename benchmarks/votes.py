"""Votes: coverage of ratings and their leads, false tiers, and the peers on the same votes.

Each line has its own seed and 300 studies, or as many as ``VOTE_STUDIES`` says. True ratings are
normal; a tie takes a vote from winner and loser alike; voters favour models by normal effects, and
cast unlike numbers of votes. The truth of votes with voters is the fit to expected votes.
"""

from __future__ import annotations

import os
import time
import warnings
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

import gnomon as gn
from benchmarks.record import Measurement
from gnomon.results import noted
from gnomon.stats.vote_ratings import MEAN_RATING, POINTS, bradley_terry

N_STUDIES = int(os.environ.get("VOTE_STUDIES", "300"))
TIES = 0.3
#: Models, votes, spread of the true ratings, unlike shares of votes, voters, spread of voters.
SETTINGS = (
    (5, 60, 0.5, False, 0, 0.0),
    (10, 300, 0.7, True, 0, 0.0),
    (30, 3000, 1.0, True, 0, 0.0),
    (6, 300, 0.7, False, 6, 0.7),
    (8, 400, 0.7, True, 15, 1.0),
    (8, 800, 0.7, False, 100, 0.7),
)

Array = npt.NDArray[np.float64]


def _chance(lead: Array) -> Array:
    return np.asarray(1.0 / (1.0 + np.exp(-lead)))


def _truth(ratings: Array, share: Array, spread: float) -> Array:
    """Return the ratings, in log odds, that fit the expected votes."""
    nodes, weight = np.polynomial.hermite_e.hermegauss(41)
    lead = ratings[:, None] - ratings
    p = _chance(lead[..., None] + np.sqrt(2.0) * spread * nodes) @ (weight / weight.sum())
    return bradley_terry(np.outer(share, share) * p)


def _votes(
    rng: np.random.Generator, ratings: Array, share: Array, n: int, n_voters: int, spread: float
) -> dict[str, Any]:
    """Return votes as columns."""
    a, b = rng.choice(ratings.size, (2, 2 * n), p=share)
    a, b = a[a != b][:n], b[a != b][:n]
    lead, columns = ratings[a] - ratings[b], {}
    if n_voters:
        size = rng.exponential(size=n_voters) + 0.1
        voter = rng.choice(n_voters, a.size, p=size / size.sum())
        effect = rng.normal(0.0, spread, (n_voters, ratings.size))
        lead = lead + effect[voter, a] - effect[voter, b]
        columns["voter"] = voter
    p, u = _chance(lead), rng.random(a.size)
    tie = 2.0 * TIES * np.minimum(p, 1.0 - p)
    won = np.where(u < tie, 0.5, np.where(u < tie + p - tie / 2.0, 1.0, 0.0))
    return {"a": a, "b": b, "won": won, **columns}


def _table(votes: dict[str, Any]) -> gn.ScoreTable:
    n = np.arange(len(votes["a"]))
    name = np.array([f"m{i:02d}" for i in range(100)])
    a, b = name[votes["a"]], name[votes["b"]]
    columns = {
        "algorithm": np.concatenate([a, b]),
        "opponent": np.concatenate([b, a]),
        "task": np.tile(n, 2),
        "score": np.concatenate([votes["won"], 1.0 - votes["won"]]),
    }
    clustered = "voter" in votes
    if clustered:
        columns["voter"] = np.tile(votes["voter"], 2)
    return gn.ScoreTable(columns, units="items", cluster="voter" if clustered else None)


def measure() -> Iterator[Measurement]:
    """Give the figures of docs/gnomon/ranking.md."""
    for setting in SETTINGS:
        yield from _coverage(*setting)
    yield from _equal_models()
    yield from _peers()


def _rng(*what: object) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(repr(what).encode()))


def _coverage(
    k: int, n: int, spread: float, unlike: bool, n_voters: int, by_voter: float
) -> Iterator[Measurement]:
    rng, studies, unrated = _rng("coverage", k, n, n_voters), [], 0
    for _ in range(N_STUDIES):
        ratings = rng.normal(0.0, spread, k)
        share = rng.exponential(size=k) + 0.05 if unlike else np.ones(k)
        share /= share.sum()
        truth = POINTS * _truth(ratings, share, by_voter)
        table = _table(_votes(rng, ratings, share, n, n_voters, by_voter))
        with noted():
            leads = gn.compare(table)
            ranks = gn.rank(table)
            rated = gn.estimate(table)
        if len(table.algorithms) < k or any(np.isnan(one.low) for one in leads):
            unrated += 1  # no finite rating: left out, since the others have another mean
            continue
        true = {f"m{i:02d}": x for i, x in enumerate(truth)}
        place = {x: 1 + sum(other > own for other in true.values()) for x, own in true.items()}
        studies.append([
            np.mean([one.low <= true[one.a] - true[one.b] <= one.high for one in leads]),
            np.mean([one.low <= MEAN_RATING + true[one.algorithm] <= one.high for one in rated]),
            all(one.rank_low <= place[one.name] <= one.rank_high for one in ranks),
        ])  # fmt: skip
    what = f"{k} models, {n} votes" + (f", {n_voters} voters" if n_voters else "")
    note = f"{unrated} of {N_STUDIES} studies left out: a model without a finite rating"
    held = 100.0 * np.mean(studies, axis=0)
    for name, value in zip(("leads", "ratings", "all ranks together"), held, strict=True):
        yield Measurement(
            f"{what}: coverage of {name}", float(value), "%", 93.0, note=note if unrated else ""
        )


def _equal_models() -> Iterator[Measurement]:
    """Equal models: how often any two are separated."""
    for n_voters, by_voter in ((0, 0.0), (20, 0.7)):
        rng, wrong = _rng("equal", n_voters), 0
        for _ in range(N_STUDIES):
            votes = _votes(rng, np.zeros(8), np.full(8, 0.125), 400, n_voters, by_voter)
            with noted():
                wrong += bool(gn.rank(_table(votes)).separated.any())
        who = f", {n_voters} voters" if n_voters else ""
        yield Measurement(
            f"8 equal models, 400 votes{who}: any false pair",
            100.0 * wrong / N_STUDIES, "%", 5.0 + 300.0 * np.sqrt(0.05 * 0.95 / N_STUDIES),
            higher_is_better=False,
        )  # fmt: skip


def _peers() -> Iterator[Measurement]:
    """One set of votes: time, and the largest difference of ratings from each peer in points."""
    import evalica

    rng = _rng("peers")
    ratings = rng.normal(0.0, 0.7, 60)
    votes = _votes(rng, ratings, np.full(60, 1.0 / 60), 100_000, 0, 0.0)
    table = _table(votes)
    start = time.process_time()
    ours = gn.rank(table)
    yield Measurement("60 models, 100,000 votes: rank", time.process_time() - start, "CPU s")
    mine = np.array([one.value for one in sorted(ours, key=lambda one: one.name)])
    names = [f"m{i:02d}" for i in range(60)]
    xs, ys = ([names[i] for i in votes[key]] for key in "ab")
    winners = [evalica.Winner.X if w == 1.0 else evalica.Winner.Y if w == 0.0 else
               evalica.Winner.Draw for w in votes["won"]]  # fmt: skip
    start = time.process_time()
    found = evalica.bradley_terry(xs, ys, winners, tolerance=1e-12, limit=10_000)
    seconds = time.process_time() - start
    theirs = POINTS * np.log(found.scores.loc[names].to_numpy())
    theirs += MEAN_RATING - theirs.mean()
    yield Measurement(
        "the same: largest difference from evalica", float(np.abs(mine - theirs).max()), "points",
        0.05, higher_is_better=False, note=f"evalica {seconds:.3f} CPU s, without intervals",
    )  # fmt: skip
    try:
        import pandas as pd
        from arena_rank.models.bradley_terry import BradleyTerry
        from arena_rank.utils.data_utils import PairDataset
    except ImportError:
        return
    word = np.select([votes["won"] == 1.0, votes["won"] == 0.0], ["model_a", "model_b"], "tie")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = PairDataset.from_pandas(pd.DataFrame({"model_a": xs, "model_b": ys, "winner": word}))
        start = time.process_time()
        arena = BradleyTerry(n_competitors=data.n_competitors).compute_ratings_and_cis(data)
        seconds = time.process_time() - start
    of = dict(zip(arena["competitors"], arena["ratings"], strict=True))
    theirs = np.array([of[name] for name in names])
    theirs += MEAN_RATING - theirs.mean()
    yield Measurement(
        "the same: largest difference from arena-rank", float(np.abs(mine - theirs).max()),
        "points", 0.05, higher_is_better=False, note=f"arena-rank {seconds:.3f} CPU s",
    )  # fmt: skip
