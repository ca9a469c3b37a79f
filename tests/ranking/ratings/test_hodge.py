"""Ratings and cycles: hand-worked graphs, properties, and the theorem on random traits."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gnomon.ranking import (
    Contest,
    Tournament,
    expected_intransitivity,
    hodge_decomposition,
    hodge_ratings,
    n_cycles,
    trait_correlation,
    worst_triangles,
)
from strategies_ranking import flows


def graph(edges, n, names=None):
    """A tournament from {(i, j): f}; other pairs never met."""
    f = np.full((n, n), np.nan)
    for (i, j), value in edges.items():
        f[i, j], f[j, i] = value, -value
    np.fill_diagonal(f, 0.0)
    return Tournament.from_log_odds(
        names or [f"{i}" for i in range(n)], np.nan_to_num(f), ~np.isnan(f)
    )


def upper(part):
    return part[np.triu_indices(3, 1)]


def test_rock_paper_scissors_is_all_curl():
    found = hodge_decomposition(graph({(0, 1): 1, (0, 2): -1, (1, 2): 1}, 3))
    assert found.ratings == pytest.approx([0, 0, 0])
    assert found.shares == pytest.approx((0, 1, 0))
    assert found.intransitivity == pytest.approx(1)


def test_differences_of_ratings_are_found_again():
    s = np.array([2.0, 1.0, 0.0, -3.0])
    found = hodge_decomposition(Tournament.from_log_odds("abcd", s[:, None] - s[None, :]))
    assert found.ratings == pytest.approx(s)
    assert found.intransitivity == pytest.approx(0, abs=1e-9)
    assert found.cycle_dimension == 3


def test_the_worked_triangle():
    found = hodge_decomposition(graph({(0, 1): 1.0, (0, 2): 0.2, (1, 2): 0.8}, 3))
    assert found.ratings == pytest.approx([0.4, -0.0667, -0.3333], abs=1e-4)
    assert upper(found.gradient) == pytest.approx([0.4667, 0.7333, 0.2667], abs=1e-4)
    assert upper(found.curl + found.harmonic) == pytest.approx([0.5333, -0.5333, 0.5333], abs=1e-4)
    assert found.intransitivity == pytest.approx(0.71270, abs=1e-5)
    assert found.shares[:2] == pytest.approx((0.49206, 0.50794), abs=1e-5)


def test_a_circle_of_four_is_all_harmonic():
    found = hodge_decomposition(graph({(0, 1): 1, (1, 2): 1, (2, 3): 1, (3, 0): 1}, 4))
    assert found.shares == pytest.approx((0, 0, 1))
    assert found.cycle_dimension == 1


@given(flows())
def test_parts_add_up_and_are_orthogonal(f):
    found = hodge_decomposition(Tournament.from_log_odds([str(i) for i in range(len(f))], f))
    assert np.allclose(found.gradient + found.curl + found.harmonic, f)
    assert np.sum(found.gradient * found.curl) == pytest.approx(0, abs=1e-8)


@given(flows(min_n=4), st.randoms())
def test_parts_of_an_incomplete_weighted_graph(f, random):
    w = np.array([[random.choice([0.0, 0.5, 2.0]) for _ in f] for _ in f])
    w = np.triu(w, 1) + np.triu(w, 1).T
    found = hodge_decomposition(Tournament.from_log_odds([str(i) for i in range(len(f))], f, w))
    f = np.where(w > 0, f, 0.0)
    assert np.allclose(found.gradient + found.curl + found.harmonic, f, atol=1e-7)
    for one, other in [("gradient", "curl"), ("gradient", "harmonic"), ("curl", "harmonic")]:
        product = np.sum(w * getattr(found, one) * getattr(found, other))
        assert product == pytest.approx(0, abs=1e-6)
    h = found.harmonic  # no sum around any triangle
    for t in worst_triangles(Tournament.from_log_odds(found.names, h, w), 1000):
        assert t.curl == pytest.approx(0, abs=1e-6)


def curl_by_all_triangles(cyclic, w):
    """The slow twin: a dense least-squares problem with one column for each triangle."""
    edges = [(i, j) for i, j in itertools.combinations(range(len(w)), 2) if w[i, j] > 0]
    root = np.sqrt([w[e] for e in edges])
    columns = []
    for i, j, k in itertools.combinations(range(len(w)), 3):
        if w[i, j] and w[j, k] and w[i, k]:
            signs = {(i, j): 1.0, (j, k): 1.0, (i, k): -1.0}
            columns.append([signs.get(e, 0.0) for e in edges])
    if not columns:
        return np.zeros(len(edges))
    around = np.array(columns).T / root[:, None]
    target = root * np.array([cyclic[e] for e in edges])
    return around @ np.linalg.lstsq(around, target, rcond=None)[0] / root


@pytest.mark.parametrize("seed", range(12))
def test_the_curl_part_is_that_of_listing_all_triangles(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 13))
    f = rng.normal(size=(n, n)) * 10.0 ** rng.integers(-3, 3)
    w = np.where(rng.random((n, n)) < 0.6, rng.choice([0.01, 1.0, 50.0], (n, n)), 0.0)
    w = np.triu(w, 1) + np.triu(w, 1).T
    found = hodge_decomposition(Tournament.from_log_odds(list(map(str, range(n))), f - f.T, w))
    slow = curl_by_all_triangles(found.curl + found.harmonic, w)
    edges = [(i, j) for i, j in itertools.combinations(range(n), 2) if w[i, j] > 0]
    scale = np.abs(f).max()
    assert np.array([found.curl[e] for e in edges]) == pytest.approx(slow, abs=1e-6 * scale)


def test_a_gradient_alone_leaves_no_curl():
    """What is cyclic by rounding alone must not be blown up."""
    s = np.array([0.1, 0.7, -0.3, 0.2, 1.9])
    w = np.ones((5, 5)) - np.eye(5)
    w[0, 1] = w[1, 0] = 0.0
    found = hodge_decomposition(Tournament.from_log_odds("abcde", s[:, None] - s, w))
    assert np.abs(found.curl).max() < 1e-12
    assert np.abs(found.harmonic).max() < 1e-12


@given(flows(), st.floats(0.1, 10), st.randoms())
def test_ratings_scale_and_follow_relabelling(f, scale, random):
    order = list(range(len(f)))
    random.shuffle(order)
    ones = np.ones_like(f)
    r = hodge_ratings(f, ones)
    assert hodge_ratings(scale * f, ones) == pytest.approx(scale * r, abs=1e-8)
    assert hodge_ratings(f[np.ix_(order, order)], ones) == pytest.approx(r[order], abs=1e-9)
    assert r.sum() == pytest.approx(0, abs=1e-8)
    assert r == pytest.approx(f.mean(axis=1), abs=1e-9)  # complete and unweighted


@given(flows(min_n=3))
def test_a_copy_shares_the_rating(f):
    n = len(f)
    copied = np.zeros((n + 1, n + 1))
    copied[:n, :n] = f
    copied[n, :n], copied[:n, n] = f[0], f[:, 0]
    r = hodge_ratings(copied, np.ones_like(copied))
    assert r[n] == pytest.approx(r[0], abs=1e-9)


@given(st.lists(st.floats(-4, 4), min_size=4, max_size=7), st.data())
def test_a_missing_edge_changes_nothing_if_the_rest_is_transitive(s, data):
    s = np.array(s) - np.mean(s)
    f, w = s[:, None] - s[None, :], np.ones((len(s), len(s)))
    i, j = data.draw(st.permutations(range(len(s))))[:2]
    w[i, j] = w[j, i] = 0.0
    assert hodge_ratings(f, w) == pytest.approx(s, abs=1e-8)


@given(flows(min_n=3), st.floats(-3, 3))
def test_adding_ratings_to_the_edges_adds_them_to_the_ratings(f, lift):
    s = np.zeros(len(f))
    s[0] = lift
    moved = hodge_ratings(f + s[:, None] - s[None, :], np.ones_like(f))
    assert moved == pytest.approx(hodge_ratings(f, np.ones_like(f)) + s - s.mean(), abs=1e-9)


def test_the_weighted_solution_is_that_of_least_squares():
    rng = np.random.default_rng(0)
    n = 6
    f, w = rng.normal(size=(n, n)), rng.random((n, n))
    f, w = f - f.T, w + w.T
    i, j = np.triu_indices(n, 1)
    incidence = np.zeros((i.size, n))
    incidence[np.arange(i.size), i], incidence[np.arange(i.size), j] = 1, -1
    root = np.sqrt(w[i, j])
    slow = np.linalg.lstsq(root[:, None] * incidence, root * f[i, j], rcond=None)[0]
    assert hodge_ratings(f, w) == pytest.approx(slow - slow.mean())


def test_cycles_are_named_in_the_direction_of_winning():
    tournament = graph(
        {(0, 1): 1.0, (1, 2): 2.0, (2, 0): 0.5, (0, 3): 4, (1, 3): 9, (2, 3): 1}, 4, "RSPx"
    )
    (cycle,) = worst_triangles(tournament, cycles_only=True)
    assert cycle.curl == pytest.approx(3.5)
    assert cycle.is_cycle
    assert set(zip(cycle.names, (*cycle.names[1:], cycle.names[0]), strict=True)) == {
        ("R", "S"), ("S", "P"), ("P", "R"),
    }  # fmt: skip
    assert not worst_triangles(tournament, 1)[0].is_cycle


def test_the_theorem_on_independent_traits():
    """The expected cyclic share is (1 - 2 rho) L / E (Strang, Abbott and Thomas 2022)."""
    rng = np.random.default_rng(0)
    for skill in (0.0, 1.0, 3.0):
        cyclic = whole = 0.0
        for _ in range(400):
            x = rng.normal(size=(6, 3))
            f = (
                skill * (x[:, [2]] - x[:, 2])
                + np.outer(x[:, 0], x[:, 1])
                - np.outer(x[:, 1], x[:, 0])
            )
            found = hodge_decomposition(Tournament.from_log_odds("abcdef", f))
            cyclic += np.sum(found.curl**2)
            whole += np.sum(f**2)
        # f(X, Y) has variance 2 skill^2 + 2, f(X, Y) and f(X, W) covariance skill^2
        rho = skill**2 / (2 * skill**2 + 2)
        assert np.sqrt(cyclic / whole) == pytest.approx(
            expected_intransitivity(rho, 6, 15), rel=0.05
        )


def test_the_correlation_of_traits_is_estimated():
    s = np.random.default_rng(0).normal(size=200)
    assert trait_correlation(
        Tournament.from_log_odds([str(i) for i in range(200)], s[:, None] - s)
    ) == (pytest.approx(0.5, abs=0.02))


@given(flows(max_n=6), st.randoms())
def test_triangles_are_those_of_trying_all_threes(f, random):
    w = np.array([[random.choice([0.0, 1.0, 1.0]) for _ in f] for _ in f])
    w = np.triu(w, 1) + np.triu(w, 1).T
    found = Tournament.from_log_odds([str(i) for i in range(len(f))], f, w)
    f = found.log_odds
    slow = {}
    for i, j, k in itertools.combinations(range(len(f)), 3):
        if w[i, j] and w[j, k] and w[i, k]:
            signs = {np.sign(f[i, j]), np.sign(f[j, k]), np.sign(f[k, i])}
            slow[i, j, k] = abs(f[i, j] + f[j, k] + f[k, i]), signs in ({1.0}, {-1.0})
    every = worst_triangles(found, 1000)
    assert len(every) == len(slow)
    for t in every:
        curl, is_cycle = slow[tuple(sorted(int(name) for name in t.names))]
        assert t.curl == pytest.approx(curl)
        assert t.is_cycle == is_cycle
    sizes = sorted((size for size, _ in slow.values()), reverse=True)[:3]
    assert [t.curl for t in worst_triangles(found, 3)] == pytest.approx(sizes)
    cycles = sum(is_cycle for _, is_cycle in slow.values())
    assert n_cycles(found) == len(worst_triangles(found, 1000, cycles_only=True)) == cycles


@given(flows())
def test_no_differences_no_shares(f):
    assume(len(f) > 2)
    found = hodge_decomposition(Tournament.from_log_odds([str(i) for i in range(len(f))], 0 * f))
    assert np.isnan(found.intransitivity)


def test_rounding_makes_no_circles():
    """What one rule says the other takes back, so that every edge is 0 but for rounding."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        scores = rng.integers(0, 3, (3, 3, 3)).astype(float)
        samples = tuple(tuple(row) for row in np.concatenate([scores, -scores]))
        graph = Tournament.of(Contest(("a", "b", "c"), tuple("uvwxyz"), samples))
        assert np.abs(graph.log_odds).max() < 1e-12
        assert n_cycles(graph) == 0
        assert not worst_triangles(graph, cycles_only=True)


def test_traits_estimated_from_a_complete_graph_say_nothing_new():
    upper = np.triu(np.random.default_rng(0).normal(1.0, 1.0, (6, 6)), 1)
    graph = Tournament.from_log_odds("abcdef", upper - upper.T)
    expected = expected_intransitivity(trait_correlation(graph), 6, graph.n_edges)
    assert expected == pytest.approx(hodge_decomposition(graph).intransitivity)
