"""Dumps of leaderboards: wide tables, Papers with Code, our own export."""

import gzip
import json
import math

import pytest

from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.scores.readers.leaderboard_dump import read_leaderboard_dump
from gnomon.scores.readers.reported_number import reported_number


def written(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12", 12.0), ("-1,234.5", -1234.5), ("94.5 %", 94.5), ("1e3", 1000.0), (".5", 0.5),
        ("12.3±0.4", 12.3), ("12.3 +/- 0.4", 12.3), ("12.3 (0.4)", 12.3), ("\N{MINUS SIGN}2", -2.0),
        ("12,34", None), ("MIT", None), ("1 2", None), (".", None), ("1.2.3", None), (True, None),
        ("inf", None), ("12 (best)", None),
        ("**15.0**", 15.0), ("15.0*", 15.0), ("__1,234__ ± 5", 1234.0), ("*94.5* %", 94.5),
        ("**15.0 (0.2)**", 15.0), ("*", None), ("1_000", None), ("2*3", None),
    ],
)  # fmt: skip
def test_numbers_as_they_are_printed(text, number):
    assert reported_number(text) == number


@pytest.mark.parametrize("text", ["", " ", "-", "N/A", None, "nan", "**-**"])
def test_empty_cells_are_missing(text):
    assert math.isnan(reported_number(text))


def test_a_wide_table_has_tasks_for_columns(tmp_path):
    text = 'Model,Licence,Pong,"Break, out",Average\nDQN,MIT,"1,234",30.5%,1\nC51,,2 ± 1,,9\n'
    path = written(tmp_path, "paper.csv", text)
    with pytest.warns(DegenerateScoresWarning) as caught:
        table = read_leaderboard_dump(path)
    assert [str(w.message) for w in caught] == [
        "columns left out, since they are no tasks: Licence, Average",
        "deviations are left out: each cell is read as one number, and how sure it is is not used; "
        "estimate, compare and profile take means and deviations from a file with columns "
        "algorithm, task, mean, std, runs",
    ]
    assert table.algorithms == ("DQN", "C51")
    assert table.tasks == ("Pong", "Break, out")
    assert table.runs("DQN", "Pong").tolist() == [1234.0]
    assert table.runs("C51", "Break, out").size == 0


def test_what_tells_of_a_model_is_no_task(tmp_path):
    head = "eval,Average \u2b06\ufe0f,Hub \u2764\ufe0f,#Params (B),CO\u2082 cost (kg),IFEval"
    path = written(tmp_path, "board.csv", f"{head},Rank of words\na,9,1,7,1,5,6\nb,8,3,7,3,4,7\n")
    with pytest.warns(
        DegenerateScoresWarning, match="they are no tasks: Average .*, Hub .*, #Params"
    ):
        table = read_leaderboard_dump(path)
    assert table.tasks == ("IFEval", "Rank of words")


def test_a_number_in_a_name_makes_it_a_task(tmp_path):
    path = written(tmp_path, "board.csv", "model,hub1,hub 2,Total (3)\na,1,2,3\nb,3,4,7\n")
    with pytest.warns(DegenerateScoresWarning, match=r"they are no tasks: Total \(3\)"):
        table = read_leaderboard_dump(path)
    assert table.tasks == ("hub1", "hub 2")


def test_a_wrong_cell_of_a_wide_table_is_named(tmp_path):
    path = written(tmp_path, "paper.csv", "model,pong,chess\na,1,2\n\nb,x7,3\n")
    with pytest.raises(ScoreDataError) as error:
        read_leaderboard_dump(path)
    assert str(error.value) == f"{path}, line 4, column 'pong': expected a number, found 'x7'"


@pytest.mark.parametrize(
    "text",
    [
        "algorithm,task,run,score\na,t,0,1\n",
        "agent,game,result\na,pong,1\na,chess,2\n",  # tidy, with other words: not for guessing
        "#.nickname,rule_name,trial_id\n.a,r,0\n",
        "name\na\n",
        "name,licence\na,MIT\n",
    ],
)
def test_what_is_no_wide_table_is_left_to_others(tmp_path, text):
    assert read_leaderboard_dump(written(tmp_path, "scores.csv", text)) is None


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
    assert read_leaderboard_dump(path).tasks == ("Pong",)


