"""Two forms of asking a language model over HTTP: OpenAI's chat and Anthropic's messages."""

from __future__ import annotations

import base64
import json
import os
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from gnomon._io.http_client import HttpClient, RefusedError
from gnomon.errors import GnomonError
from gnomon.execution.executor import is_stopped
from gnomon.learners.language_model.prompt import MOVE_SCHEMA, AnswerForm

Form: TypeAlias = Literal["chat", "messages"]
#: What became of an answer, as far as it can be told without reading it for a move.
Finish: TypeAlias = Literal["answered", "refused", "filtered", "cut off"]

_BUSY = (408, 409, 429, 529)
_HOPELESS = ("insufficient_quota",)
_UNSUPPORTED = ("unsupported_value", "unsupported_parameter")
#: Seconds: the first pause, the longest of our own, and the longest that a server may ask for.
_FIRST_PAUSE_S, _LONGEST_PAUSE_S, _LONGEST_WAIT_S = 0.5, 30.0, 120.0
_ENDS: Mapping[str, Finish] = {
    "refusal": "refused",
    "content_filter": "filtered",
    "length": "cut off",
    "max_tokens": "cut off",
    "model_context_window_exceeded": "cut off",
}
_TOOL = "move"


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of a conversation: who speaks, the words, and a PNG beside them."""

    role: Literal["system", "user", "assistant"]
    text: str
    picture: bytes | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered, and what it cost.

    ``tokens_in`` counts all tokens of the request, ``tokens_cached`` those of them that the
    provider had cached, ``tokens_out`` all of the answer, ``tokens_reasoning`` those of them that
    were thought and not said. None where the endpoint does not say.
    """

    text: str
    finish: Finish
    model: str
    tokens_in: int | None
    tokens_cached: int | None
    tokens_out: int | None
    tokens_reasoning: int | None


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """Where a model is asked, in which form, and with which fields.

    Parameters as in :class:`~gnomon.learners.language_model.player.LanguageModel`.
    """

    url: str
    form: Form
    fields: Mapping[str, Any]
    answer: AnswerForm
    system_role: str
    headers: Mapping[str, str]
    key_variable: str
    timeout_s: float
    max_sends: int

    def body(self, turns: Sequence[Turn], *, statement: bool = False) -> dict[str, Any]:
        """Return the request that asks for the next turn; a statement is not bound to a move."""
        answer = "line" if statement else self.answer
        if self.form == "chat":
            body: dict[str, Any] = {"messages": [self._chat_message(turn) for turn in turns]}
            return _merged(body | _chat_answer(answer), self.fields)
        system = "\n\n".join(turn.text for turn in turns if turn.role == "system")
        messages = [_messages_message(turn) for turn in turns if turn.role != "system"]
        body = {"system": system, "messages": messages}
        return _merged(body | _messages_answer(answer), self.fields)

    def _chat_message(self, turn: Turn) -> dict[str, Any]:
        role = self.system_role if turn.role == "system" else turn.role
        if turn.picture is None:
            return {"role": role, "content": turn.text}
        address = f"data:image/png;base64,{base64.b64encode(turn.picture).decode()}"
        picture = {"type": "image_url", "image_url": {"url": address}}
        return {"role": role, "content": [{"type": "text", "text": turn.text}, picture]}

    def read(self, answer: Any) -> Reply:
        """Return what an answer says; raises GnomonError if it is not of the form."""
        try:
            return (_chat_reply if self.form == "chat" else _messages_reply)(answer)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError):
            wanted = "choices[0].message" if self.form == "chat" else "content and stop_reason"
            found = str(answer)[:200]
            raise GnomonError(
                f"{self.url}: expected {wanted} in the answer, found {found}"
            ) from None

    def send(self, body: Mapping[str, Any]) -> tuple[Any, int]:
        """Return the answer to a request, and how often it had to be sent.

        It is sent again, after the time that the server asks for (else a pause that doubles, with
        jitter), while the server is busy, cannot be reached, is silent, dies before the end of its
        answer, or answers what is none of the form.

        Raises
        ------
        GnomonError
            There is no answer, or one that refuses for good.
        """
        client, pause = self._client(), _FIRST_PAUSE_S
        failure: GnomonError
        for n_sends in range(1, self.max_sends + 1):
            if is_stopped():
                raise GnomonError("the run was stopped")
            try:
                answer = client.ask("POST", "", dict(body))
                self.read(answer)
                return answer, n_sends
            except RefusedError as error:
                if not _is_busy(error):
                    raise GnomonError(_told(error)) from None
                failure, wait = error, error.wait_s
            except GnomonError as error:
                failure, wait = error, 0.0
            if n_sends == self.max_sends or wait > _LONGEST_WAIT_S:
                raise GnomonError(f"{failure} (sent {n_sends} times)")
            time.sleep(wait or pause * random.uniform(0.5, 1.0))
            pause = min(2 * pause, _LONGEST_PAUSE_S)
        raise AssertionError

    def _client(self) -> HttpClient:
        """Return a client whose key and headers come from the environment."""
        headers = {name: _variable(where) for name, where in self.headers.items()}
        key = _variable(self.key_variable) if self.key_variable else ""
        if self.form == "messages":
            headers.setdefault("anthropic-version", "2026-10-21")
        return HttpClient(self.url, key, timeout_s=self.timeout_s, max_tries=1, headers=headers)


