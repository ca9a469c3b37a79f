"""Models of a subset: saved and loaded, intervals, prediction from whatever scores there are."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls

from gnomon.distillation import Moments, SubsetModel, fit_least_squares
from gnomon.errors import DegenerateScoresWarning, ScoreDataError, UnknownNameError


@given(
    st.lists(st.floats(0, 1e6), min_size=3, max_size=3),
    st.lists(st.floats(0, 1e6), min_size=3, max_size=3),
    st.lists(st.floats(0, 10), min_size=3, max_size=3),
)
def test_better_everywhere_is_never_worse(scores, more, weights):
    """Proposition 2: with non-negative weights the estimate is weakly order preserving."""
    model = SubsetModel(("u", "v", "w"), tuple(w / 30 for w in weights))
    low = dict(zip("uvw", scores, strict=True))
    high = {task: low[task] + extra for task, extra in zip("uvw", more, strict=True)}
    assert model.estimate(high).value >= model.estimate(low).value * (1 - 1e-12)


def test_json_round_trip(make_scores, tmp_path):
    model = fit_least_squares(make_scores(), ["t00", "t03"])
    assert SubsetModel.from_json(model.to_json()) == model
    model.save(tmp_path / "model.json")
    assert SubsetModel.from_json((tmp_path / "model.json").read_text()) == model
    assert [path.name for path in tmp_path.iterdir()] == ["model.json"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "another"}', '{"format": 1, "x": 2}'])
def test_other_json_is_refused(text):
    with pytest.raises(ScoreDataError, match="expected a 'gnomon subset model 2' as JSON"):
        SubsetModel.from_json(text)


def test_a_missing_field_is_refused():
    record = json.loads(SubsetModel(("u",), (1.0,)).to_json())
    del record["weights"]
    with pytest.raises(ScoreDataError, match="weights"):
        SubsetModel.from_json(json.dumps(record))


def test_weights_and_tasks_go_together():
    with pytest.raises(ValueError, match="as many weights as tasks, found 1, 2"):
        SubsetModel(("u", "v"), (1.0,))


def test_an_estimate_needs_all_its_scores():
    with pytest.raises(UnknownNameError, match="unknown score for task 'v'"):
        SubsetModel(("u", "v"), (0.5, 0.5)).estimate({"u": 1.0})


MOMENTS = Moments((1.0, 2.0, 3.0), ((1.0, 0.2, 0.8), (0.2, 1.0, 0.5), (0.8, 0.5, 1.0)))


def complete_model():
    w, intercept = MOMENTS.weights(np.array([True, True]))
    return SubsetModel(
        ("u", "v"), tuple(w), intercept, "identity", residuals=(-0.2, 0.2), moments=MOMENTS
    )


def test_a_missing_score_is_made_up_for_by_the_others(tmp_path):
    model = complete_model()
    rows = np.array([[1.5, np.nan], [1.5, 2.5], [np.nan, np.nan]])
    found = model.predict(rows)
    assert found[0] == pytest.approx(3.0 + 0.8 * 0.5)
    assert found[1] == pytest.approx(rows[1] @ model.weights + model.intercept)
    assert np.isnan(found[2])
    whole = model.estimate({"u": 1.5, "v": 2.5})
    with pytest.warns(DegenerateScoresWarning, match="no score on v: predicted from the others"):
        part = model.estimate({"u": 1.5})
    assert part.value == pytest.approx(found[0])
    spread = np.sqrt(1 - 0.8**2) / np.sqrt(1 - (0.8**2 - 2 * 0.2 * 0.8 * 0.5 + 0.5**2) / 0.96)
    assert (part.high - part.low) / (whole.high - whole.low) == pytest.approx(spread)
    with pytest.raises(UnknownNameError, match="unknown score for task 'u'"):
        model.estimate({})
    model.save(tmp_path / "model.json")
    assert SubsetModel.load(tmp_path / "model.json") == model


def test_outside_the_training_range_is_said():
    model = SubsetModel(("u",), (1.0,), transform="identity", ranges=((0.0, 10.0),))
    assert model.estimate({"u": 5.0}).outside == ()
    with pytest.warns(DegenerateScoresWarning, match=r"outside the range .*: u"):
        assert model.estimate({"u": 11.0}).outside == ("u",)


def test_prediction_intervals_cover_as_they_say():
    rng = np.random.default_rng(0)
    inside, n = 0, 2000
    for _ in range(n):
        model = SubsetModel(("u",), (1.0,), transform="identity").with_residuals(
            rng.normal(size=30)
        )
        estimate = model.estimate({"u": 0.0}, level=0.9)
        inside += estimate.low <= rng.normal() <= estimate.high
    assert abs(inside / n - 0.9) < 4 * np.sqrt(0.9 * 0.1 / n) + 0.005


def test_without_residuals_there_is_no_interval():
    estimate = SubsetModel(("u",), (1.0,)).estimate({"u": 3.0})
    assert np.isnan(estimate.low)
    assert np.isnan(estimate.high)


def moments_of(z, *, positive=True):
    covariance = np.cov(z.T, bias=True)
    return Moments(tuple(z.mean(axis=0)), tuple(map(tuple, covariance)), positive=positive)


def test_it_is_the_regression_on_the_scores_at_hand():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(50, 4)) @ rng.normal(size=(4, 4))
    moments = moments_of(z, positive=False)
    for seen in ([True, False, True], [False, True, False], [True, True, True]):
        mask = np.array(seen)
        design = np.column_stack([z[:, :3][:, mask], np.ones(50)])
        expected, (residual,), *_ = np.linalg.lstsq(design, z[:, 3], rcond=None)
        w, intercept = moments.weights(mask)
        assert [*w, intercept] == pytest.approx(expected)
        assert moments.spread(mask) == pytest.approx(np.sqrt(residual / 50))
        row = np.where(mask, z[7, :3], np.nan)
        assert moments.predict(row) == pytest.approx(design[7] @ expected)


def test_weights_are_not_negative_unless_wanted():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(60, 2)) + rng.normal(size=(60, 1))
    z = np.column_stack([x, x[:, 0] - 0.6 * x[:, 1]])
    both = np.array([True, True])
    assert moments_of(z, positive=False).weights(both)[0] == pytest.approx([1.0, -0.6])
    centered = z - z.mean(axis=0)
    expected = nnls(centered[:, :2], centered[:, 2])[0]
    assert moments_of(z).weights(both)[0] == pytest.approx(expected)


def test_nothing_to_predict_from():
    assert np.isnan(Moments((0.0, 0.0), ((1.0, 0.5), (0.5, 1.0))).predict([np.nan]))
