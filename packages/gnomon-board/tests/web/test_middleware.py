"""Hosts, sizes, headers, forged requests, and how often: what stands before every handler."""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from collections.abc import Iterator, MutableMapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Never

import httpx
import pytest

from app_client import AppClient
from gnomon_board import Settings, create_app
from gnomon_board.web.limits import Turns
from gnomon_board.web.middleware import Gate, is_allowed_host
from serving import serving
from small_season import make_account
from submitted import CSRF, bearer, csrf_of, register

MANIFEST = {"learner": {"kind": "uniform", "name": "x"}, "log_sha256": "0" * 64}


async def staying() -> Never:
    """Receive nothing more of a client that stays connected."""
    await asyncio.Future()


def request(**about: Any) -> dict[str, Any]:
    """Return the scope of a request by an address."""
    usual = {"type": "http", "method": "GET", "scheme": "http", "path": "/x", "query_string": b""}
    usual |= {"raw_path": b"/x", "root_path": "", "server": ("127.0.0.1", 8080)}
    address, host = about.pop("address", "192.0.2.7"), about.pop("host", b"127.0.0.1")
    headers = [(b"host", host), *about.pop("headers", ())]
    return usual | {"client": (address, 1), "headers": headers} | about


async def asked(app: Any, receive: Any = staying, **about: Any) -> list[MutableMapping[str, Any]]:
    """Make a request of an application, or of the gate before it; return what it sends."""
    said: list[MutableMapping[str, Any]] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        said.append(message)

    await app(request(**about), receive, send)
    return said


def gate_of(settings: Settings, app: Any = None, turns: int = 1) -> Gate:
    return Gate(app, settings, Turns(turns), lambda *_: None, lambda _: True)


@pytest.mark.parametrize(
    ("host", "good"),
    [
        ("127.0.0.1", True),
        ("localhost:8080", True),
        ("LOCALHOST.", True),
        ("[::1]:80", True),
        ("board.example.org", True),
        ("example.org", False),
        ("evilexample.org", False),
        ("evil.org", False),
        ("127.0.0.1.evil.org", False),
        ("127.0.0.1@evil.org", False),
        ("127.0.0.1:80:80", False),
        ("localhost/evil", False),
        ("localhost, evil.org", False),
        ("[::1", False),
        ("", False),
    ],
)
def test_hosts(host, good):
    allowed = (*Settings.allowed_hosts, "*.example.org")
    assert is_allowed_host(host, allowed) == good


@pytest.mark.parametrize("path", ["/healthz", "/", "/static/none", "/openapi.json"])
def test_another_host_is_not_answered(client, path):
    answer = client.get(path, headers={"Host": "evil.org"})
    assert (answer.status_code, answer.json()["detail"]) == (
        400,
        "unknown host name of this server",
    )


@pytest.mark.parametrize("path", ["/healthz", "/", "/api/nothing", "/openapi.json"])
def test_every_answer_bears_the_headers(client, path):
    headers = client.get(path).headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "same-origin"
    assert "server" not in headers


def test_even_a_mistake_of_ours_bears_them_and_tells_nothing(settings, database):
    app = create_app(settings, database)

    @app.get("/api/broken")
    def broken() -> None:
        raise RuntimeError("the password is hush")

    with AppClient(app, raise_app_exceptions=False) as client:
        answer = client.get("/api/broken")
    assert answer.status_code == 500
    noted = answer.headers["X-Request-ID"]
    assert answer.json() == {"detail": f"internal error; logged as {noted}"}
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_what_is_announced_as_too_large_is_not_read(client, token):
    big = b"x" * ((1 << 20) + 1)
    assert client.post("/api/tokens", content=big, headers=bearer(token)).status_code == 413


@pytest.mark.parametrize("headers", [[], [(b"cookie", b"gnomon_session=made-up")]])
@pytest.mark.parametrize("length", [b"2000000", None], ids=["announced", "in parts"])
def test_of_a_stranger_no_large_body_is_read(app, headers, length):
    """It would lie in the server's memory before anybody is asked who they are."""
    n_read = 0

    async def receive():
        nonlocal n_read
        n_read += 1
        return {"type": "http.request", "body": bytes(16384), "more_body": n_read < 100}

    sized = (b"transfer-encoding", b"chunked") if length is None else (b"content-length", length)
    path = "/api/tokens" if length is None else "/api/submissions/1/log"
    first, *_ = asyncio.run(asked(app, receive, method="PUT", path=path, headers=[*headers, sized]))
    assert (first["status"], n_read) == ((413, 5) if length is None else (401, 0))


