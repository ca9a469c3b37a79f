"""Kemeny's order: against trying all orders, and up to forty."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings

from gnomon.errors import ScoreDataError
from gnomon.ranking.kemeny import disagreement, kemeny_order
from strategies_ranking import flows


@settings(max_examples=40)
@given(flows(max_n=6))
def test_no_order_disagrees_less(margins):
    order = kemeny_order(margins)
    assert sorted(order) == list(range(len(margins)))
    least = min(disagreement(list(o), margins) for o in itertools.permutations(range(len(margins))))
    assert disagreement(order, margins) == pytest.approx(least, abs=1e-6)


def test_forty_are_ordered():
    rng = np.random.default_rng(0)
    truth = rng.permutation(40)
    place = np.argsort(truth)
    margins = np.sign(place[None, :] - place[:, None]) * rng.random((40, 40))
    margins = np.triu(margins, 1) - np.triu(margins, 1).T
    assert kemeny_order(margins) == truth.tolist()
    noisy = margins + (lambda x: x - x.T)(rng.normal(0, 0.15, (40, 40)))
    order = kemeny_order(noisy)
    assert disagreement(order, noisy) <= disagreement(truth.tolist(), noisy)


def test_more_are_refused():
    with pytest.raises(
        ScoreDataError, match="expected at most 40 to find Kemeny's order, found 41"
    ):
        kemeny_order(np.zeros((41, 41)))
