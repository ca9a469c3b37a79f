"""A learner that is a language model, asked over HTTP for each attempt."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, final

import numpy as np
import numpy.typing as npt

from gnomon.errors import GnomonError
from gnomon.game.board import N_BUCKETS
from gnomon.learners.base import Learner, Observation, Transition
from gnomon.learners.language_model.endpoint import Endpoint, Reply, Turn
from gnomon.learners.language_model.exchanges import Answered, Asking, Exchanges, Kind
from gnomon.learners.language_model.prompt import (
    attempt_words,
    board_png,
    board_words,
    instructions,
    piece_at,
    read_move,
    statement_words,
)
from gnomon.learners.settings import LONGEST_S, Range

_MOST = 1_000_000_000
_AGAIN = (
    "I could not read a move of a piece on the board in that. Answer again, in the form asked for."
)


@final
@dataclass(kw_only=True, eq=False)
class LanguageModel(Learner):
    """Ask a language model for each attempt.

    It is told what people are told in the browser (:mod:`gnomon.game.instructions`), and answers
    with the column and row of a piece and a bucket. An answer in which no such move can be read is
    asked for once more; then it counts as unreadable, never as a move, and the model is asked
    afresh. Refused, filtered and cut-off answers are counted apart and treated alike. In a run
    every exchange is kept in the run folder with its tokens, seconds and cost.

    Parameters
    ----------
    board_spec : BoardSpec
        Its palettes give the names of shapes and colours.
    rng : numpy.random.Generator
        Draws the ``seed`` of each request, if it is sent.
    model : str
        Name of the model, as the endpoint knows it. Needed.
    url : str
        Where requests are posted. It is reached without a proxy.
    form : {"chat", "messages"}
        OpenAI's chat completions, which many servers understand, or Anthropic's messages.
    mode : {"memory", "conversation"}
        One prompt an attempt, with the memory of all attempts; or a conversation that grows. Once a
        request of it took more than `context_tokens`, the boards before the present one are told as
        the memory tells them, the oldest first, until about half of that is left.
    observation : {"pieces", "grid", "picture"}
        The board as a list of its pieces, as a grid of text, or as a picture.
    answer : {"line", "json", "tool"}
        How the model answers: ends with a line ``MOVE column row bucket``, answers with JSON, or
        calls a tool.
    temperature : float or None
        Left out of the request unless it is set, as are the next two: many models refuse it.
    reasoning_effort : str or None
        A word that the model knows.
    max_tokens : int or None
        Most tokens of an answer, thoughts included. The form "messages" needs it.
    token_field : {"max_completion_tokens", "max_tokens"}
        What the chat form calls `max_tokens`; older servers know the second.
    send_seed : bool
        Whether requests have a ``seed``.
    system_role : {"system", "developer", "user"}
        Who gives the instructions, in the chat form.
    extra : str
        Further fields of the request, as a JSON object in a text; they come last.
    key_variable : str
        Name of the environment variable with the endpoint's key; empty for no key.
    header_variables : str
        Further headers, as a JSON object in a text: name of the header to name of the environment
        variable that has its value.
    max_history : int
        Most attempts that the memory tells of: the latest.
    context_tokens : int
        See `mode`.
    max_unreadable : int
        Answers without a move, one after the other, after which the trial fails; each is two
        requests.
    max_requests : int
        Most requests in a trial.
    max_sends : int
        Most times that a request is sent while the endpoint is busy, silent, or not there.
    timeout_s : float
        Most seconds for an answer.
    state_rule : {"never", "language", "prose"}
        Whether the model is asked for the rule after some boards: in the rule language, or in its
        own words. What it says is kept, and not shown to it later.
    state_after : str
        After which boards, counted from 1, as numbers between commas; empty for each.

    Raises
    ------
    ValueError
        If there is no model, or a parameter is out of its range.
    GnomonError
        While it plays: the endpoint cannot be reached, refuses, or its answer is not of the form;
        or a budget is used up.
    """

    model: str = ""
    url: str = "http://127.0.0.1:8000/v1/chat/completions"
    form: Literal["chat", "messages"] = "chat"
    mode: Literal["memory", "conversation"] = "memory"
    observation: Literal["pieces", "grid", "picture"] = "pieces"
    answer: Literal["line", "json", "tool"] = "line"
    temperature: Annotated[float, Range(0.0, 2.0)] | None = None
    reasoning_effort: str | None = None
    max_tokens: Annotated[int, Range(1, _MOST)] | None = None
    token_field: Literal["max_completion_tokens", "max_tokens"] = "max_completion_tokens"
    send_seed: bool = False
    system_role: Literal["system", "developer", "user"] = "system"
    extra: str = "{}"
    key_variable: str = ""
    header_variables: str = "{}"
    max_history: Annotated[int, Range(0, _MOST)] = 1000
    context_tokens: Annotated[int, Range(1, _MOST)] = 100_000
    max_unreadable: Annotated[int, Range(1, _MOST)] = 5
    max_requests: Annotated[int, Range(1, _MOST)] = 10_000
    max_sends: Annotated[int, Range(1, 1000)] = 8
    timeout_s: Annotated[float, Range(0.0, LONGEST_S, open_below=True)] = 600.0
    state_rule: Literal["never", "language", "prose"] = "never"
    state_after: str = ""

    def __post_init__(self) -> None:
        if not self.model:
            raise ValueError("model: expected the name of a model, found ''")
        from gnomon._io.http_client import is_address

        if not is_address(self.url):
            raise ValueError(f"url: expected http://... or https://..., found {self.url!r}")
        super().__post_init__()
        if self.form == "messages" and self.max_tokens is None:
            raise ValueError("max_tokens: expected a number, which the form 'messages' needs")
        self._endpoint = Endpoint(
            url=self.url,
            form=self.form,
            fields=self._fields(),
            answer=self.answer,
            system_role=self.system_role,
            headers=_json_table("header_variables", self.header_variables, texts=True),
            key_variable=self.key_variable,
            timeout_s=self.timeout_s,
            max_sends=self.max_sends,
        )
        self._stated_after = _boards("state_after", self.state_after)
        self._history = _History(self.max_history)
        self._n_requests, self._n_unreadable, self._attempt = 0, 0, 0
        self._exchanges: Exchanges | None = None

    @property
    def told(self) -> str:
        """The instructions, for the card of a run."""
        return instructions(self.answer)

    def kept_in(self, asking: Asking, trial: str) -> Exchanges:
        """Keep the exchanges of the trial of that key in a file; return them, to be closed."""
        self._exchanges = Exchanges(asking, trial, self.model)
        return self._exchanges

    def act(self, observation: Observation) -> int:
        """Ask until a move can be read."""
        asked = shown = self._shown(observation.board)
        for _ in range(self.max_unreadable):
            turns = [*self._before(), shown]
            for again in (False, True):
                found = self._ask(turns, observation.board)
                if found.kind == "move":
                    self._say(shown, Turn("assistant", found.reply.text))
                    return self._move(found.reply, observation.board)
                if not again:
                    said = found.reply.text or "(no answer)"
                    turns += [Turn("assistant", said), Turn("user", _AGAIN)]
            self._n_unreadable += 1
            told = f"{self._n_unreadable} of your answers could not be read. {asked.text}"
            shown = Turn("user", told, shown.picture)
        raise GnomonError(
            f"learner 'language_model': expected a move, found none in {self.max_unreadable} "
            f"answers and as many asked for again; the last was {found.kind}"
        )

    def observe(self, transition: Transition) -> None:
        """Write down what came of the attempt; ask for the rule after the chosen boards."""
        cell, bucket = divmod(transition.action, N_BUCKETS)
        piece = piece_at(transition.observation.board, cell, self.board_spec)
        assert piece is not None
        self._attempt += 1
        self._history.add(attempt_words(self._attempt, piece, bucket, transition.outcome))
        if not (transition.terminated or transition.truncated):
            return
        n = self._history.n_boards
        if self.state_rule != "never" and (not self._stated_after or n in self._stated_after):
            self._state_rule()
        self._history.next_board()
        self._attempt = 0

    def _fields(self) -> dict[str, Any]:
        """Return the fields of a request that are set, those of ``extra`` last."""
        limit = self.token_field if self.form == "chat" else "max_tokens"
        effort: dict[str, Any] = {"reasoning_effort": self.reasoning_effort}
        if self.form == "messages":
            effort = {"output_config": self.reasoning_effort and {"effort": self.reasoning_effort}}
        fields = {"model": self.model, "temperature": self.temperature, limit: self.max_tokens}
        given = {name: value for name, value in (fields | effort).items() if value is not None}
        return given | _json_table("extra", self.extra)

    def _shown(self, codes: npt.NDArray[np.uint8]) -> Turn:
        """Return the turn that shows the board, behind the memory or the last reply."""
        board = board_words(codes, self.board_spec, self.observation)
        picture = board_png(codes, self.board_spec) if self.observation == "picture" else None
        before = self._history.last if self.mode == "conversation" else self._history.told()
        holds = f"Board {self._history.n_boards} holds now:\n{board}\nYour move?"
        return Turn("user", "\n\n".join(part for part in (before, holds) if part), picture)

    def _before(self) -> list[Turn]:
        """Return the turns before the one that shows the board."""
        opening = [Turn("system", self.told)]
        if self.mode == "memory":
            return opening
        return [*opening, *self._history.turns()]

    def _say(self, *turns: Turn) -> None:
        if self.mode == "conversation":
            self._history.say(*turns)

    def _ask(self, turns: list[Turn], codes: npt.NDArray[np.uint8] | None) -> Answered:
        """Ask for the next turn; without a board, for the rule."""
        if self._n_requests == self.max_requests:
            raise GnomonError(
                f"learner 'language_model': all {self.max_requests:,} requests of max_requests "
                f"are made, on board {self._history.n_boards}"
            )
        self._n_requests += 1
        body = self._endpoint.body(turns, statement=codes is None)
        if self.send_seed:
            body["seed"] = int(self.rng.integers(2**31))
        if self._exchanges is None:
            self._exchanges = Exchanges(Asking(), "", self.model)
        found = self._exchanges.ask(
            body,
            self._endpoint.send,
            self._endpoint.read,
            lambda reply: self._kind(reply, codes),
            episode=self._history.n_boards - 1,
            attempt=self._attempt + 1,
        )
        self._history.shorten(found.reply, self.context_tokens)
        return found

    def _kind(self, reply: Reply, codes: npt.NDArray[np.uint8] | None) -> Kind:
        if reply.finish != "answered":
            return reply.finish
        if codes is None:
            return "statement"
        action = read_move(reply.text, self.answer)
        return "unreadable" if action is None or not codes[action // N_BUCKETS] else "move"

    def _move(self, reply: Reply, codes: npt.NDArray[np.uint8]) -> int:
        action = read_move(reply.text, self.answer)
        assert action is not None
        return action

    def _state_rule(self) -> None:
        """Ask for the rule; the exchange is kept, and no turn of the conversation."""
        memory = self._history.told() if self.mode == "memory" else self._history.last
        question = f"{memory}\n\nThis board is over. {statement_words(self.state_rule)}"
        self._ask([*self._before(), Turn("user", question)], None)


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

    def shorten(self, reply: Reply, context_tokens: int) -> None:
        """Tell the oldest boards in short if the last exchange took more than the context.

        What the turns of a board take is reckoned by their share of the letters.
        """
        took = (reply.tokens_in or 0) + (reply.tokens_out or 0)
        if took <= context_tokens:
            return
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


def _json_table(name: str, text: str, *, texts: bool = False) -> dict[str, Any]:
    """Read a JSON object in a text; raises ValueError."""
    try:
        table = json.loads(text)
    except ValueError:
        table = None
    if not isinstance(table, dict) or (
        texts and not all(isinstance(x, str) for x in table.values())
    ):
        of = " of texts" if texts else ""
        raise ValueError(f"{name}: expected a JSON object{of} in a text, found {text!r}")
    return table


def _boards(name: str, text: str) -> frozenset[int]:
    """Read numbers of boards between commas; raises ValueError."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not all(part.isdecimal() and int(part) for part in parts):
        raise ValueError(f"{name}: expected numbers from 1 between commas, found {text!r}")
    return frozenset(map(int, parts))
