"""What determines a trial: its key and its attempts change with the same things."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gnomon.experiments import ExperimentConfig, LearnerEntry, RuleEntry, Trial, trials_of
from gnomon.experiments.shard import shard_bytes
from gnomon.game import BoardSpec

TRIAL = Trial(
    LearnerEntry("uniform", "u"), RuleEntry("c", "(*,*,*,*,[0,1])"), 0, 4, 50, 0, BoardSpec()
)


@pytest.mark.parametrize(
    "other",
    [
        replace(TRIAL, learner=LearnerEntry("uniform", "another name")),
        replace(TRIAL, rule=RuleEntry("another name", "# comment\n\n( *, *, *, *, [0, 1] )\n")),
    ],
)
def test_names_and_comments_determine_nothing(other):
    assert other.key == TRIAL.key
    assert shard_bytes(other.play()) == shard_bytes(TRIAL.play())


@pytest.mark.parametrize(
    "other",
    [
        replace(TRIAL, learner=LearnerEntry("rule_player", "u")),
        replace(TRIAL, rule=RuleEntry("c", "(*,*,*,*,2)")),
        replace(TRIAL, number=1),
        replace(TRIAL, episodes=5),
        replace(TRIAL, horizon=7),
        replace(TRIAL, seed=1),
        replace(TRIAL, board=BoardSpec(pieces=8)),
    ],
)
def test_all_else_does(other):
    assert other.key != TRIAL.key
    assert shard_bytes(other.play()) != shard_bytes(TRIAL.play())


def test_learners_meet_the_same_boards():
    other = replace(TRIAL, learner=LearnerEntry("rule_player", "r"))
    np.testing.assert_array_equal(TRIAL.play().boards, other.play().boards)


def test_the_same_bits_with_the_global_state_disturbed():
    before = shard_bytes(TRIAL.play())
    np.random.seed(12345)  # noqa: NPY002  It is the global state that is disturbed here.
    assert shard_bytes(TRIAL.play()) == before


def test_a_key_is_pinned():
    """A change here means that no run folder can be gone on with."""
    assert TRIAL.key == "0526ca58fbbfeb00fdcec4e20be5465d"


def test_every_trial_has_a_key_of_its_own():
    config = ExperimentConfig(
        "x", ["clockwise", "color-match"], ["uniform", "rule_player"], trials=5
    )
    keys = [trial.key for trial in trials_of(config)]
    assert len(set(keys)) == len(keys) == config.n_trials == 20
