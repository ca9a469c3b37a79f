"""Studies: an invitation, consent, balanced lists, the next rule, and their pages."""

from __future__ import annotations

import re
import tomllib

import pytest
from sqlalchemy import select

from gnomon_board.schema import Study, StudyAssignment, now
from playing import begin, go_on, invite, join, play_out
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
ONE_LIST = PLAN.replace('b = ["clockwise", "anything-goes"]', "")


@pytest.fixture
def make(database, admin_token):
    """Make a study of a plan; return the address of its invitation."""
    return lambda plan=PLAN: invite(database, **tomllib.loads(plan))


def test_a_study_from_the_invitation_to_its_end(client, make, admin_token):
    invitation = make(ONE_LIST)
    consent = client.get(invitation)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in consent.text
    assert "<script>alert" not in consent.text
    assert client.post(f"/api{invitation}", json={}).status_code == 409
    player = join(client, invitation)
    game = go_on(client, player)
    assert client.get(f"/api{game}").json()["view"]["rule"] == "Puzzle 1"
    assert go_on(client, player) == game
    play_out(client, game)
    following = go_on(client, player)
    assert client.get(f"/api{following}").json()["view"]["rule"] == "Puzzle 2"
    play_out(client, following)
    assert go_on(client, player) == player
    assert "Thank you" in client.get(player).text
    assert "pilot-0001" in client.get("/studies/1", headers=bearer(admin_token)).text


def test_new_players_get_the_list_with_the_fewest(client, make, database):
    invitation = make()
    for _ in range(4):
        join(client, invitation)
    with database.reading() as session:
        players = session.scalars(select(StudyAssignment).order_by(StudyAssignment.id)).all()
        lists = [player.rule_list for player in players]
    assert sorted(lists[:2]) == sorted(lists[2:]) == ["a", "b"]
    assert players[0].player == "pilot-0001"


def test_only_an_admin_reads_studies(client, make, token, admin_token):
    make()
    for path in ("/studies", "/studies/1"):
        assert client.get(path).status_code == 401
        assert client.get(path, headers=bearer(token)).status_code == 403
        assert client.get(path, headers=bearer(admin_token)).status_code == 200
    assert client.get("/studies/2", headers=bearer(admin_token)).status_code == 404


def test_the_streak_of_the_plan_is_what_counts_as_having_found_a_rule(client, make):
    plan = ONE_LIST.replace("[lists]", "[defaults]\nmastery = 3\n[lists]")
    game = begin(client, make(plan))
    play_out(client, game)
    view = client.get(f"/api{game}").json()["view"]
    assert (view["streak"], view["end"], view["moves"]) == (3, "mastered", 3)
    assert "You have found the rule." in client.get(f"{game}/result").text


def test_the_game_of_a_series_that_has_not_begun_cannot_be_found(client, make):
    game = begin(client, make())
    assert client.get(game).status_code == 200
    assert client.get(f"{game[:-1]}1").status_code == 404


def test_a_closed_study_takes_no_new_player(client, make, database):
    invitation = make()
    player = join(client, invitation)
    with database.writing() as session:
        session.scalars(select(Study)).one().closes_at = now()
    assert client.get(invitation).status_code == 403
    assert client.post(f"/api{invitation}", json={"agree": True}).status_code == 403
    go_on(client, player)


def test_nothing_leads_a_player_away_from_the_study(client, make):
    invitation = make(PLAN.replace("horizon = 5", "horizon = 1"))
    player = join(client, invitation)
    game = go_on(client, player)
    pages = [client.get(address).text for address in (invitation, player, game)]
    play_out(client, game)
    pages.append(client.get(f"{game}/result").text)
    none = client.get(f"{invitation[:-1]}{'b' if invitation[-1] == 'a' else 'a'}")
    assert "there is no such invitation" in none.text
    pages.append(none.text)
    for page in pages:
        links = re.findall(r'<a\b[^>]*href="([^"]*)"', page)
        assert [link for link in links if not link.startswith(("#", game, player))] == []
    assert 'href="/#seasons"' in client.get("/submit").text
