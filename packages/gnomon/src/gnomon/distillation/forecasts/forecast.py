"""Predictive distribution of a summary from some tasks, wider the farther from the training.

The centre is halfway between the mean of the simulated suites and the unshrunk line through the
training. The variance counts what the suites leave open, what other training papers would have
said, the distance of the scores from those of the training, and the runs that they come from. The
constants were fitted by likelihood on the published Atari scores, on folds, on papers left out and
on cuts by level, and rounded up; a scale from the nested validation widens them where they are too
small. ``docs/decisions/008`` has the measurements.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.distillation.forecasts.moments import Moments
from gnomon.distillation.forecasts.simulation import SuiteModel
from gnomon.scores.table import FloatArray
from gnomon.stats.proportions import student_quantile

#: What counts of the variance: of the suites, of the papers drawn, and of the two distances.
_SUITES, _PAPERS, _OUTSIDE, _SHIFT, _RISE = 0.45, 1.1, 1.0, 1.5, 0.6
#: Degrees of freedom of the interval where the families of the training are many.
_TAIL = 6.0
#: The distance counts up to here; nothing was measured beyond.
FARTHEST = 6.0
#: A task tells of progress if its score is so many standard deviations above all training.
_BEYOND = 0.25
#: Nothing can be told if the interval reaches 60 % to a side; a shift of 20 % is to be warned of.
_CANNOT_TELL, _SHIFTED = 0.6, 0.2
#: Fewer algorithms than these do not show what lies above them.
_FEW_ALGORITHMS = 40
#: From so many tasks on the line counts less, and from so many not at all.
_FEW, _MANY = 5, 15
#: So many of the training's runs are behind a score, where nobody knows.
_RUNS_UNKNOWN = 3.0


@dataclass(frozen=True)
class Forecast:
    """Summary of one algorithm, transformed, with the parts of its variance.

    Parameters
    ----------
    center : float
        NaN if nothing is known.
    own, shared : float
        Variance of an algorithm's own error; of the error of extrapolating, which algorithms
        beyond the training have in common.
    noise : float
        Variance that fewer runs than the training's add. No scale widens it: the validation that
        the scale comes from predicts from as many runs as the training has.
    rise : float
        What the upper end has more, as variance: scores that exceed all training tell of more.
    outside : float
        Greatest distance of a score from the range of the training, in standard deviations.
    shift : float
        Mean of the simulated suites minus the line.
    position : tuple of float
        The standardised scores, NaN where missing: how alike two algorithms are.
    df : float
        Degrees of freedom of Student's t.
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
        """Standard deviation before any scale, from as many runs as the training has."""
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
        """Return why a forecast is to be doubted, or refused; empty if nothing speaks against it.

        Parameters
        ----------
        scale : float
            Of the interval.
        unit : float
            A relative difference of 100 %, transformed.
        n_training : int
            Few algorithms do not show what lies above them.

        Examples
        --------
        >>> Forecast(2.0, 0.01, 0.0).verdict(scale=1.0, unit=0.434, n_training=62)
        ''
        >>> Forecast(2.0, 0.01, 0.2, outside=2.0).verdict(scale=1.0, unit=0.434, n_training=62)
        'too far from the training to estimate'
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


def line_of(
    moments: Moments, seen: npt.NDArray[np.bool_], x: FloatArray
) -> tuple[float, FloatArray]:
    """Return the line's value, divided by its reliability about the mean, and its weights.

    The best linear prediction pulls towards the training's mean; the unshrunk one does not, so an
    algorithm beyond the training is not drawn back into it.
    """
    w, _ = moments.weights(seen)
    mean, covariance = moments.arrays
    index = np.flatnonzero(seen)
    reliability = float(w @ covariance[index, -1] / covariance[-1, -1])
    pull = float(w @ (x[index] - mean[index]))
    return float(mean[-1] + pull / max(reliability, 0.1)), w


@dataclass(frozen=True, eq=False)
class Forecaster:
    """What a fitted subset knows of the suite and of its training, to predict with an interval.

    Parameters
    ----------
    suite : SuiteModel
    moments : Moments
        Of the tasks of the subset and the target.
    low, high, spread : tuple of float
        Of the subset's transformed scores in the training: ends of the range, and standard
        deviation.
    resampled : tuple of Moments
        Of the same from training papers drawn again; empty if the interval is not wanted.
    run_variance : tuple of float
        Variance between runs of each task's transformed score.
    runs : float, optional
        Runs behind a training score; None where nobody knows.
    unit : float
        A relative difference of 100 %, transformed: 1 / ln 10 of log10, else a standard
        deviation of the target.
    n_groups : int, optional
        Families of algorithms in the training; None where nobody knows.
    """

    tasks: tuple[str, ...]
    suite: SuiteModel
    moments: Moments
    low: tuple[float, ...]
    high: tuple[float, ...]
    spread: tuple[float, ...]
    resampled: tuple[Moments, ...]
    run_variance: tuple[float, ...]
    runs: float | None
    unit: float
    n_groups: int | None = None

    @property
    def df(self) -> float:
        """Degrees of freedom of the interval, Satterthwaite's of two sources.

        Six of the tails; and one less than there are families, from which the spread is known.
        """
        if self.n_groups is None:
            return _TAIL
        return 1.0 / (1.0 / _TAIL + 1.0 / max(self.n_groups - 1, 1))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Forecaster) and self.as_record() == other.as_record()

    def __hash__(self) -> int:
        return hash((self.tasks, self.moments))

    def center(self, x: FloatArray) -> float:
        """Return the prediction alone, from transformed scores with gaps; NaN if there is none."""
        seen = ~np.isnan(x)
        if not seen.any():
            return nan
        line, _ = line_of(self.moments, seen, x)
        share = 0.5 * self._fade(seen)
        return (1.0 - share) * self._simulated(seen, x)[0] + share * line

    def forecast(self, x: FloatArray, runs: FloatArray | None = None) -> Forecast:
        """Return the predictive distribution from transformed scores, NaN where missing.

        Parameters
        ----------
        x : ndarray of float, shape (tasks of the subset,)
        runs : ndarray of float, optional
            How many runs each score is the mean of; as those of the training, if not given.
        """
        seen = ~np.isnan(x)
        if not seen.any():
            return Forecast(nan, nan, nan)
        simulated, deviation = self._simulated(seen, x)
        line, w = line_of(self.moments, seen, x)
        fade, k = self._fade(seen), int(seen.sum())
        center = (1.0 - 0.5 * fade) * simulated + 0.5 * fade * line
        above, below = self._distances(x)
        outside = float(np.nanmax(np.maximum(np.maximum(above, below), 0.0)))
        progress = seen & (np.nan_to_num(above) > _BEYOND)
        rise = max(self._simulated(progress, x)[0] - center, 0.0) if progress.any() else 0.0
        lines = [line_of(one, seen, x)[0] for one in self.resampled]
        papers = float(np.var(lines)) if lines else 0.0
        shift = simulated - line
        more = 1.0 + 0.8 * min(1.0, max(0, k - _FEW) / (_MANY - _FEW))
        own = _SUITES * more * deviation**2 + _PAPERS * fade * papers
        capped = min(outside, FARTHEST)
        shared = _OUTSIDE * (capped * deviation) ** 2 + _SHIFT * fade * shift**2
        position = (x - np.array(self.moments.mean[:-1])) / np.array(self.spread)
        noise = self._run_noise(w, seen, runs)
        further = noise, _RISE * rise**2, outside, shift, tuple(position.tolist()), self.df
        return Forecast(center, own, shared, *further)

    def _simulated(self, seen: npt.NDArray[np.bool_], x: FloatArray) -> tuple[float, float]:
        """Return mean and standard deviation of the summaries of suites, some scores given."""
        place = self.suite.columns(tuple(t for t, s in zip(self.tasks, seen, strict=True) if s))
        summaries = self.suite.summaries(place, x[seen])
        return float(summaries.mean()), float(summaries.std())

    def _distances(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return how far each score is above and below the training, in standard deviations."""
        spread = np.array(self.spread)
        return (x - np.array(self.high)) / spread, (np.array(self.low) - x) / spread

    def _fade(self, seen: npt.NDArray[np.bool_]) -> float:
        """Return how much the line counts: as much as it does of up to five tasks, then less."""
        return float(np.clip((_MANY - int(seen.sum())) / (_MANY - _FEW), 0.0, 1.0))

    def _run_noise(
        self, w: FloatArray, seen: npt.NDArray[np.bool_], runs: FloatArray | None
    ) -> float:
        """Return the variance that fewer runs than the training's add."""
        if runs is None:
            return 0.0
        table = _RUNS_UNKNOWN if self.runs is None else self.runs
        more = np.maximum(0.0, 1.0 / runs[seen] - 1.0 / table)
        return float(w**2 @ (np.array(self.run_variance)[seen] * more))

    def as_record(self) -> dict[str, Any]:
        """Return what a file needs to hold beside the moments, as a mapping fit for JSON."""
        return {
            "suite": self.suite.as_record(),
            "low": list(self.low),
            "high": list(self.high),
            "spread": list(self.spread),
            "resampled": [
                {"mean": one.mean, "covariance": one.covariance} for one in self.resampled
            ],
            "run_variance": list(self.run_variance),
            "runs": self.runs,
            "unit": self.unit,
            "n_groups": self.n_groups,
        }

    @classmethod
    def from_record(
        cls, record: Mapping[str, Any], tasks: tuple[str, ...], moments: Moments
    ) -> Forecaster:
        """Return the forecaster of such a mapping."""
        resampled = tuple(
            Moments(
                tuple(one["mean"]), tuple(map(tuple, one["covariance"])), positive=moments.positive
            )
            for one in record["resampled"]
        )
        numbers = {name: tuple(record[name]) for name in ("low", "high", "spread", "run_variance")}
        return cls(
            tasks=tasks,
            suite=SuiteModel.from_record(record["suite"]),
            moments=moments,
            resampled=resampled,
            runs=record["runs"],
            unit=record["unit"],
            n_groups=record.get("n_groups"),
            **numbers,
        )
