"""Studies: an invitation, consent, balanced lists, the next rule, and transcripts in the end."""

from __future__ import annotations

import re
from html import unescape

import pytest

import gnomon
from app_client import AppClient
from small_season import make_season
from submitted import bearer

PLAN = """
name = "pilot"
title = "A pilot <b>study</b>"
consent = "You may stop. <script>alert(1)</script>"
episodes = 1
horizon = 5
[lists]
a = ["anything-goes", "clockwise"]
b = ["clockwise", "anything-goes"]
"""


def make(client, token, plan=PLAN):
    answer = client.post("/api/studies", json={"plan": plan}, headers=bearer(token))
    assert answer.status_code == 201, answer.text
    return re.search(r"/join/[A-Za-z0-9_-]{32}", answer.text)[0]


def join(client, invitation):
    answer = client.post(f"/api{invitation}", json={"agree": True})
    assert answer.status_code == 201, answer.text
    return answer.json()["address"]


def play_out(client, address):
    """Play a game to its end, and lead to the next; return the answer to that."""
    view = client.get(f"/api{address}").json()["view"]
    while view["state"] == "playing":
        cell = view["pieces"][0]["cell"]
        body = {"cell": cell, "bucket": len(view["attempts"]) % 4}
        view = client.post(f"/api{address}/attempts", json=body).json()["view"]
    assert view["state"] == "ended"
    return client.post(f"/api{address}/continue")


def with_list(client, token, rule_list, plan=PLAN):
    """Make a study of one list of a plan, so that chance has no say; return its invitation."""
    kept = [line for line in plan.splitlines() if not re.match("[ab] =", line)]
    (chosen,) = (line for line in plan.splitlines() if line.startswith(f"{rule_list} ="))
    return make(client, token, "\n".join([*kept, chosen]))


def test_a_page_shows_the_warnings_of_the_check(client, admin_token):
    plan = PLAN.replace("[lists]", "[defaults]\nmastery = 500\n[lists]")
    answer = client.post("/api/studies", json={"plan": plan}, headers=bearer(admin_token))
    warning = "mastery needs 500 moves in a row, all boards have 9 pieces"
    assert answer.status_code == 201
    address = f"/studies/{answer.json()['id']}"
    assert warning in client.get(address, headers=bearer(admin_token)).text
    found = client.get(f"/api{address}", headers=bearer(admin_token)).json()["findings"]
    assert {(one["severity"], one["message"]) for one in found} == {("warning", warning)}


def test_a_study_from_the_invitation_to_the_transcript(client, admin_token, tmp_path):
    invitation = with_list(client, admin_token, "a")
    consent = client.get(invitation)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in consent.text
    assert "<script>alert" not in consent.text
    player = join(client, invitation)
    game = client.post(f"/api{player}/begin").json()["address"]
    assert client.get(f"/api{game}").json()["view"]["rule"] == "Puzzle 1"
    assert client.post(f"/api{game}/continue").status_code == 409
    following = play_out(client, game).json()["address"]
    assert client.get(f"/api{following}").json()["view"]["rule"] == "Puzzle 2"
    assert client.post(f"/api{player}/begin").json()["address"] == following
    end = play_out(client, following).json()["address"]
    assert "Thank you" in client.get(end).text
    assert client.get(f"/api{player}").json()["finished"] is True
    assert client.get(f"/api{following}/result").json()["learners"] == []

    headers = bearer(admin_token)
    path = tmp_path / "t.csv"
    path.write_text(client.get("/studies/1/transcript.csv", headers=headers).text)
    read = gnomon.read_scores(path)
    assert read.algorithms == ("pilot-0001",)
    assert set(read.tasks) == {"anything-goes", "clockwise"}
    study = client.get("/api/studies/1", headers=headers).json()
    assert study["players"][0]["n_played"] == 2
    assert "pilot-0001" in client.get("/studies/1", headers=headers).text


def test_new_players_get_the_list_with_the_fewest(client, admin_token):
    invitation = make(client, admin_token)
    for _ in range(4):
        join(client, invitation)
    players = client.get("/api/studies/1", headers=bearer(admin_token)).json()["players"]
    lists = [player["rule_list"] for player in players]
    assert sorted(lists[:2]) == sorted(lists[2:]) == ["a", "b"]
    assert players[0]["player"] == "pilot-0001"


def test_without_consent_nobody_takes_part(client, admin_token):
    invitation = make(client, admin_token)
    assert client.post(f"/api{invitation}", json={}).status_code == 409
    assert (
        client.get("/api/studies", headers=bearer(admin_token)).json()["studies"][0]["n_players"]
        == 0
    )


def test_only_an_admin_makes_and_reads_studies(client, token, admin_token):
    make(client, admin_token)
    for path in ("/studies", "/studies/1", "/studies/1/transcript.csv"):
        assert client.get(path).status_code == 401
        assert client.get(path, headers=bearer(token)).status_code == 403
    assert client.post("/api/studies", json={"plan": PLAN}).status_code == 401


