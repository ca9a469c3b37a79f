"""Ways to choose tasks and weights."""

import numpy as np
import pytest

from gnomon.distillation import FactorProcedure, PaperProcedure, procedure_of
from gnomon.errors import ScoreDataError, UnknownNameError

ATARI5 = ("battlezone", "doubledunk", "namethisgame", "phoenix", "qbert")


def test_both_rules_of_the_paper_find_atari5(paper):
    assert PaperProcedure().choose(paper, 5)[0] == ATARI5
    assert PaperProcedure(criterion="in_sample").choose(paper, 5)[0] == ATARI5
    assert PaperProcedure(weights="non-negative").choose(paper, 5)[0] == ATARI5


def test_non_negative_leaves_subsets_out(paper):
    free = PaperProcedure().choose(paper, 5, n_best=200)
    bound = PaperProcedure(weights="non-negative").choose(paper, 5, n_best=150)
    lost = [tasks for tasks in free if tasks not in bound]
    assert sum(min(PaperProcedure().fit(paper, t).weights) < 0 for t in free) == 14
    assert all(min(PaperProcedure().fit(paper, t).weights) >= 0 for t in bound)
    assert len(lost) >= 14


def test_ours_finds_five_games_with_positive_weights(paper):
    chosen = FactorProcedure().choose(paper, 5)[0]
    assert chosen == ("bankheist", "battlezone", "berzerk", "namethisgame", "zaxxon")
    model = FactorProcedure().fit(paper, chosen)
    assert min(model.weights) > 0
    assert model.n_rows == 62  # Rows with gaps serve as far as they go.


def test_the_specified_variant_gives_the_specified_weights(paper):
    """One-factor, normal rows, weights for the plain median: figures known from elsewhere."""
    tasks = ("bankheist", "battlezone", "berzerk", "namethisgame", "zaxxon")
    normal = FactorProcedure(degrees_of_freedom=np.inf)
    assert normal.choose(paper, 5)[0] == tasks
    plain = FactorProcedure(degrees_of_freedom=np.inf, smoothed=False)
    model = plain.fit(paper, tasks)
    assert model.weights == pytest.approx((0.1052, 0.1857, 0.0772, 0.2938, 0.2459), abs=5e-5)
    assert model.intercept == pytest.approx(0.2563, abs=3e-4)


def test_non_negative_weights_of_a_covariance(make_scores):
    from dataclasses import replace

    data = make_scores()
    target = data.x[:, 0] - 0.8 * data.x[:, 1]
    turned = replace(data, target=target, smoothed=target)
    free = FactorProcedure(weights="any").fit(turned, ["t00", "t01"])
    bound = FactorProcedure().fit(turned, ["t00", "t01"])
    assert min(free.weights) < 0
    assert min(bound.weights) == 0


def test_names():
    for name in ("factor", "paper", "paper-code", "complete", "auto"):
        assert procedure_of(name).name == name
    with pytest.raises(UnknownNameError, match="unknown procedure 'papre'; did you mean 'paper'"):
        procedure_of("papre")
    assert procedure_of("paper", n_folds=5).folds.n_folds == 5


def test_errors_name_what_is_missing(make_scores):
    with pytest.raises(UnknownNameError, match="unknown task 't99'"):
        FactorProcedure().fit(make_scores(), ["t99"])
    with pytest.raises(ScoreDataError, match="at least 3 algorithms"):
        FactorProcedure().choose(make_scores(2), 1)


def test_an_option_that_there_is_not_is_refused(make_scores):
    for name in ("factor", "paper", "auto"):
        with pytest.raises(TypeError, match="n_bets"):
            procedure_of(name).choose(make_scores(), 2, n_bets=3)


def test_a_procedure_of_ones_own_is_taken_as_it_is():
    own = FactorProcedure(shrinkage=0.5)
    assert procedure_of(own, n_folds=3) is own
