import numpy as np
import pytest

from gnomon.errors import DegenerateScoresWarning, ScoreDataError, UnknownNameError
from gnomon.scores import (
    ScoreTable,
    atari_baselines,
    denormalize,
    normalize,
    normalize_by,
    normalize_min_max,
    normalize_percentile,
    normalize_random_human,
    normalize_reference,
    read_scores,
    write_scores,
)

X = np.random.default_rng(0).normal(size=(4, 3)) * [1, 10, 100]


#: Of the algorithms of the table, by whether high scores are good.
BETTER = {True: "b", False: "a"}


def table(higher=True):
    x = X.copy()
    x[2, 1] = np.nan
    return ScoreTable.from_arrays({"a": x, "b": X + 1}, higher_is_better=higher)


@pytest.mark.parametrize("higher", [True, False])
@pytest.mark.parametrize(
    "normalize",
    [
        normalize_min_max,
        normalize_percentile,
        lambda t: normalize_reference(
            t, BETTER[t.higher_is_better], zero=BETTER[not t.higher_is_better]
        ),
        lambda t: normalize_reference(t, "a", zero=-1000.0 if t.higher_is_better else 1000.0),
    ],
)
def test_normalisation_is_recorded_and_can_be_undone(normalize, higher):
    raw = table(higher)
    scaled = normalize(raw)
    assert scaled.normalization.name in scaled.describe()
    assert scaled.provenance[-1] == scaled.normalization.name
    assert scaled.higher_is_better
    back = denormalize(scaled)
    np.testing.assert_allclose(back.to_polars()["score"], raw.to_polars()["score"], atol=1e-9)
    assert back.higher_is_better == higher
    assert back.normalization is None
    with pytest.raises(ScoreDataError, match="the scores are normalised already"):
        normalize(scaled)


def test_the_best_is_one_in_either_direction():
    for higher in (True, False):
        scaled = normalize_min_max(table(higher)).to_polars()["score"].drop_nans()
        assert (scaled.min(), scaled.max()) == (0.0, 1.0)
        best = X[:, 0].argmax() if higher else X[:, 0].argmin()
        alone = normalize_min_max(ScoreTable.from_arrays({"a": X}, higher_is_better=higher))
        assert alone.runs("a", "task_0")[best] == 1.0


def test_scores_are_not_turned_upside_down_by_a_reference():
    """Errors have no reference above 0, and neither have scores below it."""
    with pytest.raises(ScoreDataError, match="expected the better score for 1, and low ones are"):
        normalize_reference(table(higher=False), "a")
    negative = ScoreTable.from_arrays({"a": [[-20.0]], "b": [[-200.0]]}, tasks=["Pendulum"])
    with pytest.raises(ScoreDataError, match="task 'Pendulum': expected the better score for 1"):
        normalize_reference(negative, "b")
    assert normalize_reference(negative, "a", zero="b").runs("a", "Pendulum") == [1.0]


def test_atari_baselines():
    baselines = atari_baselines()
    assert len(baselines) == 57
    raw = ScoreTable.from_arrays({"a": [[14.6, 227.75]]}, tasks=["ALE/Pong-v5", "Alien"])
    assert normalize_random_human(raw).to_polars()["score"].to_list() == [1.0, 0.0]
    with pytest.raises(ScoreDataError, match="random-human: no scores to normalise task 'task_0'"):
        normalize_random_human(table())


def test_censored_runs_have_a_percentile():
    rows = [
        {"algorithm": "a", "task": "t", "run": i, "score": s, "censored": s == np.inf}
        for i, s in enumerate([5.0, 7.0, np.inf, np.inf])
    ]
    raw = ScoreTable.from_records(rows, higher_is_better=False)
    assert normalize_percentile(raw).runs("a", "t").tolist() == [0.875, 0.625, 0.25, 0.25]
    assert normalize_by(raw, {"t": (10.0, 5.0)}).runs("a", "t").tolist() == [
        1,
        0.6,
        -np.inf,
        -np.inf,
    ]


def test_what_is_undone_can_be_written_and_read_again(tmp_path):
    scores = {"t": [1.0, 5.0, np.inf], "none": [np.nan] * 3}
    rows = [
        {"algorithm": "a", "task": task, "run": i, "score": s, "censored": s == np.inf}
        for task, of_task in scores.items() for i, s in enumerate(of_task)
    ]  # fmt: skip
    raw = ScoreTable.from_records(rows, higher_is_better=False)
    back = denormalize(normalize_percentile(raw))
    assert back.to_polars().equals(raw.to_polars())
    write_scores(back, tmp_path / "scores.csv")
    assert read_scores(tmp_path / "scores.csv").to_polars().equals(raw.to_polars())


def test_misuse():
    flat = ScoreTable.from_arrays({"a": [[1.0], [1.0]]})
    message = r"min-max: task 'task_0': expected two different finite scores .* found 1 and 1"
    with pytest.raises(ScoreDataError, match=message):
        normalize_min_max(flat)
    with pytest.raises(ScoreDataError, match="expected normalised scores; the table holds raw"):
        denormalize(flat)
    with pytest.raises(ScoreDataError, match="anchors: no scores to normalise task 'task_0' by"):
        normalize_by(flat, {})


def test_by_name():
    table = ScoreTable.from_arrays({"a": [[2.0, 4.0]], "b": [[1.0, 8.0]]})
    own = normalize(table, "reference:a")
    assert own.runs("b", "task_1").tolist() == [2.0]
    assert own.scale == "score, reference a normalised"
    with pytest.raises(UnknownNameError, match=r"unknown normalization 'minmax'.*'min-max'"):
        normalize(table, "minmax")
    with pytest.raises(UnknownNameError, match="unknown algorithm 'c'"):
        normalize(table, "reference:c")


def test_games_without_baselines_are_left_out_with_a_word():
    table = ScoreTable.from_arrays({"a": [[20.0, 4.0]]}, tasks=["Pong", "Pooyan"])
    with pytest.warns(DegenerateScoresWarning, match="1 of 2 tasks left out.*: Pooyan"):
        assert normalize(table, "random-human").tasks == ("Pong",)


def test_the_reference_of_curves_is_its_last_step():
    table = ScoreTable.from_arrays({"a": [[[1.0, 4.0]]], "b": [[[2.0, 2.0]]]})
    assert normalize(table, "reference:a").curves("b", "task_0")[1].tolist() == [[0.5, 0.5]]