def test_hidden_rules_can_be_played_in_a_study_and_stay_hidden(client, database, admin_token):
    make_season(database, "secret", "hidden")
    plan = PLAN.replace('"anything-goes"', '"secret/s1-h01"')
    player = join(client, with_list(client, admin_token, "a", plan))
    game = client.post(f"/api{player}/begin").json()["address"]
    told = client.get(game).text + client.get(f"/api{game}").text
    assert "s1-h01" not in told
    assert "color-match" not in told
    play_out(client, game)
    transcript = client.get("/studies/1/transcript.csv", headers=bearer(admin_token)).text
    assert ",s1-h01," in transcript


@pytest.mark.parametrize(
    ("plan", "status"),
    [
        (PLAN.replace("clockwise", "clockwize"), 422),
        (PLAN.replace('"clockwise"', '"nowhere/r1"'), 422),
        (PLAN.replace("episodes = 1", "episodes = 0"), 422),
        ("name =", 422),
    ],
)
def test_a_plan_that_cannot_be_played_is_refused(client, admin_token, plan, status):
    answer = client.post("/api/studies", json={"plan": plan}, headers=bearer(admin_token))
    assert answer.status_code == status


def test_a_name_is_taken_once(client, admin_token):
    make(client, admin_token)
    again = client.post("/api/studies", json={"plan": PLAN}, headers=bearer(admin_token))
    assert again.status_code == 409


def test_the_example_of_the_form_is_a_plan(client, admin_token):
    page = client.get("/studies", headers=bearer(admin_token)).text
    make(
        client, admin_token, unescape(re.search(r"<textarea[^>]*>(.*?)</textarea>", page, re.S)[1])
    )


def test_a_result_shows_learners_if_the_plan_says_so(client, admin_token):
    plan = PLAN.replace("horizon = 5", "horizon = 5\nshow_curves = true")
    player = join(client, make(client, admin_token, plan))
    game = client.post(f"/api{player}/begin").json()["address"]
    play_out(client, game)
    assert len(client.get(f"/api{game}/result").json()["learners"]) == 4


def test_keys_lead_forward_and_never_back(client, admin_token, app):
    player = join(client, make(client, admin_token))
    game = client.post(f"/api{player}/begin").json()["address"]
    with AppClient(app) as stranger:
        # Who has a game's key can play it, and cannot find the player's page by it.
        key = game.rpartition("/")[2]
        assert stranger.get(f"/players/{key}").status_code == 404


def test_an_invitation_that_was_lost_is_made_anew(client, admin_token):
    lost = make(client, admin_token)
    headers = bearer(admin_token)
    player = join(client, lost)
    answer = client.post("/api/studies/1/invitation", headers=headers)
    found = re.search(r"/join/[A-Za-z0-9_-]{32}", answer.text)[0]
    assert client.get(lost).status_code == 404
    assert client.get(found).status_code == 200
    # Who has begun is not touched.
    assert client.post(f"/api{player}/begin").status_code == 200


def test_a_study_is_closed_and_opened_again(client, admin_token):
    invitation = make(client, admin_token)
    headers = bearer(admin_token)
    player = join(client, invitation)
    assert client.post("/api/studies/1/close", headers=headers).status_code == 204
    assert client.get(invitation).status_code == 403
    assert client.post(f"/api{invitation}", json={"agree": True}).status_code == 403
    assert client.post(f"/api{player}/begin").status_code == 200
    assert "Closed to new players." in client.get("/studies/1", headers=headers).text
    assert client.get("/api/studies", headers=headers).json()["studies"][0]["closed"] is True
    assert client.post("/api/studies/1/close", headers=headers).status_code == 409
    client.post("/api/studies/1/invitation", headers=headers)
    assert client.get("/api/studies/1", headers=headers).json()["closed"] is False


@pytest.mark.parametrize("what", ["close", "invitation"])
def test_nobody_else_closes_a_study_or_invites(client, admin_token, token, what):
    make(client, admin_token)
    assert client.post(f"/api/studies/1/{what}").status_code == 401
    assert client.post(f"/api/studies/1/{what}", headers=bearer(token)).status_code == 403


def test_nothing_leads_a_player_away_from_the_study(client, admin_token):
    invitation = make(client, admin_token, PLAN.replace("horizon = 5", "horizon = 1"))
    player = join(client, invitation)
    game = client.post(f"/api{player}/begin").json()["address"]
    pages = [client.get(address).text for address in (invitation, player, game)]
    cell = client.get(f"/api{game}").json()["view"]["pieces"][0]["cell"]
    client.post(f"/api{game}/attempts", json={"cell": cell, "bucket": 0})
    client.post(f"/api{game}/give-up")
    pages.append(client.get(f"{game}/result").text)
    none = client.get(f"{invitation[:-1]}{'b' if invitation[-1] == 'a' else 'a'}")
    assert "there is no such invitation" in none.text
    pages.append(none.text)
    for page in pages:
        links = re.findall(r'<a\b[^>]*href="([^"]*)"', page)
        assert [link for link in links if not link.startswith(("#", game, player))] == []
    assert 'href="/#seasons"' in client.get("/play").text