@pytest.mark.parametrize("length", ["-1", "x", "1e3", "٣"])
def test_a_length_that_is_none(client, length):
    answer = client.get("/healthz", headers={"Content-Length": length.encode()})
    assert answer.status_code == 400


def test_what_is_not_announced_is_counted(client, token):
    parts = (b"x" * 65536 for _ in range(17))
    answer = client.post("/api/tokens", content=parts, headers=bearer(token))
    assert "content-length" not in answer.request.headers
    assert answer.status_code == 413


@pytest.mark.full
def test_what_is_not_announced_is_not_read_to_its_end(server, token):
    """Chunk by chunk, without a length: stopped at the first byte that is too much."""
    sent = 0

    def chunks() -> Iterator[bytes]:
        nonlocal sent
        for _ in range(400):
            sent += 1
            yield b"x" * 65536

    with httpx.Client(base_url=server.url, timeout=30) as client:
        try:
            answer = client.post("/api/tokens", content=chunks(), headers=bearer(token))
        except httpx.WriteError:
            pass  # the server has hung up before all was sent
        else:
            assert answer.status_code == 413
        assert client.get("/healthz").status_code == 200


def test_a_log_is_capped_as_it_comes(settings, database, season, token):
    small = replace(settings, max_upload_bytes=1000)
    with AppClient(create_app(small, database)) as client:
        register(client, token, "x")
        manifest = MANIFEST | {"log_bytes": 1001}
        path = "/api/entries/1/attempts/1/submission"
        assert client.put(path, json=manifest, headers=bearer(token)).status_code == 413
        manifest["log_bytes"] = 10
        assert client.put(path, json=manifest, headers=bearer(token)).status_code == 200
        log = client.put("/api/submissions/1/log", content=bytes(1001), headers=bearer(token))
        assert (log.status_code, log.json()["detail"]) == (
            413,
            "expected a log of at most 1000 bytes",
        )
    assert not list(settings.incoming.iterdir())


@pytest.fixture
def browser(app, database, settings) -> Iterator[tuple[AppClient, str]]:
    """A browser in which ada is signed in, and the text of its cookie."""
    with AppClient(app) as client:
        client.post("/api/session", json={"token": make_account(database, "ada", "submit")})
        yield client, client.cookies["gnomon_session"]


def test_a_forged_request_is_refused(app, database, browser, season):
    client, cookie = browser
    path, entry = "/api/seasons/spring/entries", {"name": "Mine"}
    assert client.get("/api/tokens").status_code == 200
    # Another browser's is of no use.
    with AppClient(app) as another:
        another.post("/api/session", json={"token": make_account(database, "eve", "submit")})
        other = csrf_of(another, "/account")
    for wrong in ({}, *({CSRF: text} for text in ("", "0" * 64, cookie, other))):
        answer = client.post(path, json=entry, headers=wrong)
        assert answer.status_code == 403, wrong
        assert "load the page again" in answer.json()["detail"]
    assert client.get(path).json() == []
    good = {CSRF: csrf_of(client, "/account")}
    assert client.post(path, json=entry, headers=good).status_code == 201


def test_a_password_is_no_token_of_ours(browser, season):
    """A browser can be led to send one, beside the cookie."""
    client, _ = browser
    for value in ("Basic YTpi", "Bearer", "nothing"):
        headers = {"Authorization": value}
        answer = client.post(
            "/api/seasons/spring/entries", json={"name": "Forged"}, headers=headers
        )
        assert answer.status_code == 403, value


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("https://evil.org", 403),
        ("null", 403),
        ("http://[", 403),
        ("http://127.0.0.1", 401),
        ("https://board.example.org", 401),
        (None, 401),
    ],
)
def test_a_form_of_another_page_is_refused_even_without_a_cookie(
    settings, database, origin, status
):
    """Else a stranger's page could sign a reader in as somebody else, or play in his name."""
    public = replace(settings, public_url="https://board.example.org")
    headers = {} if origin is None else {"Origin": origin}
    with AppClient(create_app(public, database)) as client:
        sent = client.post("/api/session", json={"token": "gnomon_x"}, headers=headers)
    assert sent.status_code == status


