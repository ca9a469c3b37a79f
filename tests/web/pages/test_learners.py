"""Learners side by side, their cards, and the pages of rules with many of them."""

from __future__ import annotations

import html
import re
import tomllib
from dataclasses import replace

import pytest

from app_client import AppClient
from gnomon.web.app import create_app
from large_board import fill_season
from small_season import make_account


def test_two_learners_side_by_side(lively):
    page = lively.get("/compare/2/3")
    assert page.status_code == 200
    told = lively.get("/compare/2/3.json").json()
    names = told["a"]["name"], told["b"]["name"]
    assert names == ("REINFORCE, hasty", "Q-table")
    assert [line["rule"] for line in told["comparison"]["rules"]] == [
        *("clockwise", "color-match", "top-and-bottom", "red-first")
    ]
    # A line with its interval for every rule and for all, twice; and a chart for every rule.
    assert page.text.count('class="range"') == 10
    assert page.text.count("<polyline") == 8
    again = lively.get("/compare/2/3", headers={"If-None-Match": page.headers["etag"]})
    assert again.status_code == 304


def test_two_that_are_ticked_lead_to_their_page(lively):
    page = lively.get("/seasons/spring-2026").text
    assert page.count('form="compare" name="entry"') == 6
    answer = lively.get("/compare?entry=2&entry=3")
    assert (answer.status_code, answer.headers["location"]) == (303, "/compare/2/3")


@pytest.mark.parametrize("name", ["q-TABLE", "q-t"])
def test_one_and_the_name_of_the_other_lead_to_their_page(lively, name):
    assert 'name="entry" value="2"' in lively.get("/entries/2").text
    answer = lively.get("/compare", params={"entry": 2, "name": name})
    assert (answer.status_code, answer.headers["location"]) == (303, "/compare/2/3")


@pytest.mark.parametrize(
    ("path", "status", "why"),
    [
        ("/compare", 422, "found 0"),
        ("/compare?entry=1&entry=2&entry=3", 422, "found 3"),
        ("/compare?" + "&".join(["entry=1"] * 101), 422, "100"),
        (f"/compare?entry=1&entry={2**70}", 422, "entry"),
        ("/compare?entry=2&name=nobody", 404, "no learner called"),
        ("/compare?entry=2&name=e", 409, "expected the name of one learner"),
        ("/compare/2/2.json", 422, "twice"),
        ("/compare/2/999.json", 404, "no entry 999"),
        ("/compare/2/11.json", 409, "have not played the same"),
        ("/compare/2/7.json", 409, "no trial that counts"),
        ("/compare/2/99999999999.json", 422, "b"),
    ],
)
def test_what_cannot_be_compared_is_said(lively, path, status, why):
    answer = lively.get(path)
    assert (answer.status_code, why in answer.text) == (status, True), answer.text


def test_a_learner_leads_to_its_place_and_to_others(lively):
    page = lively.get("/entries/2").text
    assert 'href="/seasons/spring-2026#entry-2"' in page
    beside = lively.get("/entries/2.json").json()["beside"]
    for other in beside:
        assert f'href="/compare/2/{other["entry_id"]}"' in page
    assert 2 <= len(beside) <= 3


CARD = {
    "kind": "neural",
    "organisation": "Lab <b>",
    "training_data": "none",
    "parameters": "1296",
    "compute_hours": "2.5",
    "hardware": "one core",
    "code": "https://example.org/code",
}


def csrf_of(client, path):
    return re.search(r'name="csrf" value="([0-9a-f]{64})"', client.get(path).text)[1]


