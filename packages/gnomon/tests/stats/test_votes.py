"""Votes between two models at a time: ratings, their errors, ranks, and models without a rating."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import t as student

import gnomon as gn
from gnomon.errors import ScoreDataError, UnknownNameError
from gnomon.results import noted
from score_tables import votes_of

POINTS = 400.0 / np.log(10.0)
WORDS = {1.0: "model_a", 0.0: "model_b", 0.5: "tie"}


@pytest.fixture
def rng():
    """Return a generator of its own for each test."""
    return np.random.default_rng(7)


def drawn(rng, n=200, ratings=(0.8, 0.2, 0.0, -1.0)):
    """Return votes between models m0, m1, ... of these ratings, a fifth of them ties."""
    a = rng.integers(len(ratings), size=n)
    b = (a + rng.integers(1, len(ratings), size=n)) % len(ratings)
    won = (rng.random(n) < expit(np.take(ratings, a) - np.take(ratings, b))).astype(float)
    won[rng.random(n) < 0.2] = 0.5
    return [(f"m{i}", f"m{j}", float(w)) for i, j, w in zip(a, b, won, strict=True)]


def design(rows, n=4):
    """Return a row with 1 and -1 for the models of each vote, and the shares."""
    x = np.zeros((len(rows), n))
    for at, (a, b, _) in enumerate(rows):
        x[at, int(a[1:])], x[at, int(b[1:])] = 1.0, -1.0
    return x, np.array([share for *_, share in rows])


def test_ratings_are_evalicas(rng):
    evalica = pytest.importorskip("evalica")
    rows = drawn(rng)
    a, b, share = zip(*rows, strict=True)
    words = {1.0: evalica.Winner.X, 0.0: evalica.Winner.Y, 0.5: evalica.Winner.Draw}
    found = evalica.bradley_terry(a, b, [words[x] for x in share], tolerance=1e-12, limit=10_000)
    theirs = POINTS * np.log(found.scores)
    ours = {one.algorithm: one.value for one in gn.estimate(votes_of(rows))}
    for name, value in ours.items():
        assert value == pytest.approx(1000.0 + theirs[name] - theirs.mean(), abs=1e-6)


@pytest.mark.parametrize("voters", [False, True])
def test_errors_are_those_of_a_regression(rng, voters):
    statsmodels = pytest.importorskip("statsmodels.api")
    rows = drawn(rng)
    x, y = design(rows)
    # The regression leaves the last model out; its errors of leads are the same.
    model = statsmodels.GLM(y, x[:, :-1], family=statsmodels.families.Binomial())
    fitted = model.fit(tol=1e-14)
    weight = fitted.fittedvalues * (1.0 - fitted.fittedvalues)
    inverse = np.linalg.inv((x[:, :-1].T * weight) @ x[:, :-1])
    leverage = weight * np.einsum("vi,ij,vj->v", x[:, :-1], inverse, x[:, :-1])
    terms = x[:, :-1] * ((y - fitted.fittedvalues) / np.sqrt(1.0 - leverage))[:, None]
    variances = [inverse @ terms.T @ terms @ inverse]
    voter = np.arange(len(rows)) % (12 if voters else len(rows))
    if voters:
        sums = np.array([terms[voter == v].sum(axis=0) for v in range(12)])
        variances.append(inverse @ sums.T @ sums @ inverse * 12 / 11)
    table = votes_of(rows, voter=voter.tolist()) if voters else votes_of(rows)
    own = np.array([np.abs(x[voter == v]).sum(axis=0) for v in range(voter.max() + 1)])
    counts = own.sum(axis=0) ** 2 / (own**2).sum(axis=0)
    for i in range(3):
        (one,) = gn.compare(table, f"m{i}", "m3")
        assert one.value == pytest.approx(POINTS * fitted.params[i], abs=1e-5)
        error = POINTS * np.sqrt(max(v[i, i] for v in variances))
        half = student.ppf(0.975, min(counts[i], counts[3]) - 1.0) * error
        assert [one.low, one.high] == pytest.approx([one.value - half, one.value + half], abs=1e-5)
        assert one.n_clusters == (12 if voters else None)


def test_ranks_follow_from_the_comparisons(rng):
    table = votes_of(drawn(rng, 2000))
    ranking = gn.rank(table)
    better = {(one.a, one.b): one.p_adjusted <= 0.05 and one.better for one in gn.compare(table)}
    for one in ranking:
        above = sum(
            won not in (False, one.name) for pair, won in better.items() if one.name in pair
        )
        below = sum(won == one.name for won in better.values())
        assert (one.rank_low, one.rank_high) == (1 + above, 4 - below)
    values = {one.algorithm: one.value for one in gn.estimate(table)}
    assert {one.name: one.value for one in ranking} == values
    assert sum(values.values()) == pytest.approx(4000.0)
    assert gn.rank(table, "bradley-terry").names == ranking.names


def test_a_pair_is_compared_by_all_votes(rng):
    rows = [row for row in drawn(rng, 400) if {*row[:2]} != {"m0", "m3"}]
    (one,) = gn.compare(votes_of(rows), "m0", "m3")
    assert one.n_items == 0
    assert one.low > 0.0


def test_a_model_that_wins_all_its_votes_has_no_finite_rating(rng):
    rows = [*drawn(rng), *[("best", "m0", 1.0)] * 12, *[("m3", "worst", 1.0)] * 12]
    with pytest.warns(gn.errors.DegenerateScoresWarning, match="best, worst: no finite rating"):
        found = {one.algorithm: one for one in gn.estimate(votes_of(rows))}
    assert (found["best"].value, found["worst"].value) == (np.inf, -np.inf)
    assert np.isnan([found["best"].low, found["worst"].high]).all()
    assert sum(found[f"m{i}"].value for i in range(4)) == pytest.approx(4000.0)
    with noted():
        (one,) = gn.compare(votes_of(rows), "best", "m0")
        ranking = gn.rank(votes_of(rows))
    # Twelve wins of twelve have a sign test of 2 ** -11; the bound is larger.
    assert 2.0**-11 < one.p_value == pytest.approx(2.0 * np.exp(-6.0))
    assert (one.better, one.method) == ("best", "sign_bound")
    assert (ranking.names[0], ranking.names[-1]) == ("best", "worst")


def test_models_without_a_rating_are_compared_with_each_other(rng):
    rows = [*drawn(rng), *[("top", "next", 1.0)] * 20, *[("next", "m0", 1.0)] * 20]
    mixed = [("x", "m0", 1.0)] * 20 + [("x", "y", 1.0), ("x", "y", 1.0), ("y", "x", 1.0)] * 15
    with noted():
        (one,) = gn.compare(votes_of(rows), "top", "next")
        ranks = {one.name: (one.rank_low, one.rank_high) for one in gn.rank(votes_of(rows))}
        (two,) = gn.compare(votes_of([*rows, *mixed]), "x", "y")
    assert (one.value, one.better, one.method) == (np.inf, "top", "sign_bound")
    assert (ranks["top"], ranks["next"]) == ((1, 1), (2, 2))
    # Those that beat each other have a finite lead: odds of 2 to 1.
    assert two.value == pytest.approx(POINTS * np.log(2.0))
    assert two.low > 0.0


@pytest.mark.full
def test_the_bound_is_valid_for_equal_models(rng):
    bounds = []
    for _ in range(300):
        ratings = np.array([2.0, 2.0, 0.0, 0.0, -1.0])
        a = np.repeat([0, 1, 2, 3], [*rng.integers(2, 9, size=2), 15, 15])
        b = (a + rng.integers(1, 5, size=len(a))) % 5
        won = (rng.random(len(a)) < expit(ratings[a] - ratings[b])).astype(float)
        rows = [(f"m{i}", f"m{j}", w) for i, j, w in zip(a, b, won, strict=True)]
        if {"m0", "m1"} <= {name for *two, _ in rows for name in two}:
            with noted():
                (one,) = gn.compare(votes_of(rows), "m0", "m1")
            bounds += [one.p_value] if one.method == "sign_bound" else []
    assert len(bounds) > 30
    assert np.mean(np.array(bounds) <= 0.05) <= 0.05


def test_where_no_two_models_are_connected_one_has_the_mean_rating():
    with noted():
        found = gn.estimate(votes_of([("a", "b", 1.0), ("a", "b", 1.0), ("b", "c", 1.0)]))
    assert [one.value for one in found] == [np.inf, 1000.0, -np.inf]
    assert np.isnan([one.low for one in found]).all()


def test_models_without_common_votes_are_not_separated():
    rows = [(a, b, x) for a, b in ("ab", "cd") for x in (1.0, 0.0, 1.0)]
    with pytest.warns(gn.errors.DegenerateScoresWarning, match="no finite rating"):
        found = gn.compare(votes_of(rows), "a", "c")
    assert found[0].p_value == 1.0


def test_one_voter_shows_less_than_many(rng):
    rows = drawn(rng)
    many = gn.compare(votes_of(rows), "m0", "m3")[0]
    few = gn.compare(votes_of(rows, voter=[i % 3 for i in range(len(rows))]), "m0", "m3")[0]
    assert few.high - few.low > many.high - many.low


def test_from_a_file(tmp_path, rng, command):
    lines = [f"{a},{b},{WORDS[share]},v{i % 9}" for i, (a, b, share) in enumerate(drawn(rng))]
    path = tmp_path / "votes.csv"
    path.write_text("\n".join(["model_a,model_b,winner,voter", *lines]))
    result = json.loads(command(f"gnomon rank {path} --json").out)
    assert result["results"][0]["name"] == "m0"
    assert "4 models, 200 votes" in command(f"gnomon audit {path}").out


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda t: gn.estimate(t, "mean"), UnknownNameError),
        (lambda t: gn.rank(t, "kemeny"), UnknownNameError),
        (lambda t: gn.rank(t, by="task"), UnknownNameError),
        (lambda t: gn.compare(t, "m0", "m1", by="voter"), ScoreDataError),
        (lambda t: gn.estimate(t, by="voter"), ScoreDataError),
        (lambda t: gn.plan(t), ScoreDataError),
        (
            lambda t: gn.gate(*(t.select(algorithms=[m]) for m in t.algorithms[:2]), superior=True),
            ScoreDataError,
        ),
    ],
)
def test_what_votes_lack_is_refused(rng, call, error):
    with pytest.raises(error, match=r"votes|bradley-terry|algorithm"):
        call(votes_of(drawn(rng), voter=["x", "y"] * 100))


def test_voters_that_are_not_the_sample_are_named(rng):
    rows = drawn(rng)
    table = votes_of(rows, voter=[f"v{i % 20}" for i in range(len(rows))])
    alone = gn.ScoreTable(table.rows, units="items")
    with noted() as notes:
        gn.rank(table)
    assert not [text for text in notes if "voter" in text]
    with noted() as notes:
        gn.rank(alone)
    (text,) = [text for text in notes if "voter" in text]
    assert "cluster='voter' makes the 20 voters the sample" in text
