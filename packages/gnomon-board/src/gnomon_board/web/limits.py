"""Limits per client: what is open at the same time, and counts in a window of time.

All are counted in the memory of this process: nothing is written, and no address is stored.
"""

from __future__ import annotations

import asyncio
import ipaddress
import threading
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from weakref import WeakSet, WeakValueDictionary

from gnomon_board.errors import TooMany

MINUTE_S, HOUR_S = 60, 3600
#: Seconds after which a client with too many open uploads may try again.
_AGAIN_S = 5
#: Requests of one address that are answered at once; the others wait.
_ANSWERED_AT_ONCE = 4


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


class Connections:
    """The open connections of each address; closed ones are found without a notice."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: dict[str, WeakSet[asyncio.BaseTransport]] = {}

    def admit(self, address: str, transport: asyncio.BaseTransport) -> bool:
        """Return whether an address may open another connection, and count it."""
        held = {each for each in self._open.get(address, ()) if not each.is_closing()}
        if len(held) >= self._most:
            return False
        self._open[address] = WeakSet([*held, transport])
        if len(self._open) > 2 * self._most:
            self._open = {name: held for name, held in self._open.items() if held}
        return True


class AtOnce:
    """Counts of simultaneous uses, limited for each key. Use only in the event loop."""

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


class Counts:
    """Counts of events in the current minute and the current hour, limited for each key."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        #: Of each length of windows: the number of the current one, and its counts.
        self._windows: dict[int, tuple[int, Counter[str]]] = {}

    def seconds_to_wait(
        self, *keys: str, most: int, window_s: int = MINUTE_S, amount: int = 1
    ) -> int:
        """Count an amount for every key and return 0; above a limit, count nothing.

        Then it returns the seconds until the next window.
        """
        at = self._clock()
        number = int(at // window_s)
        with self._lock:
            current, counts = self._windows.get(window_s, (-1, Counter[str]()))
            if current != number:
                counts = Counter[str]()
                self._windows[window_s] = number, counts
            if any(counts[key] + amount > most for key in keys):
                return max(1, round((number + 1) * window_s - at))
            counts.update(dict.fromkeys(keys, amount))
        return 0

    def count(self, *keys: str, most: int, window_s: int = MINUTE_S, amount: int = 1) -> None:
        """Count as :meth:`seconds_to_wait`; raise TooMany above a limit."""
        if wait := self.seconds_to_wait(*keys, most=most, window_s=window_s, amount=amount):
            raise TooMany(f"too many in a short time; try again in {wait} s", wait)


class Intake:
    """Counts of the requests and uploads of clients."""

    def __init__(self) -> None:
        self.counts = Counts()
        self.turns = Turns(_ANSWERED_AT_ONCE)
        #: Per account.
        self.uploads = AtOnce(1, "another log of this account is being sent: send this one later")
