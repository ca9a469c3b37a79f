"""Many people at once, more than the web framework has threads: nobody waits for ever."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import httpx
import pytest
from sqlalchemy import func, select

from gnomon_board.database import Database
from gnomon_board.schema import PlayAttempt
from gnomon_board.web.server import _bound
from playing import begin, invite

#: What a transaction holds together must hold on PostgreSQL too.
ON_BOTH_DATABASES = True

N_PEOPLE, N_MOVES = 60, 4


#: There writers take turns, which is what could go wrong.
on_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


@pytest.fixture
def settings(settings):
    from dataclasses import replace

    return replace(settings, max_play_sessions_per_hour=10_000)


def play(client: httpx.Client, invitation: str) -> list[int]:
    """Begin a game and make some attempts in it; return the statuses."""
    client.cookies.clear()
    game, answers = begin(client, invitation), []
    view = client.get(f"/api{game}").json()["view"]
    for n in range(N_MOVES):
        body = {"cell": view["pieces"][0]["cell"], "bucket": n % 4}
        answer = client.post(f"/api{game}/attempts", json=body)
        answers.append(answer.status_code)
        view = answer.json()["view"]
    return answers


def check(found: list[list[int]], database: Database) -> None:
    """Every attempt was answered, and kept."""
    assert found == [[200] * N_MOVES] * len(found)
    with database.reading() as session:
        assert session.scalar(select(func.count()).select_from(PlayAttempt)) == len(found) * N_MOVES


@on_sqlite
def test_several_play_at_once_and_every_attempt_is_kept(client, database):
    invitation = invite(database, "clockwise")
    with ThreadPoolExecutor(8) as people:
        check(list(people.map(lambda _: play(client, invitation), range(8))), database)


@on_sqlite
@pytest.mark.full
def test_a_crowd_plays_at_once_and_every_attempt_is_kept(server, database):
    invitation = invite(database, "clockwise")

    def own_client(_: int) -> list[int]:
        with httpx.Client(base_url=server.url, timeout=60) as client:
            return play(client, invitation)

    with ThreadPoolExecutor(N_PEOPLE) as people:
        check(list(people.map(own_client, range(N_PEOPLE))), database)


def test_no_answer_waits_for_the_one_before():
    # asyncio turns Nagle's algorithm off for sockets that say they are TCP, and for no others.
    with closing(_bound("127.0.0.1", 0)) as listening:
        assert listening.proto == socket.IPPROTO_TCP
        assert listening.getsockname()[0] == "127.0.0.1"
