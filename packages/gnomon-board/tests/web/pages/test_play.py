"""Games over HTTP: each attempt is stored, the rule stays hidden, and keys separate players."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sqlalchemy import select

from app_client import AppClient
from gnomon_board.schema import PlayAttempt, PlaySession
from gohr.rules import load_rule, load_rule_text
from playing import begin, invite


def attempt(client, game, cell, bucket):
    return client.post(f"/api{game}/attempts", json={"cell": cell, "bucket": bucket})


def view_of(client, game):
    return client.get(f"/api{game}").json()["view"]


def test_a_game_is_kept_attempt_by_attempt(client, database):
    game = begin(client, invite(database, "clockwise"))
    outcomes = []
    for piece in view_of(client, game)["pieces"]:
        for bucket in range(4):
            answer = attempt(client, game, piece["cell"], bucket)
            assert answer.status_code == 200
            view = answer.json()["view"]
            outcomes.append(view["attempts"][-1]["outcome"])
            if outcomes[-1] == "accepted":
                break
    assert view["state"] == "board over"
    with database.reading() as session:
        rows = session.scalars(select(PlayAttempt).order_by(PlayAttempt.id)).all()
        (game_row,) = session.scalars(select(PlaySession)).all()
        assert game[12:44] not in game_row.assignment.key, "the database holds no key"
    assert [row.number for row in rows] == list(range(1, len(outcomes) + 1))
    assert [row.outcome == 0 for row in rows] == [each == "accepted" for each in outcomes]
    assert view_of(client, game) == view  # from the rows, as after a restart
    assert view["errors"] == sum(each != "accepted" for each in outcomes)


def test_boards_go_on_and_the_game_ends(client, database):
    game = begin(client, invite(database, "anything-goes"))
    assert client.post(f"/api{game}/next").status_code == 422
    for piece in view_of(client, game)["pieces"]:
        view = attempt(client, game, piece["cell"], 0).json()["view"]
    assert (view["state"], view["end"]) == ("board over", "cleared")
    assert attempt(client, game, 1, 0).status_code == 422
    view = client.post(f"/api{game}/next").json()["view"]
    assert (view["episode"], len(view["pieces"])) == (2, 9)
    assert client.get(f"{game}/result").status_code == 409
    view = client.post(f"/api{game}/give-up").json()["view"]
    assert (view["state"], view["end"]) == ("ended", "given up")
    assert client.post(f"/api{game}/give-up").status_code == 422
    facts = re.findall(r"<dt>(\w+)</dt><dd>(\d+)", client.get(f"{game}/result").text)
    assert facts == [("errors", "0"), ("moved", "9")]


def test_nothing_that_leaves_the_server_tells_of_the_rule(client, database):
    invitation = invite(database, "clockwise")
    told = [client.get(invitation).text]
    game = begin(client, invitation)
    told += [client.get(game).text, attempt(client, game, 1, 0).text]
    client.post(f"/api{game}/give-up")
    told.append(client.get(f"{game}/result").text)
    lines = [str(line) for line in load_rule("clockwise").lines]
    for text in told:
        assert "clockwise" not in text.lower()
        assert not any(line in text for line in lines)
        assert load_rule_text("clockwise").splitlines()[0] not in text
        assert not re.search(r'"(seed|legal|permitted|mask|counters|rule_text|text)"', text)


def test_the_game_of_another_cannot_be_found(client, database):
    game = begin(client, invite(database, "clockwise"))
    other = game.replace(game[12:14], "AA" if game[12:14] != "AA" else "BB")
    assert client.get(f"/api{other}").status_code == 404
    assert attempt(client, other, 1, 0).status_code == 404
    for address in ("/play/games/short", game[:-2]):
        assert client.get(f"/api{address}").status_code == 422


@pytest.mark.parametrize("body", [{}, {"cell": 0, "bucket": 0}, {"cell": 1, "bucket": 4}, []])
def test_a_move_that_is_none_is_refused(client, database, body):
    game = begin(client, invite(database, "clockwise"))
    assert client.post(f"/api{game}/attempts", json=body).status_code == 422


def test_players_of_one_address_are_limited(app, database):
    app.state.settings = replace(app.state.settings, max_play_sessions_per_hour=2)
    invitation = invite(database, "clockwise")
    with AppClient(app) as client:
        joined = [client.post(f"/api{invitation}", json={"agree": True}) for _ in range(3)]
    assert [each.status_code for each in joined] == [201, 201, 429]


def test_the_same_attempt_twice_at_once_counts_once(client, database):
    game = begin(client, invite(database, "anything-goes"))
    cell = view_of(client, game)["pieces"][0]["cell"]
    form = {"cell": cell, "bucket": 0, "episode": 1, "number": 1}
    with ThreadPoolExecutor(8) as pool:
        sent = [pool.submit(client.post, f"/api{game}/attempts", json=form) for _ in range(8)]
    assert {each.result().status_code for each in sent} <= {200, 409}
    assert len(view_of(client, game)["attempts"]) == 1
