"""The tournament graph, and its resamples against a slow twin without the kernel's code."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.errors import UnknownNameError
from gnomon.ranking import Contest, Tournament
from gnomon.ranking.ranks.resampled_ratings import Edges
from gnomon.ranking.tournament import connected_components, laplacian_inverse
from strategies_ranking import contests

MASK = 2**64 - 1
STRIDE = 0x9E3779B97F4A7C15


class Draws:
    """Splitmix64 as its authors print it, in Python's integers."""

    def __init__(self, key, replicate):
        self.state = self.mix((key + (replicate + 1) * STRIDE) & MASK)

    @staticmethod
    def mix(z):
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def below(self, n):
        self.state = (self.state + STRIDE) & MASK
        return ((self.mix(self.state) >> 32) * n) >> 32


def slow_contest(contest, key, replicate, *, permuted, draw_grounds):
    """The contest that a replicate stands for: runs redrawn, or dealt out."""
    draws = Draws(key, replicate)
    rows, names = [], []
    for slot in range(len(contest.grounds)):
        g = draws.below(len(contest.grounds)) if draw_grounds else slot
        row = contest.samples[g]
        if permuted:
            runs = [(x, i) for i, sample in enumerate(row) for x in sample]
            runs.sort(key=lambda run: run[0])
            owners = [owner for _, owner in runs]
            for p in range(len(owners) - 1, 0, -1):
                q = draws.below(p + 1)
                owners[p], owners[q] = owners[q], owners[p]
            dealt = [
                [x for (x, _), o in zip(runs, owners, strict=True) if o == i]
                for i in range(len(row))
            ]
            rows.append(tuple(np.array(x, dtype=float) for x in dealt))
        else:
            rows.append(
                tuple(np.array([x[draws.below(len(x))] for _ in x], dtype=float) for x in row)
            )
        names.append(f"{slot}")
    return Contest(contest.names, tuple(names), tuple(rows))


@settings(max_examples=60)
@given(
    contests(), st.integers(0, 2**64 - 1), st.booleans(), st.booleans(), st.sampled_from([0.5, 1.0])
)
def test_resampled_edges_are_those_of_the_slow_twin(
    contest, key, permuted, draw_grounds, smoothing
):
    if permuted:
        draw_grounds = False
    edges = Edges(contest, smoothing, cap=3.0, draw_grounds=draw_grounds)
    (block,) = edges.resampled(3, np.uint64(key), permuted=permuted)
    for b in range(3):
        redrawn = slow_contest(contest, key, b, permuted=permuted, draw_grounds=draw_grounds)
        graph = Tournament.of(redrawn, smoothing=smoothing, cap=3.0)
        np.testing.assert_allclose(block[0][b], graph.log_odds, atol=1e-12)
        np.testing.assert_allclose(block[1][b], graph.probability, atol=1e-12)
        np.testing.assert_allclose(block[2][b], graph.weights, atol=1e-12)


def test_blocks_do_not_change_the_draws(monkeypatch):
    rng = np.random.default_rng(0)
    contest = Contest(("a", "b"), ("r",), ((rng.normal(size=9), rng.normal(size=7)),))
    whole = np.concatenate([f for f, _, _ in Edges(contest).resampled(20, np.uint64(5))])
    monkeypatch.setattr("gnomon.ranking.ranks.resampled_ratings.BLOCK", 3)
    for n_threads in (1, 2, 4):
        edges = Edges(contest, n_threads=n_threads)
        parts = np.concatenate([f for f, _, _ in edges.resampled(20, np.uint64(5))])
        assert np.array_equal(whole, parts)


@given(contests())
def test_edges_are_antisymmetric(contest):
    graph = Tournament.of(contest)
    assert np.allclose(graph.log_odds, -graph.log_odds.T)
    assert np.array_equal(graph.weights, graph.weights.T)