def test_a_form_of_another_page_cannot_pass_for_json(browser, season):
    """A foreign form can send text/plain that reads as JSON; it cannot send our header."""
    client, _ = browser
    answer = client.post(
        "/api/seasons/spring/entries",
        content=b'{"name": "Forged", "description": "="}',
        headers={"Content-Type": "text/plain", "Origin": "https://evil.org"},
    )
    assert answer.status_code == 403


def test_no_other_origin_may_read(client):
    answer = client.get("/api/seasons", headers={"Origin": "https://evil.org"})
    assert not [name for name in answer.headers if name.startswith("access-control")]
    assert client.options("/api/seasons").status_code == 405


def test_too_many_requests_of_one_address(settings, database):
    few = replace(settings, requests_per_minute=5, trusted_proxies=("127.0.0.1",))
    with AppClient(create_app(few, database)) as client:
        statuses = [client.get("/healthz").status_code for _ in range(7)]
        assert statuses.count(200) in (5, 6, 7)  # a minute may begin meanwhile
        if 429 in statuses:
            answer = client.get("/healthz")
            assert int(answer.headers["Retry-After"]) <= 60
        # Behind a proxy that is believed, by the address that the proxy saw.
        other = {"X-Forwarded-For": "203.0.113.9, 198.51.100.7"}
        assert client.get("/healthz", headers=other).status_code == 200


def test_the_last_of_several_forwarded_addresses_counts(settings, database):
    """Some proxies add a header of their own behind the one that a client made up."""
    few = replace(settings, requests_per_minute=5, trusted_proxies=("127.0.0.1",))
    with AppClient(create_app(few, database)) as client:
        statuses = []
        for k in range(12):
            made_up = ("X-Forwarded-For", f"203.0.113.{k}")
            headers = [made_up, ("X-Forwarded-For", "198.51.100.7")]
            statuses.append(client.get("/healthz", headers=headers).status_code)
    assert 429 in statuses


def test_the_addresses_of_one_line_share_their_limits(settings, database):
    """A client has 2**64 addresses of IPv6."""
    few = replace(settings, requests_per_minute=5, trusted_proxies=("127.0.0.1",))
    with AppClient(create_app(few, database)) as client:
        made_up = [{"X-Forwarded-For": f"2001:db8:0:1::{k}"} for k in range(12)]
        statuses = [client.get("/healthz", headers=each).status_code for each in made_up]
    assert 429 in statuses


def test_who_sends_slowly_keeps_no_others_of_the_address_waiting(settings):
    async def app(scope, receive, send):
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def nothing():
        return {"type": "http.request", "body": b""}

    async def status_of(gate, method, receive, *headers):
        return (await asked(gate, receive, method=method, headers=headers))[0]["status"]

    async def all_of_it(*headers):
        gate = gate_of(replace(settings, slow_client_s=0.5), app)
        slow = [asyncio.create_task(status_of(gate, "POST", staying, *headers)) for _ in range(20)]
        await asyncio.sleep(0)
        quick = await asyncio.wait_for(status_of(gate, "GET", nothing), 0.4)
        posted = await asyncio.wait_for(status_of(gate, "POST", nothing), 0.4)
        return quick, posted, Counter(await asyncio.gather(*slow))

    assert asyncio.run(all_of_it()) == (200, 200, {408: 20})
    # Of large bodies as many wait in memory as of uploads.
    large = (b"content-length", b"500000")
    expected = {408: 8, 429: 12}
    assert asyncio.run(all_of_it(large)) == (200, 200, expected)


