"""Games of people in a test: a study of some rules, and a player of it."""

from __future__ import annotations

import httpx

from gnomon_board.database import Database
from gnomon_board.studies import StudyPlan, make_study

__all__ = ["begin", "invite"]


def invite(database: Database, *rules: object, **fields: object) -> str:
    """Make a study of one list, and return the address of its invitation."""
    plan = {"name": "games", "title": "Games", "consent": "Yes.", "lists": {"a": rules}}
    with database.writing() as session:
        return f"/join/{make_study(session, StudyPlan.from_record(plan | fields))[1]}"


def begin(client: httpx.Client, invitation: str) -> str:
    """Join a study, and return the address of the first game."""
    joined = client.post(f"/api{invitation}", json={"agree": True})
    assert joined.status_code == 201, joined.text
    begun = client.post(f"/api{joined.json()['address']}/go-on")
    assert begun.status_code == 200, begun.text
    return str(begun.json()["address"])
