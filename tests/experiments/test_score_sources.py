"""Every kind of source comes through the one door."""

import json
from pathlib import Path

import numpy as np
import pytest

from gnomon.errors import RunFolderError, ScoreDataError
from gnomon.experiments.config import ExperimentConfig
from gnomon.experiments.runner import run
from gnomon.experiments.score_sources import read_source
from gnomon.experiments.scoring.scores import score_table
from gnomon.scores.datasets import MEASURED
from gnomon.scores.readers.tidy_files import read_scores

TIDY = "algorithm,task,run,score,half\na,t,0,1.0,x\na,t,1,2.0,y\n"


def test_a_run_folder_is_scored_as_asked(tmp_path):
    config = ExperimentConfig("one", ["clockwise"], [{"kind": "tabular_q"}], trials=2, episodes=3)
    folder = run(config, tmp_path / "run").folder
    for count_empty in (True, False):
        found = read_source(tmp_path / "run", count_empty=count_empty)
        assert found.frame.equals(score_table(folder, "tce", count_empty=count_empty).frame)
    assert read_source(tmp_path / "run", metric="learned").metric == "learned"


def test_a_tidy_file_is_read_as_its_reader_does(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(TIDY)
    assert read_source(path).frame.equals(read_scores(path).frame)
    assert not read_source(path, lower_is_better=True).higher_is_better
    assert read_source(path, where={"half": "y"}).frame["score"].to_list() == [2.0]


def test_a_wide_file_and_one_of_another_tool_are_known_by_their_look(tmp_path):
    (tmp_path / "wide.csv").write_text("algorithm,pong,breakout\nours,1.0,2.0\n")
    assert read_source(tmp_path / "wide.csv").tasks == ("pong", "breakout")
    marl = {"env": {"task": {"ours": {"seed_0": {"step_0": {"step_count": 0, "return": [3.0]}}}}}}
    (tmp_path / "marl.json").write_text(json.dumps(marl))
    found = read_source(tmp_path / "marl.json", lower_is_better=True)
    assert found.algorithms == ("ours",)
    assert not found.higher_is_better


@pytest.mark.parametrize("asked", [{"where": {"learner": "uniform"}}, {"step_column": "episode"}])
def test_a_column_is_not_looked_for_where_there_are_none(tmp_path, asked):
    config = ExperimentConfig("one", ["clockwise"], ["uniform"], trials=1, episodes=1)
    run(config, tmp_path / "run")
    for source in (tmp_path / "run", Path(next(iter(MEASURED)))):
        with pytest.raises(ScoreDataError, match="only in a score file can a column"):
            read_source(source, **asked)


def test_a_game_log_is_known_by_its_first_line(tmp_path):
    path = tmp_path / "results.csv"
    path.write_text("#.nickname,rule_name,trial_id\n#number_of_moves,number_of_errors,if_clear\n")
    with pytest.raises(ScoreDataError, match=r"results\.csv"):
        read_source(path)


def test_measured_scores_are_had_by_name_unless_there_is_such_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = next(iter(MEASURED))
    assert np.isfinite(read_source(Path(name)).frame["score"].to_numpy()).any()
    (tmp_path / name).mkdir()
    with pytest.raises(RunFolderError):
        read_source(Path(name))
