"""Forecasts: the distribution of an algorithm's summary, given its scores on some tasks.

The estimate averages two: the mean summary of simulated suites, and the line through the training
without shrinkage to its mean (equal weights, Clemen 1989). With all tasks known the simulation is
exact, so the line counts in proportion to the share of the tasks that is missing. The variance is
the sum of four parts, all of weight one:

* the variance of the simulated summaries,
* the variance of the line between resampled papers of the training, and
* the squared difference of the two estimates, both in proportion to the missing tasks,
* the variance of the simulated summaries again, times the squared distance of the scores from the
  training range in standard deviations.

The parts are calibrated together by the Birge ratio (Birge 1932), the root mean square of nested
residuals over their own spread. Quantiles are Student's, with the degrees of freedom of the level
in the simulation and of the papers together (Satterthwaite).

References
----------
Birge (1932), Physical Review 40:207. Clemen (1989), International Journal of Forecasting 5:559.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import copysign, nan, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.distillation.factor import LEVEL_DF, SuiteModel
from gnomon.scores.table import FloatArray
from gnomon.stats.proportions import student_quantile


class Moments:
    """Means and covariance of some tasks and, last, the target: the best linear prediction."""

    def __init__(self, mean: npt.ArrayLike, covariance: npt.ArrayLike) -> None:
        self.mean = np.array(mean, dtype=np.float64)
        self.covariance = np.array(covariance, dtype=np.float64)
        self._solved: dict[bytes, FloatArray] = {}

    def weights(self, seen: npt.NDArray[np.bool_]) -> FloatArray:
        """Return the non-negative weights of the known tasks."""
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

        The best linear prediction is shrunk towards the mean of the training; this one is not, so
        an algorithm beyond the training is not drawn back into it.
        """
        w = self.weights(seen)
        index = np.flatnonzero(seen)
        reliability = float(w @ self.covariance[index, -1] / self.covariance[-1, -1])
        pull = float(w @ (x[index] - self.mean[index]))
        return float(self.mean[-1] + pull / max(reliability, 0.1))


