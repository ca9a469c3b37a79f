"""Whose turn it is to have a log read."""

from __future__ import annotations

import asyncio
import threading
import time
from types import SimpleNamespace

import pytest

from gnomon.leaderboard.server_settings import ServerSettings
from gnomon.web.client_limits import Intake


@pytest.mark.parametrize(
    ("clients", "most"),
    [
        ([(1, "192.0.2.1"), (2, "192.0.2.1"), (3, "192.0.2.1")], 1),
        ([(1, "192.0.2.1"), (1, "192.0.2.2"), (1, "192.0.2.3")], 1),
        ([(1, "192.0.2.1"), (2, "192.0.2.2"), (2, "192.0.2.1")], 2),
    ],
    ids=["accounts of one address", "addresses of one account", "two clients"],
)
def test_one_log_of_a_client_is_read_at_a_time(tmp_path, clients, most):
    """Else one client with two accounts would have all readers for itself."""
    intake, lock = Intake(ServerSettings(tmp_path)), threading.Lock()
    reading, seen = 0, []

    def work(check):
        nonlocal reading
        with lock:
            reading += 1
            seen.append(reading)
        time.sleep(0.1)
        with lock:
            reading -= 1

    async def stays():
        await asyncio.Future()

    async def all_at_once():
        request = SimpleNamespace(receive=stays)
        await asyncio.gather(*(intake.read(request, client, work) for client in clients))

    asyncio.run(all_at_once())
    assert (len(seen), max(seen)) == (len(clients), most)
