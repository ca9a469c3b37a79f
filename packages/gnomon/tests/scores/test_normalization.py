import re

import numpy as np
import pytest

from gnomon import estimate
from gnomon.errors import DegenerateScoresWarning, ScoreDataError, UnknownNameError
from gnomon.scores import ScoreTable, normalize
from score_tables import censored, with_notes

X = np.random.default_rng(0).normal(size=(4, 3)) * [1, 10, 100]


def table(higher=True):
    x = X.copy()
    x[2, 1] = np.nan
    return ScoreTable.from_arrays({"a": x, "b": X + 1}, higher_is_better=higher)


@pytest.mark.parametrize("higher", [True, False])
@pytest.mark.parametrize("by", ["min-max", "reference:a"])
def test_normalisation_is_recorded(by, higher):
    raw = table(higher)
    if by == "reference:a":
        if not higher:
            return
        raw = ScoreTable.from_arrays({"a": X + 1000, "b": X + 2000})
    scaled = normalize(raw, by)
    assert scaled.normalization.name in str(scaled)
    assert scaled.provenance[-1] == scaled.normalization.name
    assert scaled.higher_is_better
    for task, (zero, one) in scaled.normalization.anchors.items():
        found = scaled.runs("b", task) * (one - zero) + zero
        np.testing.assert_allclose(found, raw.runs("b", task), atol=1e-9)
    with pytest.raises(ScoreDataError, match="the scores are normalised already"):
        normalize(scaled, by)


def test_the_best_is_one_in_either_direction():
    for higher in (True, False):
        scaled = normalize(table(higher), "min-max").to_polars()["score"].drop_nans()
        assert (scaled.min(), scaled.max()) == (0.0, 1.0)
        best = X[:, 0].argmax() if higher else X[:, 0].argmin()
        alone = normalize(ScoreTable.from_arrays({"a": X}, higher_is_better=higher), "min-max")
        assert alone.runs("a", "task_0")[best] == 1.0


def test_scores_are_not_turned_upside_down_by_a_reference():
    """Errors have no reference above 0, and neither have scores below it."""
    with pytest.raises(ScoreDataError, match="expected the better score for 1, where lower is"):
        normalize(table(higher=False), "reference:a")
    negative = ScoreTable.from_arrays({"a": [[-20.0]], "b": [[-200.0]]}, tasks=["Pendulum"])
    with pytest.raises(ScoreDataError, match="task 'Pendulum': expected the better score for 1"):
        normalize(negative, "reference:b")
    assert normalize(negative, {"Pendulum": (-200.0, -20.0)}).runs("a", "Pendulum") == [1.0]


@pytest.mark.parametrize(
    "written",
    [
        *("Battle Zone", "BattleZoneNoFrameskip-v4", "ALE/BattleZone-v5", "atari_battle_zone"),
        *("Pong-ramDeterministic-v4", "H.E.R.O.", "Ms. Pac-Man", "Montezuma's Revenge"),
        *("James Bond 007", "Up'n Down", "Q*bert", "DoubleDdunk"),
    ],
)
def test_games_are_known_in_any_spelling(written):
    one = ScoreTable.from_arrays({"a": [[1e6]]}, tasks=[written])
    assert written in normalize(one, "atari").normalization.anchors


def test_censored_runs_stay_infinite():
    raw = censored({"a": [[5.0], [7.0], [np.inf]]}, ["t"])
    assert normalize(raw, {"t": (10.0, 5.0)}).runs("a", "t").tolist() == [1, 0.6, -np.inf]


@pytest.mark.parametrize(
    ("by", "tasks"), [("dmc", ["walker", "cheetah"]), ("atari", ["Alien", "Qbert", "Pong"])]
)
def test_scores_that_seem_normalised_already_are_warned_of(by, tasks):
    scaled = ScoreTable.from_arrays({"a": np.full((3, len(tasks)), 0.8)}, tasks=tasks)
    with pytest.warns(DegenerateScoresWarning, match="seem to be normalised already"):
        normalize(scaled, by)


def test_misuse():
    flat = ScoreTable.from_arrays({"a": [[1.0], [1.0]]})
    message = r"min-max: task 'task_0': expected two different finite scores .* found 1 and 1"
    with pytest.raises(ScoreDataError, match=message):
        normalize(flat, "min-max")
    with pytest.raises(ScoreDataError, match="anchors: no scores to normalise task 'task_0' by"):
        normalize(flat, {})


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ({"a": [[3, 900, 5]], "b": [[4, 800, 6]]}, "on 3 of 3 tasks every score becomes 0 or 1"),
        ({"a": [[3, 0.5], [3, 0.7]], "b": [[4, 0.9], [3, 0.6]]}, "on 1 of 2 tasks .*task_0"),
        ({"a": [[0, 3], [1, 4]], "b": [[1, 5], [0, 6]]}, None),
    ],
)
def test_scaling_by_two_scores_alone_is_warned_of(scores, said):
    table = ScoreTable.from_arrays(scores)
    found = " ".join(with_notes(normalize, table, "min-max")[1])
    assert (found == "") if said is None else re.search(said, found)


@pytest.mark.parametrize("runs", [1, 3])
def test_two_algorithms_with_a_run_each_are_not_advised_to_scale_by_themselves(runs):
    scores = {"a": [[3.0, 9000.0]] * runs, "b": [[4.0, 8000.0]] * runs}
    remedy = r"'limits\.csv'\)" if runs == 1 else "normalize\\(scores, 'min-max'"
    with pytest.raises(ScoreDataError, match=f"on one scale.*{remedy}"):
        estimate(ScoreTable.from_arrays(scores), "mean")


def test_by_name():
    table = ScoreTable.from_arrays({"a": [[2.0, 4.0]], "b": [[1.0, 8.0]]})
    own = normalize(table, "reference:a")
    assert own.runs("b", "task_1").tolist() == [2.0]
    assert own.scale == "score, reference a normalised"
    with pytest.raises(UnknownNameError, match=r"unknown normalization 'minmax'.*'min-max'"):
        normalize(table, "minmax")
    with pytest.raises(UnknownNameError, match="unknown algorithm 'c'"):
        normalize(table, "reference:c")


def test_the_reference_of_curves_is_its_last_step():
    table = ScoreTable.from_arrays({"a": [[[1.0, 4.0]]], "b": [[[2.0, 2.0]]]})
    assert normalize(table, "reference:a").curves("b", "task_0")[1].tolist() == [[0.5, 0.5]]
