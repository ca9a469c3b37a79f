"""Kemeny's order against all orders."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.errors import ScoreDataError
from gnomon.ranking import kemeny_order


def disagreement(order, margins):
    """Return the sum of the margins of the pairs that stand the wrong way round."""
    return np.maximum(-np.triu(np.asarray(margins)[np.ix_(order, order)], 1), 0.0).sum()


def least(margins):
    return min(disagreement(order, margins) for order in permutations(range(len(margins))))


@given(st.integers(1, 7), st.integers(0, 2**32 - 1), st.sampled_from(["normal", "signs", "wins"]))
@settings(max_examples=60, deadline=None)
def test_no_order_disagrees_less(n, seed, kind):
    rng = np.random.default_rng(seed)
    m = rng.normal(size=(n, n))
    if kind == "signs":
        m = rng.choice([-1.0, 0.0, 1.0], (n, n))
    if kind == "wins":
        m = rng.integers(0, 6, (n, n)).astype(float)
    m = m - m.T
    order = kemeny_order(m)
    assert sorted(order) == list(range(n))
    assert disagreement(order, m) == pytest.approx(least(m), abs=1e-9)


def test_an_order_without_cycles_is_found():
    strength = np.random.default_rng(0).permutation(30).astype(float)
    order = kemeny_order(strength[:, None] - strength)
    assert order == tuple(np.argsort(-strength))


def test_forty_with_cycles_take_a_moment():
    rng = np.random.default_rng(0)
    runs = rng.normal(np.arange(40) * 0.03, 1, (20, 40))
    m = np.sign(runs[:, :, None] - runs[:, None, :]).sum(axis=0)
    assert sorted(kemeny_order(m)) == list(range(40))


@pytest.mark.parametrize("margins", [[[0, 1], [1, 0]], [[0, np.inf], [-np.inf, 0]], [[0, 1]]])
def test_margins_that_are_none_are_refused(margins):
    with pytest.raises(ScoreDataError, match="finite antisymmetric margins"):
        kemeny_order(margins)
