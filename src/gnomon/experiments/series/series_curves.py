"""Curve families: the errors of people's series against chance, by attempt or by piece removed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from gnomon.errors import UnknownNameError
from gnomon.experiments.scoring.attempt_scores import AAI_FAMILY
from gnomon.experiments.series.attempt_chances import NaivePlayer
from gnomon.experiments.series.measured_series import MeasuredSeries
from gnomon.experiments.series.series_scores import curves_of, known_chances
from gnomon.results import FieldRecord, Results

if TYPE_CHECKING:
    from gnomon.scores.table import FloatArray

#: What stands on the horizontal axis: attempts that count, or pieces removed.
Axis = Literal["attempts", "removals"]
#: The curves; ``errors`` are those so far, ``aai`` and others are against chance.
CURVES = ("errors", *(name for name in AAI_FAMILY if name != "omega_by_attempt"))
#: From so many curves on there is a band around the median.
LEAST_FOR_BAND = 6


@dataclass(frozen=True, slots=True, eq=False)
class SeriesCurve:
    """The curve of one series.

    Parameters
    ----------
    player, rule : str
    values : numpy.ndarray of float, shape (n_steps,)
        From 0 attempts, or removals, on; the first is 0.
    n_measured : int
        How many of them were measured; the others prolong the curve of one who learned.

    Examples
    --------
    >>> SeriesCurve("p1", "clockwise", np.array([0.0, 1.0]), 2).n_measured
    2
    """

    player: str
    rule: str
    values: FloatArray
    n_measured: int


@dataclass(frozen=True)
class MedianPoint(FieldRecord):
    """The median of the curves on one rule at one place.

    Parameters
    ----------
    rule, metric : str
    step : int
        Attempts made, or pieces removed.
    n : int
        Curves that reach it.
    value, low, high : float
        Their median, with the interval between two of them; NaN with fewer than six curves.
    after : float
        The median of those that go on: where people stop, it jumps.

    Examples
    --------
    >>> MedianPoint("clockwise", "errors", 3, 2, 1.5, float("nan"), float("nan"), 1.0).after
    1.0
    """

    rule: str
    metric: str
    step: int
    n: int
    value: float
    low: float
    high: float
    after: float


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SeriesCurves(Results[MedianPoint]):
    """Median curves by rule, with the curves behind them.

    Parameters
    ----------
    curves : tuple of SeriesCurve
        By rule, in the order of the series.

    Examples
    --------
    >>> SeriesCurves((), curves=()).curves
    ()
    """

    curves: tuple[SeriesCurve, ...]

    drawn_by: ClassVar[str | None] = "gnomon.plot.mastery:draw_series_curves"
    columns: ClassVar[tuple[str, ...]] = ("rule", "metric", "step", "n", "value", "low", "high")

    @property
    def notes(self) -> tuple[str, ...]:
        """Whom the medians are of."""
        return (
            "Medians are of the curves that reach a step (n): those who stopped are not in it.",
        )


def series_curves(
    measured: Sequence[MeasuredSeries],
    metric: str = "aaic",
    *,
    axis: Axis = "removals",
    p0: NaivePlayer = "random",
    prolonged: bool = True,
    level: float = 0.95,
    as_reference: bool = False,
) -> SeriesCurves:
    r"""Return the median curve of each rule, with the curves of the series.

    Who mastered a rule stops playing, and the median of the others would say that people get worse.
    Such a curve is therefore prolonged to the longest one: flat, or AAIC over pieces removed as
    :math:`\gamma q W / (q + W)` through its last point, with the errors W; AAI, and AAIC over
    attempts, are not. Of who stopped without having learned nothing is known.

    Parameters
    ----------
    measured : sequence of MeasuredSeries
        With their chances; one without is left out of all but ``errors``, with a warning.
    metric : str
        ``errors``, or one of the AAI family.
    axis : {"attempts", "removals"}
    p0 : {"random", "mcp1"}
        The player who knows nothing.
    prolonged : bool
        Whether curves of those who learned are prolonged.
    level : float
        Of the interval of the median, which lies between two curves and holds that or more.
    as_reference : bool
        As :func:`gnomon.experiments.aai_curves`, and its band, from five curves on.

    Raises
    ------
    UnknownNameError
        With the nearest names of curves.
    ScoreDataError
        No series has what the curve needs.

    References
    ----------
    The reference system's ``BuildCurves``.

    Examples
    --------
    >>> from gnomon.experiments import PlayedSeries
    >>> series = PlayedSeries("p1", "clockwise", 0, ())
    >>> one = MeasuredSeries(series, np.array([False, True, True]), 1.0, True, None)
    >>> [point.value for point in series_curves([one], "errors", axis="attempts")]
    [0.0, 1.0, 1.0, 1.0]
    """
    if metric not in CURVES:
        raise UnknownNameError("curve", metric, CURVES)
    usable = list(measured) if metric == "errors" else known_chances(measured, metric)
    curves: list[SeriesCurve] = []
    points: list[MedianPoint] = []
    for rule in dict.fromkeys(one.key for one in usable):
        of_rule = [one for one in usable if one.key == rule]
        found = [_curve(one, metric, axis, p0, as_reference=as_reference) for one in of_rule]
        if prolonged:
            longest = max(curve.values.size for curve in found)
            pairs = zip(found, of_rule, strict=True)
            found = [_prolonged(curve, one, longest, metric, axis) for curve, one in pairs]
        curves += found
        points += _medians(rule, metric, found, level, as_reference=as_reference)
        if as_reference and prolonged:
            # There, prolonged curves do not jump where the others stop.
            points = [replace(point, after=point.value) for point in points]
    left = len(measured) - len(usable)
    notes = (f"{left} series are left out, whose chances are not known",) if left else ()
    settings = {"axis": axis, "level": level, "p0": p0, "as_reference": as_reference}
    return SeriesCurves(tuple(points), settings, notes, curves=tuple(curves))


def _curve(
    one: MeasuredSeries, metric: str, axis: Axis, p0: NaivePlayer, *, as_reference: bool
) -> SeriesCurve:
    good = one.accepted
    at = good.copy() if axis == "removals" else np.ones(good.size, dtype=np.bool_)
    if metric == "errors":
        values = np.cumsum(~good).astype(np.float64)
    else:
        name = "omega_by_attempt" if (metric, axis) == ("omega", "attempts") else metric
        values = curves_of(one, p0, as_reference=as_reference)[name]
    if (metric, axis) == ("aaih", "removals"):
        at &= _was_hard(one, p0)
    drawn = np.append(0.0, values[at])
    return SeriesCurve(one.series.player, one.key, drawn, drawn.size)


def _was_hard(one: MeasuredSeries, p0: NaivePlayer) -> Any:
    """Tell of each attempt whether chance needed more than one on the board as it lay."""
    mu = np.array([chances.of(p0)[1] for chances in one.chances or ()])
    begins = np.append(True, one.accepted[:-1])
    return mu[begins][np.cumsum(begins) - 1] > 1


def _prolonged(
    curve: SeriesCurve, one: MeasuredSeries, longest: int, metric: str, axis: Axis
) -> SeriesCurve:
    stays = metric == "aai" or (metric, axis) == ("aaic", "attempts")
    if stays or not one.is_learned or curve.values.size == longest:
        return curve
    n, last = curve.values.size, float(curve.values[-1])
    more = np.full(longest - n, last)
    errors = float((~one.accepted).sum())
    if metric == "aaic" and errors and n > 1:
        removed = np.arange(n, longest, dtype=np.float64)
        # Through the last point, of n - 1 removals.
        scale = last * (n - 1 + errors) / ((n - 1) * errors)
        more = scale * removed * errors / (removed + errors)
    values = np.concatenate([curve.values, more])
    return SeriesCurve(curve.player, curve.rule, values, curve.n_measured)


def _medians(
    rule: str, metric: str, curves: list[SeriesCurve], level: float, *, as_reference: bool
) -> list[MedianPoint]:
    found = []
    for step in range(max(curve.values.size for curve in curves)):
        here = np.sort([c.values[step] for c in curves if c.values.size > step])
        further = [c.values[step] for c in curves if c.values.size > step + 1]
        median = float(np.median(here))
        after = float(np.median(further)) if further else median
        low, high = _band(here, level, as_reference=as_reference)
        found.append(MedianPoint(rule, metric, step, here.size, median, low, high, after))
    return found


def _band(values: FloatArray, level: float, *, as_reference: bool) -> tuple[float, float]:
    """Return two order statistics between which the median is."""
    n = values.size
    if as_reference:
        if n < LEAST_FOR_BAND - 1:
            return np.nan, np.nan
        low, high = ((n - 1) / 2 + sign * 0.98 * np.sqrt(n) for sign in (-1, 1))
        # Rounded half up.
        return float(values[int(low + 0.5)]), float(values[min(int(high + 0.5), n - 1)])
    from scipy.stats import binom

    # The most values left out on a side so that the median lies there as rarely as it may.
    outside = int(binom.ppf((1.0 - level) / 2.0, n, 0.5)) - 1
    if outside < 0:
        return np.nan, np.nan
    return float(values[outside]), float(values[n - 1 - outside])
