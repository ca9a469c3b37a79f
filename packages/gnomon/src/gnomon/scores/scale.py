"""The scale of scores: what was done to them, kept with them so that it can be undone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon.scores.columns import Rows


@dataclass(frozen=True, eq=False)
class Normalization:
    """What was done to the scores of a table.

    Parameters
    ----------
    name : str
        For example ``"random-human"``.
    anchors : mapping from task to (float, float)
        The raw scores that became 0 and 1; empty for percentiles.
    pools : mapping from task to ndarray of float
        For percentiles: all raw scores, ascending.
    higher_is_better : bool
        Direction of the raw scores.
    left_out : Rows, optional
        The raw rows of tasks that could not be normalised: summaries are without them, ranks need
        no scale and keep them.

    Examples
    --------
    >>> from gnomon.scores import ScoreTable, normalize
    >>> normalize(ScoreTable.from_arrays({"a": [[1.0], [5.0]]}), "min-max").normalization.anchors
    {'task_0': (1.0, 5.0)}
    """

    name: str
    anchors: Mapping[str, tuple[float, float]]
    pools: Mapping[str, npt.NDArray[np.float64]]
    higher_is_better: bool
    left_out: Rows | None = None