def test_evaluation_tables_of_papers_with_code(tmp_path):
    path = written(tmp_path, "evaluation-tables.json", json.dumps(papers()))
    with pytest.warns(DegenerateScoresWarning) as caught:
        table = read_leaderboard_dump(path)
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
    table = read_leaderboard_dump(path, where={"area": "Atari Games"}, metric="Score")
    assert table.tasks == ("Pong", "Chess")
    with pytest.raises(ScoreDataError, match="expected reports of Elo; found Score"):
        read_leaderboard_dump(path, where={"area": "Detection"}, metric="Elo")


@pytest.mark.parametrize("content", [{"results": {}}, [], [1], [{"task": "x"}], "text"])
def test_other_json_is_left_to_others(tmp_path, content):
    assert read_leaderboard_dump(written(tmp_path, "x.json", json.dumps(content))) is None


@pytest.mark.parametrize("content", [[{"task": "x", "datasets": [1, None, {"sota": [3]}]}]])
def test_damaged_evaluation_tables_hold_no_reports(tmp_path, content):
    path = written(tmp_path, "x.json", json.dumps(content))
    with pytest.raises(ScoreDataError, match="expected reports of a metric; found none"):
        read_leaderboard_dump(path)


def test_broken_json_is_said(tmp_path):
    with pytest.raises(ScoreDataError, match="expected JSON"):
        read_leaderboard_dump(written(tmp_path, "x.json", "[{"))
    path = tmp_path / "x.json.gz"
    path.write_bytes(b"no gzip")
    with pytest.raises(ScoreDataError, match="expected JSON"):
        read_leaderboard_dump(path)


def export(folder, **changes):
    tables = {
        "entries": [
            {"id": 1, "season": "s1", "account": "ann", "name": "dqn"},
            {"id": 2, "season": "s1", "account": "bob", "name": "sac"},
        ],
        "submissions": [
            {"id": 10, "entry": 1, "state": "verified"},
            {"id": 11, "entry": 1, "state": "withdrawn"},
            {"id": 12, "entry": 2, "state": "reported"},
        ],
        "trials": [
            {"submission": 10, "rule": "b3", "tce": 40.0, "errors_to_learn": None},
            {"submission": 10, "rule": "b3", "tce": 41.0, "errors_to_learn": 7.0},
            {"submission": 11, "rule": "b3", "tce": 1.0, "errors_to_learn": 1.0},
            {"submission": 12, "rule": "b3", "tce": 50.0, "errors_to_learn": 9.0},
        ],
    } | changes
    (folder / "data").mkdir(parents=True)
    for name, rows in tables.items():
        written(folder / "data", f"{name}.json", json.dumps(rows))
    return folder


def test_an_export_of_our_own_leaderboard(tmp_path):
    folder = export(tmp_path / "board")
    table = read_leaderboard_dump(folder)
    assert not table.higher_is_better
    assert table.runs("dqn", "b3").tolist() == [40.0, 41.0]
    assert table.runs("sac", "b3").tolist() == [50.0]
    learned = read_leaderboard_dump(folder, metric="errors_to_learn")
    assert learned.runs("dqn", "b3").tolist() == [math.inf, 7.0]
    assert read_leaderboard_dump(tmp_path) is None


def test_entries_of_one_name_are_told_apart(tmp_path):
    entries = [
        {"id": i, "season": "s1", "account": a, "name": "x"} for i, a in ((1, "a"), (2, "b"))
    ]
    table = read_leaderboard_dump(export(tmp_path / "board", entries=entries))
    assert table.algorithms == ("x (s1, a)", "x (s1, b)")


def test_damaged_exports_are_said(tmp_path):
    with pytest.raises(ScoreDataError, match="expected an export of a leaderboard; KeyError"):
        read_leaderboard_dump(export(tmp_path / "a", entries=[]))
    with pytest.raises(ScoreDataError, match="expected trials that count, found none"):
        read_leaderboard_dump(export(tmp_path / "b", trials=[]))
    with pytest.raises(ScoreDataError, match="expected tce or errors_to_learn, found 'acc'"):
        read_leaderboard_dump(export(tmp_path / "c"), metric="acc")
    folder = export(tmp_path / "d")
    (folder / "data" / "entries.json").unlink()
    with pytest.raises(ScoreDataError, match="expected a table of a leaderboard"):
        read_leaderboard_dump(folder)