def test_requests_for_which_there_is_no_thread_are_told_to_come_again(settings, monkeypatch):
    """Only those at work count: not who waits for a turn, or takes an answer slowly."""
    monkeypatch.setattr("gnomon_board.web.middleware.AT_ONCE", 2)

    async def statuses_of(addresses, path="/x"):
        go, order = asyncio.Event(), []

        async def app(scope, receive, send):
            if scope["path"] != "/download":
                await go.wait()
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await go.wait()

        async def ask(address):
            said = await asked(gate, address=address, path=path)
            order.append(said[0]["status"])

        gate = gate_of(settings, app)
        asking = [asyncio.create_task(ask(address)) for address in addresses]
        await asyncio.sleep(0.01)
        go.set()
        await asyncio.gather(*asking)
        return order

    assert asyncio.run(statuses_of(["192.0.2.1"] * 4)) == [200] * 4
    assert asyncio.run(statuses_of(["192.0.2.1", "192.0.2.2", "192.0.2.3"])) == [503, 200, 200]
    assert asyncio.run(statuses_of([f"192.0.2.{k}" for k in range(9)], "/download")) == [200] * 9


def test_who_leaves_before_being_refused_leaves_no_more_than_so_many_waiting(settings, monkeypatch):
    monkeypatch.setattr("gnomon_board.web.middleware.IN_HAND", 3)
    monkeypatch.setattr("gnomon_board.web.middleware._REFUSAL_S", 60)
    gate, sent = gate_of(settings), []

    async def send(message):
        sent.append((message.get("status"), dict(message.get("headers", [])).get(b"retry-after")))

    def asking(address, times):
        scope = request(address=address, host=b"no.org")
        return [asyncio.create_task(gate(dict(scope), staying, send)) for _ in range(times)]

    async def statuses():
        waiting = asking("192.0.2.1", 3)
        await asyncio.wait([*waiting, *asking("192.0.2.1", 2)], timeout=0.1)
        for each in waiting:
            each.cancel()
        await asyncio.wait(
            [*waiting, *asking("192.0.2.1", 1), *asking("192.0.2.2", 1)], timeout=0.1
        )

    asyncio.run(statuses())
    assert [each for each in sent if each[0]] == [(429, b"5")] * 2


def test_refusals_of_disconnected_clients_delay_no_other_refusal(settings):
    """With a pause for each, the answer to the last request would take ten seconds."""
    gate = gate_of(settings)

    async def left():
        return {"type": "http.disconnect"}

    async def last_answer():
        gone = [asyncio.create_task(asked(gate, left, host=b"no.org")) for _ in range(200)]
        await asyncio.sleep(0)
        said = await asyncio.wait_for(asked(gate, host=b"no.org"), 1)
        await asyncio.gather(*gone)
        return said[0]

    assert asyncio.run(last_answer())["status"] == 400


def test_a_head_of_many_lines_and_much_json_are_not_read(client):
    many = [(f"X-{n}", "a") for n in range(101)]
    assert client.get("/", headers=many).status_code == 431
    text = {"Content-Type": "application/json"}
    assert client.post("/api/tokens", content=b"[" * 300_000, headers=text).status_code == 413


def test_an_address_hears_of_one_refusal_after_the_other(settings):
    """Another address does not wait for them, and what is answered does not."""

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": scope["status"], "headers": []})

    async def order():
        gate, told = gate_of(settings, app, 9), []

        async def ask(name, address, status, host=b"127.0.0.1"):
            async def receive():
                return {"type": "http.request", "body": b""}

            async def send(message):
                if message["type"] == "http.response.start":
                    told.append(name)

            await gate(request(address=address, host=host, status=status), receive, send)

        busy = [ask(f"busy {n}", "192.0.2.7", 429) for n in range(3)]
        forged = ask("forged", "192.0.2.7", 200, b"elsewhere")
        others = ask("other", "192.0.2.8", 429), ask("page", "192.0.2.7", 200)
        await asyncio.gather(*busy, forged, *others)
        return told

    told = asyncio.run(order())
    assert told[0] == "page"
    assert set(told[1:3]) == {"busy 0", "other"}
    assert told[3:] == ["busy 1", "busy 2", "forged"]


