"""A subset of tasks with its weights: what distillation gives, keeps as JSON, and predicts with."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gnomon.atomic_file import write_atomically
from gnomon.distill.prepared import PreparedScores
from gnomon.distill.transforms import transform_of
from gnomon.errors import DegenerateScoresWarning, ScoreDataError, UnknownNameError
from gnomon.scores.table import FloatArray

__all__ = ["SubsetModel", "SummaryEstimate", "Weights", "fit_least_squares", "non_negative"]

#: ``non-negative`` weights never rank an algorithm below one that it beats on every task.
Weights = Literal["non-negative", "any"]
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
        See :func:`gnomon.distill.transforms.transform_of`.
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

    def __post_init__(self) -> None:
        if len(self.tasks) != len(self.weights):
            raise ValueError(
                f"expected as many weights as tasks, found {len(self.weights)}, {len(self.tasks)}"
            )

    def predict(self, x: npt.ArrayLike) -> FloatArray:
        """Return the transformed summary from transformed scores, shape (..., tasks)."""
        scores = np.asarray(x, dtype=np.float64)
        return np.asarray(scores @ np.asarray(self.weights) + self.intercept)

    def estimate(self, scores: Mapping[str, float], *, level: float = 0.9) -> SummaryEstimate:
        """Estimate the summary of one algorithm, with a prediction interval.

        The interval takes the residuals of held-out algorithms for what they are: their normal
        quantile, widened as for one more observation.

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
            A task of the model has no score.

        Warns
        -----
        DegenerateScoresWarning
            A score lies outside the training range.
        """
        for task in self.tasks:
            if task not in scores:
                raise UnknownNameError("score for task", task, scores)
        transform = transform_of(self.transform)
        x = transform.forward(np.array([scores[t] for t in self.tasks], dtype=np.float64))
        center = self.predict(x)
        half = self.half_width(level)
        value, low, high = transform.inverse(np.array([center, center - half, center + half]))
        outside = self._outside(x)
        if outside:
            text = f"outside the range that the model was fitted on: {', '.join(outside)}"
            warnings.warn(text, DegenerateScoresWarning, stacklevel=2)
        return SummaryEstimate(float(value), float(low), float(high), level, outside)

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
        return tuple(task for task, v, (low, high) in ends if not low <= v <= high)

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
    return {name: getattr(model, name) for name in names}


def fit_least_squares(
    data: PreparedScores,
    tasks: Sequence[str],
    *,
    target: FloatArray | None = None,
    target_name: str = "median",
    intercept: bool = False,
    weights: Weights = "non-negative",
) -> SubsetModel:
    """Fit the summary (or anything else) to a few tasks by least squares, on complete rows.

    Parameters
    ----------
    data : PreparedScores
    tasks : sequence of str
    target : ndarray of float, shape (algorithms,), optional
        What to predict; the summary of the data if not given.
    target_name : str
        What that is.
    intercept : bool
        Without one, an algorithm as good as random on every task gets a summary of zero.
    weights : {"non-negative", "any"}
        Non-negative by default, so that the model is weakly order preserving (Aitchison et al.
        2022, proposition 2).

    Returns
    -------
    SubsetModel

    Raises
    ------
    ScoreDataError
        There are fewer complete rows than coefficients.
    UnknownNameError
        A task is not in the table.
    """
    columns = data.columns(tasks)
    y_all = data.target if target is None else target
    x_all = data.x[:, columns]
    whole = ~np.isnan(x_all).any(axis=1) & ~np.isnan(y_all)
    x, y = x_all[whole], y_all[whole]
    if len(y) < len(tasks) + intercept:
        raise ScoreDataError(
            f"expected at least {len(tasks) + intercept} algorithms with scores on "
            f"{', '.join(tasks)}; found {len(y)}"
        )
    shift_x, shift_y = (x.mean(axis=0), y.mean()) if intercept else (np.zeros(len(tasks)), 0.0)
    cx, cy = x - shift_x, y - shift_y
    w = np.linalg.lstsq(cx, cy, rcond=None)[0]
    if weights == "non-negative":
        w = non_negative(cx, cy, w)
    return SubsetModel(
        tasks=tuple(tasks),
        weights=tuple(w.tolist()),
        intercept=float(shift_y - w @ shift_x),
        transform=data.transform.name,
        target=target_name,
        n_rows=len(y),
        ranges=ranges_of(x),
        residuals=tuple(np.sort(cy - cx @ w).tolist()),
    )


def non_negative(x: FloatArray, y: FloatArray, free: FloatArray) -> FloatArray:
    """Return the non-negative least squares weights, which are the free ones if these are."""
    if (free >= 0).all():
        return free
    from scipy.optimize import nnls

    return np.asarray(nnls(x, y)[0], dtype=np.float64)


def ranges_of(x: FloatArray) -> tuple[tuple[float, float], ...]:
    """Return the least and the greatest value of each column."""
    return tuple((float(c.min()), float(c.max())) for c in x.T)