def two_rules():
    sure = (np.array([5.0, 6.0]), np.array([1.0, 2.0]))
    turned = (np.array([1.0, 2.0]), np.array([5.0, 6.0]))
    return Contest(("a", "b"), ("first", "second"), (sure, turned))


def test_rules_count_by_their_weights():
    edge = np.log(5.0)
    assert Tournament.of(two_rules()).log_odds[0, 1] == pytest.approx(0.0)
    graph = Tournament.of(two_rules(), weights={"first": 3.0})
    assert graph.log_odds[0, 1] == pytest.approx(edge / 2.0)
    assert graph.weights[0, 1] == 4.0


def test_precision_counts_sure_rules_more():
    rng = np.random.default_rng(0)
    many = (rng.normal(1, 1, 200), rng.normal(0, 1, 200))
    few = (rng.normal(-1, 1, 4), rng.normal(0, 1, 4))
    contest = Contest(("a", "b"), ("many", "few"), (many, few))
    equal, precise = Tournament.of(contest), Tournament.of(contest, weights="precision")
    assert precise.log_odds[0, 1] > equal.log_odds[0, 1]
    assert precise.variance[0, 1] < equal.variance[0, 1]


@pytest.mark.parametrize(("n_runs", "off"), [(4, 0.3), (40, 0.2)])
def test_variance_is_that_of_many_repetitions(n_runs, off):
    rng = np.random.default_rng(3)
    graphs = [
        Tournament.of(
            Contest(("a", "b"), ("r",), ((rng.normal(0.7, 1, n_runs), rng.normal(0, 1, n_runs)),))
        )
        for _ in range(500)
    ]
    found = np.var([g.log_odds[0, 1] for g in graphs])
    assert np.mean([g.variance[0, 1] for g in graphs]) == pytest.approx(found, rel=off)


def test_the_largest_edge_follows_from_runs_and_smoothing():
    contest = Contest(("a", "b"), ("r",), ((np.arange(100.0) + 200, np.arange(100.0)),))
    graph = Tournament.of(contest)
    assert graph.largest_edge == pytest.approx(np.log(100 * 100 + 1))  # about 9.2
    assert graph.log_odds[0, 1] == pytest.approx(graph.largest_edge)
    assert Tournament.of(contest, cap=2.0).log_odds[0, 1] == 2.0


def test_components_are_who_can_be_compared():
    linked = np.zeros((5, 5), dtype=bool)
    for i, j in [(0, 3), (1, 2), (2, 4)]:
        linked[i, j] = linked[j, i] = True
    assert connected_components(linked) == ((1, 2, 4), (0, 3))


def test_an_unknown_ground_is_named():
    with pytest.raises(UnknownNameError, match="unknown task 'frist'; did you mean 'first'"):
        Tournament.of(two_rules(), weights={"frist": 2.0})


def test_bad_numbers_are_refused():
    with pytest.raises(ValueError, match="expected smoothing above 0, found 0"):
        Tournament.of(two_rules(), smoothing=0.0)
    with pytest.raises(ValueError, match="expected cap above 0, found nan"):
        Tournament.of(two_rules(), cap=math.nan)
    for weight in (-1.0, math.inf, math.nan):
        with pytest.raises(
            ValueError, match=f"expected finite weights of 0 or more, found {weight:g}"
        ):
            Tournament.of(two_rules(), weights={"first": weight})
    with pytest.raises(ValueError, match="expected antisymmetric edges for 2 names"):
        Tournament.from_log_odds("ab", [[0, 1], [1, 0]])


def test_the_inverse_of_hundreds_who_all_met_is_exact():
    """Of a complete graph of equal weights w it is (I - J / n) / (w n), of as many as you like."""
    n, w = 600, 4.0
    exact = (np.eye(n) - 1.0 / n) / (w * n)
    found = laplacian_inverse(np.full((n, n), w))
    np.testing.assert_allclose(found, exact, atol=1e-12)
