"""Kemeny's order: against trying all orders and OpenSpiel's, up to forty, and what stops it."""

import itertools
import math
import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_matrix

from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.ranking import Contest, Tournament, disagreement, kemeny_order
from gnomon.ranking.kemeny.kemeny_order import strong_components, tied_stretches
from gnomon.ranking.kemeny.linear_ordering import circle_relaxation, improved, order_search, worth
from gnomon.ranking.ratings import methods
from strategies_ranking import flows


def least(margins):
    """The slow twin: the disagreement of the best of all orders."""
    orders = np.array(list(itertools.permutations(range(len(margins)))))
    ordered = margins[orders[:, :, None], orders[:, None, :]]
    return np.maximum(-np.triu(ordered, 1), 0.0).sum(axis=(1, 2)).min()


@settings(max_examples=40)
@given(flows(max_n=6), st.sampled_from([1e-7, 1.0, 1e7]))
def test_no_order_disagrees_less(margins, scale):
    found = kemeny_order(scale * margins)
    assert sorted(found.order) == list(range(len(margins)))
    assert found.proven
    assert found.disagreement == pytest.approx(scale * least(margins), abs=1e-5 * scale)


@pytest.mark.parametrize("seed", range(6))
def test_eight_that_beat_one_another_in_circles(seed):
    rng = np.random.default_rng(seed)
    margins = np.triu(rng.choice([-1.0, 1.0], (8, 8)), 1)
    margins -= margins.T
    found = kemeny_order(margins)
    assert found.proven
    assert found.disagreement == least(margins)


def test_the_order_is_that_of_open_spiels_votes():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from open_spiel.python.voting import base, kemeny_young
    rng = np.random.default_rng(0)
    for _ in range(5):
        votes = [rng.permutation(5).tolist() for _ in range(7)]
        names = [f"{i}" for i in range(5)]
        profile = base.PreferenceProfile(alternatives=names)
        for vote in votes:
            profile.add_vote([names[i] for i in vote])
        theirs = [int(n) for n in kemeny_young.KemenyYoungVoting().run_election(profile).ranking]
        place = np.argsort(votes, axis=1)
        margins = np.sign(place[:, None, :] - place[:, :, None]).sum(axis=0).astype(float)
        assert kemeny_order(margins).disagreement == disagreement(theirs, margins)


def test_forty_are_ordered():
    rng = np.random.default_rng(0)
    truth = rng.permutation(40)
    place = np.argsort(truth)
    margins = np.sign(place[None, :] - place[:, None]) * rng.random((40, 40))
    margins = np.triu(margins, 1) - np.triu(margins, 1).T
    assert kemeny_order(margins).order == tuple(truth.tolist())
    noisy = margins + (lambda x: x - x.T)(rng.normal(0, 0.15, (40, 40)))
    found = kemeny_order(noisy)
    assert found.proven
    assert found.disagreement <= disagreement(truth, noisy)


@pytest.mark.parametrize(("n_tasks", "n_runs"), [(60, 1), (15, 5)])
def test_forty_identical_learners_are_ordered_exactly(n_tasks, n_runs):
    rng = np.random.default_rng(1)
    samples = tuple(tuple(rng.normal(size=(40, n_runs))) for _ in range(n_tasks))
    contest = Contest(tuple(map(str, range(40))), tuple(map(str, range(n_tasks))), samples)
    graph = Tournament.of(contest)
    assert kemeny_order(graph.weights * (graph.probability - 0.5)).proven


def least_by_mixed_integers(margins):
    """Another program, to the end: a number of 0 or 1 for each pair, and no three in a circle."""
    n = len(margins)
    i, j = np.triu_indices(n, 1)
    pair = {(a, b): k for k, (a, b) in enumerate(zip(i, j, strict=True))}
    circles = np.array(
        [(pair[a, b], pair[b, c], pair[a, c]) for a, b, c in itertools.combinations(range(n), 3)]
    )
    around = np.zeros((len(circles), i.size))
    np.put_along_axis(around, circles, [[1.0, 1.0, -1.0]], axis=1)
    found = milp(
        -margins[i, j],
        integrality=np.ones(i.size),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(csr_matrix(around), 0, 1),
        options={"mip_rel_gap": 0.0},
    )
    assert found.status == 0
    return np.maximum(margins[i, j], 0.0).sum() + found.fun


@pytest.mark.parametrize("n_runs", [1, 3])
@pytest.mark.parametrize("spread", [0.0, 0.5])
def test_forty_learners_disagree_as_little_as_a_mixed_integer_program_finds(spread, n_runs):
    rng = np.random.default_rng(2)
    means = np.linspace(0.0, spread, 40)[:, None]
    samples = tuple(tuple(rng.normal(means, 1.0, (40, n_runs))) for _ in range(30))
    contest = Contest(tuple(map(str, range(40))), tuple(map(str, range(30))), samples)
    graph = Tournament.of(contest)
    margins = graph.weights * (graph.probability - 0.5)
    found = kemeny_order(margins)
    assert found.proven
    assert found.disagreement == pytest.approx(least_by_mixed_integers(margins), rel=1e-6)


