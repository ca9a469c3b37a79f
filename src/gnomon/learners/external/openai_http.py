"""A learner that is a language model, behind an HTTP endpoint of the OpenAI chat form."""

from __future__ import annotations

import os
import re
from collections import deque
from dataclasses import dataclass
from typing import Annotated, Any, Literal, final

import numpy as np

from gnomon.errors import GnomonError
from gnomon.game.board import N_BUCKETS, N_CELLS, Board, Piece
from gnomon.game.outcomes import ACCEPTED, DENIED, IMMOVABLE
from gnomon.learners.base import Learner, Observation, Transition
from gnomon.learners.fixed_players import note_failure
from gnomon.learners.settings import LONGEST_S, Range

__all__ = ["INSTRUCTIONS", "LanguageModel"]

#: What the model is told of the game, before anything else.
INSTRUCTIONS = """\
You play a game whose rule is hidden from you. On a board of 6 columns (1 at the left) and 6 rows
(1 at the bottom) lie pieces, each with a shape and a color. At its corners are four buckets: 0 at
the top left, 1 at the top right, 2 at the bottom right, 3 at the bottom left. An attempt moves one
piece into one bucket. If the rule allows it, it is ACCEPTED and the piece is gone. If not, it is
DENIED if the piece could go into another bucket now, and IMMOVABLE if it could go into none, and
nothing changes. What the rule allows may depend on shape, color, place, bucket, order, and on what
was accepted before on this board. It is the same on all boards. Clear each board with as few
failures as you can. You may think first; end your answer with one line of the form
MOVE id bucket
where id is the number of a piece on the board."""

_MOVE = re.compile(r"\bMOVE\s+(\d{1,3})\s+(\d{1,3})\b", re.IGNORECASE)
_WORDS = {ACCEPTED: "ACCEPTED", DENIED: "DENIED", IMMOVABLE: "IMMOVABLE"}
_MOST = 1_000_000


