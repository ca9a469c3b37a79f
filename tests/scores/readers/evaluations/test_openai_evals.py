"""Records of openai/evals: events, repeats, the final report, and what is wrong with a file."""

import pytest

from evaluation_logs import write_openai
from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.scores import read_scores


def test_records_of_two_models_are_pairs(tmp_path):
    write_openai(tmp_path / "a.jsonl", "gpt-a", [("s.0", True), ("s.1", False)], accuracy=0.5)
    write_openai(tmp_path / "b.jsonl", "gpt-b", [("s.0", True), ("s.1", True)], accuracy=1)
    table = read_scores(tmp_path)
    assert (table.algorithms, table.metric) == (("gpt-a", "gpt-b"), "correct")
    assert table.tasks == ("quiz.dev.v0/s.0", "quiz.dev.v0/s.1")
    assert table.item_scores.matrix().tolist() == [[1.0, 0.0], [1.0, 1.0]]
    assert read_scores(tmp_path / "a.jsonl").algorithms == ("gpt-a",)


def test_events_of_one_sample_are_epochs_metrics_and_errors(tmp_path):
    def event(item, kind, **data):
        return {"sample_id": item, "type": kind, "data": data}

    events = [event("s.0", "metrics", score=0.5, note="x"), event("s.0", "metrics", score=0.7)]
    usage = {"prompt_tokens": 5, "completion_tokens": 2}
    events += [event("s.1", "error", message="x"), event("s.0", "sampling", usage=usage)]
    path = write_openai(tmp_path / "a.jsonl", "gpt-a", [], accuracy=None, events=events)
    with pytest.warns(DegenerateScoresWarning, match="no final report: the run was not finished"):
        table = read_scores(path)
    assert table.frame["score"].to_list()[:2] == [0.5, 0.7]
    assert table.frame["status"].to_list() == ["ok", "ok", "error"]
    assert table.frame["input_tokens"].to_list()[:2] == [5, 5]


def test_a_report_that_does_not_agree_is_told(tmp_path):
    path = write_openai(tmp_path / "a.jsonl", "gpt-a", [("s.0", True)], accuracy=0.3)
    with pytest.warns(
        DegenerateScoresWarning, match="accuracy is 0.3 in the final report.* give 1"
    ):
        read_scores(path)


def test_wrong_records_are_told(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"spec": {"eval_name": "quiz"}}\n')
    with pytest.raises(ScoreDataError, match=r"expected a line with spec\.completion_fns"):
        read_scores(path)
    path.write_text('{"spec": {"eval_name": "quiz"}}\n{"sam')
    with pytest.raises(ScoreDataError, match=r"a\.jsonl, line 2: expected JSON"):
        read_scores(path, format="openai-evals")
