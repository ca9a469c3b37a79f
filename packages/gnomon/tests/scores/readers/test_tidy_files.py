import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings

from gnomon.errors import ScoreDataError
from gnomon.scores import ScoreTable, read_scores, write_scores
from score_files import written
from strategies_scores import ragged_runs

SHARED = Path(__file__).parents[5] / ".." / "shared" / "data" / "scores"
HEADER = "algorithm,task,run,score\n"


@pytest.mark.filterwarnings("ignore:.*have the same score")  # drawn so by chance
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(runs=ragged_runs())
def test_what_is_written_is_read_back(tmp_path, suffix, runs):
    rows = [
        {"algorithm": "a", "task": f"t{t}", "run": r, "score": s, "censored": False, "seed": "x"}
        for t, scores in enumerate(runs)
        for r, s in enumerate([*scores, None])
    ]
    rows.append(rows[0] | {"run": 99, "score": float("inf"), "censored": True})
    table = ScoreTable(rows, metric="tce", unit="errors", higher_is_better=False)
    path = tmp_path / f"scores{suffix}"
    write_scores(table, path)
    found = read_scores(path)
    assert (found.metric, found.unit, found.higher_is_better) == ("tce", "errors", False)
    assert found.to_polars().equals(table.to_polars(), null_equal=True)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_the_caller_overrides_the_file(tmp_path):
    path = written(tmp_path / "scores.csv", HEADER + "a,t,0,1\n")
    assert not read_scores(path, higher_is_better=False).higher_is_better
    path.write_text("algorithm,task,run,score,direction\na,t,0,1,lower\n")
    assert not read_scores(path).higher_is_better
    assert read_scores(path, higher_is_better=True).higher_is_better


def test_a_file_of_several_metrics_is_read_one_by_one(tmp_path):
    head = "algorithm,task,run,metric,score\n"
    path = written(tmp_path / "scores.csv", head + "a,t,0,tce,4\na,t,0,skill,0.5\n")
    table = read_scores(path, metric="skill")
    assert (table.metric, table.runs("a", "t").tolist(), table.attributes) == ("skill", [0.5], ())
    with pytest.raises(ScoreDataError, match="no row has metric = tc; found skill, tce"):
        read_scores(path, metric="tc")
    path = written(tmp_path / "scores.csv", HEADER + "a,t,0,4\n")
    for name in ("tce", "task"):
        with pytest.raises(ScoreDataError, match=f"expected no name of a score, found {name}"):
            read_scores(path, metric=name)


@pytest.mark.parametrize("other", ["higher", ""])
def test_a_file_of_several_directions_is_refused(tmp_path, other):
    text = f"algorithm,task,run,score,direction\na,t,0,1,lower\na,u,0,2,{other}\n"
    found = f"found lower and {other or 'nothing'}"
    with pytest.raises(
        ScoreDataError, match=f"'direction': expected the same in all rows, {found}"
    ):
        read_scores(written(tmp_path / "scores.csv", text))
    kept = read_scores(written(tmp_path / "scores.csv", text), where={"task": "t"})
    assert not kept.higher_is_better


@pytest.mark.parametrize(
    ("runs", "labels"),
    [(("first", "2"), ("first", "2")), (("1", "01"), ("1", "01")), (("01", "02"), (1, 2))],
)
def test_runs_may_have_names_and_are_numbers_if_none_is_spelt_in_two_ways(tmp_path, runs, labels):
    rows = "".join(f"a,t,{run},{i}\n" for i, run in enumerate(runs))
    table = read_scores(written(tmp_path / "scores.csv", HEADER + rows))
    assert table.run_labels("a", "t") == labels


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("score", [[1.0], [2.0]], r": column 'score': expected texts or numbers, found list"),
        ("score", [1.0, 1e200], r", row 2, column 'score': expected a number from -1e\+100 to"),
        ("algorithm", [b"\xff", b"a"], r": column 'algorithm': expected texts or .*, found bytes"),
        ("suite", [{"a": 1}, {"a": 2}], r": column 'suite': expected texts or numbers, found dict"),
    ],
)
def test_a_parquet_file_of_other_types(tmp_path, column, values, message):
    columns = {"algorithm": ["a", "a"], "task": ["t", "t"], "run": [0, 1], "score": [1.0, 2.0]}
    path = tmp_path / "scores.parquet"
    pl.DataFrame(columns | {column: values}).write_parquet(path)
    with pytest.raises(ScoreDataError, match=re.escape(str(path)) + message):
        read_scores(path)


def test_runs_may_be_numbers_of_any_size(tmp_path):
    columns = {"algorithm": ["a", "a"], "task": ["t", "t"], "run": [0, 2**63], "score": [1.0, 2.0]}
    path = tmp_path / "scores.parquet"
    pl.DataFrame(columns, schema_overrides={"run": pl.UInt64}).write_parquet(path)
    assert read_scores(path).run_labels("a", "t") == ("0", str(2**63))


def test_a_damaged_parquet_file(tmp_path):
    path = tmp_path / "scores.parquet"
    write_scores(ScoreTable.from_arrays({"a": [[1.0, 2.0]]}), path)
    data = path.read_bytes()
    for end in range(0, len(data) - 1, 37):
        path.write_bytes(data[:end])
        with pytest.raises(ScoreDataError, match="expected a Parquet file; ") as error:
            read_scores(path)
        assert "\n" not in str(error.value)


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    table = ScoreTable.from_arrays({"a": [[1.0]]})
    (tmp_path / "scores.csv").mkdir()
    with pytest.raises(OSError, match="directory") as error:
        write_scores(table, tmp_path / "scores.csv")
    assert error.value.filename == str(tmp_path / "scores.csv")
    assert [file.name for file in tmp_path.iterdir()] == ["scores.csv"]


def test_a_device_is_no_file_of_scores():
    with pytest.raises(
        ScoreDataError, match=r"^/dev/null: expected a file of scores; this is not one"
    ):
        read_scores("/dev/null")


def test_a_name_that_cannot_be_written(tmp_path):
    table = ScoreTable.from_arrays({"a": [[1.0]]})
    with pytest.raises(ScoreDataError, match=r"expected a name that ends in \.csv"):
        write_scores(table, tmp_path / "scores.xls")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not SHARED.is_dir(), reason="the published scores are not in the repository")
def test_ragged_public_scores_are_read():
    table = read_scores(SHARED / "dreamerv3_final_runs.csv", where={"suite": "atari57"})
    table = table.select(algorithms=["dreamerv3"])
    sizes = table.to_polars()["task"].value_counts()["count"].to_list()
    # 6, 5, 4 and 3 seeds on 28, 18, 8 and 3 games, says the data's own note; two scores are empty.
    assert [sizes.count(n) for n in (6, 5, 4, 3)] == [28, 18, 8, 3]
    assert sum(table.runs("dreamerv3", task).size for task in table.tasks) == len(table) - 2
    curves = read_scores(
        SHARED / "dopamine_atari_legacy_curves.csv", columns={"step": "million_frames"}
    )
    assert curves.n_steps == 10
    assert np.isfinite(curves.last_step().runs("DQN", "Pong")).all()
