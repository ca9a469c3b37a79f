"""Samples of lm-evaluation-harness: real ones to the digit, filters, pairs, results beside."""

import re

import pytest

from evaluation_logs import SHARED, lm_eval_line, write_lm_eval
from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.results import noted
from gnomon.scores import read_scores

is_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the evaluation logs are not in the repository"
)
REAL = SHARED / "lm_eval"
ODD = "ignore::gnomon.errors.DegenerateScoresWarning"


@is_shared
@pytest.mark.filterwarnings(ODD)
def test_real_samples_give_the_means_of_the_results():
    table = read_scores(REAL, metric="acc", where={"subtask": "toy_mc"}, cluster="passage")
    assert table.algorithms == ("bu6tyawv", "cqt535ko")
    matrix = table.means()
    assert matrix.mean(axis=1).tolist() == [0.375, 0.625]
    assert matrix.shape == (2, 8)
    marks = table.to_polars().group_by("task").n_unique()["input_hash"].to_list()
    assert marks == [1] * 8
    with noted() as notes:
        group = read_scores(REAL / "bu6tyawv", metric="acc")
    assert group.means().mean() == 0.375
    # The results agree, groups included, and say nothing of word_perplexity.
    assert len(notes) == 1
    assert "left out" in notes[0]


@is_shared
@pytest.mark.filterwarnings(ODD)
def test_real_scores_that_are_refused():
    both = "found exact_match,strict-match and exact_match,maj: choose one, as in metric="
    with pytest.raises(ScoreDataError, match=re.escape(both)):
        read_scores(REAL, metric="exact_match")
    with pytest.raises(ScoreDataError, match="'word_perplexity' is not one number per item: found"):
        read_scores(REAL, metric="word_perplexity")
    with pytest.raises(ScoreDataError, match="expected one score; found exact_match,strict-match"):
        read_scores(REAL)
    found = read_scores(REAL, metric="exact_match,maj")
    assert set(found.to_polars()["metrics.exact_match,strict-match"]) == {0.0}


@is_shared
def test_real_samples_are_left_out_with_a_word():
    with pytest.warns(DegenerateScoresWarning, match="3 logs without 'acc' left out: toy_gen has"):
        read_scores(REAL, metric="acc")


def quiz(values, **options):
    return [lm_eval_line(i, acc=value, **options) for i, value in enumerate(values)]


def test_a_folder_of_one_run_and_of_several(tmp_path):
    write_lm_eval(tmp_path / "a", "small", {"quiz": quiz([1.0, 0.0])})
    write_lm_eval(tmp_path / "b", "large", {"quiz": quiz([True, True])})
    assert len(read_scores(tmp_path / "a").algorithms) == 1
    table = read_scores(tmp_path, cluster="topic")
    assert table.means().tolist() == [[1.0, 0.0], [1.0, 1.0]]
    assert table.to_polars()["question"].to_list()[:2] == ["Question 0?", "Question 1?"]
    (file,) = (tmp_path / "a").glob("samples_*")
    assert read_scores(file).to_polars().equals(table.select(algorithms=["small"]).to_polars())


def test_names_of_tasks_that_begin_alike_are_kept_apart(tmp_path):
    write_lm_eval(tmp_path, "m", {"mmlu": quiz([1.0]), "mmlu_law": quiz([0.0])})
    assert read_scores(tmp_path).tasks == ("mmlu/0", "mmlu_law/0")


def test_results_of_another_stamp_do_not_count(tmp_path):
    write_lm_eval(tmp_path, "m", {"quiz": quiz([1.0])}, results={"quiz": {"acc,none": 1.0}})
    write_lm_eval(tmp_path, "other", {}, stamp="2026-02", results={"quiz": {"acc,none": 0.1}})
    assert read_scores(tmp_path).algorithms == ("m",)


@pytest.mark.parametrize(
    ("about", "message"),
    [
        (
            {"results": {"quiz": {"acc,none": 0.4}}},
            "acc,none of quiz is 0.4 there, and the samples",
        ),
        (
            {"groups": {"all": {"acc,none": 0.4}}, "group_subtasks": {"all": ["quiz"]}},
            "acc,none of all is 0.4 there, and the samples give 0.5",
        ),
        (
            {"n-samples": {"quiz": {"original": 9, "effective": 2}}},
            "only 2 of 9 items were evaluat",
        ),
        ({"n-samples": {"quiz": {"original": 3, "effective": 3}}}, "2 items; the results count 3"),
        (
            {"configs": {"quiz": {"metric_list": [{"metric": "acc", "aggregation": "f1"}]}}},
            "acc of quiz is not averaged over items by the harness, but is here",
        ),
    ],
)
def test_results_that_do_not_agree_are_told(tmp_path, about, message):
    write_lm_eval(tmp_path, "m", {"quiz": quiz([1.0, 0.0])}, **about)
    with pytest.warns(DegenerateScoresWarning, match=message):
        read_scores(tmp_path)


def test_a_group_is_weighted_by_items_or_not(tmp_path):
    tasks = {"one": quiz([1.0]), "two": quiz([0.0, 0.0, 0.0])}
    for value in (0.25, 0.5):
        groups = {"groups": {"g": {"acc,none": value}}, "group_subtasks": {"g": ["one", "two"]}}
        write_lm_eval(tmp_path, "m", tasks, **groups)
        if value == 0.25:
            read_scores(tmp_path)
            continue
        with pytest.warns(DegenerateScoresWarning, match=r"0\.5 there, the unweighted .* is 0\.25"):
            read_scores(tmp_path)


def test_without_results_the_folder_names_the_model(tmp_path):
    write_lm_eval(tmp_path / "model-x", "m", {"quiz": quiz([1.0])})
    (tmp_path / "model-x" / "results_2026-01-01T00-00-00.1.json").unlink()
    with pytest.warns(DegenerateScoresWarning, match=r"no results_.*\.json; the folder"):
        assert read_scores(tmp_path).algorithms == ("model-x",)


def test_low_scores_may_be_good_and_lines_may_lack_one(tmp_path):
    lines = [lm_eval_line(0, brier=0.2), lm_eval_line(1, brier=None)]
    write_lm_eval(tmp_path, "m", {"quiz": lines}, higher_is_better={"quiz": {"brier": False}})
    table = read_scores(tmp_path)
    assert not table.higher_is_better
    assert table.to_polars()["status"].to_list() == ["ok", "unscored"]


@pytest.mark.filterwarnings(ODD)
def test_wrong_samples_are_told(tmp_path):
    path = tmp_path / "samples_quiz_1.jsonl"
    cases = [
        ("", "expected samples, found none"),
        ('{"metrics": []}\n', "expected samples with a doc_id; found ['metrics']"),
        ('{"doc_id": 0, "metrics": ["acc"], "acc": 1}\n{"doc_id"', "line 2: expected JSON"),
        ('{"doc_id": 0, "metrics": ["acc"], "acc": 1}\n' * 2, "found doc_id 0 twice"),
        ('{"doc_id": 0, "metrics": ["f"], "f": "x"}\n', "score 'f' is not one number per item"),
    ]
    for text, message in cases:
        path.write_text(text)
        with pytest.raises(ScoreDataError, match=re.escape(message)):
            read_scores(path, format="lm-eval-samples")
