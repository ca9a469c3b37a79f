"""Standings of hundreds: searched, filtered, ordered and paged by the address, without a script."""

from __future__ import annotations

import datetime
import gzip
import html
import re

import jinja2
import pytest
from sqlalchemy import event

from app_client import AppClient
from gnomon_board import Settings, create_app
from gnomon_board.schema import now
from large_board import filled_board
from small_season import fill, make_account, make_season
from submitted import register


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """A client of a board with a season of 200 learners."""
    settings = Settings(tmp_path_factory.mktemp("crowd") / "data")
    database = filled_board(settings, 200, trials=2, episodes=3)
    with AppClient(create_app(settings, database)) as client:
        # A page does not wait for standings that take longer than three seconds.
        while not client.get("/api/seasons/crowd/standings").json()["is_current"]:
            pass
        yield client
    database.close()


ADDRESS = "/seasons/crowd"


def shown(client, query=""):
    """Return the names in the table of a page."""
    page = client.get(f"{ADDRESS}{query}").text
    table = page.partition('class="table sticky"')[2].partition("</table>")[0]
    return re.findall(r'<a href="/entries/\d+">([^<]+)</a><br>', table)


def test_fifty_learners_a_page_and_every_one_once(crowd):
    found = [name for n in range(1, 5) for name in shown(crowd, f"?page={n}")]
    assert len(found) == len(set(found)) == 196
    assert shown(crowd) == found[:50]
    assert shown(crowd, "?page=99") == found[150:]


def test_links_keep_what_was_asked_for(crowd):
    page = crowd.get(f"{ADDRESS}?verified=yes&by=errors").text
    links = [html.unescape(link) for link in re.findall(rf'href="({ADDRESS}\?[^"]+)"', page)]
    assert f"{ADDRESS}?verified=yes" in links
    assert f"{ADDRESS}?verified=yes&by=name" in links
    page = crowd.get(f"{ADDRESS}?by=name&page=2").text
    assert f'href="{ADDRESS}?by=name&amp;page=3" rel="next"' in page
    assert f'href="{ADDRESS}?by=name" rel="prev"' in page


def test_search_and_filters(crowd):
    assert shown(crowd, "?q=learner+0012") == ["Learner 0012"]
    assert len(shown(crowd, "?q=crowd+12&by=name")) == 3
    assert "196 learners" in crowd.get(ADDRESS).text
    assert "No learner matches." in crowd.get(f"{ADDRESS}?q=nobody").text


def test_the_order_is_chosen_and_keeps_the_intervals(crowd):
    for by in ("rank", "errors"):
        page = crowd.get(f"{ADDRESS}?by={by}").text
        table = page.partition('class="table sticky"')[2].partition("</table>")[0]
        rows = table.split("<tr id=")[1:]
        assert len(rows) == 50
        for row in rows:
            assert re.search(r'small">[−\d.,]+ – [\d.,]+<', row)
    told = crowd.get(f"/api{ADDRESS}/standings").json()["standings"]["ranked"]
    errors = {line["contender"]["name"]: line["errors"]["value"] for line in told}
    assert [errors[name] for name in shown(crowd, "?by=errors")] == sorted(errors.values())[:50]
    assert shown(crowd, "?by=name") == sorted(errors)[:50]
    ranked = [line["contender"] for line in told]
    whole = [each["name"] for each in ranked if each["n_attempts"] == each["n_verified"]]
    assert shown(crowd, "?verified=yes&by=name") == sorted(whole)[:50]


@pytest.mark.parametrize(
    ("opens", "closes", "told"),
    [(None, 30, "takes entries until"), (10, 30, "opens on"), (-30, -1, "closed on")],
)
def test_a_season_shows_whether_it_takes_entries(client, database, opens, closes, told):
    opens_at, closes_at = (x and now() + datetime.timedelta(days=x) for x in (opens, closes))
    make_season(database, opens_at=opens_at, closes_at=closes_at)
    for path in ("/", "/seasons/spring"):
        assert told in client.get(path).text


def test_learners_without_a_rank_stand_below_the_first_page(crowd):
    page = crowd.get(ADDRESS).text
    assert "trials are missing" in page
    assert "trials are missing" not in crowd.get(f"{ADDRESS}?page=2").text


@pytest.mark.parametrize(
    "query",
    ["by=luck", "page=0", "page=100001", "verified=2", "q=" + 129 * "x"],
)
def test_what_cannot_be_asked_for_is_refused(crowd, query):
    assert crowd.get(f"{ADDRESS}?{query}").status_code == 422


def test_what_is_searched_for_stays_text(crowd):
    page = crowd.get(ADDRESS, params={"q": '"><script>alert(1)</script>'}).text
    assert "<script>alert" not in page
    assert "&lt;script&gt;" in page


def test_pages_are_packed_and_not_sent_twice(crowd):
    whole = crowd.get(ADDRESS, headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in whole.headers
    packed = crowd.get(ADDRESS, headers={"Accept-Encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.text == whole.text
    assert len(gzip.compress(whole.content, mtime=0)) < 10_000
    assert packed.headers["vary"] == whole.headers["vary"] == "Accept-Encoding"
    assert packed.headers["etag"] != whole.headers["etag"]
    for answer in (whole, packed):
        again = crowd.get(ADDRESS, headers={"If-None-Match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
    other = crowd.get(f"{ADDRESS}?page=2", headers={"If-None-Match": whole.headers["etag"]})
    assert other.status_code == 200


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_page_with_somebodys_form_is_not_packed(client, database, settings, admin_token):
    fill(database, settings, n_entries=1)
    paths = ("/submissions/1", "/moderation", "/submit", "/account")
    for path in paths[:2]:
        page = client.get(path)
        assert page.headers["content-encoding"] == "gzip"
        again = client.get(path, headers={"If-None-Match": page.headers["etag"]})
        assert again.status_code == 304
    client.post("/api/session", json={"token": admin_token})
    # From its length the token of the form could be guessed, letter by letter.
    for path in paths:
        page = client.get(path, headers={"If-None-Match": page.headers.get("etag", "")})
        assert page.status_code == 200, path
        assert "content-encoding" not in page.headers, path
        assert page.headers["cache-control"] == "no-store", path


def test_a_page_is_made_again_only_if_its_season_changes(
    client, season, database, token, monkeypatch
):
    """The database changes with every attempt of a person; most pages do not."""
    made, whole = [], jinja2.Template.render
    monkeypatch.setattr(jinja2.Template, "render", lambda *a, **k: made.append(a) or whole(*a, **k))
    register(client, token, "Learner")
    first = client.get("/seasons/spring").text
    make_account(database, "somebody", "submit")
    assert client.get("/seasons/spring").text == first
    assert len(made) == 1
    register(client, token, "Another")
    assert client.get("/seasons/spring").text != first
    assert len(made) == 2


def test_the_cache_holds_so_many_bytes(client, database, season, monkeypatch):
    monkeypatch.setattr("gnomon_board.web.page_cache._MOST_BYTES", 20_000)
    for n in range(20):
        client.get(f"/seasons/spring?q={n}")
    looked = []
    event.listen(database.engine, "before_cursor_execute", lambda *a: looked.append(a[2]))
    client.get("/seasons/spring?q=19")
    assert looked == []
    client.get("/seasons/spring?q=0")
    assert looked