def non_negative(gram: FloatArray, cross: FloatArray) -> FloatArray:
    """Return the weights w >= 0 of least squares from products of columns (Lawson and Hanson).

    Raises LinAlgError: the products are not those of any columns, as in a damaged model.
    """
    w, active = np.zeros(len(cross)), np.zeros(len(cross), dtype=bool)
    least = 1e-12 * float(np.abs(cross).max(initial=0.0))
    n_steps = 0
    while True:
        gain = np.where(active, -np.inf, cross - gram @ w)
        if gain.max(initial=-np.inf) <= least:
            return w
        active[int(np.argmax(gain))] = True
        while True:
            n_steps += 1
            if n_steps > 100 * len(cross):
                raise np.linalg.LinAlgError("the covariance of the tasks is not positive definite")
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

    `deviation` is the standard deviation of the simulated summaries, `lines` the linear predictions
    from resampled training papers and `shift` the simulated mean minus the line, both times the
    share of missing tasks. `outside` is the greatest distance of a score from the training range in
    standard deviations, negative if it is below. `noise` is the variance that fewer runs than those
    of the training add, `n_groups` the number of papers of the training.
    """

    center: float
    deviation: float
    lines: tuple[float, ...] = ()
    shift: float = 0.0
    outside: float = 0.0
    noise: float = 0.0
    n_groups: int = 2

    @property
    def spread(self) -> float:
        """Standard deviation before calibration, for as many runs as the training has."""
        papers = float(np.var(self.lines)) if self.lines else 0.0
        return sqrt(self.deviation**2 * (1.0 + self.outside**2) + papers + self.shift**2)

    def interval(self, level: float, scale: float = 1.0) -> tuple[float, float]:
        """Return the ends of the interval, transformed."""
        df = 1.0 / (1.0 / LEVEL_DF + 1.0 / max(self.n_groups - 1, 1))
        half = student_quantile(level, df) * sqrt((scale * self.spread) ** 2 + self.noise)
        return self.center - half, self.center + half

    def difference(
        self, other: Forecast, level: float, scale: float = 1.0
    ) -> tuple[float, float, float]:
        """Return the ends of the interval of the difference, and the probability of one above 0.

        Simulated summaries are independent; lines, shifts and distances are subtracted first, as
        the model errs alike for two algorithms that are alike in these. Heavy tails of the level
        are common to both, so the degrees of freedom are those of the papers.
        """
        from scipy.special import stdtr

        papers = float(np.var(np.subtract(self.lines, other.lines))) if self.lines else 0.0
        far = self.outside * self.deviation - other.outside * other.deviation
        own = self.deviation**2 + other.deviation**2
        variance = scale**2 * (own + papers + (self.shift - other.shift) ** 2 + far**2)
        spread, df = sqrt(variance + self.noise + other.noise), max(self.n_groups - 1, 1)
        value, half = self.center - other.center, student_quantile(level, df) * spread
        if spread == 0.0:
            return value, value, 0.5 if value == 0.0 else float(value > 0.0)
        return value - half, value + half, float(stdtr(df, value / spread))


@dataclass(frozen=True, eq=False)
class Forecaster:
    """What a fitted subset keeps of the suite and of its training, to predict with an interval.

    `moments` are those of the tasks of the subset and the target, `resampled` the same from
    resampled training papers. Arrays have one entry for each task: the training range, the standard
    deviation of the scores, and the variance between runs, if the training has several; `runs` is
    their number.
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
    n_groups: int

    @property
    def sd(self) -> float:
        """Standard deviation of the target in the training."""
        return sqrt(self.moments.covariance[-1, -1])

    @cached_property
    def _places(self) -> npt.NDArray[np.int64]:
        return self.suite.columns(self.tasks)

    def center(self, x: FloatArray) -> float:
        """Return the estimate alone, from transformed scores with gaps; NaN without scores."""
        seen = ~np.isnan(x)
        return self._estimates(seen, x)[0] if seen.any() else nan

    def forecast(self, x: FloatArray, runs: FloatArray | None = None) -> Forecast:
        """Return the predictive distribution; NaN without scores."""
        seen = ~np.isnan(x)
        if not seen.any():
            return Forecast(nan, nan)
        center, deviation, shift, missing = self._estimates(seen, x)
        above, below = (np.nanmax(d / self.spread) for d in (x - self.high, self.low - x))
        noise = 0.0
        if runs is not None and self.runs is not None:
            more = np.maximum(0.0, 1.0 / runs[seen] - 1.0 / self.runs)
            noise = float(self.moments.weights(seen) ** 2 @ (self.run_variance[seen] * more))
        return Forecast(
            center=center,
            deviation=deviation,
            lines=tuple(missing * one.line(seen, x) for one in self.resampled),
            shift=shift,
            outside=copysign(max(above, below, 0.0), above - below),
            noise=noise,
            n_groups=self.n_groups,
        )

    def _estimates(
        self, seen: npt.NDArray[np.bool_], x: FloatArray
    ) -> tuple[float, float, float, float]:
        """Return estimate, deviation and shift, and the share of the tasks that are missing."""
        summaries = self.suite.summarized(self.suite.suites(self._places[seen], x[seen]))
        simulated = float(summaries.mean())
        missing = 1.0 - int(seen.sum()) / len(self.suite.tasks)
        shift = missing * (simulated - self.moments.line(seen, x))
        return simulated - 0.5 * shift, float(summaries.std()), shift, missing

    def as_record(self) -> dict[str, Any]:
        """Return the numbers as a mapping fit for JSON."""
        return {
            "suite": self.suite.as_record(),
            "moments": _moments_record(self.moments),
            "resampled": [_moments_record(one) for one in self.resampled],
            **{name: getattr(self, name).tolist() for name in _ARRAYS},
            "runs": self.runs,
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
            n_groups=record["n_groups"],
            **arrays,
        )


_ARRAYS = ("low", "high", "spread", "run_variance")


def _moments_record(moments: Moments) -> dict[str, Any]:
    return {"mean": moments.mean.tolist(), "covariance": moments.covariance.tolist()}
