"""Tables that look like a mistake, and tasks on different scales."""

import math

import numpy as np
import pytest

import gnomon as gn
from gnomon.errors import DegenerateScoresWarning
from gnomon.scores import ScoreTable, normalize, read_scores
from score_tables import quietly, with_notes

COPIES = "reruns of one deterministic evaluation are not independent runs"


def runs(*scores, **columns):
    """Return the table of an algorithm: the scores of its runs on each task, and more columns."""
    records = [
        {"algorithm": "a", "task": f"t{t}x", "run": r, "score": score}
        | {name: values[t][r] for name, values in columns.items()}
        for t, of_task in enumerate(scores)
        for r, score in enumerate(of_task)
    ]
    return ScoreTable(records)


def notes(table, **options):
    """Return what is noted of a table as it is read."""
    columns = {name: table.rows.tolist(name) for name in table.rows.names}
    return with_notes(read_scores, columns, **options)[1]


@pytest.mark.parametrize(
    "scores",
    [([0.6, 0.6], [0.7, 0.7, 0.7]), ([0.6, 0.6], [0.6, 0.6], [0.8]), ([1, 1, math.nan], [2, 2])],
)
def test_copies_are_no_runs(scores):
    said = "all runs of an algorithm on a task have the same score, on every task: " + COPIES
    assert notes(runs(*scores)) == [said]


NEVER, ALWAYS = [True, True], [False, False]


@pytest.mark.parametrize(
    ("table", "n_notes"),
    [
        (runs([500, 500], [500, 500], [900, 900], censored=[NEVER] * 3), 0),
        (runs([0.6, 0.6, -math.inf], [0.7, 0.7], censored=[[False, False, True], ALWAYS]), 1),
        (runs([0.6, 0.6], [0.7, 0.71]), 0),
        (runs([0.6, 0.6], [0.7]), 0),  # one such cell may be chance
        (runs([0.6, 0.6], [0.6, 0.6]), 0),  # as a rate of success of 0 or 1 everywhere
        (runs([0.6], [0.7]), 0),
        (runs([0.6, 0.6], [math.nan, math.nan]), 0),
        (runs([9, 9], [9, 9], censored=[NEVER, [False, True]]), 0),
        (runs([9, 9], [5, 5], censored=[NEVER, ALWAYS]), 0),
        (runs([9, 9], [5, 5], [6, 6], censored=[NEVER, ALWAYS, ALWAYS]), 1),
    ],
)
def test_equal_scores_are_no_copies_by_themselves(table, n_notes):
    assert len(notes(table)) == n_notes


def test_curves_that_only_end_alike_are_no_copies():
    for first, second, n_notes in [(1, 2, 1), (1, 5, 0), (0, 2, 0)]:
        x = [[[1, 2], [3, 4]], [[first, second], [3, 4]]]
        assert len(notes(ScoreTable.from_arrays({"a": x}))) == n_notes


def test_other_mistakes_are_named():
    assert notes(ScoreTable.from_arrays({"a": np.zeros((10, 5))})) == []
    seeds = ScoreTable.from_arrays({"a": [[1.0, 2.0]]}, tasks=["seed_1", "seed_2"])
    assert "look like seeds" in notes(seeds)[0]


def taken(table, **options):
    """Return what is noted of episodes that are taken for runs."""
    return [text for text in notes(table, **options) if text.startswith("episodes taken")]


def of_seeds(seed_deviation, *, seeds=5, episodes=20):
    """Return 100 episodes of five seeds, in this order, on each of two tasks."""
    rng = np.random.default_rng(3)
    level = rng.normal(0.0, seed_deviation, (seeds, 1, 2))
    return (level + rng.normal(0.0, 1.0, (seeds, episodes, 2))).reshape(-1, 2)


def cells_of(*counts):
    """Return a table with these numbers of runs, of one algorithm on each task."""
    scores = np.random.default_rng(0).normal(size=sum(counts))
    return runs(*np.split(scores, np.cumsum(counts)[:-1]))


def labelled(*labels):
    rows = [{"algorithm": "a", "task": "t", "run": x, "score": i} for i, x in enumerate(labels)]
    return ScoreTable(rows)


@pytest.mark.parametrize(
    ("mistaken", "sign", "correct"),
    [
        (
            runs([3, 1, 2], episode=[[1, 2, 3]]),
            "a column 'episode' numbers the rows",
            runs([3, 1, 2], episodes=[[100, 120, 101]]),  # how many were played
        ),
        (
            labelled("seed0-ep0", "seed0-ep1", "seed1-ep0"),
            "runs are labelled seed0-ep0, seed0-ep1, seed1-ep0",
            labelled("seed0", "deep-1", "step3"),
        ),
        (cells_of(120, 120), "there are 120 runs on 2 tasks", cells_of(100, 100)),
        (
            cells_of(31, 44, 52, 29, 80, 35),
            "29 to 80 runs, a different number in each cell",
            cells_of(31, 44, 52, 31, 80, 35),
        ),
        (
            runs([3, 1, 2, 5], seed=[[7, 7, 8, 8]]),
            "several runs have the same 'seed'",
            runs([3, 1, 2, 5], [1, 4, 2, 3], seed=[[7, 8, 9, 9]] * 2),
        ),
        (
            ScoreTable.from_arrays({"a": of_seeds(1.0)}),
            "consecutive runs have similar scores (rank correlation 0.",
            ScoreTable.from_arrays({"a": of_seeds(0.0)}),
        ),
        (
            ScoreTable.from_arrays({"a": np.linspace(0, 5, 40)[:, None] + of_seeds(0)[:40]}),
            "consecutive runs have similar scores",
            ScoreTable.from_arrays({"a": np.sort(of_seeds(1.0), axis=0)}),  # by score
        ),
    ],
)
def test_episodes_taken_for_runs_are_found_by_labels_counts_seeds_and_order(
    mistaken, sign, correct
):
    (said,) = taken(mistaken)
    assert sign in said
    assert "average them first (read_scores(table, columns={'run': '" in said
    assert taken(correct) == []


