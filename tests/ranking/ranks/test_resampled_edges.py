"""Resampled edges: the quick ways for contestants who are alike, or few, give the same bits."""

from __future__ import annotations

import itertools

import numpy as np

from gnomon.ranking import Contest
from gnomon.ranking.ranks.resampled_ratings import Edges


def test_the_few_and_alike_get_what_they_get_among_others():
    rng = np.random.default_rng(0)
    for decimals in (0, 6):
        runs = [[np.round(rng.normal(size=3), decimals) for _ in range(5)] for _ in range(4)]
        names, grounds = tuple("abcde"), tuple("wxyz")
        alike = Edges(Contest(names, grounds, tuple(map(tuple, runs))))
        # Those without a run change no draw, but nobody is alike any more, nor are eight more few.
        for absent, permuted in itertools.product(("f", "fghijklm"), (False, True)):
            nothing = [np.empty(0)] * len(absent)
            there = tuple((*row, *nothing) for row in runs)
            other, key = Edges(Contest((*names, *absent), grounds, there)), np.uint64(7)
            for quick, slow in zip(
                alike.resampled(9, key, permuted=permuted),
                other.resampled(9, key, permuted=permuted),
                strict=True,
            ):
                for ours, theirs in zip(quick, slow, strict=True):
                    assert np.array_equal(ours, theirs[:, :5, :5]), (decimals, absent, permuted)
