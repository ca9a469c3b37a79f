"""Axes for counts of errors: logarithmic, also when some of the counts are zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from gnomon.plot.style import number

__all__ = ["ErrorScale"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ErrorScale:
    """A logarithmic scale from ``low`` to ``high`` that can show zeros, and says so if it does.

    A position on the axis is ``log10(value + shift)``. The shift is 0 if every value is above zero
    and else 1; ticks always bear the values themselves.

    Examples
    --------
    >>> ErrorScale.fit([3, 40, 500]).note, ErrorScale.fit([0, 40, 500]).note
    ('log scale', 'log scale of 1 + errors')
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

    @property
    def _break(self) -> str:
        """A longer note stands on a line of its own."""
        return "\n" if self.shift else " "

    def label(self, quantity: str) -> str:
        """Return the label of the axis: a quantity, and what the scale is."""
        return f"{quantity}{self._break}({self.note})"

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
        target = ax.xaxis if axis == "x" else ax.yaxis
        target.set_major_locator(FixedLocator(self.ticks()))
        target.set_minor_locator(NullLocator())
        target.set_major_formatter(FuncFormatter(_tick))


def _tick(value: float, _: int | None) -> str:
    """Return the label of a tick; no lambda, so that a drawing can be sent to another process."""
    return number(round(value, 6))
