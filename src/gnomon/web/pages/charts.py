"""Layout of small SVG charts: scales, lines, bands, intervals, dots.

Nothing is estimated here. A chart takes what the statistics made, and says where on paper it goes.
The templates draw SVG whose colours are classes, so that light and dark are the page's business and
no style stands in the markup.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gnomon.leaderboard.standing_records import Number

_WIDTH, _HEIGHT = 540.0, 330.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 48.0, 130.0, 22.0, 46.0
_N_COLORS = 6
#: The drawing of an interval, and the margin on either side of its scale.
_INTERVAL, _MARGIN = 160.0, 6.0
#: Least distance of two labels, in units of the drawing.
_LABEL_STEP = 16.0
#: Odds beyond a million to one are told as such, and drawn at the edge.
MOST_LOG_ODDS = math.log(1e6)


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
class Curve:
    """A curve to draw, at x = 1, 2, ... unless `at` says where; ``you`` is drawn in ink."""

    label: str
    values: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    you: bool = False
    at: Sequence[float] = ()

    def places(self) -> Sequence[float]:
        """Return where its values are, along the axis."""
        return self.at or range(1, len(self.values) + 1)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A curve on paper: the points of its line and its band, and where its name stands."""

    label: str
    points: str
    band: str
    color: int
    dash: int
    you: bool
    end_x: float
    end_y: float
    label_y: float


@dataclass(frozen=True, slots=True)
class LineChart:
    """Layout of curves with their axes."""

    width: float
    height: float
    left: float
    right: float
    bottom: float
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    curves: tuple[Drawn, ...]
    x_label: str
    y_label: str


def line_chart(
    curves: Sequence[Curve],
    *,
    x_label: str,
    y_label: str,
    log: bool = False,
    log_x: bool = False,
) -> LineChart | None:
    """Lay curves out; None if there is nothing to draw.

    Examples
    --------
    >>> chart = line_chart([Curve("you", [3, 4, 4], you=True)], x_label="board", y_label="errors")
    >>> len(chart.curves), [tick.label for tick in chart.x_ticks]
    (1, ['1', '2', '3'])
    """
    curves = [curve for curve in curves if len(curve.values)]
    if not curves:
        return None
    most = max(max([*curve.values, *curve.high]) for curve in curves)
    counted = not any(curve.at for curve in curves)
    last = max(max(curve.places()) for curve in curves)
    first = min(min(curve.places()) for curve in curves)
    x = Scale(first, last if last > first else first + 1, _LEFT, _WIDTH - _RIGHT, log=log_x)
    y = Scale(0, max(most, 1.0), _HEIGHT - _BOTTOM, _TOP, log=log)
    ends = _spread([y(curve.values[-1]) for curve in curves], _TOP + 6, _HEIGHT - _BOTTOM)
    others = iter(range(len(curves)))
    drawn = []
    for curve, label_y in zip(curves, ends, strict=True):
        number = 0 if curve.you else next(others)
        drawn.append(_drawn(curve, x, y, number, label_y))
    return LineChart(
        *(_WIDTH, _HEIGHT, _LEFT, _WIDTH - _RIGHT, _HEIGHT - _BOTTOM),
        _counting(x, int(last)) if counted else x.ticks(6),
        y.ticks(),
        tuple(drawn),
        x_label,
        y_label,
    )


def _counting(x: Scale, last: int) -> tuple[Tick, ...]:
    """Return the ticks of an axis that counts from 1."""
    step = int(_step(max(last / 8, 1)))
    return tuple(Tick(x(i), str(i)) for i in sorted({1, *range(step, last + 1, step)}))


def _drawn(curve: Curve, x: Scale, y: Scale, number: int, label_y: float) -> Drawn:
    places = [x(place) for place in curve.places()]
    points = list(zip(places, map(y, curve.values), strict=True))
    band = ""
    if len(curve.low):
        upper = list(zip(places, map(y, curve.high), strict=True))
        lower = list(zip(places, map(y, curve.low), strict=True))
        band = _text([*upper, *reversed(lower)])
    return Drawn(
        curve.label,
        _text(points),
        band,
        number % _N_COLORS,
        number // _N_COLORS % 4,
        curve.you,
        *points[-1],
        label_y,
    )