def test_a_column_of_large_numbers_is_read_at_once():
    assert taken(runs([3, 1], episodes=[[0, 10**12]])) == []


def test_one_seed_in_all_rows_may_be_that_of_the_benchmark():
    assert taken(runs([3, 1, 2, 5], seed=[[7] * 4])) == []


def test_a_column_of_episodes_is_no_column_of_runs():
    rows = [{"algorithm": "a", "task": "t", "episode": i, "score": -i} for i in range(4)]
    with pytest.warns(DegenerateScoresWarning, match="the column 'episode' was read as the run"):
        read_scores(rows, columns={"run": "episode"})
    averaged = read_scores(rows, within_run="mean")
    assert averaged.runs("a", "t").tolist() == [-1.5]
    assert taken(averaged) == []


def honest(rng):
    """Return independent runs of several shapes and spreads, some of them missing."""
    n_runs, n_tasks = int(rng.choice([2, 3, 5, 10, 20, 50, 100])), rng.integers(1, 11)
    scores = {}
    for name in "abc"[: rng.integers(1, 4)]:
        shape = (n_runs, n_tasks)
        kinds = rng.normal(size=shape), rng.gamma(0.5, size=shape), rng.binomial(20, 0.8, shape)
        common = rng.choice([0.0, 0.7]) * rng.normal(size=(n_runs, 1))  # an effect over tasks
        scores[name] = kinds[rng.integers(3)] + common + rng.normal(size=n_tasks)
        scores[name][rng.random(shape) < rng.choice([0.0, 0.1])] = np.nan
    return ScoreTable.from_arrays(scores)


@pytest.mark.full
def test_independent_runs_are_seldom_taken_for_episodes():
    rng = np.random.default_rng(5)
    tables = [honest(rng) for _ in range(500)]
    assert sum(len(taken(table)) for table in tables) <= 5


def scales(table):
    """Return what a ranking of tasks notes of their scales."""
    found = quietly(gn.rank, table, by="task").warnings
    return [text for text in found if "not be on one scale" in text]


def test_tasks_on_scales_of_their_own():
    scores = np.array([[21.0, -61_321.0, 0.0, 300.0], [21.0, 61_321.0, 0.0, 300.0]])
    tasks = ["Pong", "Atlantis", "Nothing", "Chess"]
    table = ScoreTable.from_arrays({"a": scores, "b": scores[:1]}, tasks=tasks)
    assert scales(table) == [
        "scores of different tasks may not be on one scale (median 21.0 on Pong, 61,300 on "
        "Atlantis): an order of tasks would then only show their scales; normalise them first, "
        "unless scores measure difficulty"
    ]
    assert scales(table.select(tasks=["Pong", "Nothing"])) == []
    assert scales(table.select(tasks=["Pong", "Chess"])) == []
    table = ScoreTable.from_arrays({"a": [[1.0, 1000.0]], "b": [[2.0, 5000.0], [1.5, 3000.0]]})
    assert len(scales(table)) == 1
    assert scales(normalize(table, "min-max")) == []


@pytest.mark.parametrize(("high", "shown"), [(100.0, None), (100.1, "100 "), (1e12, "1.00e+12 ")])
def test_from_which_ratio_on_scales_differ(high, shown):
    found = scales(ScoreTable.from_arrays({"a": [[1.0, high]]}))
    assert found == [] if shown is None else f"(median 1.00 on task_0, {shown}on" in found[0]


def wild(scores):
    """Return the wild scores that an audit finds among those of two algorithms on one task."""
    rows = [
        {"algorithm": "ab"[i % 2], "task": "t", "run": i // 2, "score": score}
        for i, score in enumerate(scores)
    ]
    found = quietly(gn.audit, ScoreTable(rows))
    return [(row.finding, row.value) for row in found if row.name == "wild score"]


def test_wild_scores_are_named():
    ((sentence, score),) = wild([9.0, 10.0, 11.0, 9.5, -4e7])
    assert sentence.startswith("a on t: the score -4e+07 of run 2 is ")
    assert "any of the 4 others" in sentence
    assert score == -4e7
    for usual in ([1, 2, 3, 4, 900.0], [0, 0, 0, 0, 4e7], [1, 2, 3, 4e7], [1, 2, 3, 4e7, 5e7]):
        assert wild(usual) == [], usual
