"""The least squares model of a subset, on the rows that are complete for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from gnomon.distill.models import SubsetModel
from gnomon.distill.prepared import PreparedScores
from gnomon.distill.procedures.moments import non_negative
from gnomon.errors import ScoreDataError
from gnomon.scores.table import FloatArray

__all__ = ["Weights", "fit_least_squares", "ranges_of"]

#: ``non-negative`` weights never rank an algorithm below one that it beats on every task.
Weights = Literal["non-negative", "any"]


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


def ranges_of(x: FloatArray) -> tuple[tuple[float, float], ...]:
    """Return the least and the greatest value of each column."""
    return tuple((float(c.min()), float(c.max())) for c in x.T)
