"""Item response theory."""

import numpy as np
import pytest

from gnomon.distill import nested_error
from gnomon.distill.procedures.irt import ItemResponseProcedure, fit_item_response
from gnomon.errors import ScoreDataError


def test_items_are_found():
    rng = np.random.default_rng(0)
    skill = rng.normal(size=(300, 1))
    difficulty, slope = np.linspace(-1.5, 1.5, 8), np.array([0.5, 2, 1, 1, 1.5, 0.8, 1, 2])
    p = 1 / (1 + np.exp(-slope * (skill - difficulty)))
    fitted = fit_item_response(p)
    assert np.corrcoef(fitted.ability, skill[:, 0])[0, 1] > 0.99
    assert np.corrcoef(fitted.difficulty, difficulty)[0, 1] > 0.9


def test_gaps_are_left_out():
    x = np.random.default_rng(1).random((50, 6))
    x[::7, 2] = np.nan
    assert np.isfinite(fit_item_response(x).ability).all()


@pytest.mark.parametrize("n_parameters", [1, 2])
def test_it_is_a_procedure(make_scores, n_parameters):
    data = make_scores(40, 8)
    procedure = ItemResponseProcedure(n_parameters)
    nested = nested_error(data, procedure, 3, rng=np.random.default_rng(0))
    assert nested.n_predicted == 40
    assert nested.relative_error < 0.5
    assert procedure.choose(data, 3, forced=["t01"])[0][0] == "t01"


def test_bad_input(make_scores):
    with pytest.raises(ScoreDataError, match="a size from 1 to 8, found 9"):
        ItemResponseProcedure().choose(make_scores(), 9)
    with pytest.raises(ScoreDataError, match=r"at least 9 algorithms .* found 5"):
        ItemResponseProcedure().fit(make_scores(5), make_scores(5).tasks)