def reply_of(answer: Any) -> Reply:
    """Return what a kept answer says, whichever form it has."""
    return _chat_reply(answer) if "choices" in answer else _messages_reply(answer)


def _merged(body: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request with further fields; a table in both has the entries of both."""
    both = {
        name: body[name] | dict(value)
        for name, value in fields.items()
        if isinstance(body.get(name), dict) and isinstance(value, Mapping)
    }
    return {**body, **fields, **both}


def _variable(name: str) -> str:
    try:
        return os.environ[name]
    except KeyError:
        raise GnomonError(f"expected the environment variable {name}, found none") from None


def _is_busy(error: RefusedError) -> bool:
    if error.error.get("code") in _HOPELESS or error.error.get("type") in _HOPELESS:
        return False
    return error.status in _BUSY or error.status >= 500


def _told(error: RefusedError) -> str:
    """Name the setting that sends a field which the model refuses."""
    field = error.error.get("param")
    if error.error.get("code") == "context_length_exceeded":
        return f"{error} (set a lower context_tokens or max_history)"
    if error.error.get("code") in _UNSUPPORTED and field:
        return f"{error} (this model refuses the field {field!r}: leave that setting out)"
    return str(error)


def _chat_answer(form: AnswerForm) -> dict[str, Any]:
    schema = dict(MOVE_SCHEMA)
    if form == "json":
        named = {"name": _TOOL, "strict": True, "schema": schema}
        return {"response_format": {"type": "json_schema", "json_schema": named}}
    if form == "tool":
        tool = {"name": _TOOL, "parameters": schema, "strict": True}
        return {
            "tools": [{"type": "function", "function": tool}],
            "tool_choice": {"type": "function", "function": {"name": _TOOL}},
        }
    return {}


def _messages_answer(form: AnswerForm) -> dict[str, Any]:
    schema = dict(MOVE_SCHEMA)
    if form == "json":
        return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}
    if form == "tool":
        return {
            "tools": [{"name": _TOOL, "input_schema": schema}],
            "tool_choice": {"type": "tool", "name": _TOOL},
        }
    return {}


def _messages_message(turn: Turn) -> dict[str, Any]:
    if turn.picture is None:
        return {"role": turn.role, "content": turn.text}
    data = base64.b64encode(turn.picture).decode()
    source = {"type": "base64", "media_type": "image/png", "data": data}
    picture = {"type": "image", "source": source}
    return {"role": turn.role, "content": [picture, {"type": "text", "text": turn.text}]}


def _chat_reply(answer: Any) -> Reply:
    choice = answer["choices"][0]
    message = choice["message"]
    calls = message.get("tool_calls") or []
    content = message.get("content")
    text = str(calls[-1]["function"]["arguments"]) if calls else _text_of(content)
    finish = _ENDS.get(choice.get("finish_reason") or "", "answered")
    if message.get("refusal"):
        finish, text = "refused", str(message["refusal"])
    if content is None and not calls and finish == "answered":
        raise ValueError("no content")
    usage = answer.get("usage") or {}
    asked, said = (usage.get(f"{x}_tokens_details") or {} for x in ("prompt", "completion"))
    return Reply(
        text,
        finish,
        str(answer.get("model", "")),
        usage.get("prompt_tokens"),
        asked.get("cached_tokens"),
        usage.get("completion_tokens"),
        said.get("reasoning_tokens"),
    )


def _text_of(content: Any) -> str:
    """Return the text of a message, which may come in parts."""
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(part["text"] for part in content if part.get("type") == "text")


def _messages_reply(answer: Any) -> Reply:
    blocks, stop = answer["content"], answer["stop_reason"]
    calls = [block["input"] for block in blocks if block["type"] == "tool_use"]
    text = json.dumps(calls[-1]) if calls else _text_of(blocks)
    usage = answer.get("usage") or {}
    read, made = (usage.get(f"cache_{x}_input_tokens") or 0 for x in ("read", "creation"))
    asked = usage.get("input_tokens")
    return Reply(
        text,
        _ENDS.get(stop, "answered"),
        str(answer.get("model", "")),
        None if asked is None else asked + read + made,
        read if usage else None,
        usage.get("output_tokens"),
        (usage.get("output_tokens_details") or {}).get("thinking_tokens"),
    )
