"""Files of model, item, score: names of columns, epochs, subtasks, truth values."""

import polars as pl
import pytest

from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.scores import read_scores
from score_files import written


def test_model_item_correct_is_a_table_of_items(tmp_path):
    text = "model,item,correct,topic\na,q1,true,x\na,q2,False,y\nb,q1,1,x\n"
    table = read_scores(written(tmp_path / "items.csv", text), cluster="topic")
    assert (table.units, table.cluster, table.metric) == ("items", "topic", "correct")
    assert table.means()[0].tolist() == [1.0, 0.0]


def test_parquet_with_a_column_of_truth_values(tmp_path):
    path = tmp_path / "items.parquet"
    pl.DataFrame({"model": ["a", "a"], "item": [1, 2], "correct": [True, None]}).write_parquet(path)
    table = read_scores(path)
    assert table.tasks == ("1", "2")
    assert str(table).startswith("1 model x 2 items, 1 epoch; 1 sample without a score")


def test_names_of_subtasks_go_before_items_that_repeat(tmp_path):
    text = "model,task,item,epoch,score\na,gsm,1,1,1\na,gsm,1,2,0\na,arc,1,1,0\n"
    table = read_scores(written(tmp_path / "items.csv", text))
    assert table.tasks == ("gsm/1", "arc/1")
    assert table.attributes == ("subtask",)


def test_a_tidy_file_of_items_goes_without_runs(tmp_path):
    path = written(tmp_path / "items.csv", "algorithm,task,score\na,q1,1\na,q2,0\n")
    assert read_scores(path).units == "tasks"
    assert read_scores(path, units="items").units == "items"


def test_usual_names_are_said(tmp_path):
    path = written(tmp_path / "items.csv", "model_id,question_id,passed\na,q1,yes\n")
    with pytest.warns(DegenerateScoresWarning) as caught:
        read_scores(path)
    assert str(caught[0].message) == (
        "items.csv: columns 'model_id', 'question_id' and 'passed' are read as model, item and "
        "score"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model,item,acc,exact_match\na,q,1,0\n",
         "expected one score; found acc and exact_match: choose one, as in metric='acc'"),
        ("model,item,answer\na,q,Rome\n",
         "expected a column of numbers for the score, found none among model, item, answer"),
        ("model,item,correct\na,q,maybe\n",
         "line 2, column 'correct': expected a number, found 'maybe'"),
        ("model,item,correct\na,q,1\na,q,0\n",
         "several rows of a on q but no column of runs or epochs"),
        ("model,item,correct\na,,1\n", "line 2, column 'item': expected a name, found nothing"),
        ("model,item,correct\n", "expected rows of scores, found none"),
    ],
)  # fmt: skip
def test_wrong_files_are_told(tmp_path, text, message):
    with pytest.raises(ScoreDataError) as caught:
        read_scores(written(tmp_path / "items.csv", text))
    assert message in str(caught.value)
    assert "items.csv" in str(caught.value)


def test_json_lines_of_model_item_score(tmp_path):
    text = '{"model": "a", "item": 1, "correct": true, "tags": ["x"]}\n'
    text += '{"model": "a", "item": 2, "correct": null, "tags": []}\n'
    table = read_scores(written(tmp_path / "items.jsonl", text))
    assert table.attributes == ()
    assert table.tasks == ("1", "2")
    with pytest.raises(ScoreDataError, match=r"items\.jsonl, line 2: expected JSON"):
        read_scores(written(tmp_path / "items.jsonl", '{"model": "a", "item": 1}\n{"mod\n'))


def test_several_files_are_put_together(tmp_path):
    first = written(tmp_path / "a.csv", "model,item,correct\na,q,1\n")
    other = written(tmp_path / "b.csv", "model,item,correct\nb,q,0\n")
    assert read_scores([first, other]).algorithms == ("a", "b")
    again = written(tmp_path / "d.csv", "model,item,correct\na,q,0\n")
    with pytest.raises(
        ScoreDataError, match="sources 1 and 2 both hold algorithm a, task q, run 1: leave"
    ):
        read_scores([first, again])
    with pytest.raises(ScoreDataError, match="expected one kind of scores in all sources; metric"):
        read_scores([first, written(tmp_path / "c.csv", "model,item,score\nb,q,0\n")])
    with pytest.raises(ScoreDataError, match="expected a source of scores, found none"):
        read_scores([])


@pytest.mark.filterwarnings("ignore:.*is read as score")
@pytest.mark.parametrize("words", [("true", "false"), ("Yes", "no"), ("1", "0")])
def test_a_single_column_of_right_and_wrong_is_the_score(tmp_path, words):
    table = read_scores(
        written(tmp_path / "items.csv", "model,item,answered\na,q1,{}\na,q2,{}\n".format(*words))
    )
    assert [row["score"] for row in table.to_records()] == [1.0, 0.0]


def test_items_that_repeat_are_epochs_of_a_column_or_averaged(tmp_path):
    path = written(tmp_path / "items.csv", "model,item,go,correct\na,q,1,1\na,q,2,0\n")
    with pytest.raises(
        ScoreDataError, match=r"runs or epochs: .*columns={'run'.*within_run='mean'"
    ):
        read_scores(path)
    assert read_scores(path, columns={"run": "go"}).run_counts.tolist() == [[2]]
    (row,) = read_scores(path, within_run="mean").to_records()
    assert (row["run"], row["score"]) == (1, 0.5)
