"""A language model played by a stub server on this machine."""

import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pytest

from gnomon._io import http_client
from gnomon.errors import ConfigError, GnomonError
from gnomon.game import DEFAULT_SPEC, draw_boards
from gnomon.learners import make_learner, play_trial
from gnomon.learners.external.openai_http import INSTRUCTIONS
from gnomon.rules import parse


class Stub:
    """Answers requests with what a function of the request says, and keeps them."""

    def __init__(self):
        self.requests = []
        self.headers = []
        self.say = lambda request: "MOVE 0 0"

    def answer(self, request):
        self.requests.append(request)
        said = self.say(request)
        if isinstance(said, tuple):
            return said
        return 200, {"choices": [{"message": {"role": "assistant", "content": said}}]}


@pytest.fixture
def stub():
    stub = Stub()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            stub.headers.append(dict(self.headers))
            status, answer = stub.answer(json.loads(body))
            data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    stub.url = f"http://127.0.0.1:{server.server_port}/v1/chat/completions"
    yield stub
    server.shutdown()
    thread.join()
    server.server_close()


def played(stub, rule="(*,*,*,*,1)", n_boards=1, horizon=100, **settings):
    rng = np.random.default_rng(0)
    settings = {"model": "stub", "url": stub.url} | settings
    learner = make_learner("openai_http", DEFAULT_SPEC, rng=rng, **settings)
    boards = draw_boards(n_boards, rng=np.random.default_rng(1))
    return play_trial(learner, parse(rule), boards, horizon=horizon)


def user(request):
    return request["messages"][-1]["content"]


def first_id(request):
    return user(request).split("holds now:\nid ")[1].split(":")[0]


def test_a_model_that_reads_the_board_clears_it(stub):
    stub.say = lambda request: f"I think, MOVE 99 9 is no good.\n**move {first_id(request)}  1**"
    log = played(stub, n_boards=2)
    assert log.outcomes.tolist() == [0] * 18
    request = stub.requests[10]
    assert request["model"] == "stub"
    assert request["temperature"] == 0
    assert request["messages"][0] == {"role": "system", "content": INSTRUCTIONS}
    assert "Board 1: MOVE 0 1 (" in user(request)
    assert user(request).count("ACCEPTED") == 10
    assert "Board 2 holds now:\nid 1: " in user(request)
    assert len({request["seed"] for request in stub.requests}) == 18


def test_repeats_are_admonished_and_at_last_attempted(stub):
    stub.say = lambda request: "MOVE 0 0"
    log = played(stub, horizon=2)
    assert log.outcomes.tolist() == [4, 4]
    assert log.actions[0] == log.actions[1]
    assert len(stub.requests) == 1 + 3
    roles = [message["role"] for message in stub.requests[-1]["messages"]]
    assert roles == ["system", "user", "assistant", "user", "assistant", "user"]
    assert "has failed already" in user(stub.requests[-1])


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ("I give up", "no line of the form MOVE id bucket"),
        ("MOVE 77 1", "There is no piece 77"),
        ("MOVE 0 4", "There is no bucket 4"),
    ],
)
def test_an_answer_that_is_no_attempt_is_admonished(stub, said, fault):
    stub.say = lambda request: said if len(request["messages"]) == 2 else "MOVE 0 1"
    assert played(stub, horizon=1).outcomes.tolist() == [0]
    assert fault in user(stub.requests[1])


def test_what_is_done_without_an_answer(stub):
    stub.say = lambda request: "hm"
    with pytest.raises(GnomonError, match="expected an attempt, found none in 2 answers"):
        played(stub, max_tries=2)
    log = played(stub, without_answer="random", max_requests=5, horizon=30)
    assert len(stub.requests) == 2 + 5
    assert set(log.outcomes.tolist()) == {0, 4}
    with pytest.raises(GnomonError, match="found none in all 1 requests, on board 1"):
        played(stub, max_requests=1)


def test_history_is_cut(stub):
    stub.say = lambda request: f"MOVE {first_id(request)} 1"
    played(stub, max_history=2)
    assert user(stub.requests[-1]).count("ACCEPTED") == 2
    stub.requests.clear()
    played(stub, max_history=0)
    assert "Nothing yet." in user(stub.requests[-1])


