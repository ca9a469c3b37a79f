"""Anchors by name and from a file; tasks without any leave means, and stay in ranks."""

import numpy as np
import pytest

from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.ranking import rank
from gnomon.scores import ScoreTable, normalize
from gnomon.stats import compare


def table_of(*tasks, higher_is_better=True):
    scores = {"a": [[5.0, 7.5][: len(tasks)]] * 2, "b": [[10.0, 2.5][: len(tasks)]] * 2}
    return ScoreTable.from_arrays(scores, tasks=tasks, higher_is_better=higher_is_better)


def test_suites_by_name():
    found = normalize(table_of("procgen:procgen-coinrun-v0", "BigFish"), "procgen-hard")
    assert found.runs("b", "procgen:procgen-coinrun-v0").tolist() == [1.0, 1.0]
    assert found.runs("a", "BigFish").tolist() == [7.5 / 40] * 2
    found = normalize(table_of("coinrun", "bigfish"), "procgen-easy")
    assert found.runs("a", "bigfish").tolist() == [6.5 / 39] * 2
    found = normalize(ScoreTable.from_arrays({"a": [[500.0, 75.0]]}, tasks=["walker", "x"]), "dmc")
    assert found.runs("a", "x").tolist() == [0.075]
    for task in ("MinAtar/Breakout-v1", "Breakout-MinAtar", "minatar-breakout", "breakout"):
        found = normalize(table_of(task), "minatar")
        assert found.runs("a", task).tolist() == [4.5 / 27.5] * 2, task
    with pytest.warns(DegenerateScoresWarning, match="1 of 2 tasks left out of means.*Pong"):
        found = normalize(table_of("Space_Invaders", "MinAtar/Pong-v0"), "minatar")
    assert found.normalization.anchors == {"Space_Invaders": (2.86, 131.0)}
    found = normalize(table_of("MinAtar/Seaquest-v0"), "minatar")
    assert found.normalization.anchors == {"MinAtar/Seaquest-v0": (0.1, 4.4)}
    for name in ("atari", "random-human"):
        assert normalize(table_of("Pong"), name).normalization.anchors == {"Pong": (-20.71, 14.6)}


PROCGEN = (
    *("bigfish", "bossfight", "caveflyer", "chaser", "climber", "coinrun", "dodgeball", "fruitbot"),
    *("heist", "jumper", "leaper", "maze", "miner", "ninja", "plunder", "starpilot"),
)


def test_procgen_has_sixteen_games_at_both_difficulties():
    table = ScoreTable.from_arrays({"a": np.ones((1, 16)), "b": np.zeros((1, 16))}, tasks=PROCGEN)
    for name in ("procgen-easy", "procgen-hard"):
        found = normalize(table, name)
        assert found.tasks == PROCGEN
        assert all(found.runs("a", t) > found.runs("b", t) for t in PROCGEN)


def test_what_no_suite_can_mean_is_refused():
    for task, name, said in [
        ("chess", "atari", "atari: no scores to normalise any task by; tasks are chess"),
        ("walker", "dmc", "dmc: expected returns from 0 to 1000, found 5000 of a on walker"),
        ("pong", "minatar", "minatar: no scores to normalise any task by; tasks are pong"),
    ]:
        table = ScoreTable.from_arrays({"a": [[5000.0]]}, tasks=[task])
        with pytest.raises(ScoreDataError, match=said):
            normalize(table, name)


def test_anchors_of_a_file(tmp_path):
    path = tmp_path / "anchors.csv"
    path.write_text("task,low,high\nt,0,10\nu,,\n")
    with pytest.warns(
        DegenerateScoresWarning, match="1 of 2 tasks left out of means, without base"
    ):
        found = normalize(table_of("t", "u"), str(path))
    assert found.runs("b", "t").tolist() == [1.0, 1.0]
    assert found.normalization.name == "anchors.csv"
    for ends in ("random,human", "min,max", "lower,upper"):
        path.write_text(f"task,{ends}\nPong,0,20\n")
        assert normalize(table_of("ALE/Pong-v5"), str(path)).runs("a", "ALE/Pong-v5")[0] == 0.25
    path.write_text("task,low,high\nt,0,10\n")
    lower = normalize(table_of("t", higher_is_better=False), str(path))
    assert lower.runs("a", "t").tolist() == [0.5, 0.5]
    assert lower.runs("b", "t").tolist() == [0.0, 0.0]


def test_files_of_anchors_that_are_none(tmp_path):
    path = tmp_path / "anchors.csv"
    for text, said in [
        ("task,lo,hi\nt,0,1\n", "expected a column task and two such as low and high"),
        ("task,low,high\nt,0,x\n", "line 2, column 'high': expected a number, found 'x'"),
        ("task;low;high\nt;0;1,234\n", "line 2, column 'high': .*: write a point for a decimal"),
        ("task,low,high\nt,0,1\nt,0,2\n", "line 3, column 'task': expected each task once, found"),
        ("task,low,high\nv,0,1\n", "no scores to normalise any task by; tasks are t, u"),
        ("task,low,high\nt,1,1\nu,0,1\n", "expected two different finite scores for 0 and 1"),
    ]:
        path.write_text(text)
        with pytest.raises(ScoreDataError, match=said):
            normalize(table_of("t", "u"), str(path))
    with pytest.raises(ScoreDataError, match="expected a file of scores; there is none"):
        normalize(table_of("t"), str(tmp_path / "nowhere.csv"))


def test_tasks_without_anchors_stay_in_ranks(tmp_path):
    scores = {"a": [[0.0, 9.0, 9.0]] * 3, "b": [[20.0, 1.0, 1.0]] * 3}
    for higher in (True, False):
        table = ScoreTable.from_arrays(scores, tasks=["Pong", "x", "y"], higher_is_better=higher)
        path = tmp_path / "anchors.csv"
        path.write_text("task,low,high\nPong,-20,20\n")
        with pytest.warns(DegenerateScoresWarning, match="2 of 3 tasks left out of means"):
            scaled = normalize(table, str(path))
        assert scaled.tasks == ("Pong",)
        assert rank(scaled).as_records() == rank(table).as_records()
        (row,) = compare(scaled)
        (pair,) = compare(scaled, "a", "b", "probability_of_improvement")
        assert row.p_value == pytest.approx(pair.p_value)
        assert row.p_value == pytest.approx(rank(table).p_adjusted[0, 1])
        alone, pong = scaled.select(tasks=["Pong"]), table.select(tasks=["Pong"])
        assert rank(alone).as_records() == rank(pong).as_records()
