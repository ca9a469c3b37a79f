"""The provider of these tests, asked by the clients that real providers publish."""

import pytest

from learners.language_model.provider import serving

MOVE = {
    "type": "object",
    "properties": {"column": {"type": "integer"}},
    "required": ["column"],
    "additionalProperties": False,
}
BOARD = "Board 1 holds now:\ncolumn 2, row 3: red star"
ASKED = [{"role": "user", "content": BOARD}]


@pytest.fixture
def provider():
    with serving() as found:
        yield found


def chat(provider, **how):
    openai = pytest.importorskip("openai", reason="the client openai is not installed")
    client = openai.OpenAI(api_key="k", base_url=provider.url, max_retries=3, timeout=5.0, **how)
    return openai, client.chat.completions.create


def messages(provider):
    anthropic = pytest.importorskip("anthropic", reason="the client anthropic is not installed")
    url = provider.url.removesuffix("/v1")
    client = anthropic.Anthropic(api_key="k", base_url=url, max_retries=3, timeout=5.0)
    return anthropic, client.messages.create


def test_chat(provider):
    openai, ask = chat(provider)
    answer = ask(model="plays", messages=ASKED, reasoning_effort="low", max_completion_tokens=99)
    assert answer.choices[0].message.content.endswith("MOVE 2 3 0")
    assert answer.choices[0].finish_reason == "stop"
    usage = answer.usage
    assert usage.completion_tokens_details.reasoning_tokens == 30 < usage.completion_tokens
    assert usage.prompt_tokens_details.cached_tokens == 10
    for model in ("limited", "overloaded"):
        assert ask(model=model, messages=ASKED).choices
    with pytest.raises(openai.BadRequestError) as caught:
        ask(model="reasons", messages=ASKED, temperature=0)
    assert (caught.value.code, caught.value.param) == ("unsupported_value", "temperature")
    with pytest.raises(openai.RateLimitError) as caught:
        ask(model="quota", messages=ASKED)
    assert caught.value.code == "insufficient_quota"
    assert ask(model="refuses", messages=ASKED).choices[0].message.refusal
    assert ask(model="filters", messages=ASKED).choices[0].finish_reason == "content_filter"


def test_chat_with_a_tool_and_a_silent_server(provider):
    _, ask = chat(provider)
    provider.say = lambda body: '{"column": 2}'
    function = {"name": "move", "parameters": MOVE, "strict": True}
    answer = ask(
        model="plays",
        messages=ASKED,
        tools=[{"type": "function", "function": function}],
        tool_choice={"type": "function", "function": {"name": "move"}},
    )
    [call] = answer.choices[0].message.tool_calls
    assert call.function.arguments == '{"column": 2}'
    _, ask = chat(provider)
    provider.hangs_s = 0.6
    assert ask(model="hangs", messages=ASKED, timeout=0.2).choices
    assert len([body for body in provider.requests if body["model"] == "hangs"]) == 2


def test_messages(provider):
    anthropic, ask = messages(provider)
    answer = ask(model="plays", max_tokens=99, system="Play.", messages=ASKED)
    assert answer.content[-1].text.endswith("MOVE 2 3 0")
    assert answer.stop_reason == "end_turn"
    assert answer.usage.input_tokens == 90
    for model in ("limited", "overloaded"):
        assert ask(model=model, max_tokens=99, messages=ASKED).content
    refused = ask(model="filters", max_tokens=99, messages=ASKED)
    assert (refused.stop_reason, refused.content) == ("refusal", [])
    with pytest.raises(anthropic.BadRequestError, match="Unexpected role"):
        ask(model="plays", max_tokens=9, messages=[{"role": "system", "content": "Play."}])
    provider.say = lambda body: '{"column": 2}'
    answer = ask(
        model="plays",
        max_tokens=99,
        messages=ASKED,
        tools=[{"name": "move", "input_schema": MOVE}],
        tool_choice={"type": "tool", "name": "move"},
        output_config={"effort": "low", "format": {"type": "json_schema", "schema": MOVE}},
    )
    assert answer.content[-1].input == {"column": 2}


def test_the_learner_sends_what_the_clients_send(provider, monkeypatch):
    """The fields and headers of our requests are those of the clients."""
    _, ask = chat(provider)
    ask(model="plays", messages=ASKED)
    _, ask = messages(provider)
    ask(model="plays", max_tokens=99, messages=ASKED)
    theirs = [dict(headers) for headers in provider.headers]
    from gnomon.learners.language_model.endpoint import Endpoint, Turn

    monkeypatch.setenv("A_KEY", "k")
    for form, path, other in (
        ("chat", "chat/completions", theirs[0]),
        ("messages", "messages", theirs[1]),
    ):
        ours = Endpoint(
            url=f"{provider.url}/{path}",
            form=form,
            fields={"model": "plays", "max_tokens": 99},
            answer="line",
            system_role="system",
            headers={},
            key_variable="A_KEY",
            timeout_s=5.0,
            max_sends=1,
        )
        answer, _ = ours.send(ours.body([Turn("user", BOARD)]))
        assert ours.read(answer).text.endswith("MOVE 2 3 0")
        sent = {name.lower(): value for name, value in provider.headers[-1].items()}
        wanted = {name.lower(): value for name, value in other.items()}
        for name in ("content-type", "anthropic-version"):
            assert sent.get(name) == wanted.get(name)
        assert "authorization" in sent
        assert wanted.get("authorization", sent["authorization"]) == sent["authorization"]
