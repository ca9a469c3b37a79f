"""Attempts of a trial as an ideal observer sees them: their regret, and what they tested."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gohr.game.board import DEFAULT_SPEC, N_BUCKETS, BoardSpec
from gohr.game.outcomes import ACCEPTED, EPISODE_OVER, STALEMATE
from gohr.learners.ideal.belief import Belief
from gohr.playing import TrialLog

_Float = npt.NDArray[np.float64]
_Seen = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class Regret:
    """What an ideal observer, who saw the same replies, says of each attempt of a trial.

    Each array has shape (n_rows,), a number for each row of the log.

    Parameters
    ----------
    attempts : numpy.ndarray of float64
        Difference in probability of acceptance between the best attempt and this one, given the
        replies so far. Their sum is the number of errors, on average, that a learner made by not
        drawing the conclusions that it could have drawn.
    bits : numpy.ndarray of float64
        Difference in expected information between the most informative attempt and this one.
    remaining_bits : numpy.ndarray of float64
        Entropy of the belief before the attempt: the information still missing. This and the two
        above are not negative, NaN once no hypothesis agrees with the log, and the first two are 0
        for attempts after a board was cleared.
    expected : numpy.ndarray of float64
        Probability that the attempt would be accepted; NaN once no hypothesis is left, and for
        attempts after a board was cleared.
    n_alive : numpy.ndarray of int64
        Hypotheses that agreed with all replies before the attempt; 0 once the rule is known to be
        none of them.
    n_cut : numpy.ndarray of int64
        Number of them that its reply ruled out.

    Examples
    --------
    >>> import gohr
    >>> rng = np.random.default_rng(0)
    >>> learner = gohr.make_learner("ideal", gohr.BoardSpec(), rng=rng)
    >>> log = gohr.play(gohr.draw_boards(1, rng=rng), learner, gohr.load_rule("clockwise"))
    >>> found = regret(log)
    >>> bool(found.informative[0]), bool((found.n_cut <= found.n_alive).all())
    (True, True)
    """

    attempts: _Float
    bits: _Float
    remaining_bits: _Float
    expected: _Float
    n_alive: npt.NDArray[np.int64]
    n_cut: npt.NDArray[np.int64]

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


def regret(log: TrialLog, *, board_spec: BoardSpec = DEFAULT_SPEC) -> Regret:
    """Measure a player's attempts against an ideal observer who saw the same.

    The observer believes in the hypotheses of :class:`gohr.learners.Ideal` and sees the player's
    own attempts and replies. Luck does not count: the regret of an attempt depends on what was
    known before it, not on the reply. The result also shows which attempts were informative, and
    which tested what was expected to succeed (positive testing) or to fail.

    Parameters
    ----------
    log : TrialLog
        The trial of a learner, a person or a language model.
    board_spec : BoardSpec
        At most four shapes and four colours in the palettes.

    Returns
    -------
    Regret

    References
    ----------
    Klayman and Ha: *Confirmation, disconfirmation, and information in hypothesis testing* (1987).

    Examples
    --------
    >>> import gohr
    >>> from gohr.learners import Ideal, Uniform
    >>> rng = np.random.default_rng(0)
    >>> boards = gohr.draw_boards(3, rng=rng)
    >>> rule, players = gohr.load_rule("clockwise"), (Uniform(rng=rng), Ideal(rng=rng))
    >>> uniform, ideal = (regret(gohr.play(boards, player, rule)) for player in players)
    >>> bool(uniform.attempts.sum() > 20 * ideal.attempts.sum()), float(ideal.bits.sum())
    (True, 0.0)
    >>> bool(uniform.informative[:10].mean() > uniform.informative[-30:].mean())
    True
    """
    belief, row = Belief(board_spec), 0
    found: list[tuple[_Seen, int, int]] = []
    for board, n_attempts, finish in zip(log.boards, log.n_attempts, log.finish, strict=True):
        rows = slice(row, row := row + int(n_attempts))
        attempts = log.actions[rows], log.outcomes[rows]
        found += _of_episode(belief, board, *attempts, finish == STALEMATE)
    seen = np.array([numbers for numbers, _, _ in found], dtype=np.float64).reshape(-1, 4)
    # A dealt board, which is not stuck, may rule out some before its first attempt.
    n_alive = np.array([before for _, before, _ in found], dtype=np.int64)
    n_after = np.array([after for _, _, after in found], dtype=np.int64)
    return Regret(seen[:, 0], seen[:, 1], seen[:, 2], seen[:, 3], n_alive, n_alive - n_after)


def _of_episode(
    belief: Belief,
    board: npt.NDArray[np.uint8],
    actions: npt.NDArray[np.uint8],
    outcomes: npt.NDArray[np.int8],
    gets_stuck: bool,
) -> Iterator[tuple[_Seen, int, int]]:
    """Yield the numbers of each attempt on a board, and how many hypotheses it found and left."""
    if len(actions):
        belief.begin(board)
    codes = board.copy()
    # A learner that plays on also does so after a stalemate; a stuck rule accepts nothing more.
    final = int(np.flatnonzero(outcomes == ACCEPTED)[-1:].sum()) if gets_stuck else -1
    for k, (action, outcome) in enumerate(zip(actions.tolist(), outcomes.tolist(), strict=True)):
        n_alive = len(belief.alive)
        if outcome == EPISODE_OVER:
            yield (0.0, 0.0, _entropy(belief), np.nan), n_alive, n_alive
            continue
        occupied, forecast = np.repeat(codes > 0, N_BUCKETS), belief.forecast()
        accepted, information = forecast.accepted, forecast.information
        numbers = (
            float(accepted[occupied].max() - accepted[action]),
            float(information[occupied].max() - information[action]),
            _entropy(belief),
            float(accepted[action]),
        )
        if outcome == ACCEPTED:
            codes[action // N_BUCKETS] = 0
        over = k == final or not codes.any()
        belief.update(action=action, outcome=outcome, over=over)
        yield numbers, n_alive, len(belief.alive)


def _entropy(belief: Belief) -> float:
    """Return the entropy of a belief in bits."""
    weights = belief.log_weights
    return max(float(-np.exp(weights) @ weights / np.log(2)), 0.0) if len(weights) else np.nan
