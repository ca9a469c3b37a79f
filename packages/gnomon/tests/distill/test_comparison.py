"""Which of two algorithms is better: probabilities from a few tasks."""

from itertools import combinations

import numpy as np
import pytest

from gnomon.distillation import (
    FactorProcedure,
    Forecast,
    compare_forecasts,
    distill,
    nested_error,
    predict,
)
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
    there = predict(model, table, pair=("a00", "a05"))[0]
    back = predict(model, table, pair=("a05", "a00"))[0]
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
        predict(model, table_of(), pair=("a0x", "a01"))
    with pytest.raises(ScoreDataError, match="b: expected a score on one of the model's tasks"):
        model.compare({model.tasks[0]: 1.0}, {})
    line = distill(table_of(), size=2, transform="identity", procedure="paper").model
    with pytest.raises(ScoreDataError, match="this one has a line alone: distil again"):
        line.compare({line.tasks[0]: 1.0}, {line.tasks[0]: 2.0})


def brier_scores(held, scale):
    """Return the Brier score of P(the first is better), and of the order alone, over all pairs."""
    said, was = [], []
    for forecasts in held.forecasts:
        known = [(f, y) for f, y in zip(forecasts, held.target, strict=True) if f is not None]
        known = [(f, y) for f, y in known if not np.isnan(f.center)]
        for (a, y_a), (b, y_b) in combinations(known, 2):
            if y_a != y_b:
                said.append(compare_forecasts(a, b, scale=scale)[0])
                was.append(y_a > y_b)
    said, was = np.array(said), np.array(was)
    return np.mean((said - was) ** 2), np.mean((said > 0.5) != was), said, was


def test_probabilities_come_true():
    best = distill(table_of(), size=3, transform="identity")[0]
    brier, of_the_order, said, was = brier_scores(best.nested, best.model.scale)
    assert said.size == 50 * 49 // 2
    assert brier < of_the_order
    better, right = np.maximum(said, 1 - said), (said >= 0.5) == was
    for low in (0.5, 0.6, 0.7, 0.8, 0.9, 0.95):
        inside = (better >= low) & (better < low + (0.05 if low >= 0.9 else 0.1))
        if inside.sum() > 50:
            assert abs(better[inside].mean() - right[inside].mean()) < 0.12


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
        assert brier_scores(held, held.scale)[0] <= most