def test_noise_disagrees_as_little_as_a_mixed_integer_program_finds():
    margins = noise(22)
    expected = least_by_mixed_integers(margins)
    assert kemeny_order(margins).disagreement == pytest.approx(expected, rel=1e-6)


@given(flows(max_n=6))
def test_stretches_are_pieces_of_the_order_and_neighbours_who_tie_share_one(margins):
    found = kemeny_order(margins)
    stretches = tied_stretches(found.order, margins)
    assert [i for stretch in stretches for i in stretch] == list(found.order)
    for one, other in itertools.pairwise(stretches):
        if len(one) == len(other) == 1:
            assert margins[one[0], other[0]] > 0.0


@settings(max_examples=30)
@given(flows(min_n=3, max_n=6).filter(lambda f: (f[np.triu_indices(len(f), 1)] != 0.0).all()))
def test_where_one_order_is_the_only_best_one_nobody_shares_a_place(margins):
    worths = sorted(disagreement(o, margins) for o in itertools.permutations(range(len(margins))))
    assume(worths[1] - worths[0] > 1e-3)
    assert all(len(s) == 1 for s in tied_stretches(kemeny_order(margins).order, margins))


def test_copies_share_a_place_though_another_stands_between():
    """The first and the last are copies, and either of two best orders parts them."""
    margins = np.array([[0, 1, -1, 0], [-1, 0, 2, -1], [1, -2, 0, 1], [0, 1, -1, 0]], dtype=float)
    (group,) = (s for s in tied_stretches(kemeny_order(margins).order, margins) if 0 in s)
    assert 3 in group


def noise(n, seed=0):
    """Margins that know nothing of one another."""
    upper = np.triu(np.random.default_rng(seed).normal(size=(n, n)), 1)
    return upper - upper.T


@pytest.mark.full
@pytest.mark.parametrize("seed", [2, 3])
def test_forty_of_mere_noise_are_proven(seed):
    """Here the linear program leaves much open, and the search from both ends has work to do."""
    margins = noise(40, seed)
    found = kemeny_order(margins)
    assert found.proven
    limit = circle_relaxation(margins / np.abs(margins).max()).limit * np.abs(margins).max()
    assert worth(found.order, margins) < 0.99 * limit


@pytest.mark.full
def test_the_search_gains_what_its_order_is_worth():
    margins = noise(12, seed=1)
    found = order_search(list(range(12)), margins)
    assert sorted(found) == list(range(12))
    assert found == order_search(list(range(12)), margins)
    assert disagreement(found, margins) == pytest.approx(kemeny_order(margins).disagreement)


def test_out_of_time_the_bound_is_honest_and_said(monkeypatch):
    rng = np.random.default_rng(0)
    margins = np.triu(rng.choice([-1.0, 1.0], (26, 26)), 1)
    margins -= margins.T
    found = kemeny_order(margins, time_limit_s=0.0)
    assert not found.proven
    assert 0.0 < found.at_least < found.disagreement
    exact = kemeny_order(margins)
    assert exact.proven
    assert found.at_least <= exact.disagreement <= found.disagreement

    monkeypatch.setattr(methods, "KEMENY_SECONDS", 0)
    graph = Tournament.from_log_odds([f"{i}" for i in range(26)], margins)
    with pytest.warns(DegenerateScoresWarning, match="kemeny: not proven within 0 s"):
        methods.METHODS["kemeny"].rate(graph, None)


def test_groups_that_lose_to_none_outside_stand_first():
    f = np.zeros((5, 5))
    for a, b in [(3, 4), (4, 0), (0, 3), (3, 1), (4, 1), (0, 1), (1, 2), (3, 2)]:
        f[a, b], f[b, a] = 1.0, -1.0
    assert strong_components(f > 0) == [[0, 3, 4], [1], [2]]
    assert set(kemeny_order(f).order[:3]) == {0, 3, 4}
    assert kemeny_order(f).order[3:] == (1, 2)


@given(flows(min_n=3, max_n=7))
def test_the_search_ends_where_no_move_helps_and_the_program_bounds_it(margins):
    n = len(margins)
    order = order_search(list(range(n)), margins)
    assert improved(order, margins) == order
    scale = np.abs(margins).max()
    if scale > 0:
        assert worth(order, margins) <= scale * (circle_relaxation(margins / scale).limit + 1e-9)


def test_no_opinions_leave_the_order_as_it_is():
    assert kemeny_order(np.full((4, 4), np.nan)).order == (0, 1, 2, 3)
    assert kemeny_order(np.zeros((1, 1))).order == (0,)


@pytest.mark.parametrize(
    ("margins", "message"),
    [
        (np.zeros((41, 41)), "expected at most 40 to find Kemeny's order, found 41"),
        (np.ones((3, 3)), "expected finite antisymmetric margins"),
        ([[0, math.inf], [-math.inf, 0]], "expected finite antisymmetric margins"),
    ],
)
def test_what_cannot_be_ordered_is_refused(margins, message):
    with pytest.raises(ScoreDataError, match=message):
        kemeny_order(margins)
