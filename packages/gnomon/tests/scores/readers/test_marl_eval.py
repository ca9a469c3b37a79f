"""Results of marl-eval: metrics, steps, and what is none."""

import pytest

from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.scores import at_common_step, read_scores
from score_files import read_quietly, written


def marl(*metrics):
    step = {"step_count": 5} | {name: [1.0, 3.0] for name in metrics}
    return {"env": {"task": {"qmix": {"seed_0": {"step_0": step}}}}}


def test_marl_eval(tmp_path):
    runs = {
        f"seed_{s}": {
            "step_0": {"step_count": 0, "return": [s, s + 2]},
            "STEP_1": {"STEP_COUNT": 50, "return": [10]},
            "ABSOLUTE_METRICS": {"return": [98, 100]},
        }
        for s in (1, 2)
    }
    path = written(tmp_path / "scores.json", {"smac": {"3m": {"qmix": runs}}})
    with pytest.warns(DegenerateScoresWarning, match="the mean of its absolute_metrics"):
        absolute = read_scores(path, metric="return")
    assert absolute.runs("qmix", "smac/3m").tolist() == [99.0, 99.0]
    table = read_quietly(path, metric="return", curves=True)
    assert table.n_steps == 2
    assert at_common_step(table, 0).runs("qmix", "smac/3m").tolist() == [2.0, 3.0]
    with pytest.raises(ScoreDataError, match="no step holds the metric 'reward'"):
        read_scores(path, metric="reward", curves=True)


def test_marl_eval_by_its_look(tmp_path):
    table = read_scores(written(tmp_path / "a.json", marl("return")), higher_is_better=False)
    assert (table.metric, table.higher_is_better) == ("return", False)
    assert table.last_step().runs("qmix", "env/task").tolist() == [2.0]
    both = written(tmp_path / "b.json", marl("return", "win_rate"))
    with pytest.raises(ScoreDataError, match="expected one metric; found return and win_rate"):
        read_scores(both)
    assert read_scores(both, metric="win_rate").metric == "win_rate"
    for content in ({}, {"env": 3}, {"env": {"task": {"qmix": [1]}}}):
        with pytest.raises(ScoreDataError, match="expected scores in JSON of a known format"):
            read_scores(written(tmp_path / "c.json", content))
        with pytest.raises(ScoreDataError, match="expected environment, task, algorithm, run, st"):
            read_scores(tmp_path / "c.json", format="marl-eval")
