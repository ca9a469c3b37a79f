"""Data frames, arrays and records give what a file with the same contents gives."""

import json
import re
import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gnomon as gn
from gnomon.errors import ScoreDataError
from gnomon.scores import ScoreTable, read_scores

pd = pytest.importorskip("pandas")

ALGORITHMS, TASKS = ("dqn", "ppo", "sac"), ("pong", "ant", "chess")
WORDS = [
    ("algorithm", "task", "run", "score"),
    ("agent", "environment", "seed", "return"),
    ("Method", "Env ID", "trial", "Episode Return"),
]


def tidy(draw, scores):
    words = draw(st.sampled_from(WORDS))
    rows = [(ALGORITHMS[i], TASKS[j], r, x) for (i, j, r), x in np.ndenumerate(scores)]
    table = dict(zip(words, map(list, zip(*rows, strict=True)), strict=True))
    if draw(st.booleans()):
        table["global_step"] = [10] * len(rows)
    return table


def wide(draw, scores):
    n, m, _ = scores.shape
    if draw(st.booleans()):
        columns = {TASKS[j]: scores[:, j, 0].tolist() for j in range(m)}
        return {draw(st.sampled_from(["model", "Agent", "x"])): list(ALGORITHMS[:n])} | columns
    columns = {f"{ALGORITHMS[i]} ↓": scores[i, :, 0].tolist() for i in range(n)}
    return {draw(st.sampled_from(["env", "Game"])): list(TASKS[:m])} | columns


def pivot(draw, scores):
    runs = {f"seed {r}": scores[:, 0, r].tolist() for r in range(scores.shape[2])}
    by_algorithm = {name: x.tolist() for name, x in zip(ALGORITHMS, scores[:, 0], strict=False)}
    seeds = list(range(scores.shape[2]))
    return draw(
        st.sampled_from([
            {"model": list(ALGORITHMS[: len(scores)])} | runs,
            {"seed": seeds} | by_algorithm,  # refused: algorithms or tasks
            {"step": seeds} | by_algorithm,
        ])
    )  # fmt: skip


def items(draw, scores):
    rows = [(ALGORITHMS[i], f"q{j}", x > 0) for (i, j), x in np.ndenumerate(scores[..., 0])]
    names = draw(st.sampled_from([("model", "item", "correct"), ("model_id", "doc_id", "passed")]))
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


@st.composite
def tables(draw):
    """Draw the columns of a table in one of the layouts."""
    shape = draw(st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3)))
    cells = st.integers(-500, 500).map(lambda x: x / 4) | st.just(float("nan"))
    n = int(np.prod(shape))
    scores = np.array(draw(st.lists(cells, min_size=n, max_size=n))).reshape(shape)
    scores.flat[0] = 1.5
    return draw(st.sampled_from([tidy, wide, pivot, items]))(draw, scores)


def found(source):
    """Return what is read, or why nothing is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            table = read_scores(source)
        except ScoreDataError as error:
            bare = re.sub(r"read_scores\(('[^']*'|table), (.*?)\)", r"\2", str(error))
            return re.sub(r"^/\S*?(: |, )|(line|row)s? [\d and]+, ", "", bare)
    rows = [row | {"task": row["task"].replace("file", "scores")} for row in table.to_records()]
    return rows, table.metric, table.units, table.higher_is_better


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tables())
def test_a_table_in_memory_gives_what_its_file_gives(tmp_path, columns):
    frame = pd.DataFrame(columns)
    frame.to_csv(tmp_path / "scores.csv", index=False)
    expected = found(tmp_path / "scores.csv")
    key = next(iter(columns))
    for table in (frame, frame.set_index(key), pl.from_pandas(frame), pl.from_pandas(frame).lazy()):
        assert found(table) == expected
    frame.to_parquet(tmp_path / "scores.parquet", index=False)
    assert found(tmp_path / "scores.parquet") == expected
    records = json.loads(frame.to_json(orient="records"))
    (tmp_path / "scores.json").write_text(json.dumps(records))
    assert found(records) == found(tmp_path / "scores.json") == expected


def test_verbs_take_wide_frames():
    frame = pd.DataFrame({"model": ["a", "b"], "pong": [1, 3], "ant": [2, 5.5]})
    assert ScoreTable(frame).runs("b", "ant").tolist() == [5.5]
    assert ScoreTable(frame.set_index("model"), metric="f1").metric == "f1"
    assert gn.ScoreTable(pl.from_pandas(frame), unit="points").unit == "points"
    with pytest.warns(UserWarning, match="interval not estimable from one run"):
        assert [row.value for row in gn.estimate(frame, "mean")] == [1.5, 4.25]


def test_indices_of_pandas():
    rows = [("a", "t", 0, 1.0), ("a", "t", 1, 2.0)]
    frame = pd.DataFrame(rows, columns=["algorithm", "task", "run", "score"])
    keys = ["algorithm", "task", "run"]
    for table in (frame[::-1], frame.set_index(keys), frame.set_index(keys)["score"]):
        assert sorted(read_scores(table).runs("a", "t")) == [1.0, 2.0]
    pivot = frame.pivot_table("score", "algorithm", ["task", "run"])
    with pytest.raises(ScoreDataError, match="expected one row of headings, found 2"):
        read_scores(pivot)
    stacked = pivot.stack([0, 1]).rename("score").reset_index()
    assert sorted(read_scores(stacked).runs("a", "t")) == [1.0, 2.0]


def test_summaries_in_memory(tmp_path):
    frame = pd.DataFrame({"agent": ["a", "b"], "env": ["t", "t"], "score": [1.0, 2.0]})
    frame = pd.concat([frame, frame.assign(score=[3.0, 7.0])])
    summary = frame.groupby(["agent", "env"])["score"].agg(["mean", "std", "count"])
    summary = summary.rename_axis(["algorithm", "task"])
    summary.to_csv(tmp_path / "means.csv")
    for table in (summary, tmp_path / "means.csv"):
        assert [row.value for row in gn.estimate(table, "mean")] == [2.0, 4.5]


PANDAS = pd.DataFrame({"algorithm": ["a", "b"], "task": ["x", "x"], "score": [1.0, 2.0]})
DIFFERENT = "expected columns of different names, found "


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        (pd.concat([PANDAS, PANDAS[["task"]]], axis=1), f"{DIFFERENT}'task' twice"),
        (PANDAS.assign(**{"1": 0}).assign(**{"x": 0}).rename(columns={"x": 1}), DIFFERENT),
        (PANDAS.assign(score=pd.Series([10**400, 2.5], dtype=object)), "numbers of at most 1e308"),
        ({"a": [[10**400, 1]]}, "a: expected an array of numbers"),
        ({"a": np.ones((2, 2), complex)}, "a: expected an array of numbers"),
        ({"a": np.array([["2020-01-01"]], "M8[D]")}, "a: expected an array of numbers"),
    ],
)
def test_what_has_two_readings_or_is_no_number_is_refused(scores, said):
    with pytest.raises(ScoreDataError, match=said):
        read_scores(scores)


def test_masked_scores_are_missing():
    masked = np.ma.array([[1.0, 2.0], [3.0, 4.0]], mask=[[0, 1], [0, 0]])
    np.testing.assert_array_equal(read_scores({"a": masked}).rows["score"], [1, np.nan, 3, 4])
    columns = {"algorithm": ["a", "a"], "task": ["x", "x"], "run": [0, 1], "score": masked[0]}
    np.testing.assert_array_equal(read_scores(columns).rows["score"], [1, np.nan])
