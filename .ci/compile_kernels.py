"""Compile the kernels of the game, so that the processes of the tests find them in the cache."""

from __future__ import annotations

import tempfile

import gohr


def main() -> None:
    """Let every learner without extras play, verify the run, and step the environments."""
    learners = ["uniform", "frugal", "rule_player", "ideal", "tabular_q", "linear_dqn", "reinforce"]
    rules = ["color-match", "clockwise"]
    config = gohr.ExperimentConfig("kernels", rules, learners, trials=1, episodes=2)
    with tempfile.TemporaryDirectory() as folder:
        gohr.run(config, f"{folder}/run")
        gohr.verify(f"{folder}/run")
    env = gohr.HiddenRulesVectorEnv(2, rule="clockwise")
    env.reset(seed=0)
    env.step(env.action_space.sample())


if __name__ == "__main__":
    main()
