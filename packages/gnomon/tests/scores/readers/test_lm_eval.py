"""Results of lm-evaluation-harness: files, folders, groups, and what is none."""

import pytest

from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.scores import read_scores
from score_files import written


def lm_results(**tasks):
    return {"results": tasks, "model_name": "tiny"}


def test_a_folder_of_language_model_results(tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    for model, values in (("small", (0.3, 0.4)), ("large", (0.6,))):
        for i, value in enumerate(values):
            content = lm_results(arc={"acc,none": value}) | {"model_name": model}
            written(tmp_path / model / f"results_2026-0{i}.json", content)
    table = read_scores(tmp_path)
    assert table.algorithms == ("large", "small")
    assert table.runs("small", "arc").tolist() == [0.3, 0.4]
    assert table.run_labels("small", "arc") == (0, 1)
    assert table.runs("large", "arc").tolist() == [0.6]
    with pytest.raises(ScoreDataError, match=r"expected files named results\*.json; found none"):
        read_scores(empty, format="lm-eval")


def test_a_metric_under_several_filters_has_to_be_named(tmp_path):
    values = {"exact_match,strict": 0.1, "exact_match,flexible": 0.2, "alias": "gsm"}
    path = written(tmp_path / "results.json", lm_results(gsm=values))
    with pytest.raises(ScoreDataError, match=r"task gsm: expected one exact_match, found \['exact"):
        read_scores(path, metric="exact_match")
    assert read_scores(path, metric="exact_match,strict").runs("tiny", "gsm").tolist() == [0.1]


GROUPED = {"mmlu": 0.6, "mmlu_hard": 0.5, "mmlu_law": 0.5, "mmlu_math": 0.7, "arc": 0.8}


@pytest.mark.parametrize(
    ("about", "left_out"),
    [
        ({"group_subtasks": {"mmlu": ["mmlu_law", "mmlu_math"], "arc": []}}, "mmlu"),
        ({"group_subtasks": {"mmlu": ["mmlu_hard"], "mmlu_hard": ["mmlu_law"]}}, "mmlu, mmlu_hard"),
        ({"group_subtasks": {"mmlu": ["absent"], "arc": "mmlu", "mmlu_law": None}}, ""),
        ({"group_subtasks": {"arc": ["arc"]}, "groups": ["mmlu"]}, ""),
    ],
)
def test_a_group_is_no_task_beside_its_subtasks(tmp_path, about, left_out):
    results = lm_results(**{task: {"acc,none": value} for task, value in GROUPED.items()})
    path = written(tmp_path / "results.json", results | about)
    if left_out:
        with pytest.warns(DegenerateScoresWarning, match=f"subtasks are there: {left_out}$"):
            table = read_scores(path)
    else:
        table = read_scores(path)
    kept = tuple(task for task in GROUPED if task not in left_out.split(", "))
    assert table.tasks == kept


@pytest.mark.parametrize("results", [None, [], {"arc": 3}, {"arc": {"acc": "high"}}, {}])
def test_results_that_are_none(tmp_path, results):
    path = written(tmp_path / "results.json", {"results": results})
    with pytest.raises(ScoreDataError, match="expected results with the metric 'acc'; found none"):
        read_scores(path)


def test_lm_eval(tmp_path):
    results = {
        "model_name": "tiny",
        "results": {
            "arc": {"acc,none": 0.3, "acc_stderr,none": 0.01, "alias": "arc"},
            "wiki": {"word_perplexity,none": 12.0},
        },
        "higher_is_better": {"arc": {"acc": True}, "wiki": {"word_perplexity": False}},
    }
    path = written(tmp_path / "results.json", results)
    with pytest.warns(DegenerateScoresWarning, match="no acc: wiki; wiki has word_perplexity,none"):
        assert read_scores(path).runs("tiny", "arc").tolist() == [0.3]
    with pytest.warns(DegenerateScoresWarning, match="no word_perplexity: arc; arc has acc,none"):
        perplexity = read_scores({"mine": path}, metric="word_perplexity")
    assert not perplexity.higher_is_better
    with pytest.raises(ScoreDataError, match="'f1'; found acc, word_perplexity: metric='acc'"):
        read_scores(path, metric="f1")


def test_tasks_evaluated_in_part_are_named(tmp_path):
    counts = {"arc": {"original": 84, "effective": 84}, "piqa": {"original": 99, "effective": 9}}
    results = lm_results(arc={"acc,none": 0.3}, piqa={"acc,none": 0.5}) | {"n-samples": counts}
    with pytest.warns(DegenerateScoresWarning, match=r"only a part .* \(limit\) on piqa$"):
        read_scores(written(tmp_path / "results.json", results))
