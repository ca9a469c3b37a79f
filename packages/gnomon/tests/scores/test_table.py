import re

import numpy as np
import polars as pl
import pytest

from gnomon.errors import ScoreDataError, UnknownNameError
from gnomon.scores import ScoreTable, read_scores

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
    table = ScoreTable(ROWS)
    assert table.algorithms == ("dqn", "sac")
    assert table.tasks == ("pong", "ant")
    assert table.attributes == ("suite",)


def test_a_missing_run_is_kept_as_a_row_and_left_out_of_arrays():
    table = ScoreTable(ROWS)
    assert len(table) == 5
    assert table.runs("dqn", "pong").tolist() == [20.0]
    assert table.run_labels("dqn", "pong") == (0,)
    assert table.runs("sac", "pong").size == 0
    assert table.to_records()[1]["score"] is None


def test_describe_names_what_is_missing():
    assert str(ScoreTable(ROWS)).splitlines() == [
        "5 scores (score, higher is better): 2 algorithms, 2 tasks, 1 to 2 runs",
        "1 missing run (empty score)",
        "no score in 1 of 4 cells (sac on pong)",
        "dqn: a single run per task, where others have up to 2",
    ]


def test_describe_names_single_runs_and_unequal_numbers():
    rows = [
        {"algorithm": a, "task": t, "run": i, "score": i}
        for a, t, n in (("a", "x", 3), ("a", "y", 1), ("b", "x", 3), ("b", "y", 3), ("c", "x", 3),
                        ("c", "y", 2))
        for i in range(n)
    ]  # fmt: skip
    assert str(ScoreTable(rows)).splitlines()[1:] == [
        "a: a single run on 1 task (y), up to 3 on others",
        "c: 2 runs on 1 task (y), up to 3 on others",
    ]


def test_shared_tasks_are_those_that_all_have():
    table = ScoreTable(ROWS)
    assert table.shared_tasks() == ("ant",)
    assert table.shared_tasks(["dqn"]) == ("pong", "ant")


@pytest.mark.parametrize(("higher", "expected"), [(True, -np.inf), (False, np.inf)])
def test_a_censored_run_is_infinitely_bad(higher, expected):
    rows = [r | {"censored": r["score"] == 7.0} for r in ROWS]
    table = ScoreTable(rows, higher_is_better=higher)
    assert table.runs("sac", "ant").tolist() == [expected, 8.0]
    rows = [r | {"censored": r["score"] is None} for r in ROWS]
    table = ScoreTable(rows, higher_is_better=higher)
    assert table.runs("dqn", "pong").tolist() == [20.0, expected]


def test_select_by_name_and_attribute():
    table = ScoreTable(ROWS)
    assert table.select(where={"suite": "mujoco"}).tasks == ("ant",)
    assert len(table.select(algorithms=["dqn"], tasks=["ant"])) == 1


def test_unknown_names_are_answered_with_near_ones():
    table = ScoreTable(ROWS)
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
            "rows 1 and 6, column 'run': expected one row for each algorithm, task, run; found "
            "algorithm dqn, task pong, run 0 twice; read_scores(table, within_run='mean')",
        ),
        (
            with_row(score=float("inf")),
            "row 6, column 'score': an infinite score needs a true 'censored'",
        ),
        (with_row(task=""), "row 6, column 'task': expected a name, found nothing"),
        (
            with_row(censored="perhaps"),
            "row 6, column 'censored': expected true or false, found another text",
        ),
        (
            [{k: v for k, v in row.items() if k != "run"} for row in ROWS],
            "rows 1 and 2, column 'run': several rows of dqn on pong but no column of runs or "
            "epochs: name it by read_scores(table, columns={'run': 'NAME'}), or average",
        ),
        (
            [row | {"step": None} for row in ROWS],
            "row 1, column 'step': expected a number, found nothing",
        ),
        ([], "missing columns 'algorithm', 'task', 'score'; found none"),
    ],
)
def test_bad_rows_are_named(rows, message):
    with pytest.raises(ScoreDataError, match=f"^{re.escape(message)}"):
        ScoreTable(rows)


