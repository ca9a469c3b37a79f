"""Regret of a trial: how far its attempts are from the best that the same knowledge allowed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon.game.board import DEFAULT_SPEC, N_BUCKETS, BoardSpec
from gnomon.game.outcomes import ACCEPTED, EPISODE_OVER, STALEMATE
from gnomon.learners.base import TrialLog
from gnomon.learners.ideal.belief import Belief

__all__ = ["Regret", "regret"]

_Float = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Regret:
    """What a learner's attempts left lying, attempt by attempt.

    Each array has shape (n_rows,), a number for each row of the log, not negative; NaN once no
    hypothesis agrees with the log, and 0 for attempts after a board was cleared.

    Parameters
    ----------
    attempts : numpy.ndarray of float64
        By how much the attempt was less probable to be accepted than the best one was, for one who
        believes what the replies so far allow. Their sum is the number of errors, on average, that
        a learner made by not drawing the conclusions that it could have drawn.
    bits : numpy.ndarray of float64
        By how much it was expected to tell less than the attempt that tells most.
    remaining_bits : numpy.ndarray of float64
        Entropy of the belief before the attempt: what is left to be known.

    Examples
    --------
    >>> import gnomon as gn
    >>> rng = np.random.default_rng(0)
    >>> learner = gn.make_learner("uniform", gn.BoardSpec(), rng=rng)
    >>> log = gn.play_trial(learner, gn.load_rule("anything-goes"), gn.draw_boards(1, rng=rng))
    >>> regret(log).attempts.shape == log.actions.shape
    True
    """

    attempts: _Float
    bits: _Float
    remaining_bits: _Float


def regret(log: TrialLog, *, board_spec: BoardSpec = DEFAULT_SPEC) -> Regret:
    """Measure a learner's attempts against an ideal observer who saw the same.

    The observer believes in the hypotheses of :class:`gnomon.learners.ideal.learner.Ideal` and sees
    the learner's own attempts and replies, so luck does not count: a bold attempt that happens to
    be accepted has the regret of one that is not.

    Parameters
    ----------
    log : TrialLog
        Any learner's trial.
    board_spec : BoardSpec
        At most four shapes and four colours in the palettes.

    Returns
    -------
    Regret

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.game import draw_boards
    >>> from gnomon.learners import Ideal, Uniform, play_trial
    >>> from gnomon.rules import load_rule
    >>> boards = draw_boards(3, rng=np.random.default_rng(0))
    >>> learners = Uniform, Ideal
    >>> logs = [
    ...     play_trial(kind(rng=np.random.default_rng(1)), load_rule("clockwise"), boards)
    ...     for kind in learners
    ... ]
    >>> uniform, ideal = map(regret, logs)
    >>> bool(uniform.attempts.sum() > 20 * ideal.attempts.sum()), float(ideal.bits.sum())
    (True, 0.0)
    """
    belief = Belief(board_spec)
    found = np.zeros((len(log.actions), 3))
    row = 0
    for board, n_attempts, finish in zip(log.boards, log.n_attempts, log.finish, strict=True):
        rows = slice(row, row := row + int(n_attempts))
        found[rows] = list(
            _of_episode(belief, board, log.actions[rows], log.outcomes[rows], finish == STALEMATE)
        )
    return Regret(*found.T)


def _of_episode(
    belief: Belief,
    board: npt.NDArray[np.uint8],
    actions: npt.NDArray[np.uint8],
    outcomes: npt.NDArray[np.int8],
    gets_stuck: bool,
) -> Iterator[tuple[float, float, float]]:
    """Yield the three regrets of each attempt on a board."""
    if len(actions):
        belief.begin(board)
    codes = board.copy()
    # A learner that plays on does so after a stalemate too; stuck is what accepts nothing more.
    final = int(np.flatnonzero(outcomes == ACCEPTED)[-1:].sum()) if gets_stuck else -1
    for k, (action, outcome) in enumerate(zip(actions.tolist(), outcomes.tolist(), strict=True)):
        if outcome == EPISODE_OVER:
            yield 0.0, 0.0, _entropy(belief)
            continue
        yield _of_attempt(belief, action, np.repeat(codes > 0, N_BUCKETS))
        if outcome == ACCEPTED:
            codes[action // N_BUCKETS] = 0
        over = k == final or not codes.any()
        belief.update(action=action, outcome=outcome, over=over)


def _of_attempt(
    belief: Belief, action: int, occupied: npt.NDArray[np.bool_]
) -> tuple[float, float, float]:
    """Return the three regrets of an attempt."""
    forecast = belief.forecast()
    return (
        float(forecast.accepted[occupied].max() - forecast.accepted[action]),
        float(forecast.information[occupied].max() - forecast.information[action]),
        _entropy(belief),
    )


def _entropy(belief: Belief) -> float:
    """Return the entropy of a belief in bits."""
    weights = belief.log_weights
    return max(float(-np.exp(weights) @ weights / np.log(2)), 0.0) if len(weights) else np.nan
