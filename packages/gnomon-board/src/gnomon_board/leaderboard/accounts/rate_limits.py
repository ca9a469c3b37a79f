"""Rate limits in fixed windows of time, counted in the database for all processes together.

A window of time has a number; the rows of windows that are over are swept away as new ones begin.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from sqlalchemy import delete, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from gnomon_board.database.schema import RateCount
from gnomon_board.errors import TooMany

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
    ``key`` tells what is counted, and whose: ``sign-in 192.0.2.7``. At most ``most`` may fall into
    a window of ``window_s`` seconds.

    Raises TooMany: with the seconds until the next window.
    """
    key, window = key[:128], int(clock() // window_s)
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
    window = int(clock() // window_s)
    counted = session.scalar(
        select(RateCount.count).where(RateCount.key == key[:128], RateCount.window == window)
    )
    if counted is not None and counted >= most:
        raise _too_many(window, window_s, clock)


def _too_many(window: int, window_s: int, clock: Callable[[], float]) -> TooMany:
    wait = max(1, round((window + 1) * window_s - clock()))
    return TooMany(f"too many in a short time; try again in {wait} s", wait)
