"""Which of two algorithms is better: probabilities from a few tasks, and how far they hold."""

import numpy as np
import pytest

from gnomon.distill import FactorProcedure, Forecast, compare, distill, nested_error, reliability
from gnomon.distill.comparison import reliability_of
from gnomon.distill.forecasts.pairs import compare_forecasts
from gnomon.errors import ScoreDataError, UnknownNameError
from gnomon.scores import ScoreTable


def table_of(n=50, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(2, 0.7, (n, 1)) + rng.normal(0, 0.3, (n, 9))
    return ScoreTable.from_arrays({f"a{i:02}": [row] for i, row in enumerate(x)})


@pytest.fixture(scope="module")
def model():
    return distill(table_of(), size=3, transform="identity").model


def test_two_directions_are_one_answer(model):
    table = table_of()
    there, back = compare(model, "a00", "a05", table)[0], compare(model, "a05", "a00", table)[0]
    assert there.probability == pytest.approx(1 - back.probability)
    assert there.difference == -back.difference
    assert (there.low, there.high) == (-back.high, -back.low)


def test_errors_of_like_algorithms_go_together():
    one = Forecast(2.2, 0.01, 0.0, position=(0.5, 0.5))
    near, far = (Forecast(2.0, 0.01, 0.0, position=p) for p in ((0.5, 0.5), (3.0, 3.0)))
    assert compare_forecasts(one, near)[1] < compare_forecasts(one, far)[1]
    assert compare_forecasts(one, one)[0] == 0.5


def test_different_tasks_and_known_summaries(model):
    u, v, w = model.tasks
    found = model.compare({u: 3.0, v: 3.0}, {w: 1.0})
    assert found.probability > 0.9
    assert found.verdict == "a"
    assert model.compare({u: 3.0, v: 3.0, w: 3.0}, 1.0).probability > 0.99
    assert model.compare(2.0, 2.0).probability == 0.5


def test_bad_input_is_told(model):
    with pytest.raises(UnknownNameError, match="unknown algorithm 'a0x'"):
        compare(model, "a0x", "a01", table_of())
    with pytest.raises(ScoreDataError, match="b: expected a score on one of the model's tasks"):
        model.compare({model.tasks[0]: 1.0}, {})
    line = distill(table_of(), size=2, transform="identity", procedure="paper").model
    with pytest.raises(ScoreDataError, match="this one has a line alone: distil again"):
        line.compare({line.tasks[0]: 1.0}, {line.tasks[0]: 2.0})


def test_what_is_said_comes_true():
    found = reliability(table_of(), size=3, transform="identity")
    assert sum(one.n_pairs for one in found) == 50 * 49 // 2
    assert found.brier < found.sign_brier
    for one in found:
        if one.n_pairs > 50:
            assert abs(one.said - one.came_true) < 0.12
    assert "Brier score" in str(found)
    assert found.figure().name == "reliability"


def test_reliability_needs_intervals(make_scores):
    held = nested_error(make_scores(), FactorProcedure(), 2, rng=np.random.default_rng(0))
    with pytest.raises(ScoreDataError, match="use factor"):
        reliability_of(held)


@pytest.mark.full
def test_published_pairs(paper):
    for outer, most in (("folds", 0.05), ("group-folds", 0.055)):
        n, repeats = (10, 2) if outer == "folds" else (3, 10)
        rng = np.random.default_rng(0)
        held = nested_error(
            paper,
            FactorProcedure(),
            5,
            outer=outer,
            n_folds=n,
            n_repeats=repeats,
            spread=True,
            rng=rng,
        )
        assert reliability_of(held, scale=held.scale).brier <= most
