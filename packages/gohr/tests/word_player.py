"""A learner that plays by words alone: it reads the board and the reply, and says its move."""

from __future__ import annotations

import re

import numpy as np

from gohr import Board, BoardSpec, Piece
from gohr.learners import Learner, Observation, Transition

_PIECE = re.compile(r"^column (\d), row (\d): (\w+) (\w+)$", re.MULTILINE)
_BOARD = re.compile(r"Board (\d+) now holds:$", re.MULTILINE)
_REPLY = re.compile(r"→ bucket \d: (.+)$", re.MULTILINE)
_OUTCOMES = {"yes": 0, "no": 4, "not now": 7}


class WordPlayer:
    """Stands between a learner and a text: it knows no more than is said."""

    def __init__(self, learner: Learner, spec: BoardSpec, horizon: int = 100) -> None:
        self.learner, self.spec, self.horizon = learner, spec, horizon
        self.before: tuple[int, Observation, int] | None = None
        self.n_on_board = 0

    def answer(self, told: str) -> str:
        """Return the next move, in the form of a line."""
        seen = self.observation(told)
        number = int(_BOARD.findall(told)[-1])
        if self.before is not None:
            before, observation, action = self.before
            outcome = _OUTCOMES[_REPLY.findall(told)[-1]]
            over = number != before
            at_end = self.n_on_board == self.horizon
            self.learner.observe(
                Transition(
                    observation,
                    action,
                    0.0 if outcome == 0 else -1.0,
                    outcome,
                    seen,
                    over and not at_end,
                    over and at_end,
                )
            )
            self.n_on_board = 0 if over else self.n_on_board
        action = int(self.learner.act(seen))
        self.before, self.n_on_board = (number, seen, action), self.n_on_board + 1
        cell, bucket = divmod(action, 4)
        return f"MOVE {cell % 6 + 1} {cell // 6 + 1} {bucket}"

    def observation(self, told: str) -> Observation:
        shown = told[_list_begins(told) :]
        pieces = [
            Piece(k, 6 * (int(y) - 1) + int(x), shape.upper(), color.upper())
            for k, (x, y, color, shape) in enumerate(_PIECE.findall(shown))
        ]
        codes = Board(tuple(pieces)).codes(self.spec)
        return Observation(codes, 0, 0, 0, np.repeat(codes > 0, 4).astype(np.int8))


def _list_begins(told: str) -> int:
    return [found.end() for found in _BOARD.finditer(told)][-1]
