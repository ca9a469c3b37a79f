"""Exports of a Gnomon leaderboard: which trials count, and what is damaged."""

import json
import math

import pytest

from gnomon.errors import ScoreDataError
from gnomon.scores import read_scores


def written(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


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
    table = read_scores(folder)
    assert not table.higher_is_better
    assert table.runs("dqn", "b3").tolist() == [40.0, 41.0]
    assert table.runs("sac", "b3").tolist() == [50.0]
    learned = read_scores(folder, metric="errors_to_learn")
    assert learned.runs("dqn", "b3").tolist() == [math.inf, 7.0]
    with pytest.raises(ScoreDataError, match="expected scores in a known format"):
        read_scores(tmp_path)


def test_entries_of_one_name_are_told_apart(tmp_path):
    entries = [
        {"id": i, "season": "s1", "account": a, "name": "x"} for i, a in ((1, "a"), (2, "b"))
    ]
    table = read_scores(export(tmp_path / "board", entries=entries))
    assert table.algorithms == ("x (s1, a)", "x (s1, b)")


def test_damaged_exports_are_said(tmp_path):
    with pytest.raises(ScoreDataError, match="expected an export of a leaderboard; KeyError"):
        read_scores(export(tmp_path / "a", entries=[]))
    with pytest.raises(ScoreDataError, match="expected trials that count, found none"):
        read_scores(export(tmp_path / "b", trials=[]))
    with pytest.raises(ScoreDataError, match="expected tce or errors_to_learn, found 'acc'"):
        read_scores(export(tmp_path / "c"), metric="acc")
    folder = export(tmp_path / "d")
    (folder / "data" / "entries.json").unlink()
    with pytest.raises(ScoreDataError, match="expected a table of a leaderboard"):
        read_scores(folder)
