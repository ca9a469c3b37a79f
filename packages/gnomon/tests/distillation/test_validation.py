"""Errors of algorithms that a choice had not seen, intervals that hold, agreement of two orders."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import kendalltau

from gnomon.distillation import FactorProcedure, PaperProcedure, cross_validate, nested_error
from gnomon.errors import ScoreDataError, UnknownNameError

OURS, PAPER = FactorProcedure(), PaperProcedure()
rng = np.random.default_rng


@pytest.mark.full
def test_the_default_errs_as_documented(paper):
    """Nested errors of the default are at most 13.5 %."""
    each = nested_error(paper, OURS, 5, n_folds=62, rng=rng(0))
    assert each.relative_error < 0.12
    assert each.n_predicted == 62
    lacking = np.isnan(paper.x[:, paper.tasks.index("berzerk")])
    assert lacking.sum() == 5  # Every choice has this game.
    assert np.abs(each.relative[lacking]).mean() < 0.12
    papers = nested_error(paper, OURS, 5, outer="groups", rng=rng(0))
    assert papers.relative_error < 0.12
    assert papers.concordance > 0.945


@pytest.mark.full
def test_the_papers_procedure_errs_as_documented(paper):
    games = ("battlezone", "doubledunk", "namethisgame", "phoenix", "qbert")
    assert cross_validate(paper, PAPER, games).fold_relative_error == pytest.approx(0.104, abs=5e-4)


@pytest.mark.full
def test_intervals_hold_beyond_the_training(paper):
    """At every cut of the published table by year, and above every level; scaled by the rest."""
    level = paper.transform.inverse(paper.target)
    cuts = [paper.years > year for year in (2015, 2016, 2017, 2018, 2019)]
    cuts += [level > most for most in (150, 200, 300, 600)]
    for later in cuts:
        marked = replace(paper, years=np.where(later, 2.0, 1.0))
        held = nested_error(marked, OURS, 5, outer="time", spread=True, rng=rng(0))
        assert held.n_predicted == later.sum()
        scale = nested_error(paper.rows(~later), OURS, 5, spread=True, rng=rng(0)).scale
        assert held.coverage(0.9, scale) >= 0.85
    next_year = nested_error(paper, OURS, 5, outer="time", spread=True, rng=rng(0))
    assert next_year.relative_error < 0.1555
    assert next_year.n_predicted == 42
    scale = nested_error(paper, OURS, 5, spread=True, rng=rng(0)).scale
    assert next_year.coverage(0.9, scale) > 0.9


def dated(make_scores, seed=0):
    """Return scores that rise with the year."""
    data = make_scores(60, 12, seed=seed)
    trend = np.arange(60)[:, None] / 60
    y = np.median(data.x + trend, axis=1)
    years = 2000.0 + np.arange(60) * 10 // 60
    return replace(data, x=data.x + trend, target=y, smoothed=y, years=years)


def test_intervals_cover_inside_and_in_time(make_scores):
    covered = []
    for seed in range(3):
        data = dated(make_scores, seed)
        inside = nested_error(data, OURS, 4, spread=True, rng=rng(seed))
        later = nested_error(data, OURS, 4, outer="time", spread=True, rng=rng(seed))
        covered.append((inside.coverage(0.9, inside.scale), later.coverage(0.9, inside.scale)))
    assert np.mean(covered, axis=0).min() >= 0.85


def test_time_trains_on_the_past_alone(make_scores):
    data = dated(make_scores)
    held = nested_error(data, OURS, 2, outer="time", rng=rng(0))
    predicted = ~np.isnan(held.residuals)
    assert set(data.years[~predicted]) == {2000.0, 2001.0, 2002.0, 2003.0}  # Fewer than 20 before.
    past, last = data.years < 2009, data.years == 2009
    tasks = OURS.choose(data.rows(past), 2)
    model = OURS.fit(data.rows(past), tasks)
    by_hand = model.predict(data.x[last][:, data.columns(tasks)]) - data.target[last]
    assert held.residuals[last] == pytest.approx(by_hand)
    with pytest.raises(ScoreDataError, match="needs dates: name their column"):
        nested_error(replace(data, years=None), OURS, 2, outer="time", rng=rng(0))
    with pytest.raises(ScoreDataError, match="too few to predict what came later"):
        nested_error(data.rows(np.arange(15)), OURS, 2, outer="time", rng=rng(0))


def test_held_out_rows_do_not_leak(make_scores):
    """A held-out algorithm's own scores have no part in its fold's model."""
    data = make_scores(30, 6)
    plain = nested_error(data, OURS, 2, n_folds=30, rng=rng(0))
    target = data.target.copy()
    target[4] += 100.0
    changed = replace(data, target=target, smoothed=target)
    other = nested_error(changed, OURS, 2, n_folds=30, rng=rng(0))
    assert other.chosen[plain.folds[4]] == plain.chosen[plain.folds[4]]
    assert other.residuals[4] == pytest.approx(plain.residuals[4] - 100.0)


def test_what_is_left_out(make_scores):
    data = make_scores(30, 6, families=5)
    for outer, n in (("folds", 10), ("groups", 5)):
        told = []
        held = nested_error(
            data,
            OURS,
            2,
            outer=outer,
            rng=rng(0),
            progress=lambda *now, told=told: told.append(now),
        )
        assert len(held.chosen) == n
        assert told[-1] == (n, n)
        again = nested_error(data, OURS, 2, outer=outer, rng=rng(0))
        assert np.array_equal(held.residuals, again.residuals)
    with pytest.raises(UnknownNameError, match="unknown nested 'group'"):
        nested_error(data, OURS, 2, outer="group", rng=rng(0))
    with pytest.raises(ScoreDataError, match="expected 2 to 30 folds for 30 algorithms, found 31"):
        nested_error(data, OURS, 2, n_folds=31, rng=rng(0))
    with pytest.raises(ScoreDataError, match=r"validation failed: .* a size from 1 to 6, found 7"):
        nested_error(data, OURS, 7, rng=rng(0))


def test_where_scores_are_missing(make_scores):
    """Least squares predicts complete rows alone; ours all that have some score of the subset."""
    data = make_scores(40, 5, gaps=0.1)
    assert nested_error(data, PAPER, 3, rng=rng(0)).n_predicted < 40
    ours = nested_error(data, OURS, 3, rng=rng(0))
    assert ours.n_predicted == 40
    assert ours.relative_error < 0.3
    with pytest.raises(ScoreDataError, match=r"at least 10 algorithms .* t00.*; found 6"):
        cross_validate(make_scores(6), PAPER, ["t00"])


def test_the_order_is_that_of_all_pairs(make_scores):
    data = make_scores(25, 6)
    held = nested_error(data, OURS, 1, rng=rng(0))
    # Without ties, Kendall's tau is twice the share of pairs in the right order, minus one.
    tau = kendalltau(data.target + held.residuals, data.target).statistic
    assert 2 * held.concordance - 1 == pytest.approx(tau)


def test_the_order_of_atari5(paper):
    """Cross-validated, Atari-5 keeps 900 of 946 pairs in order."""
    games = ("battlezone", "doubledunk", "namethisgame", "phoenix", "qbert")
    assert cross_validate(paper, PAPER, games).concordance == pytest.approx(900 / 946)
