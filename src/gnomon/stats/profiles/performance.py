"""Performance profiles: what share of runs, or of tasks, scores above each threshold.

A profile shows the whole distribution at once (Agarwal et al. 2021): one that lies above another
everywhere is better by any summary. Where lower scores are better, "above" reads "below".

Shares are counted, and bands made, in :mod:`gnomon.stats.profiles.bands`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.bootstrap.resamples import draw_key
from gnomon.stats.estimates import finite_or_none, shared_tasks, warn
from gnomon.stats.profiles.bands import (
    Band,
    Kind,
    average_score_profile,
    band_of,
    run_score_profile,
)
from gnomon.stats.strata import Strata

__all__ = [
    "Profile",
    "Spacing",
    "performance_profiles",
    "thresholds",
]


Spacing = Literal["linear", "log", "data"]

_COLUMNS = ("tau", "value", "low", "high")


@dataclass(frozen=True, eq=False)
class Profile:
    """One algorithm's profile with its band.

    Parameters
    ----------
    algorithm, kind : str
        Whose profile, and of what.
    tau : ndarray of float, shape (thresholds,)
        Ascending thresholds.
    value, low, high : ndarray of float, shape (thresholds,)
        Share above each threshold, and the band; NaN where there is none.
    level : float
        Confidence level of the band.
    band : str
        ``pointwise``, ``simultaneous`` or ``none``.

    Examples
    --------
    >>> tau, share = np.array([0.0, 1.0, 2.0]), np.array([1.0, 0.5, 0.0])
    >>> one = Profile("dqn", "run_score", tau, share, share, share, 0.95, "none")
    >>> one.quantile(0.5), one.area()
    (1.0, 1.0)
    """

    algorithm: str
    kind: str
    tau: FloatArray
    value: FloatArray
    low: FloatArray
    high: FloatArray
    level: float
    band: str

    def as_record(self) -> dict[str, Any]:
        """Return the fields as a mapping fit for JSON, thresholds and shares as lists."""
        columns = {name: getattr(self, name).tolist() for name in _COLUMNS}
        lists = {name: [finite_or_none(x) for x in column] for name, column in columns.items()}
        return {"algorithm": self.algorithm, "kind": self.kind, **lists}

    def as_records(self) -> list[dict[str, Any]]:
        """Return one mapping for each threshold, fit for JSON."""
        key, lists = {"algorithm": self.algorithm, "kind": self.kind}, self.as_record()
        rows = zip(*(lists[name] for name in _COLUMNS), strict=True)
        return [key | dict(zip(_COLUMNS, row, strict=True)) for row in rows]

    def n_flat(self) -> int:
        """Return at how many thresholds the band has no width."""
        return int(np.sum(self.low == self.high))

    def quantile(self, share: float) -> float:
        """Return the highest threshold that at least this share is above; NaN if none is."""
        reached = np.flatnonzero(self.value >= share)
        return float(self.tau[reached[-1]]) if reached.size else float("nan")

    def first_reaching(self, share: float) -> float:
        """Return the lowest threshold with at least this share, for profiles of distance."""
        reached = np.flatnonzero(self.value >= share)
        return float(self.tau[reached[0]]) if reached.size else float("nan")

    def area(self) -> float:
        """Return the area under the profile over its thresholds, by the trapezoidal rule."""
        return float(np.trapezoid(self.value, self.tau))


def thresholds(
    strata: Sequence[Strata],
    *,
    spacing: Spacing = "linear",
    n: int = 81,
) -> FloatArray:
    """Return thresholds that span the scores of several algorithms.

    Parameters
    ----------
    strata : sequence of Strata
    spacing : str
        ``linear``; ``log``, for positive scores; or ``data``: quantiles of all scores, so that
        the steps of the profiles are spread evenly.
    n : int
        Number of thresholds.

    Raises
    ------
    ScoreDataError
        Logarithmic spacing of scores that are not positive, or no score is finite.

    Examples
    --------
    >>> thresholds([Strata.from_matrix([[1.0, 2.0], [3.0, 4.0]])], n=5)
    array([0., 1., 2., 3., 4.])
    """
    values = np.concatenate([one.values for one in strata])
    values = values[np.isfinite(values)]
    if not values.size:
        raise ScoreDataError("thresholds: expected at least one finite score, found none")
    if spacing == "data":
        return np.unique(np.quantile(values, np.linspace(0.0, 1.0, n)))
    low, high = float(values.min()), float(values.max())
    if spacing == "linear":
        return np.linspace(min(low, 0.0) if low > 0 else low, high, n)
    if low <= 0.0:
        raise ScoreDataError(f"expected positive scores for logarithmic thresholds, found {low:g}")
    return np.geomspace(low, high, n)


def performance_profiles(
    table: ScoreTable,
    tau: npt.ArrayLike | None = None,
    *,
    kind: Kind = "run_score",
    spacing: Spacing = "linear",
    band: Band = "pointwise",
    level: float = 0.95,
    n_resamples: int = 2000,
    rng: np.random.Generator,
) -> list[Profile]:
    """Return the profile of every algorithm of a table, on the tasks that all have.

    Parameters
    ----------
    table : ScoreTable
        One score for each run.
    tau : array_like of float, optional
        Thresholds, ascending; if not given, `spacing` chooses them (see :func:`thresholds`).
    kind : str
        ``run_score``: share of runs; ``average_score``: share of tasks by their mean.
    band : str
        ``pointwise``: an interval at each threshold; ``simultaneous``: for the whole curve;
        ``none``. Of run scores both are Wilson's at the effective number of runs, see
        :func:`~gnomon.stats.profiles.bands.wilson_band`; of average scores they are a bootstrap's.
    level : float
        Confidence level of the band.
    n_resamples : int
        Number of resamples, for bands of average scores.
    rng : numpy.random.Generator
        Source of all draws.

    Returns
    -------
    list of Profile
        In the table's order. The band is NaN with one run per task; and that of average scores if
        no threshold parts their resamples. The pointwise one has no width at thresholds that do
        not part them (:meth:`Profile.n_flat`), which is no certainty.

    Warns
    -----
    DegenerateScoresWarning
        There is no band.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"dqn": [[1.0, 2.0], [3.0, 4.0]]})
    >>> (profile,) = performance_profiles(table, [1.5, 2.5], rng=np.random.default_rng(0))
    >>> profile.value, profile.low.round(2), profile.high.round(2)
    (array([0.75, 0.5 ]), array([0.18, 0.07]), array([0.99, 0.93]))
    """
    tasks = shared_tasks(table)
    strata = {name: Strata.from_table(table, name, tasks) for name in table.algorithms}
    spread = list(strata.values())
    at = thresholds(spread, spacing=spacing) if tau is None else np.sort(np.asarray(tau, float))
    higher = table.higher_is_better
    share = run_score_profile if kind == "run_score" else average_score_profile
    profiles = []
    for name, scores in strata.items():
        value = share(scores, at, higher_is_better=higher)
        low, high = band_of(
            scores,
            at,
            value,
            kind=kind,
            band=band,
            level=level,
            higher_is_better=higher,
            n_resamples=n_resamples,
            key=draw_key(rng),
        )
        if band != "none" and not (low < high).any():
            single = scores.counts.max() == 1
            reason = " from one run per task" if single else ", no threshold parts the resamples"
            warn(f"{kind} profile of {name}: band not estimable{reason}")
            low, high = np.full(at.size, np.nan), np.full(at.size, np.nan)
        profiles.append(Profile(name, kind, at, value, low, high, level, band))
    return profiles
