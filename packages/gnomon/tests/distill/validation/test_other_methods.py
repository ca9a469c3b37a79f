"""Random, greedy and fixed sets on one protocol."""

from __future__ import annotations

import pytest

from gnomon.distillation import baselines
from gnomon.errors import UnknownNameError


def test_random_greedy_and_fixed_sets_are_judged_on_the_same_folds(make_scores):
    data = make_scores(gaps=0.05)
    found = baselines(data, size=2, folds=5, sets={"mine": ["t01", "t02", "t03"]})
    by_name = {one.method: one for one in found}
    assert [*by_name] == sorted(by_name, key=lambda name: by_name[name].error)
    assert set(by_name) == {"factor", "best single tasks", "random", "mine"}
    assert by_name["random"].skill == 0
    assert (by_name["mine"].hindsight, by_name["mine"].n_tasks) == (True, 3)
    with pytest.raises(UnknownNameError, match="unknown task 't99'"):
        baselines(data, sets={"mine": ["t99"]})