def test_a_card_is_filled_in_shown_and_changed(client, database, season, token):
    client.post("/account/sign-in", data={"token": token})
    csrf = csrf_of(client, "/submit")
    form = {"season": "spring", "name": "mine", "csrf": csrf}
    assert client.post("/submit/register", data=form | CARD).status_code == 303
    told = client.get("/entries/1.json").json()["entry"]["card"]
    assert told == CARD | {"parameters": 1296, "compute_hours": 2.5}
    page = client.get("/entries/1").text
    assert "Lab &lt;b&gt;" in page
    assert "1,296" in page
    assert 'href="https://example.org/code" rel="nofollow noopener ugc"' in page
    changed = {"csrf": csrf, "kind": "linear"}
    assert client.post("/entries/1/card", data=changed).status_code == 303
    card = client.get("/entries/1/card.json").json()["card"]
    assert (card["kind"], card["organisation"], card["parameters"]) == ("linear", "", None)
    log = client.get("/moderation.json").json()["lines"][0]
    assert log["action"] == "card changed"
    assert "Lab" not in str(log)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"kind": "magic"}, "kind"),
        ({"parameters": "-1"}, "parameters"),
        ({"parameters": "many"}, "parameters"),
        ({"compute_hours": "nan"}, "compute_hours"),
        ({"code": "javascript:alert(1)"}, "code: expected http://"),
        ({"organisation": "a\u202eb"}, "organisation: expected letters that can be seen"),
    ],
)
def test_what_is_no_card_is_refused(client, season, token, change, why):
    client.post("/account/sign-in", data={"token": token})
    form = {"season": "spring", "name": "mine", "csrf": csrf_of(client, "/submit")}
    answer = client.post("/submit/register", data=form | CARD | change)
    assert (answer.status_code, why in answer.text) == (422, True), answer.text


def test_a_card_is_changed_by_its_owner_alone(client, database, season, token):
    headers = {"Authorization": f"Bearer {token}"}
    entry = {"name": "mine", "card": {"kind": "linear"}}
    made = client.post("/api/seasons/spring/entries", json=entry, headers=headers)
    assert made.json()["card"]["kind"] == "linear"
    changed = client.put("/api/entries/1/card", json={"kind": "other"}, headers=headers)
    assert changed.json()["card"]["kind"] == "other"
    other = {"Authorization": f"Bearer {make_account(database, 'eve', 'submit')}"}
    assert client.put("/api/entries/1/card", json={}, headers=other).status_code == 403
    assert client.put("/api/entries/1/card", json={}).status_code == 401


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_the_open_division_never_speaks_of_replays(client, database, season):
    fill_season(database, 4, name="reported", division="open", trials=2, episodes=2)
    paths = ["/seasons/reported", "/entries/1", "/compare/1/2", "/submissions/1"]
    paths += ["/entries/1/attempts/1/submit", "/seasons/reported/submissions"]
    for path in [*paths, "/seasons/reported/rules/clockwise"]:
        page = client.get(path)
        assert page.status_code == 200, path
        text = page.text.partition("<main")[2].partition("</main>")[0].lower()
        assert "replay" not in text, path
        assert "verified" not in text, path
    # What is checked comes first, on the first page and in the form, even if it is older.
    assert client.get("/index.json").json()["current"]["name"] == "spring"
    assert client.get("/submit.json").json()["seasons"][0]["name"] == "spring"


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_link_to_the_open_division_and_its_top_do_not_speak_of_replays(settings, database):
    fill_season(database, 4, name="reported", division="open", trials=2, episodes=2)
    seen = replace(settings, public_url="http://127.0.0.1")
    with AppClient(create_app(seen, database)) as client:
        paths = ["/seasons/reported", "/entries/1", "/compare/1/2", "/submissions/1"]
        paths += [f"/seasons/reported/{e}" for e in ("cite", "submissions", "rules/clockwise")]
        paths += ["/entries/1/card", "/entries/1/attempts/1/submit"]
        found = {path: "replay" in client.get(path).text.lower() for path in paths}
        assert not any(found.values()), found
        home = client.get("/").text
    top = home.partition("</figure>")[2].partition('id="enter"')[0]
    assert "Nothing of them was checked" in top
    assert "replay" not in top.lower()


def test_an_attempt_that_takes_no_log_says_how_it_is_played(lively):
    page = lively.get("/entries/11/attempts/1/submit").text
    plan, command = re.findall(r"<pre[^>]*><code>(.*?)</code></pre>", page, re.DOTALL)
    told = tomllib.loads(html.unescape(plan))
    assert (told["season"], told["entry"]) == ("autumn-2026", "Slow and steady")
    assert "gnomon run my.toml --server http" in command


def test_how_to_submit_shows_no_secret_on_a_command_line(client, season, token):
    client.post("/account/sign-in", data={"token": token})
    page = client.get("/submit").text
    assert "--token" not in page
    assert "read -rs GNOMON_TOKEN" in page
    assert token not in page
