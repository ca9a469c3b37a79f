"""The interface of a learner: it acts, and it observes what came of the attempt.

A trial is one learner on one rule from scratch, for a number of episodes;
:func:`gohr.learners.trial.play_trial` runs it. A learner sees what a player sees: the board, the
last accepted attempt, and the reply to each attempt. The permitted moves are the answer, and only a
learner that declares ``reveal`` is shown them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from gohr.game.board import DEFAULT_SPEC, N_BUCKETS, BoardSpec
from gohr.learners.settings import check_settings

if TYPE_CHECKING:
    from gohr.game.engine.compiler import CompiledRule


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """Observation of the player before an attempt.

    Parameters
    ----------
    board : numpy.ndarray of uint8, shape (36,)
        Codes of the contents of each cell: 0 nothing, else ``1 + shape * n_colors + color``.
    shape, color, bucket : int
        Properties of the last accepted attempt of this episode, 0 for none and else 1 + index.
    action_mask : numpy.ndarray of int8, shape (144,)
        1 for the attempts on occupied cells; action ``4 * cell + bucket``.
    permitted : numpy.ndarray of int8, shape (144,), optional
        1 for the attempts that the rule would accept: shown to learners that declare ``reveal``.

    Examples
    --------
    >>> board = np.zeros(36, np.uint8)
    >>> board[7] = 5
    >>> mask = np.repeat(board > 0, 4).astype(np.int8)
    >>> np.flatnonzero(Observation(board, 0, 0, 0, mask).action_mask)
    array([28, 29, 30, 31])
    """

    board: npt.NDArray[np.uint8]
    shape: int
    color: int
    bucket: int
    action_mask: npt.NDArray[np.int8]
    permitted: npt.NDArray[np.int8] | None = None

    def last_number(self, n_colors: int) -> int:
        """Return the last accepted attempt as one number, as the learners' tables have it.

        0 for none, else ``1 + 4 * (shape * n_colors + color) + bucket``, all counted from 0.
        """
        if self.bucket == 0:
            return 0
        return N_BUCKETS * ((self.shape - 1) * n_colors + self.color - 1) + self.bucket


@dataclass(frozen=True, slots=True, eq=False)
class Transition:
    """One attempt: the observation, the action, and the outcome.

    ``reward`` is 0 for an accepted attempt (and for any on a board already cleared), else -1;
    ``outcome`` the game's code for it (:mod:`gohr.game.outcomes`). After ``terminated`` or
    ``truncated`` the next observation that :meth:`Learner.act` sees is a new board's.

    Examples
    --------
    >>> seen = Observation(np.zeros(36, np.uint8), 0, 0, 0, np.zeros(144, np.int8))
    >>> Transition(seen, 28, 0.0, 0, seen, True, False).terminated
    True
    """

    observation: Observation
    action: int
    reward: float
    outcome: int
    next_observation: Observation
    terminated: bool
    truncated: bool


@dataclass(eq=False)
class Learner(ABC):
    """A player that may learn: it acts, and it observes.

    A subclass says how. Its parameters, beside the two below, are its settings: config files,
    ``gohr learners`` and the card of a run know them by their names, types and defaults
    (:mod:`gohr.learners.settings`), and the subclass keeps each as an attribute of that name. A
    dataclass needs no more code, and can create its state in ``__post_init__``.

    The contract:

    * Every random choice comes from ``rng``, so that a trial can be played again.
    * Nothing is kept outside the learner: each trial makes a new one.
    * :meth:`act` and :meth:`observe` are called alternately.
    * A learner that raises, or returns an invalid action, fails its trial and no other.

    Parameters
    ----------
    board_spec : BoardSpec
        How boards are drawn; the palettes define the codes of a board.
    rng : numpy.random.Generator
        The only source of randomness, and the learner's own.

    Attributes
    ----------
    reveal : bool
        Whether it is shown what the rule permits. Such a learner is a yardstick, not a learner.
    plays_on : bool
        Whether it continues to attempt after a board is cleared, until the horizon; the reward is 0
        there, and such attempts count neither as attempts nor as errors.

    Raises
    ------
    ValueError
        If a setting is out of the range that it declares.

    Examples
    --------
    >>> from gohr.game import draw_boards
    >>> from gohr.learners import play_trial
    >>> from gohr.rules import load_rule
    >>> @dataclass
    ... class Stubborn(Learner):
    ...     bucket: int = 0
    ...     def act(self, observation):
    ...         actions = np.flatnonzero(observation.action_mask)
    ...         return self.rng.choice(actions[actions % 4 == self.bucket])
    ...     def observe(self, transition):
    ...         self.bucket = (self.bucket + 1) % 4
    >>> rng = np.random.default_rng(0)
    >>> log = play_trial(Stubborn(rng=rng), load_rule("clockwise"), draw_boards(2, rng=rng))
    >>> log.n_attempts.tolist()
    [9, 9]
    """

    board_spec: BoardSpec = field(default=DEFAULT_SPEC, repr=False)
    rng: np.random.Generator = field(kw_only=True, repr=False)

    reveal: ClassVar[bool] = False
    plays_on = False  # not annotated: no field here, though a subclass may make it a setting

    def __post_init__(self) -> None:
        """Check the settings; a dataclass that has its own calls this one first."""
        check_settings(self)

    @abstractmethod
    def act(self, observation: Observation) -> int:
        """Choose an attempt: ``4 * cell + bucket``, with cells from 0 and buckets from 0."""

    @abstractmethod
    def observe(self, transition: Transition) -> None:
        """Learn from the outcome of the attempt that :meth:`act` chose last."""


@dataclass(frozen=True, slots=True, eq=False)
class TrialLog:
    """Every attempt of a trial, with the boards it was made on.

    Parameters
    ----------
    boards : numpy.ndarray of uint8, shape (n_episodes, 36)
        The board of each episode as it was dealt.
    n_attempts : numpy.ndarray of int64, shape (n_episodes,)
        Number of rows of ``actions`` that belong to each episode.
    actions : numpy.ndarray of uint8, shape (n_rows,)
        ``4 * cell + bucket``, the episodes one after the other.
    outcomes : numpy.ndarray of int8, shape (n_rows,)
        0 accepted, 4 denied, 7 immovable, 3 empty cell, -4 after the end of the episode.
    finish : numpy.ndarray of int8, shape (n_episodes,)
        0 the horizon came first, 1 cleared, 2 stalemate.
    own : numpy.ndarray of bool, shape (n_rows,), optional
        If another player shares the boards, mask of the attempts that are scored: the player's own.

    Examples
    --------
    >>> import gohr
    >>> rng = np.random.default_rng(0)
    >>> learner = gohr.make_learner("uniform", gohr.BoardSpec(), rng=rng)
    >>> log = gohr.play_trial(learner, gohr.load_rule("clockwise"), gohr.draw_boards(3, rng=rng))
    >>> log.n_attempts.sum() == len(log.actions) == len(log.outcomes)
    True
    """

    boards: npt.NDArray[np.uint8]
    n_attempts: npt.NDArray[np.int64]
    actions: npt.NDArray[np.uint8]
    outcomes: npt.NDArray[np.int8]
    finish: npt.NDArray[np.int8]
    own: npt.NDArray[np.bool_] | None = None


@runtime_checkable
class FusedLearner(Protocol):
    """A learner that also has its own loop for a whole trial on a compiled rule.

    The loop must give the very attempts that :meth:`Learner.act` and :meth:`Learner.observe` give.

    Examples
    --------
    >>> import gohr
    >>> learner = gohr.make_learner("uniform", gohr.BoardSpec(), rng=np.random.default_rng(0))
    >>> isinstance(learner, FusedLearner)
    True
    """

    def play_trial(
        self, rule: CompiledRule, boards: npt.NDArray[np.uint8], horizon: int
    ) -> TrialLog:
        """Play each board in turn, at most ``horizon`` attempts each."""
