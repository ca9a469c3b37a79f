"""Choice of binary items: the response model against theory, and every method on one protocol."""

import numpy as np
import pytest

from gnomon.distill import choose_items, fit_items
from gnomon.distill.items.choice import item_matrix
from gnomon.errors import ScoreDataError
from gnomon.scores import ScoreTable


def answers(n=80, n_items=150, seed=0):
    rng = np.random.default_rng(seed)
    slope = np.exp(rng.normal(0, 0.5, n_items))
    p = 1 / (1 + np.exp(-(slope * rng.normal(size=(n, 1)) + rng.normal(0, 1.5, n_items))))
    return (rng.random((n, n_items)) < p).astype(float)


def table_of(x):
    return ScoreTable.from_arrays({f"m{i:03}": [row] for i, row in enumerate(x)})


def test_parameters_are_found_again():
    rng = np.random.default_rng(1)
    slope, intercept = rng.uniform(0.5, 2.0, 40), rng.normal(0, 1.2, 40)
    p = 1 / (1 + np.exp(-(slope * rng.normal(size=(3000, 1)) + intercept)))
    model = fit_items((rng.random(p.shape) < p).astype(float))
    assert np.corrcoef(model.slope, slope)[0, 1] > 0.95
    assert np.abs(model.intercept - intercept).max() < 0.35


def test_all_items_seen_leave_nothing_open():
    x = answers()
    model = fit_items(x)
    shares, variance = model.shares(np.arange(150), x)
    assert shares == pytest.approx(x.mean(axis=1))
    assert np.abs(variance).max() < 1e-12


def test_adaptive_looks_at_what_it_chose_alone():
    model = fit_items(answers())
    row = answers(seed=5)[0]
    items, seen = model.adaptive(row, 12)
    other = 1.0 - row
    other[items] = row[items]
    again, _ = model.adaptive(other, 12)
    assert (items == again).all()
    assert (seen == row[items]).all()


def test_methods_stand_on_one_protocol():
    found = choose_items(table_of(answers()), 20, folds=4)
    folds = {one.method: one for one in found.where(protocol="folds")}
    assert folds.keys() == {one.method for one in found.where(protocol="better")}
    assert all(one.n_models == 80 for one in folds.values())
    for name in ("stratified, p-IRT", "adaptive, p-IRT", "correlated, p-IRT"):
        assert folds[name].error < folds["random, mean"].error
    assert len(set(found.items)) == 20
    assert choose_items(table_of(answers()), 20, folds=4) == found


def test_bad_tables_are_told():
    with pytest.raises(ScoreDataError, match="at least 20 models to fit items to, found 10"):
        item_matrix(table_of(answers(10)))
    with pytest.raises(ScoreDataError, match="expected answers from 0 to 1, found 7"):
        item_matrix(table_of(answers() * 7))
    with pytest.raises(ScoreDataError, match="expected from 10 to 149 items, found 5"):
        choose_items(table_of(answers()), 5)
    with pytest.raises(ScoreDataError, match="expected one of random, anchors"):
        choose_items(table_of(answers()), 20, method="best")
    found = choose_items(table_of(answers(30)), 20, compare=False)
    assert "with fewer than 50" in found.warnings[0]
