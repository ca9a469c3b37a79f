"""Human play over the wire: every attempt kept, nothing of the rule told, nobody else's game."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import pytest
from sqlalchemy import select

import gnomon_board
from gnomon_board.schema import PlayAttempt, PlaySession
from gnomon_board.studies import find_game, puzzles
from gohr.experiments import episode_errors
from gohr.game import INSTRUCTIONS
from gohr.rules import load_rule, load_rule_text

NUMBER = puzzles().index("clockwise") + 1


def begin(client, rule=f"puzzle-{NUMBER}"):
    answer = client.post("/api/play/games", json={"rule": rule})
    assert answer.status_code == 201, answer.text
    return answer.json()["key"], answer.json()["game"]


def attempt(client, key, cell, bucket):
    body = {"cell": cell, "bucket": bucket}
    return client.post(f"/api/play/games/{key}/attempts", json=body)


def test_a_game_is_kept_attempt_by_attempt(client, database):
    key, game = begin(client)
    outcomes = []
    for piece in game["view"]["pieces"]:
        for bucket in range(4):
            answer = attempt(client, key, piece["cell"], bucket)
            assert answer.status_code == 200
            game = answer.json()
            outcomes.append(game["view"]["attempts"][-1]["outcome"])
            if outcomes[-1] == "accepted":
                break
    assert game["view"]["state"] == "board over"
    with database.reading() as session:
        rows = session.scalars(select(PlayAttempt).order_by(PlayAttempt.id)).all()
        kept = find_game(session, key)
        (game_row,) = session.scalars(select(PlaySession)).all()
    assert key not in (game_row.key, str(game_row.settings)), "the database holds no key"
    assert [row.number for row in rows] == list(range(1, len(outcomes) + 1))
    assert [row.outcome == 0 for row in rows] == [each == "accepted" for each in outcomes]
    assert rows[0].board is not None
    assert all(row.board is None for row in rows[1:])
    assert kept.session.view().as_record() == json.loads(json.dumps(game["view"])) | {
        name: getattr(kept.session.view(), name)
        for name in ("pieces", "removed", "attempts", "may")
    }
    assert episode_errors(kept.session.log()).sum() == game["view"]["errors"]


def test_boards_go_on_and_the_game_ends(client):
    key, game = begin(client, "anything-goes")
    assert client.post(f"/api/play/games/{key}/next").status_code == 422
    for piece in game["view"]["pieces"]:
        game = attempt(client, key, piece["cell"], 0).json()
    assert (game["view"]["state"], game["view"]["end"]) == ("board over", "cleared")
    assert attempt(client, key, 1, 0).status_code == 422
    game = client.post(f"/api/play/games/{key}/next").json()
    assert (game["view"]["episode"], len(game["view"]["pieces"])) == (2, 9)
    assert client.get(f"/api/play/games/{key}/result").status_code == 409
    game = client.post(f"/api/play/games/{key}/give-up").json()
    assert (game["view"]["state"], game["view"]["end"]) == ("ended", "given up")
    assert client.post(f"/api/play/games/{key}/give-up").status_code == 422
    result = client.get(f"/api/play/games/{key}/result").json()
    # The second board was dealt and not touched: it is none of the player's.
    assert (result["errors"], result["moves"], result["cleared"]) == ([0], 9, 1)


def test_nothing_that_leaves_the_server_tells_of_the_rule(client):
    key, _ = begin(client)
    told = []
    for path in (f"/play?rule=puzzle-{NUMBER}", f"/play/games/{key}", "/play"):
        told += [client.get(path).text]
    told.append(attempt(client, key, 1, 0).text)
    client.post(f"/api/play/games/{key}/give-up")
    told += [client.get(f"{start}/play/games/{key}/result").text for start in ("", "/api")]
    lines = [str(line) for line in load_rule("clockwise").lines]
    for text in told:
        without_link = text.replace("/play?rule=clockwise", "").replace("gohr play clockwise", "")
        assert "clockwise" not in without_link.lower()
        assert not any(line in text for line in lines)
        assert load_rule_text("clockwise").splitlines()[0] not in text
        assert not re.search(r'"(seed|legal|permitted|mask|counters|rule_text|text)"', text)


def test_the_game_of_another_cannot_be_found(client):
    key, _ = begin(client)
    other = key[:-1] + ("A" if key[-1] != "A" else "B")
    assert client.get(f"/api/play/games/{other}").status_code == 404
    assert attempt(client, other, 1, 0).status_code == 404
    assert client.get("/api/play/games/short").status_code == 422


@pytest.mark.parametrize("body", [{}, {"cell": 0, "bucket": 0}, {"cell": 1, "bucket": 4}, []])
def test_a_move_that_is_none_is_refused(client, body):
    key, _ = begin(client)
    assert client.post(f"/api/play/games/{key}/attempts", json=body).status_code == 422


@pytest.mark.parametrize("name", ["none", "puzzle-0", "puzzle-9999", "puzzle-07"])
def test_a_rule_that_there_is_not_is_not_here(client, name):
    assert client.get("/play", params={"rule": name}).status_code == 404


def test_the_public_rules_of_a_season_are_played_on_its_boards(client, database):
    from small_season import make_season

    make_season(database, "secret", "hidden", board={"pieces": [5, 5], "shapes": [2, 2]})
    page = client.get("/play?season=secret&rule=clockwise").text
    assert "Up to 3 boards, 50 attempts each." in page
    assert 'href="/seasons/secret"' in page
    begun = client.post("/api/play/games", json={"season": "secret", "rule": "clockwise"}).json()
    view = begun["game"]["view"]
    assert (view["rule"], view["episodes"], len(view["pieces"])) == ("clockwise", 3, 5)
    assert len({piece["shape"] for piece in view["pieces"]}) <= 2
    after = attempt(client, begun["key"], view["pieces"][0]["cell"], 0).json()
    assert len(after["view"]["attempts"]) == 1
    assert client.get(begun["address"]).status_code == 200


def test_hidden_rules_of_a_season_are_played_once_they_are_revealed(client, database):
    from gnomon_board.schema import Season, now
    from small_season import make_season

    make_season(database, "secret", "hidden")
    assert client.get("/play?rule=s1-h01").status_code == 404
    address, form = "/play?season=secret&rule=s1-h01", {"season": "secret", "rule": "s1-h01"}
    assert client.get(address).status_code == 403
    assert client.post("/api/play/games", json=form).status_code == 403
    assert client.get("/play?season=secret&rule=none").status_code == 404
    with database.writing() as session:
        session.scalar(select(Season)).revealed_at = now()
    assert client.get(address).status_code == 200
    assert client.post("/api/play/games", json=form).status_code == 201


def test_games_of_one_address_are_limited(app):
    from dataclasses import replace

    from app_client import AppClient

    app.state.settings = replace(app.state.settings, max_play_sessions_per_hour=2)
    with AppClient(app) as client:
        assert [
            client.post("/api/play/games", json={"rule": "clockwise"}).status_code for _ in range(3)
        ] == [201, 201, 429]


def test_the_same_attempt_twice_at_once_counts_once(client, database):
    from gnomon_board.errors import Conflict
    from gnomon_board.studies.play import store_changes

    key, game = begin(client, "anything-goes")
    cell = game["view"]["pieces"][0]["cell"]
    with database.reading() as session:
        stale = find_game(session, key)
    assert attempt(client, key, cell, 0).status_code == 200
    made = stale.session.attempt(cell, 0)

    def keep_the_stale_one() -> None:
        with database.writing() as session:
            store_changes(session, stale, made)

    with pytest.raises(Conflict, match="changed in the meantime"):
        keep_the_stale_one()


def test_no_page_repeats_the_words_that_models_are_told(client):
    pages = Path(gnomon_board.__file__).parent / "web/templates/play"
    written = {path.name: path.read_text("utf-8") for path in pages.glob("*.html")}
    for name, sentence in INSTRUCTIONS.items():
        if name not in ("board", "goal"):  # the board is drawn; the goal is part of other sentences
            assert not [page for page, text in written.items() if sentence in text], name
    key, _ = begin(client)
    puzzle = unescape(client.get(f"/play?rule=puzzle-{NUMBER}").text)
    assert all(INSTRUCTIONS[name] in puzzle for name in ("rule", "accepted", "later"))
    assert INSTRUCTIONS["replies"] in unescape(client.get(f"/play/games/{key}").text)
