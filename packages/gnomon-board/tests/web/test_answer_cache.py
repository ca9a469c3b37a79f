"""An unchanged page is answered before any session, and a change is seen at once."""

from __future__ import annotations

import pytest
from sqlalchemy import event

from small_season import fill, make_season

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


@pytest.fixture
def opened(database):
    """Return a list that grows with every statement of a page."""
    statements: list[str] = []
    event.listen(
        database.engine, "before_cursor_execute", lambda *a: statements.append(str(a[2])) or None
    )
    return statements


@pytest.mark.parametrize("path", ["/", "/seasons/filled", "/entries/1", "/compare?a=1&b=2"])
def test_an_unchanged_page_asks_the_database_nothing(client, database, settings, opened, path):
    fill(database, settings)
    first = client.get(path, headers={"Accept": "text/html"})
    assert first.status_code == 200
    opened.clear()
    again = client.get(path, headers={"Accept": "text/html"})
    known = client.get(path, headers={"If-None-Match": first.headers["etag"]})
    assert opened == []
    assert again.content == first.content
    assert again.headers["etag"] == first.headers["etag"]
    assert (known.status_code, known.content) == (304, b"")
    # The gate still counts, names and protects every answer.
    assert again.headers["x-request-id"] != first.headers["x-request-id"]
    assert again.headers["content-security-policy"] == first.headers["content-security-policy"]


def test_a_commit_is_seen_by_the_next_request(client, database):
    for n in range(5):
        make_season(database, f"season-{n}")
        assert f"/seasons/season-{n}" in client.get("/").text


def test_a_signed_in_reader_shares_only_what_is_the_same_for_all(
    client, database, settings, opened, token
):
    fill(database, settings)
    client.get("/seasons/filled")
    first = client.get("/submissions/1")
    client.post("/api/session", json={"token": token})
    client.get("/seasons/filled")
    opened.clear()
    assert client.get("/seasons/filled").status_code == 200
    assert opened == []
    own = client.get("/submissions/1")
    assert opened
    assert own.headers["cache-control"] == "no-store"
    assert "etag" in first.headers


def test_other_hosts_and_encodings_have_answers_of_their_own(client, database, settings):
    fill(database, settings)
    packed = client.get("/seasons/filled", headers={"Accept-Encoding": "gzip"})
    plain = client.get("/seasons/filled", headers={"Accept-Encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert packed.text == plain.text
    assert client.get("/seasons/filled?by=name").text != plain.text
