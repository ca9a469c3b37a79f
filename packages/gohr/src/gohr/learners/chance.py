"""Chance of success at each attempt of a trial, for a player without knowledge of the rule.

A permissive rule leads to few errors: an error rate means little without the error rate of a player
without knowledge on the same boards. The two such players of this package are
:class:`gohr.learners.Uniform` and :class:`gohr.learners.Frugal`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from gohr.game.board import DEFAULT_SPEC, N_BUCKETS, BoardSpec
from gohr.playing import TrialLog, replay
from gohr.rules.syntax import RuleSet

_Int = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class AttemptCounts:
    """Numbers of possible and of successful attempts at each step of a trial.

    Parameters
    ----------
    n_possible : numpy.ndarray of int64, shape (n_rows,)
        N, four times the number of pieces on the board.
    n_permitted : numpy.ndarray of int64, shape (n_rows,)
        G, how many of these the rule would accept.
    n_failed : numpy.ndarray of int64, shape (n_rows,)
        How many of the others the learner had seen fail since the board last changed: one for a
        denied attempt, four for a piece that cannot be moved.
    """

    n_possible: _Int
    n_permitted: _Int
    n_failed: _Int

    @property
    def random(self) -> npt.NDArray[np.float64]:
        """Chance of a player who attempts any move: G / N; 0 on a board already cleared."""
        return _ratio(self.n_permitted, self.n_possible)

    @property
    def frugal(self) -> npt.NDArray[np.float64]:
        """Chance of a player who repeats no failure of the learner: G / (N - failed)."""
        return _ratio(self.n_permitted, self.n_possible - self.n_failed)

    @property
    def random_attempts(self) -> npt.NDArray[np.float64]:
        """Attempts that the first needs on average to remove a piece: N / G; NaN if none can be."""
        return _ratio(self.n_possible, self.n_permitted, none=np.nan)


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
    if player not in ("random", "frugal"):
        raise ValueError(f"player: expected 'random' or 'frugal', found {player!r}")
    counts = count_attempts(rule_set, log, board_spec=board_spec)
    return counts.random if player == "random" else counts.frugal


def count_attempts(
    rule_set: RuleSet, log: TrialLog, *, board_spec: BoardSpec = DEFAULT_SPEC
) -> AttemptCounts:
    """Replay a trial, and count the moves possible, permitted, and known to fail at each attempt.

    Parameters and errors are those of :func:`chance_of_success`.

    Examples
    --------
    >>> import gohr
    >>> rng, rule = np.random.default_rng(0), gohr.load_rule("clockwise")
    >>> learner = gohr.make_learner("uniform", gohr.BoardSpec(), rng=rng)
    >>> log = gohr.play(gohr.draw_boards(1, rng=rng), learner, rule)
    >>> int(count_attempts(rule, log).n_possible[0])  # nine pieces, four buckets
    36
    """
    found = replay(log.boards, log.n_attempts, log.actions, rule_set, board_spec=board_spec)
    if not np.array_equal(found.outcomes, log.outcomes):
        raise ValueError(
            "expected a log that was played under this rule, found other outcomes in it"
        )
    counts = found.n_pieces, found.n_permitted, found.n_failed
    n_pieces, n_permitted, n_failed = (column.astype(np.int64) for column in counts)
    return AttemptCounts(N_BUCKETS * n_pieces, n_permitted, n_failed)


def _ratio(a: _Int, b: _Int, none: float = 0.0) -> npt.NDArray[np.float64]:
    """Return a / b, and ``none`` where b is 0."""
    ratio = np.full(len(a), none)
    np.divide(a, b, out=ratio, where=b > 0)
    return ratio
