"""A trial in words: the turns that a model gets, its answers taken as attempts, and their log."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, final

import numpy as np
import numpy.typing as npt

from gohr.game.board import DEFAULT_SPEC, N_BUCKETS, N_CELLS, BoardSpec
from gohr.game.outcomes import ACCEPTED
from gohr.integrations.prompt import (
    RULE_QUESTION,
    AnswerForm,
    ObservationForm,
    attempt_words,
    board_png,
    board_words,
    instructions,
    piece_at,
    read_move,
)
from gohr.playing import Observation, Transition, TrialInPlay, TrialLog
from gohr.rules.syntax import RuleSet

Mode: TypeAlias = Literal["memory", "conversation"]
#: Maximum number of attempts in the memory: the latest ones.
_MOST_TOLD = 1000
_AGAIN = (
    "I could not read a move of a piece on the board in that. Answer again, in the form asked for."
)


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of a conversation: the speaker, the text, and an optional PNG."""

    role: Literal["system", "user", "assistant"]
    text: str
    picture: bytes | None = None


@final
class Dialogue:
    """One trial as a dialogue: turns for the next request, and answers read as attempts.

    If an answer has no legible move, the model is prompted once more; then the answer counts as
    unreadable, and the model is prompted afresh.

    Parameters
    ----------
    board_spec : BoardSpec
        Its palettes give the names of shapes and colours.
    mode : {"memory", "conversation"}
        One prompt per attempt, with the memory of all attempts; or a conversation that grows. Once
        a request of it took more than `context_tokens`, earlier boards are summarised as in the
        memory, the oldest first, until about half of that is left.
    observation : {"pieces", "grid", "picture"}
        The board as a list of its pieces, as a grid of text, or as a picture.
    answer : {"line", "json"}
        An answer ends with a line ``MOVE column row bucket``, or is a JSON object.
    context_tokens : int
        See `mode`.

    Attributes
    ----------
    n_unreadable : int
        Number of answers without a move so far, each after two prompts.
    n_in_vain : int
        Those since the last attempt.
    n_attempts : int
        Attempts on the present board so far.

    Examples
    --------
    >>> codes = np.eye(1, 36, 7, dtype=np.uint8)[0]
    >>> dialogue = Dialogue()
    >>> [turn.role for turn in dialogue.turns(codes)]
    ['system', 'user']
    >>> dialogue.take("I see a square.", codes)  # None: it is asked for again
    >>> dialogue.take("MOVE 2 2 0", codes)
    28
    """

    def __init__(
        self,
        board_spec: BoardSpec = DEFAULT_SPEC,
        *,
        mode: Mode = "memory",
        observation: ObservationForm = "pieces",
        answer: AnswerForm = "line",
        context_tokens: int = 100_000,
    ) -> None:
        self._spec, self._mode, self._form = board_spec, mode, observation
        self._answer, self._context_tokens = answer, context_tokens
        self._history = _History()
        self._again: list[Turn] = []
        self.n_unreadable, self.n_in_vain, self.n_attempts = 0, 0, 0

    @property
    def n_boards(self) -> int:
        """Number of the present board, from 1."""
        return self._history.n_boards

    def turns(self, codes: npt.NDArray[np.uint8]) -> list[Turn]:
        """Return the next request for an attempt on a board."""
        return [*self._before(), self.shown(codes), *self._again]

    def shown(self, codes: npt.NDArray[np.uint8]) -> Turn:
        """Return the turn that shows the board, behind the memory or the last reply."""
        board = board_words(codes, self._spec, self._form)
        picture = board_png(codes, self._spec) if self._form == "picture" else None
        before = self._history.last if self._mode == "conversation" else self._history.told()
        holds = f"Board {self.n_boards} holds now:\n{board}\nYour move?"
        said = "\n\n".join(part for part in (before, holds) if part)
        if self.n_in_vain:
            said = f"{self.n_unreadable} of your answers could not be read. {said}"
        return Turn("user", said, picture)

    def read(self, said: str, codes: npt.NDArray[np.uint8]) -> int | None:
        """Return the attempt that an answer names on a piece of the board; None if it has none."""
        action = read_move(said, self._answer)
        return None if action is None or not codes[action // N_BUCKETS] else action

    def take(self, said: str, codes: npt.NDArray[np.uint8], *, answered: bool = True) -> int | None:
        """Return the attempt of an answer; None if the model must be prompted again.

        With ``answered`` false the answer was refused or cut off, and holds no attempt.
        """
        action = self.read(said, codes) if answered else None
        if action is not None:
            self._answered(said, codes)
        elif self._again:
            self._again, self.n_in_vain = [], self.n_in_vain + 1
            self.n_unreadable += 1
        else:
            self._again = [Turn("assistant", said or "(no answer)"), Turn("user", _AGAIN)]
        return action

    def _answered(self, said: str, codes: npt.NDArray[np.uint8]) -> None:
        if self._mode == "conversation":
            self._history.say(self.shown(codes), Turn("assistant", said))
        self._again, self.n_in_vain = [], 0

    def say(self, action: int, codes: npt.NDArray[np.uint8]) -> None:
        """Make an attempt as if the model had answered with it."""
        cell, bucket = divmod(action, N_BUCKETS)
        self._answered(f"MOVE {cell % 6 + 1} {cell // 6 + 1} {bucket}", codes)

    def observe(self, transition: Transition) -> None:
        """Write down what came of the attempt."""
        cell, bucket = divmod(transition.action, N_BUCKETS)
        piece = piece_at(transition.observation.board, cell, self._spec)
        assert piece is not None
        self.n_attempts += 1
        self._history.add(attempt_words(self.n_attempts, piece, bucket, transition.outcome))

    def next_board(self) -> None:
        """Begin the next board."""
        self._history.next_board()
        self.n_attempts = 0

    def statement_turns(self) -> list[Turn]:
        """Return the request for the rule, after a board."""
        memory = self._history.told() if self._mode == "memory" else self._history.last
        question = f"{memory}\n\nThis board is over. {RULE_QUESTION}"
        return [*self._before(), Turn("user", question)]

    def shorten(self, tokens_in: int | None, tokens_out: int | None) -> None:
        """Summarise the oldest boards if the last exchange took more than the context."""
        took = (tokens_in or 0) + (tokens_out or 0)
        if took > self._context_tokens:
            self._history.shorten(took, self._context_tokens)

    def _before(self) -> list[Turn]:
        """Return the turns before the one that shows the board."""
        opening = [Turn("system", instructions(self._answer))]
        return opening if self._mode == "memory" else [*opening, *self._history.turns()]


@dataclass
class _History:
    """The attempts, board by board, as memory and as turns of a conversation."""

    boards: list[list[str]] = field(default_factory=lambda: [[]])
    #: The turns of each board; None once the board is summarised by its attempts alone.
    said: list[list[Turn] | None] = field(default_factory=lambda: [[]])

    @property
    def n_boards(self) -> int:
        """Number of the present board, from 1."""
        return len(self.boards)

    @property
    def last(self) -> str:
        """Reply to the last attempt; empty before the first."""
        board = self.boards[-1] or (self.boards[-2] if len(self.boards) > 1 else [])
        over = "" if self.boards[-1] else "\nThat board is over."
        return f"{board[-1]}{over}" if board else ""

    def add(self, attempt: str) -> None:
        self.boards[-1].append(attempt)

    def say(self, *turns: Turn) -> None:
        said = self.said[-1]
        assert said is not None
        said += turns

    def next_board(self) -> None:
        self.boards.append([])
        self.said.append([])

    def told(self) -> str:
        """Return the latest attempts, board by board."""
        return _told(range(len(self.boards)), self.boards)

    def turns(self) -> list[Turn]:
        """Return the conversation; the summarised boards come first."""
        short = [k for k, said in enumerate(self.said) if said is None]
        memory = _told(short, self.boards)
        opening = [Turn("user", memory), Turn("assistant", "I remember.")] if short else []
        return opening + [turn for said in self.said if said is not None for turn in said]

    def shorten(self, took: int, context_tokens: int) -> None:
        """Summarise the oldest boards if the last exchange took more than the context.

        The length of the turns of a board is estimated by their share of the characters.
        """
        sizes = [sum(len(turn.text) for turn in said or ()) for said in self.said]
        left, wanted = sum(sizes), sum(sizes) * context_tokens / max(2 * took, 1)
        for k in range(len(self.said) - 1):
            if left <= wanted:
                return
            left -= sizes[k]
            self.said[k] = None


def _told(which: Iterable[int], boards: list[list[str]]) -> str:
    """Return the last attempts of some boards as text."""
    lines = [(k, line) for k in which for line in boards[k]]
    chosen = lines[-_MOST_TOLD:]
    if not chosen:
        return "Attempts so far: none yet."
    told, board = ["Attempts so far:"], -1
    for k, line in chosen:
        if k != board:
            told.append(f"Board {k + 1}")
        told.append(line)
        board = k
    return "\n".join(told)


@final
class TrialInWords:
    """A trial that a model plays by answering texts; the caller queries the model.

    Parameters
    ----------
    trial : TrialInPlay
    dialogue : Dialogue
        Dialogue with the board spec of the trial.
    max_unreadable : int
        Number of consecutive answers without a move, each after two prompts, after which the trial
        is given up.

    Attributes
    ----------
    n_attempts, n_errors : int
        Attempts so far, and those that were not accepted.

    Examples
    --------
    >>> import gohr
    >>> import numpy as np
    >>> from gohr.playing import TrialInPlay
    >>> spec = gohr.BoardSpec(pieces=1, shapes=0, colors=0)
    >>> boards = gohr.draw_boards(1, spec, rng=np.random.default_rng(0))
    >>> trial = TrialInWords(TrialInPlay(boards, gohr.load_rule("clockwise")), Dialogue())
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
        """Observation before the next attempt."""
        return self._trial.observation

    def turns(self) -> list[Turn]:
        """Return the next request."""
        return self.dialogue.turns(self.observation.board)

    def take(self, said: str, *, answered: bool = True) -> Transition | None:
        """Make the attempt of an answer; None if the model must be prompted again.

        With ``answered`` false the answer was refused or cut off, and holds no attempt.
        """
        codes = self.observation.board
        action = self.dialogue.take(said, codes, answered=answered)
        return None if action is None else self._make(action)

    def attempt(self, action: int) -> Transition:
        """Make an attempt as if the model had answered with it."""
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
    >>> env = gymnasium.make("gohr/HiddenRules-v0")
    >>> (env.reset(seed=5)[0]["board"] == seeded_boards(2, seed=5)[0]).all()
    np.True_
    """
    from gohr.game import HiddenRulesEnv

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
    >>> import gohr
    >>> trial = conversation(gohr.load_rule("clockwise"), boards=1, horizon=100, seed=0)
    >>> [turn.role for turn in trial.turns()]
    ['system', 'user']
    """
    dealt = seeded_boards(boards, seed=seed, board_spec=board_spec)
    game = TrialInPlay(dealt, rule, horizon=horizon, board_spec=board_spec)
    return TrialInWords(game, Dialogue(board_spec, mode="conversation"))
