"""Tables that look like a mistake, and tasks on different scales."""

import math

import numpy as np
import pytest

from gnomon.errors import DegenerateScoresWarning
from gnomon.scores import (
    ScoreTable,
    normalize,
    own_scales,
    read_scores,
    suspicions,
    wild_scores,
    write_scores,
)

COPIES = "reruns of one deterministic evaluation are not independent runs"


def runs(*scores, **columns):
    """Return the table of an algorithm: the scores of its runs on each task, and more columns."""
    records = [
        {"algorithm": "a", "task": f"t{t}x", "run": r, "score": score}
        | {name: values[t][r] for name, values in columns.items()}
        for t, of_task in enumerate(scores)
        for r, score in enumerate(of_task)
    ]
    return ScoreTable.from_records(records)


@pytest.mark.parametrize(
    "scores",
    [([0.6, 0.6], [0.7, 0.7, 0.7]), ([0.6, 0.6], [0.6, 0.6], [0.8]), ([1, 1, math.nan], [2, 2])],
)
def test_copies_are_no_runs(scores):
    assert suspicions(runs(*scores)) == [
        "all runs of an algorithm on a task have the same score, on every task: " + COPIES
    ]


def test_censored_runs_are_no_copies():
    never = runs([500, 500], [500, 500], [900, 900], censored=[[True] * 2] * 3)
    assert suspicions(never) == []
    some = runs([0.6, 0.6, -math.inf], [0.7, 0.7], censored=[[False, False, True], [False] * 2])
    assert COPIES in suspicions(some)[0]


@pytest.mark.parametrize(
    "scores",
    [
        ([0.6, 0.6], [0.7, 0.71]),
        ([0.6, 0.6], [0.7]),  # one such cell may be chance
        ([0.6, 0.6], [0.6, 0.6]),  # as a rate of success of 0 or 1 everywhere
        ([0.6], [0.7]),
        ([0.6, 0.6], [math.nan, math.nan]),
    ],
)
def test_runs_that_may_be_some(scores):
    assert suspicions(runs(*scores)) == []


def test_runs_that_never_got_there_are_no_copies():
    never = [True, True]
    assert suspicions(runs([9, 9], [9, 9], censored=[never, [False, True]])) == []
    assert suspicions(runs([9, 9], [5, 5], censored=[never, [False, False]])) == []
    found = suspicions(runs([9, 9], [5, 5], [6, 6], censored=[never, *[[False, False]] * 2]))
    assert len(found) == 1


def test_curves_that_only_end_alike_are_no_copies():
    def curves(second):
        return ScoreTable.from_arrays({"a": [[[1, 2], [3, 4]], [[1, second], [3, 4]]]})

    assert len(suspicions(curves(2))) == 1
    assert suspicions(curves(5)) == []
    early = ScoreTable.from_arrays({"a": [[[1, 2], [3, 4]], [[0, 2], [3, 4]]]})
    assert suspicions(early) == []


def test_readers_say_it(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("algorithm,task,run,score\na,t,0,1\na,t,1,1\na,u,0,2\na,u,1,2\n")
    with pytest.warns(DegenerateScoresWarning, match=COPIES):
        read_scores(path)


def test_tasks_on_scales_of_their_own():
    scores = np.array([[21.0, -61_321.0, 0.0, 300.0], [21.0, 61_321.0, 0.0, 300.0]])
    tasks = ["Pong", "Atlantis", "Nothing", "Chess"]
    table = ScoreTable.from_arrays({"a": scores, "b": scores[:1]}, tasks=tasks)
    assert own_scales(table) == (
        "scores of different tasks may not be on one scale (median 21.0 on Pong, 61,300 on "
        "Atlantis): an order of tasks would then only show their scales; normalise them first, "
        "unless scores measure difficulty"
    )
    assert own_scales(normalize(table.select(tasks=tasks[1:2]), "min-max")) is None
    assert own_scales(table.select(tasks=["Pong"])) is None
    assert own_scales(table.select(tasks=["Pong", "Nothing"])) is None
    assert own_scales(table.select(tasks=["Pong", "Chess"])) is None


@pytest.mark.parametrize(("high", "shown"), [(100.0, None), (100.1, "100 "), (1e12, "1.00e+12 ")])
def test_from_which_ratio_on_scales_differ(high, shown):
    found = own_scales(ScoreTable.from_arrays({"a": [[1.0, high]]}))
    assert found is None if shown is None else f"(median 1.00 on task_0, {shown}on" in found


def test_scales_of_normalised_scores_are_one():
    table = ScoreTable.from_arrays({"a": [[1.0, 1000.0]], "b": [[2.0, 5000.0]]})
    assert own_scales(table) is not None
    assert own_scales(normalize(table, "min-max")) is None


def test_scales_of_curves_and_censored_runs():
    curves = ScoreTable.from_arrays({"a": [[[900.0, 1.0], [1.0, 1.0]]]})
    assert own_scales(curves) is None
    censored = runs([5, 7], [900, 900], censored=[[False, True], [True, True]])
    assert own_scales(censored) is None


def test_suspicious_tables_are_named(tmp_path):
    usual = ScoreTable.from_arrays({"a": np.zeros((10, 5))})
    assert suspicions(usual) == []
    swapped = ScoreTable.from_arrays({"a": np.zeros((100, 2))})
    write_scores(swapped, tmp_path / "swapped.csv")
    with pytest.warns(DegenerateScoresWarning, match="100 runs on 2 tasks: were the axes swapped"):
        read_scores(tmp_path / "swapped.csv")
    nested = ScoreTable.from_records(
        [{"algorithm": "a", "task": "t", "run": i, "score": 0, "episode": 1} for i in range(3)]
    )
    assert "episodes of one run are not independent" in suspicions(nested)[0]


def test_wild_scores_are_named():
    x = np.random.default_rng(0).normal(10, 1, (3, 2))
    x[2, 1] = -4e7
    ((sentence, score),) = wild_scores(ScoreTable.from_arrays({"a": x, "b": np.full((2, 2), 9.0)}))
    assert sentence.startswith("a on task_1: the score -4e+07 of run 2 is ")
    assert "any of the 4 others" in sentence
    assert score == -4e7
    for usual in ([1, 2, 3, 4, 900.0], [0, 0, 0, 0, 4e7], [1, 2, 3, 4e7], [1, 2, 3, 4e7, 5e7]):
        assert wild_scores(runs(usual)) == [], usual
    never = [*[False] * 4, True]
    assert wild_scores(runs([1, 2, 3, 4, 5], censored=[never])) == []
