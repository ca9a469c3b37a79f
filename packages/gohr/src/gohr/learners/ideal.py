"""The ideal learner, by elimination among thousands of rules, and the regret of others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, final

import numpy as np
import numpy.typing as npt
from numba import njit

from gohr.board import DEFAULT_SPEC, N_BUCKETS, N_CELLS, BoardSpec
from gohr.engine.acceptance import Short
from gohr.engine.program import ACTION, N_REPLIES, STANDS, Replies
from gohr.engine.transition import permitted, step
from gohr.learners.base import Learner, UniformNumbers
from gohr.learners.fixed_players import note_failure
from gohr.learners.hypotheses import Hypothesis, check_palettes, hypothesis_space
from gohr.outcomes import ACCEPTED, DENIED, EPISODE_OVER, IMMOVABLE, IN_PROGRESS, RESET, STALEMATE
from gohr.playing import Observation, Transition, TrialLog

_Float = npt.NDArray[np.float64]
_Int = npt.NDArray[np.int64]
_N_ATTEMPTS = N_CELLS * N_BUCKETS
#: Differences below this are rounding.
_EQUAL = 1e-9

# -- belief: one board under thousands of rules side by side ---------------------------------------


# Passing the slices costs some reference counts, half a microsecond for each rule: as much as the
# rest together, but a hundredth of a call from Python.
@njit(cache=True)
def _play_all(
    programs: _Int,
    starts: _Int,
    alive: _Int,
    state: Short,
    seen: npt.NDArray[np.uint8],
    replies: Replies,
    deck: npt.NDArray[np.uint8],
    action: int,
    masks: npt.NDArray[np.int8],
    finish: _Int,
) -> None:
    """Make an attempt, or deal the board, under each rule; write what it permits to ``masks``."""
    none = int(np.int64(0))  # not a plain 0, as in playing_kernel.play_boards
    for k in range(alive.shape[0]):
        h = alive[k]
        program = programs[starts[h] : starts[h + 1]]
        replies[h, ACTION, 0] = action
        step(program, state[h], seen[h], replies[h], deck, none, none, none)
        permitted(state[h], masks[h])
        finish[h] = replies[h, STANDS, 0]


@njit(cache=True)
def _predict(
    alive: _Int,
    weights: _Float,
    masks: npt.NDArray[np.int8],
    accepted: _Float,
    movable: _Float,
) -> None:
    """Sum the weights of the rules that accept each attempt, and that can move each piece."""
    accepted[:] = 0.0
    movable[:] = 0.0
    for k in range(alive.shape[0]):
        h = alive[k]
        weight = weights[k]
        for cell in range(36):
            any_bucket = False
            for bucket in range(4):
                if masks[h, 0, 4 * cell + bucket] != 0:
                    accepted[4 * cell + bucket] += weight
                    any_bucket = True
            if any_bucket:
                movable[cell] += weight


@dataclass(frozen=True, slots=True, eq=False)
class Forecast:
    """Probability that each of the 144 attempts is accepted, and expected bits of its reply."""

    accepted: _Float
    information: _Float


class Belief:
    """The hypotheses that agree with all that was seen, and their probabilities.

    A rule is certain in all that it does, so a hypothesis is as probable as before or else
    impossible, up to a factor common to all: seeing is elimination.

    Attributes
    ----------
    alive : numpy.ndarray of int64
        The hypotheses that are left, as indices into those of the space; none if the hidden rule is
        not in the space and this has come out.
    """

    def __init__(self, board_spec: BoardSpec = DEFAULT_SPEC) -> None:
        self.space = hypothesis_space(board_spec)
        n = len(self.space)
        self.alive = np.arange(n)
        self._log_weights = self.space.log_prior.copy()
        self._state = np.zeros((n, 1, self.space.n_columns), dtype=np.int16)
        self._seen = np.zeros((n, 1, N_CELLS + _N_ATTEMPTS), dtype=np.uint8)
        self._replies = np.zeros((n, N_REPLIES, 1), dtype=np.int32)
        self._masks = np.zeros((n, 1, _N_ATTEMPTS), dtype=np.int8)
        self._finish = np.zeros(n, dtype=np.int64)
        self._deck = np.zeros((1, N_CELLS), dtype=np.uint8)
        self._forecast: Forecast | None = None

    @property
    def entropy(self) -> float:
        """Entropy in bits; NaN if no hypothesis is left."""
        weights = self._log_weights
        if not len(weights):
            return np.nan
        return max(float(-np.exp(weights) @ weights / np.log(2)), 0.0)

    @property
    def likeliest(self) -> Hypothesis | None:
        """The most probable hypothesis, the first of several; None if no hypothesis is left."""
        if not len(self.alive):
            return None
        return self.space.hypotheses[int(self.alive[self._log_weights.argmax()])]

    def begin(self, board: npt.NDArray[np.uint8]) -> None:
        """Start a new board, shape (36,), on which a piece can be moved."""
        self._deck[0] = board
        self._play(RESET)
        self._keep(self._finish[self.alive] == IN_PROGRESS)

    def update(self, *, action: int, outcome: int, over: bool) -> None:
        """Update the belief by the outcome of an attempt.

        ``action`` is ``4 * cell + bucket``; the outcomes 0 accepted, 4 denied and 7 immovable are
        informative. ``over``: the board is now cleared or stuck; one that goes on is not stuck.
        """
        if outcome not in (ACCEPTED, DENIED, IMMOVABLE):
            return
        cell, bucket = divmod(action, N_BUCKETS)
        piece = self._masks[self.alive, 0, N_BUCKETS * cell : N_BUCKETS * (cell + 1)]
        foretold = np.where(piece.any(axis=1), DENIED, IMMOVABLE)
        foretold[piece[:, bucket] != 0] = ACCEPTED
        self._keep(foretold == outcome)
        if outcome == ACCEPTED:
            self._play(action)
            self._keep((self._finish[self.alive] != IN_PROGRESS) == over)

    def follow(self, log: TrialLog) -> Iterator[tuple[int, npt.NDArray[np.uint8], bool]]:
        """Begin each board of a log; yield each row, the board before it, and whether it ends it.

        The caller updates the belief by each row.
        """
        row = 0
        for dealt, n, finish in zip(log.boards, log.n_attempts.tolist(), log.finish, strict=True):
            if n:
                self.begin(dealt)
            rows, codes = range(row, row := row + n), dealt.copy()
            # A learner that plays on also does so after a stalemate; a stuck rule accepts nothing.
            accepted = [k for k in rows if log.outcomes[k] == ACCEPTED]
            final = accepted[-1] if finish == STALEMATE and accepted else -1
            for k in rows:
                clears = log.outcomes[k] == ACCEPTED and np.count_nonzero(codes) == 1
                yield k, codes, k == final or clears
                if log.outcomes[k] == ACCEPTED:
                    codes[log.actions[k] // N_BUCKETS] = 0

    def forecast(self) -> Forecast:
        """Return the predicted outcome of each attempt now; NaN if no hypothesis is left."""
        if self._forecast is None:
            accepted, movable = np.full(_N_ATTEMPTS, np.nan), np.full(N_CELLS, np.nan)
            if len(self.alive):
                _predict(self.alive, np.exp(self._log_weights), self._masks, accepted, movable)
            # Sums of thousands of weights are 1 up to rounding; certain outcomes get exactly 1.
            accepted, movable = np.round(accepted, 12), np.round(movable, 12)
            some = np.repeat(movable, N_BUCKETS)
            replies = np.stack([accepted, np.maximum(some - accepted, 0.0), 1.0 - some])
            logs = np.log2(replies, out=np.zeros_like(replies), where=replies > 0)
            self._forecast = Forecast(accepted, np.abs((replies * logs).sum(axis=0)))
        return self._forecast

    def _play(self, action: int) -> None:
        self._forecast = None
        _play_all(
            self.space.programs,
            self.space.starts,
            self.alive,
            self._state,
            self._seen,
            self._replies,
            self._deck,
            action,
            self._masks,
            self._finish,
        )

    def _keep(self, agrees: npt.NDArray[np.bool_]) -> None:
        """Drop the hypotheses that do not agree, and share out their probability."""
        if agrees.all():
            return
        self._forecast = None
        self.alive = self.alive[agrees]
        self._log_weights = self._log_weights[agrees]
        if len(self.alive):
            self._log_weights -= np.logaddexp.reduce(self._log_weights)


# -- the learner -----------------------------------------------------------------------------------


@final
@dataclass(kw_only=True, eq=False)
class Ideal(Learner):
    """Keep every rule that agrees with the replies, and make the most informative attempt.

    Its space has about 24,000 rules (:mod:`gohr.learners.hypotheses`): all of the
    library, and families that a generator makes. A priori all families are equally probable,
    and so are the rules within a family. It plays all of them in parallel and drops those
    that predicted another reply, which gives the exact probability of every reply to every attempt.
    Its errors are a benchmark for learners of this space
    (:func:`gohr.learners.regret`).

    If the hidden rule is not in the space, at some point no hypothesis is left. From then on it
    plays as :class:`gohr.learners.Frugal` does.

    Parameters
    ----------
    board_spec : BoardSpec
        At most four shapes and four colours in the palettes.
    rng : numpy.random.Generator
        Decides among attempts that are equally good; every attempt uses one uniform number.
    choice : {"information", "success"}
        ``information``: the attempt with the most expected information, ties broken by the
        probability of acceptance; ``success``: the reverse. The second makes fewer errors while it
        plays, the first identifies the rule sooner. Neither looks ahead further than one attempt,
        so neither attains the smallest possible number of errors.

    Raises
    ------
    ValueError
        If the palettes are too large.

    References
    ----------
    Lindley: *On a measure of the information provided by an experiment* (1956).

    Examples
    --------
    >>> import gohr
    >>> learner = Ideal()
    >>> log = gohr.play(gohr.draw_boards(5), learner, gohr.load_rule("color-match"))
    >>> log.n_attempts[-2:].tolist()  # nothing is left to learn
    [9, 9]
    """

    choice: Literal["information", "success"] = "information"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_palettes(self.board_spec)
        self._draws = UniformNumbers(1, rng=self.rng)
        self._failed = np.zeros(_N_ATTEMPTS, dtype=np.bool_)
        self._begun = False

    @cached_property
    def belief(self) -> Belief:
        """Its belief; the space is created on first use."""
        return Belief(self.board_spec)

    def act(self, observation: Observation) -> int:
        """Choose the most informative attempt, or the one most probably accepted."""
        if not self._begun:
            self.belief.begin(observation.board)
            self._begun = True
        u = float(self._draws.row()[0])
        actions = np.flatnonzero((observation.action_mask != 0) & ~self._failed)
        if len(self.belief.alive):
            actions = self._best(np.flatnonzero(observation.action_mask))
        return int(actions[int(u * len(actions))])

    def observe(self, transition: Transition) -> None:
        """Drop what foretold another reply."""
        over = transition.terminated
        self.belief.update(action=transition.action, outcome=transition.outcome, over=over)
        self._begun = not (over or transition.truncated)
        note_failure(self._failed, transition.action, transition.outcome, not self._begun)

    def _best(self, actions: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        """Return the best attempts."""
        forecast = self.belief.forecast()
        criteria = [forecast.information, forecast.accepted]
        for values in criteria if self.choice == "information" else reversed(criteria):
            value = values[actions]
            actions = actions[value >= value.max() - _EQUAL]
        return actions


# -- regret ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Regret:
    """Each attempt of a trial, compared with the best ones of an ideal observer of its replies.

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
    """

    attempts: _Float
    bits: _Float
    remaining_bits: _Float


def regret(log: TrialLog, *, board_spec: BoardSpec = DEFAULT_SPEC) -> Regret:
    """Measure a player's attempts against an ideal observer who saw the same.

    The observer believes in the hypotheses of :class:`gohr.learners.Ideal` and sees the player's
    own attempts and replies. Luck does not count: the regret of an attempt depends on what was
    known before it, not on the reply.

    Parameters
    ----------
    log : TrialLog
        The trial of a learner, a person or a language model.
    board_spec : BoardSpec
        At most four shapes and four colours in the palettes.

    Returns
    -------
    Regret

    Examples
    --------
    >>> import gohr
    >>> from gohr.learners import Ideal, Uniform
    >>> boards = gohr.draw_boards(3)
    >>> rule, players = gohr.load_rule("clockwise"), (Uniform(), Ideal())
    >>> uniform, ideal = (regret(gohr.play(boards, player, rule)) for player in players)
    >>> bool(uniform.attempts.sum() > 20 * ideal.attempts.sum()), float(ideal.bits.sum())
    (True, 0.0)
    """
    belief, n = Belief(board_spec), len(log.actions)
    attempts, bits, remaining = np.zeros((3, n))
    for row, codes, over in belief.follow(log):
        action, outcome = int(log.actions[row]), int(log.outcomes[row])
        remaining[row] = belief.entropy
        if outcome != EPISODE_OVER:
            occupied, forecast = np.repeat(codes > 0, N_BUCKETS), belief.forecast()
            accepted, information = forecast.accepted, forecast.information
            attempts[row] = accepted[occupied].max() - accepted[action]
            bits[row] = information[occupied].max() - information[action]
            belief.update(action=action, outcome=outcome, over=over)
    return Regret(attempts, bits, remaining)
