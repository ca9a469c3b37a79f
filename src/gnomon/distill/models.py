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

from gnomon._io.atomic_file import write_atomically
from gnomon.distill.prepared import transform_of
from gnomon.errors import DegenerateScoresWarning, ScoreDataError, UnknownNameError
from gnomon.scores.table import FloatArray

__all__ = ["Moments", "SubsetModel", "SummaryEstimate", "non_negative"]


@dataclass(frozen=True)
class Moments:
    """Means and covariance of the transformed scores of some tasks, and of the target.

    From them follows the best linear prediction by *any* of the tasks, so that an algorithm that
    lacks a score is predicted from those that it has.

    Parameters
    ----------
    mean : tuple of float
        Of each task, then of the target.
    covariance : tuple of tuples of float
        Symmetric and positive definite, in the same order.
    positive : bool
        Whether weights must not be negative.

    Examples
    --------
    >>> moments = Moments((1.0, 2.0, 3.0), ((1.0, 0.0, 0.8), (0.0, 1.0, 0.5), (0.8, 0.5, 1.0)))
    >>> moments.weights(np.array([True, False]))
    (array([0.8]), 2.2)
    >>> moments.predict([1.5, np.nan])
    3.4000000000000004
    """

    mean: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...]
    positive: bool = True

    def weights(self, seen: npt.NDArray[np.bool_]) -> tuple[FloatArray, float]:
        """Return the weights of some tasks, and the intercept.

        Parameters
        ----------
        seen : ndarray of bool, shape (tasks,)
            Which ones; at least one.
        """
        covariance, mean = np.array(self.covariance), np.array(self.mean)
        index = np.flatnonzero(seen)
        inside, cross = covariance[np.ix_(index, index)], covariance[index, -1]
        w = np.linalg.solve(inside, cross)
        if self.positive and (w < 0).any():
            root = np.linalg.cholesky(inside)
            w = non_negative(root.T, np.linalg.solve(root, cross), w)
        return w, float(mean[-1] - w @ mean[index])

    def predict(self, scores: npt.ArrayLike) -> float:
        """Return the prediction from the scores that there are; NaN if there is none."""
        x = np.asarray(scores, dtype=np.float64)
        seen = ~np.isnan(x)
        if not seen.any():
            return float("nan")
        w, intercept = self.weights(seen)
        return float(x[seen] @ w + intercept)

    def spread(self, seen: npt.NDArray[np.bool_]) -> float:
        """Return the standard deviation of the target that some tasks leave."""
        covariance = np.array(self.covariance)
        w, _ = self.weights(seen)
        index = np.flatnonzero(seen)
        inside, cross = covariance[np.ix_(index, index)], covariance[index, -1]
        return float(np.sqrt(covariance[-1, -1] - 2 * w @ cross + w @ inside @ w))


def non_negative(x: FloatArray, y: FloatArray, free: FloatArray) -> FloatArray:
    """Return the non-negative least squares weights, which are the free ones if these are."""
    if (free >= 0).all():
        return free
    from scipy.optimize import nnls

    return np.asarray(nnls(x, y)[0], dtype=np.float64)


_FORMAT = "gnomon subset model 1"


@dataclass(frozen=True)
class SummaryEstimate:
    """What a model says of one algorithm: the summary score, with a prediction interval.

    Parameters
    ----------
    value, low, high : float
        In units of the (normalised) scores; the ends are NaN if the model has no residuals.
    level : float
        Of the interval, for one new algorithm like those of the training.
    outside : tuple of str
        Tasks whose score lies outside the training range.

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
        See :func:`gnomon.distill.prepared.transform_of`.
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
        found = np.asarray(scores @ np.asarray(self.weights) + self.intercept)
        if self.moments is None:
            return found
        for place in map(tuple, np.argwhere(np.isnan(scores).any(axis=-1))):
            found[place] = self.moments.predict(scores[place])
        return found

    def estimate(self, scores: Mapping[str, float], *, level: float = 0.9) -> SummaryEstimate:
        """Estimate the summary of one algorithm, with a prediction interval.

        The interval takes the residuals of held-out algorithms for what they are: their normal
        quantile, widened as for one more observation. It is wider where a score is missing.

        Parameters
        ----------
        scores : mapping from task to float
            Normalised scores; further tasks are ignored.
        level : float
            Of the prediction interval, between 0 and 1.

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
        center = self.predict(x)
        half = self.half_width(level) * self._widening(~np.isnan(x))
        value, low, high = transform.inverse(np.array([center, center - half, center + half]))
        outside = self._outside(x)
        if outside:
            text = f"outside the range that the model was fitted on: {', '.join(outside)}"
            warnings.warn(text, DegenerateScoresWarning, stacklevel=2)
        return SummaryEstimate(float(value), float(low), float(high), level, outside)

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

    def with_residuals(self, residuals: npt.ArrayLike) -> SubsetModel:
        """Return the model with other residuals of held-out algorithms, NaN left out."""
        values = np.sort(np.asarray(residuals, dtype=np.float64).ravel())
        return replace(self, residuals=tuple(values[~np.isnan(values)].tolist()))

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
            if record.pop("format") != _FORMAT:
                raise KeyError("format")
            record["ranges"] = tuple((low, high) for low, high in record["ranges"])
            for name in ("tasks", "weights", "residuals"):
                record[name] = tuple(record[name])
            if record.get("moments") is not None:
                moments = record["moments"]
                rows = tuple(tuple(row) for row in moments["covariance"])
                mean = tuple(moments["mean"])
                record["moments"] = Moments(mean, rows, positive=moments["positive"])
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
    names = SubsetModel.__dataclass_fields__
    plain = {name: getattr(model, name) for name in names}
    return plain | {"moments": None if model.moments is None else asdict(model.moments)}
