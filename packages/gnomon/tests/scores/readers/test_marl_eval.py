"""Results of marl-eval: metrics, steps, and what is none."""

import json

import pytest

from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.scores import at_common_step, read_scores


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def marl(*metrics):
    step = {"step_count": 5} | {name: [1.0, 3.0] for name in metrics}
    return {"env": {"task": {"qmix": {"seed_0": {"step_0": step}}}}}


def test_marl_eval(tmp_path):
    runs = {
        f"seed_{s}": {
            "step_0": {"step_count": 0, "return": [s, s + 2]},
            "step_1": {"step_count": 50, "return": [10]},
            "absolute_metrics": {"return": [99]},
        }
        for s in (1, 2)
    }
    path = write(tmp_path / "scores.json", {"smac": {"3m": {"qmix": runs}}})
    with pytest.warns(DegenerateScoresWarning, match="the mean of its absolute_metrics"):
        absolute = read_scores(path, metric="return")
    assert absolute.runs("qmix", "smac/3m").tolist() == [99.0, 99.0]
    table = read_scores(path, metric="return", curves=True)
    assert read_scores(path, metric="return", curves=True).n_steps == table.n_steps
    assert at_common_step(table, 0).runs("qmix", "smac/3m").tolist() == [2.0, 3.0]
    with pytest.raises(ScoreDataError, match="no step holds the metric 'reward'"):
        read_scores(path, metric="reward", curves=True)
    wrong = write(tmp_path / "wrong.json", {"smac": [1]})
    with pytest.raises(ScoreDataError, match="expected environment, task, algorithm, run, step_N"):
        read_scores(wrong, metric="return", format="marl-eval")


def test_marl_eval_by_its_look(tmp_path):
    table = read_scores(write(tmp_path / "a.json", marl("return")), higher_is_better=False)
    assert table.metric == "return"
    assert not table.higher_is_better
    assert table.last_step().runs("qmix", "env/task").tolist() == [2.0]
    both = write(tmp_path / "b.json", marl("return", "win_rate"))
    with pytest.raises(ScoreDataError, match="expected one metric; found return and win_rate"):
        read_scores(both)
    assert read_scores(both, metric="win_rate").metric == "win_rate"
    for content in ({}, {"env": 3}, {"env": {"task": {"qmix": [1]}}}):
        with pytest.raises(ScoreDataError, match="expected scores in JSON of a known format"):
            read_scores(write(tmp_path / "c.json", content))
