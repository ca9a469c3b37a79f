"""Linear models of a summary score from a few tasks: what is kept as JSON, and predicted with."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._version import __version__
from gnomon.distillation.forecasts.forecast import Forecast, Forecaster
from gnomon.distillation.forecasts.moments import Moments
from gnomon.distillation.forecasts.pairs import SubsetComparison, comparison_of
from gnomon.distillation.preparation.prepared import PreparedScores, transform_of
from gnomon.errors import DegenerateScoresWarning, ScoreDataError, UnknownNameError
from gnomon.files import write_atomically
from gnomon.scores.table import FloatArray

_FORMAT = "gnomon subset model 2"
_OLD_FORMAT = "gnomon subset model 1"


@dataclass(frozen=True)
class SummaryEstimate:
    """What a model says of one algorithm: the summary score, with a prediction interval.

    Parameters
    ----------
    value, low, high : float
        In units of the (normalised) scores. The value is NaN if the algorithm is too far from the
        training, the ends are if it is farther than anything that was measured, or if the model
        has no residuals.
    level : float
        Of the interval, for one new algorithm like those of the training.
    outside : tuple of str
        Tasks whose score lies outside the training range.
    extrapolation : float
        Greatest distance of a score from that range, in standard deviations of the training.
    verdict : str
        Why the estimate is to be doubted, in words; empty if nothing speaks against it.

    Examples
    --------
    >>> SubsetModel(("u",), (1.0,), residuals=(-0.1, 0.1)).estimate({"u": 9.0}).value
    9.0
    """

    value: float
    low: float
    high: float
    level: float
    outside: tuple[str, ...] = ()
    extrapolation: float = 0.0
    verdict: str = ""


@dataclass(frozen=True)
class SubsetModel:
    """A linear prediction of a summary score from a few tasks.

    The transformed summary is ``intercept + sum(weights * transformed scores)``.

    Parameters
    ----------
    tasks : tuple of str
    weights : tuple of float
    intercept : float
    transform : str
        See :func:`gnomon.distillation.preparation.prepared.transform_of`.
    target : str
        What is predicted: ``median``, or the name of a task.
    n_rows : int
        How many algorithms it was fitted to.
    ranges : tuple of (low, high)
        Least and greatest transformed score of each task in the training; empty if not known.
    residuals : tuple of float
        Residuals of held-out algorithms, sorted: what the prediction interval is made of. Those
        of a nested validation tell the truth; see :meth:`with_residuals`.
    source : str
        Where the model comes from.
    moments : Moments, optional
        What predicts an algorithm that lacks some of the scores; without it, none is predicted.
    forecaster : Forecaster, optional
        What simulates the whole suite: with it, the line is half of the estimate, and the interval
        grows with the distance from the training.
    scale : float
        What the forecaster's intervals are widened by, from the nested validation; at least 1.
    references : mapping from task to (random, human), optional
        The references of the subset's tasks, if the training normalised raw scores by them.
    normalized : str
        How the scores were normalised, if they were.
    version : str
        Of the program that fitted it.

    Examples
    --------
    >>> model = SubsetModel(("u", "v"), (0.5, 0.4), residuals=(-0.1, 0.0, 0.1))
    >>> model.estimate({"u": 99.0, "v": 999.0}).value
    157.48931924611142
    """

    tasks: tuple[str, ...]
    weights: tuple[float, ...]
    intercept: float = 0.0
    transform: str = "log"
    target: str = "median"
    n_rows: int = 0
    ranges: tuple[tuple[float, float], ...] = ()
    residuals: tuple[float, ...] = field(default=(), repr=False)
    source: str = ""
    moments: Moments | None = field(default=None, repr=False)
    forecaster: Forecaster | None = field(default=None, repr=False)
    scale: float = 1.0
    references: Mapping[str, tuple[float, float]] | None = field(
        default=None, repr=False, hash=False
    )
    normalized: str = ""
    version: str = __version__

    def __post_init__(self) -> None:
        if len(self.tasks) != len(self.weights):
            raise ValueError(
                f"expected as many weights as tasks, found {len(self.weights)}, {len(self.tasks)}"
            )

    @classmethod
    def of_fit(
        cls,
        tasks: Sequence[str],
        weights: FloatArray,
        intercept: float,
        x: FloatArray,
        y: FloatArray,
        transform: str,
    ) -> SubsetModel:
        """Return the model of weights fitted to rows, with the rows' ranges and residuals.

        Parameters
        ----------
        tasks : sequence of str
        weights : ndarray of float, shape (tasks,)
        intercept : float
        x : ndarray of float, shape (rows, tasks)
            Without gaps.
        y : ndarray of float, shape (rows,)
        transform : str
        """
        return cls(
            tasks=tuple(tasks),
            weights=tuple(weights.tolist()),
            intercept=intercept,
            transform=transform,
            n_rows=len(y),
            ranges=tuple((float(c.min()), float(c.max())) for c in x.T),
            residuals=tuple(np.sort(y - x @ weights - intercept).tolist()),
        )

    @property
    def formula(self) -> str:
        """The model in one line.

        Examples
        --------
        >>> SubsetModel(("u", "v"), (0.5, -0.25), 1.5).formula
        'log summary = 1.5 + 0.5 u - 0.25 v'
        """
        pairs = zip(self.tasks, self.weights, strict=True)
        terms = "".join(f" {'-' if w < 0 else '+'} {abs(w):.4g} {task}" for task, w in pairs)
        return f"{self.transform} summary = {self.intercept:.4g}{terms}"

    def predict(self, x: npt.ArrayLike) -> FloatArray:
        """Return the transformed summary from transformed scores, shape (..., tasks).

        Where scores are missing (NaN), it is predicted from the others, if the model knows how;
        else it is NaN.
        """
        scores = np.asarray(x, dtype=np.float64)
        if self.forecaster is not None:
            rows = scores.reshape(-1, len(self.tasks))
            found = np.array([self.forecaster.center(row) for row in rows])
            return found.reshape(scores.shape[:-1])
        found = np.asarray(scores @ np.asarray(self.weights) + self.intercept)
        if self.moments is None:
            return found
        for place in map(tuple, np.argwhere(np.isnan(scores).any(axis=-1))):
            found[place] = self.moments.predict(scores[place])
        return found

    def estimate(
        self,
        scores: Mapping[str, float],
        *,
        level: float = 0.9,
        runs: Mapping[str, float] | None = None,
    ) -> SummaryEstimate:
        """Estimate the summary of one algorithm, with a prediction interval.

        A model that simulates the suite gives the interval of :class:`Forecaster`. Another takes
        the residuals of held-out algorithms for what they are: their normal quantile, widened as
        for one more observation, and by the distance from the training in quarters of its range.
        Both are wider where a score is missing.

        Parameters
        ----------
        scores : mapping from task to float
            Normalised scores; further tasks are ignored.
        level : float
            Of the prediction interval, between 0 and 1.
        runs : mapping from task to float, optional
            How many runs each score is the mean of; as many as in the training, if not given.

        Returns
        -------
        SummaryEstimate

        Raises
        ------
        UnknownNameError
            A task of the model has no score, and the others do not suffice.

        Warns
        -----
        DegenerateScoresWarning
            A score is missing, or lies outside the training range.
        """
        missing = self.missing(scores)
        if missing:
            text = f"no score on {', '.join(missing)}: predicted from the others"
            warnings.warn(text, DegenerateScoresWarning, stacklevel=2)
        transform = transform_of(self.transform)
        known = [scores.get(task, float("nan")) for task in self.tasks]
        x = transform.forward(np.array(known, dtype=np.float64))
        outside = self._outside(x)
        if outside:
            text = f"outside the range that the model was fitted on: {', '.join(outside)}"
            warnings.warn(text, DegenerateScoresWarning, stacklevel=2)
        if self.forecaster is not None and self.forecaster.resampled:
            return self._forecast_estimate(self.forecast(scores, runs=runs), level, outside)
        center = self.predict(x)
        far = self._distance(x)
        half = self.half_width(level) * self._widening(~np.isnan(x)) * (1.0 + far**2) ** 0.5
        value, low, high = transform.inverse(np.array([center, center - half, center + half]))
        return SummaryEstimate(float(value), float(low), float(high), level, outside, far)

    def forecast(
        self, scores: Mapping[str, float], *, runs: Mapping[str, float] | None = None
    ) -> Forecast:
        """Return the predictive distribution of one algorithm's summary, transformed.

        Raises
        ------
        ScoreDataError
            The model does not simulate the suite: another procedure than ``factor`` fitted it.
        """
        if self.forecaster is None:
            raise ScoreDataError(
                "expected a model that simulates the whole suite, as gnomon distill --model "
                "--procedure factor writes; this one has a line alone: distil again"
            )
        known = [scores.get(task, float("nan")) for task in self.tasks]
        x = transform_of(self.transform).forward(np.array(known, dtype=np.float64))
        n = None if runs is None else np.array([runs.get(t, 1.0) for t in self.tasks])
        return self.forecaster.forecast(x, n)

    def compare(
        self,
        a: Mapping[str, float] | float,
        b: Mapping[str, float] | float,
        *,
        level: float = 0.9,
        names: tuple[str, str] = ("a", "b"),
    ) -> SubsetComparison:
        """Say which of two algorithms is better on the full suite, with what probability.

        Parameters
        ----------
        a, b : mapping from task to float, or float
            Normalised scores on tasks of the model, the same or others; or the summary itself, if
            it is known in full.
        level : float
            Of the interval of the difference.
        names : pair of str

        Raises
        ------
        ScoreDataError
            An algorithm has none of the tasks, or the model has a line alone.
        """
        pair = [self._forecast_of(one) for one in (a, b)]
        return comparison_of(pair[0], pair[1], names, scale=self.scale, level=level)

    def _forecast_of(self, one: Mapping[str, float] | float) -> Forecast:
        """Return the forecast from scores; or a summary that is known, which is sure."""
        if isinstance(one, Mapping):
            return self.forecast(one)
        known = transform_of(self.transform).forward(np.array(float(one)))
        return Forecast(float(known), 0.0, 0.0)

    def _forecast_estimate(
        self, found: Forecast, level: float, outside: tuple[str, ...]
    ) -> SummaryEstimate:
        """Return the estimate of a forecast, with what is to be said against it."""
        ends = np.array([found.center, *found.interval(level, self.scale)])
        value, low, high = map(float, transform_of(self.transform).inverse(ends))
        unit = self.forecaster.unit if self.forecaster else 1.0
        verdict = found.verdict(scale=self.scale, unit=unit, n_training=self.n_rows)
        if "too far" in verdict:
            value = float("nan")
        if "beyond" in verdict:
            low = high = float("nan")
        return SummaryEstimate(value, low, high, level, outside, found.outside, verdict)

    def missing(self, scores: Collection[str]) -> tuple[str, ...]:
        """Return the tasks without a score, if the others suffice.

        Raises
        ------
        UnknownNameError
            They do not.
        """
        missing = tuple(task for task in self.tasks if task not in scores)
        if missing and (self.moments is None or len(missing) == len(self.tasks)):
            raise UnknownNameError("score for task", missing[0], scores)
        return missing

    def _widening(self, seen: npt.NDArray[np.bool_]) -> float:
        """Return how much more is unsure with some of the scores than with all."""
        if self.moments is None or seen.all():
            return 1.0
        return self.moments.spread(seen) / self.moments.spread(np.ones_like(seen))

    def half_width(self, level: float) -> float:
        """Return half the width of a prediction interval, transformed; NaN without residuals."""
        n = len(self.residuals)
        if n < 2:
            return float("nan")
        from scipy.special import stdtrit

        spread = float(np.sqrt(np.mean(np.square(self.residuals))))
        return spread * float(np.sqrt(1 + 1 / n) * stdtrit(n - 1, (1 + level) / 2))

    def _outside(self, x: FloatArray) -> tuple[str, ...]:
        ends = zip(self.tasks, x, self.ranges, strict=False)
        return tuple(task for task, v, (low, high) in ends if v < low or v > high)

    def _distance(self, x: FloatArray) -> float:
        """Return the greatest distance from the training, in quarters of a task's range."""
        ends = zip(x, self.ranges, strict=False)
        far = [max(v - high, low - v) / ((high - low) / 4 or 1.0) for v, (low, high) in ends]
        return max((f for f in far if f > 0), default=0.0)

    def with_residuals(self, residuals: npt.ArrayLike) -> SubsetModel:
        """Return the model with other residuals of held-out algorithms, NaN left out."""
        values = np.sort(np.asarray(residuals, dtype=np.float64).ravel())
        return replace(self, residuals=tuple(values[~np.isnan(values)].tolist()))

    def of_data(self, data: PreparedScores) -> SubsetModel:
        """Return the model with the references and the normalisation of the training."""
        ends = data.references
        known = None if ends is None else {task: ends[task] for task in self.tasks}
        return replace(self, references=known, normalized=data.normalized)

    def to_json(self) -> str:
        """Return the model as a JSON object that :meth:`from_json` reads."""
        return json.dumps({"format": _FORMAT, **_plain(self)}, indent=2, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> SubsetModel:
        """Return the model of a JSON object.

        Raises
        ------
        ScoreDataError
            The text is not such an object.

        Examples
        --------
        >>> model = SubsetModel(("u",), (1.0,))
        >>> SubsetModel.from_json(model.to_json()) == model
        True
        """
        try:
            record = json.loads(text)
            if record.pop("format") not in (_FORMAT, _OLD_FORMAT):
                raise KeyError("format")
            record["ranges"] = tuple((low, high) for low, high in record["ranges"])
            for name in ("tasks", "weights", "residuals"):
                record[name] = tuple(record[name])
            if record.get("moments") is not None:
                moments = record["moments"]
                rows = tuple(tuple(row) for row in moments["covariance"])
                mean = tuple(moments["mean"])
                record["moments"] = Moments(mean, rows, positive=moments["positive"])
            if record.get("forecaster") is not None:
                made = record["forecaster"], record["tasks"], record["moments"]
                record["forecaster"] = Forecaster.from_record(*made)
            if record.get("references") is not None:
                ends = record["references"].items()
                record["references"] = {task: (low, high) for task, (low, high) in ends}
            return cls(**record)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ScoreDataError(f"expected a {_FORMAT!r} as JSON; {error}") from None

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SubsetModel:
        """Return the model of a file that :meth:`save` has written.

        Raises
        ------
        ScoreDataError
            The file holds no such model.
        """
        try:
            return cls.from_json(Path(path).read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            raise ScoreDataError(f"{path}: expected a {_FORMAT!r} as JSON") from None
        except ScoreDataError as error:
            raise ScoreDataError(f"{path}: {error}") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file; it appears complete or not at all."""
        write_atomically(Path(path), (self.to_json() + "\n").encode())


def _plain(model: SubsetModel) -> dict[str, Any]:
    plain = {name: getattr(model, name) for name in SubsetModel.__dataclass_fields__}
    moments = None if model.moments is None else asdict(model.moments)
    kept = model.forecaster
    if kept is not None and not isinstance(kept.suite.summary, str):
        text = "a summary that is a function of one's own is not kept: the file has the line alone"
        warnings.warn(text, DegenerateScoresWarning, stacklevel=4)
        kept = None
    forecaster = None if kept is None else kept.as_record()
    return plain | {"moments": moments, "forecaster": forecaster}
