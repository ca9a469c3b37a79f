"""A language model played by a provider on this machine."""

import json

import numpy as np
import pytest

from gnomon.errors import ConfigError, GnomonError
from gnomon.game import DEFAULT_SPEC, draw_boards
from gnomon.learners import make_learner, play_trial
from gnomon.learners.language_model import endpoint
from gnomon.learners.language_model.exchanges import Asking, exchanges_of
from gnomon.learners.language_model.prompt import instructions
from gnomon.rules import parse
from learners.language_model.provider import pieces, play, serving, text_of

BY_COLOR = "(*,*,red,*,0) (*,*,black,*,1) (*,*,blue,*,2) (*,*,yellow,*,3)"


@pytest.fixture
def provider(monkeypatch):
    monkeypatch.setenv("A_KEY", "secret")
    monkeypatch.setattr(endpoint, "_FIRST_PAUSE_S", 0.01)
    with serving() as found:
        yield found


def learner_of(provider, **settings):
    where = "messages" if settings.get("form") == "messages" else "chat/completions"
    given = {"model": "plays", "url": f"{provider.url}/{where}", "key_variable": "A_KEY"}
    if settings.get("form") == "messages":
        given["max_tokens"] = 1000
    return make_learner(
        "language_model", DEFAULT_SPEC, rng=np.random.default_rng(0), **given | settings
    )


def played(provider, rule=BY_COLOR, n_boards=1, horizon=100, kept_in=None, **settings):
    learner = learner_of(provider, **settings)
    boards = draw_boards(n_boards, rng=np.random.default_rng(1))
    if kept_in is None:
        return play_trial(learner, parse(rule), boards, horizon=horizon)
    with learner.kept_in(Asking(kept_in), "t"):
        return play_trial(learner, parse(rule), boards, horizon=horizon)


@pytest.mark.parametrize("form", ["chat", "messages"])
def test_a_model_that_knows_the_rule_clears_boards(provider, form):
    log = played(provider, n_boards=2, form=form)
    assert log.outcomes.tolist() == [0] * 18
    request = provider.requests[10]
    assert not {"temperature", "seed", "reasoning_effort", "max_completion_tokens"} & request.keys()
    told = request["system"] if form == "messages" else request["messages"][0]["content"]
    assert told == instructions("line")
    said = text_of(request["messages"][-1])
    assert said.startswith("Attempts so far:\nBoard 1\n1. ")
    assert said.count(": yes") == 10
    assert "Board 2 holds now:\ncolumn " in said
    assert len(provider.requests) == 18
    assert all(headers["Authorization"] == "Bearer secret" for headers in provider.headers)


def test_the_replies_are_the_words_of_the_browser(provider):
    provider.say = lambda body: "MOVE {} {} 1".format(*pieces(body)[0][:2])
    played(provider, rule="(*,square,*,*,0)", horizon=3)
    said = text_of(provider.requests[-1]["messages"][-1])
    assert ": no\n" in said + "\n" or ": not now\n" in said + "\n"
    assert "DENIED" not in said


def test_what_is_set_is_sent(provider):
    settings = {
        "temperature": 0.5,
        "reasoning_effort": "low",
        "max_tokens": 77,
        "send_seed": True,
        "system_role": "developer",
        "extra": '{"top_p": 0.9, "temperature": 0.7}',
        "header_variables": '{"X-Organization": "A_KEY"}',
    }
    played(provider, horizon=1, **settings)
    [request] = provider.requests
    assert request["temperature"] == 0.7  # extra fields come last
    assert (request["reasoning_effort"], request["max_completion_tokens"]) == ("low", 77)
    assert request["top_p"] == 0.9
    assert isinstance(request["seed"], int)
    assert request["messages"][0]["role"] == "developer"
    assert provider.headers[0]["X-Organization"] == "secret"
    played(provider, horizon=1, form="messages", reasoning_effort="low", answer="line")
    assert provider.requests[-1]["output_config"] == {"effort": "low"}


def as_record(body):
    x, y, color, _ = pieces(body)[0]
    buckets = {"red": 0, "black": 1, "blue": 2, "yellow": 3}
    return json.dumps({"column": int(x), "row": int(y), "bucket": buckets[color]})