def test_the_key_is_sent_and_a_busy_server_asked_again(stub, monkeypatch):
    monkeypatch.setenv("A_KEY", "secret")
    monkeypatch.setattr(http_client, "_FIRST_PAUSE_S", 0.0)
    stub.say = lambda request: (429, {}) if len(stub.requests) == 1 else "MOVE 0 1"
    assert played(stub, horizon=1, key_variable="A_KEY").outcomes.tolist() == [0]
    assert [headers["Authorization"] for headers in stub.headers] == ["Bearer secret"] * 2


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((404, {"error": "no such model"}), 'status 404: {"error": "no such model"}'),
        ((200, b"<html>"), "expected JSON, found b'<html>'"),
        ((200, b"[" * 200_000), "expected JSON, found b'"),
        ((302, b"over\nthere"), "status 302: over there"),
        ((200, {"choices": []}), "expected choices.0..message.content in the answer, found"),
        ((200, {"choices": [{"message": {"content": None}}]}), "expected choices"),
    ],
)
def test_an_endpoint_that_does_not_answer_so_is_an_error(stub, answer, message):
    stub.say = lambda request: answer
    with pytest.raises(GnomonError, match=message):
        played(stub)


def test_an_endpoint_that_is_not_there():
    class Nowhere:
        url = "http://127.0.0.1:9/v1"

    with pytest.raises(GnomonError, match=r"127.0.0.1:9/v1: cannot be reached: .*refused"):
        played(Nowhere)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": ""}, "model: expected the name of a model, found ''"),
        ({"url": "file:///etc"}, "url: expected http://... or https://..., found 'file:///etc'"),
        (
            {"url": "http://:80/v1"},
            "url: expected http://... or https://..., found 'http://:80/v1'",
        ),
        ({"url": "http://[::1/v1"}, "url: expected http://... or https://..., found 'http"),
        ({"url": "http://127.0.0.1:99999/v1"}, "url: expected http://... or https://..., found "),
        ({"timeout_s": 1e10}, "timeout_s: expected a number above 0 and at most 1,000,000, found "),
        ({"max_tries": 0}, "max_tries: expected a number from 1 to 100, found 0"),
        ({"temperature": 3}, "temperature: expected a number from 0 to 2, found 3.0"),
        ({"without_answer": "stop"}, "without_answer: expected 'error' or 'random', found 'stop'"),
    ],
)
def test_a_wrong_setting_is_told(settings, message):
    with pytest.raises(ConfigError, match=f"learner 'openai_http': {message}"):
        make_learner(
            "openai_http",
            DEFAULT_SPEC,
            rng=np.random.default_rng(0),
            **{"model": "stub", **settings},
        )


@pytest.fixture
def raw():
    """Return an endpoint that sends the given pieces, a moment apart, to whoever connects."""
    listener = socket.create_server(("127.0.0.1", 0))

    class Raw:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        pieces = ()

    def serve():
        connection, _ = listener.accept()
        with connection:
            connection.recv(65536)
            for piece in Raw.pieces:
                try:
                    connection.sendall(piece)
                except OSError:
                    return
                time.sleep(0.05)

    thread = threading.Thread(target=serve)
    thread.start()
    yield Raw
    thread.join()
    listener.close()


def test_the_time_is_that_of_the_whole_answer(raw):
    raw.pieces = (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n", *[b" "] * 99)
    with pytest.raises(GnomonError, match=r"expected an answer within 0.5 s"):
        played(raw, timeout_s=0.5)


def test_what_is_no_http(raw):
    raw.pieces = (b"\x00\x01 who are you?\r\n\r\n",)
    with pytest.raises(GnomonError, match=r"expected an answer in HTTP, found BadStatusLine"):
        played(raw)


def test_the_key_is_sent_nowhere_else(raw, stub, monkeypatch):
    monkeypatch.setenv("A_KEY", "secret")
    raw.pieces = (f"HTTP/1.1 302 Found\r\nLocation: {stub.url}\r\n\r\n".encode(),)
    with pytest.raises(GnomonError, match="status 302"):
        played(raw, key_variable="A_KEY")
    assert not stub.headers
