"""The client of the leaderboard's API: an answer that was cut off is asked for again."""

import socket
import threading

import pytest

from gnomon.errors import LeaderboardError
from gnomon.leaderboard.client.api_client import ApiClient

WHOLE = b'{"state": "verified"}'
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"


def answering(bodies):
    """Serve these bodies, one a connection, each under the headers of the whole; return the URL."""
    listening = socket.create_server(("127.0.0.1", 0))
    listening.settimeout(20)

    def serve():
        with listening:
            for body in bodies:
                connection, _ = listening.accept()
                with connection:
                    connection.recv(65536)
                    connection.sendall(HEAD % len(WHOLE) + body)

    threading.Thread(target=serve, daemon=True).start()
    return f"http://127.0.0.1:{listening.getsockname()[1]}"


@pytest.mark.parametrize("cut", [b"", WHOLE[:7]])
def test_what_a_dying_server_left_out_is_asked_for_again(cut):
    client = ApiClient(answering([cut, cut, WHOLE]), "token", patience_s=20)
    assert client.get("/api/submissions/1") == {"state": "verified"}


def test_an_answer_that_is_always_cut_off_is_no_answer():
    client = ApiClient(answering([b""]), "token", patience_s=0)
    with pytest.raises(LeaderboardError, match="cannot be reached: IncompleteRead"):
        client.get("/api/submissions/1")
