"""Models of a summary score from a few tasks: fitted, saved as JSON, and used to predict."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from math import nan
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gnomon._version import __version__
from gnomon.distillation.forecasts import Forecast, Forecaster
from gnomon.distillation.preparation import PreparedScores
from gnomon.distillation.summaries import transform_of
from gnomon.errors import DegenerateScoresWarning, ScoreDataError, UnknownNameError
from gnomon.files import write_atomically
from gnomon.results import FieldRecord
from gnomon.scores.table import FloatArray
from gnomon.stats.proportions import normal_quantile, student_quantile

_FORMAT = "gnomon subset model 4"
#: What a JSON text that is no model may raise; nested too deeply, a recursion error.
_WRONG = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


@dataclass(frozen=True)
class Prediction(FieldRecord):
    """The summary score of one algorithm as a model predicts it, with a prediction interval.

    Parameters
    ----------
    algorithm : str
    value, low, high : float
        In units of the (normalised) scores; NaN if too many scores are missing. The ends are also
        NaN if the model has no residuals.
    level : float
        Of the interval, for one new algorithm.
    outside, missing : tuple of str
        Tasks whose score lies outside the training range; tasks without a score.
    extrapolation : float
        Greatest distance of a score from that range, in standard deviations of the training.
    verdict : str
        ``extrapolated`` if a score is more than one standard deviation outside the training, or if
        the two estimates that are averaged differ by more than the deviation of the simulated
        summaries; ``uninformative`` if the interval is wider than one without any scores; or empty.
    """

    algorithm: str
    value: float = nan
    low: float = nan
    high: float = nan
    level: float = 0.9
    outside: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    extrapolation: float = 0.0
    verdict: str = ""


@dataclass(frozen=True)
class SubsetModel:
    """A prediction of a summary score from a few tasks.

    The transformed summary is ``intercept + sum(weights * transformed scores)``. A model that
    simulates the suite averages this line, unshrunk, with the simulated suites.

    Parameters
    ----------
    tasks : tuple of str
    weights : tuple of float
    intercept : float
    transform : {"log", "identity"}
    n_rows : int
        Number of algorithms that it was fitted to.
    ranges : tuple of (low, high)
        Least and greatest transformed score of each task in the training; empty if unknown.
    residuals : tuple of float
        Sorted residuals of held-out algorithms, from which a line's prediction interval follows.
    source : str
        Where the model comes from.
    forecaster : Forecaster, optional
        Simulates the suite: intervals then grow with the distance from the training, and an
        algorithm that lacks some of the scores is predicted from the others.
    scale : float
        Factor of the forecaster's intervals, the Birge ratio of the nested validation.
    references : mapping from task to (random, human), optional
        References of the tasks, if the training normalised raw scores by them.
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
    n_rows: int = 0
    ranges: tuple[tuple[float, float], ...] = ()
    residuals: tuple[float, ...] = field(default=(), repr=False)
    source: str = ""
    forecaster: Forecaster | None = field(default=None, repr=False, compare=False)
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
        data: PreparedScores,
        tasks: Sequence[str],
        weights: FloatArray,
        intercept: float,
        rows: npt.NDArray[np.bool_],
    ) -> SubsetModel:
        """Return the model of weights fitted to some rows, with their ranges and residuals."""
        x = data.x[:, data.columns(tasks)]
        whole = rows & ~np.isnan(x).any(axis=1)
        ends = data.references
        return cls(
            tasks=tuple(tasks),
            weights=tuple(weights.tolist()),
            intercept=intercept,
            transform=data.transform.name,
            n_rows=int(rows.sum()),
            ranges=tuple((float(np.nanmin(c)), float(np.nanmax(c))) for c in x[rows].T),
            residuals=_sorted(data.target[whole] - x[whole] @ weights - intercept),
            references=None if ends is None else {task: ends[task] for task in tasks},
            normalized=data.normalized,
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

        It is NaN where a score is missing, unless the model simulates the suite.
        """
        scores = np.asarray(x, dtype=np.float64)
        if self.forecaster is None:
            return np.asarray(scores @ np.asarray(self.weights) + self.intercept)
        rows = scores.reshape(-1, len(self.tasks))
        found = np.array([self.forecaster.center(row) for row in rows], dtype=np.float64)
        return found.reshape(scores.shape[:-1])

    def estimate(
        self,
        scores: Mapping[str, float],
        *,
        level: float = 0.9,
        runs: Mapping[str, float] | None = None,
        algorithm: str = "",
    ) -> Prediction:
        """Estimate the summary of one algorithm, with a prediction interval.

        The interval of a model that simulates the suite grows with the distance from the training
        and where a score is missing. That of a line is Student's t of the residuals of held-out
        algorithms, widened by the distance from the training in quarters of its range.

        Parameters
        ----------
        scores : mapping from task to float
            Normalised scores; further tasks are ignored.
        level : float
            Of the prediction interval, between 0 and 1.
        runs : mapping from task to float, optional
            Number of runs of each score; that of the training if not given.
        algorithm : str
            Its name.

        Raises
        ------
        UnknownNameError
            A task of the model has no score, and the others do not suffice.

        Warns
        -----
        DegenerateScoresWarning
            A score is missing, or lies outside the training range.
        """
        missing = tuple(task for task in self.tasks if task not in scores)
        if missing and (self.forecaster is None or len(missing) == len(self.tasks)):
            raise UnknownNameError("score for task", missing[0], scores)
        if missing:
            _warn(f"no score on {', '.join(missing)}: predicted from the others")
        x = self._transformed(scores)
        ends = zip(self.tasks, x, self.ranges, strict=False)
        outside = tuple(task for task, v, (low, high) in ends if v < low or v > high)
        if outside:
            _warn(f"outside the range that the model was fitted on: {', '.join(outside)}")
        inverse = transform_of(self.transform).inverse
        if self.forecaster is None:
            center, far = float(self.predict(x)), self._distance(x)
            half = self.half_width(level) * (1.0 + far**2) ** 0.5
            value, low, high = inverse(np.array([center, center - half, center + half])).tolist()
            return Prediction(algorithm, value, low, high, level, outside, missing, far)
        found = self.forecast(scores, runs=runs)
        ends_of = found.interval(level, self.scale)
        value, low, high = inverse(np.array([found.center, *ends_of])).tolist()
        sd = self.forecaster.sd
        extrapolated = abs(found.outside) > 1.0 or abs(found.shift) > found.deviation
        verdict = "extrapolated" if extrapolated else ""
        if ends_of[1] - ends_of[0] > 2.0 * normal_quantile(level) * sd:
            verdict = "uninformative"
        return Prediction(
            algorithm, value, low, high, level, outside, missing, abs(found.outside), verdict
        )

    def forecast(
        self, scores: Mapping[str, float], *, runs: Mapping[str, float] | None = None
    ) -> Forecast:
        """Return the predictive distribution of one algorithm's summary, transformed.

        Raises
        ------
        ScoreDataError
            The model does not simulate the suite, which only the procedure ``factor`` fits.
        """
        if self.forecaster is None:
            raise ScoreDataError(
                "expected a model that simulates the suite, as the procedure 'factor' fits it; "
                "this one is a line: distil again"
            )
        n = None if runs is None else np.array([runs.get(task, 1.0) for task in self.tasks])
        return self.forecaster.forecast(self._transformed(scores), n)

    def half_width(self, level: float) -> float:
        """Return half the width of a prediction interval, transformed; NaN without residuals."""
        n = len(self.residuals)
        if n < 2:
            return nan
        spread = float(np.sqrt(np.mean(np.square(self.residuals)) * (1 + 1 / n)))
        return spread * student_quantile(level, n - 1)

    def _transformed(self, scores: Mapping[str, float]) -> FloatArray:
        known = [scores.get(task, nan) for task in self.tasks]
        return transform_of(self.transform).forward(np.array(known, dtype=np.float64))

    def _distance(self, x: FloatArray) -> float:
        """Return the greatest distance from the training, in quarters of a task's range."""
        ends = zip(x, self.ranges, strict=False)
        far = [max(v - high, low - v) / ((high - low) / 4 or 1.0) for v, (low, high) in ends]
        return max((f for f in far if f > 0), default=0.0)

    def with_residuals(self, residuals: FloatArray) -> SubsetModel:
        """Return the model with other residuals of held-out algorithms; NaN are dropped."""
        return replace(self, residuals=_sorted(residuals[~np.isnan(residuals)]))

    def to_json(self) -> str:
        """Return the model as a JSON object that :meth:`from_json` reads."""
        record = {one.name: getattr(self, one.name) for one in fields(self)}
        if self.forecaster is not None:
            record["forecaster"] = self.forecaster.as_record()
        return json.dumps({"format": _FORMAT, **record}, indent=2, ensure_ascii=False)

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
            if record.pop("format") != _FORMAT:
                raise KeyError("format")
            record["ranges"] = tuple((float(low), float(high)) for low, high in record["ranges"])
            for name in ("weights", "residuals"):
                record[name] = tuple(map(float, record[name]))
            record["tasks"] = tuple(map(str, record["tasks"]))
            if record["forecaster"] is not None:
                made = Forecaster.from_record(record["forecaster"], record["tasks"])
                record["forecaster"] = made
            if record["references"] is not None:
                ends = record["references"].items()
                record["references"] = {
                    task: (float(low), float(high)) for task, (low, high) in ends
                }
            model = cls(**record)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                # Arrays whose shapes do not agree cannot predict.
                model.estimate(dict.fromkeys(model.tasks, 1.0))
        except _WRONG as error:
            raise ScoreDataError(f"expected a {_FORMAT!r} as JSON; {error}") from None
        return model

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


def _sorted(residuals: FloatArray) -> tuple[float, ...]:
    return tuple(np.sort(residuals).tolist())


def _warn(text: str) -> None:
    warnings.warn(text, DegenerateScoresWarning, stacklevel=3)
