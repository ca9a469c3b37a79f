"""The dialogue with a language model that plays: what it is told next, and its answers taken in.

It asks nobody: :class:`~gnomon.learners.language_model.player.LanguageModel` asks over HTTP, other
frameworks ask in their own way. So all say the same words, and treat an answer alike.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, final

import numpy as np
import numpy.typing as npt

from gnomon.game.board import DEFAULT_SPEC, N_BUCKETS, BoardSpec
from gnomon.learners.base import Transition
from gnomon.learners.language_model.endpoint import Turn
from gnomon.learners.language_model.prompt import (
    AnswerForm,
    ObservationForm,
    StatementForm,
    attempt_words,
    board_png,
    board_words,
    instructions,
    piece_at,
    read_move,
    statement_words,
)

Mode: TypeAlias = Literal["memory", "conversation"]
_AGAIN = (
    "I could not read a move of a piece on the board in that. Answer again, in the form asked for."
)


@final
class Dialogue:
    """One trial as a dialogue: turns for the next request, and answers read as attempts.

    An answer in which no move can be read is asked for once more; then it counts as unreadable, and
    the model is asked afresh.

    Parameters
    ----------
    board_spec : BoardSpec
        Its palettes give the names of shapes and colours.
    mode, observation, answer, max_history, context_tokens
        As in :class:`~gnomon.learners.language_model.player.LanguageModel`.

    Attributes
    ----------
    n_unreadable : int
        Answers without a move so far, each asked for twice.
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
        max_history: int = 1000,
        context_tokens: int = 100_000,
    ) -> None:
        self._spec, self._mode, self._form = board_spec, mode, observation
        self._answer, self._context_tokens = answer, context_tokens
        self._history = _History(max_history)
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
        """Return the attempt of an answer; None if it must be asked for again.

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
        """Take an attempt as if the model had answered with it."""
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

    def statement_turns(self, form: StatementForm) -> list[Turn]:
        """Return the request for the rule, after a board."""
        memory = self._history.told() if self._mode == "memory" else self._history.last
        question = f"{memory}\n\nThis board is over. {statement_words(form)}"
        return [*self._before(), Turn("user", question)]

    def shorten(self, tokens_in: int | None, tokens_out: int | None) -> None:
        """Tell the oldest boards in short if the last exchange took more than the context."""
        took = (tokens_in or 0) + (tokens_out or 0)
        if took > self._context_tokens:
            self._history.shorten(took, self._context_tokens)

    def _before(self) -> list[Turn]:
        """Return the turns before the one that shows the board."""
        opening = [Turn("system", instructions(self._answer))]
        return opening if self._mode == "memory" else [*opening, *self._history.turns()]


@dataclass
class _History:
    """What was attempted, board by board, as memory and as turns of a conversation."""

    most: int
    boards: list[list[str]] = field(default_factory=lambda: [[]])
    #: The turns of each board; None once it is told by its attempts alone.
    said: list[list[Turn] | None] = field(default_factory=lambda: [[]])

    @property
    def n_boards(self) -> int:
        """Number of the present board, from 1."""
        return len(self.boards)

    @property
    def last(self) -> str:
        """What came of the last attempt; nothing before the first."""
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
        return _told(range(len(self.boards)), self.boards, self.most)

    def turns(self) -> list[Turn]:
        """Return the conversation; the boards that are told in short come first."""
        short = [k for k, said in enumerate(self.said) if said is None]
        memory = _told(short, self.boards, self.most)
        opening = [Turn("user", memory), Turn("assistant", "I remember.")] if short else []
        return opening + [turn for said in self.said if said is not None for turn in said]

    def shorten(self, took: int, context_tokens: int) -> None:
        """Tell the oldest boards in short if the last exchange took more than the context.

        What the turns of a board take is reckoned by their share of the letters.
        """
        sizes = [sum(len(turn.text) for turn in said or ()) for said in self.said]
        left, wanted = sum(sizes), sum(sizes) * context_tokens / max(2 * took, 1)
        for k in range(len(self.said) - 1):
            if left <= wanted:
                return
            left -= sizes[k]
            self.said[k] = None


def _told(which: Any, boards: list[list[str]], most: int) -> str:
    """Return the last attempts of some boards as text."""
    lines = [(k, line) for k in which for line in boards[k]]
    chosen = lines[max(len(lines) - most, 0) :] if most else []
    if not chosen:
        return "Attempts so far: none yet."
    told, board = ["Attempts so far:"], -1
    for k, line in chosen:
        if k != board:
            told.append(f"Board {k + 1}")
        told.append(line)
        board = k
    return "\n".join(told)
