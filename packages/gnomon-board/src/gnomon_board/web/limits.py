"""Limits per client: what is open at the same time, and counts in a window of time.

Counts per minute or hour are in the database and hold for all processes; open connections and
requests are counted in each process.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol
from weakref import WeakSet, WeakValueDictionary

from sqlalchemy import delete, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from gnomon_board.accounts import server_secret
from gnomon_board.database.engine import Database
from gnomon_board.database.schema import RateCount, ServerSecret
from gnomon_board.errors import TooMany
from gnomon_board.leaderboard.server_settings import MIB, Settings
from gnomon_board.tokens import Caller

#: Seconds after which a client with too many open uploads or websockets may try again.
_AGAIN_S = 5


def client_of(address: str) -> str:
    """Return the address that identifies a client: for IPv6 the first 64 bits.

    A client can use any address within these bits, and would have the limits of each. A port, which
    some proxies add, is removed, since it differs for each connection.

    Examples
    --------
    >>> [client_of(x) for x in ("192.0.2.7", "2001:db8:1:2:3::4", "::ffff:192.0.2.7", "::1")]
    ['192.0.2.7', '2001:db8:1:2::', '192.0.2.7', '::1']
    >>> client_of("192.0.2.7:4711"), client_of("[2001:db8:1:2:3::4]:4711")
    ('192.0.2.7', '2001:db8:1:2::')
    """
    if address.startswith("["):
        address = address[1:].partition("]")[0]
    elif address.count(":") == 1:
        address = address.partition(":")[0]
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address) or found.is_loopback:
        return address
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.IPv6Address(int(found) >> 64 << 64))


class Transport(Protocol):
    """Interface of a connection."""

    def is_closing(self) -> bool:
        """Return whether it is closed or closing."""


class Connections:
    """The open connections of each address.

    These are the transports, since a connection that becomes a websocket changes its protocol but
    keeps its transport; closed ones are found without a notice.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: dict[str, WeakSet[Any]] = {}

    def admit(self, address: str, transport: Transport) -> bool:
        """Return whether an address may open another connection, and count it."""
        held = {each for each in self._open.get(address, ()) if not each.is_closing()}
        if len(held) >= self._most:
            return False
        self._open[address] = WeakSet([*held, transport])
        if len(self._open) > 2 * self._most:
            self._open = {name: held for name, held in self._open.items() if held}
        return True


class AtOnce:
    """Counts of simultaneous uses, limited for each key. Use only in the event loop.

    Examples
    --------
    >>> uploads = AtOnce(1, "one log of an account is taken at a time")
    >>> with uploads.held("ada"), uploads.held("bob"):
    ...     with uploads.held("ada"):
    ...         pass
    Traceback (most recent call last):
    gnomon_board.errors.TooMany: one log of an account is taken at a time; try again in 5 s
    """

    def __init__(self, most: int, rule: str = "") -> None:
        self._most, self._rule = most, rule or f"too many at once ({most} of one client)"
        self._held: Counter[Hashable] = Counter()

    @contextmanager
    def held(self, *keys: Hashable) -> Iterator[None]:
        """Count one more use of each key; raise TooMany if one is at its limit."""
        if any(self._held[key] >= self._most for key in keys):
            raise TooMany(f"{self._rule}; try again in {_AGAIN_S} s", _AGAIN_S)
        self._held.update(keys)
        try:
            yield
        finally:
            self._held.subtract(keys)
            for key in keys:
                if not self._held[key]:
                    del self._held[key]


class Turns:
    """Concurrency limit of each address: a few of its requests are answered at once, others wait.

    Therefore one address cannot fill the server, and other addresses are answered soon. Use only in
    the event loop.
    """

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._of: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    def of(self, address: str) -> asyncio.Semaphore:
        """Return the semaphore of an address; hold it while answering its request."""
        return self._of.setdefault(address, asyncio.Semaphore(self._at_once))


class Intake:
    """Counts of the open requests, uploads and websockets of clients."""

    def __init__(self, settings: Settings) -> None:
        self.turns = Turns(settings.answers_at_once)
        #: Per account.
        self.uploads = AtOnce(1, "another log of this account is being sent: send this one later")
        self.websockets = AtOnce(settings.websockets_at_once)


def count_upload(
    database: Database, settings: Settings, who: Caller, address: str, n_bytes: int
) -> None:
    """Count the bytes of a log for its account and address; raise TooMany above a limit.

    An upload refused for one of them is not counted for the other, so that other clients of the
    address cannot use up the limit of an account.
    """
    most, amount = settings.upload_mib_per_hour, -(-n_bytes // MIB)
    with database.writing() as session:
        for client in (str(who.account_id), address):
            count_or_refuse(session, f"MiB {client}", most, HOUR_S, amount=amount)


# -- counts in windows of time ---------------------------------------------------------------------

MINUTE_S, HOUR_S = 60, 3600


def count_or_refuse(
    session: Session,
    key: str,
    most: int,
    window_s: int,
    *,
    amount: int = 1,
    clock: Callable[[], float] = time.time,
) -> None:
    """Count an event, or an amount, in the current window, and refuse it above the limit.

    ``session`` is a separate writing session: a refusal must not roll back the count. ``key`` names
    the event and the client, as in ``sign-in 192.0.2.7``; only its keyed hash is stored. A
    window of ``window_s`` seconds permits at most ``most``.

    Raises TooMany: with the seconds until the next window.
    """
    key, window = _stored(server_secret(session, "counts"), key), int(clock() // window_s)
    insert = sqlite.insert if session.get_bind().dialect.name == "sqlite" else postgresql.insert
    one_more = insert(RateCount).values(key=key, window=window, count=amount)
    counted = session.scalar(
        one_more.on_conflict_do_update(
            index_elements=["key", "window"], set_={"count": RateCount.count + amount}
        ).returning(RateCount.count)
    )
    if counted == amount:
        session.execute(delete(RateCount).where(RateCount.key == key, RateCount.window < window))
    if counted is not None and counted > most:
        raise _too_many(window, window_s, clock)


def is_over(
    session: Session, key: str, most: int, window_s: int, *, clock: Callable[[], float] = time.time
) -> None:
    """Refuse if the current window is at its limit, without counting."""
    secret = session.get(ServerSecret, "counts")
    if secret is None:
        return  # Nothing has been counted yet.
    window, stored = int(clock() // window_s), _stored(secret.value, key)
    counted = session.scalar(
        select(RateCount.count).where(RateCount.key == stored, RateCount.window == window)
    )
    if counted is not None and counted >= most:
        raise _too_many(window, window_s, clock)


def _stored(secret: bytes, key: str) -> str:
    return hmac.new(secret, key.encode(), hashlib.sha256).hexdigest()


def _too_many(window: int, window_s: int, clock: Callable[[], float]) -> TooMany:
    wait = max(1, round((window + 1) * window_s - clock()))
    return TooMany(f"too many in a short time; try again in {wait} s", wait)
