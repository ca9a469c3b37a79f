"""How stable a choice is."""

import numpy as np
import pytest
from gnomon.distill.stability import (
    Committee,
    Stability,
    committee_of,
    fold_seed_stability,
    left_out_stability,
    selection_stability,
)

from gnomon.distill.procedures.factor import FactorProcedure
from gnomon.distill.procedures.least_squares import PaperProcedure
from gnomon.errors import ScoreDataError
from gnomon.execution.executor import make_executor

OURS = FactorProcedure()


def test_counts():
    stability = Stability.of([("a", "b"), ("b", "a"), ("a", "c")])
    assert stability.sets == ((("a", "b"), 2 / 3), (("a", "c"), 1 / 3))
    assert stability.tasks[0] == ("a", 1.0)
    assert stability.stands_out


def test_samples_are_the_generators(make_scores):
    data = make_scores(40, 8, families=8)
    first = selection_stability(data, OURS, 2, n_samples=10, rng=np.random.default_rng(1))
    again = selection_stability(
        data, OURS, 2, n_samples=10, rng=np.random.default_rng(1), executor=make_executor(2)
    )
    assert first == again
    by_group = selection_stability(
        data, OURS, 2, n_samples=10, by_group=True, rng=np.random.default_rng(1)
    )
    assert by_group.n_models == 10


def test_fold_seeds(paper):
    stability = fold_seed_stability(paper, 5, n_seeds=6)
    assert stability.tasks[0][1] == 1.0
    assert dict(stability.tasks)["battlezone"] == 1.0


def test_without_each_paper_in_turn(paper):
    """The figures are known from an independent program: Atari-5 in 19 of 31 choices."""
    stability = left_out_stability(paper, PaperProcedure(), 5)
    assert stability.n_models == 31
    shares = dict(stability.sets)
    atari5 = ("battlezone", "doubledunk", "namethisgame", "phoenix", "qbert")
    assert shares[atari5] == pytest.approx(19 / 31)
    assert dict(stability.tasks)["battlezone"] == 1.0


def test_two_are_needed_to_leave_one_out(make_scores):
    data = make_scores(20, 4, families=1)
    with pytest.raises(ScoreDataError, match="at least 2 to leave out, found 1"):
        left_out_stability(data, OURS, 2)


def test_a_committee_votes(make_scores):
    data = make_scores(40, 8)
    stability = Stability.of([("t00", "t01"), ("t00", "t01"), ("t02", "t03")])
    committee = committee_of(data, OURS, stability)
    assert committee.shares == pytest.approx((2 / 3, 1 / 3))
    assert committee.tasks == ("t00", "t01", "t02", "t03")
    scores = dict(zip(data.tasks, data.x[0], strict=True))
    each = [model.estimate(scores).value for model in committee.models]
    assert committee.estimate(scores) == pytest.approx(2 / 3 * each[0] + 1 / 3 * each[1])
    few = {task: scores[task] for task in ("t02", "t03")}
    assert committee.estimate(few) == pytest.approx(each[1])
    with pytest.raises(ScoreDataError, match="scores on all of t00, t01"):
        Committee(committee.models, committee.shares).estimate({"t00": 1.0})
