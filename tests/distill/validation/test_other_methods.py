"""Other ways to take a few tasks, on the protocol of all."""

from __future__ import annotations

import numpy as np

from gnomon.distill import baselines
from gnomon.scores import ScoreTable


def test_item_response_estimates_of_a_suite_that_is_seen_whole_are_its_summary():
    rng = np.random.default_rng(0)
    rows = rng.normal(3, 1, (30, 1)) + rng.normal(0, 0.5, (30, 4))
    table = ScoreTable.from_arrays({f"a{i:02}": [row] for i, row in enumerate(rows)})
    whole = baselines(table, size=4, folds=5, transform="identity", summary="median")
    errors = {one.method: one.error for one in whole}
    assert errors["anchors, p-IRT"] < 1e-12
    assert errors["anchors, gp-IRT"] < 1e-12
    few = baselines(table, size=2, folds=5, transform="identity", summary="mean")
    errors = {one.method: one.error for one in few}
    assert errors["anchors, p-IRT"] < errors["none: the median"]
    assert errors["anchors, gp-IRT"] < errors["none: the median"]
