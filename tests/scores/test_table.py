import numpy as np
import polars as pl
import pytest
from hypothesis import given

from gnomon.errors import ScoreDataError, UnknownNameError
from gnomon.scores.table import ScoreTable
from strategies_scores import ragged_runs

ROWS = [
    {"algorithm": "dqn", "task": "pong", "run": 0, "score": 20.0, "suite": "atari"},
    {"algorithm": "dqn", "task": "pong", "run": 1, "score": None, "suite": "atari"},
    {"algorithm": "dqn", "task": "ant", "run": 0, "score": 5.0, "suite": "mujoco"},
    {"algorithm": "sac", "task": "ant", "run": 0, "score": 7.0, "suite": "mujoco"},
    {"algorithm": "sac", "task": "ant", "run": 1, "score": 8, "suite": "mujoco"},
]


def with_row(**change):
    return [*ROWS, {"algorithm": "a", "task": "t", "run": 0, "score": 1.0} | change]


def test_names_come_in_the_order_of_their_first_row():
    table = ScoreTable.from_records(ROWS)
    assert table.algorithms == ("dqn", "sac")
    assert table.tasks == ("pong", "ant")
    assert table.attributes == ("suite",)


def test_a_missing_run_is_kept_as_a_row_and_left_out_of_arrays():
    table = ScoreTable.from_records(ROWS)
    assert len(table) == 5
    assert table.runs("dqn", "pong").tolist() == [20.0]
    assert table.run_labels("dqn", "pong") == (0,)
    assert table.runs("sac", "pong").size == 0
    assert table.to_records()[1]["score"] is None


def test_describe_names_what_is_missing():
    assert ScoreTable.from_records(ROWS).describe().splitlines() == [
        "5 scores (score, higher is better): 2 algorithms, 2 tasks, 1 to 2 runs",
        "1 missing run (empty score)",
        "sac: no score on 1 task (pong)",
    ]


def test_shared_tasks_are_those_that_all_have():
    table = ScoreTable.from_records(ROWS)
    assert table.shared_tasks() == ("ant",)
    assert table.shared_tasks(["dqn"]) == ("pong", "ant")


@pytest.mark.parametrize(("higher", "expected"), [(True, -np.inf), (False, np.inf)])
def test_a_censored_run_is_infinitely_bad(higher, expected):
    rows = [r | {"censored": r["score"] == 7.0} for r in ROWS]
    table = ScoreTable.from_records(rows, higher_is_better=higher)
    assert table.runs("sac", "ant").tolist() == [expected, 8.0]
    rows = [r | {"censored": r["score"] is None} for r in ROWS]
    table = ScoreTable.from_records(rows, higher_is_better=higher)
    assert table.runs("dqn", "pong").tolist() == [20.0, expected]


def test_select_by_name_and_attribute():
    table = ScoreTable.from_records(ROWS)
    assert table.select(where={"suite": "mujoco"}).tasks == ("ant",)
    assert len(table.select(algorithms=["dqn"], tasks=["ant"])) == 1


def test_unknown_names_are_answered_with_near_ones():
    table = ScoreTable.from_records(ROWS)
    with pytest.raises(UnknownNameError, match="unknown algorithm 'dqm'; did you mean 'dqn'"):
        table.runs("dqm", "ant")
    with pytest.raises(UnknownNameError, match="unknown task 'ping'; did you mean 'pong'"):
        table.select(tasks=["ping"])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            with_row(score="twelve"),
            "row 6, column 'score': expected a number, found 'twelve'",
        ),
        (
            with_row(algorithm="dqn", task="pong"),
            "rows 1 and 6, column 'run': expected one row for each algorithm, task, run; "
            "found algorithm dqn, task pong, run 0 twice",
        ),
        (
            with_row(score=float("inf")),
            "row 6, column 'score': an infinite score needs a true 'censored' "
            "(a run that never got there)",
        ),
        (with_row(task=""), "row 6, column 'task': expected a name, found nothing"),
        (
            with_row(censored="perhaps"),
            "row 6, column 'censored': expected true or false, found another text",
        ),
        (
            [{k: v for k, v in row.items() if k != "run"} for row in ROWS],
            "missing column 'run'; found algorithm, task, score, suite",
        ),
        (
            [row | {"step": None} for row in ROWS],
            "row 1, column 'step': expected a number, found nothing",
        ),
        ([], "missing columns 'algorithm', 'task', 'run', 'score'; found none"),
    ],
)
def test_bad_rows_are_named(rows, message):
    with pytest.raises(ScoreDataError) as error:
        ScoreTable.from_records(rows)
    assert str(error.value) == message


