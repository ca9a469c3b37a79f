"""Limits of one client: what it has open at once, and what it does in a window of time.

Counts of a minute or an hour are in the database and hold for all processes; what is open now is
this process's own affair.
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

#: Seconds after which somebody who has too much in hand may try again.
_AGAIN_S = 5


def client_of(address: str) -> str:
    """Return an address as that of one client: of IPv6 the first 64 bits, which are a line's own.

    Within them a client takes as many addresses as it likes, and would have the limits of each.
    Some proxies tell a port too, which is another one for each connection.

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
    """What is asked of a connection."""

    def is_closing(self) -> bool:
        """Whether it is closed, or about to be."""


class Connections:
    """The open connections of each address.

    A connection that becomes a websocket changes its protocol; so these are the transports, which
    stay, and nobody has to say that one has ended.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: dict[str, WeakSet[Any]] = {}

    def admit(self, address: str, transport: Transport) -> bool:
        """Return whether an address may open one more connection, and count it."""
        held = {each for each in self._open.get(address, ()) if not each.is_closing()}
        if len(held) >= self._most:
            return False
        self._open[address] = WeakSet([*held, transport])
        if len(self._open) > 2 * self._most:
            self._open = {name: held for name, held in self._open.items() if held}
        return True


class AtOnce:
    """Counts of things in hand, for each key up to a limit. For the event loop alone.

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
        """Hold one more of each key; raises TooMany if one has its limit already."""
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

    So what one address asks for never fills the server, and whoever comes is answered soon: the
    reserve for everybody else. For the event loop alone.
    """

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._of: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    def of(self, address: str) -> asyncio.Semaphore:
        """Return the semaphore of an address, to be held while a request of it is answered."""
        return self._of.setdefault(address, asyncio.Semaphore(self._at_once))


class Intake:
    """What clients of a server have in hand: requests, uploads, and websockets."""

    def __init__(self, settings: Settings) -> None:
        self.turns = Turns(settings.answers_at_once)
        #: By account.
        self.uploads = AtOnce(1, "another log of this account is being sent: send this one later")
        self.websockets = AtOnce(settings.websockets_at_once)


def count_upload(
    database: Database, settings: Settings, who: Caller, address: str, n_bytes: int
) -> None:
    """Count the bytes of a log that an account sends from an address; TooMany above a limit.

    What the one is refused is not counted of the other: a neighbour behind the same address must
    not use up an account.
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

    ``session`` is a writing one of its own: a count must not be undone with what was refused.
    ``key`` is what is counted, and whose: ``sign-in 192.0.2.7``; only a keyed hash of it is stored.
    At most ``most`` may fall into a window of ``window_s`` seconds.

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
    """Refuse if the current window is at its limit already, without counting."""
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
