"""Resampled edges: the quick way for contestants with as many runs each gives the same bits."""

from __future__ import annotations

import numpy as np

from gnomon.ranking import Contest
from gnomon.ranking.ranks.resampled_ratings import Edges


def test_pairs_that_are_alike_get_what_they_get_among_others():
    rng = np.random.default_rng(0)
    for decimals in (0, 6):
        runs = [[np.round(rng.normal(size=3), decimals) for _ in range(5)] for _ in range(4)]
        names, grounds = tuple("abcde"), tuple("wxyz")
        alike = Edges(Contest(names, grounds, tuple(map(tuple, runs))))
        # Somebody without a run changes no draw, but nobody is alike any more.
        other = Edges(Contest((*names, "f"), grounds, tuple((*row, np.empty(0)) for row in runs)))
        for permuted in (False, True):
            key = np.uint64(7)
            for quick, slow in zip(
                alike.resampled(9, key, permuted=permuted),
                other.resampled(9, key, permuted=permuted),
                strict=True,
            ):
                for ours, theirs in zip(quick, slow, strict=True):
                    assert np.array_equal(ours, theirs[:, :5, :5]), (decimals, permuted)