@pytest.mark.parametrize("form", ["chat", "messages"])
@pytest.mark.parametrize("answer", ["json", "tool"])
def test_answers_as_json_and_by_a_tool(provider, form, answer):
    provider.say = as_record
    log = played(provider, form=form, answer=answer, reasoning_effort="low")
    assert log.outcomes.tolist() == [0] * 9
    request = provider.requests[0]
    if answer == "tool":
        assert request["tool_choice"]
    elif form == "chat":
        assert request["response_format"]["json_schema"]["strict"] is True
    else:
        assert request["output_config"].keys() == {"format", "effort"}


@pytest.mark.parametrize("form", ["chat", "messages"])
def test_a_board_as_grid_and_as_picture(provider, form):
    provider.say = lambda body: "MOVE 1 1 0"
    with pytest.raises(GnomonError, match="expected a move, found none"):
        played(provider, form=form, observation="grid", max_unreadable=1)
    assert "(0) +------" in text_of(provider.requests[0]["messages"][-1])
    with pytest.raises(GnomonError, match="expected a move, found none"):
        played(provider, form=form, observation="picture", max_unreadable=1)
    parts = provider.requests[-1]["messages"][-3]["content"]
    [picture] = [part for part in parts if part["type"] != "text"]
    assert "iVBORw0KGgo" in json.dumps(picture)  # how a PNG file begins


def test_an_unreadable_answer_is_asked_for_once_more_and_never_a_move(provider, tmp_path):
    n_asked = []

    def say(body):
        n_asked.append(1)
        return "hm" if len(n_asked) in (1, 3, 4) else play(body)

    provider.say = say
    kept = tmp_path / "exchanges.sqlite"
    log = played(provider, kept_in=kept)
    assert log.outcomes.tolist() == [0] * 9
    kinds = [exchange["kind"] for exchange in exchanges_of(kept)]
    assert kinds[:5] == ["unreadable", "move", "unreadable", "unreadable", "move"]
    assert kinds[5:] == ["move"] * 7
    assert "1 of your answers could not be read." in text_of(provider.requests[4]["messages"][-1])
    assert [exchange["attempt"] for exchange in exchanges_of(kept)[:6]] == [1, 1, 2, 2, 2, 3]


@pytest.mark.parametrize(
    ("model", "kind"),
    [("refuses", "refused"), ("filters", "filtered"), ("overthinks", "cut off")],
)
def test_answers_without_a_move_are_told_apart(provider, tmp_path, model, kind):
    kept = tmp_path / "exchanges.sqlite"
    with pytest.raises(GnomonError, match=f"in 2 answers and as many asked for again; .* {kind}$"):
        played(provider, model=model, kept_in=kept, max_unreadable=2)
    assert [exchange["kind"] for exchange in exchanges_of(kept)] == [kind] * 4


@pytest.mark.parametrize("model", ["limited", "overloaded", "dies", "junk"])
def test_trouble_that_passes_is_waited_for(provider, model):
    assert played(provider, model=model).outcomes.tolist() == [0] * 9
    assert set(provider.answered.values()) == {1}


def test_an_answer_that_does_not_come_is_asked_for_again(provider):
    provider.hangs_s = 1.0
    log = played(provider, model="hangs", horizon=1, timeout_s=0.3)
    assert log.outcomes.tolist() == [0]
    assert len(provider.requests) == 2


def test_the_time_that_the_server_asks_for_is_waited(provider, monkeypatch):
    waited = []
    monkeypatch.setattr(endpoint.time, "sleep", waited.append)
    played(provider, model="limited", horizon=1)
    assert waited == [0.05, 0.05]


def test_what_never_passes_fails_at_once(provider):
    with pytest.raises(GnomonError, match=r"status 429: no money$"):
        played(provider, model="quota")
    with pytest.raises(GnomonError, match=r"refuses the field 'temperature': leave that setting"):
        played(provider, model="reasons", temperature=0.0)
    with pytest.raises(GnomonError, match=r"refuses the field 'max_tokens'"):
        played(provider, model="reasons", max_tokens=9, token_field="max_tokens")
    assert len(provider.requests) == 3
    assert played(provider, model="reasons", max_tokens=9).outcomes.tolist() == [0] * 9


