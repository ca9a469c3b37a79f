"""Trials by act and observe alone, even of a learner that has a loop of its own."""

from __future__ import annotations

import numpy as np

from gohr.game import Boards, CompiledRule, InterpretedBoards
from gohr.learners import Learner, TrialInPlay, TrialLog


def play_unfused(
    learner: Learner, rule: CompiledRule | InterpretedBoards, boards: np.ndarray, horizon: int
) -> TrialLog:
    """Play a rule that is compiled, or on a board of the reference interpreter."""
    is_compiled = isinstance(rule, CompiledRule)
    in_play = Boards.empty(rule, 1) if is_compiled else rule
    trial = TrialInPlay(in_play, boards, horizon, reveal=learner.reveal, plays_on=learner.plays_on)
    while not trial.over:
        learner.observe(trial.attempt(int(learner.act(trial.observation))))
    return trial.log()
