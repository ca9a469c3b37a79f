"""Agreement of a rule with a trial: the share of its attempts that the rule foretells."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gohr.game.board import DEFAULT_SPEC, BoardSpec
from gohr.game.board_views import ACTION
from gohr.game.interpreted_boards import boards_in_play
from gohr.game.outcomes import ACCEPTED, IN_PROGRESS, LEAVE, RESET, Autoreset
from gohr.rules.syntax import RuleSet

if TYPE_CHECKING:
    from gohr.playing import TrialLog


def agreement(stated: RuleSet, log: TrialLog, *, board_spec: BoardSpec = DEFAULT_SPEC) -> float:
    """Return the share of the attempts of a trial whose acceptance a stated rule predicts.

    The stated rule is played along. Once it would have rejected an accepted attempt, the boards
    differ, and the rest of that board counts as not predicted.

    Parameters
    ----------
    stated : RuleSet
    log : TrialLog
        Any player's trial on the hidden rule.
    board_spec : BoardSpec
        Gives the palettes.

    Returns
    -------
    float
        From 0 to 1; NaN if there are no attempts.

    Examples
    --------
    >>> import gohr
    >>> rng = np.random.default_rng(0)
    >>> learner = gohr.make_learner("uniform", gohr.BoardSpec(), rng=rng)
    >>> rule = gohr.load_rule("clockwise")
    >>> log = gohr.play(gohr.draw_boards(3, rng=rng), learner, rule)
    >>> agreement(rule, log), agreement(gohr.load_rule("anything-goes"), log) < 0.9
    (1.0, True)
    """
    n = len(log.boards)
    player = boards_in_play(stated, board_spec, n)
    player.replies[:, ACTION] = RESET
    player.advance(log.boards, 0, 0, Autoreset.DISABLED)
    begins = np.cumsum(log.n_attempts) - log.n_attempts
    follows, n_foretold, n_attempts = np.ones(n, dtype=np.bool_), 0, 0
    for k in range(int(log.n_attempts.max(initial=0))):
        has = np.flatnonzero(log.n_attempts > k)
        rows = begins[has] + k
        actions, outcomes = log.actions[rows].astype(np.int64), log.outcomes[rows]
        real = outcomes >= 0  # not after the end of the board
        has, actions, good = has[real], actions[real], outcomes[real] == ACCEPTED
        says = (player.permitted()[has, actions] != 0) & (player.finish[has] == IN_PROGRESS)
        n_foretold += int(((says == good) & follows[has]).sum())
        n_attempts += len(has)
        follows[has] &= says | ~good
        player.replies[:, ACTION] = LEAVE
        player.replies[has, ACTION] = np.where(good & says & follows[has], actions, LEAVE)
        player.advance(log.boards, 0, 0, Autoreset.DISABLED)
    return n_foretold / n_attempts if n_attempts else math.nan
