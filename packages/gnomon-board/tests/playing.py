"""Games of people in a test: a study of some rules, and a player of it."""

from __future__ import annotations

import httpx

from gnomon_board.database import Database
from gnomon_board.studies import StudyPlan, make_study

__all__ = ["begin", "go_on", "invite", "join", "play_out"]


def invite(database: Database, *rules: object, **fields: object) -> str:
    """Make a study of one list, and return the address of its invitation."""
    plan = {"name": "games", "title": "Games", "consent": "Yes.", "lists": {"a": rules}}
    with database.writing() as session:
        return f"/join/{make_study(session, StudyPlan.from_record(plan | fields))[1]}"


def join(client: httpx.Client, invitation: str) -> str:
    """Join a study, and return the address of the player."""
    joined = client.post(f"/api{invitation}", json={"agree": True})
    assert joined.status_code == 201, joined.text
    return str(joined.json()["address"])


def go_on(client: httpx.Client, player: str) -> str:
    """Return the address of the game that is next, or of what comes after the last."""
    answer = client.post(f"/api{player}/go-on")
    assert answer.status_code == 200, answer.text
    return str(answer.json()["address"])


def play_out(client: httpx.Client, game: str) -> None:
    """Play a game of one board to its end."""
    view = client.get(f"/api{game}").json()["view"]
    while view["state"] == "playing":
        body = {"cell": view["pieces"][0]["cell"], "bucket": len(view["attempts"]) % 4}
        view = client.post(f"/api{game}/attempts", json=body).json()["view"]
    assert view["state"] == "ended"


def begin(client: httpx.Client, invitation: str) -> str:
    """Join a study, and return the address of the first game."""
    return go_on(client, join(client, invitation))
