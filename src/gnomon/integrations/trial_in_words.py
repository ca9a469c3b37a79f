"""A trial in words: what a model is told, its answers taken as attempts, and the log of them."""

from __future__ import annotations

from typing import final

import numpy as np
import numpy.typing as npt

from gnomon.game.board import DEFAULT_SPEC, N_CELLS, BoardSpec
from gnomon.game.outcomes import ACCEPTED
from gnomon.learners.base import Observation, Transition, TrialLog
from gnomon.learners.language_model.dialogue import Dialogue
from gnomon.learners.language_model.endpoint import Turn
from gnomon.learners.trial import TrialInPlay, trial_in_play
from gnomon.rules.syntax import RuleSet


@final
class TrialInWords:
    """A trial that a model plays by answering texts; the caller asks it.

    Parameters
    ----------
    trial : TrialInPlay
    dialogue : Dialogue
        Of the board spec of the trial.
    max_unreadable : int
        Answers without a move, one after another and each asked for twice, after which the trial is
        given up.

    Attributes
    ----------
    n_attempts, n_errors : int
        Attempts so far, and those that were not accepted.

    Examples
    --------
    >>> import gnomon as gn
    >>> import numpy as np
    >>> from gnomon.learners.trial import trial_in_play
    >>> spec = gn.BoardSpec(pieces=1, shapes=0, colors=0)
    >>> boards = gn.draw_boards(1, spec, rng=np.random.default_rng(0))
    >>> trial = TrialInWords(trial_in_play(gn.load_rule("clockwise"), boards), Dialogue())
    >>> print(trial.turns()[-1].text)
    Attempts so far: none yet.
    <BLANKLINE>
    Board 1 holds now:
    column 1, row 1: yellow triangle
    Your move?
    >>> trial.take("MOVE 1 1 0").outcome, trial.over
    (0, True)
    """

    def __init__(self, trial: TrialInPlay, dialogue: Dialogue, *, max_unreadable: int = 5) -> None:
        self._trial, self.dialogue, self._max_unreadable = trial, dialogue, max_unreadable
        self.n_attempts, self.n_errors = 0, 0

    @property
    def given_up(self) -> bool:
        """Whether the model could not be understood: the trial is over, and not complete."""
        return self.dialogue.n_in_vain >= self._max_unreadable

    @property
    def over(self) -> bool:
        """Whether all boards are played, or the trial is given up."""
        return self._trial.over or self.given_up

    @property
    def observation(self) -> Observation:
        """What is seen before the next attempt."""
        return self._trial.observation

    def turns(self) -> list[Turn]:
        """Return the next request."""
        return self.dialogue.turns(self.observation.board)

    def take(self, said: str, *, answered: bool = True) -> Transition | None:
        """Make the attempt of an answer; None if it must be asked for again.

        With ``answered`` false the answer was refused or cut off, and holds no attempt.
        """
        codes = self.observation.board
        action = self.dialogue.take(said, codes, answered=answered)
        return None if action is None else self._make(action)

    def attempt(self, action: int) -> Transition:
        """Make an attempt as if the model had said it."""
        self.dialogue.say(action, self.observation.board)
        return self._make(action)

    def _make(self, action: int) -> Transition:
        made = self._trial.attempt(action)
        self.dialogue.observe(made)
        self.n_attempts += 1
        self.n_errors += made.outcome != ACCEPTED
        if made.terminated or made.truncated:
            self.dialogue.next_board()
        return made

    def reward(self) -> float:
        """Return the share of the attempts that were accepted, 0 if there was none.

        An answer without a move counts as an attempt that was not.
        """
        n = self.n_attempts + self.dialogue.n_unreadable
        return (self.n_attempts - self.n_errors) / n if n else 0.0

    def log(self) -> TrialLog:
        """Return every attempt on the boards that are over."""
        return self._trial.log()


def seeded_boards(
    n: int, *, seed: int | None, board_spec: BoardSpec = DEFAULT_SPEC
) -> npt.NDArray[np.uint8]:
    """Return the boards that a Gymnasium environment deals from a seed, shape (n, 36).

    Examples
    --------
    >>> import gymnasium, gnomon
    >>> env = gymnasium.make("gnomon/HiddenRules-v0")
    >>> (env.reset(seed=5)[0]["board"] == seeded_boards(2, seed=5)[0]).all()
    np.True_
    """
    from gnomon.game import HiddenRulesEnv

    env, boards = HiddenRulesEnv("anything-goes", board_spec), np.empty((n, N_CELLS), np.uint8)
    for k in range(n):
        boards[k] = env.reset(seed=None if k else seed)[0]["board"]
    return boards


def conversation(
    rule: RuleSet,
    *,
    boards: int,
    horizon: int,
    seed: int | None,
    board_spec: BoardSpec = DEFAULT_SPEC,
) -> TrialInWords:
    """Return a trial as a conversation that grows, on the boards of a seed.

    Examples
    --------
    >>> import gnomon as gn
    >>> trial = conversation(gn.load_rule("clockwise"), boards=1, horizon=100, seed=0)
    >>> [turn.role for turn in trial.turns()]
    ['system', 'user']
    """
    dealt = seeded_boards(boards, seed=seed, board_spec=board_spec)
    game = trial_in_play(rule, dealt, horizon=horizon, board_spec=board_spec)
    return TrialInWords(game, Dialogue(board_spec, mode="conversation"))
