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
from gnomon.results import finite_or_none
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.bootstrap import draw_key
from gnomon.stats.cautions import shared_tasks, warn
from gnomon.stats.profiles.bands import (
    Band,
    Kind,
    average_score_profile,
    band_of,
    run_score_profile,
)
from gnomon.stats.samples import Strata

Spacing = Literal["auto", "linear", "log", "data"]

#: Thresholds between the lowest and the highest score span the range that holds this share.
HELD = 0.99
#: Share of that range, on a linear axis, in which the middle half of the scores is still readable.
READABLE = 0.1

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
    spacing : str
        How the thresholds lie: ``linear``, ``log`` (symmetric about zero, where some are not
        positive) or ``data``.
    beyond : tuple of two floats
        Shares of what is counted that lie below the first and above the last threshold.

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
    spacing: str = "linear"
    beyond: tuple[float, float] = (0.0, 0.0)

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
    spacing: Spacing = "auto",
    n: int = 81,
) -> FloatArray:
    """Return thresholds that span the range of 99 % of the scores of several algorithms.

    One game whose scores are fifty times those of the others would else leave no room for them.

    Parameters
    ----------
    strata : sequence of Strata
    spacing : str
        ``linear``, from 0 on where that is near; ``log``, symmetric about zero where scores are
        not positive: evenly spaced inverse hyperbolic sines, linear up to the lower quartile of the
        absolute scores; ``data``: quantiles of all scores, so that the steps of the profiles are
        spread evenly; or ``auto``: ``linear``, unless the middle half of the scores would crowd in
        a tenth of the axis, and ``log`` then.
    n : int
        Number of thresholds.

    Raises
    ------
    ScoreDataError
        No score is finite.

    Examples
    --------
    >>> thresholds([Strata.from_matrix([[1.0, 2.0], [3.0, 4.0]])], n=5)
    array([0., 1., 2., 3., 4.])
    >>> thresholds([Strata.from_matrix([[0.0, 1.0], [-9.0, 100.0]])], spacing="log", n=5).round(1)
    array([ -9. ,  -0.5,   7.3,  28.2, 100. ])
    """
    values = np.concatenate([one.values for one in strata])
    values = values[np.isfinite(values)]
    if not values.size:
        raise ScoreDataError("thresholds: expected at least one finite score, found none")
    if spacing == "data":
        return np.unique(np.quantile(values, np.linspace(0.0, 1.0, n)))
    low, high = _range_that_holds(values, HELD)
    if low == high:
        air = 0.1 * abs(low) or 1.0
        return np.linspace(low - air, high + air, n)
    if spacing == "log" or (spacing == "auto" and _crowded(values, low, high)):
        return _log_thresholds(values, low, high, n)
    return np.linspace(min(low, 0.0) if low <= 2.0 * (high - low) else low, high, n)


def _range_that_holds(values: FloatArray, share: float) -> tuple[float, float]:
    """Return the least and the greatest of the values but for an equal share on either side."""
    side = (1.0 - share) / 2.0
    low = np.quantile(values, side, method="lower")
    return float(low), float(np.quantile(values, 1.0 - side, method="higher"))


def _crowded(values: FloatArray, low: float, high: float) -> bool:
    """Return whether the middle half of the values takes little of a range."""
    first, third = np.quantile(values, [0.25, 0.75])
    return bool(0.0 < third - first < READABLE * (high - low))


def _log_thresholds(values: FloatArray, low: float, high: float, n: int) -> FloatArray:
    """Return evenly spaced logarithms, or inverse hyperbolic sines where values are not positive.

    A logarithm has no place for zero; the sine is linear around it, and logarithmic far from it.
    """
    if low > 0.0:
        return np.geomspace(low, high, n)
    width = float(np.quantile(np.abs(values[values != 0.0]), 0.25))
    width = max(width, 1e-6 * max(abs(low), abs(high)))
    first, last = np.arcsinh([low / width, high / width])
    inner = width * np.sinh(np.linspace(first, last, n)[1:-1])
    return np.concatenate([[low], inner, [high]])


def performance_profiles(
    table: ScoreTable,
    tau: npt.ArrayLike | None = None,
    *,
    kind: Kind = "run_score",
    spacing: Spacing = "auto",
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
    lies = spacing if spacing != "auto" else "linear" if tau is not None else _spacing_of(at)
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
        ends = np.array([*np.nextafter(at[[0, -1]], [-np.inf, np.inf]), at[0], at[-1]])
        beyond = _beyond(share(scores, ends, higher_is_better=higher), higher)
        profiles.append(Profile(name, kind, at, value, low, high, level, band, lies, beyond))
    return profiles


def _spacing_of(tau: FloatArray) -> Spacing:
    """Return how thresholds lie: evenly, or as their logarithms do."""
    return "linear" if np.allclose(np.diff(tau, 2), 0.0, atol=1e-9 * np.ptp(tau)) else "log"


def _beyond(shares: FloatArray, higher_is_better: bool) -> tuple[float, float]:
    """Return the shares strictly below the first and strictly above the last threshold.

    From the shares just below the first, just above the last, at the first and at the last.
    """
    if higher_is_better:
        return float(1.0 - shares[0]), float(shares[3])
    return float(shares[2]), float(1.0 - shares[1])
