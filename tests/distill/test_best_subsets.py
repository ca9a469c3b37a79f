"""The best of many subsets, part by part."""

import numpy as np

from gnomon.distill.search.pieces import BestSubsets


def test_parts_give_what_the_whole_gives():
    rng = np.random.default_rng(0)
    errors = rng.integers(0, 50, 400).astype(float)  # Many ties.
    errors[rng.random(400) < 0.1] = np.nan
    columns = np.array(np.unravel_index(np.arange(400), (20, 20))).T
    best = BestSubsets(7)
    for part in np.array_split(rng.permutation(400), 60):
        best.add((errors[part], columns[part]))
    found = best.found()
    order = sorted((e, tuple(c)) for e, c in zip(errors, columns.tolist(), strict=True) if e == e)
    assert [(e, tuple(c)) for e, c in zip(*map(np.ndarray.tolist, found), strict=True)] == order[:7]


def test_nothing_is_nothing():
    best = BestSubsets(3)
    best.add((np.array([np.nan]), np.array([[1, 2]])))
    best.add((np.empty(0), np.empty((0, 0), dtype=np.int64)))
    assert best.found()[0].size == 0