def test_a_selection_that_finds_nothing_says_what_there_is():
    table = ScoreTable(ROWS)
    with pytest.raises(ScoreDataError, match="no row has suite = procgen; found atari, mujoco"):
        table.select(where={"suite": "procgen"})


def test_frames_with_other_names_are_read_by_theirs():
    names = {"algorithm": "Name", "task": "Game", "run": "seed", "score": "Return"}
    columns = {"Name": ["a", "a"], "Game": ["t", "t"], "seed": [1, 2], "Return": [3.0, 4.0]}
    pandas = pytest.importorskip("pandas")
    for frame in (pl.DataFrame(columns), pl.LazyFrame(columns), pandas.DataFrame(columns), columns):
        assert read_scores(frame, columns=names).runs("a", "t").tolist() == [3, 4]
    # A name that is taken already gives way, and one column may serve twice.
    taken = pl.DataFrame({**columns, "score": [0.0, 0.0], "suite": ["x", "y"]})
    table = read_scores(taken, columns=names | {"step": "seed"})
    assert table.to_polars().columns == ["algorithm", "task", "run", "step", "score", "suite"]
    assert table.to_polars()["score"].to_list() == [3, 4]


def test_names_of_columns_that_are_not_there_are_told():
    frame = pl.DataFrame({"Name": ["a"], "task": "t", "run": [0], "score": [1.0]})
    with pytest.raises(ScoreDataError, match="no column 'name' to read as the algorithm; found Na"):
        read_scores(frame, columns={"algorithm": "name"})
    for name in ("step", "task"):
        with pytest.raises(ScoreDataError, match=f"no column 'x' to read as the {name}; found Na"):
            read_scores(frame, columns={name: "x"})
    with pytest.raises(UnknownNameError, match="unknown column of scores to read one as 'Name'"):
        read_scores(frame, columns={"Name": "algorithm"})
    with pytest.raises(ScoreDataError, match="missing column 'algorithm'; found Name, task, run"):
        ScoreTable(frame)
    with pytest.raises(ScoreDataError, match="columns of one length, found algorithm 1, task 2"):
        ScoreTable({"algorithm": ["a"], "task": ["t", "u"]})
    with pytest.raises(TypeError, match=r"a data frame, .* or one array .*; found list"):
        ScoreTable([1, 2])


def test_a_mapping_of_arrays_is_read_as_rliable_has_it():
    scores = {"a": np.array([[1.0, 2.0], [3.0, 4.0]]), "b": [[5, 6]]}
    found = ScoreTable(scores)
    assert found.to_polars().equals(ScoreTable.from_arrays(scores).to_polars())
    with pytest.raises(ScoreDataError, match="no column names the rows, and 'a' holds numb"):
        ScoreTable({"a": [1.0, 2.0], "b": [5.0, 6.0]})


def test_arrays_of_three_axes_become_curves():
    x = np.arange(12.0).reshape(2, 3, 2)
    x[1, 2, 0] = np.nan
    table = ScoreTable.from_arrays({"a": x}, tasks=["p", "q", "r"], steps=[10, 20])
    steps, curves = table.curves("a", "r")
    assert steps.tolist() == [10, 20]
    np.testing.assert_array_equal(curves, x[:, 2])
    assert table.last_step().runs("a", "q").tolist() == [3, 9]
    with pytest.raises(ScoreDataError, match=r"2 steps of each run; .* take last_step"):
        table.runs("a", "q")


def test_arrays_of_wrong_shape_are_named():
    with pytest.raises(ScoreDataError, match=r"a: expected shape \(runs, tasks\), found \(3,\)"):
        ScoreTable.from_arrays({"a": [1, 2, 3]})
    with pytest.raises(ScoreDataError, match="b: expected 2 tasks, found 3 columns"):
        ScoreTable.from_arrays({"a": [[1, 2]], "b": [[1, 2, 3]]}, tasks=["p", "q"])


