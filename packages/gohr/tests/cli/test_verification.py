"""``gohr verify``: what it prints, and its exit status."""

from __future__ import annotations

from pathlib import Path

import pytest

from gohr.experiments import ExperimentConfig, Run, run, write_log

CONFIG = ExperimentConfig("small", ["clockwise"], ["uniform"], trials=2, episodes=3)


@pytest.fixture
def folder(command) -> Run:
    Path("assigned.toml").write_text(CONFIG.to_toml())
    return run(CONFIG, Path("run"))


def test_an_honest_run(folder, command):
    assert command("gohr verify run") == (0, "run: 2 trials, 0 refused\n", "")
    assert command("gohr verify run --assignment assigned.toml").status == 0
    assert command("gohr verify run --json").results[1] == {
        "learner": "uniform",
        "rule": "clockwise",
        "trial": 1,
        "ok": True,
        "episode": None,
        "attempt": None,
        "reason": "",
    }


def test_a_yardstick_is_warned_of(command):
    config = ExperimentConfig("r", ["clockwise"], ["rule_player", "uniform"], trials=1, episodes=3)
    run(config, Path("shown"))
    status, _, err = command("gohr verify shown")
    assert status == 0
    assert err == "gohr: rule_player was shown the rule: a leaderboard refuses it\n"


def test_a_log_alone(folder, command):
    trials = {(x.rule, x.trial): each for x, each in folder.each(folder.trials())}
    Path("log.zip").write_bytes(write_log(trials))
    verify = "gohr verify log.zip --assignment assigned.toml"
    assert command(verify) == (0, "log.zip: 2 trials, 0 refused\n", "")
    command("gohr verify log.zip").assert_refused("use --assignment")
    trials["clockwise", 0] = trials["clockwise", 1]
    Path("log.zip").write_bytes(write_log(trials))
    said = command(verify)
    assert (said.status, said.out.splitlines()[-1]) == (1, "log.zip: 2 trials, 1 refused")
    Path("log.zip").write_bytes(b"nothing")
    command(verify).assert_refused("gohr: log.zip: expected a log, ")
