"""How stable a choice is."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from gnomon.distillation import Committee, FactorProcedure, Stability, stability
from gnomon.errors import ScoreDataError


def test_counts():
    counts = Stability.of([("a", "b"), ("b", "a"), ("a", "c")])
    assert counts.sets == ((("a", "b"), 2 / 3), (("a", "c"), 1 / 3))
    assert counts.tasks[0] == ("a", 1.0)
    assert counts.stands_out
    assert str(counts).endswith("2 different subsets in 3 draws: one subset stands out")
    assert counts.to_polars().shape == (5, 3)


def test_samples_are_the_generators(make_scores):
    data = make_scores(40, 8, families=8)
    first = stability(data, size=2, samples=10, rng=np.random.default_rng(1))
    with ThreadPoolExecutor(2) as executor:
        assert first == stability(data, size=2, samples=10, rng=1, executor=executor)
    by_group = stability(data, size=2, by="groups", samples=10, rng=1)
    assert by_group.n_models == 10


def test_fold_seeds(paper):
    counts = stability(paper, size=5, by="fold-seeds", samples=6)
    assert counts.tasks[0][1] == 1.0
    assert dict(counts.tasks)["battlezone"] == 1.0


def test_without_each_paper_in_turn(papers_choice):
    """The figures are known from an independent program: Atari-5 in 19 of 31 choices."""
    counts = Stability.of(papers_choice.nested.chosen)
    assert counts.n_models == 31
    shares = dict(counts.sets)
    atari5 = ("battlezone", "doubledunk", "namethisgame", "phoenix", "qbert")
    assert shares[atari5] == pytest.approx(19 / 31)
    assert dict(counts.tasks)["battlezone"] == 1.0


@pytest.mark.full
def test_the_choices_without_each_paper_are_those_of_the_nested_validation(paper, papers_choice):
    counts = stability(paper, size=5, procedure="paper", by="left-out-groups")
    assert counts == Stability.of(papers_choice.nested.chosen)


def test_without_each_group_in_turn(make_scores):
    """Each choice is that of the other groups' rows."""
    data = make_scores(30, 6, families=5)
    ours = FactorProcedure()
    counts = stability(data, size=2, by="left-out-groups")
    groups = np.array(data.groups)
    chosen = [ours.choose(data.rows(groups != g), 2)[0] for g in np.unique(groups)]
    assert counts == Stability.of(chosen)


def test_two_are_needed_to_leave_one_out(make_scores):
    data = make_scores(20, 4, families=1)
    with pytest.raises(ScoreDataError, match="at least 2 to leave out, found 1"):
        stability(data, size=2, by="left-out-groups")


def test_groups_are_needed_to_draw_them(make_scores):
    with pytest.raises(ScoreDataError, match="stability by groups needs groups: name the column"):
        stability(make_scores(20, 4), size=2, by="groups")


def test_members_stand_below_the_counts(make_scores):
    found = stability(make_scores(30, 6), size=2, samples=8, committee=2)
    members = found.where(kind="member")
    assert found.committee.shares == tuple(one.share for one in members)
    assert sum(found.committee.shares) == pytest.approx(1.0)
    assert found.as_records()[-1]["weights"] == list(members[-1].model.weights)
    assert members[0].model.formula in str(found)


def test_a_committee_votes(make_scores):
    data = make_scores(40, 8)
    subsets = ("t00", "t01"), ("t02", "t03")
    models = tuple(FactorProcedure().fit(data, tasks) for tasks in subsets)
    committee = Committee(models, (2 / 3, 1 / 3))
    assert committee.tasks == ("t00", "t01", "t02", "t03")
    scores = dict(zip(data.tasks, data.x[0], strict=True))
    each = [model.estimate(scores).value for model in committee.models]
    assert committee.estimate(scores) == pytest.approx(2 / 3 * each[0] + 1 / 3 * each[1])
    few = {task: scores[task] for task in ("t02", "t03")}
    assert committee.estimate(few) == pytest.approx(each[1])
    with pytest.raises(ScoreDataError, match="scores on all of t00, t01"):
        Committee(committee.models, committee.shares).estimate({"t00": 1.0})
