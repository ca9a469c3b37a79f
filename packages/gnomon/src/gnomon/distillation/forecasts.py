"""Forecasts: the distribution of an algorithm's summary, given its scores on some tasks.

The centre is halfway between the mean of simulated suites and the unshrunk line through the
training. The variance adds what the suites leave open, how the line differs between resampled
training papers, the distance of the scores from those of the training, and the number of runs.
The weights of these parts were fitted by likelihood on the published Atari scores and rounded up;
a scale from the nested validation widens intervals where they are too narrow.
``docs/decisions/008`` has the measurements.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import exp, inf, nan, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.distillation.factor import SuiteModel
from gnomon.scores.table import FloatArray
from gnomon.stats.proportions import student_quantile

#: Weights in the variance: of the suites, of resampled papers, and of the two distances.
_SUITES, _PAPERS, _OUTSIDE, _SHIFT, _RISE = 0.45, 1.1, 1.0, 1.5, 0.6
#: Degrees of freedom of the interval where the families of the training are many.
_TAIL = 6.0
#: The distance counts up to here; nothing was measured beyond.
FARTHEST = 6.0
#: A score that is higher than all training scores by this many standard deviations is progress.
_BEYOND = 0.25
#: Half widths above 60 % are too wide for an answer; a shift of 20 % deserves a warning.
_CANNOT_TELL, _SHIFTED = 0.6, 0.2
#: Fewer algorithms than these do not show what lies above them.
_FEW_ALGORITHMS = 40
#: The line loses weight from the first number of tasks on, and has none from the second.
_FEW, _MANY = 5, 15
#: Runs behind a training score where they are unknown.
_RUNS_UNKNOWN = 3.0
#: Correlation of the errors of two algorithms with the same scores, the distance over which it
#: falls, and the part of the shared extrapolation that does not cancel.
_ALIKE, _REACH, _NOT_SHARED = 0.6, 0.5, 0.5


class Moments:
    """Means and covariance of some tasks and, last, the target: the best linear prediction."""

    def __init__(self, mean: npt.ArrayLike, covariance: npt.ArrayLike) -> None:
        self.mean = np.array(mean, dtype=np.float64)
        self.covariance = np.array(covariance, dtype=np.float64)
        self._solved: dict[bytes, FloatArray] = {}

    def weights(self, seen: npt.NDArray[np.bool_]) -> FloatArray:
        """Return the non-negative weights of the tasks seen."""
        key = seen.tobytes()
        if key not in self._solved:
            index = np.flatnonzero(seen)
            inside, cross = self.covariance[np.ix_(index, index)], self.covariance[index, -1]
            w = np.linalg.solve(inside, cross)
            self._solved[key] = w if (w >= 0).all() else non_negative(inside, cross)
        return self._solved[key]

    def intercept(self, seen: npt.NDArray[np.bool_]) -> float:
        """Return the intercept that goes with the weights."""
        return float(self.mean[-1] - self.weights(seen) @ self.mean[:-1][seen])

    def line(self, seen: npt.NDArray[np.bool_], x: FloatArray) -> float:
        """Return the linear prediction, divided by its reliability about the mean.

        The best linear prediction is pulled towards the mean of the training; this one is not, so
        an algorithm beyond the training is not drawn back into it.
        """
        w = self.weights(seen)
        index = np.flatnonzero(seen)
        reliability = float(w @ self.covariance[index, -1] / self.covariance[-1, -1])
        pull = float(w @ (x[index] - self.mean[index]))
        return float(self.mean[-1] + pull / max(reliability, 0.1))


def non_negative(gram: FloatArray, cross: FloatArray) -> FloatArray:
    """Return the weights w >= 0 of least squares from products of columns (Lawson and Hanson)."""
    w, active = np.zeros(len(cross)), np.zeros(len(cross), dtype=bool)
    least = 1e-12 * float(np.abs(cross).max(initial=0.0))
    while True:
        gain = np.where(active, -np.inf, cross - gram @ w)
        if gain.max(initial=-np.inf) <= least:
            return w
        active[int(np.argmax(gain))] = True
        while True:
            free = np.zeros(len(cross))
            free[active] = np.linalg.solve(gram[np.ix_(active, active)], cross[active])
            if (free[active] > 0).all():
                w = free
                break
            falling = active & (free <= 0)
            step = (w[falling] / (w[falling] - free[falling])).min()
            w = w + step * (free - w)
            active &= w > 1e-15 * np.abs(w).max()
            w[~active] = 0.0


@dataclass(frozen=True)
class Forecast:
    """Summary of one algorithm, transformed, with the parts of its variance.

    `own` is the algorithm's own error, `shared` that of extrapolating, which algorithms beyond the
    training have in common; `noise` is what fewer runs than those of the training add, `rise` what
    the upper end adds if scores exceed all training scores. `outside` is the greatest distance of a
    score from the training range in standard deviations, `shift` the mean of the simulated suites
    minus the line, `position` the standardised scores.
    """

    center: float
    own: float
    shared: float
    noise: float = 0.0
    rise: float = 0.0
    outside: float = 0.0
    shift: float = 0.0
    position: tuple[float, ...] = ()
    df: float = _TAIL

    @property
    def spread(self) -> float:
        """Standard deviation before any scale, for as many runs as the training has."""
        return sqrt(self.own + self.shared)

    def interval(self, level: float, scale: float = 1.0) -> tuple[float, float]:
        """Return the ends of the interval, transformed.

        Examples
        --------
        >>> low, high = Forecast(2.0, 0.01, 0.0).interval(0.9)
        >>> round(low, 3), round(high, 3)
        (1.806, 2.194)
        """
        q = student_quantile(level, self.df)
        below = scale**2 * (self.own + self.shared) + self.noise
        above = below + scale**2 * self.rise
        return self.center - q * sqrt(below), self.center + q * sqrt(above)

    def verdict(self, *, scale: float, unit: float, n_training: int) -> str:
        """Return why the forecast is doubtful or refused; empty if it is neither.

        `unit` is a relative difference of 100 %, transformed.
        """
        low, high = self.interval(0.9, scale)
        wide = (high - low) / 2 > _CANNOT_TELL * unit
        shifted = abs(self.shift) > _SHIFTED * unit
        few = n_training < _FEW_ALGORITHMS and self.outside > 1.0
        at_least = "; at least the lower end" if few else ""
        if self.outside > FARTHEST:
            return "too far: beyond anything that was measured, no interval"
        if wide and (self.outside > 0 or shifted):
            return "too far from the training to estimate" + at_least
        if wide:
            return "cannot tell: the interval is too wide"
        return "extrapolated" + at_least if self.outside > 1.0 or shifted else ""

    def better(self, other: Forecast, scale: float = 1.0) -> tuple[float, float]:
        """Return the probability of a greater summary, and the spread of the difference.

        Errors are correlated where two algorithms have similar scores, and where both extrapolate.
        """
        from scipy.special import stdtr

        together = _ALIKE * exp(-self._distance(other) / _REACH)
        own = self.own + other.own - 2.0 * together * sqrt(self.own * other.own)
        far, far_other = sqrt(self.shared), sqrt(other.shared)
        shared = (far - far_other) ** 2 + _NOT_SHARED * min(far, far_other) ** 2
        spread = sqrt(scale**2 * (own + shared) + self.noise + other.noise)
        difference = self.center - other.center
        if spread == 0.0:
            return (0.5 if difference == 0 else float(difference > 0)), 0.0
        return float(stdtr(min(self.df, other.df), difference / spread)), spread

    def _distance(self, other: Forecast) -> float:
        """Return the root mean square difference of the standardised scores that both have."""
        if not (self.position and other.position):
            return inf
        off = np.array(self.position) - np.array(other.position)
        off = off[~np.isnan(off)]
        return float(np.sqrt(np.mean(off**2))) if off.size else inf


@dataclass(frozen=True, eq=False)
class Forecaster:
    """What a fitted subset keeps of the suite and of its training, to predict with an interval.

    `moments` are those of the tasks of the subset and the target, `resampled` the same from
    resampled training papers. `unit` is a relative difference of 100 %, transformed: 1 / ln 10 for
    log10, else a standard deviation of the target. Arrays have one entry for each task.
    """

    tasks: tuple[str, ...]
    suite: SuiteModel
    moments: Moments
    low: FloatArray
    high: FloatArray
    spread: FloatArray
    resampled: tuple[Moments, ...]
    run_variance: FloatArray
    runs: float | None
    unit: float
    n_groups: int

    @cached_property
    def df(self) -> float:
        """Degrees of freedom of the interval: Satterthwaite's for the tails and the families."""
        return 1.0 / (1.0 / _TAIL + 1.0 / max(self.n_groups - 1, 1))

    @cached_property
    def _places(self) -> npt.NDArray[np.int64]:
        return self.suite.columns(self.tasks)

    def center(self, x: FloatArray) -> float:
        """Return the prediction alone, from transformed scores with gaps; NaN without scores."""
        seen = ~np.isnan(x)
        if not seen.any():
            return nan
        share = 0.5 * _fade(seen)
        return (1.0 - share) * self._simulated(seen, x)[0] + share * self.moments.line(seen, x)

    def forecast(self, x: FloatArray, runs: FloatArray | None = None) -> Forecast:
        """Return the predictive distribution; NaN where a score is missing."""
        seen = ~np.isnan(x)
        if not seen.any():
            return Forecast(nan, nan, nan)
        simulated, deviation = self._simulated(seen, x)
        line, fade = self.moments.line(seen, x), _fade(seen)
        center = (1.0 - 0.5 * fade) * simulated + 0.5 * fade * line
        above, below = (x - self.high) / self.spread, (self.low - x) / self.spread
        outside = float(np.nanmax(np.maximum(np.maximum(above, below), 0.0)))
        progress = seen & (np.nan_to_num(above) > _BEYOND)
        rise = max(self._simulated(progress, x)[0] - center, 0.0) if progress.any() else 0.0
        lines = [one.line(seen, x) for one in self.resampled]
        papers = float(np.var(lines)) if lines else 0.0
        shift = simulated - line
        more = 1.0 + 0.8 * min(1.0, max(0, int(seen.sum()) - _FEW) / (_MANY - _FEW))
        own = _SUITES * more * deviation**2 + _PAPERS * fade * papers
        capped = min(outside, FARTHEST)
        return Forecast(
            center=center,
            own=own,
            shared=_OUTSIDE * (capped * deviation) ** 2 + _SHIFT * fade * shift**2,
            noise=self._run_noise(seen, runs),
            rise=_RISE * rise**2,
            outside=outside,
            shift=shift,
            position=tuple(((x - self.moments.mean[:-1]) / self.spread).tolist()),
            df=self.df,
        )

    def _simulated(self, seen: npt.NDArray[np.bool_], x: FloatArray) -> tuple[float, float]:
        """Return mean and standard deviation of the summaries of simulated suites."""
        summaries = self.suite.summarized(self.suite.suites(self._places[seen], x[seen]))
        return float(summaries.mean()), float(summaries.std())

    def _run_noise(self, seen: npt.NDArray[np.bool_], runs: FloatArray | None) -> float:
        """Return the variance that fewer runs than those of the training add."""
        if runs is None:
            return 0.0
        table = _RUNS_UNKNOWN if self.runs is None else self.runs
        more = np.maximum(0.0, 1.0 / runs[seen] - 1.0 / table)
        return float(self.moments.weights(seen) ** 2 @ (self.run_variance[seen] * more))

    def as_record(self) -> dict[str, Any]:
        """Return the numbers as a mapping fit for JSON."""
        return {
            "suite": self.suite.as_record(),
            "moments": _moments_record(self.moments),
            "resampled": [_moments_record(one) for one in self.resampled],
            **{name: getattr(self, name).tolist() for name in _ARRAYS},
            "runs": self.runs,
            "unit": self.unit,
            "n_groups": self.n_groups,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any], tasks: tuple[str, ...]) -> Forecaster:
        """Return the forecaster of such a mapping."""
        arrays = {name: np.array(record[name], dtype=np.float64) for name in _ARRAYS}
        return cls(
            tasks=tasks,
            suite=SuiteModel.from_record(record["suite"]),
            moments=Moments(**record["moments"]),
            resampled=tuple(Moments(**one) for one in record["resampled"]),
            runs=record["runs"],
            unit=record["unit"],
            n_groups=record["n_groups"],
            **arrays,
        )


_ARRAYS = ("low", "high", "spread", "run_variance")


def _moments_record(moments: Moments) -> dict[str, Any]:
    return {"mean": moments.mean.tolist(), "covariance": moments.covariance.tolist()}


def _fade(seen: npt.NDArray[np.bool_]) -> float:
    """Return the weight of the line: full up to five tasks, then falling to none."""
    return float(np.clip((_MANY - int(seen.sum())) / (_MANY - _FEW), 0.0, 1.0))