def test_a_key_that_is_not_there(provider, monkeypatch):
    monkeypatch.delenv("A_KEY")
    with pytest.raises(GnomonError, match="expected the environment variable A_KEY, found none"):
        played(provider)
    assert not provider.requests


def test_nobody_there():
    class Nowhere:
        url = "http://127.0.0.1:9/v1"

    with pytest.raises(GnomonError, match=r"cannot be reached: .*refused.* \(sent 1 times\)"):
        played(Nowhere, key_variable="", max_sends=1)


def test_a_conversation_grows_and_its_oldest_boards_are_told_in_short(provider):
    played(provider, n_boards=3, mode="conversation")
    roles = [message["role"] for message in provider.requests[8]["messages"]]
    assert roles == ["system", *["user", "assistant"] * 8, "user"]
    assert len(provider.requests[-1]["messages"]) == 2 + 2 * 26
    last = text_of(provider.requests[9]["messages"][-1])
    assert last.startswith("9. ")
    assert "That board is over." in last
    provider.requests.clear()
    played(provider, n_boards=3, mode="conversation", context_tokens=1500)
    turns = provider.requests[-1]["messages"]
    assert turns[1]["content"].startswith("Attempts so far:\nBoard 1\n1. ")
    assert turns[2]["content"] == "I remember."
    assert len(turns) < 2 + 2 * 26


def test_the_memory_is_cut(provider):
    played(provider, max_history=2)
    assert text_of(provider.requests[-1]["messages"][-1]).count(": yes") == 2
    played(provider, max_history=0, horizon=1)
    assert "none yet" in text_of(provider.requests[-1]["messages"][-1])


def test_the_rule_is_asked_for_after_chosen_boards(provider, tmp_path):
    provider.say = lambda body: (
        BY_COLOR if "What is the rule?" in str(body["messages"][-1]) else play(body)
    )
    kept = tmp_path / "exchanges.sqlite"
    log = played(provider, n_boards=3, kept_in=kept, state_rule="language", state_after="1, 3")
    assert log.outcomes.tolist() == [0] * 27
    stated = [x for x in exchanges_of(kept) if x["kind"] == "statement"]
    assert [x["episode"] for x in stated] == [0, 2]
    assert stated[0]["answer"]["choices"][0]["message"]["content"] == BY_COLOR
    assert "What is the rule?" not in str(provider.requests[-2]["messages"])


def test_the_requests_are_bounded(provider):
    with pytest.raises(GnomonError, match="all 5 requests of max_requests are made, on board 1"):
        played(provider, max_requests=5)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": ""}, "model: expected the name of a model, found ''"),
        ({"url": "file:///etc"}, "url: expected http://... or https://..., found 'file:///etc'"),
        ({"form": "messages"}, "max_tokens: expected a number, which the form 'messages' needs"),
        ({"temperature": 3}, "temperature: expected a number from 0 to 2, found 3.0"),
        ({"temperature": "hot"}, "temperature: expected a number, found 'hot'"),
        ({"extra": "[1]"}, r"extra: expected a JSON object in a text, found '\[1\]'"),
        ({"header_variables": '{"A": 1}'}, "header_variables: expected a JSON object of texts"),
        ({"state_after": "0"}, "state_after: expected numbers from 1 between commas, found '0'"),
    ],
)
def test_a_wrong_setting_is_told(settings, message):
    with pytest.raises(ConfigError, match=f"learner 'language_model': {message}"):
        make_learner(
            "language_model",
            DEFAULT_SPEC,
            rng=np.random.default_rng(0),
            **{"model": "m"} | settings,
        )


def test_the_former_kind_says_what_to_write():
    with pytest.raises(ConfigError, match="'openai_http': expected kind 'language_model', whose"):
        make_learner("openai_http", DEFAULT_SPEC, rng=np.random.default_rng(0), model="m")
