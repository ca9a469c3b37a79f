"""Evaluation tables of Papers with Code: metrics, areas, and what is none."""

import gzip
import json

import pytest

from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.scores import read_papers_with_code, read_scores


def written(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def area(task, datasets, subtasks=()):
    def rows(reports):
        return [{"model_name": m, "metrics": metrics} for m, metrics in reports]

    return {
        "task": task,
        "datasets": [{"dataset": d, "sota": {"rows": rows(r)}} for d, r in datasets.items()],
        "subtasks": list(subtasks),
    }


def papers():
    atari = area(
        "Atari Games",
        {
            "Pong": [
                ("DQN", {"Score": "20.1"}),
                ("DQN", {"Score": "18"}),
                ("C51", {"Score": "21"}),
            ],
            "Chess": [("C51", {"Score": "1,200", "Elo": "3"}), ("DQN", {"Score": "many"})],
        },
    )
    vision = area("Vision", {}, [area("Detection", {"Pong": [("YOLO", {"Score": "94.5%"})]})])
    return [atari, vision]


def test_what_is_not_as_papers_with_code_has_it_is_passed_over(tmp_path):
    odd = [papers()[1] | {"subtasks": [*papers()[1]["subtasks"], {"task": "x", "datasets": 5}, 7]}]
    path = written(tmp_path, "evaluation-tables.json", json.dumps(odd))
    assert read_scores(path).tasks == ("Pong",)


def test_evaluation_tables_of_papers_with_code(tmp_path):
    path = written(tmp_path, "evaluation-tables.json", json.dumps(papers()))
    with pytest.warns(DegenerateScoresWarning) as caught:
        table = read_scores(path)
    assert [str(w.message) for w in caught] == [
        "of 2 metrics the one that most data sets have was read: Score",
        "1 reports of Score left out, since they are no numbers",
    ]
    assert table.tasks == ("Atari Games: Pong", "Chess", "Detection: Pong")
    assert table.runs("DQN", "Atari Games: Pong").tolist() == [20.1, 18.0]
    assert table.runs("YOLO", "Detection: Pong").tolist() == [94.5]


@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
def test_an_area_of_papers_with_code(tmp_path):
    path = tmp_path / "evaluation-tables.json.gz"
    path.write_bytes(gzip.compress(json.dumps(papers()).encode()))
    table = read_scores(path, where={"area": "Atari Games"}, metric="Score")
    assert table.tasks == ("Pong", "Chess")
    with pytest.raises(ScoreDataError, match="expected reports of Elo; found Score"):
        read_scores(path, where={"area": "Detection"}, metric="Elo")


def test_other_json_is_none(tmp_path):
    for content in ({"results": {}}, [], [1], [{"task": "x"}], "text"):
        path = written(tmp_path, "x.json", json.dumps(content))
        with pytest.raises(ScoreDataError, match="expected a list of tasks, each with a list of"):
            read_papers_with_code(path)
        with pytest.raises(ScoreDataError, match=r"expected (a JSON object|results with)"):
            read_scores(path)


@pytest.mark.parametrize("content", [[{"task": "x", "datasets": [1, None, {"sota": [3]}]}]])
def test_damaged_evaluation_tables_hold_no_reports(tmp_path, content):
    path = written(tmp_path, "x.json", json.dumps(content))
    with pytest.raises(ScoreDataError, match="expected reports of a metric; found none"):
        read_scores(path)


def test_broken_json_is_said(tmp_path):
    with pytest.raises(ScoreDataError, match="expected JSON"):
        read_scores(written(tmp_path, "x.json", "[{"))
    path = tmp_path / "x.json.gz"
    path.write_bytes(b"no gzip")
    with pytest.raises(ScoreDataError, match="expected JSON"):
        read_scores(path)
