"""Nash averaging: what makes an equilibrium, and the one with the largest entropy.

Alpha-Rank: against OpenSpiel, and what a population does in a cycle.
"""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from gnomon.ranking import (
    alpha_rank,
    max_entropy_equilibrium,
    nash_averaging,
    stationary_distribution,
)
from strategies_ranking import flows


def entropy(p):
    return -np.sum(p * np.log(np.maximum(p, 1e-300)))


@settings(max_examples=60)
@given(flows())
def test_nobody_beats_the_equilibrium(f):
    p = max_entropy_equilibrium(f)
    assert p.sum() == pytest.approx(1)
    assert (p >= 0).all()
    assert (f @ p).max() <= 1e-8 * np.abs(f).max(initial=0)


@pytest.mark.parametrize("n", range(3, 11))
def test_nobody_beats_the_equilibrium_of_any_payoffs(n):
    rng = np.random.default_rng(n)
    for _ in range(40):
        f = rng.normal(size=(n, n))
        ratings, p = nash_averaging(f - f.T)
        assert ratings.max() <= 1e-12
        assert np.abs(ratings[p > 1e-9]).max() <= 1e-12


@pytest.mark.parametrize("least", [1e-3, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10])
def test_payoffs_of_very_different_sizes_have_an_equilibrium(least):
    """The solver works to 1e-7: what is smaller counts as nothing, what is near it may not err."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        n = rng.integers(3, 8)
        sizes = np.exp(rng.uniform(np.log(least), 0.0, (n, n)))
        f = np.triu(rng.normal(size=(n, n)) * sizes, 1)
        p = nash_averaging(f - f.T)[1]
        assert p.sum() == pytest.approx(1.0, abs=1e-6)
        assert ((f - f.T) @ p).max() <= 2e-5 * np.abs(f).max()


def test_a_circle_rates_all_alike():
    ratings, p = nash_averaging([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])
    assert ratings.tolist() == [0.0, 0.0, 0.0]
    assert p == pytest.approx([1 / 3] * 3)


@pytest.mark.full
@settings(max_examples=25)
@given(st.integers(3, 5), st.integers(0, 10**6))
def test_no_equilibrium_is_more_even(n, seed):
    """Against a general solver, on small whole payoffs that have many equilibria."""
    rng = np.random.default_rng(seed)
    f = np.triu(rng.integers(-1, 2, (n, n)), 1).astype(float)
    f = f - f.T
    ours = max_entropy_equilibrium(f)
    slow = minimize(
        lambda p: -entropy(p),
        np.full(n, 1 / n),
        method="SLSQP",
        bounds=[(0, 1)] * n,
        constraints=[
            {"type": "eq", "fun": lambda p: p.sum() - 1},
            {"type": "ineq", "fun": lambda p: -f @ p},
        ],
        options={"maxiter": 500, "ftol": 1e-12},
    )
    if slow.success and (f @ slow.x).max() < 1e-8:
        assert entropy(ours) >= entropy(slow.x) - 1e-5


def test_rock_paper_scissors_share_evenly():
    ratings, p = nash_averaging([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])
    assert p == pytest.approx([1 / 3] * 3)
    assert ratings == pytest.approx([0, 0, 0], abs=1e-9)


def test_copies_change_nothing():
    f = np.array([[0, 4.6, -4.6, 1], [-4.6, 0, 4.6, 2], [4.6, -4.6, 0, 3], [-1, -2, -3, 0]])
    ratings, p = nash_averaging(f)
    at = [0, 0, 1, 2, 3]
    copied_ratings, copied_p = nash_averaging(f[np.ix_(at, at)])
    assert copied_ratings == pytest.approx(ratings[at], abs=1e-6)
    assert copied_p[:2] == pytest.approx([p[0] / 2] * 2, abs=1e-6)


def test_the_best_of_a_transitive_game_is_the_equilibrium():
    s = np.array([1.0, 3.0, 2.0])
    ratings, p = nash_averaging(s[:, None] - s[None, :])
    assert p == pytest.approx([0, 1, 0], abs=1e-9)
    assert ratings == pytest.approx(s - 3.0)


def test_no_differences_are_even():
    assert max_entropy_equilibrium(np.zeros((4, 4))).tolist() == [0.25] * 4


@pytest.mark.parametrize(("alpha", "n"), [(0.1, 5), (0.5, 5), (2.0, 5), (0.3, 2), (0.7, 9)])
def test_the_distribution_is_open_spiels(alpha, n):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = pytest.importorskip(
            "open_spiel.python.egt.alpharank",
            reason="open-spiel (with networkx) is not installed: nothing to compare with",
        )
    p = np.random.default_rng(n).random((n, n))
    p = p / (p + p.T)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        law = theirs.compute([p], m=20, alpha=alpha, use_local_selection_model=True)[2]
    assert alpha_rank(p, population=20, alphas=[alpha]).ratings == pytest.approx(law, abs=1e-9)


@settings(max_examples=50)
@given(flows(), st.sampled_from([0.01, 1.0]))
def test_the_distribution_is_stationary(f, alpha):
    """What flows out of everybody flows in: from s to r as often as r takes over."""
    p = 1 / (1 + np.exp(-f))
    m = 20
    law = alpha_rank(p, population=m, alphas=[alpha]).ratings
    assert law.sum() == pytest.approx(1)
    assert (law >= 0).all()
    u = alpha * (p - p.T)
    with np.errstate(invalid="ignore"):
        taken = np.where(np.abs(u) < 1e-12, 1 / m, np.expm1(-u) / np.expm1(-m * u))
    np.fill_diagonal(taken, 0.0)
    flow = taken.T * law[:, None]  # from s, the row, to r
    assert flow.sum(axis=0) == pytest.approx(flow.sum(axis=1), rel=1e-6, abs=1e-12)


def test_elimination_finds_the_eigenvector():
    chain = np.random.default_rng(0).random((6, 6))
    chain /= chain.sum(axis=1, keepdims=True)
    law = stationary_distribution(chain)
    assert law @ chain == pytest.approx(law)


def test_a_cycle_shares_and_the_beaten_one_is_gone():
    p = np.array(
        [[0.5, 0.9, 0.1, 0.9], [0.1, 0.5, 0.9, 0.9], [0.9, 0.1, 0.5, 0.9], [0.1, 0.1, 0.1, 0.5]]
    )
    found = alpha_rank(p)
    assert found.ratings == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0], abs=1e-6)
    assert found.settled
    assert found.distributions[0] == pytest.approx([0.25] * 4, abs=0.15)  # weak selection: even


def test_without_differences_everyone_lasts_as_long():
    assert alpha_rank(np.full((3, 3), 0.5)).ratings == pytest.approx([1 / 3] * 3)


def test_the_sweep_is_told():
    found = alpha_rank([[0.5, 0.9], [0.1, 0.5]])
    assert found.sweep_in_words().startswith("alpha from 0.01 to ")
    assert ": settled; who is on top changes 0 times" in found.sweep_in_words()
    early = alpha_rank([[0.5, 0.9], [0.1, 0.5]], alphas=[0.01, 0.1])
    assert "2 steps: not settled, the last steps differ" in early.sweep_in_words()
