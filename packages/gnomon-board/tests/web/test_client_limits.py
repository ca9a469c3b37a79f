"""Limits on bodies and on bytes, without a server."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import SimpleNamespace

import pytest
from fastapi import HTTPException

from gnomon_board.errors import TooMany
from gnomon_board.web.limits import count_upload
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


@pytest.mark.parametrize(
    ("account", "address"), [(1, "192.0.2.2"), (2, "192.0.2.1")], ids=["account", "address"]
)
def test_bytes_of_an_hour_are_counted(database, settings, account, address):
    few = replace(settings, upload_mib_per_hour=3)
    count_upload(database, few, SimpleNamespace(account_id=1), "192.0.2.1", 2 << 20)
    with pytest.raises(TooMany):
        count_upload(database, few, SimpleNamespace(account_id=account), address, (1 << 20) + 1)
    # And nothing of what was refused: of neither the account nor the address.
    new = SimpleNamespace(account_id=account if account > 1 else 3), "192.0.2.3"
    count_upload(database, few, *new, 3 << 20)
