"""Attempts of a trial seen by an ideal observer: their regret, and the hypotheses they tested."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from gohr.game.board import DEFAULT_SPEC, N_BUCKETS, BoardSpec
from gohr.game.outcomes import ACCEPTED, EPISODE_OVER, STALEMATE
from gohr.learners.ideal.belief import Belief
from gohr.playing import TrialLog

_Float = npt.NDArray[np.float64]
_Seen = TypeVar("_Seen")


@dataclass(frozen=True, slots=True, eq=False)
class Regret:
    """Loss of a learner's attempts relative to the best ones, attempt by attempt.

    Each array has shape (n_rows,), a number for each row of the log, not negative; NaN once no
    hypothesis agrees with the log, and 0 for attempts after a board was cleared.

    Parameters
    ----------
    attempts : numpy.ndarray of float64
        Difference in probability of acceptance between the best attempt and this one, given the
        replies so far. Their sum is the number of errors, on average, that a learner made by not
        drawing the conclusions that it could have drawn.
    bits : numpy.ndarray of float64
        Difference in expected information between the most informative attempt and this one.
    remaining_bits : numpy.ndarray of float64
        Entropy of the belief before the attempt: the information still missing.

    Examples
    --------
    >>> import gohr
    >>> rng = np.random.default_rng(0)
    >>> learner = gohr.make_learner("uniform", gohr.BoardSpec(), rng=rng)
    >>> boards = gohr.draw_boards(1, rng=rng)
    >>> log = gohr.play(boards, learner, gohr.load_rule("anything-goes"))
    >>> regret(log).attempts.shape == log.actions.shape
    True
    """

    attempts: _Float
    bits: _Float
    remaining_bits: _Float


def regret(log: TrialLog, *, board_spec: BoardSpec = DEFAULT_SPEC) -> Regret:
    """Measure a learner's attempts against an ideal observer who saw the same.

    The observer believes in the hypotheses of :class:`gohr.learners.ideal.learner.Ideal` and sees
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
    >>> from gohr.game import draw_boards
    >>> from gohr import play
    >>> from gohr.learners import Ideal, Uniform
    >>> from gohr.rules import load_rule
    >>> boards = draw_boards(3, rng=np.random.default_rng(0))
    >>> learners = Uniform, Ideal
    >>> logs = [
    ...     play(boards, kind(rng=np.random.default_rng(1)), load_rule("clockwise"))
    ...     for kind in learners
    ... ]
    >>> uniform, ideal = map(regret, logs)
    >>> bool(uniform.attempts.sum() > 20 * ideal.attempts.sum()), float(ideal.bits.sum())
    (True, 0.0)
    """
    seen = [regrets for regrets, _ in _looked_at(log, board_spec, _of_attempt)]
    found = np.array(seen, dtype=np.float64).reshape(-1, 3)
    return Regret(*found.T)


@dataclass(frozen=True, slots=True, eq=False)
class HypothesisTests:
    """Tests that the attempts of a trial were, given the rules that the replies so far allow.

    Each array has shape (n_rows,), a number for each row of the log.

    Parameters
    ----------
    n_alive : numpy.ndarray of int64
        Hypotheses that agreed with all replies before the attempt; 0 once the rule is known to be
        none of them.
    n_cut : numpy.ndarray of int64
        Number of them that its reply ruled out.
    expected : numpy.ndarray of float64
        Probability that it would be accepted; NaN once no hypothesis is left, and for attempts
        after a board was cleared.

    Examples
    --------
    >>> import gohr
    >>> rng = np.random.default_rng(0)
    >>> learner = gohr.make_learner("ideal", gohr.BoardSpec(), rng=rng)
    >>> log = gohr.play(gohr.draw_boards(1, rng=rng), learner, gohr.load_rule("clockwise"))
    >>> tests = hypothesis_tests(log)
    >>> bool(tests.informative[0]), bool((tests.n_cut <= tests.n_alive).all())
    (True, True)
    """

    n_alive: npt.NDArray[np.int64]
    n_cut: npt.NDArray[np.int64]
    expected: _Float

    @property
    def informative(self) -> npt.NDArray[np.bool_]:
        """Whether the reply ruled out any hypothesis."""
        return self.n_cut > 0

    @property
    def positive(self) -> npt.NDArray[np.bool_]:
        """Whether it was a test expected to succeed: more probably accepted than not."""
        return self.expected > 0.5

    @property
    def negative(self) -> npt.NDArray[np.bool_]:
        """Whether it was a test expected to fail: more probably not accepted."""
        return self.expected < 0.5


def hypothesis_tests(log: TrialLog, *, board_spec: BoardSpec = DEFAULT_SPEC) -> HypothesisTests:
    """Classify each attempt as a test: informative or not, expected to succeed or to fail.

    The hypotheses are those of :class:`gohr.learners.ideal.learner.Ideal`, and the player, a
    person, a program or a language model, is assumed to believe the rules that the replies so far
    allow. An attempt that is expected to succeed is positive testing; one that is expected to fail
    is negative testing.

    Parameters
    ----------
    log : TrialLog
        Any player's trial.
    board_spec : BoardSpec
        At most four shapes and four colours in the palettes.

    References
    ----------
    Klayman and Ha: *Confirmation, disconfirmation, and information in hypothesis testing* (1987).

    Examples
    --------
    >>> import numpy as np
    >>> from gohr.game import draw_boards
    >>> from gohr import play
    >>> from gohr.learners import Uniform
    >>> from gohr.rules import load_rule
    >>> boards = draw_boards(5, rng=np.random.default_rng(0))
    >>> log = play(boards, Uniform(rng=np.random.default_rng(1)), load_rule("clockwise"))
    >>> tests = hypothesis_tests(log)
    >>> bool(tests.informative[:10].mean() > tests.informative[-50:].mean())  # soon nothing is new
    True
    """
    found = list(_looked_at(log, board_spec, _tested))
    # A dealt board, which is not stuck, may rule out some before its first attempt.
    n_alive = np.array([n for (n, _), _ in found], dtype=np.int64)
    n_after = np.array([n for _, n in found], dtype=np.int64)
    expected = np.array([chance for (_, chance), _ in found], dtype=np.float64)
    return HypothesisTests(n_alive, n_alive - n_after, expected)


_Look: TypeAlias = Callable[[Belief, int, npt.NDArray[np.bool_]], _Seen]


def _looked_at(log: TrialLog, spec: BoardSpec, look: _Look[_Seen]) -> Iterator[tuple[_Seen, int]]:
    """Yield the forecast before each attempt of a trial, and the number of hypotheses left."""
    belief, row = Belief(spec), 0
    for board, n_attempts, finish in zip(log.boards, log.n_attempts, log.finish, strict=True):
        rows = slice(row, row := row + int(n_attempts))
        attempts = log.actions[rows], log.outcomes[rows]
        yield from _of_episode(belief, board, *attempts, finish == STALEMATE, look)


def _of_episode(
    belief: Belief,
    board: npt.NDArray[np.uint8],
    actions: npt.NDArray[np.uint8],
    outcomes: npt.NDArray[np.int8],
    gets_stuck: bool,
    look: _Look[_Seen],
) -> Iterator[tuple[_Seen, int]]:
    """Yield the same of the attempts on a board; of one that is over no cell is occupied."""
    if len(actions):
        belief.begin(board)
    codes = board.copy()
    # A learner that plays on also does so after a stalemate; a stuck rule accepts nothing more.
    final = int(np.flatnonzero(outcomes == ACCEPTED)[-1:].sum()) if gets_stuck else -1
    for k, (action, outcome) in enumerate(zip(actions.tolist(), outcomes.tolist(), strict=True)):
        if outcome == EPISODE_OVER:
            yield look(belief, action, np.zeros(len(codes) * N_BUCKETS, bool)), len(belief.alive)
            continue
        seen = look(belief, action, np.repeat(codes > 0, N_BUCKETS))
        if outcome == ACCEPTED:
            codes[action // N_BUCKETS] = 0
        over = k == final or not codes.any()
        belief.update(action=action, outcome=outcome, over=over)
        yield seen, len(belief.alive)


def _of_attempt(
    belief: Belief, action: int, occupied: npt.NDArray[np.bool_]
) -> tuple[float, float, float]:
    """Return the three regrets of an attempt."""
    if not occupied.any():
        return 0.0, 0.0, _entropy(belief)
    forecast = belief.forecast()
    return (
        float(forecast.accepted[occupied].max() - forecast.accepted[action]),
        float(forecast.information[occupied].max() - forecast.information[action]),
        _entropy(belief),
    )


def _tested(belief: Belief, action: int, occupied: npt.NDArray[np.bool_]) -> tuple[int, float]:
    """Return the number of hypotheses, and their probability that it is accepted."""
    n = len(belief.alive)
    return n, float(belief.forecast().accepted[action]) if n and occupied.any() else float("nan")


def _entropy(belief: Belief) -> float:
    """Return the entropy of a belief in bits."""
    weights = belief.log_weights
    return max(float(-np.exp(weights) @ weights / np.log(2)), 0.0) if len(weights) else np.nan
