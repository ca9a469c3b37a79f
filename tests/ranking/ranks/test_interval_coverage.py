"""What intervals hold where few or unequal runs, or few common tasks, make resamples say little."""

import warnings

import numpy as np
import pytest
from scipy import stats

from gnomon.errors import DegenerateScoresWarning
from gnomon.ranking import Contest, Tournament, hodge_ratings, rank
from gnomon.ranking.ranks.rating_noise import _bound_noise, _own_noise
from gnomon.ranking.ranks.resampled_ratings import Edges

pytestmark = pytest.mark.full  # coverage by simulation

N_TABLES = 400
#: Two of each strength, far from all others: only which of two is the better can be wrong.
TWINS = tuple(np.repeat(8.0 * np.arange(5), 2).tolist())


def contest(rng, means, sizes):
    """Normal runs around their means; `sizes` has a row for each rule."""
    samples = tuple(
        tuple(rng.normal(m, 1.0, k) for m, k in zip(means, row, strict=True)) for row in sizes
    )
    names = tuple(map(str, range(len(means))))
    return Contest(names, tuple(f"r{g}" for g in range(len(sizes))), samples)


def quiet_rank(one, method="hodge", **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateScoresWarning)
        return rank(one, method, **options)


def not_below_95_percent(n_good, n=N_TABLES):
    return stats.binomtest(int(n_good), n, 0.95, alternative="less").pvalue > 0.01


@pytest.mark.parametrize("method", ["hodge", "borda", "bradley-terry", "gohr-ev"])
@pytest.mark.parametrize(
    ("means", "sizes"),
    [((0, 0, 3), [[5] * 3] * 3 + [[1] * 3] * 3), ((0, 0, 3), [[6, 2, 4]] * 3), (TWINS, [[5] * 10])],
    ids=["single runs on some rules", "unequal runs", "twins"],
)
def test_rank_intervals_hold_with_few_and_unequal_runs(method, means, sizes):
    rng = np.random.default_rng(2)
    truth, good = np.array(means), 0
    n_tables = N_TABLES if method in ("hodge", "borda") else N_TABLES // 2
    for _ in range(n_tables):
        found = quiet_rank(contest(rng, means, sizes), method, n_resamples=60, rng=rng)
        true = truth[[int(name) for name in found.names]]
        best = 1 + (true > true[:, None]).sum(axis=1)
        worst = len(true) - (true < true[:, None]).sum(axis=1)
        good += bool(((found.rank_low <= best) & (worst <= found.rank_high)).all())
    assert not_below_95_percent(good, n_tables)


@pytest.mark.parametrize("means", [(0, 0.5, 1, 3), (0, 0, 0, 0.5)])
def test_intervals_of_ratings_hold_the_rating_to_expect(means):
    """The best of the first wins nearly every pair: resamples hardly vary, and other runs would."""
    rng, sizes = np.random.default_rng(3), [[5] * 4] * 4
    graphs = (Tournament.of(contest(rng, means, sizes)) for _ in range(1000))
    expected = np.mean([hodge_ratings(graph.log_odds, graph.weights) for graph in graphs], axis=0)
    held = np.zeros(len(means))
    for _ in range(N_TABLES):
        found = quiet_rank(contest(rng, means, sizes), n_resamples=60, rng=rng)
        true = expected[[int(name) for name in found.names]]
        held[[int(name) for name in found.names]] += (found.low <= true) & (true <= found.high)
    assert all(not_below_95_percent(n) for n in held)


def two_groups(rng, n_bridges, n_tasks=20):
    """Three and three with tasks of their own, one run each, and some tasks that all share."""
    here = np.ones((2 * n_tasks + n_bridges, 6), dtype=int)
    here[:n_tasks, 3:] = here[n_tasks : 2 * n_tasks, :3] = 0
    return contest(rng, (0, 1, 2, 0, 1, 2), here.tolist())