@final
@dataclass(kw_only=True, eq=False)
class LanguageModel(Learner):
    """Ask a language model for each attempt.

    Every request holds the instructions, what was attempted so far with its replies, and the board;
    the model is expected to end its answer with ``MOVE id bucket``. An answer without such a line,
    one that names no piece of the board, and one that repeats a failure on a board that has not
    changed since, is admonished, and the model asked again.

    Parameters
    ----------
    board_spec : BoardSpec
        Its palettes give the names of shapes and colours.
    rng : numpy.random.Generator
        Draws the ``seed`` of each request, and attempts where `without_answer` asks for them.
    model : str
        Name of the model, as the endpoint knows it. Needed.
    url : str
        Where chat completions are posted. It is reached without a proxy.
    max_requests : int
        Most requests in a trial, at least 1.
    max_tries : int
        Most requests for one attempt, admonished ones included, and most times that a request is
        sent if the endpoint is busy; at least 1. A failure repeated in the last is attempted.
    max_history : int
        Most attempts that a request tells of: the latest; at least 0.
    temperature : float
        As the endpoint takes it, 0 to 2.
    timeout_s : float
        Most seconds for an answer, above 0, and a million at most.
    without_answer : {"error", "random"}
        What is done when there is no answer that is an attempt, or no request is left: the trial
        fails, or any attempt is made, with equal probability.
    key_variable : str
        Name of the environment variable with the endpoint's key; empty for no key.

    Raises
    ------
    ValueError
        If there is no model, or a parameter is out of its range.
    GnomonError
        While it plays, if the endpoint cannot be reached or its answer is not of that form.
    """

    model: str = ""
    url: str = "http://127.0.0.1:8000/v1/chat/completions"
    max_requests: Annotated[int, Range(1, _MOST)] = 10_000
    max_tries: Annotated[int, Range(1, 100)] = 3
    max_history: Annotated[int, Range(0, _MOST)] = 200
    temperature: Annotated[float, Range(0.0, 2.0)] = 0.0
    timeout_s: Annotated[float, Range(0.0, LONGEST_S, open_below=True)] = 120.0
    without_answer: Literal["error", "random"] = "error"
    key_variable: str = ""

    def __post_init__(self) -> None:
        if not self.model:
            raise ValueError("model: expected the name of a model, found ''")
        from gnomon._io.http_client import is_address

        if not is_address(self.url):
            raise ValueError(f"url: expected http://... or https://..., found {self.url!r}")
        super().__post_init__()
        self._history: deque[str] = deque(maxlen=self.max_history)
        self._failed = np.zeros(N_CELLS * N_BUCKETS, dtype=np.bool_)
        self._pieces: dict[int, Piece] = {}
        self._episode, self._n_requests = 0, 0

    def act(self, observation: Observation) -> int:
        """Ask until the answer is an attempt that has not failed on this board."""
        if not self._pieces:
            board = Board.from_codes(observation.board, self.board_spec)
            self._pieces = {piece.id: piece for piece in board.pieces}
            self._episode += 1
        messages = [
            {"role": "system", "content": INSTRUCTIONS},
            {"role": "user", "content": self._situation()},
        ]
        action = None
        for _ in range(self.max_tries):
            if self._n_requests == self.max_requests:
                break
            said = self._ask(messages)
            action, fault = self._read(said)
            if not fault:
                break
            messages += [
                {"role": "assistant", "content": said},
                {"role": "user", "content": f"{fault} Answer again, and end with MOVE id bucket."},
            ]
        return self._any() if action is None else action

    def observe(self, transition: Transition) -> None:
        """Write down what came of the attempt."""
        cell, bucket = divmod(transition.action, N_BUCKETS)
        piece = next(p for p in self._pieces.values() if p.pos == cell + 1)
        outcome = _WORDS[transition.outcome]
        self._history.append(
            f"Board {self._episode}: MOVE {piece.id} {bucket} ({_described(piece)}): {outcome}"
        )
        over = transition.terminated or transition.truncated
        note_failure(self._failed, transition.action, transition.outcome, over)
        if transition.outcome == ACCEPTED:
            del self._pieces[piece.id]
        if over:
            self._pieces = {}

    def _situation(self) -> str:
        """Return what was attempted, and what lies on the board."""
        so_far = list(self._history) or ["Nothing yet."]
        pieces = [f"id {piece.id}: {_described(piece)}" for piece in self._pieces.values()]
        header = f"Board {self._episode} holds now:"
        return "\n".join(["Attempts so far:", *so_far, "", header, *pieces, "", "Your attempt?"])

    def _read(self, said: str) -> tuple[int | None, str]:
        """Return the attempt of an answer, if there is one, and what is wrong with it."""
        found = _MOVE.findall(said)
        if not found:
            return None, "I found no line of the form MOVE id bucket."
        piece, bucket = self._pieces.get(int(found[-1][0])), int(found[-1][1])
        if piece is None:
            return None, f"There is no piece {found[-1][0]} on the board now."
        if bucket >= N_BUCKETS:
            return None, f"There is no bucket {bucket}, only 0, 1, 2, 3."
        action = N_BUCKETS * (piece.pos - 1) + bucket
        if self._failed[action]:
            return action, "That has failed already, and the board has not changed since."
        return action, ""

    def _any(self) -> int:
        """Return any attempt, or raise, as the settings say."""
        if self.without_answer == "error":
            reason = f"{self.max_tries} answers"
            if self._n_requests == self.max_requests:
                reason = f"all {self.max_requests} requests, on board {self._episode}"
            raise GnomonError(
                f"learner 'openai_http': expected an attempt, found none in {reason}; "
                'set without_answer = "random" to go on all the same'
            )
        piece = self._pieces[int(self.rng.choice(sorted(self._pieces)))]
        return N_BUCKETS * (piece.pos - 1) + int(self.rng.integers(N_BUCKETS))

    def _ask(self, messages: list[dict[str, str]]) -> str:
        """Return what the model answers."""
        from gnomon._io.http_client import HttpClient

        self._n_requests += 1
        body: dict[str, Any] = {
            "model": self.model,
            "messages": messages,
            "temperature": float(self.temperature),
            "seed": int(self.rng.integers(2**31)),
        }
        client = HttpClient(
            self.url,
            os.environ.get(self.key_variable, "") if self.key_variable else "",
            timeout_s=self.timeout_s,
            patience_s=self.timeout_s,
            max_tries=self.max_tries,
        )
        answer = client.ask("POST", "", body)
        try:
            content = answer["choices"][0]["message"]["content"]
        except (KeyError, IndexError, TypeError):
            content = None
        if not isinstance(content, str):
            raise GnomonError(
                f"learner 'openai_http': {self.url}: expected choices[0].message.content in the "
                f"answer, found {str(answer)[:200]}"
            )
        return content


def _described(piece: Piece) -> str:
    """Return a piece in words."""
    return f"{piece.color} {piece.shape} in column {piece.x}, row {piece.y}".lower()