def test_a_table_shows_what_it_holds():
    table = ScoreTable(ROWS)
    assert repr(table) == f"<ScoreTable: {str(table).splitlines()[0]}>"
    html = table._repr_html_()
    assert f"<caption>{str(table).splitlines()[0]}</caption>" in html
    long = ScoreTable.from_arrays({"a<b": np.zeros((100, 12))})._repr_html_()
    assert "<p>The first 10 of 1,200 rows.</p>" in long
    assert long.count("<tr>") == 11
    assert "a<b" not in long


def test_rows_in_any_order_give_the_same_cells():
    rng = np.random.default_rng(0)
    rows = [
        {"algorithm": a, "task": t, "run": run, "step": step, "score": rng.normal()}
        for a in ("b", "a") for t in ("z", "y", "x") for run in range(4) for step in (1, 2, 5)
    ]  # fmt: skip
    mixed = [rows[i] for i in rng.permutation(len(rows))]
    table = ScoreTable(mixed)
    for a in table.algorithms:
        for t in table.tasks:
            own = [row for row in mixed if (row["algorithm"], row["task"]) == (a, t)]
            labels = list(dict.fromkeys(row["run"] for row in own))
            steps, curves = table.curves(a, t)
            assert steps.tolist() == [1, 2, 5]
            for row in own:
                at = labels.index(row["run"]), steps.tolist().index(row["step"])
                assert curves[at] == row["score"]
            last = [row for row in own if row["step"] == 5]
            assert table.last_step().runs(a, t).tolist() == [row["score"] for row in last]
            assert table.last_step().run_labels(a, t) == tuple(row["run"] for row in last)


@pytest.mark.parametrize("run", [[0, 1, 0], ["x", "y", "x"], [0, 10**18, 0], [-5, 3, -5]])
def test_a_key_that_comes_twice_is_found_whatever_the_labels(run):
    frame = pl.DataFrame(
        {"algorithm": ["a"] * 3, "task": ["t"] * 3, "run": run, "score": [1.0] * 3}
    )
    with pytest.raises(ScoreDataError, match=rf"rows 1 and 3, .*found .*run {run[0]} twice"):
        ScoreTable(frame)
    assert len(ScoreTable(frame[:2])) == 2


def test_tables_of_nothing():
    with pytest.raises(ScoreDataError, match="expected an array for each algorithm, found none"):
        ScoreTable.from_arrays({})
    assert str(ScoreTable.from_arrays({"a": [[]]})).startswith("0 scores")
    none = ScoreTable.from_arrays({"a": [[1.0]]}).select(algorithms=[])
    assert none.run_counts.shape == (0, 0)
    assert none.shared_tasks() == ()


def test_many_names_runs_and_steps_do_not_run_out_of_numbers():
    """A key is numbered by the product of all names, labels and steps, which may be too large."""
    n = 3000
    labels = [str(i) for i in range(n)]
    frame = pl.DataFrame(
        {"algorithm": labels, "task": labels, "run": labels, "step": np.arange(n) * 1e15 + 0.5,
         "score": np.ones(n)}
    )  # fmt: skip
    wide = frame.with_columns(other=pl.lit("x"))
    assert len(ScoreTable(wide)) == n
    twice = pl.concat([wide, wide[-1:]])
    with pytest.raises(ScoreDataError, match="rows 3000 and 3001"):
        ScoreTable(twice)


def test_texts_of_numpy_are_texts():
    rows = [{"algorithm": "a", "task": t, "run": 0, "score": 1.0, "topic": t} for t in "xy"]
    rows = [row | {"topic": np.array(["u", "v"])[i]} for i, row in enumerate(rows)]
    assert ScoreTable(rows).rows.texts("topic").names == ("u", "v")
