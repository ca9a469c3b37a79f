"""Limits on bodies and on counts in a window, by a clock of the test."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from fastapi import HTTPException

from gnomon_board.errors import TooMany
from gnomon_board.web.limits import Counts
from gnomon_board.web.middleware import _counted


def test_a_body_that_comes_byte_by_byte_is_refused(monkeypatch):
    """Each byte comes in time; all of them together do not."""
    clock = [0.0]
    monkeypatch.setattr(
        "gnomon_board.web.middleware.time", SimpleNamespace(monotonic=lambda: clock[0])
    )

    async def one_byte():
        clock[0] += 1.9
        return {"type": "http.request", "body": b"x", "more_body": True}

    async def many_bytes():
        clock[0] += 1.9
        return {"type": "http.request", "body": bytes(4000), "more_body": True}

    async def received(source, n):
        counted = _counted(source, 1 << 30, patience_s=2.0)
        return [await counted() for _ in range(n)]

    assert len(asyncio.run(received(many_bytes, 100))) == 100
    with pytest.raises(HTTPException, match="comes too slowly"):
        asyncio.run(received(one_byte, 100))


def test_counts_are_of_a_window_and_of_every_key():
    clock = [1000.0]
    counts = Counts(lambda: clock[0])
    for _ in range(3):
        counts.count("x", most=3)
    with pytest.raises(TooMany) as raised:
        counts.count("x", most=3)
    assert raised.value.retry_after_s == 20
    clock[0] = 1020.0
    counts.count("x", most=3)
    # MiB of uploads: nothing of a refused one is counted, for the account or for the address.
    counts.count("ada", "192.0.2.1", most=3, window_s=3600, amount=2)
    for keys in (("ada", "192.0.2.2"), ("bob", "192.0.2.1")):
        with pytest.raises(TooMany):
            counts.count(*keys, most=3, window_s=3600, amount=2)
    counts.count("bob", "192.0.2.2", most=3, window_s=3600, amount=3)
