"""Trials by act and observe alone, even of a learner that has a kernel."""

from __future__ import annotations

import numpy as np

from gohr import TrialLog
from gohr.engine.compiler import CompiledRule
from gohr.learners import Learner
from gohr.playing import TrialInPlay


def play_unfused(
    learner: Learner, rule: CompiledRule, boards: np.ndarray, horizon: int
) -> TrialLog:
    """Play a rule without the kernel of a learner."""
    declared = {"reveal": learner.reveal, "plays_on": learner.plays_on}
    trial = TrialInPlay(boards, rule, horizon=horizon, **declared)
    while not trial.over:
        learner.observe(trial.attempt(int(learner.act(trial.observation))))
    return trial.log()
