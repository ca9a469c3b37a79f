"""Models of a summary score from a few tasks: fitted, saved as JSON, and used to predict.

The estimate is a line. A model of the procedure ``factor`` also has a distribution of its error.
The variance is the sum of three parts:

* the variance that the tasks leave, which grows with the distance from the training,
* the variance of the line between resampled papers of the training, and
* the squared difference between the line and the one shrunk to the mean of the training.

They are calibrated by the Birge ratio (Birge 1932, Physical Review 40:207), the root mean square of
nested residuals over their own spread. Quantiles are Student's, with the degrees of freedom of the
rows, of the papers and of the residuals together (Satterthwaite).
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from math import nan, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._version import __version__
from gnomon.distillation.factor import DEGREES_OF_FREEDOM, Moments
from gnomon.distillation.preparation import PreparedScores, transform_of
from gnomon.errors import ScoreDataError, UnknownNameError, note
from gnomon.results import FieldRecord
from gnomon.scores.table import FloatArray
from gnomon.stats.distributions import student_quantile
from gnomon.text_files import write_atomically

_FORMAT = "gnomon subset model 5"
#: Errors that a JSON text without a model raises; RecursionError if it is nested too deeply.
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
        Level of the interval for one new algorithm.
    outside, missing : tuple of str
        Tasks whose score lies outside the training range; tasks without a score.
    extrapolation : float
        Greatest distance of a score from that range, in quarters of the range.
    verdict : str
        ``extrapolated`` if a score is more than a quarter of the range outside it, or if the line
        and the one shrunk to the training differ by more than the deviation; ``uninformative`` if
        the interval is wider than one without any scores; or empty.
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
class Forecast:
    """Summary of one algorithm, transformed, with the parts of its variance.

    `deviation` is the standard deviation that the tasks leave, `lines` the predictions of resampled
    training papers, `shift` the prediction shrunk to the training minus the line. `noise` is the
    variance that fewer runs than those of the training add, `df` the degrees of freedom.
    """

    center: float
    deviation: float
    lines: tuple[float, ...] = ()
    shift: float = 0.0
    noise: float = 0.0
    df: float = 1.0

    @property
    def spread(self) -> float:
        """Standard deviation before calibration, for as many runs as the training has."""
        papers = float(np.var(self.lines)) if self.lines else 0.0
        return sqrt(self.deviation**2 + papers + self.shift**2)

    def interval(self, level: float, scale: float = 1.0) -> tuple[float, float]:
        """Return the ends of the interval, transformed."""
        spread = sqrt((scale * self.spread) ** 2 + self.noise)
        half = student_quantile(level, self.df) * spread
        return self.center - half, self.center + half

    def difference(
        self, other: Forecast, level: float, scale: float = 1.0
    ) -> tuple[float, float, float]:
        """Return the ends of the interval of the difference, and the probability of one above 0.

        Lines and shifts are subtracted first, because the model makes similar errors for algorithms
        with similar ones. The heavy tails of the rows are left out.
        """
        from scipy.special import stdtr

        papers = float(np.var(np.subtract(self.lines, other.lines))) if self.lines else 0.0
        own = self.deviation**2 + other.deviation**2
        variance = scale**2 * (own + papers + (self.shift - other.shift) ** 2)
        spread = sqrt(variance + self.noise + other.noise)
        df = 1.0 / (1.0 / min(self.df, other.df) - 1.0 / DEGREES_OF_FREEDOM)
        value, half = self.center - other.center, student_quantile(level, df) * spread
        if spread == 0.0:
            return value, value, 0.5 if value == 0.0 else float(value > 0.0)
        return value - half, value + half, float(stdtr(df, value / spread))


@dataclass(frozen=True, eq=False)
class Forecaster:
    """The part of the training that intervals, and predictions without some scores, need.

    `moments` are those of the tasks and the summary, `resampled` the same from resampled training
    papers. `run_variance` has the variance between runs of each task, and `runs` their number, if
    the training has several.
    """

    moments: Moments
    resampled: tuple[Moments, ...]
    run_variance: tuple[float, ...]
    runs: float | None
    n_groups: int
    n_rows: int

    def forecast(self, x: FloatArray, runs: FloatArray | None = None) -> Forecast:
        """Return the predictive distribution from transformed scores; NaN without any."""
        seen = ~np.isnan(x)
        if not seen.any():
            return Forecast(nan, nan)
        if not seen.all():
            index = np.append(np.flatnonzero(seen), seen.size)
            part = replace(
                self,
                moments=self.moments.of(index),
                resampled=tuple(one.of(index) for one in self.resampled),
                run_variance=tuple(self.run_variance[j] for j in index[:-1]),
            )
            return part.forecast(x[seen], None if runs is None else runs[seen])
        moments = self.moments
        weights, intercept = moments.line
        center = float(weights @ x + intercept)
        noise = 0.0
        if runs is not None and self.runs is not None:
            more = np.maximum(0.0, 1.0 / runs - 1.0 / self.runs)
            noise = float(weights**2 @ (np.array(self.run_variance) * more))
        return Forecast(
            center=center,
            deviation=sqrt(moments.variance(x)),
            lines=tuple(float(w @ x + b) for w, b in (one.line for one in self.resampled)),
            shift=float(moments.mean[-1] + moments.regression @ (x - moments.mean[:-1]) - center),
            noise=noise,
            df=1.0 / (1.0 / DEGREES_OF_FREEDOM + 1.0 / max(self.n_groups - 1, 1) + 1 / self.n_rows),
        )

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Forecaster:
        """Return the forecaster with the fields of a mapping, as JSON has them."""

        def moments(one: Mapping[str, Any]) -> Moments:
            return Moments(**{name: np.array(own, np.float64) for name, own in one.items()})

        made: dict[str, Any] = {"moments": moments(record["moments"])}
        made["resampled"] = tuple(map(moments, record["resampled"]))
        made["run_variance"] = tuple(map(float, record["run_variance"]))
        return cls(**{**record, **made})


@dataclass(frozen=True)
class SubsetModel:
    """A prediction of a summary score from a few tasks.

    The transformed summary is ``intercept + sum(weights * transformed scores)``.

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
        Sorted residuals of held-out algorithms, from which the interval follows if there is no
        forecaster.
    source : str
        Where the model comes from.
    forecaster : Forecaster, optional
        Distribution of the error: intervals then grow with the distance from the training, and an
        algorithm with missing scores is predicted from the others.
    scale : float
        Factor of the forecaster's intervals, the Birge ratio of the nested validation.
    references : mapping from task to (zero, one), optional
        Raw scores of the tasks that became 0 and 100, if the training was normalised.
    normalized : str
        How the scores were normalised, if they were.
    version : str
        Version of Gnomon that fitted it.

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
        ends = data.references
        model = cls(
            tasks=tuple(tasks),
            weights=tuple(weights.tolist()),
            intercept=intercept,
            transform=data.transform.name,
            n_rows=int(rows.sum()),
            ranges=tuple((float(np.nanmin(c)), float(np.nanmax(c))) for c in x[rows].T),
            references=None if ends is None else {task: ends[task] for task in tasks},
            normalized=data.normalized,
        )
        return model.with_residuals((data.target - x @ weights - intercept)[rows])

    @property
    def formula(self) -> str:
        """The model in one line.

        Examples
        --------
        >>> SubsetModel(("u", "v"), (0.5, -0.25), 1.5).formula
        'log10(1 + summary) = 1.5 + 0.5 u - 0.25 v, tasks as log10(1 + score)'
        """
        pairs = zip(self.tasks, self.weights, strict=True)
        terms = "".join(f" {'-' if w < 0 else '+'} {abs(w):.4g} {task}" for task, w in pairs)
        if self.transform == "log":
            summed = f"{self.intercept:.4g}{terms}"
            return f"log10(1 + summary) = {summed}, tasks as log10(1 + score)"
        return f"{self.transform} summary = {self.intercept:.4g}{terms}"

    def predict(self, x: npt.ArrayLike) -> FloatArray:
        """Return the transformed summary from transformed scores, shape (..., tasks).

        It is NaN where a score is missing, unless the model has a forecaster.
        """
        scores = np.asarray(x, dtype=np.float64)
        found = np.asarray(scores @ np.asarray(self.weights) + self.intercept)
        if self.forecaster is None or not np.isnan(found).any():
            return found
        rows = [self.forecaster.forecast(row).center for row in scores.reshape(-1, len(self.tasks))]
        return np.array(rows, dtype=np.float64).reshape(found.shape)

    def estimate(
        self,
        scores: Mapping[str, float],
        *,
        level: float = 0.9,
        runs: Mapping[str, float] | None = None,
        algorithm: str = "",
    ) -> Prediction:
        """Estimate the summary of one algorithm, with a prediction interval.

        The interval of a model with a forecaster grows with the distance from the training and
        where a score is missing. Otherwise it is Student's t of the residuals of held-out
        algorithms, widened by the distance from the training in quarters of its range.

        Parameters
        ----------
        scores : mapping from task to float
            Normalised scores; further tasks are ignored.
        level : float
            Level of the prediction interval, between 0 and 1.
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
            note(f"no score on {', '.join(missing)}: predicted from the others")
        x = self._transformed(scores)
        far = {
            task: max(v - high, low - v) / ((high - low) / 4 or 1.0)
            for task, v, (low, high) in zip(self.tasks, x, self.ranges, strict=False)
            if v < low or v > high
        }
        distance = max(far.values(), default=0.0)
        if far:
            note(f"outside the range that the model was fitted on: {', '.join(far)}")
        verdict = ""
        if self.forecaster is None:
            center, half = float(self.predict(x)), self.half_width(level) * (1 + distance**2) ** 0.5
            ends = center - half, center + half
        else:
            found = self.forecast(scores, runs=runs)
            center, ends = found.center, found.interval(level, self.scale)
            if distance > 1.0 or abs(found.shift) > found.deviation:
                verdict = "extrapolated"
            sd = sqrt(self.forecaster.moments.covariance[-1, -1])
            if ends[1] - ends[0] > 2.0 * student_quantile(level, found.df) * sd:
                verdict = "uninformative"
        inverse = transform_of(self.transform).inverse
        value, low, high = inverse(np.array([center, *ends])).tolist()
        return Prediction(
            algorithm, value, low, high, level, tuple(far), missing, distance, verdict
        )

    def forecast(
        self, scores: Mapping[str, float], *, runs: Mapping[str, float] | None = None
    ) -> Forecast:
        """Return the predictive distribution of one algorithm's summary, transformed.

        Raises
        ------
        ScoreDataError
            The model has no forecaster, which only the procedure ``factor`` fits.
        """
        if self.forecaster is None:
            raise ScoreDataError(
                "expected a model of the procedure 'factor', which knows the distribution of its "
                "error; distil again"
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

    def with_residuals(self, residuals: FloatArray) -> SubsetModel:
        """Return the model with other residuals of held-out algorithms; NaN are dropped."""
        kept = np.sort(residuals[~np.isnan(residuals)])
        return replace(self, residuals=tuple(kept.tolist()))

    def to_json(self) -> str:
        """Return the model as a JSON object that :meth:`from_json` reads."""

        def plain(value: Any) -> Any:
            """Return an array as a list, and moments or a forecaster as a mapping."""
            return value.tolist() if isinstance(value, np.ndarray) else _fields(value)

        record = {"format": _FORMAT, **_fields(self)}
        return json.dumps(record, default=plain, indent=2, ensure_ascii=False)

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
                raise ValueError
            record["ranges"] = tuple((float(low), float(high)) for low, high in record["ranges"])
            for name in ("weights", "residuals"):
                record[name] = tuple(map(float, record[name]))
            record["intercept"] = float(record["intercept"])
            record["tasks"] = tuple(map(str, record["tasks"]))
            if record["forecaster"] is not None:
                record["forecaster"] = Forecaster.from_record(record["forecaster"])
            if record["references"] is not None:
                ends = record["references"]
                pairs = ((task, *ends[task]) for task in record["tasks"])
                record["references"] = {
                    task: (float(low), float(high)) for task, low, high in pairs
                }
            model = cls(**record)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                # Arrays whose shapes do not agree cannot predict.
                model.estimate(dict.fromkeys(model.tasks, 1.0))
        except _WRONG:
            raise ScoreDataError(f"expected a {_FORMAT!r} as JSON") from None
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
        except (UnicodeDecodeError, ScoreDataError):
            raise ScoreDataError(f"{path}: expected a {_FORMAT!r} as JSON") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file; it appears complete or not at all."""
        write_atomically(Path(path), (self.to_json() + "\n").encode())


def _fields(value: Any) -> dict[str, Any]:
    return {one.name: getattr(value, one.name) for one in fields(value)}
