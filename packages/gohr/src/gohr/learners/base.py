"""The interface of a learner: it acts, and it observes what came of the attempt.

A trial is one learner on one rule from scratch, for a number of episodes;
:func:`gohr.play` runs it. A learner sees what a player sees: the board, the
last accepted attempt, and the reply to each attempt. The permitted moves are the answer, and only a
learner that declares ``reveal`` is shown them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from gnomon.results import generator
from gohr.game.board import DEFAULT_SPEC, BoardSpec
from gohr.learners.settings import check_settings
from gohr.playing import Observation as Observation
from gohr.playing import Transition as Transition


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
    rng : numpy.random.Generator or int
        The only source of randomness, and the learner's own; or its seed.

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
    >>> import gohr
    >>> @dataclass
    ... class Stubborn(Learner):
    ...     bucket: int = 0
    ...     def act(self, observation):
    ...         actions = np.flatnonzero(observation.action_mask)
    ...         return self.rng.choice(actions[actions % 4 == self.bucket])
    ...     def observe(self, transition):
    ...         self.bucket = (self.bucket + 1) % 4
    >>> rng = np.random.default_rng(0)
    >>> boards = gohr.draw_boards(2, rng=rng)
    >>> log = gohr.play(boards, Stubborn(rng=rng), gohr.load_rule("clockwise"))
    >>> log.n_attempts.tolist()
    [9, 9]
    """

    board_spec: BoardSpec = field(default=DEFAULT_SPEC, repr=False)
    rng: np.random.Generator = field(default_factory=generator, kw_only=True, repr=False)

    reveal: ClassVar[bool] = False
    plays_on = False  # not annotated: no field here, though a subclass may make it a setting

    def __post_init__(self) -> None:
        """Check the settings; a dataclass that has its own calls this one first."""
        self.rng = generator(self.rng)
        check_settings(self)

    @abstractmethod
    def act(self, observation: Observation) -> int:
        """Choose an attempt: ``4 * cell + bucket``, with cells from 0 and buckets from 0."""

    @abstractmethod
    def observe(self, transition: Transition) -> None:
        """Learn from the outcome of the attempt that :meth:`act` chose last."""