def test_a_selection_that_finds_nothing_says_what_there_is():
    table = ScoreTable.from_records(ROWS)
    with pytest.raises(ScoreDataError, match="no row has suite = procgen; found atari, mujoco"):
        table.select(where={"suite": "procgen"})
    with pytest.raises(ScoreDataError, match="no column 'sweet' to select by; found algorithm"):
        table.select(where={"sweet": 1})


def test_frames_of_other_libraries_give_the_same_table():
    pandas = pytest.importorskip("pandas")
    arrow = pytest.importorskip("pyarrow")
    expected = ScoreTable.from_records(ROWS).frame
    for frame in (
        pl.DataFrame(ROWS, infer_schema_length=None),
        pandas.DataFrame(ROWS),
        arrow.Table.from_pylist(ROWS),
    ):
        found = ScoreTable.from_frame(frame).frame
        assert found.equals(expected, null_equal=True)
    assert ScoreTable.from_records(ROWS).to_pandas()["run"].tolist() == [0, 1, 0, 0, 1]


def test_arrays_of_three_axes_become_curves():
    x = np.arange(12.0).reshape(2, 3, 2)
    x[1, 2, 0] = np.nan
    table = ScoreTable.from_arrays({"a": x}, tasks=["p", "q", "r"], steps=[10, 20])
    steps, curves = table.curves("a", "r")
    assert steps.tolist() == [10, 20]
    np.testing.assert_array_equal(curves, x[:, 2])
    assert table.at_step(20).runs("a", "q").tolist() == [3, 9]
    assert table.last_step().runs("a", "q").tolist() == [3, 9]
    with pytest.raises(ScoreDataError, match=r"holds 2 steps of each run; .* take last_step"):
        table.runs("a", "q")
    with pytest.raises(ScoreDataError, match="no row is at step 30; found 10, 20"):
        table.at_step(30)


def test_the_last_step_is_each_runs_own():
    rows = [
        {"algorithm": "a", "task": "t", "run": run, "step": step, "score": 10 * run + step}
        for run, last in ((0, 3), (1, 2))
        for step in range(last)
    ]
    assert ScoreTable.from_records(rows).last_step().runs("a", "t").tolist() == [2, 11]


def test_arrays_of_wrong_shape_are_named():
    with pytest.raises(ScoreDataError, match=r"a: expected shape \(runs, tasks\), found \(3,\)"):
        ScoreTable.from_arrays({"a": [1, 2, 3]})
    with pytest.raises(ScoreDataError, match="b: expected 2 tasks, found 3 columns"):
        ScoreTable.from_arrays({"a": [[1, 2]], "b": [[1, 2, 3]]}, tasks=["p", "q"])


@given(ragged_runs())
def test_runs_come_back_as_they_went_in(runs):
    rows = [
        {"algorithm": "a", "task": str(t), "run": r, "score": score}
        for t, scores in enumerate(runs)
        for r, score in enumerate(scores)
    ]
    table = ScoreTable.from_records(rows)
    for t, scores in enumerate(runs):
        np.testing.assert_array_equal(table.runs("a", str(t)), scores)


def test_html_shows_the_first_rows():
    assert "dqn" in ScoreTable.from_records(ROWS)._repr_html_()