def test_only_a_trusted_proxy_is_believed(settings, database, monkeypatch):
    few = replace(settings, sign_ins_per_minute=3)
    with AppClient(create_app(few, database)) as client:
        statuses = []
        for k in range(5):
            headers = bearer(f"gnomon_{k:016x}_x") | {"X-Forwarded-For": f"203.0.113.{k}"}
            statuses.append(client.get("/api/tokens", headers=headers).status_code)
    assert statuses[-1] == 429


def test_too_many_submissions_of_one_account(settings, database, season, token, monkeypatch):
    monkeypatch.setattr("gnomon_board.web.api.participation.HOUR_S", 10**9)
    few = replace(settings, submissions_per_hour=2)
    with AppClient(create_app(few, database)) as client:
        register(client, token, "x")
        manifest = MANIFEST | {"log_bytes": 9}
        path = "/api/entries/1/attempts/1/submission"
        statuses = [
            client.put(path, json=manifest, headers=bearer(token)).status_code for _ in range(4)
        ]
    assert statuses == [200, 200, 429, 429]


def test_too_many_things_of_one_account(settings, database, token, monkeypatch):
    few = replace(settings, writes_per_minute=2)
    other = bearer(make_account(database, "eve", "submit"))
    with AppClient(create_app(few, database)) as client:
        statuses = [
            client.post("/api/tokens", json={}, headers=bearer(token)).status_code for _ in range(4)
        ]
        assert statuses == [201, 201, 429, 429]
        assert client.post("/api/tokens", json={}, headers=other).status_code == 201


def test_a_body_that_stops_coming_is_refused(settings, database, token):
    events = [{"type": "http.request", "body": b"{", "more_body": True}]

    async def receive() -> dict[str, Any]:
        return events.pop() if events else await staying()

    app = create_app(replace(settings, slow_client_s=0.05), database)
    headers = {"Content-Length": "9"} | bearer(token)
    known = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    said = asyncio.run(asked(app, receive, method="POST", path="/api/tokens", headers=known))
    assert said[0]["status"] == 408


@pytest.mark.full
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_slow_clients_are_not_waited_for(settings, token):
    """A head that never ends is cut off; a body that stops coming is refused; the others go on."""
    impatient = replace(settings, slow_client_s=1.0)
    host = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    with serving(impatient) as server, ExitStack() as stack:

        def connected(data: bytes) -> socket.socket:
            address = ("127.0.0.1", server.port)
            found = stack.enter_context(socket.create_connection(address, timeout=20))
            found.sendall(data)
            return found

        silent, half = connected(b""), connected(host)
        second = connected(host + b"\r\n")
        assert second.recv(4096).startswith(b"HTTP/1.1 200")
        second.sendall(host)  # the head of another request on the same connection
        head = f"POST /api/seasons HTTP/1.1\r\nAuthorization: Bearer {token}\r\n".encode()
        head = head.replace(b"/api/seasons", b"/api/tokens")
        body = connected(head + b"Host: 127.0.0.1\r\nContent-Length: 9\r\n\r\n{")
        assert b" 408 " in body.recv(4096).split(b"\r\n")[0]
        for each in (silent, half, second):
            while rest := each.recv(4096):
                assert b"HTTP/1.1 200" not in rest
        assert httpx.get(f"{server.url}/healthz", timeout=20).status_code == 200


@pytest.mark.full
def test_the_server_listens_on_loopback_alone(server):
    assert server.url.startswith("http://127.0.0.1:")
    lines = Path(f"/proc/{server.process.pid}/net/tcp").read_text().splitlines()[1:]
    port = f"{server.port:04X}"
    listening = [line.split()[1] for line in lines if line.split()[3] == "0A"]
    assert [each for each in listening if each.endswith(f":{port}")] == [f"0100007F:{port}"]


def test_no_link_is_ever_followed(client, season, token, settings):
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        listening.settimeout(0.5)
        link = f"http://127.0.0.1:{listening.getsockname()[1]}/secret"
        entry = {"name": "x", "description": link}
        answer = client.post("/api/seasons/spring/entries", json=entry, headers=bearer(token))
        assert answer.json()["description"] == link
        for path in ("/api/seasons/spring/entries", "/", "/seasons/spring"):
            client.get(path)
        with pytest.raises(TimeoutError):
            listening.accept()
