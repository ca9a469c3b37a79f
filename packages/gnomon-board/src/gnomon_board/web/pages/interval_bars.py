"""Layout of the intervals in a column of a table: bars on one scale, with ticks in the head.

Nothing is estimated here. The templates draw SVG with colours as classes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from gnomon_board.leaderboard.standings import Number

#: Size of the drawing of an interval, and the margin on each side of its scale.
_INTERVAL, _MARGIN = 160.0, 6.0


@dataclass(frozen=True, slots=True)
class Tick:
    """A tick of an axis."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Scale:
    """Mapping from numbers to positions on an axis.

    It leads from ``low`` to ``high`` to places from ``start`` to ``end``. If it is ``log``, steps
    of the same factor are equally long; counted from 1, so that 0 has a place.
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """Return the place of a number, at an end if it is beyond it.

        Examples
        --------
        >>> Scale(0, 10, 0, 100)(2.5), Scale(0, 99, 0, 100, log=True)(9)
        (25.0, 50.0)
        """
        low, high = self._inner(self.low), self._inner(self.high)
        share = (self._inner(value) - low) / (high - low) if high > low else 0.0
        return round(self.start + min(max(share, 0.0), 1.0) * (self.end - self.start), 2)

    def ticks(self, n: int = 5) -> tuple[Tick, ...]:
        """Return round numbers along the axis, about ``n`` of them.

        Examples
        --------
        >>> [tick.label for tick in Scale(0, 97, 0, 1).ticks()]
        ['0', '20', '40', '60', '80']
        >>> [tick.label for tick in Scale(0, 500, 0, 1, log=True).ticks()]
        ['0', '1', '3', '10', '30', '100', '300']
        """
        if self.log:
            values = [0.0, *(m * 10.0**e for e in range(7) for m in (1, 3))]
            if sum(self.low <= v <= self.high for v in values) > 1.6 * n:
                values = [10.0**e for e in range(7)]
        else:
            step = _step((self.high - self.low) / max(n, 1))
            first = math.ceil(self.low / step)
            values = [i * step for i in range(first, first + 4 * n + 2)]
        inside = [v for v in values if self.low <= v <= self.high * (1 + 1e-9)]
        return tuple(Tick(self(v), f"{v:,.10g}") for v in inside)

    def _inner(self, value: float) -> float:
        return math.log10(1.0 + max(value, 0.0)) if self.log else value


def _step(rough: float) -> float:
    """Return 1, 2 or 5 times a power of ten, not less than a number."""
    if rough <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(rough))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= rough * (1 - 1e-9))


@dataclass(frozen=True, slots=True)
class Interval:
    """Layout of an estimate with its interval; None where there is none."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Intervals:
    """Estimates on one scale, in the order they were given."""

    ticks: tuple[Tick, ...]
    rows: tuple[Interval, ...]
    width: float = _INTERVAL


def _ends(estimate: Number | None) -> tuple[float | None, float | None, float | None]:
    return (estimate.value, estimate.low, estimate.high) if estimate else (None, None, None)


def _numbers(estimates: Sequence[Number | None]) -> list[float]:
    return [x for each in estimates for x in _ends(each) if x is not None]


def intervals(estimates: Sequence[Number | None]) -> Intervals:
    """Lay estimates out on a common scale, from 0 unless they spread far.

    Examples
    --------
    >>> found = intervals([Number(10.0, 5.0, 20.0), None])
    >>> found.rows[0], found.rows[1].value
    (Interval(value=80.0, low=43.0, high=154.0), None)
    """
    numbers = _numbers(estimates)
    most, least = max([*numbers, 1.0]), max(min([*numbers, 1.0]), 0.0)
    log = most > 15 * max(min([*numbers, most]), 1.0)
    scale = Scale(least if log else 0.0, most, _MARGIN, _INTERVAL - _MARGIN, log)
    rows = [Interval(*(None if x is None else scale(x) for x in _ends(e))) for e in estimates]
    return Intervals(scale.ticks(3), tuple(rows))
