"""Small runs to report on."""

import pytest

from gohr.experiments import ExperimentConfig, run

HOSTILE = "<script>alert('&')</script>"


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory):
    """Two rules, one with a hostile name, and three learners, one of which is shown the rule."""
    rules = [{"name": HOSTILE, "text": "(*,*,*,*,[0,1,2])"}, "b3-then-b1"]
    learners = ["uniform", "rule_player", {"kind": "linear_dqn", "name": "again & again"}]
    config = ExperimentConfig("A <b>bold</b> run", rules, learners, trials=6, episodes=12)
    return run(config, tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="session")
def lonely_folder(tmp_path_factory):
    """One trial of one learner that makes no error on one rule."""
    config = ExperimentConfig("one", ["clockwise"], ["rule_player"], trials=1, episodes=12)
    return run(config, tmp_path_factory.mktemp("lonely"))
