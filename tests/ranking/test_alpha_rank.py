"""Alpha-Rank: against OpenSpiel, and what a population does in a cycle."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.ranking.ratings.game_theory import alpha_rank, stationary_distribution
from strategies_ranking import flows


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
