"""A learner that is a language model, asked over HTTP for each attempt."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, final

import numpy as np
import numpy.typing as npt

from gnomon.errors import GnomonError
from gnomon.learners.base import Learner, Observation, Transition
from gnomon.learners.language_model.dialogue import Dialogue
from gnomon.learners.language_model.endpoint import Endpoint, Reply, Turn
from gnomon.learners.language_model.exchanges import Answered, Asking, Exchanges, Kind
from gnomon.learners.language_model.prompt import instructions
from gnomon.learners.settings import LONGEST_S, Range

_MOST = 1_000_000_000


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

    plain_boards_only: ClassVar[bool] = True
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
        self.dialogue = Dialogue(
            self.board_spec,
            mode=self.mode,
            observation=self.observation,
            answer=self.answer,
            max_history=self.max_history,
            context_tokens=self.context_tokens,
        )
        self._n_requests = 0
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
        while self.dialogue.n_in_vain < self.max_unreadable:
            found = self._ask(self.dialogue.turns(observation.board), observation.board)
            said = found.reply.text
            action = self.dialogue.take(said, observation.board, answered=found.kind == "move")
            self.dialogue.shorten(found.reply.tokens_in, found.reply.tokens_out)
            if action is not None:
                return action
        raise GnomonError(
            f"learner 'language_model': expected a move, found none in {self.max_unreadable} "
            f"answers and as many asked for again; the last was {found.kind}"
        )

    def observe(self, transition: Transition) -> None:
        """Write down what came of the attempt; ask for the rule after the chosen boards."""
        self.dialogue.observe(transition)
        if not (transition.terminated or transition.truncated):
            return
        n = self.dialogue.n_boards
        if self.state_rule != "never" and (not self._stated_after or n in self._stated_after):
            # The exchange is kept, and is no turn of the conversation.
            found = self._ask(self.dialogue.statement_turns(self.state_rule), None)
            self.dialogue.shorten(found.reply.tokens_in, found.reply.tokens_out)
        self.dialogue.next_board()

    def _fields(self) -> dict[str, Any]:
        """Return the fields of a request that are set, those of ``extra`` last."""
        limit = self.token_field if self.form == "chat" else "max_tokens"
        effort: dict[str, Any] = {"reasoning_effort": self.reasoning_effort}
        if self.form == "messages":
            effort = {"output_config": self.reasoning_effort and {"effort": self.reasoning_effort}}
        fields = {"model": self.model, "temperature": self.temperature, limit: self.max_tokens}
        given = {name: value for name, value in (fields | effort).items() if value is not None}
        return given | _json_table("extra", self.extra)

    def _ask(self, turns: list[Turn], codes: npt.NDArray[np.uint8] | None) -> Answered:
        """Ask for the next turn; without a board, for the rule."""
        if self._n_requests == self.max_requests:
            raise GnomonError(
                f"learner 'language_model': all {self.max_requests:,} requests of max_requests "
                f"are made, on board {self.dialogue.n_boards}"
            )
        self._n_requests += 1
        body = self._endpoint.body(turns, statement=codes is None)
        if self.send_seed:
            body["seed"] = int(self.rng.integers(2**31))
        if self._exchanges is None:
            self._exchanges = Exchanges(Asking(), "", self.model)
        return self._exchanges.ask(
            body,
            self._endpoint.send,
            self._endpoint.read,
            lambda reply: self._kind(reply, codes),
            episode=self.dialogue.n_boards - 1,
            attempt=self.dialogue.n_attempts + 1,
        )

    def _kind(self, reply: Reply, codes: npt.NDArray[np.uint8] | None) -> Kind:
        if reply.finish != "answered":
            return reply.finish
        if codes is None:
            return "statement"
        return "unreadable" if self.dialogue.read(reply.text, codes) is None else "move"


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
