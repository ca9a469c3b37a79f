"""The HTTP client: what is asked again, what is not, and what a refusal says."""

import socket
import threading
import time

import pytest

from gnomon.errors import GnomonError
from gnomon_board import Client
from gnomon_board.errors import RefusedError

WHOLE = b'{"state": "verified"}'
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
BUSY = b"HTTP/1.1 429 Too Many\r\nRetry-After: %s\r\nContent-Length: 0\r\n\r\n"


def serving(answers):
    """Serve these bytes, one answer a connection; return the URL."""
    listening = socket.create_server(("127.0.0.1", 0))
    listening.settimeout(20)

    def serve():
        with listening:
            for answer in answers:
                connection, _ = listening.accept()
                with connection:
                    connection.recv(65536)
                    connection.sendall(answer)

    threading.Thread(target=serve, daemon=True).start()
    return f"http://127.0.0.1:{listening.getsockname()[1]}"


def answering(bodies):
    """Serve these bodies, each under the headers of the whole."""
    return serving([HEAD % len(WHOLE) + body for body in bodies])


@pytest.mark.parametrize("cut", [b"", WHOLE[:7]])
def test_what_a_dying_server_left_out_is_asked_for_again(cut):
    client = Client(answering([cut, cut, WHOLE]), "token", patience_s=20)
    assert client.ask("GET", "/api/submissions/1") == {"state": "verified"}


def test_an_answer_that_is_always_cut_off_is_no_answer():
    client = Client(answering([b""]), "token", patience_s=0)
    with pytest.raises(GnomonError, match="cannot be reached: IncompleteRead"):
        client.ask("GET", "/api/submissions/1")


def test_a_busy_server_says_when_to_come_back():
    client = Client(serving([BUSY % b"1", HEAD % len(WHOLE) + WHOLE]), patience_s=20)
    began = time.monotonic()
    assert client.ask("GET", "/") == {"state": "verified"}
    assert time.monotonic() - began >= 1.0


def test_a_pause_beyond_the_patience_is_not_made():
    client = Client(serving([BUSY % b"60"]), patience_s=5.0)
    with pytest.raises(RefusedError, match="status 429: Too Many") as refusal:
        client.ask("GET", "/")
    assert refusal.value.status == 429


def test_a_refusal_is_told_at_once_with_its_detail():
    answer = b'HTTP/1.1 404 Not Found\r\nContent-Length: 25\r\n\r\n{"detail": "no such one"}'
    with pytest.raises(RefusedError, match=r"status 404: no such one$"):
        Client(serving([answer])).ask("GET", "/")


@pytest.mark.parametrize("url", ["ftp://host", "http://", "http://host:0", "nothing"])
def test_an_address_that_is_none(url):
    with pytest.raises(GnomonError, match="expected an address as http://HOST:PORT, found '"):
        Client(url)


def test_a_token_that_no_header_can_hold():
    with pytest.raises(GnomonError, match="expected a token of ASCII"):
        Client("http://127.0.0.1:9", "to ken")


def test_a_token_goes_to_another_machine_over_https_only():
    with pytest.raises(GnomonError, match=r"expected https:// for another machine.*--insecure"):
        Client("http://board.example.org", "token")
    for url in ("https://board.example.org", "http://127.0.0.1:8080", "http://[::1]:8080"):
        Client(url, "token")
    Client("http://board.example.org", "token", insecure=True)


def test_a_connection_is_used_again_and_a_closed_one_is_opened_again():
    listening = socket.create_server(("127.0.0.1", 0))
    listening.settimeout(20)

    def serve():
        for n_answers in (2, 1):
            connection, _ = listening.accept()
            with connection:
                for _ in range(n_answers):
                    connection.recv(65536)
                    connection.sendall(HEAD % len(WHOLE) + WHOLE)

    serving = threading.Thread(target=serve, daemon=True)
    serving.start()
    client = Client(f"http://127.0.0.1:{listening.getsockname()[1]}", patience_s=0)
    assert [client.ask("GET", "/") for _ in range(3)] == [{"state": "verified"}] * 3
    serving.join(20)
    listening.close()
    client.close()


def test_a_redirection_is_not_followed_and_the_token_goes_nowhere_else():
    asked = []
    listening = socket.create_server(("127.0.0.1", 0))
    listening.settimeout(0.2)
    elsewhere = f"http://127.0.0.1:{listening.getsockname()[1]}"
    answer = f"HTTP/1.1 302 Found\r\nLocation: {elsewhere}\r\nContent-Length: 0\r\n\r\n"
    with pytest.raises(RefusedError, match="status 302"):
        Client(serving([answer.encode()]), "secret").ask("GET", "/")
    with pytest.raises(TimeoutError):
        asked.append(listening.accept())
    listening.close()
    assert not asked
