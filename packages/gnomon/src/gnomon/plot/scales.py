"""Scales for counts of errors: logarithmic with zeros, and broken where a few runs lie far out.

The broken one is after figure 5 of Pulick et al. (2022): box plots on "a broken axis with a scale
change to capture the most extreme outliers".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

from gnomon.plot.style import MUTED, PAPER, FloatArray, mark_numbers


@dataclass(frozen=True, slots=True)
class ErrorScale:
    """A logarithmic scale from ``low`` to ``high`` that can show zeros, and says so if it does.

    A position on the axis is ``log10(value + shift)``. The shift is 0 if every value is above zero
    and else 1; ticks always bear the values themselves.
    """

    low: float
    high: float
    shift: float

    @classmethod
    def fit(cls, values: npt.ArrayLike) -> ErrorScale:
        """Return the scale that shows all finite values, with a little air on both sides."""
        x = np.asarray(values, dtype=np.float64).ravel()
        x = x[np.isfinite(x)]
        least, most = (float(x.min()), float(x.max())) if x.size else (1.0, 10.0)
        shift = 0.0 if least > 0 else 1.0
        if least == most:
            # One value says nothing of a range; show a factor of about two around it.
            least, most = (least, most + 1.0) if shift else (least / 1.5, most * 1.5)
        ends = np.log10([least + shift, most + shift])
        air = max(0.05 * (ends[1] - ends[0]), 0.03)
        # Zero keeps its place at the edge: there is nothing below it to leave air for.
        low = least - 0.04 if shift else 10 ** (ends[0] - air)
        return cls(float(low), float(10 ** (ends[1] + air) - shift), shift)

    def label(self, quantity: str) -> str:
        """Return the label of the axis: a quantity, and (on its own line if long) the scale."""
        between = "\n" if self.shift else " "
        return f"{quantity}{between}({self.note})"

    @property
    def note(self) -> str:
        """What the scale is, for the label of the axis."""
        return "log scale of 1 + errors" if self.shift else "log scale"

    def units(self, values: npt.ArrayLike) -> FloatArray:
        """Return the positions of values on the axis, in decades."""
        shifted = np.asarray(values, dtype=np.float64) + self.shift
        return np.asarray(np.log10(np.maximum(shifted, 1e-9)))

    def values(self, units: npt.ArrayLike) -> FloatArray:
        """Return the values at positions on the axis; the inverse of :meth:`units`."""
        return np.asarray(10 ** np.asarray(units, dtype=np.float64) - self.shift)

    def ticks(self) -> list[float]:
        """Return round values to mark, the fewer the more decades the axis spans.

        Examples
        --------
        >>> ErrorScale(0, 2000, 1).ticks()
        [0.0, 1.0, 10.0, 100.0, 1000.0]
        >>> ErrorScale(40, 700, 0).ticks()
        [50.0, 100.0, 200.0, 500.0]
        """
        span = float(np.diff(self.units([self.low, self.high]))[0])
        if span < 0.7:
            marks = np.asarray(MaxNLocator(5, integer=True).tick_values(self.low, self.high))
        else:
            steps = (1, 2, 5) if span < 1.7 else (1, 3) if span < 2.6 else (1,)
            marks = np.array([0.0] + [m * 10.0**k for k in range(-1, 12) for m in steps])
        # Errors are whole and not negative.
        marks = marks[(marks == 0) | (marks >= 1)]
        return [float(m) for m in marks if self.low <= m <= self.high]

    def apply(self, ax: Axes, axis: Literal["x", "y"]) -> None:
        """Give an axis this scale, its limits and its ticks."""
        functions = (self.units, self.values)
        if axis == "x":
            ax.set_xscale("function", functions=functions)
            ax.set_xlim(self.low, self.high)
        else:
            ax.set_yscale("function", functions=functions)
            ax.set_ylim(self.low, self.high)
        _mark(ax.xaxis if axis == "x" else ax.yaxis, self.ticks())


#: Where on the axis, from 0 to 1, the plain part ends and the other begins.
_ENDS, _RESUMES = 0.74, 0.78
#: How far beyond the whiskers, as a multiple, the last run must be for a break to be worth it.
_WORTH = 1.5


@dataclass(frozen=True, slots=True)
class BrokenScale:
    """A linear scale from ``low`` to ``cut`` and another one from ``resume`` to ``high``.

    There is no value between ``cut`` and ``resume``. Without a break both are ``high``.
    """

    low: float
    cut: float
    resume: float
    high: float

    @classmethod
    def fit(cls, values: npt.ArrayLike, usual: float) -> BrokenScale:
        """Return the scale that shows all finite values.

        What is not finite is left out; what lies beyond ``usual``, the end of the longest whisker,
        may stand behind the break.
        """
        x = np.asarray(values, dtype=np.float64).ravel()
        x = x[np.isfinite(x)]
        least, most = (float(x.min()), float(x.max())) if x.size else (0.0, 10.0)
        most = max(most, least + 1.0)
        beyond = x[x > usual] if np.isfinite(usual) else x[:0]
        span = (usual if beyond.size else most) - least
        low = max(0.0, least - 0.06 * span)
        if not beyond.size or most < least + _WORTH * (usual - least):
            high = most + 0.06 * (most - least)
            return cls(low, high, high, high)
        cut = usual + 0.06 * max(usual - least, 1.0)
        beyond = x[x > cut]
        air = 0.08 * max(most - float(beyond.min()), 0.1 * most)
        return cls(low, cut, max(float(beyond.min()) - air, cut + 1e-6 * most), most + air)

    @property
    def is_broken(self) -> bool:
        """Whether the axis has a break."""
        return self.cut < self.high

    def label(self, quantity: str) -> str:
        """Return the label of the axis: a quantity, and whether the axis is broken."""
        return f"{quantity} (broken axis)" if self.is_broken else quantity

    def _knots(self) -> tuple[list[float], list[float]]:
        if not self.is_broken:
            return [self.low, self.high], [0.0, 1.0]
        return [self.low, self.cut, self.resume, self.high], [0.0, _ENDS, _RESUMES, 1.0]

    def units(self, values: npt.ArrayLike) -> FloatArray:
        """Return the positions of values on the axis, 0 at ``low`` and 1 at ``high``."""
        return np.asarray(np.interp(np.asarray(values, dtype=np.float64), *self._knots()))

    def values(self, units: npt.ArrayLike) -> FloatArray:
        """Return the values at positions on the axis; the inverse of :meth:`units`."""
        places, positions = self._knots()
        return np.asarray(np.interp(np.asarray(units, dtype=np.float64), positions, places))

    def ticks(self) -> list[float]:
        """Return round values to mark on both sides of the break.

        Examples
        --------
        >>> BrokenScale(0, 100, 800, 1000).ticks()
        [0.0, 20.0, 40.0, 60.0, 80.0, 100.0, 800.0, 900.0, 1000.0]
        """
        marks = _round_values(self.low, self.cut, 5)
        if self.is_broken:
            marks += _round_values(self.resume, self.high, 2) or [self.resume]
        return marks

    def apply(self, ax: Axes) -> None:
        """Give the x axis this scale, its limits and its ticks, and mark the break."""
        ax.set_xscale("function", functions=(self.units, self.values))
        ax.set_xlim(self.low, self.high)
        _mark(ax.xaxis, self.ticks())
        if self.is_broken:
            _mark_break(ax)


def _round_values(low: float, high: float, n: int) -> list[float]:
    """Return about `n` round values between two; errors are whole."""
    marks = MaxNLocator(n, integer=True).tick_values(low, high)
    return [float(mark) for mark in marks if low <= mark <= high]


def _mark_break(ax: Axes) -> None:
    """Leave the axis out between its parts, with a stroke at either end."""
    strokes = [((_ENDS, _RESUMES), (0.0, 0.0), PAPER, 3)]
    strokes += [((at - 0.008, at + 0.008), (-0.025, 0.025), MUTED, 1) for at in (_ENDS, _RESUMES)]
    for x, y, color, width in strokes:
        ax.plot(
            x, y, color=color, linewidth=width, solid_capstyle="butt", transform=ax.transAxes,
            clip_on=False, zorder=4,
        )  # fmt: skip


def _mark(axis: Axis, ticks: list[float]) -> None:
    """Mark an axis at these values alone."""
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_minor_locator(NullLocator())
    mark_numbers(axis)