def _text(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{a:g},{b:g}" for a, b in points)


def _spread(places: Sequence[float], low: float, high: float) -> list[float]:
    """Move labels apart as little as keeps them from touching.

    Examples
    --------
    >>> _spread([10.0, 12.0, 100.0], 0.0, 200.0)
    [10.0, 26.0, 100.0]
    """
    order = sorted(range(len(places)), key=lambda i: places[i])
    found = [0.0] * len(places)
    last = low - _LABEL_STEP
    for i in order:
        last = found[i] = max(places[i], last + _LABEL_STEP)
    # What was pushed over the edge comes back, and pushes the ones before it.
    edge = high
    for i in reversed(order):
        found[i] = min(found[i], edge)
        edge = found[i] - _LABEL_STEP
    return [round(place, 2) for place in found]


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


def _on_scale(
    estimates: Sequence[Number | None],
    low: float,
    high: float,
    marks: Iterable[tuple[float, str]] | None = None,
    *,
    log: bool = False,
) -> Intervals:
    """Put estimates on a scale with marks, or with round numbers if none are given."""
    scale = Scale(low, high, _MARGIN, _INTERVAL - _MARGIN, log)
    rows = [Interval(*(None if x is None else scale(x) for x in _ends(e))) for e in estimates]
    ticks = scale.ticks(3) if marks is None else [Tick(scale(x), label) for x, label in marks]
    return Intervals(tuple(ticks), tuple(rows))


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
    return _on_scale(estimates, least if log else 0.0, most, log=log)


def odds_intervals(estimates: Sequence[Number | None]) -> Intervals:
    """Lay logarithms of odds out on one scale; its marks are the odds.

    Examples
    --------
    >>> found = odds_intervals([Number(1.0, 0.5, 2.5), Number(-1.0, -2.5, -0.5)])
    >>> [tick.label for tick in found.ticks]
    ['1:10', '1:1', '10:1']
    >>> found.rows[0].value > found.rows[1].value
    True
    """
    far = max(map(abs, _numbers(estimates)), default=0.0)
    most = min(max(far, math.log(10.0)), MOST_LOG_ODDS)
    step = 1 + int(most / math.log(10.0) / 2.0)
    steps = [10.0**n for n in range(step, 12, step)]
    marks = [(math.log(x), f"{x:g}:1") for x in steps] + [(0.0, "1:1")]
    marks += [(-math.log(x), f"1:{x:g}") for x in steps]
    inside = sorted(mark for mark in marks if abs(mark[0]) <= most * (1 + 1e-9))
    return _on_scale(estimates, -most, most, inside)


def differences(estimates: Sequence[Number | None]) -> Intervals:
    """Lay differences out on one scale with 0 in its middle.

    Examples
    --------
    >>> found = differences([Number(-10.0, -40.0, 20.0)])
    >>> [tick.label for tick in found.ticks], found.rows[0].value
    (['−20', '0', '+20'], 61.5)
    """
    most = max(map(abs, _numbers(estimates)), default=0.0) or 1.0
    step = _step(most * 0.4)
    marks = ((-step, f"−{step:,.10g}"), (0.0, "0"), (step, f"+{step:,.10g}"))
    return _on_scale(estimates, -most, most, marks)


def shares(estimates: Sequence[Number | None]) -> Intervals:
    """Lay shares out on a scale from none to all.

    Examples
    --------
    >>> shares([Number(0.5, 0.25, 1.0)]).rows
    (Interval(value=80.0, low=43.0, high=154.0),)
    """
    return _on_scale(estimates, 0.0, 1.0, [(x, f"{x:.0%}") for x in (0.0, 0.5, 1.0)])


@dataclass(frozen=True, slots=True)
class Strip:
    """The scores of one algorithm as dots on a line, and their median."""

    label: str
    y: float
    dots: tuple[float, ...]
    median: float


@dataclass(frozen=True, slots=True)
class Strips:
    """Strips one below the other, on one scale."""

    width: float
    height: float
    left: float
    ticks: tuple[Tick, ...]
    strips: tuple[Strip, ...]


def strips(rows: Sequence[tuple[str, Sequence[float], float]]) -> Strips | None:
    """Lay the scores of several algorithms out: each a name, its finite scores, and their median.

    Examples
    --------
    >>> strips([("a", [1.0, 2.0], 1.5)]).strips[0].label
    'a'
    >>> strips([]) is None
    True
    """
    rows = [row for row in rows if len(row[1])]
    if not rows:
        return None
    width, left, step = 400.0, 130.0, 20.0  # so narrow that its words can be read on a phone
    most = max(max(scores) for _, scores, _ in rows)
    scale = Scale(0.0, max(most, 1.0), left, width - 14.0, log=most > 60)
    return Strips(
        width,
        len(rows) * step + 40.0,
        left,
        scale.ticks(),
        tuple(
            Strip(name, 14.0 + i * step, tuple(map(scale, scores)), scale(median))
            for i, (name, scores, median) in enumerate(rows)
        ),
    )