@pytest.mark.parametrize("n_bridges", [2, 5])
def test_drawn_tasks_that_hold_groups_together(n_bridges):
    rng, good = np.random.default_rng(5), 0
    for _ in range(200):
        found = quiet_rank(two_groups(rng, n_bridges), n_resamples=60, rng=rng)
        at = [found.names.index(name) for name in "012345"]
        good += not found.separated[at, at[3:] + at[:3]].any()
    assert not_below_95_percent(good, 200)


@pytest.mark.parametrize(("n_bridges", "estimable"), [(2, False), (5, True)])
def test_where_resamples_fall_apart_nothing_is_said_across(n_bridges, estimable):
    """More than one in twenty: not estimable; fewer: they are left out of the shares above."""
    found = quiet_rank(
        two_groups(np.random.default_rng(5), n_bridges), rng=np.random.default_rng(6)
    )
    at = [found.names.index(name) for name in "012345"]
    known = np.isfinite(found.noise.difference_errors[np.ix_(at, at)])
    assert known[:3, :3].all()
    assert known[3:, 3:].all()
    assert (known[:3, 3:] == estimable).all()
    assert (np.isfinite(found.low) == estimable).all()
    assert np.allclose(found.above + found.above.T, 1.0)


def test_that_too_few_tasks_connect_groups_is_said():
    one = two_groups(np.random.default_rng(5), 2)
    with pytest.warns(DegenerateScoresWarning) as caught:
        rank(one, rng=np.random.default_rng(6))
    text = "order of 0 and 3 is (9 such pairs), whom too few common tasks connect"
    assert any(text in str(warning.message) for warning in caught)


def test_a_level_near_one_takes_as_many_dealings_as_it_needs():
    one = contest(np.random.default_rng(0), (0, 50, 100), [[10] * 3] * 6)
    found = rank(one, level=0.999, n_resamples=100, rng=np.random.default_rng(0))
    assert found.separated[0, 1]


def test_noise_at_the_bound_is_that_of_ratings_of_moved_edges():
    """A star, whose middle meets each other one on a ground of its own and wins every pair."""
    middle, none = np.arange(4.0) + 100, np.empty(0)
    rows = [[middle, *(np.arange(3.0) if j == g else none for j in range(3))] for g in range(3)]
    edges = Edges(Contest(tuple("mabc"), tuple("xyz"), tuple(map(tuple, rows))))
    graph = Tournament.of(edges.contest)
    variance = np.zeros(4)
    for own, met in zip(_own_noise(edges), edges.contest.met, strict=True):
        for k in range(4):
            moved = np.zeros((4, 4))
            moved[k] = np.where(met[k], 0.75 * own[k], 0.0)
            variance += hodge_ratings(moved - moved.T, graph.weights) ** 2
    laplacian = np.diag(graph.weights.sum(axis=1)) - graph.weights
    found = _bound_noise(edges, np.asarray(np.linalg.pinv(laplacian)))
    assert found == pytest.approx(np.sqrt(variance))


@pytest.mark.parametrize("method", ["hodge", "borda", "mean-rank"])
def test_one_who_is_in_no_resample_has_no_certain_rank(method):
    rng = np.random.default_rng(0)
    sizes = [[1, 1, 0]] * 12 + [[1, 1, 1]]
    for _ in range(5):
        found = quiet_rank(
            contest(rng, (0, 1, 9), sizes),
            method,
            resampling="runs_and_tasks",
            n_resamples=2,
            rng=rng,
        )
        at = found.names.index("2")
        assert (found.rank_low[at], found.rank_high[at]) == (1, 3)


def test_who_wins_every_pair_has_an_interval_that_other_runs_may_leave():
    samples = ((np.arange(6.0) + 100, np.arange(6.0), np.arange(6.0) + 0.5),)
    found = rank(Contest(("ideal", "a", "b"), ("r",), samples), rng=np.random.default_rng(0))
    assert found.names[0] == "ideal"
    assert found.low[0] < found.ratings[0] < found.high[0]
