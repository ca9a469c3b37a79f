"""Folds are scikit-learn's."""

import numpy as np
import pytest

from gnomon.distillation import Folds

model_selection = pytest.importorskip("sklearn.model_selection")


@pytest.mark.parametrize(("n_folds", "seed"), [(10, 1982), (3, 0), (7, 5)])
def test_the_folds_are_those_of_scikit_learn(n_folds, seed):
    for n in (n_folds, n_folds + 1, 62, 79):
        splits = model_selection.KFold(n_folds, shuffle=True, random_state=seed).split(np.zeros(n))
        expected = np.empty(n)
        for k, (_, held) in enumerate(splits):
            expected[held] = k
        assert np.array_equal(Folds(n_folds, seed).of(n), expected)


def test_global_state_does_not_matter():
    first = Folds(5).of(30).copy()
    np.random.seed(3)  # noqa: NPY002 - the global state is what must not matter
    assert np.array_equal(Folds(5).of(30), first)


def test_one_fold_is_none():
    with pytest.raises(ValueError, match="at least 2 folds, found 1"):
        Folds(1)
