"""The forecast: nothing is written, what is there is used, and the parts add up."""

from __future__ import annotations

import pytest

from gohr.errors import RunFolderError
from gohr.experiments import ExperimentConfig, forecast, run

CONFIG = ExperimentConfig(
    "small", ["clockwise", "color-match"], ["uniform", "linear_dqn"], trials=3, episodes=20
)


def test_a_new_folder(tmp_path):
    costs = forecast(CONFIG, tmp_path / "run")
    assert not (tmp_path / "run").exists()
    assert (costs.n_trials, costs.n_to_play) == (12, 12)
    assert [(c.learner, c.n_to_play, c.source) for c in costs.learners] == [
        ("uniform", 6, "pilot"),
        ("linear_dqn", 6, "pilot"),
    ]
    assert costs.wall_time_s == pytest.approx(sum(6 * c.trial_time_s for c in costs.learners))
    assert costs.disk_bytes == int(sum(6 * c.trial_bytes for c in costs.learners))


def test_a_folder_with_trials(tmp_path):
    def stop(n_played: int, n_to_play: int) -> None:
        if n_played == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(CONFIG, tmp_path, progress=stop)
    costs = forecast(CONFIG, tmp_path)
    assert costs.n_to_play == 5
    assert {c.source for c in costs.learners} == {"folder"}
    run(CONFIG, tmp_path)
    assert forecast(CONFIG, tmp_path).wall_time_s == 0
    size = (tmp_path / "run.sqlite").stat().st_size
    assert costs.disk_bytes == pytest.approx(size * 5 / 12, rel=0.6, abs=5 * 5000)


def test_a_folder_of_another_experiment(tmp_path):
    run(ExperimentConfig("other", ["nearby"], ["uniform"], trials=1, episodes=1), tmp_path)
    with pytest.raises(RunFolderError, match="holds another experiment"):
        forecast(CONFIG, tmp_path)


@pytest.mark.full
def test_what_the_first_board_costs_is_counted_once(tmp_path, monkeypatch):
    (tmp_path / "slow_start.py").write_text(
        "import time\nfrom gohr.learners import Uniform\n\n\nclass Slow(Uniform):\n"
        "    def __init__(self, *args, **settings):\n"
        "        time.sleep(0.2)\n        super().__init__(*args, **settings)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    learner = {"kind": "slow_start:Slow", "name": "slow"}
    config = ExperimentConfig("x", ["clockwise"], [learner], trials=1, episodes=1000)
    (costs,) = forecast(config, tmp_path / "run").learners
    assert 0.2 <= costs.trial_time_s < 0.1 * 1000
