"""A trial in words: the turns that a model gets, its answers taken as attempts, and their log."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, final

import numpy as np

from gohr.game.board import DEFAULT_SPEC, N_BUCKETS, N_CELLS, BoardSpec, Piece
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
class TrialInWords:
    """A trial that a model plays by answering texts; the caller queries the model.

    If an answer has no legible move, the model is prompted once more; then the answer counts as
    unreadable, and the model is prompted afresh.

    Parameters
    ----------
    trial : TrialInPlay
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
    max_unreadable : int
        Number of consecutive answers without a move, each after two prompts, after which the trial
        is given up.

    Attributes
    ----------
    n_attempts, n_errors : int
        Attempts so far, and those that were not accepted.
    n_unreadable : int
        Number of answers without a move so far, each after two prompts.

    Examples
    --------
    >>> import gohr
    >>> import numpy as np
    >>> spec = gohr.BoardSpec(pieces=1, shapes=0, colors=0)
    >>> boards = gohr.draw_boards(1, spec, rng=np.random.default_rng(0))
    >>> trial = TrialInWords(TrialInPlay(boards, gohr.load_rule("clockwise")))
    >>> print(trial.turns()[-1].text)
    Attempts so far: none yet.
    <BLANKLINE>
    Board 1 holds now:
    column 1, row 1: yellow triangle
    Your move?
    >>> trial.take("I see a triangle.")  # None: it is asked for again
    >>> trial.take("MOVE 1 1 0").outcome, trial.over
    (0, True)
    """

    def __init__(
        self,
        trial: TrialInPlay,
        board_spec: BoardSpec = DEFAULT_SPEC,
        *,
        mode: Mode = "memory",
        observation: ObservationForm = "pieces",
        answer: AnswerForm = "line",
        context_tokens: int = 100_000,
        max_unreadable: int = 5,
    ) -> None:
        self._trial, self._spec, self._max_unreadable = trial, board_spec, max_unreadable
        self._mode, self._form = mode, observation
        self._answer, self._context_tokens = answer, context_tokens
        self._history = _History()
        self._again: list[Turn] = []
        self._n_in_vain = 0  # unreadable answers since the last attempt
        self.n_attempts, self.n_errors, self.n_unreadable = 0, 0, 0

    @property
    def given_up(self) -> bool:
        """Whether the model could not be understood: the trial is over, and not complete."""
        return self._n_in_vain >= self._max_unreadable

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
        return [*self._before(), self._shown(), *self._again]

    def take(self, said: str, *, answered: bool = True) -> Transition | None:
        """Make the attempt of an answer; None if the model must be prompted again.

        With ``answered`` false the answer was refused or cut off, and holds no attempt.
        """
        codes = self.observation.board
        action = read_move(said, self._answer) if answered else None
        if action is None or not codes[action // N_BUCKETS]:
            if self._again:
                self._again, self._n_in_vain = [], self._n_in_vain + 1
                self.n_unreadable += 1
            else:
                self._again = [Turn("assistant", said or "(no answer)"), Turn("user", _AGAIN)]
            return None
        if self._mode == "conversation":
            self._history.say(self._shown(), Turn("assistant", said))
        self._again, self._n_in_vain = [], 0
        cell, bucket = divmod(action, N_BUCKETS)
        piece = piece_at(codes, cell, self._spec)
        assert piece is not None
        made = self._trial.attempt(action)
        self.n_attempts += 1
        self.n_errors += made.outcome != ACCEPTED
        self._history.add(piece, bucket, made.outcome)
        if made.terminated or made.truncated:
            self._history.next_board()
        return made

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

    def reward(self) -> float:
        """Return the share of the attempts that were accepted, 0 if there was none.

        An answer without a move counts as an attempt that was not.
        """
        n = self.n_attempts + self.n_unreadable
        return (self.n_attempts - self.n_errors) / n if n else 0.0

    def log(self) -> TrialLog:
        """Return every attempt on the boards that are over."""
        return self._trial.log()

    def _before(self) -> list[Turn]:
        """Return the turns before the one that shows the board."""
        opening = [Turn("system", instructions(self._answer))]
        return opening if self._mode == "memory" else [*opening, *self._history.turns()]

    def _shown(self) -> Turn:
        """Return the turn that shows the board, behind the memory or the last reply."""
        codes = self.observation.board
        board = board_words(codes, self._spec, self._form)
        picture = board_png(codes, self._spec) if self._form == "picture" else None
        before = self._history.last if self._mode == "conversation" else self._history.told()
        holds = f"Board {len(self._history.boards)} holds now:\n{board}\nYour move?"
        said = "\n\n".join(part for part in (before, holds) if part)
        if self._n_in_vain:
            said = f"{self.n_unreadable} of your answers could not be read. {said}"
        return Turn("user", said, picture)


@dataclass
class _History:
    """The attempts, board by board, as memory and as turns of a conversation."""

    boards: list[list[str]] = field(default_factory=lambda: [[]])
    #: The turns of each board; None once the board is summarised by its attempts alone.
    said: list[list[Turn] | None] = field(default_factory=lambda: [[]])

    @property
    def last(self) -> str:
        """Reply to the last attempt; empty before the first."""
        board = self.boards[-1] or (self.boards[-2] if len(self.boards) > 1 else [])
        over = "" if self.boards[-1] else "\nThat board is over."
        return f"{board[-1]}{over}" if board else ""

    def add(self, piece: Piece, bucket: int, outcome: int) -> None:
        here = self.boards[-1]
        here.append(attempt_words(len(here) + 1, piece, bucket, outcome))

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


def conversation(
    rule: RuleSet,
    *,
    boards: int,
    horizon: int,
    seed: int | None,
    board_spec: BoardSpec = DEFAULT_SPEC,
) -> TrialInWords:
    """Return a trial as a conversation that grows, on the boards that an environment deals.

    Examples
    --------
    >>> import gohr
    >>> trial = conversation(gohr.load_rule("clockwise"), boards=1, horizon=100, seed=0)
    >>> [turn.role for turn in trial.turns()]
    ['system', 'user']
    """
    from gohr.game import HiddenRulesEnv

    env, dealt = HiddenRulesEnv("anything-goes", board_spec), np.empty((boards, N_CELLS), np.uint8)
    for k in range(boards):
        dealt[k] = env.reset(seed=None if k else seed)[0]["board"]
    game = TrialInPlay(dealt, rule, horizon=horizon, board_spec=board_spec)
    return TrialInWords(game, board_spec, mode="conversation")
