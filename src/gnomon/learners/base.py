"""What a learner is: something that acts, and observes what came of it.

A trial is one learner on one rule from scratch, for a number of episodes;
:func:`gnomon.learners.trial.play_trial` runs it. A learner sees what a player sees: the board, the
last accepted attempt, and the reply to each attempt. What the rule permits is the answer, and only
a learner that declares ``reveal`` is shown it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from gnomon.game.board import N_BUCKETS
from gnomon.game.engine.compiler import CompiledRule

__all__ = ["FusedLearner", "Learner", "Observation", "Transition", "TrialLog"]


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """What the player sees before an attempt.

    Parameters
    ----------
    board : numpy.ndarray of uint8, shape (36,)
        Codes of what lies in each cell: 0 nothing, else ``1 + shape * n_colors + color``.
    shape, color, bucket : int
        Of the last accepted attempt of this episode, 0 for none and else 1 + index.
    action_mask : numpy.ndarray of int8, shape (144,)
        1 for the attempts on occupied cells; action ``4 * cell + bucket``.
    permitted : numpy.ndarray of int8, shape (144,), optional
        1 for the attempts that the rule would accept: shown to learners that declare ``reveal``.
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
    """One attempt: what was seen, what was done, and what came of it.

    ``reward`` is 0 for an accepted attempt (and for any on a board already cleared), else -1;
    ``outcome`` the game's code for it (:mod:`gnomon.game.outcomes`). After ``terminated`` or
    ``truncated`` the next observation that :meth:`Learner.act` sees is a new board's.
    """

    observation: Observation
    action: int
    reward: float
    outcome: int
    next_observation: Observation
    terminated: bool
    truncated: bool


class Learner(ABC):
    """A player that may learn: it acts, and it observes.

    Every random choice of a learner comes from the ``rng`` that it was made with.

    Attributes
    ----------
    reveal : bool
        Whether it is shown what the rule permits. Such a learner is a yardstick, not a learner.
    plays_on : bool
        Whether it goes on attempting after a board is cleared, until the horizon; the reward is 0
        there, and such attempts count neither as attempts nor as errors.
    """

    reveal: ClassVar[bool] = False
    plays_on: bool = False

    @abstractmethod
    def act(self, observation: Observation) -> int:
        """Choose an attempt: ``4 * cell + bucket``, with cells from 0 and buckets from 0."""

    @abstractmethod
    def observe(self, transition: Transition) -> None:
        """Take in what came of the attempt that :meth:`act` chose last."""


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
    """

    boards: npt.NDArray[np.uint8]
    n_attempts: npt.NDArray[np.int64]
    actions: npt.NDArray[np.uint8]
    outcomes: npt.NDArray[np.int8]
    finish: npt.NDArray[np.int8]


@runtime_checkable
class FusedLearner(Protocol):
    """A learner that also brings a loop of its own for a whole trial on a compiled rule.

    The loop must give the very attempts that :meth:`Learner.act` and :meth:`Learner.observe` give.
    """

    def play_trial(
        self, rule: CompiledRule, boards: npt.NDArray[np.uint8], horizon: int
    ) -> TrialLog:
        """Play each board in turn, at most ``horizon`` attempts each."""
