"""Run folders and game logs are recognised, and read as asked."""

import numpy as np
import pytest

from gnomon.errors import ScoreDataError
from gnomon.scores import read_scores
from gohr.experiments import ExperimentConfig, run, score


def test_a_run_folder_is_scored_as_asked(tmp_path):
    config = ExperimentConfig("one", ["clockwise"], [{"kind": "tabular_q"}], trials=2, episodes=3)
    folder = run(config, tmp_path / "run")
    found = read_scores(tmp_path / "run")
    assert found.to_polars().equals(score(folder, "tce").to_polars())
    assert read_scores(tmp_path / "run", metric="learned").metric == "learned"
    assert read_scores(tmp_path / "run", curves=True).n_steps == 3
    # What a report leaves beside the run does not make it another tool's folder.
    (tmp_path / "run" / "results.json").write_text('{"results": {}}')
    assert read_scores(tmp_path / "run").metric == "tce"
    for asked in ({"where": {"learner": "uniform"}}, {"columns": {"step": "episode"}}):
        with pytest.raises(ScoreDataError, match="the format 'run-folder' has no columns to"):
            read_scores(tmp_path / "run", **asked)


def test_a_game_log_is_known_by_its_first_line(tmp_path):
    path = tmp_path / "results.csv"
    path.write_text("#.nickname,rule_name,trial_id\n#number_of_moves,number_of_errors,if_clear\n")
    with pytest.raises(ScoreDataError, match=r"results\.csv: expected at least one episode"):
        read_scores(path)


def test_measured_scores_are_had_by_name_unless_there_is_such_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert np.isfinite(read_scores("gohr-full").to_polars()["score"].to_numpy()).any()
    (tmp_path / "gohr-full").mkdir()
    with pytest.raises(ScoreDataError, match="gohr-full: expected scores in a known format"):
        read_scores("gohr-full")
