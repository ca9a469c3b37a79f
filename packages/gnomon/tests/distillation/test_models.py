"""Models of a subset: saved and loaded, intervals, estimates from the available scores."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gnomon.distillation import FactorProcedure, PaperProcedure, SubsetModel, prepare
from gnomon.errors import DegenerateScoresWarning, ScoreDataError, UnknownNameError
from gnomon.scores import ScoreTable

PROCEDURE, PAPER = FactorProcedure(), PaperProcedure()


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


def test_least_squares_is_that_of_numpy(make_scores):
    data = make_scores()
    model = PAPER.fit(data, ["t00", "t03"])
    expected = np.linalg.lstsq(data.x[:, [0, 3]], data.target, rcond=None)[0]
    assert model.weights == pytest.approx(expected)
    assert (model.intercept, model.n_rows) == (0.0, 40)
    with pytest.raises(ScoreDataError, match=r"at least 4 algorithms .*; found 3"):
        PAPER.fit(make_scores(3, 8), data.tasks[:4])


def test_lines_are_saved_and_loaded(make_scores):
    model = PAPER.fit(make_scores(), ["t00", "t03"])
    assert SubsetModel.from_json(model.to_json()) == model
    with pytest.raises(ValueError, match="as many weights as tasks, found 1, 2"):
        SubsetModel(("u", "v"), (1.0,))


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"format": "another"}', '{"format": 1, "x": 2}', "[" * 100_000],
    ids=lambda text: text[:9],
)
def test_other_json_is_refused(text):
    with pytest.raises(ScoreDataError, match="expected a 'gnomon subset model 5' as JSON"):
        SubsetModel.from_json(text)


def test_a_model_without_a_covariance_is_refused(fitted):
    """The solver of non-negative weights took such a matrix for ever."""
    record = json.loads(fitted[1].to_json())
    covariance = record["forecaster"]["moments"]["covariance"]
    for row, values in enumerate(covariance):
        values[row] = -1.0
    with pytest.raises(ScoreDataError, match="expected a 'gnomon subset model 5' as JSON"):
        SubsetModel.from_json(json.dumps(record))


@given(data=st.data())
def test_a_damaged_model_is_refused_in_one_line(data, fitted):
    """Any field is dropped or becomes another value: the file is refused, or still predicts."""
    record = json.loads(fitted[1].to_json())
    part, path = record, []
    while isinstance(part, dict | list) and part:
        keys = list(part) if isinstance(part, dict) else range(len(part))
        path.append(data.draw(st.sampled_from(keys)))
        if data.draw(st.booleans()):
            break
        part = part[path[-1]]
    inner = record
    for key in path[:-1]:
        inner = inner[key]
    values = [None, "x", -1, 0, 1e300, [], {}, [1.0], [[1.0]], True]
    inner[path[-1]] = data.draw(st.sampled_from(values))
    model, refusal = None, ""
    try:
        model = SubsetModel.from_json(json.dumps(record))
    except ScoreDataError as error:
        refusal = str(error)
    assert "\n" not in refusal
    if model is not None:  # some of the values are valid
        assert model.predict(np.ones(len(model.tasks))).shape == ()


def test_an_interval_of_residuals_covers_as_it_says():
    rng = np.random.default_rng(0)
    inside, n = 0, 2000
    for _ in range(n):
        drawn = tuple(rng.normal(size=30))
        model = SubsetModel(("u",), (1.0,), transform="identity", residuals=drawn)
        estimate = model.estimate({"u": 0.0}, level=0.9)
        inside += estimate.low <= rng.normal() <= estimate.high
    assert abs(inside / n - 0.9) < 4 * np.sqrt(0.9 * 0.1 / n) + 0.005
    without = SubsetModel(("u",), (1.0,)).estimate({"u": 3.0})
    assert np.isnan([without.low, without.high]).all()


def test_outside_the_training_range_is_said():
    model = SubsetModel(("u", "v"), (1.0, 0.0), transform="identity", ranges=((0, 9), (0, 9)))
    assert model.estimate({"u": 5.0, "v": 1.0}).outside == ()
    with pytest.warns(DegenerateScoresWarning, match=r"outside the range .*: u"):
        assert model.estimate({"u": 11.0, "v": 1.0}).outside == ("u",)
    with pytest.raises(UnknownNameError, match="unknown score for task 'v'"):
        model.estimate({"u": 1.0})


def suite_of(n=60, n_tasks=12, *, seed=0, runs=1, **options):
    """Return scores of one skill."""
    rng = np.random.default_rng(seed)
    skill = rng.normal(2.0, 0.6, (n, 1))
    x = skill * rng.uniform(0.6, 1.2, n_tasks) + rng.normal(0, 0.3, (n, n_tasks))
    noise = rng.normal(0, 0.2, (n, runs, n_tasks))
    rows = {f"a{i:03}": x[i] + noise[i] for i in range(n)}
    return prepare(ScoreTable.from_arrays(rows), transform="identity", **options)


@pytest.fixture(scope="module")
def fitted():
    data = suite_of()
    return data, PROCEDURE.fit(data, PROCEDURE.choose(data, 4), spread=True)


@pytest.mark.parametrize("summary", ["iqm", "mean", "mean_log"])
def test_any_summary_is_predicted(summary):
    data = suite_of(summary=summary)
    model = PROCEDURE.fit(data, PROCEDURE.choose(data, 4))
    predicted = model.predict(data.x[:, data.columns(model.tasks)])
    assert np.corrcoef(predicted, data.target)[0, 1] > 0.7


def test_a_saved_model_predicts_the_same(fitted, tmp_path):
    data, model = fitted
    scores = dict(zip(model.tasks, data.x[0, data.columns(model.tasks)], strict=True))
    model.save(tmp_path / "m.json")
    assert [path.name for path in tmp_path.iterdir()] == ["m.json"]
    again = SubsetModel.load(tmp_path / "m.json")
    assert again == model
    assert again.forecast(scores) == model.forecast(scores)


def test_a_missing_score_is_predicted_from_the_others(fitted):
    data, model = fitted
    scores = dict(zip(model.tasks, data.x[0, data.columns(model.tasks)], strict=True))
    whole = model.estimate(scores)
    dropped = model.tasks[0]
    del scores[dropped]
    with pytest.warns(DegenerateScoresWarning, match=f"no score on {dropped}: predicted from"):
        part = model.estimate(scores)
    assert part.high - part.low > whole.high - whole.low
    assert abs(part.value - whole.value) < whole.high - whole.low
    with pytest.raises(UnknownNameError, match="unknown score for task"):
        model.estimate({})


def beyond(fitted, k):
    """Return scores k quarters of the range above the training."""
    data, model = fitted
    x = data.x[:, data.columns(model.tasks)]
    return dict(zip(model.tasks, x.max(axis=0) + k / 4 * np.ptp(x, axis=0), strict=True))


def test_the_interval_grows_with_the_distance(fitted):
    model = fitted[1]
    told = [model.forecast(beyond(fitted, k)) for k in (0.0, 1.0, 3.0)]
    widths = [one.interval(0.9)[1] - one.interval(0.9)[0] for one in told]
    assert widths == sorted(widths)
    assert widths[2] > 1.5 * widths[0]
    with pytest.warns(match="outside the range"):
        near, far = (model.estimate(beyond(fitted, k)) for k in (1.5, 9.0))
    assert (near.verdict, far.verdict) == ("extrapolated", "uninformative")
    assert (near.extrapolation, far.extrapolation) == pytest.approx((1.5, 9.0))
    assert far.low < far.value < far.high


def test_fewer_runs_than_the_trainings_widen_it():
    data = suite_of(runs=5)
    model = PROCEDURE.fit(data, PROCEDURE.choose(data, 3), spread=True)
    scores = dict(zip(model.tasks, data.x[0, data.columns(model.tasks)], strict=True))
    told = [model.forecast(scores, runs=dict.fromkeys(scores, n)) for n in (1.0, 2.0, 5.0, 9.0)]
    ends = [one.interval(0.9) for one in (*told, model.forecast(scores))]
    widths = [high - low for low, high in ends]
    assert widths[0] > widths[1] > widths[2] == widths[3] == widths[4]


def test_the_quantile_is_students_of_rows_families_and_residuals(fitted):
    """Four degrees of freedom of a row; fewer with few families or few algorithms."""
    data, model = fitted
    scores = dict(zip(model.tasks, data.x[0, data.columns(model.tasks)], strict=True))
    for groups, rows, df in ((10**9, 10**9, 4.0), (5, 10**9, 2.0), (5, 4, 4 / 3)):
        known = replace(model, forecaster=replace(model.forecaster, n_groups=groups, n_rows=rows))
        one = known.forecast(scores)
        half = one.center - one.interval(0.9)[0]
        assert half == pytest.approx(stats.t.ppf(0.95, df) * one.spread)


def test_no_scale_widens_the_noise_of_runs(fitted):
    data, model = fitted
    scores = dict(zip(model.tasks, data.x[0, data.columns(model.tasks)], strict=True))
    plain = {"lines": (), "shift": 0.0, "df": 1 / (1 / 4 + 1 / 20)}
    one = replace(model.forecast(scores), deviation=0.1, noise=0.02, **plain)
    low, high = one.interval(0.9, 2.0)
    assert (high - low) / 2 == pytest.approx(stats.t.ppf(0.95, 10 / 3) * np.sqrt(0.04 + 0.02))
    other = replace(one, noise=0.0)
    low, high, probability = one.difference(other, 0.9, 2.0)
    # Heavy tails of rows are common to both.
    assert (high - low) / 2 == pytest.approx(stats.t.ppf(0.95, 20) * np.sqrt(0.08 + 0.02))
    assert probability == 0.5


def test_two_algorithms_share_what_the_model_errs_in(fitted):
    far, near = (fitted[1].forecast(beyond(fitted, k)) for k in (2.0, 0.0))
    low, high, _ = far.difference(far, 0.9)
    parts = [(low + high) / 2, far.difference(near, 0.9)[2]]
    assert parts[0] == pytest.approx(0.0)
    assert parts[1] > 0.9
    alone = far.interval(0.9)
    assert high - low < np.sqrt(2) * (alone[1] - alone[0])
