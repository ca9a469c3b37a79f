"""Chance of success at each attempt of a trial, for a player without knowledge of the rule.

A permissive rule leads to few errors: an error rate means little without the error rate of a player
without knowledge on the same boards. The two such players of this package are
:class:`gohr.learners.Uniform` and :class:`gohr.learners.Frugal`.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from gnomon.errors import check_word
from gohr.game.board import DEFAULT_SPEC, N_BUCKETS, BoardSpec
from gohr.playing import TrialLog, replay_log
from gohr.rules.syntax import RuleSet


def chance_of_success(
    rule_set: RuleSet,
    log: TrialLog,
    *,
    player: Literal["random", "frugal"] = "random",
    board_spec: BoardSpec = DEFAULT_SPEC,
) -> npt.NDArray[np.float64]:
    """Return p0, the chance of success at each attempt for a player without knowledge.

    The trial is replayed under its rule. Where the rule is hidden, so must these numbers be.

    Parameters
    ----------
    rule_set : RuleSet
        The rule that the trial was played on.
    log : TrialLog
        Any learner's trial.
    player : {"random", "frugal"}
        The player attempts each bucket for each piece with equal probability, or leaves out the
        attempts that failed since the board last changed.
    board_spec : BoardSpec
        Gives the palettes that the codes index.

    Returns
    -------
    numpy.ndarray of float64, shape (n_rows,)
        A number for each row of the log, between 0 and 1; 0 where a board was already cleared.

    Raises
    ------
    ValueError
        If the player is neither, or the log was not played under this rule.

    References
    ----------
    The reference system's p0 for the players COMPLETELY_RANDOM and MCP1.

    Examples
    --------
    >>> from gohr.game import draw_boards
    >>> from gohr import play
    >>> from gohr.learners import Uniform
    >>> from gohr.rules import parse
    >>> rule, rng = parse("(*,*,*,*,[0,2])"), np.random.default_rng(0)
    >>> log = play(draw_boards(5, rng=rng), Uniform(rng=rng), rule)
    >>> set(chance_of_success(rule, log).tolist())
    {0.5}
    """
    check_word("player", player, ("random", "frugal"))
    found = replay_log(log, rule_set, board_spec=board_spec)
    possible = N_BUCKETS * found.n_pieces - (found.n_failed if player == "frugal" else 0)
    chance = np.zeros(len(possible))
    np.divide(found.n_permitted, possible, out=chance, where=possible > 0)
    return chance
